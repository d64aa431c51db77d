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
    Keyed keyed;
    int64_t step, *found;
} Sampled;

static void sample_part(void *context, int64_t part) {
    Sampled *of = context;
    const Keyed *keyed = &of->keyed;
    const int64_t first = part * keyed->part_rows, n = rows_of_part(keyed, part);
    int64_t *next = keyed->by_part + part * keyed->n_keys;
    for (int64_t i = first; i < first + n; i++) {
        const uint64_t key = key_at(keyed->keys, keyed->key_size, i);
        const int64_t place = key < (uint64_t)keyed->n_keys ? next[key]++ : -1;
        if (place < 0 || place >= keyed->rows) __atomic_store_n(&of->keyed.is_good, 0, __ATOMIC_RELAXED);
        else if (place % of->step == 0) of->found[place / of->step] = i;
    }
}

/* One row in so many, once they are in the order of their keys: where they are. `next` is where the next row of
   each part and key would go. */
static PyObject *one_in(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { KEYS, SIZES, NEXT, FOUND };
    static const Wanted wanted[] = {
        {KEY_KINDS, 1, READ, 0}, {"lq", 1, READ, 0}, {"lq", 2, WRITE, 0}, {"lq", 1, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 4) < 0) return NULL;
    Sampled of = {{.keys = BUFFER(KEYS), .key_size = arrays.views[KEYS].itemsize, .rows = SHAPE(KEYS, 0),
                   .n_keys = SHAPE(NEXT, 1), .by_part = BUFFER(NEXT), .is_good = 1}, 1, BUFFER(FOUND)};
    int good = arrays.views[NEXT].itemsize == 8 && arrays.views[FOUND].itemsize == 8 && SHAPE(SIZES, 0) == 2
               && arrays.views[SIZES].itemsize == 8;
    if (good) {
        of.keyed.part_rows = ((int64_t *)BUFFER(SIZES))[0];
        of.step = ((int64_t *)BUFFER(SIZES))[1];
        good = are_parts(of.keyed.rows, of.keyed.part_rows, SHAPE(NEXT, 0)) && of.step > 0
               && SHAPE(FOUND, 0) == (of.keyed.rows + of.step - 1) / of.step;
    }
    if (good && of.keyed.rows) {
        const int64_t parts = SHAPE(NEXT, 0);
        Py_BEGIN_ALLOW_THREADS;
        do_all(sample_part, &of, parts);
        Py_END_ALLOW_THREADS;
        good = of.keyed.is_good;
    }
    return done(&arrays, good);
}

typedef struct {
    Rows rows;
    const char *keys;
    Py_ssize_t key_size;
    const int64_t *bounds; /* (parts, keys + 1): where the rows of each key lie, once a part is in order */
    int64_t n_keys;
    const double *theta;
    Found found; /* (parts, keys) */
    int is_good, wrong;
} Swept;

/* Which rows come first, second, ... once they are in the order of their keys. They are on their way to the cache
   then, where reading them in another order takes little time. */
INLINE int order_rows(const char *keys, Py_ssize_t size, int64_t n, int64_t *next, const int64_t *bounds,
                      uint64_t n_keys, uint32_t *order, const Rows *rows) {
    int good = 1;
    for (int64_t i = 0; i < n; i++) {
        __builtin_prefetch(rows->x + i * rows->step, 0, 2);
        const uint64_t key = key_at(keys, size, i);
        /* None goes where another one is, or some place would not be filled. */
        if (key < n_keys && next[key] < bounds[key + 1]) order[next[key]++] = (uint32_t)i;
        else good = 0;
    }
    return good;
}

/* Put the rows of a part in the order of their keys, in a room that stays in the cache, and sum there: of a
   binary model the rows themselves, else where they lie. */
static void sweep_part(void *context, int64_t part) {
    Swept *of = context;
    const int64_t *bounds = of->bounds + part * (of->n_keys + 1), width = of->rows.single ? 4 : 8;
    const int64_t n = bounds[of->n_keys], first = part * of->bounds[of->n_keys], keys = part * of->n_keys;
    const char *own_keys = of->keys + first * of->key_size;
    const Keys own = {bounds, of->theta, of->n_keys};
    Found found = {of->found.loss + keys, of->found.gradient ? of->found.gradient + keys : NULL,
                   of->found.hessian ? of->found.hessian + keys : NULL};
    /* Places of rows; or the rows, and their weights. */
    const int64_t row_size = of->rows.labels ? 4 : width + (of->rows.weights ? 8 : 0);
    int64_t *next = malloc((size_t)(8 * of->n_keys + row_size * n) + 8);
    if (!next) {
        __atomic_fetch_or(&of->wrong, NO_ROOM, __ATOMIC_RELAXED);
        return;
    }
    Rows rows = of->rows;
    char *weights = (char *)(next + of->n_keys), *sorted = weights + (rows.weights && !rows.labels ? 8 * n : 0);
    rows.x += first * rows.step;
    if (rows.weights) rows.weights += first;
    int good = 1;
#define SCATTER(size) \
    scatter_rows(rows.x, width, own_keys, size, n, next, (uint64_t)of->n_keys, sorted, (uint64_t)n)
#define SCATTER_WEIGHTS(size) \
    scatter_rows((const char *)rows.weights, 8, own_keys, size, n, next, (uint64_t)of->n_keys, weights, (uint64_t)n)
#define ORDER(size) order_rows(own_keys, size, n, next, bounds, (uint64_t)of->n_keys, (uint32_t *)sorted, &rows)
    memcpy(next, bounds, 8 * (size_t)of->n_keys);
    if (rows.labels) {
        good = BY_SIZE(of->key_size, ORDER);
        rows.order = (uint32_t *)sorted;
        rows.labels += first;
        const int wrong = good ? loops->shared(&rows, &own, &found) : 0;
        if (wrong) __atomic_fetch_or(&of->wrong, wrong, __ATOMIC_RELAXED);
    } else {
        good = BY_SIZE(of->key_size, SCATTER);
        if (rows.weights) {
            memcpy(next, bounds, 8 * (size_t)of->n_keys);
            good = good && BY_SIZE(of->key_size, SCATTER_WEIGHTS);
            rows.weights = (double *)weights;
        }
        rows.x = sorted;
        /* None went where another one is, or some place was not filled. */
        for (int64_t key = 0; key < of->n_keys; key++) good = good && next[key] == bounds[key + 1];
        if (good) loops->even(&rows, &own, &found);
    }
#undef SCATTER
#undef SCATTER_WEIGHTS
#undef ORDER
    if (!good) __atomic_store_n(&of->is_good, 0, __ATOMIC_RELAXED);
    free(next);
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

/* Sums over the rows of each key, which come in no order, of one coefficient: of each part. With labels it is
   that of a softmax, else of a binary model. */
static PyObject *sweep_sums(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, WEIGHTS, LABELS, KEYS, BOUNDS, THETA, LOSS, GRADIENT, HESSIAN };
    static const Wanted wanted[] = {{"df", 2, PyBUF_STRIDES, 0}, {"d", 1, READ, 1},  {"lq", 1, READ, 1},
                                    {KEY_KINDS, 1, READ, 0},     {"lq", 2, READ, 0}, {"d", 1, READ, 0},
                                    {"d", 2, WRITE, 0},          {"d", 2, WRITE, 1}, {"d", 2, WRITE, 1}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 9) < 0) return NULL;
    const Py_buffer *x = arrays.views + X;
    const Py_ssize_t n = SHAPE(X, 1), parts = SHAPE(LOSS, 0), n_keys = SHAPE(LOSS, 1);
    const int is_softmax = arrays.taken[LABELS];
    int good = parts > 0 && n_keys > 0 && SHAPE(X, 0) > 0 && HAS_LENGTH(WEIGHTS, n) && HAS_LENGTH(LABELS, n)
               && (is_softmax ? arrays.views[LABELS].itemsize == 8 && arrays.taken[GRADIENT]
                              : SHAPE(X, 0) == 1 && x->strides[1] == x->itemsize)
               && HAS_LENGTH(KEYS, n) && HAS_LENGTH(BOUNDS, parts)
               && SHAPE(BOUNDS, 1) == n_keys + 1 && arrays.views[BOUNDS].itemsize == 8 && HAS_LENGTH(THETA, n_keys)
               && HAS_LENGTH(GRADIENT, parts) && (!arrays.taken[GRADIENT] || SHAPE(GRADIENT, 1) == n_keys)
               && HAS_LENGTH(HESSIAN, parts) && (!arrays.taken[HESSIAN] || SHAPE(HESSIAN, 1) == n_keys)
               && arrays.taken[GRADIENT] >= arrays.taken[HESSIAN]
               && are_bounds_of_parts(BUFFER(BOUNDS), parts, n_keys, n)
               && ((int64_t *)BUFFER(BOUNDS))[n_keys] <= UINT32_MAX;
    Swept of = {.rows = {x->buf, SHAPE(X, 0), x->strides[0], x->strides[1], x->format[0] == 'f', BUFFER(WEIGHTS),
                         BUFFER(LABELS)},
                .keys = BUFFER(KEYS), .key_size = arrays.views[KEYS].itemsize, .bounds = BUFFER(BOUNDS),
                .n_keys = n_keys, .theta = BUFFER(THETA), .found = {BUFFER(LOSS), BUFFER(GRADIENT), BUFFER(HESSIAN)},
                .is_good = 1};
    if (good) {
        Py_BEGIN_ALLOW_THREADS;
        do_all(sweep_part, &of, parts);
        Py_END_ALLOW_THREADS;
    }
    return done_with_memory(&arrays, good && of.is_good && !(of.wrong & NO_SUCH_CLASS), !(of.wrong & NO_ROOM));
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
