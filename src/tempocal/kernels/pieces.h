/* Rows of each key, cut into pieces. A piece is summed over by one thread, and those of a key are added up in
   their order: so sums have the same bits whatever the number of cores. */

typedef struct {
    int64_t count;
    int64_t *bounds; /* first row of each piece, and the end of the last */
    int64_t *keys; /* of each piece */
} Pieces;

static int64_t pieces_for(int64_t rows, int64_t most) { return rows > most ? (rows - 1) / most + 1 : 1; }

/* Cut the rows of each key into pieces of about the same size, `most` at most; tells whether there was memory. */
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

/* Add what was found in each piece to what is known of its key, `width` numbers each. */
static void add_up(const Pieces *pieces, const double *found, int64_t width, double *total) {
    for (int64_t piece = 0; piece < pieces->count; piece++)
        for (int64_t i = 0; i < width; i++) total[pieces->keys[piece] * width + i] += found[piece * width + i];
}
