/* Python functions for sums over the rows of each key. */

/* Most rows of a piece. */
#define PIECE 8192
/* With a softmax each piece has its own Hessian: enough pieces for all cores, but not more. */
#define MIN_PIECE 4096
#define MAX_PIECES 64

typedef struct {
    Rows rows;
    Keys keys;
    SumArrays found;
    PerClass model; /* of a softmax with several coefficients per class */
    int64_t parts, coefficients;
    enum { EVEN, SHARED, PER_CLASS } kind;
    int wrong;
} SumTask;

static void sum_part(void *context, int64_t part) {
    SumTask *of = context;
    const int64_t p = of->coefficients, first = first_piece(part, of->parts, of->keys.starts, of->keys.count);
    const int64_t count = first_piece(part + 1, of->parts, of->keys.starts, of->keys.count) - first;
    const Keys keys = {of->keys.starts + first, of->keys.theta + first * p, count};
    SumArrays found = {of->found.loss + first, of->found.gradient ? of->found.gradient + first * p : NULL,
                   of->found.hessian ? of->found.hessian + first * p * p : NULL};
    int wrong = 0;
    if (of->kind == EVEN) loops->even(&of->rows, &keys, &found);
    else if (count > 0 && of->kind == SHARED) wrong = loops->shared(&of->rows, &keys, &found);
    else if (count > 0) wrong = loops->per_class(&of->rows, &of->model, &keys, &found);
    if (wrong) __atomic_fetch_or(&of->wrong, wrong, __ATOMIC_RELAXED);
}

/* Sum over all rows in pieces of at most `most`, and overwrite the arrays; sets the error flags. */
static void sum_in_pieces(SumTask *of, int64_t most) {
    const Keys keys = of->keys;
    const SumArrays total = of->found;
    const int64_t p = of->coefficients;
    Pieces pieces;
    of->wrong = 0;
    if (!cut(&pieces, keys.starts, keys.count, most)) {
        of->wrong = NO_MEMORY;
        return;
    }
    if (pieces.count == keys.count) {
        run_parts(sum_part, of, of->parts);
        free(pieces.bounds);
        return;
    }
    const int64_t width = 1 + (total.gradient ? p : 0) + (total.hessian ? p * p : 0);
    double *theta = malloc((size_t)(pieces.count * p) * sizeof *theta);
    double *found = malloc((size_t)(pieces.count * width) * sizeof *found);
    if (!theta || !found) of->wrong = NO_MEMORY;
    else {
        for (int64_t piece = 0; piece < pieces.count; piece++)
            memcpy(theta + piece * p, keys.theta + pieces.keys[piece] * p, (size_t)p * sizeof *theta);
        of->keys = (Keys){pieces.bounds, theta, pieces.count};
        of->found = (SumArrays){found, total.gradient ? found + pieces.count : NULL,
                            total.hessian ? found + pieces.count * (1 + p) : NULL};
        run_parts(sum_part, of, of->parts);
        memset(total.loss, 0, (size_t)keys.count * sizeof *found);
        if (total.gradient) memset(total.gradient, 0, (size_t)(keys.count * p) * sizeof *found);
        if (total.hessian) memset(total.hessian, 0, (size_t)(keys.count * p * p) * sizeof *found);
        add_up(&pieces, of->found.loss, 1, total.loss);
        if (total.gradient) add_up(&pieces, of->found.gradient, p, total.gradient);
        if (total.hessian) add_up(&pieces, of->found.hessian, p * p, total.hessian);
    }
    free(theta);
    free(found);
    free(pieces.bounds);
}

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
    SumTask of = {.wrong = 0};
    if (good) {
        of = (SumTask){.rows = {x->buf, p, x->strides[0], x->itemsize, x->format[0] == 'f', BUFFER(WEIGHTS)},
                      .keys = {BUFFER(STARTS), BUFFER(THETA), n_keys},
                      .found = {BUFFER(LOSS), BUFFER(GRADIENT), BUFFER(HESSIAN)},
                      .parts = parts_for(n, p),
                      .coefficients = p,
                      .kind = EVEN};
        Py_BEGIN_ALLOW_THREADS;
        sum_in_pieces(&of, PIECE);
        Py_END_ALLOW_THREADS;
    }
    return finish_with_memory(&arrays, good, !(of.wrong & NO_MEMORY));
}

/* Sums of a softmax; labels are codes of classes. */
static PyObject *sum_softmax(PyObject *const *given, Py_ssize_t count, int kind, int is_diagonal) {
    enum { X, WEIGHTS, LABELS, THETA, STARTS, LOSS, GRADIENT, HESSIAN };
    static const ArraySpec specs[] = {
        {"df", 2, PyBUF_STRIDES, 0}, {"d", 1, READ, 1},  {"lq", 1, READ, 0}, {"d", 2, READ, 0},
        {"lq", 1, READ, 0},          {"d", 1, WRITE, 0}, {"d", 2, WRITE, 0}, {"d", 3, WRITE, 1},
    };
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 8) < 0) return NULL;
    const Py_buffer *x = arrays.views + X;
    const Py_ssize_t n = SHAPE(X, 1), features = SHAPE(X, 0), n_keys = SHAPE(LOSS, 0), p = SHAPE(THETA, 1);
    const Py_ssize_t width = is_diagonal ? 2 : features + 1, classes = kind == SHARED ? features : p / width;
    const int good = are_bounds(arrays.views + STARTS, n_keys, n) && SHAPE(THETA, 0) == n_keys && n > 0
                     && SHAPE(GRADIENT, 0) == n_keys && SHAPE(GRADIENT, 1) == p && classes > 0
                     && (kind == SHARED ? p == 1 : p == classes * width) && (!is_diagonal || classes == features)
                     && HAS_LENGTH(WEIGHTS, n) && HAS_LENGTH(LABELS, n) && arrays.views[LABELS].itemsize == 8
                     && HAS_LENGTH(HESSIAN, n_keys)
                     && (!arrays.taken[HESSIAN] || (SHAPE(HESSIAN, 1) == p && SHAPE(HESSIAN, 2) == p));
    SumTask of = {.wrong = 0};
    if (good) {
        of = (SumTask){.rows = {x->buf, features, x->strides[0], x->strides[1], x->format[0] == 'f', BUFFER(WEIGHTS),
                               BUFFER(LABELS)},
                      .keys = {BUFFER(STARTS), BUFFER(THETA), n_keys},
                      .found = {BUFFER(LOSS), BUFFER(GRADIENT), BUFFER(HESSIAN)},
                      .model = {classes, width, is_diagonal},
                      .parts = parts_for(n, features),
                      .coefficients = p,
                      .kind = kind};
        const int64_t some = (n - 1) / MAX_PIECES + 1, most = some > MIN_PIECE ? some : MIN_PIECE;
        Py_BEGIN_ALLOW_THREADS;
        sum_in_pieces(&of, kind == SHARED ? PIECE : most);
        Py_END_ALLOW_THREADS;
    }
    return finish_with_memory(&arrays, good && !(of.wrong & UNKNOWN_CLASS), !(of.wrong & NO_MEMORY));
}

static PyObject *shared_sums(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    return sum_softmax(given, count, SHARED, 0);
}

static PyObject *full_sums(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    return sum_softmax(given, count, PER_CLASS, 0);
}

static PyObject *diagonal_sums(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    return sum_softmax(given, count, PER_CLASS, 1);
}
