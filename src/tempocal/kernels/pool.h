/* Merging two sorted classes to distinct values, and pooling these to blocks of isotonic regression. */

typedef struct {
    const double *firsts, *seconds; /* sorted values of either class */
    int64_t n_firsts, n_seconds;
    double *values, *weights, *positives; /* as long as both classes together */
} MergeTask;

/* Factor of the running sums: 0 where a new value begins. Neither that nor the class of the next row can be
   predicted, so there is no branch: compilers do not turn a table into one. */
static const double STAYS[] = {1.0, 0.0};

typedef struct {
    double value, weight, positive;
    int64_t at;
} Run;

INLINE Run add_row(const MergeTask *of, Run last, double value, int is_second) {
    const int is_new = value != last.value;
    const double stays = STAYS[is_new];
    const Run now = {value, stays * last.weight + 1.0, stays * last.positive + is_second,
                      last.at + is_new};
    of->values[now.at] = value;
    of->weights[now.at] = now.weight;
    of->positives[now.at] = now.positive;
    return now;
}

static int64_t merge_classes(const MergeTask *of) {
    const double *firsts = of->firsts, *const end = firsts + of->n_firsts;
    const double *seconds = of->seconds, *const seconds_end = seconds + of->n_seconds;
    Run last = {NAN, 0.0, 0.0, -1};
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
    int64_t *starts; /* of the blocks, and their sums; as long as the values */
    double *sums_of_weights, *sums_of_positives;
} PoolTask;

/* Pool each nonincreasing run of means into one block. As above, without branches. */
static int64_t pool_falls(const PoolTask *of) {
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

/* Pool adjacent violators: a block whose mean is not above that of the previous one joins it. Means are computed
   from sums, so that equal means of integers are equal to the bit. */
static int64_t pool_blocks(const PoolTask *of) {
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

/* Python functions. */

static PyObject *number_or_null(PyObject *nothing, int64_t found) {
    Py_XDECREF(nothing);
    return nothing ? PyLong_FromLongLong(found) : NULL;
}

static PyObject *merge(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { FIRSTS, SECONDS, VALUES, WEIGHTS, POSITIVES };
    static const ArraySpec specs[] = {{"d", 1, READ, 0},
                                    {"d", 1, READ, 0},
                                    {"d", 1, WRITE, 0},
                                    {"d", 1, WRITE, 0},
                                    {"d", 1, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 5) < 0) return NULL;
    const Py_ssize_t n = SHAPE(FIRSTS, 0), m = SHAPE(SECONDS, 0);
    const int good = HAS_LENGTH(VALUES, n + m) && HAS_LENGTH(WEIGHTS, n + m) && HAS_LENGTH(POSITIVES, n + m);
    int64_t found = 0;
    if (good) {
        const MergeTask of = {BUFFER(FIRSTS), BUFFER(SECONDS), n, m,
                          BUFFER(VALUES), BUFFER(WEIGHTS), BUFFER(POSITIVES)};
        Py_BEGIN_ALLOW_THREADS;
        found = merge_classes(&of);
        Py_END_ALLOW_THREADS;
    }
    return number_or_null(finish(&arrays, good), found);
}

static PyObject *pool(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { WEIGHTS, POSITIVES, STARTS, SUMS_OF_WEIGHTS, SUMS_OF_POSITIVES };
    static const ArraySpec specs[] = {{"d", 1, READ, 0},
                                    {"d", 1, READ, 0},
                                    {"lq", 1, WRITE, 0},
                                    {"d", 1, WRITE, 0},
                                    {"d", 1, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 5) < 0) return NULL;
    const Py_ssize_t n = SHAPE(WEIGHTS, 0);
    const int good = HAS_LENGTH(POSITIVES, n) && HAS_LENGTH(STARTS, n) && HAS_LENGTH(SUMS_OF_WEIGHTS, n)
                     && HAS_LENGTH(SUMS_OF_POSITIVES, n) && arrays.views[STARTS].itemsize == 8;
    int64_t found = 0;
    if (good) {
        const PoolTask of = {BUFFER(WEIGHTS), BUFFER(POSITIVES), n,
                         BUFFER(STARTS), BUFFER(SUMS_OF_WEIGHTS), BUFFER(SUMS_OF_POSITIVES)};
        Py_BEGIN_ALLOW_THREADS;
        found = pool_blocks(&of);
        Py_END_ALLOW_THREADS;
    }
    return number_or_null(finish(&arrays, good), found);
}
