/* What Python calls to count rows in cells of their size, and for what labels pull at. */

/* (1/2 - label) x of doubles, added up under the key of each row; tells whether all keys are there. */
INLINE int pull_by_key(const double *x, const int64_t *labels, const char *keys, Py_ssize_t size,
                       Py_ssize_t n, double *sums, uint64_t n_keys) {
    int good = 1;
    for (Py_ssize_t i = 0; i < n; i++) {
        const uint64_t key = key_at(keys, size, i);
        if (key < n_keys) sums[key] += (0.5 - (double)labels[i]) * x[i];
        else good = 0;
    }
    return good;
}

/* (1/2 - target) x of each row, added up under its key, or under the first. Whole targets are 0 or 1. */
static PyObject *linear_sums(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, TARGETS, WEIGHTS, KEYS, SUMS };
    static const Wanted wanted[] = {{"df", 1, READ, 0},
                                    {"d?lq", 1, READ, 0},
                                    {"d", 1, READ, 1},
                                    {KEY_KINDS, 1, READ, 1},
                                    {"d", 1, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 5) < 0) return NULL;
    const Py_ssize_t n = SHAPE(X, 0);
    const Py_ssize_t n_keys = SHAPE(SUMS, 0);
    int good = HAS_LENGTH(TARGETS, n) && HAS_LENGTH(WEIGHTS, n) && n_keys > 0 && HAS_LENGTH(KEYS, n)
               && (arrays.views[TARGETS].itemsize == 8 || arrays.views[TARGETS].itemsize == 1);
    if (good) {
        const char *x = BUFFER(X);
        const double *weights = BUFFER(WEIGHTS);
        const int single = arrays.views[X].format[0] == 'f';
        const char *keys = BUFFER(KEYS);
        const Py_ssize_t size = keys ? arrays.views[KEYS].itemsize : 0;
        const char kind = arrays.views[TARGETS].format[0];
        const double *shares = kind == 'd' ? BUFFER(TARGETS) : NULL;
        const unsigned char *bits = kind == '?' ? BUFFER(TARGETS) : NULL;
        const int64_t *labels = BUFFER(TARGETS);
        double *sums = BUFFER(SUMS), few[4] = {0};
#define TARGET(i) (bits ? bits[i] : shares ? shares[i] : (double)labels[i])
#define PULL(i) ((0.5 - TARGET(i)) * (weights ? weights[i] : 1.0) * number_at(x, single, i))
#define PULL_BY_KEY(size) pull_by_key((const double *)x, labels, keys, size, n, sums, (uint64_t)n_keys)
        Py_BEGIN_ALLOW_THREADS;
        if (keys && !weights && !bits && !shares && !single)
            good = BY_SIZE(size, PULL_BY_KEY);
        else if (keys)
            for (Py_ssize_t i = 0; i < n; i++) {
                const uint64_t key = key_at(keys, size, i);
                if (key < (uint64_t)n_keys) sums[key] += PULL(i);
                else good = 0;
            }
        else {
            /* Four sums, so that not every one waits for the one before. */
            Py_ssize_t i = 0;
            for (; i + 4 <= n; i += 4)
                for (int k = 0; k < 4; k++) few[k] += PULL(i + k);
            for (; i < n; i++) few[0] += PULL(i);
            sums[0] += (few[0] + few[1]) + (few[2] + few[3]);
        }
        Py_END_ALLOW_THREADS;
#undef PULL_BY_KEY
#undef PULL
#undef TARGET
    }
    return done(&arrays, good);
}

typedef struct {
    const char *x;
    int single;
    const double *weights, *scale;
    const int64_t *labels, *bounds;
    int64_t pieces, parts, cells;
    Four *sums; /* (pieces, cells) */
    double *pulls;
} Pieced;

static void pull_part(void *context, int64_t part) {
    const Pieced *of = context;
    const int64_t end = first_piece(part + 1, of->parts, of->bounds, of->pieces);
    for (int64_t piece = first_piece(part, of->parts, of->bounds, of->pieces); piece < end; piece++) {
        const int64_t first = of->bounds[piece], rows = of->bounds[piece + 1] - first;
        of->pulls[piece] = loops->pull(of->x + first * (of->single ? 4 : 8), of->single, of->labels + first, rows);
    }
}

/* (1/2 - label) x, added up over the rows of each piece. */
static PyObject *pulls(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, LABELS, BOUNDS, SUMS };
    static const Wanted wanted[] = {
        {"df", 1, READ, 0}, {"lq", 1, READ, 0}, {"lq", 1, READ, 0}, {"d", 1, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 4) < 0) return NULL;
    const Py_ssize_t n = SHAPE(X, 0), pieces = SHAPE(SUMS, 0);
    int good = are_bounds(arrays.views + BOUNDS, pieces, n) && HAS_LENGTH(LABELS, n)
               && arrays.views[LABELS].itemsize == 8;
    if (good) {
        Pieced of = {.x = BUFFER(X), .single = arrays.views[X].format[0] == 'f', .labels = BUFFER(LABELS),
                     .bounds = BUFFER(BOUNDS), .pieces = pieces, .parts = parts_for(n, 1), .pulls = BUFFER(SUMS)};
        Py_BEGIN_ALLOW_THREADS;
        do_all(pull_part, &of, of.parts);
        Py_END_ALLOW_THREADS;
    }
    return done(&arrays, good);
}

static void moments_of_piece(const Pieced *of, int64_t piece) {
    const int64_t first = of->bounds[piece], end = of->bounds[piece + 1], cells = of->cells;
    const double *weights = of->weights, scale = *of->scale;
    Four *sums = of->sums + piece * cells;
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

static void moments_part(void *context, int64_t part) {
    const Pieced *of = context;
    const int64_t end = first_piece(part + 1, of->parts, of->bounds, of->pieces);
    for (int64_t piece = first_piece(part, of->parts, of->bounds, of->pieces); piece < end; piece++)
        moments_of_piece(of, piece);
    if (of->labels) pull_part(context, part);
}

/* Weight, size, square and number of the rows of each piece, in cells of their size; those beyond the
   last cell are left out. And, with labels, the sum of (1/2 - label) x. */
static PyObject *moments(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, WEIGHTS, BOUNDS, SCALE, SUMS, LABELS, PULLS };
    static const Wanted wanted[] = {
        {"df", 1, READ, 0}, {"d", 1, READ, 1},  {"lq", 1, READ, 0}, {"d", 1, READ, 0},
        {"d", 3, WRITE, 0}, {"lq", 1, READ, 1}, {"d", 1, WRITE, 1},
    };
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 7) < 0) return NULL;
    const Py_ssize_t n = SHAPE(X, 0), pieces = SHAPE(SUMS, 0), cells = SHAPE(SUMS, 1);
    int good = HAS_LENGTH(WEIGHTS, n) && are_bounds(arrays.views + BOUNDS, pieces, n)
               && SHAPE(SUMS, 2) == 4 && cells > 0 && SHAPE(SCALE, 0) == 1
               && *(double *)BUFFER(SCALE) >= 0.0 && HAS_LENGTH(LABELS, n) && HAS_LENGTH(PULLS, pieces)
               && arrays.taken[LABELS] == arrays.taken[PULLS]
               && (!arrays.taken[LABELS] || (!arrays.taken[WEIGHTS] && arrays.views[LABELS].itemsize == 8));
    if (good) {
        Pieced of = {BUFFER(X), arrays.views[X].format[0] == 'f', BUFFER(WEIGHTS), BUFFER(SCALE),
                     BUFFER(LABELS), BUFFER(BOUNDS), pieces, parts_for(n, 1), cells,
                     BUFFER(SUMS), BUFFER(PULLS)};
        Py_BEGIN_ALLOW_THREADS;
        do_all(moments_part, &of, of.parts);
        Py_END_ALLOW_THREADS;
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
    of.x += first;
    of.labels += first;
    of.keys += first * of.key_size;
    of.rows = begin_of(part + 1, rooms->rooms, rooms->all.rows) - first;
    of.sums += part * (int64_t)of.n_keys * of.cells;
    if (!loops->cells_by_key(&of)) __atomic_store_n(&rooms->is_good, 0, __ATOMIC_RELAXED);
}

/* Number, size, square and (1/2 - label) x of rows in cells of their size, by key: a room for each part. */
static PyObject *cells_by_key(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, LABELS, KEYS, SCALE, SUMS };
    static const Wanted wanted[] = {{"d", 1, READ, 0},
                                    {"lq", 1, READ, 0},
                                    {KEY_KINDS, 1, READ, 0},
                                    {"d", 1, READ, 0},
                                    {"d", 4, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 5) < 0) return NULL;
    const Py_ssize_t n = SHAPE(X, 0), n_keys = SHAPE(SUMS, 1), cells = SHAPE(SUMS, 2);
    int good = HAS_LENGTH(LABELS, n) && arrays.views[LABELS].itemsize == 8 && HAS_LENGTH(KEYS, n)
               && SHAPE(SCALE, 0) == 1 && *(double *)BUFFER(SCALE) >= 0.0 && n_keys > 0 && cells > 0
               && cells < INT32_MAX && SHAPE(SUMS, 3) == 4;
    if (good) {
        Rooms rooms = {{BUFFER(X), BUFFER(LABELS), n, BUFFER(KEYS), arrays.views[KEYS].itemsize,
                        (uint64_t)n_keys, *(double *)BUFFER(SCALE), cells, BUFFER(SUMS)},
                       SHAPE(SUMS, 0), 1};
        Py_BEGIN_ALLOW_THREADS;
        do_all(cells_part, &rooms, rooms.rooms);
        Py_END_ALLOW_THREADS;
        good = rooms.is_good;
    }
    return done(&arrays, good);
}
