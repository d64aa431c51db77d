/* Python functions for gradients by group and key. */

/* Sum the gradient of the loss of binary rows by coefficient, group and key, for consecutive groups. Rows of other
   groups are left out. */
static PyObject *gradients_by_group(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, TARGETS, WEIGHTS, KEYS, THETA, GROUPS, FIRST, SUMS };
    static const ArraySpec specs[] = {{"df", 2, PyBUF_STRIDES, 0}, {"d?lq", 1, READ, 0}, {"d", 1, READ, 1},
                                    {KEY_KINDS, 1, READ, 0},     {"d", 2, READ, 0},    {KEY_KINDS, 1, READ, 0},
                                    {"lq", 1, READ, 0},          {"d", 3, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 8) < 0) return NULL;
    const Py_buffer *x = arrays.views + X, *targets = arrays.views + TARGETS;
    const Py_ssize_t n = SHAPE(X, 1), p = SHAPE(X, 0), n_groups = SHAPE(SUMS, 1), n_keys = SHAPE(SUMS, 2);
    int good = p > 0 && x->strides[1] == x->itemsize && HAS_LENGTH(TARGETS, n) && HAS_LENGTH(WEIGHTS, n)
               && HAS_LENGTH(KEYS, n) && HAS_LENGTH(GROUPS, n) && SHAPE(FIRST, 0) == 1 && arrays.views[FIRST].itemsize == 8
               && (targets->itemsize == 8 || targets->itemsize == 1) && SHAPE(SUMS, 0) == p
               && SHAPE(THETA, 0) == n_keys && SHAPE(THETA, 1) == p;
    if (good) {
        const GroupGradientArgs of = {x->buf, p, x->strides[0], x->format[0] == 'f', targets->buf, targets->format[0],
                      BUFFER(WEIGHTS), BUFFER(KEYS), arrays.views[KEYS].itemsize, n_keys, BUFFER(THETA),
                      BUFFER(GROUPS), arrays.views[GROUPS].itemsize, *(int64_t *)BUFFER(FIRST), n_groups, n, BUFFER(SUMS)};
        Py_BEGIN_ALLOW_THREADS;
        good = loops->group_gradients(&of);
        Py_END_ALLOW_THREADS;
    }
    return finish(&arrays, good);
}

/* Count the groups that have rows under each key; `there` has a flag for each group and key. */
static PyObject *groups_by_key(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { KEYS, GROUPS, THERE, FOUND };
    static const ArraySpec specs[] = {
        {KEY_KINDS, 1, READ, 0}, {KEY_KINDS, 1, READ, 0}, {"?", 2, WRITE, 0}, {"d", 1, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 4) < 0) return NULL;
    const Py_ssize_t n = SHAPE(KEYS, 0), n_keys = SHAPE(FOUND, 0), key_size = arrays.views[KEYS].itemsize;
    const Py_ssize_t group_size = arrays.views[GROUPS].itemsize;
    int good = HAS_LENGTH(GROUPS, n) && SHAPE(THERE, 1) == n_keys;
    if (good) {
        const char *keys = BUFFER(KEYS), *groups = BUFFER(GROUPS);
        char *there = BUFFER(THERE);
        double *found = BUFFER(FOUND);
        Py_BEGIN_ALLOW_THREADS;
        for (Py_ssize_t i = 0; i < n; i++) {
            const uint64_t key = key_at(keys, key_size, i), group = key_at(groups, group_size, i);
            if (key >= (uint64_t)n_keys || group >= (uint64_t)SHAPE(THERE, 0)) good = 0;
            else {
                char *cell = there + group * (uint64_t)n_keys + key;
                found[key] += !*cell;
                *cell = 1;
            }
        }
        Py_END_ALLOW_THREADS;
    }
    return finish(&arrays, good);
}
