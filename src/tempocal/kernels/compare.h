/* Python functions for minimum and maximum, and for losses before and after calibration. */

typedef struct {
    const char *x;
    char *min_max; /* (parts, 3): minimum, maximum, sum */
    int64_t rows, parts;
    char kind;
} MinMaxTask;

static void min_max_part(void *context, int64_t part) {
    const MinMaxTask *of = context;
    const int64_t first = begin_of(part, of->parts, of->rows), n = begin_of(part + 1, of->parts, of->rows) - first;
    const int64_t size = of->kind == 'f' ? 4 : 8;
    const void *x = of->x + first * size;
    void *found = of->min_max + 3 * part * size;
    if (of->kind == 'd') loops->double_min_max(x, n, found);
    else if (of->kind == 'f') loops->float_min_max(x, n, found);
    else loops->int_min_max(x, n, found);
}

/* Combine the results of all parts into those of the first; NaN is minimum and maximum if there is one. */
static void combine_min_max(const MinMaxTask *of) {
#define ALL(type, sum_type) \
    for (type *all = (type *)of->min_max, *own = all + 3; own < all + 3 * of->parts; own += 3) { \
        if (own[0] < all[0] || own[0] != own[0]) all[0] = own[0]; \
        if (own[1] > all[1] || own[1] != own[1]) all[1] = own[1]; \
        all[2] = (type)((sum_type)all[2] + (sum_type)own[2]); \
    }
    if (of->kind == 'd') ALL(double, double)
    else if (of->kind == 'f') ALL(float, float)
    else ALL(int64_t, uint64_t)
#undef ALL
}

/* Minimum, maximum and sum, in the type of the numbers. */
static PyObject *min_max_sum(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, MIN_MAX };
    static const ArraySpec specs[] = {{"dflq", 1, READ, 0}, {"dflq", 1, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 2) < 0) return NULL;
    const char kind = arrays.views[X].format[0];
    union {
        double doubles[3 * MAX_PARTS];
        float floats[3 * MAX_PARTS];
        int64_t integers[3 * MAX_PARTS];
    } buffer;
    MinMaxTask of = {BUFFER(X), (char *)&buffer, SHAPE(X, 0), parts_for(SHAPE(X, 0), 1), kind};
    const int good = of.rows > 0 && SHAPE(MIN_MAX, 0) == 3 && arrays.views[MIN_MAX].format[0] == kind
                     && arrays.views[X].itemsize == (kind == 'f' ? 4 : 8);
    if (good) {
        Py_BEGIN_ALLOW_THREADS;
        run_parts(min_max_part, &of, of.parts);
        combine_min_max(&of);
        Py_END_ALLOW_THREADS;
        memcpy(arrays.views[MIN_MAX].buf, &buffer, 3 * (size_t)arrays.views[MIN_MAX].itemsize);
    }
    return finish(&arrays, good);
}

typedef struct {
    CompareArgs all;
    int64_t rows, parts;
    double *gains, *sums; /* (rows,) or NULL; (parts, 4) */
    int is_good;
} CompareTask;

static void compare_part(void *context, int64_t part) {
    CompareTask *task = context;
    const int64_t first = begin_of(part, task->parts, task->rows);
    const int64_t n = begin_of(part + 1, task->parts, task->rows) - first;
    CompareArgs of = task->all;
    of.before += first * (of.single ? 4 : 8);
    if (of.keys) of.keys += first * of.key_size;
    else of.after += first;
    of.labels += first;
    if (of.weights) of.weights += first;
    if (!loops->compare(&of, n, task->gains ? task->gains + first : NULL, task->sums + 4 * part))
        __atomic_store_n(&task->is_good, 0, __ATOMIC_RELAXED);
}

/* Sum losses of binary rows before and after, gains and squared gains by part; `gains`, if given, receives those
   of each row. With keys, `after` has a factor for each key, by which the logits before are multiplied. */
static PyObject *compare(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { BEFORE, AFTER, KEYS, LABELS, WEIGHTS, GAINS, SUMS };
    static const ArraySpec specs[] = {{"df", 1, READ, 0}, {"d", 1, READ, 0}, {KEY_KINDS, 1, READ, 1},
                                    {"lq", 1, READ, 0}, {"d", 1, READ, 1}, {"d", 1, WRITE, 1},
                                    {"d", 2, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 7) < 0) return NULL;
    const Py_ssize_t n = SHAPE(BEFORE, 0), n_after = SHAPE(AFTER, 0);
    int good = (arrays.taken[KEYS] ? n_after > 0 : n_after == n) && HAS_LENGTH(KEYS, n)
               && HAS_LENGTH(WEIGHTS, n) && HAS_LENGTH(GAINS, n) && SHAPE(SUMS, 0) > 0 && SHAPE(SUMS, 1) == 4
               && arrays.views[LABELS].itemsize == 8 && HAS_LENGTH(LABELS, n);
    if (good) {
        CompareTask of = {{BUFFER(BEFORE), arrays.views[BEFORE].format[0] == 'f', BUFFER(AFTER), BUFFER(KEYS),
                          arrays.taken[KEYS] ? arrays.views[KEYS].itemsize : 0, (uint64_t)n_after,
                          BUFFER(LABELS), BUFFER(WEIGHTS)},
                         n, SHAPE(SUMS, 0), BUFFER(GAINS), BUFFER(SUMS), 1};
        Py_BEGIN_ALLOW_THREADS;
        run_parts(compare_part, &of, of.parts);
        Py_END_ALLOW_THREADS;
        good = of.is_good;
    }
    return finish(&arrays, good);
}
