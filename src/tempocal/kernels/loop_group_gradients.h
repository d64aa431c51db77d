/* Gradients of the loss of binary rows, summed by group and key. */

/* Add the gradients of the given rows. */
INLINE void NAME(group_gradients_some)(const GroupGradientArgs *of, Py_ssize_t size, const int64_t *rows, int64_t n) {
    const int64_t p = of->coefficients;
    double residual[CHUNK_ROWS];
    for (int64_t i = 0; i < n; i++) {
        const double *theta = of->theta + (int64_t)key_at(of->keys, size, rows[i]) * p;
        residual[i] = 0.0;
        for (int64_t j = 0; j < p; j++)
            residual[i] += theta[j] * number_at(of->x + j * of->stride, of->single, rows[i]);
    }
    for (int64_t at = 0; at < n; at += LANES) {
        const int64_t count = n - at < LANES ? n - at : LANES;
        const vec eta = load((const char *)residual, 0, at, count);
        const vec small = NAME(exp)((vec)((ivec)eta | ((ivec){0} + INT64_MIN)));
        const vec inverse = 1.0 / (1.0 + small);
        const vec proba = NAME(choose)((ivec)eta < 0, small * inverse, inverse);
        memcpy(residual + at, &proba, 8 * (size_t)count);
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = rows[i], cells = of->n_groups * of->n_keys;
        const uint64_t group = key_at(of->groups, of->group_size, row) - (uint64_t)of->first_group;
        double *sums = of->sums + (int64_t)group * of->n_keys + (int64_t)key_at(of->keys, size, row);
        const double weight = of->weights ? of->weights[row] : 1.0;
        const double weighted = weight * (residual[i] - target_at(of->targets, of->kind, row));
        for (int64_t j = 0; j < p; j++) sums[j * cells] += weighted * number_at(of->x + j * of->stride, of->single, row);
    }
}

/* Add those of all rows of the requested groups; return whether all keys are valid. */
INLINE int NAME(group_gradients_rows)(const GroupGradientArgs *of, Py_ssize_t size) {
    int64_t rows[CHUNK_ROWS], n = 0;
    for (int64_t i = 0; i < of->rows; i++) {
        const uint64_t group = key_at(of->groups, of->group_size, i) - (uint64_t)of->first_group;
        if (group >= (uint64_t)of->n_groups) continue;
        if (key_at(of->keys, size, i) >= (uint64_t)of->n_keys) return 0;
        rows[n++] = i;
        if (n < CHUNK_ROWS) continue;
        NAME(group_gradients_some)(of, size, rows, n);
        n = 0;
    }
    NAME(group_gradients_some)(of, size, rows, n);
    return 1;
}

static int NAME(group_gradients)(const GroupGradientArgs *of) {
#define GROUP_GRADIENTS(size) NAME(group_gradients_rows)(of, size)
    return BY_SIZE(of->key_size, GROUP_GRADIENTS);
#undef GROUP_GRADIENTS
}
