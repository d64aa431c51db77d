/* The few loops that take the time of a fit, over rows in memory.

   Nothing here knows NumPy: arrays come as buffers, and whoever calls has checked what is in them.
   The interpreter is let go while a loop runs. The loops are compiled once for any processor and
   once for AVX2 with FMA; which of the two runs is settled when the module is loaded. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* A product of so many numbers in [1, 2] does not overflow: one logarithm for all of them. */
#define FEW 1016
/* Most coefficients that a key of a binary model has. */
#define MOST 3
#define INLINE static inline __attribute__((always_inline))

typedef struct {
    const char *x; /* (count, rows), a row of it `stride` bytes after the one before */
    int64_t count, stride;
    int single; /* whether x has floats, not doubles */
    const char *weights; /* doubles, or NULL */
    const char *labels; /* the logit of the true class */
} Rows;

typedef struct {
    const int64_t *starts; /* first row of each key, and the end of the last */
    const double *theta;
    int64_t count;
} Keys;

typedef struct {
    double *loss, *gradient, *hessian;
} Found;

#define LANES 2
#define NAME(word) word##_plain
#include "loops.h"
#undef LANES
#undef NAME
#undef vec
#undef ivec
#undef uvec
#undef load

#if defined(__x86_64__)
#define HAS_AVX2 1
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
#define LANES 4
#define NAME(word) word##_avx2
#include "loops.h"
#undef LANES
#undef NAME
#undef vec
#undef ivec
#undef uvec
#undef load
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

typedef struct {
    const char *name;
    void (*even)(const Rows *, const Keys *, Found *);
    void (*shared)(const Rows *, const Keys *, Found *);
    void (*sigmoid)(const double *, int64_t, double *);
    void (*softmax)(const double *, int64_t, int64_t, double *);
    void (*exponential)(const double *, int64_t, double *);
    void (*logarithm)(const double *, int64_t, double *);
} Loops;

#define LOOPS(set) {#set, even_##set, shared_##set, sigmoid_##set, softmax_##set, \
                    exponential_##set, logarithm_##set}
static const Loops SETS[] = {
    LOOPS(plain),
#ifdef HAS_AVX2
    LOOPS(avx2),
#endif
};
static const Loops *loops = SETS;

static int is_supported(const Loops *set) {
#ifdef HAS_AVX2
    if (set == SETS + 1) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return set == SETS;
}

/* Buffers: `kinds` are the formats that will do, as in the struct module. */

static int take(PyObject *object, Py_buffer *view, const char *kinds, int dimensions, int flags) {
    if (PyObject_GetBuffer(object, view, PyBUF_FORMAT | flags) < 0) return -1;
    const char kind = view->format && !view->format[1] ? view->format[0] : 0;
    if (kind && strchr(kinds, kind) && view->ndim == dimensions) return 0;
    PyErr_Format(PyExc_TypeError, "an array of %d dimensions and kind %s is needed, not of %d and %s",
                 dimensions, kinds, view->ndim, view->format ? view->format : "B");
    PyBuffer_Release(view);
    return -1;
}

#define CONTIGUOUS PyBUF_C_CONTIGUOUS
#define WRITABLE (PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)

/* The arguments of a sum: x, weights, labels, theta, starts, loss, gradient, hessian. */
enum { X, WEIGHTS, LABELS, THETA, STARTS, LOSS, GRADIENT, HESSIAN, N_ARGUMENTS };

static int take_all(PyObject *const *given, Py_buffer *views, int *taken) {
    static const struct {
        const char *kinds;
        int dimensions, flags;
    } wanted[N_ARGUMENTS] = {
        {"df", 2, PyBUF_STRIDES}, {"d", 1, CONTIGUOUS}, {"d", 1, CONTIGUOUS}, {"d", 2, CONTIGUOUS},
        {"lq", 1, CONTIGUOUS},    {"d", 1, WRITABLE},   {"d", 2, WRITABLE},   {"d", 3, WRITABLE},
    };
    for (int i = 0; i < N_ARGUMENTS; i++) {
        if (given[i] == Py_None && (i == WEIGHTS || i == LABELS || i == HESSIAN)) continue;
        if (take(given[i], views + i, wanted[i].kinds, wanted[i].dimensions, wanted[i].flags) < 0)
            return -1;
        taken[i] = 1;
    }
    return 0;
}

static int are_consistent(const Py_buffer *views, const int *taken) {
    const Py_buffer *x = views + X;
    const Py_ssize_t n = x->shape[1], keys = views[LOSS].shape[0], p = views[THETA].shape[1];
    const int64_t *starts = views[STARTS].buf;
    int good = views[STARTS].itemsize == 8 && views[STARTS].shape[0] == keys + 1 && keys > 0
               && views[THETA].shape[0] == keys && views[GRADIENT].shape[0] == keys
               && views[GRADIENT].shape[1] == p && x->shape[0] > 0 && n > 0
               && x->strides[1] == x->itemsize
               && (!taken[WEIGHTS] || views[WEIGHTS].shape[0] == n)
               && (!taken[LABELS] || views[LABELS].shape[0] == n)
               && (!taken[HESSIAN]
                   || (views[HESSIAN].shape[0] == keys && views[HESSIAN].shape[1] == p
                       && views[HESSIAN].shape[2] == p));
    if (good) good = starts[0] == 0 && starts[keys] == n;
    for (Py_ssize_t key = 0; good && key < keys; key++) good = starts[key] <= starts[key + 1];
    if (!good) PyErr_SetString(PyExc_ValueError, "the shapes of the arrays do not go together");
    return good;
}

static PyObject *sum(PyObject *const *given, Py_ssize_t count, int is_even) {
    Py_buffer views[N_ARGUMENTS];
    int taken[N_ARGUMENTS] = {0};
    PyObject *result = NULL;
    if (count != N_ARGUMENTS) {
        PyErr_SetString(PyExc_TypeError, "eight arguments are needed");
        return NULL;
    }
    if (take_all(given, views, taken) == 0 && are_consistent(views, taken)) {
        const Py_buffer *x = views + X;
        Rows rows = {x->buf,
                     x->shape[0],
                     x->strides[0],
                     x->format[0] == 'f',
                     taken[WEIGHTS] ? views[WEIGHTS].buf : NULL,
                     taken[LABELS] ? views[LABELS].buf : NULL};
        Keys keys = {views[STARTS].buf, views[THETA].buf, views[LOSS].shape[0]};
        Found found = {views[LOSS].buf, views[GRADIENT].buf,
                       taken[HESSIAN] ? views[HESSIAN].buf : NULL};
        const Py_ssize_t p = views[THETA].shape[1];
        if (is_even ? p == rows.count && p <= MOST : p == 1 && rows.labels) {
            Py_BEGIN_ALLOW_THREADS;
            (is_even ? loops->even : loops->shared)(&rows, &keys, &found);
            Py_END_ALLOW_THREADS;
            result = Py_NewRef(Py_None);
        } else {
            PyErr_SetString(PyExc_ValueError, "there are too many coefficients, or no labels");
        }
    }
    for (int i = 0; i < N_ARGUMENTS; i++)
        if (taken[i]) PyBuffer_Release(views + i);
    return result;
}

static PyObject *even_sums(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    return sum(given, count, 1);
}

static PyObject *shared_sums(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    return sum(given, count, 0);
}

/* From one array of doubles to another: of `wide` times its size, or of its shape. */

typedef void (*Map)(const double *, int64_t, double *);

static PyObject *map(PyObject *const *given, Py_ssize_t count, Map work, Py_ssize_t wide) {
    Py_buffer from, to;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "two arrays are needed");
        return NULL;
    }
    if (take(given[0], &from, "d", 1, CONTIGUOUS) < 0) return NULL;
    if (take(given[1], &to, "d", wide > 1 ? 2 : 1, WRITABLE) < 0) {
        PyBuffer_Release(&from);
        return NULL;
    }
    PyObject *result = NULL;
    if (to.len == wide * from.len) {
        Py_BEGIN_ALLOW_THREADS;
        work(from.buf, from.shape[0], to.buf);
        Py_END_ALLOW_THREADS;
        result = Py_NewRef(Py_None);
    } else {
        PyErr_SetString(PyExc_ValueError, "the arrays differ in size");
    }
    PyBuffer_Release(&from);
    PyBuffer_Release(&to);
    return result;
}

static PyObject *exponential(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    return map(given, count, loops->exponential, 1);
}

static PyObject *logarithm(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    return map(given, count, loops->logarithm, 1);
}

static PyObject *sigmoid(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    return map(given, count, loops->sigmoid, 2);
}

static PyObject *softmax(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    Py_buffer from, to;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "two arrays are needed");
        return NULL;
    }
    if (take(given[0], &from, "d", 2, CONTIGUOUS) < 0) return NULL;
    if (take(given[1], &to, "d", 2, WRITABLE) < 0) {
        PyBuffer_Release(&from);
        return NULL;
    }
    PyObject *result = NULL;
    if (to.shape[0] == from.shape[0] && to.shape[1] == from.shape[1] && from.shape[1] > 0) {
        Py_BEGIN_ALLOW_THREADS;
        loops->softmax(from.buf, from.shape[0], from.shape[1], to.buf);
        Py_END_ALLOW_THREADS;
        result = Py_NewRef(Py_None);
    } else {
        PyErr_SetString(PyExc_ValueError, "the arrays differ in shape");
    }
    PyBuffer_Release(&from);
    PyBuffer_Release(&to);
    return result;
}

static PyObject *use(PyObject *self, PyObject *name) {
    PyObject *text = PyUnicode_AsASCIIString(name);
    if (!text) return NULL;
    const Loops *found = NULL;
    for (size_t i = 0; i < sizeof SETS / sizeof *SETS; i++)
        if (is_supported(SETS + i) && !strcmp(SETS[i].name, PyBytes_AsString(text))) found = SETS + i;
    Py_DECREF(text);
    if (!found) {
        PyErr_Format(PyExc_ValueError, "this processor has no instruction set %R", name);
        return NULL;
    }
    loops = found;
    return Py_NewRef(Py_None);
}

static PyObject *used(PyObject *self, PyObject *nothing) {
    return PyUnicode_FromString(loops->name);
}

#define FAST(name, words) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, words}
static PyMethodDef METHODS[] = {
    FAST(even_sums, "Sums of log(2 cosh(eta / 2)) and its derivatives, by key."),
    FAST(shared_sums, "Sums of the loss of a softmax with one coefficient, by key."),
    FAST(sigmoid, "Probabilities of two classes from log-odds."),
    FAST(softmax, "Probabilities of all classes from logits."),
    FAST(exponential, "exp of numbers up to 709."),
    FAST(logarithm, "log of positive normal numbers."),
    {"use", use, METH_O, "Choose an instruction set: plain or avx2."},
    {"used", used, METH_NOARGS, "The instruction set in use."},
    {NULL, NULL, 0, NULL},
};

static int start(PyObject *module) {
    for (size_t i = 0; i < sizeof SETS / sizeof *SETS; i++)
        if (is_supported(SETS + i)) loops = SETS + i;
    return 0;
}

static PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, start}, {0, NULL}};
static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "native", "Loops over rows, compiled.", 0, METHODS, SLOTS, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_native(void) { return PyModuleDef_Init(&MODULE); }
