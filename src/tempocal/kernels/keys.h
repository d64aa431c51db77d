/* Python functions for counting, sorting and summing rows by key, which are integers of two, four or eight bytes. */

typedef struct {
    const char *keys;
    Py_ssize_t key_size;
    int64_t rows, part_rows, n_keys;
    const char *values;
    Py_ssize_t width;
    char *sorted;
    int64_t *by_part; /* (parts, keys): number of rows, or position of the next row */
    int is_good, ascend;
} KeyedTask;

static int64_t rows_of_part(const KeyedTask *of, int64_t part) {
    const int64_t left = of->rows - part * of->part_rows;
    return left < of->part_rows ? left : of->part_rows;
}

static void count_part(void *context, int64_t part) {
    KeyedTask *of = context;
    const int64_t first = part * of->part_rows, n = rows_of_part(of, part);
    KeyCheck found = loops->count_rows(of->keys + first * of->key_size, of->key_size, n,
                                      of->by_part + part * of->n_keys, (uint64_t)of->n_keys);
    if (first && key_at(of->keys, of->key_size, first) < key_at(of->keys, of->key_size, first - 1)) found.ascend = 0;
    if (!found.good) __atomic_store_n(&of->is_good, 0, __ATOMIC_RELAXED);
    if (!found.ascend) __atomic_store_n(&of->ascend, 0, __ATOMIC_RELAXED);
}

/* Whether parts of `part_rows` rows, but for the last, make up all rows. */
static int are_parts(int64_t rows, int64_t part_rows, int64_t parts) {
    return part_rows > 0 && parts > 0 && (rows + part_rows - 1) / part_rows == (rows ? parts : 0);
}

/* Count rows by part and key; return whether they are sorted by key. */
static PyObject *count_keys(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { KEYS, SIZE, COUNTS };
    static const ArraySpec specs[] = {{KEY_KINDS, 1, READ, 0}, {"lq", 1, READ, 0}, {"lq", 2, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 3) < 0) return NULL;
    const int64_t parts = SHAPE(COUNTS, 0);
    KeyedTask of = {.keys = BUFFER(KEYS), .key_size = arrays.views[KEYS].itemsize, .rows = SHAPE(KEYS, 0),
                .n_keys = SHAPE(COUNTS, 1), .by_part = BUFFER(COUNTS), .is_good = 1, .ascend = 1};
    int good = arrays.views[COUNTS].itemsize == 8 && SHAPE(SIZE, 0) == 1 && arrays.views[SIZE].itemsize == 8;
    if (good) {
        of.part_rows = *(int64_t *)BUFFER(SIZE);
        good = are_parts(of.rows, of.part_rows, parts);
    }
    if (good && of.rows) {
        Py_BEGIN_ALLOW_THREADS;
        run_parts(count_part, &of, parts);
        Py_END_ALLOW_THREADS;
        good = of.is_good;
    }
    PyObject *nothing = finish(&arrays, good);
    Py_XDECREF(nothing);
    return nothing ? PyBool_FromLong(of.ascend) : NULL;
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

static void scatter_part(void *context, int64_t part) {
    KeyedTask *of = context;
    const int64_t first = part * of->part_rows, n = rows_of_part(of, part);
    const char *keys = of->keys + first * of->key_size, *values = of->values + first * of->width;
#define SCATTER(size) \
    scatter_rows(values, of->width, keys, size, n, of->by_part + part * of->n_keys, (uint64_t)of->n_keys, \
                 of->sorted, (uint64_t)of->rows)
    if (!BY_SIZE(of->key_size, SCATTER)) __atomic_store_n(&of->is_good, 0, __ATOMIC_RELAXED);
#undef SCATTER
}

/* Sort rows by key, where `next` is the position of the next row of each part and key. */
static PyObject *scatter(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { VALUES, KEYS, SIZE, NEXT, SORTED };
    static const ArraySpec specs[] = {{"dflq?", 1, READ, 0},
                                    {KEY_KINDS, 1, READ, 0},
                                    {"lq", 1, READ, 0},
                                    {"lq", 2, WRITE, 0},
                                    {"dflq?", 1, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 5) < 0) return NULL;
    KeyedTask of = {.keys = BUFFER(KEYS), .key_size = arrays.views[KEYS].itemsize, .rows = SHAPE(VALUES, 0),
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
        run_parts(scatter_part, &of, parts);
        Py_END_ALLOW_THREADS;
        good = of.is_good;
    }
    return finish(&arrays, good);
}

typedef struct {
    KeyedTask keyed;
    int64_t step, *found;
} SampleTask;

static void sample_part(void *context, int64_t part) {
    SampleTask *of = context;
    const KeyedTask *keyed = &of->keyed;
    const int64_t first = part * keyed->part_rows, n = rows_of_part(keyed, part);
    int64_t *next = keyed->by_part + part * keyed->n_keys;
    for (int64_t i = first; i < first + n; i++) {
        const uint64_t key = key_at(keyed->keys, keyed->key_size, i);
        const int64_t index = key < (uint64_t)keyed->n_keys ? next[key]++ : -1;
        if (index < 0 || index >= keyed->rows) __atomic_store_n(&of->keyed.is_good, 0, __ATOMIC_RELAXED);
        else if (index % of->step == 0) of->found[index / of->step] = i;
    }
}

/* Input indices of every n-th row in key order. `next` is the position of the next row of each part and key in that
   order. */
static PyObject *every_nth(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { KEYS, SIZES, NEXT, FOUND };
    static const ArraySpec specs[] = {
        {KEY_KINDS, 1, READ, 0}, {"lq", 1, READ, 0}, {"lq", 2, WRITE, 0}, {"lq", 1, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 4) < 0) return NULL;
    SampleTask of = {{.keys = BUFFER(KEYS), .key_size = arrays.views[KEYS].itemsize, .rows = SHAPE(KEYS, 0),
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
        run_parts(sample_part, &of, parts);
        Py_END_ALLOW_THREADS;
        good = of.keyed.is_good;
    }
    return finish(&arrays, good);
}

typedef struct {
    Rows rows;
    const char *keys;
    Py_ssize_t key_size;
    const int64_t *bounds; /* (parts, keys + 1): first row of each key in a sorted part */
    int64_t n_keys;
    const double *theta;
    SumArrays found; /* (parts, keys) */
    int is_good, wrong;
} UnsortedTask;

/* Permutation that sorts rows by key. They are prefetched into the cache, from which reading them in another order
   is fast. */
INLINE int order_rows(const char *keys, Py_ssize_t size, int64_t n, int64_t *next, const int64_t *bounds,
                      uint64_t n_keys, uint32_t *order, const Rows *rows) {
    int good = 1;
    for (int64_t i = 0; i < n; i++) {
        __builtin_prefetch(rows->x + i * rows->step, 0, 2);
        const uint64_t key = key_at(keys, size, i);
        /* A row must not overwrite another, or some entry would not be filled. */
        if (key < n_keys && next[key] < bounds[key + 1]) order[next[key]++] = (uint32_t)i;
        else good = 0;
    }
    return good;
}

/* Sort the rows of a part by key into a buffer that stays in the cache, and sum there. For a binary model the rows
   are sorted, for a softmax their indices. */
static void unsorted_part(void *context, int64_t part) {
    UnsortedTask *of = context;
    const int64_t *bounds = of->bounds + part * (of->n_keys + 1), width = of->rows.single ? 4 : 8;
    const int64_t n = bounds[of->n_keys], first = part * of->bounds[of->n_keys], keys = part * of->n_keys;
    const char *own_keys = of->keys + first * of->key_size;
    const Keys own = {bounds, of->theta, of->n_keys};
    SumArrays found = {of->found.loss + keys, of->found.gradient ? of->found.gradient + keys : NULL,
                   of->found.hessian ? of->found.hessian + keys : NULL};
    /* Indices of rows; or the rows and their weights. */
    const int64_t row_size = of->rows.labels ? 4 : width + (of->rows.weights ? 8 : 0);
    int64_t *next = malloc((size_t)(8 * of->n_keys + row_size * n) + 8);
    if (!next) {
        __atomic_fetch_or(&of->wrong, NO_MEMORY, __ATOMIC_RELAXED);
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
        /* A row must not have overwritten another, or some entry was not filled. */
        for (int64_t key = 0; key < of->n_keys; key++) good = good && next[key] == bounds[key + 1];
        if (good) loops->even(&rows, &own, &found);
    }
#undef SCATTER
#undef SCATTER_WEIGHTS
#undef ORDER
    if (!good) __atomic_store_n(&of->is_good, 0, __ATOMIC_RELAXED);
    free(next);
}

/* Whether the bounds of each part end with its number of rows, which is the same for all parts but the last. */
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

/* Sums by part and key over unsorted rows, with one coefficient per key: of a softmax if there are labels, else of a
   binary model. */
static PyObject *unsorted_sums(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, WEIGHTS, LABELS, KEYS, BOUNDS, THETA, LOSS, GRADIENT, HESSIAN };
    static const ArraySpec specs[] = {{"df", 2, PyBUF_STRIDES, 0}, {"d", 1, READ, 1},  {"lq", 1, READ, 1},
                                    {KEY_KINDS, 1, READ, 0},     {"lq", 2, READ, 0}, {"d", 1, READ, 0},
                                    {"d", 2, WRITE, 0},          {"d", 2, WRITE, 1}, {"d", 2, WRITE, 1}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 9) < 0) return NULL;
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
    UnsortedTask of = {.rows = {x->buf, SHAPE(X, 0), x->strides[0], x->strides[1], x->format[0] == 'f', BUFFER(WEIGHTS),
                         BUFFER(LABELS)},
                .keys = BUFFER(KEYS), .key_size = arrays.views[KEYS].itemsize, .bounds = BUFFER(BOUNDS),
                .n_keys = n_keys, .theta = BUFFER(THETA), .found = {BUFFER(LOSS), BUFFER(GRADIENT), BUFFER(HESSIAN)},
                .is_good = 1};
    if (good) {
        Py_BEGIN_ALLOW_THREADS;
        run_parts(unsorted_part, &of, parts);
        Py_END_ALLOW_THREADS;
    }
    return finish_with_memory(&arrays, good && of.is_good && !(of.wrong & UNKNOWN_CLASS), !(of.wrong & NO_MEMORY));
}

typedef struct {
    const char *values;
    int are_doubles;
    double first;
    int64_t rows, parts;
    char *codes;
    Py_ssize_t size;
    int64_t *min_max; /* (parts, 2) */
    int are_integers;
} CodeTask;

static void code_part(void *context, int64_t part) {
    CodeTask *of = context;
    const int64_t first = begin_of(part, of->parts, of->rows), n = begin_of(part + 1, of->parts, of->rows) - first;
    const IntegerRange found = loops->code_rows(of->values + 8 * first, of->are_doubles, of->first, n,
                                         of->codes + first * of->size, of->size);
    of->min_max[2 * part] = found.low;
    of->min_max[2 * part + 1] = found.high;
    if (!found.good) __atomic_store_n(&of->are_integers, 0, __ATOMIC_RELAXED);
}

/* Differences of integers from a first one, which must fit 31 bits, and their minimum and maximum in each part. In
   two bytes differences are modulo 2^16, which is enough once the minimum is subtracted. */
static PyObject *integer_codes(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { VALUES, FIRST, CODES, MIN_MAX };
    static const ArraySpec specs[] = {
        {"dlq", 1, READ, 0}, {"d", 1, READ, 0}, {"Hi", 1, WRITE, 0}, {"lq", 2, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 4) < 0) return NULL;
    const Py_ssize_t n = SHAPE(VALUES, 0), parts = SHAPE(MIN_MAX, 0);
    const int good = n >= parts && parts > 0 && HAS_LENGTH(CODES, n) && SHAPE(FIRST, 0) == 1
                     && SHAPE(MIN_MAX, 1) == 2 && fabs(*(double *)BUFFER(FIRST)) <= 0x1p53
                     && arrays.views[VALUES].itemsize == 8 && arrays.views[MIN_MAX].itemsize == 8;
    int are_integers = 0;
    if (good) {
        CodeTask of = {BUFFER(VALUES), arrays.views[VALUES].format[0] == 'd', *(double *)BUFFER(FIRST), n, parts,
                    BUFFER(CODES), arrays.views[CODES].itemsize, BUFFER(MIN_MAX), 1};
        Py_BEGIN_ALLOW_THREADS;
        run_parts(code_part, &of, parts);
        Py_END_ALLOW_THREADS;
        are_integers = of.are_integers;
    }
    PyObject *nothing = finish(&arrays, good);
    Py_XDECREF(nothing);
    return nothing ? PyBool_FromLong(are_integers) : NULL;
}
