/* Python functions for probabilities. */

/* Both return whether no logit is NaN or too large. */
static PyObject *sigmoid(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { LOGITS, SCALE, BIAS, OUT };
    static const ArraySpec specs[] = {
        {"df", 1, READ, 0}, {"d", 1, READ, 0}, {"d", 1, READ, 0}, {"d", 2, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 4) < 0) return NULL;
    const Py_ssize_t n = SHAPE(LOGITS, 0), scales = SHAPE(SCALE, 0), biases = SHAPE(BIAS, 0);
    int good = SHAPE(OUT, 0) == n && SHAPE(OUT, 1) == 2 && (scales == 1 || scales == n)
               && (biases == 1 || biases == n);
    int within = n == 0;
    if (good && n > 0) {
        const SigmoidArgs args = {BUFFER(LOGITS), arrays.views[LOGITS].format[0] == 'f', BUFFER(SCALE),
                           BUFFER(BIAS),   scales > 1, biases > 1, n, BUFFER(OUT)};
        Py_BEGIN_ALLOW_THREADS;
        within = loops->sigmoid(&args);
        Py_END_ALLOW_THREADS;
    }
    PyObject *nothing = finish(&arrays, good);
    Py_XDECREF(nothing);
    return nothing ? PyBool_FromLong(within) : NULL;
}

static PyObject *softmax(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { LOGITS, SCALE, OUT };
    static const ArraySpec specs[] = {{"df", 2, READ, 0}, {"d", 1, READ, 0}, {"d", 2, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 3) < 0) return NULL;
    const Py_ssize_t n = SHAPE(LOGITS, 0), classes = SHAPE(LOGITS, 1);
    int good = SHAPE(OUT, 0) == n && SHAPE(OUT, 1) == classes && classes > 0 && SHAPE(SCALE, 0) == 1;
    int within = 0;
    if (good) {
        const SoftmaxArgs of = {BUFFER(LOGITS), arrays.views[LOGITS].format[0] == 'f',
                           *(double *)BUFFER(SCALE), n, classes, BUFFER(OUT)};
        Py_BEGIN_ALLOW_THREADS;
        within = loops->softmax(&of);
        Py_END_ALLOW_THREADS;
    }
    PyObject *nothing = finish(&arrays, good);
    Py_XDECREF(nothing);
    if (!nothing) return NULL;
    return within < 0 ? PyErr_NoMemory() : PyBool_FromLong(within);
}
