/* Python functions for the bins of the calibration error. */

/* Rows and confidence by bin and outcome, of unchecked probabilities and labels 0, 1, ... */
static PyObject *bin_sums(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { PROBA, LABELS, EDGES, IS_TOP, SUMS, CLASS_COUNTS };
    static const ArraySpec specs[] = {{"df", 2, READ, 0}, {"lq?", 1, READ, 0},  {"d", 1, READ, 0},
                                    {"?", 1, READ, 0},  {"d", 3, WRITE, 0}, {"lq", 1, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 6) < 0) return NULL;
    const Py_ssize_t n = SHAPE(PROBA, 0), columns = SHAPE(PROBA, 1), bins = SHAPE(EDGES, 0) - 1;
    const Py_ssize_t classes = columns == 1 ? 2 : columns, size = arrays.views[LABELS].itemsize;
    const int good = HAS_LENGTH(LABELS, n) && columns > 0 && bins > 0 && SHAPE(IS_TOP, 0) == 1
                         && SHAPE(SUMS, 0) == bins && SHAPE(SUMS, 1) == 2 && SHAPE(SUMS, 2) == 2
                         && SHAPE(CLASS_COUNTS, 0) == classes && arrays.views[CLASS_COUNTS].itemsize == 8
                         && (size == 8 || size == 1) && are_edges(BUFFER(EDGES), bins);
    int found = 0;
    if (good) {
        const BinTask of = {BUFFER(PROBA),
                           BUFFER(LABELS),
                           n,
                           columns,
                           arrays.views[PROBA].format[0] == 'f',
                           size == 1,
                           *(unsigned char *)BUFFER(IS_TOP),
                           BUFFER(EDGES),
                           bins,
                           NULL,
                           BUFFER(CLASS_COUNTS)};
        Py_BEGIN_ALLOW_THREADS;
        found = bin_in_tables(of, classes == 2 ? loops->bin_pairs : bin_all, BUFFER(SUMS));
        Py_END_ALLOW_THREADS;
    }
    PyObject *nothing = finish(&arrays, good);
    Py_XDECREF(nothing);
    if (!nothing) return NULL;
    return found < 0 ? PyErr_NoMemory() : PyBool_FromLong(found);
}
