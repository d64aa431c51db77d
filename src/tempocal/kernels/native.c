/* The few loops that take most of the time of a fit, over rows in memory.

   NumPy is not needed: arrays are passed by the buffer protocol, and callers have checked their values. The GIL is
   released while a loop runs. The loops are compiled for any processor, for AVX2 with FMA and for AVX-512; the widest
   that the processor supports is selected when the module is loaded. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A product of this many numbers in [1, 2] does not overflow: one logarithm for all of them. */
#define CHUNK_ROWS 1016
/* log 2 in two parts, the first with so few digits that its multiples are exact. */
#define LOG_2_HIGH 0x1.62e42feep-1
#define LOG_2_LOW 0x1.a39ef35793c76p-33
/* Most coefficients per key of a binary model. */
#define MAX_COEFFICIENTS 3
#define INLINE static inline __attribute__((always_inline))
/* Prevents contraction of a product and a sum into an FMA, so that all instruction sets and NumPy give the same
   result. */
#if defined(__x86_64__)
#define ROUNDED(v) __asm__("" : "+x"(v))
#elif defined(__aarch64__)
#define ROUNDED(v) __asm__("" : "+w"(v))
#else
#define ROUNDED(v) __asm__("" : "+m"(v))
#endif

#include "types.h"
#include "bins.h"

/* FOR(...) and END enclose code for an instruction set. */
#define PRAGMA(words) _Pragma(#words)
#if defined(__clang__)
#define FOR(set) PRAGMA(clang attribute push(__attribute__((target(set))), apply_to = function))
#define END PRAGMA(clang attribute pop)
#define AVX512 "avx512f,avx512dq,avx512vl,avx2,fma"
#else
#define FOR(set) PRAGMA(GCC push_options) PRAGMA(GCC target(set))
#define END PRAGMA(GCC pop_options)
/* Clang does not know this preference, and would ignore the others as well. */
#define AVX512 "avx512f,avx512dq,avx512vl,avx2,fma,prefer-vector-width=512"
#endif

#define LANES 2
#define NAME(word) word##_plain
#include "loops.h"

#if defined(__x86_64__)
#define HAS_MORE 1
FOR("avx2,fma")
#define LANES 4
#define NAME(word) word##_avx2
#include "loops.h"
END
FOR(AVX512)
#define LANES 8
#define NAME(word) word##_avx512
#include "loops.h"
END
#endif

typedef struct {
    const char *name;
    int (*is_supported)(void);
    void (*even)(const Rows *, const Keys *, SumArrays *);
    int (*shared)(const Rows *, const Keys *, SumArrays *);
    int (*per_class)(const Rows *, const PerClass *, const Keys *, SumArrays *);
    int (*compare)(const CompareArgs *, int64_t, double *, double *);
    int (*bin_pairs)(const BinTask *);
    int (*sigmoid)(const SigmoidArgs *);
    int (*softmax)(const SoftmaxArgs *);
    int (*sum_cells)(const CellArgs *);
    KeyCheck (*count_rows)(const char *, Py_ssize_t, int64_t, int64_t *, uint64_t);
    IntegerRange (*code_rows)(const char *, int, double, Py_ssize_t, char *, Py_ssize_t);
    int (*group_gradients)(const GroupGradientArgs *);
    void (*double_min_max)(const double *, int64_t, double *);
    void (*float_min_max)(const float *, int64_t, float *);
    void (*int_min_max)(const int64_t *, int64_t, int64_t *);
    void (*exponential)(const double *, int64_t, double *);
    void (*logarithm)(const double *, int64_t, double *);
} Loops;

static int supported_plain(void) { return 1; }
#ifdef HAS_MORE
static int supported_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
static int supported_avx512(void) {
    return supported_avx2() && __builtin_cpu_supports("avx512f")
           && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

#define LOOPS(set) {#set, supported_##set, even_##set, shared_##set, per_class_##set, compare_##set, \
                    bin_pairs_##set, sigmoid_##set, softmax_##set, \
                    sum_cells_##set, count_rows_##set, code_rows_##set, \
                    group_gradients_##set, \
                    double_min_max_##set, float_min_max_##set, int_min_max_##set, \
                    exponential_##set, logarithm_##set}
/* In increasing order of width. */
static const Loops SETS[] = {
    LOOPS(plain),
#ifdef HAS_MORE
    LOOPS(avx2),
    LOOPS(avx512),
#endif
};
static const Loops *loops = SETS;

#include "arrays.h"

#include "proba.h"
#include "binned.h"
#include "cells.h"
#include "chain.h"
#include "compare.h"
#include "discount.h"
#include "sequence_jacobian.h"
#include "keys.h"
#include "pool.h"
#include "group_gradients.h"
#include "sums.h"

/* exp and log of arrays, for tests. */

static PyObject *map(PyObject *const *given, Py_ssize_t count,
                     void (*work)(const double *, int64_t, double *)) {
    static const ArraySpec specs[] = {{"d", 1, READ, 0}, {"d", 1, WRITE, 0}};
    Arrays arrays;
    if (acquire(&arrays, given, count, specs, 2) < 0) return NULL;
    int good = SHAPE(0, 0) == SHAPE(1, 0);
    if (good) work(BUFFER(0), SHAPE(0, 0), BUFFER(1));
    return finish(&arrays, good);
}

static PyObject *exponential(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    return map(given, count, loops->exponential);
}

static PyObject *logarithm(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    return map(given, count, loops->logarithm);
}

static PyObject *use(PyObject *self, PyObject *name) {
    PyObject *text = PyUnicode_AsASCIIString(name);
    if (!text) return NULL;
    const Loops *found = NULL;
    for (size_t i = 0; i < sizeof SETS / sizeof *SETS; i++)
        if (SETS[i].is_supported() && !strcmp(SETS[i].name, PyBytes_AsString(text))) found = SETS + i;
    Py_DECREF(text);
    if (!found) {
        PyErr_Format(PyExc_ValueError, "this processor has no instruction set %R", name);
        return NULL;
    }
    loops = found;
    return Py_NewRef(Py_None);
}

static PyObject *available(PyObject *self, PyObject *nothing) {
    PyObject *names = PyList_New(0);
    for (size_t i = 0; names && i < sizeof SETS / sizeof *SETS; i++) {
        if (!SETS[i].is_supported()) continue;
        PyObject *name = PyUnicode_FromString(SETS[i].name);
        if (!name || PyList_Append(names, name) < 0) Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

static PyObject *used(PyObject *self, PyObject *nothing) {
    return PyUnicode_FromString(loops->name);
}

#define FAST(name, words) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, words}
static PyMethodDef METHODS[] = {
    FAST(even_sums, "Sums of log(2 cosh(eta / 2)) and its derivatives, by key."),
    FAST(shared_sums, "Sums of the loss of a softmax with one coefficient, by key."),
    FAST(full_sums, "Sums of the loss of a softmax of a matrix times x, by key."),
    FAST(diagonal_sums, "Sums of the loss of a softmax with two coefficients per class, by key."),
    FAST(linear_terms, "Sums of (1/2 - target) x, by key."),
    FAST(gradients_by_group, "Gradients of the loss of binary rows, by group and key."),
    FAST(groups_by_key, "Number of groups that have rows under each key."),
    FAST(sum_cells, "Sums of w, w |x|, w x^2 and (1/2 - label) x or 1, in cells of |x|, by key."),
    FAST(count_keys, "Rows of each key; returns whether they are sorted by key."),
    FAST(scatter, "Rows sorted by key."),
    FAST(every_nth, "Indices of every n-th row in key order."),
    FAST(integer_codes, "Differences of integers from a first one; False if one is a fraction or too large."),
    FAST(min_max_sum, "Minimum, maximum and sum."),
    FAST(compare, "Losses of binary rows before and after calibration."),
    FAST(discount, "Discounted sums towards the end of each sequence, in place."),
    FAST(sequence_jacobian, "Derivative of the estimating function of rows that learn from the next, added to a matrix."),
    FAST(bin_sums, "Rows and confidence by bin and outcome; False if a row is invalid."),
    FAST(join_blocks, "The path of nearly-isotonic regression."),
    FAST(merge, "Distinct values of two sorted classes, and the rows at each."),
    FAST(pool, "Blocks of isotonic regression."),
    FAST(sigmoid, "Probabilities of two classes from scaled logits; False if a logit is NaN or too large."),
    FAST(softmax, "Probabilities of all classes from scaled logits; False if a logit is NaN or too large."),
    FAST(exponential, "exp of numbers up to 709."),
    FAST(logarithm, "log of positive normal numbers."),
    {"use", use, METH_O, "Select an instruction set: plain, avx2 or avx512."},
    {"available", available, METH_NOARGS, "The instruction sets of this processor."},
    {"used", used, METH_NOARGS, "The selected instruction set."},
    {NULL, NULL, 0, NULL},
};

static int start(PyObject *module) {
    for (size_t i = 0; i < sizeof SETS / sizeof *SETS; i++)
        if (SETS[i].is_supported()) loops = SETS + i;
    return 0;
}

static PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, start}, {0, NULL}};
static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "native", "Loops over rows, compiled.", 0, METHODS, SLOTS, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_native(void) { return PyModuleDef_Init(&MODULE); }
