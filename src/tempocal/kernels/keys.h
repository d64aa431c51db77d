/* Rows by a key that each has: the number of its step, in two, four or eight bytes. */

#define KEY_KINDS "Hilq"
/* What is not within 32 bits has others once this is added. */
#define BEYOND ((uint64_t)1 << 31)

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

typedef struct {
    int good;
    int32_t low, high;
} Whole;

/* How far whole numbers are from the first; return whether all of them are, within 31 bits. The first
   is not beyond 2**53, from where no difference of integers wraps around to a near one. */
INLINE int since_whole(const int64_t *values, int64_t first, Py_ssize_t n, int32_t *since) {
    uint64_t wrong = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        const uint64_t far = (uint64_t)values[i] - (uint64_t)first;
        since[i] = (int32_t)far;
        wrong |= (far + BEYOND) >> 32;
    }
    return !wrong;
}

typedef union {
    double number;
    uint64_t bits;
} Both;

/* Beside 1.5 * 2**52 a double has no digits but those of a whole number, the last of its bits. What is
   too large for that, and NaN, has others in the bits before them. All of it in words of one size, for
   compilers to do several at once. */
INLINE int since_double(const double *values, double first, Py_ssize_t n, int32_t *since) {
    const Both beside = {0x1.8p52};
    uint64_t wrong = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        const double far = values[i] - first;
        const Both moved = {far + beside.number}, rest = {moved.number - beside.number - far};
        const Both lost = {far + first - values[i]}; /* of a number too small to be told from the first */
        const uint64_t code = moved.bits - beside.bits;
        since[i] = (int32_t)code;
        wrong |= (code + BEYOND) >> 32 | (rest.bits | lost.bits) << 1; /* but for the sign of zero */
    }
    return !wrong;
}

INLINE void look_at_ends(const int32_t *since, Py_ssize_t n, Whole *found) {
    int32_t low = found->low, high = found->high;
    for (Py_ssize_t i = 0; i < n; i++) {
        low = since[i] < low ? since[i] : low;
        high = since[i] > high ? since[i] : high;
    }
    found->low = low;
    found->high = high;
}

static Whole code_rows(const char *values, int are_doubles, double first, Py_ssize_t n, char *codes, Py_ssize_t size) {
    enum { ROWS = 1024 };
    int32_t since[ROWS];
    Whole found = {1, INT32_MAX, INT32_MIN};
    for (Py_ssize_t start = 0; start < n && found.good; start += ROWS) {
        const Py_ssize_t count = start + ROWS < n ? ROWS : n - start;
        const void *some = values + 8 * start;
        found.good = are_doubles ? since_double(some, first, count, since)
                                 : since_whole(some, (int64_t)first, count, since);
        look_at_ends(since, count, &found);
        if (size == 4) memcpy(codes + 4 * start, since, 4 * (size_t)count);
        else
            for (Py_ssize_t i = 0; i < count; i++) ((uint16_t *)codes)[start + i] = (uint16_t)since[i];
    }
    return found;
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
        found = code_rows(values, are_doubles, first, n, codes, size);
        ends[0] = found.low;
        ends[1] = found.high;
        Py_END_ALLOW_THREADS;
    }
    PyObject *nothing = done(&arrays, good);
    Py_XDECREF(nothing);
    return nothing ? PyBool_FromLong(found.good) : NULL;
}
