/* Array arguments by the buffer protocol, with their types and shapes checked before a loop begins. */

typedef struct {
    const char *kinds; /* accepted formats, as in the struct module */
    int dimensions, flags, optional;
} ArraySpec;

#define READ PyBUF_C_CONTIGUOUS
#define WRITE (PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)
#define MAX_ARRAYS 9

typedef struct {
    Py_buffer views[MAX_ARRAYS];
    int taken[MAX_ARRAYS];
} Arrays;

static void release(Arrays *arrays) {
    for (int i = 0; i < MAX_ARRAYS; i++)
        if (arrays->taken[i]) PyBuffer_Release(arrays->views + i);
}

static int acquire(Arrays *arrays, PyObject *const *given, Py_ssize_t count, const ArraySpec *specs, int n) {
    memset(arrays->taken, 0, sizeof arrays->taken);
    if (count != n) {
        PyErr_Format(PyExc_TypeError, "%d arrays are needed, not %zd", n, count);
        return -1;
    }
    for (int i = 0; i < n; i++) {
        Py_buffer *view = arrays->views + i;
        if (given[i] == Py_None && specs[i].optional) continue;
        if (PyObject_GetBuffer(given[i], view, PyBUF_FORMAT | specs[i].flags) < 0) break;
        arrays->taken[i] = 1;
        const char kind = view->format && !view->format[1] ? view->format[0] : 0;
        if (!kind || !strchr(specs[i].kinds, kind) || view->ndim != specs[i].dimensions) {
            PyErr_Format(PyExc_TypeError, "array %d must have %d dimensions and be of kind %s, not %d and %s",
                         i + 1, specs[i].dimensions, specs[i].kinds, view->ndim,
                         view->format ? view->format : "B");
            break;
        }
    }
    if (!PyErr_Occurred()) return 0;
    release(arrays);
    return -1;
}

static PyObject *finish(Arrays *arrays, int is_good) {
    release(arrays);
    if (is_good) return Py_NewRef(Py_None);
    PyErr_SetString(PyExc_ValueError, "the shapes of the arrays do not go together");
    return NULL;
}

static PyObject *finish_with_memory(Arrays *arrays, int is_good, int has_memory) {
    PyObject *nothing = finish(arrays, is_good);
    if (has_memory) return nothing;
    Py_XDECREF(nothing);
    return PyErr_NoMemory();
}

#define BUFFER(i) (arrays.taken[i] ? arrays.views[i].buf : NULL)
#define SHAPE(i, axis) (arrays.views[i].shape[axis])
#define SIZE_OF(i) (arrays.taken[i] ? arrays.views[i].itemsize : 0)
#define HAS_LENGTH(i, n) (!arrays.taken[i] || SHAPE(i, 0) == (n))

/* Whether bounds of keys or pieces are nondecreasing from 0 to the number of rows. */
static int are_bounds(const Py_buffer *view, Py_ssize_t count, Py_ssize_t n_rows) {
    const int64_t *bounds = view->buf;
    if (view->itemsize != 8 || view->shape[0] != count + 1 || count < 1) return 0;
    if (bounds[0] != 0 || bounds[count] != n_rows) return 0;
    for (Py_ssize_t i = 0; i < count; i++)
        if (bounds[i] > bounds[i + 1]) return 0;
    return 1;
}
