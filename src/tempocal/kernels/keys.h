/* Rows by a key that each has: the number of its step, in two, four or eight bytes. */

#define KEY_KINDS "Hilq"

typedef struct {
    int good, ascend;
} Counted;

INLINE Counted count_rows(const char *keys, Py_ssize_t size, Py_ssize_t n, int64_t *counts, uint64_t n_keys) {
    Counted found = {1, 1};
    uint64_t last = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        const uint64_t key = key_at(keys, size, i);
        if (key < n_keys) counts[key]++;
        else found.good = 0;
        found.ascend &= key >= last;
        last = key;
    }
    return found;
}

/* How many rows have each key, and whether they come in the order of their keys. */
static PyObject *count_keys(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { KEYS, COUNTS };
    static const Wanted wanted[] = {{KEY_KINDS, 1, READ, 0}, {"lq", 1, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 2) < 0) return NULL;
    const Py_ssize_t n = SHAPE(KEYS, 0), n_keys = SHAPE(COUNTS, 0), size = arrays.views[KEYS].itemsize;
    Counted found = {arrays.views[COUNTS].itemsize == 8, 1};
    if (found.good) {
        const char *keys = BUFFER(KEYS);
        int64_t *counts = BUFFER(COUNTS);
        Py_BEGIN_ALLOW_THREADS;
#define COUNT(size) count_rows(keys, size, n, counts, (uint64_t)n_keys)
        found = BY_SIZE(size, COUNT);
#undef COUNT
        Py_END_ALLOW_THREADS;
    }
    PyObject *nothing = done(&arrays, found.good);
    Py_XDECREF(nothing);
    return nothing ? PyBool_FromLong(found.ascend) : NULL;
}

typedef struct {
    const char *values;
    char *sorted;
    int64_t *next; /* where the next row of each key goes */
    Py_ssize_t rows, width;
    uint64_t n_keys, most;
} Scatter;

INLINE int scatter_rows(const Scatter *of, const char *keys, Py_ssize_t size) {
    int good = 1;
    for (Py_ssize_t i = 0; i < of->rows; i++) {
        const uint64_t key = key_at(keys, size, i);
        const uint64_t place = key < of->n_keys ? (uint64_t)of->next[key]++ : UINT64_MAX;
        if (place >= of->most) good = 0;
        else if (of->width == 8) ((int64_t *)of->sorted)[place] = ((const int64_t *)of->values)[i];
        else of->sorted[place] = of->values[i];
    }
    return good;
}

/* Rows in the order of their keys: `next` is where the next row of each key goes. */
static PyObject *scatter(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { VALUES, KEYS, NEXT, SORTED };
    static const Wanted wanted[] = {{"dlq?", 1, READ, 0},
                                    {KEY_KINDS, 1, READ, 0},
                                    {"lq", 1, WRITE, 0},
                                    {"dlq?", 1, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 4) < 0) return NULL;
    const Py_ssize_t n = SHAPE(VALUES, 0), size = arrays.views[KEYS].itemsize;
    const Py_ssize_t width = arrays.views[VALUES].itemsize;
    int good = (width == 8 || width == 1) && arrays.views[SORTED].itemsize == width
               && arrays.views[NEXT].itemsize == 8 && HAS_LENGTH(KEYS, n);
    if (good) {
        const Scatter of = {BUFFER(VALUES), BUFFER(SORTED), BUFFER(NEXT), n, width,
                            (uint64_t)SHAPE(NEXT, 0), (uint64_t)SHAPE(SORTED, 0)};
        const char *keys = BUFFER(KEYS);
        Py_BEGIN_ALLOW_THREADS;
#define SCATTER(size) scatter_rows(&of, keys, size)
        good = BY_SIZE(size, SCATTER);
#undef SCATTER
        Py_END_ALLOW_THREADS;
    }
    return done(&arrays, good);
}

/* Numbers that are whole and not far from a first one, counted from it: in two bytes what is left of
   them there, which is enough once the lowest is subtracted. */
static PyObject *whole_codes(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { VALUES, FIRST, CODES, ENDS };
    static const Wanted wanted[] = {
        {"dlq", 1, READ, 0}, {"d", 1, READ, 0}, {"Hi", 1, WRITE, 0}, {"lq", 1, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 4) < 0) return NULL;
    const Py_ssize_t n = SHAPE(VALUES, 0), size = arrays.views[CODES].itemsize;
    const int good = n > 0 && HAS_LENGTH(CODES, n) && SHAPE(FIRST, 0) == 1 && SHAPE(ENDS, 0) == 2
                     && fabs(*(double *)BUFFER(FIRST)) <= 0x1p53
                     && arrays.views[VALUES].itemsize == 8 && arrays.views[ENDS].itemsize == 8;
    Whole found = {0, 0, 0};
    if (good) {
        const char *values = BUFFER(VALUES);
        const int are_doubles = arrays.views[VALUES].format[0] == 'd';
        const double first = *(double *)BUFFER(FIRST);
        int64_t *ends = BUFFER(ENDS);
        char *codes = BUFFER(CODES);
        Py_BEGIN_ALLOW_THREADS;
        found = loops->code_rows(values, are_doubles, first, n, codes, size);
        ends[0] = found.low;
        ends[1] = found.high;
        Py_END_ALLOW_THREADS;
    }
    PyObject *nothing = done(&arrays, good);
    Py_XDECREF(nothing);
    return nothing ? PyBool_FromLong(found.good) : NULL;
}
