/* Derivative of the estimating function of rows that learn from the forecasts that follow them. */

typedef struct {
    const double *forecasts; /* (outputs, rows), then the weights of the rows */
    const double *features;  /* (features, rows) */
    const int64_t *entries;  /* (4, entries): unknown, first feature, end of the features, first output */
    const int64_t *starts;   /* first entry of each key, and the end of the last */
    const double *values;    /* of each entry: how much of its features an unknown has */
    const int64_t *keys;     /* of each row; -1 - key for the last row of a sequence */
    int64_t rows, outputs, n_entries, unknowns;
    double decay;
    double *swept;    /* (outputs, unknowns) */
    double *jacobian; /* (unknowns, unknowns) */
} SequenceArgs;

/* Adds the change of the forecasts of a row with each unknown, times `sign`. */
static void add_changes(const SequenceArgs *a, int64_t row, int64_t key, double sign) {
    for (int64_t e = a->starts[key]; e < a->starts[key + 1]; e++) {
        const int64_t first = a->entries[a->n_entries + e], end = a->entries[2 * a->n_entries + e];
        const int64_t output = a->entries[3 * a->n_entries + e];
        double *swept = a->swept + a->entries[e], mean = 0.0;
        for (int64_t f = first; f < end; f++) {
            const double p = a->forecasts[(output + f - first) * a->rows + row];
            const double part = p * a->values[e] * a->features[f * a->rows + row];
            mean += part;
            swept[(output + f - first) * a->unknowns] += sign * part;
        }
        for (int64_t k = 0; k < a->outputs; k++)
            swept[k * a->unknowns] -= sign * mean * a->forecasts[k * a->rows + row];
    }
}

static void add_products(const SequenceArgs *a, int64_t row, int64_t key) {
    const double weight = a->forecasts[a->outputs * a->rows + row];
    for (int64_t e = a->starts[key]; e < a->starts[key + 1]; e++) {
        const int64_t first = a->entries[a->n_entries + e], end = a->entries[2 * a->n_entries + e];
        const int64_t output = a->entries[3 * a->n_entries + e];
        double *sums = a->jacobian + a->entries[e] * a->unknowns;
        for (int64_t f = first; f < end; f++) {
            const double feature = weight * a->values[e] * a->features[f * a->rows + row];
            const double *swept = a->swept + (output + f - first) * a->unknowns;
            for (int64_t u = 0; u < a->unknowns; u++) sums[u] -= feature * swept[u];
        }
    }
}

static void sum_jacobian(const SequenceArgs *a) {
    const int64_t size = a->outputs * a->unknowns;
    for (int64_t row = a->rows - 1; row >= 0; row--) {
        const int is_last = a->keys[row] < 0;
        const int64_t key = is_last ? -1 - a->keys[row] : a->keys[row];
        if (is_last) memset(a->swept, 0, (size_t)size * sizeof(double));
        add_changes(a, row, key, -1.0);
        add_products(a, row, key);
        for (int64_t i = 0; i < size; i++) a->swept[i] *= a->decay;
        add_changes(a, row, key, 1.0);
    }
}

/* Whether every index is within its array. */
static int are_valid(const SequenceArgs *a, int64_t n_keys, int64_t n_features) {
    if (a->starts[0] != 0 || a->starts[n_keys] != a->n_entries) return 0;
    for (int64_t key = 0; key < n_keys; key++)
        if (a->starts[key] > a->starts[key + 1]) return 0;
    for (int64_t e = 0; e < a->n_entries; e++) {
        const int64_t unknown = a->entries[e], first = a->entries[a->n_entries + e];
        const int64_t end = a->entries[2 * a->n_entries + e], output = a->entries[3 * a->n_entries + e];
        if (unknown < 0 || unknown >= a->unknowns || first < 0 || end < first || end > n_features) return 0;
        if (output < 0 || output + end - first > a->outputs) return 0;
    }
    for (int64_t row = 0; row < a->rows; row++)
        if (a->keys[row] >= n_keys || a->keys[row] < -n_keys) return 0;
    return 1;
}

static PyObject *sequence_jacobian(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { JACOBIAN, FORECASTS, FEATURES, ENTRIES, STARTS, VALUES, KEYS, DECAY };
    static const ArraySpec specs[] = {{"d", 2, WRITE, 0},  {"d", 2, READ, 0},  {"d", 2, READ, 0}, {"lq", 2, READ, 0},
                                      {"lq", 1, READ, 0}, {"d", 1, READ, 0}, {"lq", 1, READ, 0}, {"d", 1, READ, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 8) < 0) return NULL;
    SequenceArgs a = {BUFFER(FORECASTS), BUFFER(FEATURES), BUFFER(ENTRIES), BUFFER(STARTS), BUFFER(VALUES), BUFFER(KEYS)};
    a.rows = SHAPE(KEYS, 0), a.outputs = SHAPE(FORECASTS, 0) - 1, a.n_entries = SHAPE(ENTRIES, 1);
    a.unknowns = SHAPE(JACOBIAN, 0), a.jacobian = BUFFER(JACOBIAN);
    const int64_t n_keys = SHAPE(STARTS, 0) - 1;
    int good = SHAPE(FORECASTS, 1) == a.rows && SHAPE(FEATURES, 1) == a.rows && SHAPE(ENTRIES, 0) == 4;
    good = good && a.outputs > 0 && n_keys >= 0 && SHAPE(JACOBIAN, 1) == a.unknowns;
    good = good && HAS_LENGTH(VALUES, a.n_entries) && HAS_LENGTH(DECAY, 1) && are_valid(&a, n_keys, SHAPE(FEATURES, 0));
    int has_memory = 1;
    if (good) {
        a.decay = *(double *)BUFFER(DECAY);
        a.swept = malloc((size_t)(a.outputs * a.unknowns + 1) * sizeof(double));
        has_memory = a.swept != NULL;
        Py_BEGIN_ALLOW_THREADS;
        if (has_memory) sum_jacobian(&a);
        Py_END_ALLOW_THREADS;
        free(a.swept);
    }
    return finish_with_memory(&arrays, good, has_memory);
}
