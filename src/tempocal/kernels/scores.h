/* What Python calls for gradients by group and key. */

/* The gradient of the loss of binary rows, added up by coefficient, group and key, of groups from a first one
   on. Rows of others are left out. */
static PyObject *scores_by_group(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, TARGETS, WEIGHTS, KEYS, THETA, GROUPS, FIRST, SUMS };
    static const Wanted wanted[] = {{"df", 2, PyBUF_STRIDES, 0}, {"d?lq", 1, READ, 0}, {"d", 1, READ, 1},
                                    {KEY_KINDS, 1, READ, 0},     {"d", 2, READ, 0},    {KEY_KINDS, 1, READ, 0},
                                    {"lq", 1, READ, 0},          {"d", 3, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 8) < 0) return NULL;
    const Py_buffer *x = arrays.views + X, *targets = arrays.views + TARGETS;
    const Py_ssize_t n = SHAPE(X, 1), p = SHAPE(X, 0), n_groups = SHAPE(SUMS, 1), n_keys = SHAPE(SUMS, 2);
    int good = p > 0 && x->strides[1] == x->itemsize && HAS_LENGTH(TARGETS, n) && HAS_LENGTH(WEIGHTS, n)
               && HAS_LENGTH(KEYS, n) && HAS_LENGTH(GROUPS, n) && SHAPE(FIRST, 0) == 1 && arrays.views[FIRST].itemsize == 8
               && (targets->itemsize == 8 || targets->itemsize == 1) && SHAPE(SUMS, 0) == p
               && SHAPE(THETA, 0) == n_keys && SHAPE(THETA, 1) == p;
    if (good) {
        const Scored of = {x->buf, p, x->strides[0], x->format[0] == 'f', targets->buf, targets->format[0],
                      BUFFER(WEIGHTS), BUFFER(KEYS), arrays.views[KEYS].itemsize, n_keys, BUFFER(THETA),
                      BUFFER(GROUPS), arrays.views[GROUPS].itemsize, *(int64_t *)BUFFER(FIRST), n_groups, n, BUFFER(SUMS)};
        Py_BEGIN_ALLOW_THREADS;
        good = loops->score(&of);
        Py_END_ALLOW_THREADS;
    }
    return done(&arrays, good);
}
