/* Rows of two classes in the order of their values, by digits and not by comparisons.

   Rows are spread over cells of their values, those of some cells at a time, and a stretch of cells fits
   the cache. Each stretch is then sorted on its own, either class apart. NaN has no place in the order. */

typedef uint64_t Bits __attribute__((may_alias));

#define SIGN ((Bits)1 << 63)
#define DIGIT 11
#define DIGITS (1 << DIGIT)
/* Numbers so few are sorted by moving each to its place. */
#define VERY_FEW 32
/* An octave has 64 cells, from 2^-8 to 2^8 on either side of zero; what is beyond is in the last. */
#define CELL_SHIFT 46
#define LEAST ((Bits)(1023 - 8) << 52)
#define SIDE (16 * 64)

/* Bits of a double; minus zero is zero. */
INLINE Bits bits_of(double value) {
    Bits bits;
    value += 0.0;
    memcpy(&bits, &value, 8);
    return bits;
}

INLINE int64_t cell_of(double value) {
    const Bits bits = bits_of(value), size = bits & ~SIGN;
    const Bits place = size > LEAST ? (size - LEAST) >> CELL_SHIFT : 0;
    const int64_t step = place < SIDE ? (int64_t)place : SIDE - 1;
    return bits & SIGN ? SIDE - 1 - step : SIDE + step;
}

/* The lowest value of a cell; what comes after the last one begins nowhere. */
static double start_of(int64_t cell) {
    if (cell <= 0) return -INFINITY;
    if (cell == SIDE) return 0.0;
    if (cell >= 2 * SIDE) return NAN;
    const Bits step = (Bits)(cell < SIDE ? SIDE - cell : cell - SIDE) << CELL_SHIFT;
    const Bits bits = cell < SIDE ? (LEAST + step - 1) | SIGN : LEAST + step;
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

/* Whole numbers that ascend as the doubles do, and back. */
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

/* Sort by some of the highest digits of numbers of so many bits, the lowest of these first. */
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

/* Move each number to its place among those before it; 0 if that takes too many steps. */
static int settle(Bits *ranks, int64_t n, int64_t steps) {
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
    /* With a few bits more than it takes to count them, numbers that do not crowd are nearly in
       order, and what the other digits would do is done sooner by settling. */
    while (digits < all && n >> (digits * DIGIT - 6)) digits++;
    sort_by_digits(ranks, spare, n, low, width, digits < all ? digits : all);
    if (digits < all && !settle(ranks, n, 4 * n)) sort_by_digits(ranks, spare, n, low, width, all);
}

static void sort_values(double *values, Bits *spare, int64_t n) {
    Bits *ranks = (Bits *)values;
    for (int64_t i = 0; i < n; i++) ranks[i] = rank_of(values[i]);
    if (n <= VERY_FEW) settle(ranks, n, VERY_FEW * VERY_FEW);
    else sort_ranks(ranks, spare, n);
    for (int64_t i = 0; i < n; i++) values[i] = ranked(ranks[i]);
}

/* What Python calls. */

static PyObject *count_cells(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { VALUES, SECONDS, COUNTS };
    static const Wanted wanted[] = {{"d", 1, READ, 0}, {"?", 1, READ, 0}, {"lq", 2, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 3) < 0) return NULL;
    const Py_ssize_t n = SHAPE(VALUES, 0);
    const int good = HAS_LENGTH(SECONDS, n) && SHAPE(COUNTS, 0) == 2 * SIDE && SHAPE(COUNTS, 1) == 2
                     && arrays.views[COUNTS].itemsize == 8;
    if (good) {
        const double *values = BUFFER(VALUES);
        const unsigned char *seconds = BUFFER(SECONDS);
        int64_t *counts = BUFFER(COUNTS);
        Py_BEGIN_ALLOW_THREADS;
        for (Py_ssize_t i = 0; i < n; i++) counts[2 * cell_of(values[i]) + (seconds[i] != 0)]++;
        Py_END_ALLOW_THREADS;
    }
    return done(&arrays, good);
}

typedef struct {
    const double *values;
    const unsigned char *seconds;
    int64_t rows, room;
    double low, high; /* values from low on and below high are spread, or all above if that is NaN */
    int64_t *next; /* where the next row of a cell and class goes */
    double *found;
} Spread;

/* Most rows are in other cells, but no processor foresees which: so rows are picked without branches. */
static int spread_rows(const Spread *of) {
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
            const uint64_t place = (uint64_t)of->next[2 * cell_of(value) + (seconds[picked[k]] != 0)]++;
            if (place < (uint64_t)of->room) of->found[place] = value;
            else good = 0;
        }
    }
    return good;
}

/* Put each row of some cells where `next` says that the next one of its cell and class goes. */
static PyObject *spread(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { VALUES, SECONDS, CELLS, NEXT, FOUND };
    static const Wanted wanted[] = {{"d", 1, READ, 0},
                                    {"?", 1, READ, 0},
                                    {"lq", 1, READ, 0},
                                    {"lq", 2, WRITE, 0},
                                    {"d", 1, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 5) < 0) return NULL;
    const Py_ssize_t n = SHAPE(VALUES, 0);
    int good = HAS_LENGTH(SECONDS, n) && SHAPE(CELLS, 0) == 2 && arrays.views[CELLS].itemsize == 8
               && SHAPE(NEXT, 0) == 2 * SIDE && SHAPE(NEXT, 1) == 2 && arrays.views[NEXT].itemsize == 8;
    if (good) {
        const int64_t *cells = BUFFER(CELLS);
        const Spread of = {BUFFER(VALUES), BUFFER(SECONDS),    n,
                           SHAPE(FOUND, 0), start_of(cells[0]), start_of(cells[1]),
                           BUFFER(NEXT),   BUFFER(FOUND)};
        Py_BEGIN_ALLOW_THREADS;
        good = spread_rows(&of);
        Py_END_ALLOW_THREADS;
    }
    return done(&arrays, good);
}

static PyObject *sort(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { VALUES, SPARE };
    static const Wanted wanted[] = {{"d", 1, WRITE, 0}, {"d", 1, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 2) < 0) return NULL;
    const Py_ssize_t n = SHAPE(VALUES, 0);
    const int good = SHAPE(SPARE, 0) >= n;
    if (good) {
        Py_BEGIN_ALLOW_THREADS;
        sort_values(BUFFER(VALUES), BUFFER(SPARE), n);
        Py_END_ALLOW_THREADS;
    }
    return done(&arrays, good);
}
