/* Discounted sums towards the end of each sequence. */

/* values[i] += decay * values[i + 1], from the last row of a sequence to its first. */
static PyObject *discount(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { VALUES, IS_LAST, DECAY };
    static const ArraySpec specs[] = {{"d", 2, WRITE, 0}, {"?", 1, READ, 0}, {"d", 1, READ, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 3) < 0) return NULL;
    const Py_ssize_t series = SHAPE(VALUES, 0), rows = SHAPE(VALUES, 1);
    int good = HAS_LENGTH(IS_LAST, rows) && SHAPE(DECAY, 0) == 1;
    if (good) {
        const char *is_last = BUFFER(IS_LAST);
        const double decay = *(double *)BUFFER(DECAY);
        Py_BEGIN_ALLOW_THREADS;
        for (Py_ssize_t k = 0; k < series; k++) {
            double *values = (double *)BUFFER(VALUES) + k * rows, later = 0.0;
            for (Py_ssize_t i = rows - 1; i >= 0; i--) {
                double step = is_last[i] ? 0.0 : decay * later;
                ROUNDED(step);
                values[i] = later = values[i] + step;
            }
        }
        Py_END_ALLOW_THREADS;
    }
    return finish(&arrays, good);
}
