/* Work on all cores. Threads are kept, and look out for more work for a moment before they sleep: to wake
   one takes as long as a hundred thousand rows do, and in a fit one loop follows the other. */

/* What is done for each part of the rows. Parts do not know of each other, and anyone may do any. */
typedef void (*Work)(void *context, int64_t part);
#define MOST_CORES 64

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

/* Nanoseconds for which a thread looks out for work. */
#define AWAKE 500000
/* Where the others take so much longer than whoever waits for them, nanoseconds and as long again, their
   cores are wanted elsewhere: so many rounds go without them. */
#define LATE 100000
#define ROUNDS_ALONE 64
/* A part that nobody can have. */
#define NONE ((int64_t)1 << 30)
#define PART_OF(place) ((place) & 0xffffffff)

static struct {
    pthread_mutex_t is_taken;       /* by whoever has work to be done */
    pthread_mutex_t guard;          /* of those who sleep */
    pthread_cond_t more;
    atomic_int wanted, sleepers;    /* helpers that may join in, and that sleep */
    atomic_int rest;                /* rounds in which nobody asks for them */
    int helpers;                    /* how many there are */
    Work work;
    void *context;
    atomic_llong parts, done;
    atomic_llong place;             /* the round in the upper half, in the lower the part that comes next */
} team = {.is_taken = PTHREAD_MUTEX_INITIALIZER, .guard = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

/* Whether this thread is one of many that do the same, and has no use for more. */
static _Thread_local int is_one_of_many = 0;

static void wait_a_little(void) {
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

static int has_work(void) { return PART_OF(atomic_load(&team.place)) < atomic_load(&team.parts); }

/* Do parts until all are begun. A round does not end before the parts that were taken in it are done: so
   where it has ended in the meantime, there was nothing left to take, and `parts` are those of another. */
static void do_parts(void) {
    while (has_work()) {
        const int64_t place = atomic_fetch_add(&team.place, 1);
        const int64_t parts = atomic_load(&team.parts);
        if (atomic_load(&team.place) >> 32 != place >> 32 || PART_OF(place) >= parts) continue;
        team.work(team.context, PART_OF(place));
        atomic_fetch_add(&team.done, 1);
    }
}

static void *help(void *number) {
    const int own = (int)(intptr_t)number;
    int64_t since = nanoseconds();
    for (;;) {
        if (own < atomic_load(&team.wanted) && has_work()) {
            do_parts();
            since = nanoseconds();
        }
        for (int i = 0; i < 32; i++) wait_a_little();
        if (nanoseconds() - since < AWAKE) continue;
        pthread_mutex_lock(&team.guard);
        atomic_fetch_add(&team.sleepers, 1);
        while (!(own < atomic_load(&team.wanted) && has_work())) pthread_cond_wait(&team.more, &team.guard);
        atomic_fetch_sub(&team.sleepers, 1);
        pthread_mutex_unlock(&team.guard);
    }
    return NULL;
}

/* A fork has none of the threads, and none of what they had locked. */
static void after_fork(void) {
    team.is_taken = team.guard = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    team.more = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    team.helpers = 0;
    atomic_store(&team.rest, 0);
    atomic_store(&team.sleepers, 0);
    atomic_store(&team.parts, 0);
}

static void find_helpers(void) {
    static int is_known = 0;
    if (!is_known) is_known = !pthread_atfork(NULL, NULL, after_fork);
    sigset_t all, before;
    sigfillset(&all);
    /* Signals are for the threads of the interpreter. */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (is_known && team.helpers < atomic_load(&team.wanted)) {
        pthread_t helper;
        if (pthread_create(&helper, NULL, help, (void *)(intptr_t)team.helpers)) break;
        pthread_detach(helper);
        team.helpers++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Whether to ask the others for help, who may be at work, or wanted elsewhere. */
static int take_team(int64_t parts) {
    if (parts < 2 || parts >= NONE || is_one_of_many || atomic_load(&team.wanted) < 1) return 0;
    if (pthread_mutex_trylock(&team.is_taken)) return 0;
    if (atomic_load(&team.rest) <= 0) return 1;
    atomic_fetch_sub(&team.rest, 1);
    pthread_mutex_unlock(&team.is_taken);
    return 0;
}

static void begin_round(Work work, void *context, int64_t parts) {
    const int64_t round = ((atomic_load(&team.place) >> 32) + 1) % NONE;
    atomic_store(&team.place, round << 32 | NONE);
    team.work = work;
    team.context = context;
    atomic_store(&team.done, 0);
    atomic_store(&team.parts, parts);
    atomic_store(&team.place, round << 32);
    if (atomic_load(&team.sleepers)) {
        pthread_mutex_lock(&team.guard);
        pthread_cond_broadcast(&team.more);
        pthread_mutex_unlock(&team.guard);
    }
}

/* Do all parts of some work, here and wherever else there is a core. */
static void do_all(Work work, void *context, int64_t parts) {
    if (!take_team(parts)) {
        for (int64_t part = 0; part < parts; part++) work(context, part);
        return;
    }
    if (team.helpers < atomic_load(&team.wanted)) find_helpers();
    const int64_t begun = nanoseconds();
    begin_round(work, context, parts);
    do_parts();
    const int64_t ended = nanoseconds();
    for (int64_t looks = 0; atomic_load(&team.done) < parts; looks++) {
        wait_a_little();
        /* Whoever has the last part may be waiting for this core. */
        if (looks % 1024 == 1023) sched_yield();
    }
    if (nanoseconds() - ended > ended - begun + LATE) atomic_store(&team.rest, ROUNDS_ALONE);
    pthread_mutex_unlock(&team.is_taken);
}

static void stay_alone(int is_so) { is_one_of_many = is_so; }

static void use_cores(int count) {
    atomic_store(&team.wanted, count - 1);
    atomic_store(&team.rest, 0);
}
#else
static void do_all(Work work, void *context, int64_t parts) {
    for (int64_t part = 0; part < parts; part++) work(context, part);
}
static void use_cores(int count) { (void)count; }
static void stay_alone(int is_so) { (void)is_so; }
#endif

/* Rows that are worth a part of their own, as in cores.py. */
#define ROWS_A_PART 8192
#define MOST_PARTS 1024

/* In how many parts to cut rows of some numbers each. */
static int64_t parts_for(int64_t rows, int64_t width) {
    const int64_t parts = rows * width / ROWS_A_PART;
    return parts < 1 ? 1 : parts > MOST_PARTS ? MOST_PARTS : parts;
}

/* Where a part begins, of rows; and of pieces of these, each in the part that its first row is in. */
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
