/* Adjacent blocks that join one by one as the penalty grows: `_Chain` of `nonparametric/solution_path.py`, where
   the method is explained, in the same order and bit for bit. */

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
    int64_t n_joins; /* joins so far */
    int64_t *left_block, *right_block; /* of each boundary */
    Meeting *queue; /* heap with at most one entry per boundary */
    int64_t *heap_index; /* position of each boundary in the heap, or -1 */
    int64_t heap_size;
} Chain;

static int is_sooner(Meeting one, Meeting other) {
    return one.due < other.due || (one.due == other.due && one.boundary < other.boundary);
}

static void heap_set(Chain *chain, int64_t at, Meeting one) {
    chain->queue[at] = one;
    chain->heap_index[one.boundary] = at;
}

/* Put a meeting at a position of the heap, and move it up or down. */
static void heap_sift(Chain *chain, int64_t at, Meeting one) {
    Meeting *queue = chain->queue;
    int64_t next;
    if (at > 0 && is_sooner(one, queue[(at - 1) / 2])) {
        do {
            heap_set(chain, at, queue[(at - 1) / 2]);
            at = (at - 1) / 2;
        } while (at > 0 && is_sooner(one, queue[(at - 1) / 2]));
    } else
        while ((next = 2 * at + 1) < chain->heap_size) {
            if (next + 1 < chain->heap_size && is_sooner(queue[next + 1], queue[next])) next++;
            if (!is_sooner(queue[next], one)) break;
            heap_set(chain, at, queue[next]);
            at = next;
        }
    heap_set(chain, at, one);
}

static void heap_remove(Chain *chain, int64_t boundary) {
    const int64_t at = chain->heap_index[boundary];
    if (at < 0) return;
    chain->heap_index[boundary] = -1;
    chain->heap_size--;
    if (at < chain->heap_size) heap_sift(chain, at, chain->queue[chain->heap_size]);
}

static void heap_push(Chain *chain, Meeting new) {
    const int64_t at = chain->heap_index[new.boundary];
    heap_sift(chain, at < 0 ? chain->heap_size++ : at, new);
}

static void schedule(Chain *chain, int64_t boundary, double now) {
    const int64_t left = chain->left_block[boundary], right = chain->right_block[boundary];
    const int64_t fall = chain->falls[boundary];
    const double left_slope = (double)(chain->falls[chain->start[left]] - fall) / chain->weight[left];
    const double right_slope = (double)(fall - chain->falls[chain->stop[right]]) / chain->weight[right];
    if (left_slope == right_slope) {
        heap_remove(chain, boundary);
        return;
    }
    const double gap = chain->total[right] / chain->weight[right] - chain->total[left] / chain->weight[left];
    const double due = gap / (left_slope - right_slope);
    /* A penalty that overflows is never reached. */
    if (due < HUGE_VAL) heap_push(chain, (Meeting){due > now ? due : now, boundary});
    else heap_remove(chain, boundary);
}

static void join(Chain *chain, int64_t boundary, double penalty) {
    const int64_t left = chain->left_block[boundary], right = chain->right_block[boundary];
    const int64_t new = chain->count + chain->n_joins;
    const int64_t start = chain->start[left], stop = chain->stop[right];
    chain->weight[new] = chain->weight[left] + chain->weight[right];
    chain->total[new] = chain->total[left] + chain->total[right];
    chain->start[new] = start;
    chain->stop[new] = stop;
    chain->ended_by[left] = chain->ended_by[right] = chain->n_joins;
    chain->ended_by[new] = -1;
    chain->joins[chain->n_joins++] = penalty;
    chain->right_block[start] = chain->left_block[stop] = new;
    if (start > 0) schedule(chain, start, penalty);
    if (stop < chain->count) schedule(chain, stop, penalty);
}

/* Return 0 if there is no memory. */
static int run_chain(Chain *chain) {
    const size_t boundaries = (size_t)chain->count + 1;
    chain->left_block = malloc(boundaries * sizeof *chain->left_block);
    chain->right_block = malloc(boundaries * sizeof *chain->right_block);
    chain->heap_index = malloc(boundaries * sizeof *chain->heap_index);
    chain->queue = malloc(boundaries * sizeof *chain->queue);
    const int is_good = chain->left_block && chain->right_block && chain->heap_index && chain->queue;
    if (is_good) {
        for (int64_t i = 0; i <= chain->count; i++) {
            chain->left_block[i] = i - 1;
            chain->right_block[i] = i;
            chain->heap_index[i] = -1;
        }
        for (int64_t i = 0; i < chain->count; i++) {
            chain->start[i] = i;
            chain->stop[i] = i + 1;
            chain->ended_by[i] = -1;
        }
        for (int64_t boundary = 1; boundary < chain->count; boundary++) schedule(chain, boundary, 0.0);
        while (chain->heap_size) {
            const Meeting next = chain->queue[0];
            heap_remove(chain, next.boundary);
            join(chain, next.boundary, next.due);
        }
    }
    free(chain->left_block);
    free(chain->right_block);
    free(chain->heap_index);
    free(chain->queue);
    return is_good;
}

/* Python functions. */

/* The path of nearly-isotonic regression: the number of joins, and the blocks that they make. */
static PyObject *join_blocks(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { WEIGHT, TOTAL, FALLS, START, STOP, ENDED_BY, JOINS };
    static const ArraySpec specs[] = {{"d", 1, WRITE, 0},  {"d", 1, WRITE, 0},  {"lq", 1, READ, 0},
                                    {"lq", 1, WRITE, 0}, {"lq", 1, WRITE, 0}, {"lq", 1, WRITE, 0},
                                    {"d", 1, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 7) < 0) return NULL;
    const Py_ssize_t n = SHAPE(JOINS, 0) + 1, blocks = 2 * n - 1;
    const int good = HAS_LENGTH(WEIGHT, blocks) && HAS_LENGTH(TOTAL, blocks)
                         && HAS_LENGTH(FALLS, n + 1) && HAS_LENGTH(START, blocks)
                         && HAS_LENGTH(STOP, blocks) && HAS_LENGTH(ENDED_BY, blocks)
                         && arrays.views[FALLS].itemsize == 8 && arrays.views[START].itemsize == 8
                         && arrays.views[STOP].itemsize == 8 && arrays.views[ENDED_BY].itemsize == 8;
    Chain chain = {0};
    int found = 1;
    if (good) {
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
    PyObject *nothing = finish(&arrays, good);
    Py_XDECREF(nothing);
    if (!nothing) return NULL;
    return found ? PyLong_FromLongLong(chain.n_joins) : PyErr_NoMemory();
}
