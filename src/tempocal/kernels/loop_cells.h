/* Moments of rows in cells of |x|, and the linear term of the loss. */

/* Count rows in subcells of |x|; one more is for those beyond the last. */
INLINE void NAME(count_narrow)(const char *x, int single, int64_t n, double scale, double beyond,
                               uint16_t *counts) {
    enum { AT_ONCE = 256 };
    int32_t cells[AT_ONCE];
    for (int64_t at = 0; at < n; at += AT_ONCE) {
        const int count = n - at < AT_ONCE ? (int)(n - at) : AT_ONCE;
        for (int i = 0; i < count; i++) {
            const double index = fabs(number_at(x, single, at + i)) * scale;
            cells[i] = (int32_t)(index < beyond ? index : beyond);
        }
        for (int i = 0; i < count; i++) counts[cells[i]]++;
    }
}

/* Moments of rows of weight 1 in at most MAX_CELLS cells of |x|, from their counts in subcells. */
static void NAME(count_moments)(const char *x, int single, int64_t n, double scale, int64_t cells,
                                CellSums *sums) {
    const double width = 1.0 / (scale * SUBCELLS), beyond = (double)(cells * SUBCELLS);
    const double narrow = scale * SUBCELLS; /* SUBCELLS is a power of two, so that the edges of cells are exact */
    uint16_t counts[MAX_CELLS * SUBCELLS + 1];
    memset(counts, 0, (size_t)(cells * SUBCELLS + 1) * sizeof *counts);
    if (single) NAME(count_narrow)(x, 1, n, narrow, beyond, counts);
    else NAME(count_narrow)(x, 0, n, narrow, beyond, counts);
    for (int64_t cell = 0; cell < cells; cell++) {
        const uint16_t *own = counts + cell * SUBCELLS;
        int32_t number = 0, once = 0, twice = 0; /* at most MAX_COUNTED_ROWS * SUBCELLS^2 */
        for (int32_t k = 0; k < SUBCELLS; k++) {
            number += own[k];
            once += own[k] * k;
            twice += own[k] * (k * k);
        }
        /* Relative to the middle of the first subcell; 1/12 is the variance within a subcell. */
        const double rows = number, mean = once, from = (double)(cell * SUBCELLS) + 0.5;
        const double squares = twice + 2.0 * from * mean + rows * (from * from + 1.0 / 12.0);
        sums[cell] += (CellSums){rows, width * (mean + rows * from), width * width * squares, rows};
    }
}

/* Sum w, w |x|, w x^2 and (1/2 - label) x by key and cell of |x|; of weighted rows the last is their number. The
   last cell of a key is for rows beyond the others. Return whether all keys are valid. */
INLINE int NAME(cell_rows)(const CellArgs *of, Py_ssize_t size, int single, int weighted) {
    enum { AT_ONCE = 256 };
    const double beyond = (double)(of->cells - 1);
    int32_t cells[AT_ONCE];
    uint64_t top = 0;
    for (int64_t at = 0; at < of->rows; at += AT_ONCE) {
        const int count = of->rows - at < AT_ONCE ? (int)(of->rows - at) : AT_ONCE;
        for (int i = 0; i < count; i++) {
            const double index = fabs(number_at(of->x, single, at + i)) * of->scale;
            cells[i] = (int32_t)(index < beyond ? index : beyond);
        }
        for (int i = 0; i < count; i++) {
            const uint64_t key = key_at(of->keys, size, at + i);
            const double x = number_at(of->x, single, at + i), size = fabs(x);
            top = key > top ? key : top;
            const double weight = weighted ? of->weights[at + i] : 1.0;
            of->sums[(key < of->n_keys ? key : 0) * (uint64_t)of->cells + (uint64_t)cells[i]] +=
                (CellSums){weight, weight * size, weight * size * size,
                       weighted ? 1.0 : (0.5 - (double)of->labels[at + i]) * x};
        }
    }
    return top < of->n_keys;
}

static int NAME(cells_by_key)(const CellArgs *of) {
#define CELL(size, single) (of->weights ? NAME(cell_rows)(of, size, single, 1) : NAME(cell_rows)(of, size, single, 0))
#define CELL_OF(size) (of->single ? CELL(size, 1) : CELL(size, 0))
    return BY_SIZE(of->key_size, CELL_OF);
#undef CELL_OF
#undef CELL
}

/* Sum (1/2 - label) x over rows with labels 0 and 1: half of x with the sign flipped by the label. */
static double NAME(linear_term)(const char *x, int single, const int64_t *labels, int64_t n) {
    double total = 0.0;
    for (int64_t at = 0; at < n;) {
        int64_t stop = at + CHUNK_ROWS < n ? at + CHUNK_ROWS : n;
        vec halves = {0};
        for (; at < stop; at += LANES) {
            int64_t count = stop - at < LANES ? stop - at : LANES;
            ivec is_second = {0};
            if (count == LANES) memcpy(&is_second, labels + at, sizeof is_second);
            else for (int i = 0; i < count; i++) is_second[i] = labels[at + i];
            halves += (vec)((ivec)load(x, single, at, count) ^ (is_second << 63));
        }
        total += 0.5 * NAME(sum)(halves);
    }
    return total;
}
