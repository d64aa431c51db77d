/* Python functions for counting and sorting rows by key, which are integers of two, four or eight bytes. */

/* Add the number of rows of each key; return whether they are sorted by key. */
static PyObject *count_keys(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { KEYS, COUNTS };
    static const ArraySpec specs[] = {{KEY_KINDS, 1, READ, 0}, {"lq", 1, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 2) < 0) return NULL;
    const int good = arrays.views[COUNTS].itemsize == 8;
    KeyCheck found = {1, 1};
    if (good) {
        Py_BEGIN_ALLOW_THREADS;
        found = loops->count_rows(BUFFER(KEYS), SIZE_OF(KEYS), SHAPE(KEYS, 0), BUFFER(COUNTS), (uint64_t)SHAPE(COUNTS, 0));
        Py_END_ALLOW_THREADS;
    }
    PyObject *nothing = finish(&arrays, good && found.good);
    Py_XDECREF(nothing);
    return nothing ? PyBool_FromLong(found.ascend) : NULL;
}

INLINE int scatter_rows(const char *values, Py_ssize_t width, const char *keys, Py_ssize_t size, int64_t n,
                        int64_t *next, uint64_t n_keys, char *sorted, uint64_t most) {
    int good = 1;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t key = key_at(keys, size, i);
        const uint64_t index = key < n_keys ? (uint64_t)next[key]++ : UINT64_MAX;
        if (index >= most) good = 0;
        else if (width == 8) ((int64_t *)sorted)[index] = ((const int64_t *)values)[i];
        else if (width == 4) ((int32_t *)sorted)[index] = ((const int32_t *)values)[i];
        else sorted[index] = values[i];
    }
    return good;
}

/* Sort rows by key, where `next` is the position of the next row of each key. */
static PyObject *scatter(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { VALUES, KEYS, NEXT, SORTED };
    static const ArraySpec specs[] = {
        {"dfilq?", 1, READ, 0}, {KEY_KINDS, 1, READ, 0}, {"lq", 1, WRITE, 0}, {"dfilq?", 1, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 4) < 0) return NULL;
    const Py_ssize_t n = SHAPE(VALUES, 0), width = arrays.views[VALUES].itemsize;
    int good = (width == 8 || width == 4 || width == 1) && arrays.views[SORTED].itemsize == width
               && arrays.views[NEXT].itemsize == 8 && HAS_LENGTH(KEYS, n);
    if (good) {
        Py_BEGIN_ALLOW_THREADS;
#define SCATTER(size) \
    scatter_rows(BUFFER(VALUES), width, BUFFER(KEYS), size, n, BUFFER(NEXT), (uint64_t)SHAPE(NEXT, 0), BUFFER(SORTED), \
                 (uint64_t)SHAPE(SORTED, 0))
        good = BY_SIZE(SIZE_OF(KEYS), SCATTER);
#undef SCATTER
        Py_END_ALLOW_THREADS;
    }
    return finish(&arrays, good);
}

/* Indices, from `first` on, of every n-th row in key order. `next` is the position of the next row of each key in that
   order. */
static PyObject *every_nth(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { KEYS, FIRST_AND_STEP, NEXT, FOUND };
    static const ArraySpec specs[] = {
        {KEY_KINDS, 1, READ, 0}, {"lq", 1, READ, 0}, {"lq", 1, WRITE, 0}, {"lq", 1, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 4) < 0) return NULL;
    const int64_t *given_numbers = BUFFER(FIRST_AND_STEP);
    int good = arrays.views[NEXT].itemsize == 8 && arrays.views[FOUND].itemsize == 8
               && arrays.views[FIRST_AND_STEP].itemsize == 8 && SHAPE(FIRST_AND_STEP, 0) == 2 && given_numbers[1] > 0;
    if (good) {
        const char *keys = BUFFER(KEYS);
        const int64_t first = given_numbers[0], step = given_numbers[1];
        int64_t *next = BUFFER(NEXT), *found = BUFFER(FOUND);
        Py_BEGIN_ALLOW_THREADS;
        for (Py_ssize_t i = 0; i < SHAPE(KEYS, 0); i++) {
            const uint64_t key = key_at(keys, SIZE_OF(KEYS), i);
            const int64_t index = key < (uint64_t)SHAPE(NEXT, 0) ? next[key]++ : -1;
            if (index < 0 || index / step >= SHAPE(FOUND, 0)) good = 0;
            else if (index % step == 0) found[index / step] = first + i;
        }
        Py_END_ALLOW_THREADS;
    }
    return finish(&arrays, good);
}

/* Differences of integers from a first one, which must fit 31 bits, and their minimum and maximum; return whether all
   are integers. In two bytes differences are modulo 2^16, which is enough once the minimum is subtracted. */
static PyObject *integer_codes(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { VALUES, FIRST, CODES, MIN_MAX };
    static const ArraySpec specs[] = {
        {"dlq", 1, READ, 0}, {"d", 1, READ, 0}, {"Hi", 1, WRITE, 0}, {"lq", 1, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 4) < 0) return NULL;
    const Py_ssize_t n = SHAPE(VALUES, 0);
    const int good = n > 0 && HAS_LENGTH(CODES, n) && SHAPE(FIRST, 0) == 1 && SHAPE(MIN_MAX, 0) == 2
                     && fabs(*(double *)BUFFER(FIRST)) <= 0x1p53 && arrays.views[VALUES].itemsize == 8
                     && arrays.views[MIN_MAX].itemsize == 8;
    IntegerRange found = {0, 0, 0};
    if (good) {
        Py_BEGIN_ALLOW_THREADS;
        found = loops->code_rows(BUFFER(VALUES), arrays.views[VALUES].format[0] == 'd', *(double *)BUFFER(FIRST), n,
                                 BUFFER(CODES), SIZE_OF(CODES));
        Py_END_ALLOW_THREADS;
        ((int64_t *)BUFFER(MIN_MAX))[0] = found.low;
        ((int64_t *)BUFFER(MIN_MAX))[1] = found.high;
    }
    PyObject *nothing = finish(&arrays, good);
    Py_XDECREF(nothing);
    return nothing ? PyBool_FromLong(found.good) : NULL;
}
