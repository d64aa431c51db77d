/* Bins of confidence, row by row: for any number of classes, and for rows that the vector loop skips. */

typedef double Two __attribute__((vector_size(16), aligned(8)));

/* Consecutive rows use different tables, as in binsums.py, so that rows of one bin do not depend on each other. */
#define TABLES 4

typedef struct {
    const char *proba; /* (rows, columns); one column is that of the second class */
    const char *labels; /* int64_t, or bytes */
    int64_t rows, columns;
    int single, narrow; /* whether proba is float, and labels are bytes */
    int is_top; /* confidence of the most probable class, or else of the second */
    const double *edges;
    int64_t bins;
    Two *tables; /* (TABLES, bins, 2) of rows and confidence */
    int64_t *class_counts; /* rows of each class */
} BinTask;

INLINE double number_at(const char *numbers, int single, int64_t i) {
    return single ? (double)((const float *)numbers)[i] : ((const double *)numbers)[i];
}

INLINE int64_t label_at(const BinTask *of, int64_t i) {
    return of->narrow ? ((const unsigned char *)of->labels)[i] : ((const int64_t *)of->labels)[i];
}

/* Whether edges increase from 0 to 1. */
static int are_edges(const double *edges, int64_t bins) {
    for (int64_t i = 0; i < bins; i++)
        if (!(edges[i] < edges[i + 1])) return 0;
    return edges[0] == 0.0 && edges[bins] == 1.0;
}

/* A bin is lower < confidence <= upper, and the first includes 0. The product is rounded, so that the bin
   may be off by one, which the edges correct. Return 0 if a row is invalid. */
static int bin_rows(const BinTask *of, int64_t first, int64_t end) {
    const int64_t columns = of->columns, classes = columns == 1 ? 2 : columns;
    for (int64_t i = first; i < end; i++) {
        const char *row = of->proba + (of->single ? 4 : 8) * i * columns;
        const int64_t label = label_at(of, i);
        double total = 0.0, highest = -1.0, p = 0.0;
        int64_t top = 0;
        for (int64_t k = 0; k < classes; k++) {
            p = number_at(row, of->single, columns == 1 ? 0 : k);
            if (columns == 1 && k == 0) p = 1.0 - p;
            if (!(p >= 0.0 && p <= 1.0)) return 0;
            total += p;
            top = p > highest ? k : top;
            highest = p > highest ? p : highest;
        }
        /* A sum close to the tolerance is left to the check in Python. */
        if (!(fabs(total - 1.0) <= 0.99e-3) || (uint64_t)label >= (uint64_t)classes) return 0;
        if (!of->is_top) {
            top = 1;
            highest = p;
        }
        int64_t bin = (int64_t)(highest * (double)of->bins);
        bin -= bin == of->bins;
        bin -= (highest <= of->edges[bin]) & (bin > 0);
        bin += highest > of->edges[bin + 1];
        of->class_counts[label]++;
        of->tables[2 * (i % TABLES * of->bins + bin) + (label == top)] += (Two){1.0, highest};
    }
    return 1;
}

static int bin_all(const BinTask *of) { return bin_rows(of, 0, of->rows); }

/* Sum the tables; -1 if there is no memory for them. */
static int bin_in_tables(BinTask of, int (*bin)(const BinTask *), Two *sums) {
    const int64_t cells = 2 * of.bins;
    of.tables = calloc(TABLES * cells, sizeof(Two));
    if (!of.tables) return -1;
    const int found = bin(&of);
    for (int64_t k = 0; k < TABLES * cells; k++) sums[k % cells] += of.tables[k];
    free(of.tables);
    return found;
}
