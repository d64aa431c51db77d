/* Python functions for moments of rows in cells of |x|, and for the linear term of the loss. */

typedef struct {
    const char *x;
    int single;
    const char *targets;
    char kind; /* of the targets */
    const double *weights; /* or NULL */
    const char *keys; /* or NULL */
    Py_ssize_t key_size;
    int64_t rows, n_keys;
    double *sums; /* (keys,) */
} LinearArgs;

/* Return whether all keys are valid. */
static int sum_linear(const LinearArgs *of) {
    enum { AT_ONCE = 256, LANES = 4 };
    double terms[AT_ONCE], partial[LANES] = {0};
    int good = 1;
    for (int64_t at = 0; at < of->rows; at += AT_ONCE) {
        const int count = of->rows - at < AT_ONCE ? (int)(of->rows - at) : AT_ONCE;
        for (int i = 0; i < count; i++) terms[i] = 0.5 - target_at(of->targets, of->kind, at + i);
        for (int i = 0; of->weights && i < count; i++) terms[i] *= of->weights[at + i];
        for (int i = 0; i < count; i++) terms[i] *= number_at(of->x, of->single, at + i);
        for (int i = 0; of->keys && i < count; i++) {
            const uint64_t key = key_at(of->keys, of->key_size, at + i);
            if (key < (uint64_t)of->n_keys) of->sums[key] += terms[i];
            else good = 0;
        }
        /* Independent sums, to hide the latency of additions. */
        for (int i = 0; !of->keys && i < count; i++) partial[i % LANES] += terms[i];
    }
    of->sums[0] += (partial[0] + partial[1]) + (partial[2] + partial[3]);
    return good;
}

/* Sum (1/2 - target) x by key; without keys all rows have the first. Integer targets are 0 or 1. */
static PyObject *linear_terms(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, TARGETS, WEIGHTS, KEYS, SUMS };
    static const ArraySpec specs[] = {{"df", 1, READ, 0},
                                    {"d?lq", 1, READ, 0},
                                    {"d", 1, READ, 1},
                                    {KEY_KINDS, 1, READ, 1},
                                    {"d", 1, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 5) < 0) return NULL;
    const Py_buffer *targets = arrays.views + TARGETS;
    const LinearArgs of = {BUFFER(X), arrays.views[X].format[0] == 'f', targets->buf, targets->format[0], BUFFER(WEIGHTS),
                           BUFFER(KEYS), SIZE_OF(KEYS), SHAPE(X, 0), SHAPE(SUMS, 0), BUFFER(SUMS)};
    int good = HAS_LENGTH(TARGETS, of.rows) && HAS_LENGTH(WEIGHTS, of.rows) && HAS_LENGTH(KEYS, of.rows)
               && of.n_keys > 0 && (targets->itemsize == 8 || targets->itemsize == 1);
    if (good) {
        Py_BEGIN_ALLOW_THREADS;
        good = sum_linear(&of);
        Py_END_ALLOW_THREADS;
    }
    return finish(&arrays, good);
}

/* Sum w, w |x| and w x^2 by key and cell of |x|. The fourth sum is (1/2 - label) x with labels, and the number of
   rows without. */
static PyObject *sum_cells(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, LABELS, WEIGHTS, KEYS, SCALE, SUMS };
    static const ArraySpec specs[] = {{"df", 1, READ, 0},      {"lq", 1, READ, 1}, {"d", 1, READ, 1},
                                    {KEY_KINDS, 1, READ, 1}, {"d", 1, READ, 0},  {"d", 3, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 6) < 0) return NULL;
    const Py_ssize_t n = SHAPE(X, 0), n_keys = SHAPE(SUMS, 0), cells = SHAPE(SUMS, 1);
    int good = HAS_LENGTH(LABELS, n) && HAS_LENGTH(WEIGHTS, n) && HAS_LENGTH(KEYS, n)
               && (!arrays.taken[LABELS] || arrays.views[LABELS].itemsize == 8)
               && SHAPE(SCALE, 0) == 1 && *(double *)BUFFER(SCALE) >= 0.0 && n_keys > 0 && cells > 0
               && cells < INT32_MAX && SHAPE(SUMS, 2) == 4;
    if (good) {
        const CellArgs of = {BUFFER(X), arrays.views[X].format[0] == 'f', BUFFER(LABELS), BUFFER(WEIGHTS), n, BUFFER(KEYS),
                             SIZE_OF(KEYS), (uint64_t)n_keys, *(double *)BUFFER(SCALE), cells, BUFFER(SUMS)};
        Py_BEGIN_ALLOW_THREADS;
        good = loops->sum_cells(&of);
        Py_END_ALLOW_THREADS;
    }
    return finish(&arrays, good);
}
