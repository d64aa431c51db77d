/* Two sorted classes to distinct values, and these to the blocks of isotonic regression. */

typedef struct {
    const double *firsts, *seconds; /* values of either class, ascending */
    int64_t n_firsts, n_seconds;
    double *values, *weights, *positives; /* room for as many as both have */
} Merge;

/* What a sum is multiplied with where a new one begins or not. Neither that nor which class is next
   can be foreseen, so nothing branches on it: a table is what compilers leave alone. */
static const double STAYS[] = {1.0, 0.0};

typedef struct {
    double value, weight, positive;
    int64_t at;
} Last;

INLINE Last add_row(const Merge *of, Last last, double value, int is_second) {
    const int is_new = value != last.value;
    const double stays = STAYS[is_new];
    const Last now = {value, stays * last.weight + 1.0, stays * last.positive + is_second,
                      last.at + is_new};
    of->values[now.at] = value;
    of->weights[now.at] = now.weight;
    of->positives[now.at] = now.positive;
    return now;
}

static int64_t merge_classes(const Merge *of) {
    const double *firsts = of->firsts, *const end = firsts + of->n_firsts;
    const double *seconds = of->seconds, *const seconds_end = seconds + of->n_seconds;
    Last last = {NAN, 0.0, 0.0, -1};
    while (firsts < end && seconds < seconds_end) {
        const int is_second = *seconds < *firsts;
        const double value = is_second ? *seconds : *firsts;
        firsts += !is_second;
        seconds += is_second;
        last = add_row(of, last, value, is_second);
    }
    while (firsts < end) last = add_row(of, last, *firsts++, 0);
    while (seconds < seconds_end) last = add_row(of, last, *seconds++, 1);
    return last.at + 1;
}

typedef struct {
    const double *weights, *positives;
    int64_t count;
    int64_t *starts; /* of the blocks, and their sums: room for as many as there are values */
    double *sums_of_weights, *sums_of_positives;
} Pool;

/* Values in a row of which none is above the one before are in one block. As above, no branches. */
static int64_t pool_falls(const Pool *of) {
    double last = NAN, weight = 0.0, positive = 0.0;
    int64_t at = -1, start = 0;
    for (int64_t i = 0; i < of->count; i++) {
        const double mean = of->positives[i] / of->weights[i];
        const int is_new = !(mean <= last);
        const double stays = STAYS[is_new];
        at += is_new;
        start += is_new * (i - start);
        weight = stays * weight + of->weights[i];
        positive = stays * positive + of->positives[i];
        of->starts[at] = start;
        of->sums_of_weights[at] = weight;
        of->sums_of_positives[at] = positive;
        last = mean;
    }
    return at + 1;
}

/* A block whose mean is not above that of the block before joins it. Means are worked out from sums,
   so that those of whole numbers are equal to the bit where they are equal. */
static int64_t pool_blocks(const Pool *of) {
    double *weights = of->sums_of_weights, *positives = of->sums_of_positives;
    const int64_t count = pool_falls(of);
    int64_t below = 0;
    for (int64_t i = 0; i < count; i++) {
        double weight = weights[i], positive = positives[i];
        int64_t start = of->starts[i];
        for (; below && positives[below - 1] / weights[below - 1] >= positive / weight; below--) {
            weight += weights[below - 1];
            positive += positives[below - 1];
            start = of->starts[below - 1];
        }
        of->starts[below] = start;
        weights[below] = weight;
        positives[below++] = positive;
    }
    return below;
}

/* What Python calls. */

static PyObject *number_or_null(PyObject *nothing, int64_t found) {
    Py_XDECREF(nothing);
    return nothing ? PyLong_FromLongLong(found) : NULL;
}

static PyObject *merge(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { FIRSTS, SECONDS, VALUES, WEIGHTS, POSITIVES };
    static const Wanted wanted[] = {{"d", 1, READ, 0},
                                    {"d", 1, READ, 0},
                                    {"d", 1, WRITE, 0},
                                    {"d", 1, WRITE, 0},
                                    {"d", 1, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 5) < 0) return NULL;
    const Py_ssize_t n = SHAPE(FIRSTS, 0), m = SHAPE(SECONDS, 0);
    const int good = HAS_LENGTH(VALUES, n + m) && HAS_LENGTH(WEIGHTS, n + m) && HAS_LENGTH(POSITIVES, n + m);
    int64_t found = 0;
    if (good) {
        const Merge of = {BUFFER(FIRSTS), BUFFER(SECONDS), n, m,
                          BUFFER(VALUES), BUFFER(WEIGHTS), BUFFER(POSITIVES)};
        Py_BEGIN_ALLOW_THREADS;
        found = merge_classes(&of);
        Py_END_ALLOW_THREADS;
    }
    return number_or_null(done(&arrays, good), found);
}

static PyObject *pool(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { WEIGHTS, POSITIVES, STARTS, SUMS_OF_WEIGHTS, SUMS_OF_POSITIVES };
    static const Wanted wanted[] = {{"d", 1, READ, 0},
                                    {"d", 1, READ, 0},
                                    {"lq", 1, WRITE, 0},
                                    {"d", 1, WRITE, 0},
                                    {"d", 1, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 5) < 0) return NULL;
    const Py_ssize_t n = SHAPE(WEIGHTS, 0);
    const int good = HAS_LENGTH(POSITIVES, n) && HAS_LENGTH(STARTS, n) && HAS_LENGTH(SUMS_OF_WEIGHTS, n)
                     && HAS_LENGTH(SUMS_OF_POSITIVES, n) && arrays.views[STARTS].itemsize == 8;
    int64_t found = 0;
    if (good) {
        const Pool of = {BUFFER(WEIGHTS), BUFFER(POSITIVES), n,
                         BUFFER(STARTS), BUFFER(SUMS_OF_WEIGHTS), BUFFER(SUMS_OF_POSITIVES)};
        Py_BEGIN_ALLOW_THREADS;
        found = pool_blocks(&of);
        Py_END_ALLOW_THREADS;
    }
    return number_or_null(done(&arrays, good), found);
}
