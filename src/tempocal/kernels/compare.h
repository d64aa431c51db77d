/* What Python calls to look at all rows: their ends, their losses before and after. */

typedef struct {
    const char *x;
    char *ends; /* (parts, 3): lowest, highest, sum */
    int64_t rows, parts;
    char kind;
} Ended;

static void ends_part(void *context, int64_t part) {
    const Ended *of = context;
    const int64_t first = begin_of(part, of->parts, of->rows), n = begin_of(part + 1, of->parts, of->rows) - first;
    const int64_t size = of->kind == 'f' ? 4 : 8;
    const void *x = of->x + first * size;
    void *found = of->ends + 3 * part * size;
    if (of->kind == 'd') loops->double_ends(x, n, found);
    else if (of->kind == 'f') loops->float_ends(x, n, found);
    else loops->whole_ends(x, n, found);
}

/* The ends of all parts and their sum, in the place of the first; what is not a number is its own end. */
static void all_ends(const Ended *of) {
#define ALL(type, sum_type) \
    for (type *all = (type *)of->ends, *own = all + 3; own < all + 3 * of->parts; own += 3) { \
        if (own[0] < all[0] || own[0] != own[0]) all[0] = own[0]; \
        if (own[1] > all[1] || own[1] != own[1]) all[1] = own[1]; \
        all[2] = (type)((sum_type)all[2] + (sum_type)own[2]); \
    }
    if (of->kind == 'd') ALL(double, double)
    else if (of->kind == 'f') ALL(float, float)
    else ALL(int64_t, uint64_t)
#undef ALL
}

/* The lowest and the highest of some numbers, and their sum, in their own type. */
static PyObject *ends(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, ENDS };
    static const Wanted wanted[] = {{"dflq", 1, READ, 0}, {"dflq", 1, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 2) < 0) return NULL;
    const char kind = arrays.views[X].format[0];
    union {
        double doubles[3 * MOST_PARTS];
        float floats[3 * MOST_PARTS];
        int64_t whole[3 * MOST_PARTS];
    } room;
    Ended of = {BUFFER(X), (char *)&room, SHAPE(X, 0), parts_for(SHAPE(X, 0), 1), kind};
    const int good = of.rows > 0 && SHAPE(ENDS, 0) == 3 && arrays.views[ENDS].format[0] == kind
                     && arrays.views[X].itemsize == (kind == 'f' ? 4 : 8);
    if (good) {
        Py_BEGIN_ALLOW_THREADS;
        do_all(ends_part, &of, of.parts);
        all_ends(&of);
        Py_END_ALLOW_THREADS;
        memcpy(arrays.views[ENDS].buf, &room, 3 * (size_t)arrays.views[ENDS].itemsize);
    }
    return done(&arrays, good);
}

typedef struct {
    Compared all;
    int64_t rows, parts;
    double *gains, *sums; /* (rows,) or NULL; (parts, 4) */
    int is_good;
} Comparison;

static void compare_part(void *context, int64_t part) {
    Comparison *whole = context;
    const int64_t first = begin_of(part, whole->parts, whole->rows);
    const int64_t n = begin_of(part + 1, whole->parts, whole->rows) - first;
    Compared of = whole->all;
    of.before += first * (of.single ? 4 : 8);
    if (of.keys) of.keys += first * of.key_size;
    else of.after += first;
    of.labels += first;
    if (of.weights) of.weights += first;
    if (!loops->compare(&of, n, whole->gains ? whole->gains + first : NULL, whole->sums + 4 * part))
        __atomic_store_n(&whole->is_good, 0, __ATOMIC_RELAXED);
}

/* Losses of binary rows before and after, in parts: their sums, those of the gains and of their squares;
   and the gains themselves if they are asked for. With keys, after is before times the number of the key. */
static PyObject *compare(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { BEFORE, AFTER, KEYS, LABELS, WEIGHTS, GAINS, SUMS };
    static const Wanted wanted[] = {{"df", 1, READ, 0}, {"d", 1, READ, 0}, {KEY_KINDS, 1, READ, 1},
                                    {"lq", 1, READ, 0}, {"d", 1, READ, 1}, {"d", 1, WRITE, 1},
                                    {"d", 2, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 7) < 0) return NULL;
    const Py_ssize_t n = SHAPE(BEFORE, 0), n_after = SHAPE(AFTER, 0);
    int good = (arrays.taken[KEYS] ? n_after > 0 : n_after == n) && HAS_LENGTH(KEYS, n)
               && HAS_LENGTH(WEIGHTS, n) && HAS_LENGTH(GAINS, n) && SHAPE(SUMS, 0) > 0 && SHAPE(SUMS, 1) == 4
               && arrays.views[LABELS].itemsize == 8 && HAS_LENGTH(LABELS, n);
    if (good) {
        Comparison of = {{BUFFER(BEFORE), arrays.views[BEFORE].format[0] == 'f', BUFFER(AFTER), BUFFER(KEYS),
                          arrays.taken[KEYS] ? arrays.views[KEYS].itemsize : 0, (uint64_t)n_after,
                          BUFFER(LABELS), BUFFER(WEIGHTS)},
                         n, SHAPE(SUMS, 0), BUFFER(GAINS), BUFFER(SUMS), 1};
        Py_BEGIN_ALLOW_THREADS;
        do_all(compare_part, &of, of.parts);
        Py_END_ALLOW_THREADS;
        good = of.is_good;
    }
    return done(&arrays, good);
}
