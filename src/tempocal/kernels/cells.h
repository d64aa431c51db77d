/* What Python calls to count rows in cells of their size, and for what labels pull at. */

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
} Linear;

/* (1/2 - label) x of doubles, added up under the key of each row; tells whether all keys are there. */
INLINE int pull_by_key(const double *x, const int64_t *labels, const char *keys, Py_ssize_t size,
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
    Linear *of = context;
    const int64_t first = begin_of(part, of->parts, of->rows), end = begin_of(part + 1, of->parts, of->rows);
    const uint64_t n_keys = (uint64_t)of->n_keys;
    double *sums = of->sums + part * of->n_keys, few[4] = {0};
    int good = 1;
#define PULL(i) \
    ((0.5 - target_at(of->targets, of->kind, i)) * (of->weights ? of->weights[i] : 1.0) \
     * number_at(of->x, of->single, i))
#define PULL_BY_KEY(size) \
    pull_by_key((const double *)of->x + first, (const int64_t *)of->targets + first, of->keys + first * (size), size, \
                end - first, sums, n_keys)
    if (of->keys && !of->weights && !of->single && of->kind != 'd' && of->kind != '?')
        good = BY_SIZE(of->key_size, PULL_BY_KEY);
    else if (of->keys)
        for (int64_t i = first; i < end; i++) {
            const uint64_t key = key_at(of->keys, of->key_size, i);
            if (key < n_keys) sums[key] += PULL(i);
            else good = 0;
        }
    else {
        /* Four sums, so that not every one waits for the one before. */
        int64_t i = first;
        for (; i + 4 <= end; i += 4)
            for (int k = 0; k < 4; k++) few[k] += PULL(i + k);
        for (; i < end; i++) few[0] += PULL(i);
        sums[0] += (few[0] + few[1]) + (few[2] + few[3]);
    }
#undef PULL_BY_KEY
#undef PULL
    if (!good) __atomic_store_n(&of->is_good, 0, __ATOMIC_RELAXED);
}

/* (1/2 - target) x of each row, added up under its key, or under the first, in parts. Whole targets are 0
   or 1. */
static PyObject *linear_sums(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, TARGETS, WEIGHTS, KEYS, SUMS };
    static const Wanted wanted[] = {{"df", 1, READ, 0},
                                    {"d?lq", 1, READ, 0},
                                    {"d", 1, READ, 1},
                                    {KEY_KINDS, 1, READ, 1},
                                    {"d", 2, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 5) < 0) return NULL;
    const Py_buffer *targets = arrays.views + TARGETS;
    Linear of = {.x = BUFFER(X), .single = arrays.views[X].format[0] == 'f', .targets = targets->buf,
                 .kind = targets->format[0], .weights = BUFFER(WEIGHTS), .keys = BUFFER(KEYS),
                 .key_size = arrays.taken[KEYS] ? arrays.views[KEYS].itemsize : 0, .rows = SHAPE(X, 0),
                 .parts = SHAPE(SUMS, 0), .n_keys = SHAPE(SUMS, 1), .sums = BUFFER(SUMS), .is_good = 1};
    int good = HAS_LENGTH(TARGETS, of.rows) && HAS_LENGTH(WEIGHTS, of.rows) && HAS_LENGTH(KEYS, of.rows)
               && of.parts > 0 && of.n_keys > 0 && (targets->itemsize == 8 || targets->itemsize == 1);
    if (good) {
        Py_BEGIN_ALLOW_THREADS;
        do_all(linear_part, &of, of.parts);
        Py_END_ALLOW_THREADS;
        good = of.is_good;
    }
    return done(&arrays, good);
}

/* Rows that are counted in cells together, so few that the cells are in the cache. */
#define COUNTED_PIECE 32768

typedef struct {
    const char *x;
    int single;
    const double *weights;
    double scale;
    const int64_t *labels;
    Pieces pieces;
    int64_t parts, cells;
    Four *sums; /* (pieces, cells) */
    double *pulls;
} Pieced;

static void moments_of_piece(const Pieced *of, int64_t first, int64_t end, Four *sums) {
    const int64_t cells = of->cells;
    const double *weights = of->weights, scale = of->scale;
    if (!weights && end - first >= LEAST_ROWS && end - first <= MOST_ROWS && cells <= MOST_CELLS && scale > 0.0) {
        loops->count_moments(of->x + first * (of->single ? 4 : 8), of->single, end - first, scale, cells, sums);
        return;
    }
    for (int64_t i = first; i < end; i++) {
        const double size = fabs(number_at(of->x, of->single, i)), weight = weights ? weights[i] : 1.0;
        const double place = size * scale;
        if (place < (double)cells)
            sums[(Py_ssize_t)place] += (Four){weight, weight * size, weight * size * size, 1.0};
    }
}

static void piece_part(void *context, int64_t part) {
    const Pieced *of = context;
    const int64_t *bounds = of->pieces.bounds, end = first_piece(part + 1, of->parts, bounds, of->pieces.count);
    for (int64_t piece = first_piece(part, of->parts, bounds, of->pieces.count); piece < end; piece++) {
        const int64_t first = bounds[piece], rows = bounds[piece + 1] - first;
        if (of->sums) moments_of_piece(of, first, bounds[piece + 1], of->sums + piece * of->cells);
        if (of->pulls)
            of->pulls[piece] = loops->pull(of->x + first * (of->single ? 4 : 8), of->single, of->labels + first, rows);
    }
}

/* Do that for all pieces, and add up those of each key; tells whether there was memory. */
static int sum_cells(Pieced *of, const int64_t *starts, int64_t n_keys, int64_t rows) {
    Four *sums = of->sums;
    double *pulls = of->pulls;
    if (!cut(&of->pieces, starts, n_keys, COUNTED_PIECE)) return 0;
    const int64_t count = of->pieces.count;
    if (sums && count > n_keys) of->sums = calloc((size_t)(count * of->cells), sizeof *sums);
    if (pulls) of->pulls = malloc((size_t)count * sizeof *pulls);
    const int has_room = (of->sums || !sums) && (of->pulls || !pulls);
    of->parts = parts_for(rows, 1);
    if (has_room) {
        do_all(piece_part, of, of->parts);
        if (of->sums != sums) add_up(&of->pieces, (double *)of->sums, 4 * of->cells, (double *)sums);
        if (pulls) add_up(&of->pieces, of->pulls, 1, pulls);
    }
    if (of->sums != sums) free(of->sums);
    free(of->pulls);
    free(of->pieces.bounds);
    return has_room;
}

/* (1/2 - label) x, added up over the rows of each key. */
static PyObject *pulls(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, LABELS, STARTS, SUMS };
    static const Wanted wanted[] = {
        {"df", 1, READ, 0}, {"lq", 1, READ, 0}, {"lq", 1, READ, 0}, {"d", 1, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 4) < 0) return NULL;
    const Py_ssize_t n = SHAPE(X, 0), n_keys = SHAPE(SUMS, 0);
    const int good = are_bounds(arrays.views + STARTS, n_keys, n) && HAS_LENGTH(LABELS, n)
                     && arrays.views[LABELS].itemsize == 8;
    int has_room = 1;
    if (good) {
        Pieced of = {.x = BUFFER(X), .single = arrays.views[X].format[0] == 'f', .labels = BUFFER(LABELS),
                     .pulls = BUFFER(SUMS)};
        Py_BEGIN_ALLOW_THREADS;
        has_room = sum_cells(&of, BUFFER(STARTS), n_keys, n);
        Py_END_ALLOW_THREADS;
    }
    return done_with_memory(&arrays, good, has_room);
}

/* Weight, size, square and number of the rows of each key, in cells of their size; those beyond the
   last cell are left out. And, with labels, the sum of (1/2 - label) x. Returns how many rows the cells hold. */
static PyObject *moments(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, WEIGHTS, STARTS, SCALE, SUMS, LABELS, PULLS };
    static const Wanted wanted[] = {
        {"df", 1, READ, 0}, {"d", 1, READ, 1},  {"lq", 1, READ, 0}, {"d", 1, READ, 0},
        {"d", 3, WRITE, 0}, {"lq", 1, READ, 1}, {"d", 1, WRITE, 1},
    };
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 7) < 0) return NULL;
    const Py_ssize_t n = SHAPE(X, 0), n_keys = SHAPE(SUMS, 0), cells = SHAPE(SUMS, 1);
    const int good = HAS_LENGTH(WEIGHTS, n) && are_bounds(arrays.views + STARTS, n_keys, n)
                     && SHAPE(SUMS, 2) == 4 && cells > 0 && SHAPE(SCALE, 0) == 1
                     && *(double *)BUFFER(SCALE) >= 0.0 && HAS_LENGTH(LABELS, n) && HAS_LENGTH(PULLS, n_keys)
                     && arrays.taken[LABELS] == arrays.taken[PULLS]
                     && (!arrays.taken[LABELS] || (!arrays.taken[WEIGHTS] && arrays.views[LABELS].itemsize == 8));
    int has_room = 1;
    double counted = 0.0;
    if (good) {
        Pieced of = {.x = BUFFER(X), .single = arrays.views[X].format[0] == 'f', .weights = BUFFER(WEIGHTS),
                     .scale = *(double *)BUFFER(SCALE), .labels = BUFFER(LABELS), .cells = cells,
                     .sums = BUFFER(SUMS), .pulls = BUFFER(PULLS)};
        Py_BEGIN_ALLOW_THREADS;
        has_room = sum_cells(&of, BUFFER(STARTS), n_keys, n);
        for (Py_ssize_t cell = 0; has_room && cell < n_keys * cells; cell++) counted += ((Four *)BUFFER(SUMS))[cell][3];
        Py_END_ALLOW_THREADS;
    }
    PyObject *nothing = done_with_memory(&arrays, good, has_room);
    Py_XDECREF(nothing);
    return nothing ? PyLong_FromDouble(counted) : NULL;
}

/* Two points in each cell that has rows, with its weight, mean and variance: their sizes and weights, and
   where those of each key begin. */
static PyObject *points(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { SUMS, SIZES, WEIGHTS, STARTS };
    static const Wanted wanted[] = {
        {"d", 3, PyBUF_STRIDES, 0}, {"d", 1, WRITE, 0}, {"d", 1, WRITE, 0}, {"lq", 1, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 4) < 0) return NULL;
    const Py_ssize_t n_keys = SHAPE(SUMS, 0), cells = SHAPE(SUMS, 1), *strides = arrays.views[SUMS].strides;
    const int good = SHAPE(SUMS, 2) == 4 && strides[2] == 8 && strides[1] == 32
                     && SHAPE(SIZES, 0) == 2 * n_keys * cells && SHAPE(WEIGHTS, 0) == 2 * n_keys * cells
                     && SHAPE(STARTS, 0) == n_keys + 1 && arrays.views[STARTS].itemsize == 8;
    if (good) {
        double *sizes = BUFFER(SIZES), *weights = BUFFER(WEIGHTS);
        int64_t *starts = BUFFER(STARTS), at = 0;
        for (Py_ssize_t key = 0; key < n_keys; key++) {
            const Four *sums = (const Four *)((const char *)BUFFER(SUMS) + key * strides[0]);
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
    return done(&arrays, good);
}

typedef struct {
    Celled all; /* of which each room takes a part */
    int64_t rooms;
    int is_good;
} Rooms;

static void cells_part(void *context, int64_t part) {
    Rooms *rooms = context;
    const int64_t first = begin_of(part, rooms->rooms, rooms->all.rows);
    Celled of = rooms->all;
    of.x += first * (of.single ? 4 : 8);
    if (of.weights) of.weights += first;
    else of.labels += first;
    of.keys += first * of.key_size;
    of.rows = begin_of(part + 1, rooms->rooms, rooms->all.rows) - first;
    of.sums += part * (int64_t)of.n_keys * of.cells;
    if (!loops->cells_by_key(&of)) __atomic_store_n(&rooms->is_good, 0, __ATOMIC_RELAXED);
}

/* Weight, size, square of rows in cells of their size, by key: a room for each part. And without weights
   (1/2 - label) x, with weights the number of rows. */
static PyObject *cells_by_key(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, LABELS, WEIGHTS, KEYS, SCALE, SUMS };
    static const Wanted wanted[] = {{"df", 1, READ, 0},       {"lq", 1, READ, 1}, {"d", 1, READ, 1},
                                    {KEY_KINDS, 1, READ, 0}, {"d", 1, READ, 0},  {"d", 4, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 6) < 0) return NULL;
    const Py_ssize_t n = SHAPE(X, 0), n_keys = SHAPE(SUMS, 1), cells = SHAPE(SUMS, 2);
    int good = HAS_LENGTH(LABELS, n) && HAS_LENGTH(WEIGHTS, n) && HAS_LENGTH(KEYS, n)
               && (arrays.taken[LABELS] ? !arrays.taken[WEIGHTS] && arrays.views[LABELS].itemsize == 8
                                        : arrays.taken[WEIGHTS])
               && SHAPE(SCALE, 0) == 1 && *(double *)BUFFER(SCALE) >= 0.0 && n_keys > 0 && cells > 0
               && cells < INT32_MAX && SHAPE(SUMS, 3) == 4;
    if (good) {
        Rooms rooms = {{BUFFER(X), arrays.views[X].format[0] == 'f', BUFFER(LABELS), BUFFER(WEIGHTS), n, BUFFER(KEYS),
                        arrays.views[KEYS].itemsize, (uint64_t)n_keys, *(double *)BUFFER(SCALE), cells, BUFFER(SUMS)},
                       SHAPE(SUMS, 0), 1};
        Py_BEGIN_ALLOW_THREADS;
        do_all(cells_part, &rooms, rooms.rooms);
        Py_END_ALLOW_THREADS;
        good = rooms.is_good;
    }
    return done(&arrays, good);
}
