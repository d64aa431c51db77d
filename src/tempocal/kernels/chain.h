/* Blocks side by side that join one by one, as a penalty grows: what `_Chain` of
   `nonparametric/solution_path.py` does and explains, in the same order and to the same bits. */

typedef struct {
    double due;
    int64_t boundary;
} Meeting;

typedef struct {
    int64_t count; /* initial blocks; boundary j is the one before block j */
    double *weight, *total; /* of each block, (2 count - 1,) */
    const int64_t *falls; /* of each boundary, (count + 1,) */
    int64_t *start, *stop, *ended_by; /* of each block */
    double *joins; /* (count - 1,) */
    int64_t made; /* joins so far */
    int64_t *ending, *starting; /* blocks beside each boundary */
    Meeting *queue; /* a heap that has each boundary once */
    int64_t *place; /* of each boundary in it, or -1 */
    int64_t waiting;
} Chain;

static int is_sooner(Meeting one, Meeting other) {
    return one.due < other.due || (one.due == other.due && one.boundary < other.boundary);
}

static void put(Chain *chain, int64_t at, Meeting one) {
    chain->queue[at] = one;
    chain->place[one.boundary] = at;
}

/* Fill a place of the heap with a meeting, which moves up or down from there. */
static void settle_meeting(Chain *chain, int64_t at, Meeting one) {
    Meeting *queue = chain->queue;
    int64_t next;
    if (at > 0 && is_sooner(one, queue[(at - 1) / 2])) {
        do {
            put(chain, at, queue[(at - 1) / 2]);
            at = (at - 1) / 2;
        } while (at > 0 && is_sooner(one, queue[(at - 1) / 2]));
    } else
        while ((next = 2 * at + 1) < chain->waiting) {
            if (next + 1 < chain->waiting && is_sooner(queue[next + 1], queue[next])) next++;
            if (!is_sooner(queue[next], one)) break;
            put(chain, at, queue[next]);
            at = next;
        }
    put(chain, at, one);
}

static void take_out(Chain *chain, int64_t boundary) {
    const int64_t at = chain->place[boundary];
    if (at < 0) return;
    chain->place[boundary] = -1;
    chain->waiting--;
    if (at < chain->waiting) settle_meeting(chain, at, chain->queue[chain->waiting]);
}

static void push_meeting(Chain *chain, Meeting new) {
    const int64_t at = chain->place[new.boundary];
    settle_meeting(chain, at < 0 ? chain->waiting++ : at, new);
}

static void schedule(Chain *chain, int64_t boundary, double now) {
    const int64_t left = chain->ending[boundary], right = chain->starting[boundary];
    const int64_t fall = chain->falls[boundary];
    const double before = (double)(chain->falls[chain->start[left]] - fall) / chain->weight[left];
    const double after = (double)(fall - chain->falls[chain->stop[right]]) / chain->weight[right];
    if (before == after) {
        take_out(chain, boundary);
        return;
    }
    const double gap = chain->total[right] / chain->weight[right] - chain->total[left] / chain->weight[left];
    const double due = gap / (before - after);
    /* What would overflow never comes. */
    if (due < HUGE_VAL) push_meeting(chain, (Meeting){due > now ? due : now, boundary});
    else take_out(chain, boundary);
}

static void join(Chain *chain, int64_t boundary, double penalty) {
    const int64_t left = chain->ending[boundary], right = chain->starting[boundary];
    const int64_t new = chain->count + chain->made;
    const int64_t start = chain->start[left], stop = chain->stop[right];
    chain->weight[new] = chain->weight[left] + chain->weight[right];
    chain->total[new] = chain->total[left] + chain->total[right];
    chain->start[new] = start;
    chain->stop[new] = stop;
    chain->ended_by[left] = chain->ended_by[right] = chain->made;
    chain->ended_by[new] = -1;
    chain->joins[chain->made++] = penalty;
    chain->starting[start] = chain->ending[stop] = new;
    if (start > 0) schedule(chain, start, penalty);
    if (stop < chain->count) schedule(chain, stop, penalty);
}

/* Return 0 where there is no memory. */
static int run_chain(Chain *chain) {
    const size_t boundaries = (size_t)chain->count + 1;
    chain->ending = malloc(boundaries * sizeof *chain->ending);
    chain->starting = malloc(boundaries * sizeof *chain->starting);
    chain->place = malloc(boundaries * sizeof *chain->place);
    chain->queue = malloc(boundaries * sizeof *chain->queue);
    const int is_good = chain->ending && chain->starting && chain->place && chain->queue;
    if (is_good) {
        for (int64_t i = 0; i <= chain->count; i++) {
            chain->ending[i] = i - 1;
            chain->starting[i] = i;
            chain->place[i] = -1;
        }
        for (int64_t i = 0; i < chain->count; i++) {
            chain->start[i] = i;
            chain->stop[i] = i + 1;
            chain->ended_by[i] = -1;
        }
        for (int64_t boundary = 1; boundary < chain->count; boundary++) schedule(chain, boundary, 0.0);
        while (chain->waiting) {
            const Meeting next = chain->queue[0];
            take_out(chain, next.boundary);
            join(chain, next.boundary, next.due);
        }
    }
    free(chain->ending);
    free(chain->starting);
    free(chain->place);
    free(chain->queue);
    return is_good;
}

/* What Python calls. */

/* The path of nearly-isotonic regression: how many joins there are, and the blocks they make. */
static PyObject *join_blocks(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { WEIGHT, TOTAL, FALLS, START, STOP, ENDED_BY, JOINS };
    static const Wanted wanted[] = {{"d", 1, WRITE, 0},  {"d", 1, WRITE, 0},  {"lq", 1, READ, 0},
                                    {"lq", 1, WRITE, 0}, {"lq", 1, WRITE, 0}, {"lq", 1, WRITE, 0},
                                    {"d", 1, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 7) < 0) return NULL;
    const Py_ssize_t n = SHAPE(JOINS, 0) + 1, blocks = 2 * n - 1;
    const int in_order = HAS_LENGTH(WEIGHT, blocks) && HAS_LENGTH(TOTAL, blocks)
                         && HAS_LENGTH(FALLS, n + 1) && HAS_LENGTH(START, blocks)
                         && HAS_LENGTH(STOP, blocks) && HAS_LENGTH(ENDED_BY, blocks)
                         && arrays.views[FALLS].itemsize == 8 && arrays.views[START].itemsize == 8
                         && arrays.views[STOP].itemsize == 8 && arrays.views[ENDED_BY].itemsize == 8;
    Chain chain = {0};
    int found = 1;
    if (in_order) {
        chain.count = n;
        chain.weight = BUFFER(WEIGHT);
        chain.total = BUFFER(TOTAL);
        chain.falls = BUFFER(FALLS);
        chain.start = BUFFER(START);
        chain.stop = BUFFER(STOP);
        chain.ended_by = BUFFER(ENDED_BY);
        chain.joins = BUFFER(JOINS);
        Py_BEGIN_ALLOW_THREADS;
        found = run_chain(&chain);
        Py_END_ALLOW_THREADS;
    }
    PyObject *nothing = done(&arrays, in_order);
    Py_XDECREF(nothing);
    if (!nothing) return NULL;
    return found ? PyLong_FromLongLong(chain.made) : PyErr_NoMemory();
}
