/* Python functions for minimum and maximum, and for losses before and after calibration. */

/* Minimum, maximum and sum of at least one number, in the type of the numbers. */
static PyObject *min_max_sum(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, MIN_MAX };
    static const ArraySpec specs[] = {{"dflq", 1, READ, 0}, {"dflq", 1, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 2) < 0) return NULL;
    const char kind = arrays.views[X].format[0];
    const Py_ssize_t n = SHAPE(X, 0);
    const int good = n > 0 && SHAPE(MIN_MAX, 0) == 3 && arrays.views[MIN_MAX].format[0] == kind
                     && arrays.views[X].itemsize == (kind == 'f' ? 4 : 8);
    if (good) {
        Py_BEGIN_ALLOW_THREADS;
        if (kind == 'd') loops->double_min_max(BUFFER(X), n, BUFFER(MIN_MAX));
        else if (kind == 'f') loops->float_min_max(BUFFER(X), n, BUFFER(MIN_MAX));
        else loops->int_min_max(BUFFER(X), n, BUFFER(MIN_MAX));
        Py_END_ALLOW_THREADS;
    }
    return finish(&arrays, good);
}

/* Sum losses of binary rows before and after, gains and squared gains; `gains`, if given, receives those of each row.
   With keys, `after` has a factor for each key, by which the logits before are multiplied. */
static PyObject *compare(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { BEFORE, AFTER, KEYS, LABELS, WEIGHTS, GAINS, SUMS };
    static const ArraySpec specs[] = {{"df", 1, READ, 0}, {"d", 1, READ, 0}, {KEY_KINDS, 1, READ, 1},
                                    {"lq", 1, READ, 0}, {"d", 1, READ, 1}, {"d", 1, WRITE, 1},
                                    {"d", 1, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 7) < 0) return NULL;
    const Py_ssize_t n = SHAPE(BEFORE, 0), n_after = SHAPE(AFTER, 0);
    int good = (arrays.taken[KEYS] ? n_after > 0 : n_after == n) && HAS_LENGTH(KEYS, n)
               && HAS_LENGTH(WEIGHTS, n) && HAS_LENGTH(GAINS, n) && SHAPE(SUMS, 0) == 4
               && arrays.views[LABELS].itemsize == 8 && HAS_LENGTH(LABELS, n);
    if (good) {
        const CompareArgs of = {BUFFER(BEFORE), arrays.views[BEFORE].format[0] == 'f', BUFFER(AFTER), BUFFER(KEYS),
                                SIZE_OF(KEYS), (uint64_t)n_after, BUFFER(LABELS), BUFFER(WEIGHTS)};
        Py_BEGIN_ALLOW_THREADS;
        good = loops->compare(&of, n, BUFFER(GAINS), BUFFER(SUMS));
        Py_END_ALLOW_THREADS;
    }
    return finish(&arrays, good);
}
