/* Rows by a key that each has: the number of its step, in two, four or eight bytes. */

typedef struct {
    const char *keys;
    Py_ssize_t key_size;
    int64_t rows, part_rows, n_keys;
    const char *values;
    Py_ssize_t width;
    char *sorted;
    int64_t *by_part; /* (parts, keys): how many rows have each key, or where the next one goes */
    int is_good, ascend;
} Keyed;

static int64_t rows_of_part(const Keyed *of, int64_t part) {
    const int64_t left = of->rows - part * of->part_rows;
    return left < of->part_rows ? left : of->part_rows;
}

static void count_part(void *context, int64_t part) {
    Keyed *of = context;
    const int64_t first = part * of->part_rows, n = rows_of_part(of, part);
    Counted found = loops->count_rows(of->keys + first * of->key_size, of->key_size, n,
                                      of->by_part + part * of->n_keys, (uint64_t)of->n_keys);
    if (first && key_at(of->keys, of->key_size, first) < key_at(of->keys, of->key_size, first - 1)) found.ascend = 0;
    if (!found.good) __atomic_store_n(&of->is_good, 0, __ATOMIC_RELAXED);
    if (!found.ascend) __atomic_store_n(&of->ascend, 0, __ATOMIC_RELAXED);
}

/* Parts have so many rows each, but for the last. */
static int are_parts(int64_t rows, int64_t part_rows, int64_t parts) {
    return part_rows > 0 && parts > 0 && (rows + part_rows - 1) / part_rows == (rows ? parts : 0);
}

/* How many rows of each part have each key, and whether they come in the order of their keys. */
static PyObject *count_keys(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { KEYS, SIZE, COUNTS };
    static const Wanted wanted[] = {{KEY_KINDS, 1, READ, 0}, {"lq", 1, READ, 0}, {"lq", 2, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 3) < 0) return NULL;
    const int64_t parts = SHAPE(COUNTS, 0);
    Keyed of = {.keys = BUFFER(KEYS), .key_size = arrays.views[KEYS].itemsize, .rows = SHAPE(KEYS, 0),
                .n_keys = SHAPE(COUNTS, 1), .by_part = BUFFER(COUNTS), .is_good = 1, .ascend = 1};
    int good = arrays.views[COUNTS].itemsize == 8 && SHAPE(SIZE, 0) == 1 && arrays.views[SIZE].itemsize == 8;
    if (good) {
        of.part_rows = *(int64_t *)BUFFER(SIZE);
        good = are_parts(of.rows, of.part_rows, parts);
    }
    if (good && of.rows) {
        Py_BEGIN_ALLOW_THREADS;
        do_all(count_part, &of, parts);
        Py_END_ALLOW_THREADS;
        good = of.is_good;
    }
    PyObject *nothing = done(&arrays, good);
    Py_XDECREF(nothing);
    return nothing ? PyBool_FromLong(of.ascend) : NULL;
}

INLINE int scatter_rows(const char *values, Py_ssize_t width, const char *keys, Py_ssize_t size, int64_t n,
                        int64_t *next, uint64_t n_keys, char *sorted, uint64_t most) {
    int good = 1;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t key = key_at(keys, size, i);
        const uint64_t place = key < n_keys ? (uint64_t)next[key]++ : UINT64_MAX;
        if (place >= most) good = 0;
        else if (width == 8) ((int64_t *)sorted)[place] = ((const int64_t *)values)[i];
        else if (width == 4) ((int32_t *)sorted)[place] = ((const int32_t *)values)[i];
        else sorted[place] = values[i];
    }
    return good;
}

static void scatter_part(void *context, int64_t part) {
    Keyed *of = context;
    const int64_t first = part * of->part_rows, n = rows_of_part(of, part);
    const char *keys = of->keys + first * of->key_size, *values = of->values + first * of->width;
#define SCATTER(size) \
    scatter_rows(values, of->width, keys, size, n, of->by_part + part * of->n_keys, (uint64_t)of->n_keys, \
                 of->sorted, (uint64_t)of->rows)
    if (!BY_SIZE(of->key_size, SCATTER)) __atomic_store_n(&of->is_good, 0, __ATOMIC_RELAXED);
#undef SCATTER
}

/* Rows in the order of their keys: `next` is where the next row of each part and key goes. */
static PyObject *scatter(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { VALUES, KEYS, SIZE, NEXT, SORTED };
    static const Wanted wanted[] = {{"dflq?", 1, READ, 0},
                                    {KEY_KINDS, 1, READ, 0},
                                    {"lq", 1, READ, 0},
                                    {"lq", 2, WRITE, 0},
                                    {"dflq?", 1, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 5) < 0) return NULL;
    Keyed of = {.keys = BUFFER(KEYS), .key_size = arrays.views[KEYS].itemsize, .rows = SHAPE(VALUES, 0),
                .n_keys = SHAPE(NEXT, 1), .values = BUFFER(VALUES), .width = arrays.views[VALUES].itemsize,
                .sorted = BUFFER(SORTED), .by_part = BUFFER(NEXT), .is_good = 1};
    int good = (of.width == 8 || of.width == 4 || of.width == 1) && arrays.views[SORTED].itemsize == of.width
               && arrays.views[NEXT].itemsize == 8 && HAS_LENGTH(KEYS, of.rows) && HAS_LENGTH(SORTED, of.rows)
               && SHAPE(SIZE, 0) == 1 && arrays.views[SIZE].itemsize == 8;
    if (good) {
        of.part_rows = *(int64_t *)BUFFER(SIZE);
        good = are_parts(of.rows, of.part_rows, SHAPE(NEXT, 0));
    }
    if (good && of.rows) {
        const int64_t parts = SHAPE(NEXT, 0);
        Py_BEGIN_ALLOW_THREADS;
        do_all(scatter_part, &of, parts);
        Py_END_ALLOW_THREADS;
        good = of.is_good;
    }
    return done(&arrays, good);
}

typedef struct {
    const char *x, *keys;
    Py_ssize_t width, key_size; /* bytes of each */
    const int64_t *bounds; /* (parts, keys + 1): where the rows of each key lie, once a part is in order */
    int64_t rows, n_keys;
    const double *theta;
    Found found; /* (parts, keys) */
    int is_good, has_room;
} Swept;

/* Put the rows of a part in the order of their keys, in a room that stays in the cache, and sum there. */
static void sweep_part(void *context, int64_t part) {
    Swept *of = context;
    const int64_t *bounds = of->bounds + part * (of->n_keys + 1);
    const int64_t n = bounds[of->n_keys], first = part * of->bounds[of->n_keys], keys = part * of->n_keys;
    char *room = malloc(8 * (size_t)(n + of->n_keys) + 8);
    if (!room) {
        __atomic_store_n(&of->has_room, 0, __ATOMIC_RELAXED);
        return;
    }
    int64_t *next = (int64_t *)room;
    char *sorted = room + 8 * of->n_keys;
    memcpy(next, bounds, 8 * (size_t)of->n_keys);
#define SCATTER(size) \
    scatter_rows(of->x + of->width * first, of->width, of->keys + first * of->key_size, size, n, next, \
                 (uint64_t)of->n_keys, sorted, (uint64_t)n)
    if (BY_SIZE(of->key_size, SCATTER)) {
        const Rows rows = {sorted, 1, 0, of->width == 4, NULL, NULL};
        const Keys own = {bounds, of->theta, of->n_keys};
        Found found = {of->found.loss + keys, of->found.gradient ? of->found.gradient + keys : NULL,
                       of->found.hessian ? of->found.hessian + keys : NULL};
        loops->even(&rows, &own, &found);
    } else __atomic_store_n(&of->is_good, 0, __ATOMIC_RELAXED);
#undef SCATTER
    free(room);
}

/* Each part has bounds of its own, which end with the number of its rows: as many as the first has, but
   for the last. */
static int are_bounds_of_parts(const int64_t *bounds, int64_t parts, int64_t n_keys, int64_t rows) {
    int64_t before = 0;
    for (int64_t part = 0; part < parts; part++) {
        const int64_t *own = bounds + part * (n_keys + 1);
        if (own[0] != 0 || before != part * bounds[n_keys]) return 0;
        for (int64_t key = 0; key < n_keys; key++)
            if (own[key] > own[key + 1]) return 0;
        before += own[n_keys];
    }
    return before == rows;
}

/* Sums over the rows of each key, which come in no order, of one feature: of each part. */
static PyObject *sweep_sums(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, KEYS, BOUNDS, THETA, LOSS, GRADIENT, HESSIAN };
    static const Wanted wanted[] = {{"df", 1, READ, 0}, {KEY_KINDS, 1, READ, 0}, {"lq", 2, READ, 0},
                                    {"d", 1, READ, 0},  {"d", 2, WRITE, 0},      {"d", 2, WRITE, 1},
                                    {"d", 2, WRITE, 1}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 7) < 0) return NULL;
    const Py_ssize_t n = SHAPE(X, 0), parts = SHAPE(LOSS, 0), n_keys = SHAPE(LOSS, 1);
    int good = parts > 0 && n_keys > 0 && HAS_LENGTH(KEYS, n) && HAS_LENGTH(BOUNDS, parts)
               && SHAPE(BOUNDS, 1) == n_keys + 1 && arrays.views[BOUNDS].itemsize == 8 && HAS_LENGTH(THETA, n_keys)
               && HAS_LENGTH(GRADIENT, parts) && (!arrays.taken[GRADIENT] || SHAPE(GRADIENT, 1) == n_keys)
               && HAS_LENGTH(HESSIAN, parts) && (!arrays.taken[HESSIAN] || SHAPE(HESSIAN, 1) == n_keys)
               && arrays.taken[GRADIENT] >= arrays.taken[HESSIAN]
               && are_bounds_of_parts(BUFFER(BOUNDS), parts, n_keys, n);
    Swept of = {BUFFER(X), BUFFER(KEYS), arrays.views[X].itemsize, arrays.views[KEYS].itemsize, BUFFER(BOUNDS), n,
                n_keys, BUFFER(THETA), {BUFFER(LOSS), BUFFER(GRADIENT), BUFFER(HESSIAN)}, 1, 1};
    if (good) {
        Py_BEGIN_ALLOW_THREADS;
        do_all(sweep_part, &of, parts);
        Py_END_ALLOW_THREADS;
    }
    return done_with_memory(&arrays, good && of.is_good, of.has_room);
}

typedef struct {
    const char *values;
    int are_doubles;
    double first;
    int64_t rows, parts;
    char *codes;
    Py_ssize_t size;
    int64_t *ends; /* (parts, 2) */
    int are_whole;
} Coded;

static void code_part(void *context, int64_t part) {
    Coded *of = context;
    const int64_t first = begin_of(part, of->parts, of->rows), n = begin_of(part + 1, of->parts, of->rows) - first;
    const Whole found = loops->code_rows(of->values + 8 * first, of->are_doubles, of->first, n,
                                         of->codes + first * of->size, of->size);
    of->ends[2 * part] = found.low;
    of->ends[2 * part + 1] = found.high;
    if (!found.good) __atomic_store_n(&of->are_whole, 0, __ATOMIC_RELAXED);
}

/* Numbers that are whole and not far from a first one, counted from it: in two bytes what is left of
   them there, which is enough once the lowest is subtracted. And the ends of each part. */
static PyObject *whole_codes(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { VALUES, FIRST, CODES, ENDS };
    static const Wanted wanted[] = {
        {"dlq", 1, READ, 0}, {"d", 1, READ, 0}, {"Hi", 1, WRITE, 0}, {"lq", 2, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 4) < 0) return NULL;
    const Py_ssize_t n = SHAPE(VALUES, 0), parts = SHAPE(ENDS, 0);
    const int good = n >= parts && parts > 0 && HAS_LENGTH(CODES, n) && SHAPE(FIRST, 0) == 1
                     && SHAPE(ENDS, 1) == 2 && fabs(*(double *)BUFFER(FIRST)) <= 0x1p53
                     && arrays.views[VALUES].itemsize == 8 && arrays.views[ENDS].itemsize == 8;
    int are_whole = 0;
    if (good) {
        Coded of = {BUFFER(VALUES), arrays.views[VALUES].format[0] == 'd', *(double *)BUFFER(FIRST), n, parts,
                    BUFFER(CODES), arrays.views[CODES].itemsize, BUFFER(ENDS), 1};
        Py_BEGIN_ALLOW_THREADS;
        do_all(code_part, &of, parts);
        Py_END_ALLOW_THREADS;
        are_whole = of.are_whole;
    }
    PyObject *nothing = done(&arrays, good);
    Py_XDECREF(nothing);
    return nothing ? PyBool_FromLong(are_whole) : NULL;
}
