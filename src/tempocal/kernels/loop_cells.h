/* Moments of rows in cells of |x|. */

/* Sum w, w |x| and w x^2 by key and cell of |x|. The fourth sum is (1/2 - label) x with labels, and the number of rows
   without. The last cell of a key is for rows beyond the others. Return whether all keys are valid. */
INLINE int NAME(sum_cells_by_key)(const CellArgs *of, Py_ssize_t size) {
    enum { AT_ONCE = 256 };
    const double beyond = (double)(of->cells - 1);
    double x[AT_ONCE];
    int32_t cells[AT_ONCE];
    uint64_t top = 0;
    for (int64_t at = 0; at < of->rows; at += AT_ONCE) {
        const int count = of->rows - at < AT_ONCE ? (int)(of->rows - at) : AT_ONCE;
        for (int i = 0; i < count; i++) x[i] = number_at(of->x, of->single, at + i);
        for (int i = 0; i < count; i++) {
            const double index = fabs(x[i]) * of->scale;
            cells[i] = (int32_t)(index < beyond ? index : beyond);
        }
        for (int i = 0; i < count; i++) {
            const uint64_t key = key_at(of->keys, size, at + i);
            const double absolute = fabs(x[i]), weight = of->weights ? of->weights[at + i] : 1.0;
            top = key > top ? key : top;
            of->sums[(key < of->n_keys ? key : 0) * (uint64_t)of->cells + (uint64_t)cells[i]] +=
                (CellSums){weight, weight * absolute, weight * absolute * absolute,
                           of->labels ? (0.5 - (double)of->labels[at + i]) * x[i] : 1.0};
        }
    }
    return top < of->n_keys;
}

static int NAME(sum_cells)(const CellArgs *of) {
#define SUM_CELLS(size) NAME(sum_cells_by_key)(of, size)
    return BY_SIZE(of->key_size, SUM_CELLS);
#undef SUM_CELLS
}
