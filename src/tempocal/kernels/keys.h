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

typedef struct {
    const char *values; /* (columns, rows): columns are `stride` bytes apart, and rows `step` */
    Py_ssize_t columns, stride, step, width;
    const char *keys;
    int64_t rows, n_keys;
    int64_t *next; /* position of the next row of each key */
    char *sorted; /* (columns, room) */
    int64_t room;
} ScatterArgs;

INLINE int scatter_rows(const ScatterArgs *of, Py_ssize_t columns, Py_ssize_t size) {
    int good = 1;
    for (int64_t i = 0; i < of->rows; i++) {
        const uint64_t key = key_at(of->keys, size, i);
        uint64_t index = key < (uint64_t)of->n_keys ? (uint64_t)of->next[key]++ : UINT64_MAX;
        if (index >= (uint64_t)of->room) {
            good = 0;
            continue;
        }
        const char *value = of->values + i * of->step;
        for (Py_ssize_t k = 0; k < columns; k++, value += of->stride, index += (uint64_t)of->room) {
            if (of->width == 8) ((int64_t *)of->sorted)[index] = *(const int64_t *)value;
            else if (of->width == 4) ((int32_t *)of->sorted)[index] = *(const int32_t *)value;
            else of->sorted[index] = *value;
        }
    }
    return good;
}

/* Sort the columns of a table by key, where `next` is the position of the next row of each key. */
static PyObject *scatter(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { VALUES, KEYS, NEXT, SORTED };
    static const ArraySpec specs[] = {
        {"dflq?", 2, PyBUF_STRIDES, 0}, {KEY_KINDS, 1, READ, 0}, {"lq", 1, WRITE, 0}, {"dflq?", 2, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 4) < 0) return NULL;
    const Py_buffer *values = arrays.views + VALUES;
    const ScatterArgs of = {values->buf, SHAPE(VALUES, 0), values->strides[0], values->strides[1], values->itemsize,
                            BUFFER(KEYS), SHAPE(VALUES, 1), SHAPE(NEXT, 0), BUFFER(NEXT), BUFFER(SORTED), SHAPE(SORTED, 1)};
    int good = (of.width == 8 || of.width == 4 || of.width == 1) && arrays.views[SORTED].itemsize == of.width
               && SHAPE(SORTED, 0) == of.columns && arrays.views[NEXT].itemsize == 8 && HAS_LENGTH(KEYS, of.rows);
    if (good) {
        Py_BEGIN_ALLOW_THREADS;
#define SCATTER(size) (of.columns == 1 ? scatter_rows(&of, 1, size) : scatter_rows(&of, of.columns, size))
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
