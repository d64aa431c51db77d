/* Rows of each key, split into pieces. A piece is summed by one thread, and the pieces of a key are added in order,
   so that sums are bit-identical for any number of cores. */

typedef struct {
    int64_t count;
    int64_t *bounds; /* first row of each piece, and the end of the last */
    int64_t *keys; /* of each piece */
} Pieces;

static int64_t pieces_for(int64_t rows, int64_t most) { return rows > most ? (rows - 1) / most + 1 : 1; }

/* Split the rows of each key into pieces of about the same size, at most `most`; return whether there was memory. */
static int cut(Pieces *pieces, const int64_t *starts, int64_t n_keys, int64_t most) {
    int64_t count = 0;
    for (int64_t key = 0; key < n_keys; key++) count += pieces_for(starts[key + 1] - starts[key], most);
    *pieces = (Pieces){count, malloc((size_t)(2 * count + 1) * sizeof(int64_t)), NULL};
    if (!pieces->bounds) return 0;
    pieces->keys = pieces->bounds + count + 1;
    for (int64_t key = 0, piece = 0; key < n_keys; key++) {
        const int64_t rows = starts[key + 1] - starts[key], own = pieces_for(rows, most);
        const int64_t size = (rows + own - 1) / own;
        for (int64_t k = 0; k < own; k++, piece++) {
            pieces->bounds[piece] = starts[key] + k * size;
            pieces->keys[piece] = key;
        }
    }
    pieces->bounds[count] = starts[n_keys];
    return 1;
}

/* Add the sums of each piece, of `width` numbers, to those of its key. */
static void add_up(const Pieces *pieces, const double *found, int64_t width, double *total) {
    for (int64_t piece = 0; piece < pieces->count; piece++)
        for (int64_t i = 0; i < width; i++) total[pieces->keys[piece] * width + i] += found[piece * width + i];
}
