/* A thread pool. Threads spin for a moment before they sleep: waking one takes as long as a hundred thousand rows,
   and in a fit one loop follows another. */

/* Work on one part of the rows. Parts are independent, and any thread may take any part. */
typedef void (*Work)(void *context, int64_t part);
#define MAX_CORES 64

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

/* How long a thread spins before it sleeps. */
#define SPIN_NANOSECONDS 500000
/* If the caller waits for the workers longer than it worked itself, plus this, their cores are in use by others:
   then this many rounds are serial. */
#define LATE_NANOSECONDS 100000
#define SERIAL_ROUNDS 64
/* A part number that is never reached. */
#define NONE ((int64_t)1 << 30)
#define PART_OF(ticket) ((ticket) & 0xffffffff)

static struct {
    pthread_mutex_t in_use;         /* held by the caller of a round */
    pthread_mutex_t lock;           /* for sleeping and waking */
    pthread_cond_t wake;
    atomic_int wanted, n_asleep;    /* workers that may take part, and that sleep */
    atomic_int rounds_to_skip;      /* rounds that are still to be serial */
    int n_workers;                  /* threads started so far */
    Work work;
    void *context;
    atomic_llong parts, done;
    atomic_llong ticket;            /* round in the upper half, next part in the lower */
} workers = {.in_use = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

/* Whether this thread runs next to others of the caller, and must not use more cores. */
static _Thread_local int is_serial = 0;

static void cpu_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1000000000 * (int64_t)now.tv_sec + now.tv_nsec;
}

static int has_work(void) { return PART_OF(atomic_load(&workers.ticket)) < atomic_load(&workers.parts); }

/* Take parts until none are left. A round ends only when all parts that were taken in it are done. So if it has
   ended since the ticket was drawn, the ticket was beyond its last part, and `parts` is that of another round. */
static void work_on_parts(void) {
    while (has_work()) {
        const int64_t ticket = atomic_fetch_add(&workers.ticket, 1);
        const int64_t parts = atomic_load(&workers.parts);
        if (atomic_load(&workers.ticket) >> 32 != ticket >> 32 || PART_OF(ticket) >= parts) continue;
        workers.work(workers.context, PART_OF(ticket));
        atomic_fetch_add(&workers.done, 1);
    }
}

static void *worker_main(void *number) {
    const int own = (int)(intptr_t)number;
    int64_t since = nanoseconds();
    for (;;) {
        if (own < atomic_load(&workers.wanted) && has_work()) {
            work_on_parts();
            since = nanoseconds();
        }
        for (int i = 0; i < 32; i++) cpu_pause();
        if (nanoseconds() - since < SPIN_NANOSECONDS) continue;
        pthread_mutex_lock(&workers.lock);
        atomic_fetch_add(&workers.n_asleep, 1);
        while (!(own < atomic_load(&workers.wanted) && has_work())) pthread_cond_wait(&workers.wake, &workers.lock);
        atomic_fetch_sub(&workers.n_asleep, 1);
        pthread_mutex_unlock(&workers.lock);
    }
    return NULL;
}

/* Threads and the state of locks do not survive a fork. */
static void after_fork(void) {
    workers.in_use = workers.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    workers.wake = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    workers.n_workers = 0;
    atomic_store(&workers.rounds_to_skip, 0);
    atomic_store(&workers.n_asleep, 0);
    atomic_store(&workers.parts, 0);
}

static void start_workers(void) {
    static int is_known = 0;
    if (!is_known) is_known = !pthread_atfork(NULL, NULL, after_fork);
    sigset_t all, before;
    sigfillset(&all);
    /* Signals are left to the threads of the interpreter. */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (is_known && workers.n_workers < atomic_load(&workers.wanted)) {
        pthread_t worker;
        if (pthread_create(&worker, NULL, worker_main, (void *)(intptr_t)workers.n_workers)) break;
        pthread_detach(worker);
        workers.n_workers++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Whether to run a round in parallel: the workers may be busy, or their cores in use by others. */
static int acquire_workers(int64_t parts) {
    if (parts < 2 || parts >= NONE || is_serial || atomic_load(&workers.wanted) < 1) return 0;
    if (pthread_mutex_trylock(&workers.in_use)) return 0;
    if (atomic_load(&workers.rounds_to_skip) <= 0) return 1;
    atomic_fetch_sub(&workers.rounds_to_skip, 1);
    pthread_mutex_unlock(&workers.in_use);
    return 0;
}

static void start_round(Work work, void *context, int64_t parts) {
    const int64_t round = ((atomic_load(&workers.ticket) >> 32) + 1) % NONE;
    atomic_store(&workers.ticket, round << 32 | NONE);
    workers.work = work;
    workers.context = context;
    atomic_store(&workers.done, 0);
    atomic_store(&workers.parts, parts);
    atomic_store(&workers.ticket, round << 32);
    if (atomic_load(&workers.n_asleep)) {
        pthread_mutex_lock(&workers.lock);
        pthread_cond_broadcast(&workers.wake);
        pthread_mutex_unlock(&workers.lock);
    }
}

/* Run all parts, in this thread and in the workers. */
static void run_parts(Work work, void *context, int64_t parts) {
    if (!acquire_workers(parts)) {
        for (int64_t part = 0; part < parts; part++) work(context, part);
        return;
    }
    if (workers.n_workers < atomic_load(&workers.wanted)) start_workers();
    const int64_t started = nanoseconds();
    start_round(work, context, parts);
    work_on_parts();
    const int64_t finished = nanoseconds();
    for (int64_t spins = 0; atomic_load(&workers.done) < parts; spins++) {
        cpu_pause();
        /* The thread with the last part may be waiting for this core. */
        if (spins % 1024 == 1023) sched_yield();
    }
    if (nanoseconds() - finished > finished - started + LATE_NANOSECONDS)
        atomic_store(&workers.rounds_to_skip, SERIAL_ROUNDS);
    pthread_mutex_unlock(&workers.in_use);
}

static void set_serial(int serial) { is_serial = serial; }

static void use_cores(int count) {
    atomic_store(&workers.wanted, count - 1);
    atomic_store(&workers.rounds_to_skip, 0);
}
#else
static void run_parts(Work work, void *context, int64_t parts) {
    for (int64_t part = 0; part < parts; part++) work(context, part);
}
static void use_cores(int count) { (void)count; }
static void set_serial(int serial) { (void)serial; }
#endif

/* Rows of a part, as in thread_pool.py. */
#define ROWS_PER_PART 8192
#define MAX_PARTS 1024

/* Number of parts of rows of `width` numbers. */
static int64_t parts_for(int64_t rows, int64_t width) {
    const int64_t parts = rows * width / ROWS_PER_PART;
    return parts < 1 ? 1 : parts > MAX_PARTS ? MAX_PARTS : parts;
}

/* First row of a part; and first piece, where a piece belongs to the part of its first row. */
static int64_t begin_of(int64_t part, int64_t parts, int64_t rows) {
    return (int64_t)((double)rows * (double)part / (double)parts);
}

static int64_t first_piece(int64_t part, int64_t parts, const int64_t *bounds, int64_t count) {
    const int64_t row = begin_of(part, parts, bounds[count]);
    int64_t low = 0, high = count;
    if (part == parts) return count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (bounds[middle] < row) low = middle + 1;
        else high = middle;
    }
    return low;
}
