/* What Python calls for gradients by group and key. */

/* Each part goes over all rows and takes those of some groups: so every sum is made by one thread, in the
   order of its rows. */
#define GROUP_PARTS 4
#define LEAST_SCORED 65536

typedef struct {
    Scored all;
    int64_t parts;
    int is_good;
} Scores;

static void score_part(void *context, int64_t part) {
    Scores *of = context;
    const int64_t first = begin_of(part, of->parts, of->all.n_groups);
    const int64_t last = begin_of(part + 1, of->parts, of->all.n_groups);
    if (!loops->score(&of->all, first, last)) __atomic_store_n(&of->is_good, 0, __ATOMIC_RELAXED);
}

/* The gradient of the loss of binary rows, added up by coefficient, group and key. Rows of groups that are
   not there are left out. */
static PyObject *scores_by_group(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, TARGETS, WEIGHTS, KEYS, THETA, GROUPS, SUMS };
    static const Wanted wanted[] = {{"df", 2, PyBUF_STRIDES, 0}, {"d?lq", 1, READ, 0}, {"d", 1, READ, 1},
                                    {KEY_KINDS, 1, READ, 0},     {"d", 2, READ, 0},    {"lq", 1, READ, 0},
                                    {"d", 3, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 7) < 0) return NULL;
    const Py_buffer *x = arrays.views + X, *targets = arrays.views + TARGETS;
    const Py_ssize_t n = SHAPE(X, 1), p = SHAPE(X, 0), n_groups = SHAPE(SUMS, 1), n_keys = SHAPE(SUMS, 2);
    int good = p > 0 && x->strides[1] == x->itemsize && HAS_LENGTH(TARGETS, n) && HAS_LENGTH(WEIGHTS, n)
               && HAS_LENGTH(KEYS, n) && HAS_LENGTH(GROUPS, n) && arrays.views[GROUPS].itemsize == 8
               && (targets->itemsize == 8 || targets->itemsize == 1) && SHAPE(SUMS, 0) == p
               && SHAPE(THETA, 0) == n_keys && SHAPE(THETA, 1) == p;
    if (good) {
        Scores of = {{x->buf, p, x->strides[0], x->format[0] == 'f', targets->buf, targets->format[0],
                      BUFFER(WEIGHTS), BUFFER(KEYS), arrays.views[KEYS].itemsize, n_keys, BUFFER(THETA),
                      BUFFER(GROUPS), n_groups, n, BUFFER(SUMS)},
                     n < LEAST_SCORED ? 1 : GROUP_PARTS, 1};
        Py_BEGIN_ALLOW_THREADS;
        do_all(score_part, &of, of.parts);
        Py_END_ALLOW_THREADS;
        good = of.is_good;
    }
    return done(&arrays, good);
}
