/* Sorting the values of two classes: a bucket sort, with a radix sort within buckets.

   Values are scattered to cells, those of some cells at a time. A bucket is a run of cells that fits the cache; each
   is sorted on its own, by class. NaN is not allowed. */

typedef uint64_t Bits __attribute__((may_alias));

#define SIGN ((Bits)1 << 63)
#define DIGIT 11
#define DIGITS (1 << DIGIT)
/* Up to this many numbers are sorted by insertion. */
#define INSERTION_ROWS 32
/* Every octave from 2^-8 to 2^8 has 64 cells on either side of zero; what is beyond is in the last. */
#define CELL_SHIFT 46
#define LEAST_SIZE ((Bits)(1023 - 8) << 52)
#define CELLS_PER_SIDE (16 * 64)

/* Bits of a double; -0.0 is 0.0. */
INLINE Bits bits_of(double value) {
    Bits bits;
    value += 0.0;
    memcpy(&bits, &value, 8);
    return bits;
}

INLINE int64_t cell_of(double value) {
    const Bits bits = bits_of(value), size = bits & ~SIGN;
    const Bits index = size > LEAST_SIZE ? (size - LEAST_SIZE) >> CELL_SHIFT : 0;
    const int64_t step = index < CELLS_PER_SIDE ? (int64_t)index : CELLS_PER_SIDE - 1;
    return bits & SIGN ? CELLS_PER_SIDE - 1 - step : CELLS_PER_SIDE + step;
}

/* Lower edge of a cell; NaN after the last one. */
static double start_of(int64_t cell) {
    if (cell <= 0) return -INFINITY;
    if (cell == CELLS_PER_SIDE) return 0.0;
    if (cell >= 2 * CELLS_PER_SIDE) return NAN;
    const Bits step = (Bits)(cell < CELLS_PER_SIDE ? CELLS_PER_SIDE - cell : cell - CELLS_PER_SIDE) << CELL_SHIFT;
    const Bits bits = cell < CELLS_PER_SIDE ? (LEAST_SIZE + step - 1) | SIGN : LEAST_SIZE + step;
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

/* Integers in the order of the doubles, and back. */
INLINE Bits rank_of(double value) {
    const Bits bits = bits_of(value);
    return bits & SIGN ? ~bits : bits | SIGN;
}

INLINE double ranked(Bits rank) {
    const Bits bits = rank & SIGN ? rank & ~SIGN : ~rank;
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

static void sort_by_digit(const Bits *from, Bits *to, int64_t n, Bits low, int shift) {
    int64_t next[DIGITS] = {0}, total = 0;
    for (int64_t i = 0; i < n; i++) next[(from[i] - low) >> shift & (DIGITS - 1)]++;
    for (int k = 0; k < DIGITS; k++) {
        const int64_t here = next[k];
        next[k] = total;
        total += here;
    }
    for (int64_t i = 0; i < n; i++) to[next[(from[i] - low) >> shift & (DIGITS - 1)]++] = from[i];
}

/* Radix sort by the highest `digits` digits of numbers of `width` bits, the least significant first. */
static void sort_by_digits(Bits *ranks, Bits *spare, int64_t n, Bits low, int width, int digits) {
    Bits *from = ranks, *to = spare;
    for (int left = digits; left > 0; left--) {
        const int shift = width - left * DIGIT;
        sort_by_digit(from, to, n, low, shift > 0 ? shift : 0);
        Bits *other = from;
        from = to;
        to = other;
    }
    if (from != ranks) memcpy(ranks, from, 8 * n);
}

/* Insertion sort; return 0 if it takes more than `steps` moves. */
static int insertion_sort(Bits *ranks, int64_t n, int64_t steps) {
    for (int64_t i = 1; i < n; i++) {
        const Bits one = ranks[i];
        int64_t j = i;
        for (; j > 0 && ranks[j - 1] > one && steps > 0; j--, steps--) ranks[j] = ranks[j - 1];
        ranks[j] = one;
    }
    return steps > 0;
}

static void sort_ranks(Bits *ranks, Bits *spare, int64_t n) {
    Bits low = UINT64_MAX, high = 0;
    for (int64_t i = 0; i < n; i++) {
        low = ranks[i] < low ? ranks[i] : low;
        high = ranks[i] > high ? ranks[i] : high;
    }
    int width = 0, digits = 2;
    while (width < 64 && (high - low) >> width) width++;
    const int all = (width + DIGIT - 1) / DIGIT;
    /* Sorted by a few bits more than log2(n), numbers without clusters are nearly in order, and insertion
       is faster than further digits. */
    while (digits < all && n >> (digits * DIGIT - 6)) digits++;
    sort_by_digits(ranks, spare, n, low, width, digits < all ? digits : all);
    if (digits < all && !insertion_sort(ranks, n, 4 * n)) sort_by_digits(ranks, spare, n, low, width, all);
}

static void sort_values(double *values, Bits *spare, int64_t n) {
    Bits *ranks = (Bits *)values;
    for (int64_t i = 0; i < n; i++) ranks[i] = rank_of(values[i]);
    if (n <= INSERTION_ROWS) insertion_sort(ranks, n, INSERTION_ROWS * INSERTION_ROWS);
    else sort_ranks(ranks, spare, n);
    for (int64_t i = 0; i < n; i++) values[i] = ranked(ranks[i]);
}

/* Python functions. */

static PyObject *count_cells(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { VALUES, SECONDS, COUNTS };
    static const ArraySpec specs[] = {{"d", 1, READ, 0}, {"?", 1, READ, 0}, {"lq", 2, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 3) < 0) return NULL;
    const Py_ssize_t n = SHAPE(VALUES, 0);
    const int good = HAS_LENGTH(SECONDS, n) && SHAPE(COUNTS, 0) == 2 * CELLS_PER_SIDE && SHAPE(COUNTS, 1) == 2
                     && arrays.views[COUNTS].itemsize == 8;
    if (good) {
        const double *values = BUFFER(VALUES);
        const unsigned char *seconds = BUFFER(SECONDS);
        int64_t *counts = BUFFER(COUNTS);
        Py_BEGIN_ALLOW_THREADS;
        for (Py_ssize_t i = 0; i < n; i++) counts[2 * cell_of(values[i]) + (seconds[i] != 0)]++;
        Py_END_ALLOW_THREADS;
    }
    return finish(&arrays, good);
}

typedef struct {
    const double *values;
    const unsigned char *seconds;
    int64_t rows, size;
    double low, high; /* values with low <= value < high are scattered; no upper limit if high is NaN */
    int64_t *next; /* position of the next row of a cell and class */
    double *found;
} ScatterTask;

/* Which rows are in the cells cannot be predicted, so they are selected without branches. */
static int spread_rows(const ScatterTask *of) {
    enum { AT_ONCE = 512 };
    int32_t picked[AT_ONCE];
    int good = 1;
    for (int64_t at = 0; at < of->rows; at += AT_ONCE) {
        const double *values = of->values + at;
        const unsigned char *seconds = of->seconds + at;
        const int32_t count = of->rows - at < AT_ONCE ? (int32_t)(of->rows - at) : AT_ONCE;
        int32_t n = 0;
        for (int32_t i = 0; i < count; i++) {
            picked[n] = i;
            n += !(values[i] < of->low) & !(values[i] >= of->high);
        }
        for (int32_t k = 0; k < n; k++) {
            const double value = values[picked[k]];
            const uint64_t index = (uint64_t)of->next[2 * cell_of(value) + (seconds[picked[k]] != 0)]++;
            if (index < (uint64_t)of->size) of->found[index] = value;
            else good = 0;
        }
    }
    return good;
}

/* Scatter the rows of some cells to the positions in `next`, by cell and class. */
static PyObject *scatter_by_cell(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { VALUES, SECONDS, CELLS, NEXT, FOUND };
    static const ArraySpec specs[] = {{"d", 1, READ, 0},
                                    {"?", 1, READ, 0},
                                    {"lq", 1, READ, 0},
                                    {"lq", 2, WRITE, 0},
                                    {"d", 1, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 5) < 0) return NULL;
    const Py_ssize_t n = SHAPE(VALUES, 0);
    int good = HAS_LENGTH(SECONDS, n) && SHAPE(CELLS, 0) == 2 && arrays.views[CELLS].itemsize == 8
               && SHAPE(NEXT, 0) == 2 * CELLS_PER_SIDE && SHAPE(NEXT, 1) == 2 && arrays.views[NEXT].itemsize == 8;
    if (good) {
        const int64_t *cells = BUFFER(CELLS);
        const ScatterTask of = {BUFFER(VALUES), BUFFER(SECONDS),    n,
                           SHAPE(FOUND, 0), start_of(cells[0]), start_of(cells[1]),
                           BUFFER(NEXT),   BUFFER(FOUND)};
        Py_BEGIN_ALLOW_THREADS;
        good = spread_rows(&of);
        Py_END_ALLOW_THREADS;
    }
    return finish(&arrays, good);
}

static PyObject *sort(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { VALUES, SPARE };
    static const ArraySpec specs[] = {{"d", 1, WRITE, 0}, {"d", 1, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 2) < 0) return NULL;
    const Py_ssize_t n = SHAPE(VALUES, 0);
    const int good = SHAPE(SPARE, 0) >= n;
    if (good) {
        Py_BEGIN_ALLOW_THREADS;
        sort_values(BUFFER(VALUES), BUFFER(SPARE), n);
        Py_END_ALLOW_THREADS;
    }
    return finish(&arrays, good);
}
