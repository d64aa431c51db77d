/* Python functions for sums over the rows of each key. */

/* Sums of a binary model. */
static PyObject *even_sums(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, WEIGHTS, THETA, STARTS, LOSS, GRADIENT, HESSIAN };
    static const ArraySpec specs[] = {
        {"df", 2, PyBUF_STRIDES, 0}, {"d", 1, READ, 1},  {"d", 2, READ, 0},  {"lq", 1, READ, 0},
        {"d", 1, WRITE, 0},          {"d", 2, WRITE, 1}, {"d", 3, WRITE, 1},
    };
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 7) < 0) return NULL;
    const Py_buffer *x = arrays.views + X;
    const Py_ssize_t n = SHAPE(X, 1), n_keys = SHAPE(LOSS, 0), p = SHAPE(THETA, 1);
    const int good = are_bounds(arrays.views + STARTS, n_keys, n) && SHAPE(THETA, 0) == n_keys
                     && p > 0 && p <= MAX_COEFFICIENTS && SHAPE(X, 0) == p && n > 0 && x->strides[1] == x->itemsize
                     && HAS_LENGTH(WEIGHTS, n) && HAS_LENGTH(GRADIENT, n_keys)
                     && (arrays.taken[GRADIENT] ? SHAPE(GRADIENT, 1) == p : !arrays.taken[HESSIAN])
                     && HAS_LENGTH(HESSIAN, n_keys)
                     && (!arrays.taken[HESSIAN] || (SHAPE(HESSIAN, 1) == p && SHAPE(HESSIAN, 2) == p));
    if (good) {
        const Rows rows = {x->buf, p, x->strides[0], x->itemsize, x->format[0] == 'f', BUFFER(WEIGHTS), NULL};
        const Keys keys = {BUFFER(STARTS), BUFFER(THETA), n_keys};
        SumArrays found = {BUFFER(LOSS), BUFFER(GRADIENT), BUFFER(HESSIAN)};
        Py_BEGIN_ALLOW_THREADS;
        loops->even(&rows, &keys, &found);
        Py_END_ALLOW_THREADS;
    }
    return finish(&arrays, good);
}

enum { SHARED, FULL, DIAGONAL };

/* Sums of a softmax; labels are codes of classes. */
static PyObject *sum_softmax(PyObject *const *given, Py_ssize_t count, int kind) {
    enum { X, WEIGHTS, LABELS, THETA, STARTS, LOSS, GRADIENT, HESSIAN };
    static const ArraySpec specs[] = {
        {"df", 2, PyBUF_STRIDES, 0}, {"d", 1, READ, 1},  {"lq", 1, READ, 0}, {"d", 2, READ, 0},
        {"lq", 1, READ, 0},          {"d", 1, WRITE, 0}, {"d", 2, WRITE, 0}, {"d", 3, WRITE, 1},
    };
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 8) < 0) return NULL;
    const Py_buffer *x = arrays.views + X;
    const Py_ssize_t n = SHAPE(X, 1), features = SHAPE(X, 0), n_keys = SHAPE(LOSS, 0), p = SHAPE(THETA, 1);
    const Py_ssize_t width = kind == DIAGONAL ? 2 : features + 1, classes = kind == SHARED ? features : p / width;
    const int good = are_bounds(arrays.views + STARTS, n_keys, n) && SHAPE(THETA, 0) == n_keys && n > 0
                     && SHAPE(GRADIENT, 0) == n_keys && SHAPE(GRADIENT, 1) == p && classes > 0
                     && (kind == SHARED ? p == 1 : p == classes * width) && (kind != DIAGONAL || classes == features)
                     && HAS_LENGTH(WEIGHTS, n) && HAS_LENGTH(LABELS, n) && arrays.views[LABELS].itemsize == 8
                     && HAS_LENGTH(HESSIAN, n_keys)
                     && (!arrays.taken[HESSIAN] || (SHAPE(HESSIAN, 1) == p && SHAPE(HESSIAN, 2) == p));
    int wrong = 0;
    if (good) {
        const Rows rows = {x->buf, features, x->strides[0], x->strides[1], x->format[0] == 'f', BUFFER(WEIGHTS),
                           BUFFER(LABELS)};
        const Keys keys = {BUFFER(STARTS), BUFFER(THETA), n_keys};
        const PerClass model = {classes, width, kind == DIAGONAL};
        SumArrays found = {BUFFER(LOSS), BUFFER(GRADIENT), BUFFER(HESSIAN)};
        Py_BEGIN_ALLOW_THREADS;
        wrong = kind == SHARED ? loops->shared(&rows, &keys, &found) : loops->per_class(&rows, &model, &keys, &found);
        Py_END_ALLOW_THREADS;
    }
    return finish_with_memory(&arrays, good && !(wrong & UNKNOWN_CLASS), !(wrong & NO_MEMORY));
}

static PyObject *shared_sums(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    return sum_softmax(given, count, SHARED);
}

static PyObject *full_sums(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    return sum_softmax(given, count, FULL);
}

static PyObject *diagonal_sums(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    return sum_softmax(given, count, DIAGONAL);
}
