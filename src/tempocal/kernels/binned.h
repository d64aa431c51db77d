/* What Python calls for the bins of the calibration error. */

/* Rows and confidence by bin and outcome, of probabilities and labels 0, 1, ... as they came. */
static PyObject *bin_sums(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { PROBA, LABELS, EDGES, IS_TOP, SUMS, SEEN };
    static const Wanted wanted[] = {{"df", 2, READ, 0}, {"lq?", 1, READ, 0},  {"d", 1, READ, 0},
                                    {"?", 1, READ, 0},  {"d", 3, WRITE, 0}, {"lq", 1, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 6) < 0) return NULL;
    const Py_ssize_t n = SHAPE(PROBA, 0), columns = SHAPE(PROBA, 1), bins = SHAPE(EDGES, 0) - 1;
    const Py_ssize_t classes = columns == 1 ? 2 : columns, size = arrays.views[LABELS].itemsize;
    const int in_order = HAS_LENGTH(LABELS, n) && columns > 0 && bins > 0 && SHAPE(IS_TOP, 0) == 1
                         && SHAPE(SUMS, 0) == bins && SHAPE(SUMS, 1) == 2 && SHAPE(SUMS, 2) == 2
                         && SHAPE(SEEN, 0) == classes && arrays.views[SEEN].itemsize == 8
                         && (size == 8 || size == 1) && are_edges(BUFFER(EDGES), bins);
    int found = 0;
    if (in_order) {
        const Binned of = {BUFFER(PROBA),
                           BUFFER(LABELS),
                           n,
                           columns,
                           arrays.views[PROBA].format[0] == 'f',
                           size == 1,
                           *(unsigned char *)BUFFER(IS_TOP),
                           BUFFER(EDGES),
                           bins,
                           NULL,
                           BUFFER(SEEN)};
        Py_BEGIN_ALLOW_THREADS;
        found = bin_in_turns(of, classes == 2 ? loops->bin_pairs : bin_all, BUFFER(SUMS));
        Py_END_ALLOW_THREADS;
    }
    PyObject *nothing = done(&arrays, in_order);
    Py_XDECREF(nothing);
    if (!nothing) return NULL;
    return found < 0 ? PyErr_NoMemory() : PyBool_FromLong(found);
}
