/* Python functions for moments of rows in cells of |x|, and for the linear term of the loss. */

typedef struct {
    const char *x;
    int single;
    const char *targets;
    char kind; /* of the targets */
    const double *weights; /* or NULL */
    const char *keys; /* or NULL */
    Py_ssize_t key_size;
    int64_t rows, parts, n_keys;
    double *sums; /* (parts, keys) */
    int is_good;
} LinearTask;

/* Sum (1/2 - label) x of doubles by key; return whether all keys are valid. */
INLINE int linear_by_key(const double *x, const int64_t *labels, const char *keys, Py_ssize_t size,
                       int64_t n, double *sums, uint64_t n_keys) {
    int good = 1;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t key = key_at(keys, size, i);
        if (key < n_keys) sums[key] += (0.5 - (double)labels[i]) * x[i];
        else good = 0;
    }
    return good;
}

static void linear_part(void *context, int64_t part) {
    LinearTask *of = context;
    const int64_t first = begin_of(part, of->parts, of->rows), end = begin_of(part + 1, of->parts, of->rows);
    const uint64_t n_keys = (uint64_t)of->n_keys;
    double *sums = of->sums + part * of->n_keys, partial[4] = {0};
    int good = 1;
#define LINEAR_TERM(i) \
    ((0.5 - target_at(of->targets, of->kind, i)) * (of->weights ? of->weights[i] : 1.0) \
     * number_at(of->x, of->single, i))
#define LINEAR_BY_KEY(size) \
    linear_by_key((const double *)of->x + first, (const int64_t *)of->targets + first, of->keys + first * (size), size, \
                end - first, sums, n_keys)
    if (of->keys && !of->weights && !of->single && of->kind != 'd' && of->kind != '?')
        good = BY_SIZE(of->key_size, LINEAR_BY_KEY);
    else if (of->keys)
        for (int64_t i = first; i < end; i++) {
            const uint64_t key = key_at(of->keys, of->key_size, i);
            if (key < n_keys) sums[key] += LINEAR_TERM(i);
            else good = 0;
        }
    else {
        /* Four independent sums, to hide the latency of additions. */
        int64_t i = first;
        for (; i + 4 <= end; i += 4)
            for (int k = 0; k < 4; k++) partial[k] += LINEAR_TERM(i + k);
        for (; i < end; i++) partial[0] += LINEAR_TERM(i);
        sums[0] += (partial[0] + partial[1]) + (partial[2] + partial[3]);
    }
#undef LINEAR_BY_KEY
#undef LINEAR_TERM
    if (!good) __atomic_store_n(&of->is_good, 0, __ATOMIC_RELAXED);
}

/* Sum (1/2 - target) x by part and key; without keys all rows have the first. Integer targets are 0 or 1. */
static PyObject *linear_terms(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, TARGETS, WEIGHTS, KEYS, SUMS };
    static const ArraySpec specs[] = {{"df", 1, READ, 0},
                                    {"d?lq", 1, READ, 0},
                                    {"d", 1, READ, 1},
                                    {KEY_KINDS, 1, READ, 1},
                                    {"d", 2, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 5) < 0) return NULL;
    const Py_buffer *targets = arrays.views + TARGETS;
    LinearTask of = {.x = BUFFER(X), .single = arrays.views[X].format[0] == 'f', .targets = targets->buf,
                 .kind = targets->format[0], .weights = BUFFER(WEIGHTS), .keys = BUFFER(KEYS),
                 .key_size = arrays.taken[KEYS] ? arrays.views[KEYS].itemsize : 0, .rows = SHAPE(X, 0),
                 .parts = SHAPE(SUMS, 0), .n_keys = SHAPE(SUMS, 1), .sums = BUFFER(SUMS), .is_good = 1};
    int good = HAS_LENGTH(TARGETS, of.rows) && HAS_LENGTH(WEIGHTS, of.rows) && HAS_LENGTH(KEYS, of.rows)
               && of.parts > 0 && of.n_keys > 0 && (targets->itemsize == 8 || targets->itemsize == 1);
    if (good) {
        Py_BEGIN_ALLOW_THREADS;
        run_parts(linear_part, &of, of.parts);
        Py_END_ALLOW_THREADS;
        good = of.is_good;
    }
    return finish(&arrays, good);
}

/* Rows of a piece, so few that its cells stay in the cache. */
#define COUNTED_PIECE 32768

typedef struct {
    const char *x;
    int single;
    const double *weights;
    double scale;
    const int64_t *labels;
    Pieces pieces;
    int64_t parts, cells;
    CellSums *sums; /* (pieces, cells) */
    double *linear;
} PieceTask;

static void moments_of_piece(const PieceTask *of, int64_t first, int64_t end, CellSums *sums) {
    const int64_t cells = of->cells;
    const double *weights = of->weights, scale = of->scale;
    if (!weights && end - first >= MIN_COUNTED_ROWS && end - first <= MAX_COUNTED_ROWS && cells <= MAX_CELLS
        && scale > 0.0) {
        loops->count_moments(of->x + first * (of->single ? 4 : 8), of->single, end - first, scale, cells, sums);
        return;
    }
    for (int64_t i = first; i < end; i++) {
        const double size = fabs(number_at(of->x, of->single, i)), weight = weights ? weights[i] : 1.0;
        const double index = size * scale;
        if (index < (double)cells)
            sums[(Py_ssize_t)index] += (CellSums){weight, weight * size, weight * size * size, 1.0};
    }
}

static void piece_part(void *context, int64_t part) {
    const PieceTask *of = context;
    const int64_t *bounds = of->pieces.bounds, end = first_piece(part + 1, of->parts, bounds, of->pieces.count);
    for (int64_t piece = first_piece(part, of->parts, bounds, of->pieces.count); piece < end; piece++) {
        const int64_t first = bounds[piece], rows = bounds[piece + 1] - first;
        if (of->sums) moments_of_piece(of, first, bounds[piece + 1], of->sums + piece * of->cells);
        if (of->linear)
            of->linear[piece] = loops->linear_term(of->x + first * (of->single ? 4 : 8), of->single, of->labels + first, rows);
    }
}

/* Sum all pieces, and those of each key; return whether there was memory. */
static int sum_cells(PieceTask *of, const int64_t *starts, int64_t n_keys, int64_t rows) {
    CellSums *sums = of->sums;
    double *linear = of->linear;
    if (!cut(&of->pieces, starts, n_keys, COUNTED_PIECE)) return 0;
    const int64_t count = of->pieces.count;
    if (sums && count > n_keys) of->sums = calloc((size_t)(count * of->cells), sizeof *sums);
    if (linear) of->linear = malloc((size_t)count * sizeof *linear);
    const int has_memory = (of->sums || !sums) && (of->linear || !linear);
    of->parts = parts_for(rows, 1);
    if (has_memory) {
        run_parts(piece_part, of, of->parts);
        if (of->sums != sums) add_up(&of->pieces, (double *)of->sums, 4 * of->cells, (double *)sums);
        if (linear) add_up(&of->pieces, of->linear, 1, linear);
    }
    if (of->sums != sums) free(of->sums);
    free(of->linear);
    free(of->pieces.bounds);
    return has_memory;
}

/* Sum (1/2 - label) x over the rows of each key, which are in key order. */
static PyObject *linear_terms_sorted(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, LABELS, STARTS, SUMS };
    static const ArraySpec specs[] = {
        {"df", 1, READ, 0}, {"lq", 1, READ, 0}, {"lq", 1, READ, 0}, {"d", 1, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 4) < 0) return NULL;
    const Py_ssize_t n = SHAPE(X, 0), n_keys = SHAPE(SUMS, 0);
    const int good = are_bounds(arrays.views + STARTS, n_keys, n) && HAS_LENGTH(LABELS, n)
                     && arrays.views[LABELS].itemsize == 8;
    int has_memory = 1;
    if (good) {
        PieceTask of = {.x = BUFFER(X), .single = arrays.views[X].format[0] == 'f', .labels = BUFFER(LABELS),
                     .linear = BUFFER(SUMS)};
        Py_BEGIN_ALLOW_THREADS;
        has_memory = sum_cells(&of, BUFFER(STARTS), n_keys, n);
        Py_END_ALLOW_THREADS;
    }
    return finish_with_memory(&arrays, good, has_memory);
}

/* Sum w, w |x|, w x^2 and 1 over the rows of each key and cell of |x|; rows beyond the last cell are left out.
   With labels, also sum (1/2 - label) x. Return the number of rows in cells. */
static PyObject *moments(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, WEIGHTS, STARTS, SCALE, SUMS, LABELS, LINEAR_TERMS };
    static const ArraySpec specs[] = {
        {"df", 1, READ, 0}, {"d", 1, READ, 1},  {"lq", 1, READ, 0}, {"d", 1, READ, 0},
        {"d", 3, WRITE, 0}, {"lq", 1, READ, 1}, {"d", 1, WRITE, 1},
    };
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 7) < 0) return NULL;
    const Py_ssize_t n = SHAPE(X, 0), n_keys = SHAPE(SUMS, 0), cells = SHAPE(SUMS, 1);
    const int good = HAS_LENGTH(WEIGHTS, n) && are_bounds(arrays.views + STARTS, n_keys, n)
                     && SHAPE(SUMS, 2) == 4 && cells > 0 && SHAPE(SCALE, 0) == 1
                     && *(double *)BUFFER(SCALE) >= 0.0 && HAS_LENGTH(LABELS, n) && HAS_LENGTH(LINEAR_TERMS, n_keys)
                     && arrays.taken[LABELS] == arrays.taken[LINEAR_TERMS]
                     && (!arrays.taken[LABELS] || (!arrays.taken[WEIGHTS] && arrays.views[LABELS].itemsize == 8));
    int has_memory = 1;
    double counted = 0.0;
    if (good) {
        PieceTask of = {.x = BUFFER(X), .single = arrays.views[X].format[0] == 'f', .weights = BUFFER(WEIGHTS),
                     .scale = *(double *)BUFFER(SCALE), .labels = BUFFER(LABELS), .cells = cells,
                     .sums = BUFFER(SUMS), .linear = BUFFER(LINEAR_TERMS)};
        Py_BEGIN_ALLOW_THREADS;
        has_memory = sum_cells(&of, BUFFER(STARTS), n_keys, n);
        for (Py_ssize_t cell = 0; has_memory && cell < n_keys * cells; cell++) counted += ((CellSums *)BUFFER(SUMS))[cell][3];
        Py_END_ALLOW_THREADS;
    }
    PyObject *nothing = finish_with_memory(&arrays, good, has_memory);
    Py_XDECREF(nothing);
    return nothing ? PyLong_FromDouble(counted) : NULL;
}

/* Two points for each nonempty cell, with its weight, mean and variance: sizes and weights, and the first point
   of each key. */
static PyObject *points(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { SUMS, SIZES, WEIGHTS, STARTS };
    static const ArraySpec specs[] = {
        {"d", 3, PyBUF_STRIDES, 0}, {"d", 1, WRITE, 0}, {"d", 1, WRITE, 0}, {"lq", 1, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 4) < 0) return NULL;
    const Py_ssize_t n_keys = SHAPE(SUMS, 0), cells = SHAPE(SUMS, 1), *strides = arrays.views[SUMS].strides;
    const int good = SHAPE(SUMS, 2) == 4 && strides[2] == 8 && strides[1] == 32
                     && SHAPE(SIZES, 0) == 2 * n_keys * cells && SHAPE(WEIGHTS, 0) == 2 * n_keys * cells
                     && SHAPE(STARTS, 0) == n_keys + 1 && arrays.views[STARTS].itemsize == 8;
    if (good) {
        double *sizes = BUFFER(SIZES), *weights = BUFFER(WEIGHTS);
        int64_t *starts = BUFFER(STARTS), at = 0;
        for (Py_ssize_t key = 0; key < n_keys; key++) {
            const CellSums *sums = (const CellSums *)((const char *)BUFFER(SUMS) + key * strides[0]);
            starts[key] = at;
            for (Py_ssize_t cell = 0; cell < cells; cell++) {
                const double weight = sums[cell][0];
                if (weight == 0.0) continue;
                const double mean = sums[cell][1] / weight, variance = sums[cell][2] / weight - mean * mean;
                const double off = variance > 0.0 ? sqrt(variance) : 0.0;
                sizes[at] = mean - off;
                sizes[at + 1] = mean + off;
                weights[at] = weights[at + 1] = 0.5 * weight;
                at += 2;
            }
        }
        starts[n_keys] = at;
    }
    return finish(&arrays, good);
}

typedef struct {
    CellArgs all; /* split into as many parts as there are tables */
    int64_t n_tables;
    int is_good;
} CellTask;

static void cells_part(void *context, int64_t part) {
    CellTask *task = context;
    const int64_t first = begin_of(part, task->n_tables, task->all.rows);
    CellArgs of = task->all;
    of.x += first * (of.single ? 4 : 8);
    if (of.weights) of.weights += first;
    else of.labels += first;
    of.keys += first * of.key_size;
    of.rows = begin_of(part + 1, task->n_tables, task->all.rows) - first;
    of.sums += part * (int64_t)of.n_keys * of.cells;
    if (!loops->cells_by_key(&of)) __atomic_store_n(&task->is_good, 0, __ATOMIC_RELAXED);
}

/* Sum w, w |x| and w x^2 by key and cell of |x|, in a table for each part. The fourth sum is (1/2 - label) x
   without weights, and the number of rows with weights. */
static PyObject *cells_by_key(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, LABELS, WEIGHTS, KEYS, SCALE, SUMS };
    static const ArraySpec specs[] = {{"df", 1, READ, 0},       {"lq", 1, READ, 1}, {"d", 1, READ, 1},
                                    {KEY_KINDS, 1, READ, 0}, {"d", 1, READ, 0},  {"d", 4, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 6) < 0) return NULL;
    const Py_ssize_t n = SHAPE(X, 0), n_keys = SHAPE(SUMS, 1), cells = SHAPE(SUMS, 2);
    int good = HAS_LENGTH(LABELS, n) && HAS_LENGTH(WEIGHTS, n) && HAS_LENGTH(KEYS, n)
               && (arrays.taken[LABELS] ? !arrays.taken[WEIGHTS] && arrays.views[LABELS].itemsize == 8
                                        : arrays.taken[WEIGHTS])
               && SHAPE(SCALE, 0) == 1 && *(double *)BUFFER(SCALE) >= 0.0 && n_keys > 0 && cells > 0
               && cells < INT32_MAX && SHAPE(SUMS, 3) == 4;
    if (good) {
        CellTask task = {{BUFFER(X), arrays.views[X].format[0] == 'f', BUFFER(LABELS), BUFFER(WEIGHTS), n, BUFFER(KEYS),
                        arrays.views[KEYS].itemsize, (uint64_t)n_keys, *(double *)BUFFER(SCALE), cells, BUFFER(SUMS)},
                       SHAPE(SUMS, 0), 1};
        Py_BEGIN_ALLOW_THREADS;
        run_parts(cells_part, &task, task.n_tables);
        Py_END_ALLOW_THREADS;
        good = task.is_good;
    }
    return finish(&arrays, good);
}
