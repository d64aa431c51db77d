/* The few loops that take the time of a fit, over rows in memory.

   Nothing here knows NumPy: arrays come as buffers, and whoever calls has checked what is in them.
   The interpreter is let go while a loop runs. The loops are compiled once for any processor, once
   for AVX2 with FMA and once for AVX-512; which of them runs is settled when the module is loaded. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A product of so many numbers in [1, 2] does not overflow: one logarithm for all of them. */
#define FEW 1016
/* log 2 in two parts, the first short enough that its multiples are exact. */
#define LOG_2_HIGH 0x1.62e42feep-1
#define LOG_2_LOW 0x1.a39ef35793c76p-33
/* Most coefficients that a key of a binary model has. */
#define MOST 3
/* The loss of a row about which nothing is said, and a little more. */
#define OF_NOTHING (0x1.62e42fefa39efp-1 * (1.0 + 1e-9))
/* Cells that rows of weight 1 are counted in are cut into so many narrow ones, where there are from so
   many to so many of these rows: counting takes a third of the time of adding up sizes, and is as good for a
   start: where in its narrow cell each of so many rows lies hardly matters. */
#define NARROW 128
#define MOST_CELLS 128
#define LEAST_ROWS 16384
#define MOST_ROWS UINT16_MAX
/* Where the last step of a search promises this much of a mean loss, it is as good as at its end. */
#define CLOSE 1e-8
/* A last step that would have moved the linear predictors at the start by this much, squared, raises a
   doubt that there is an end. */
#define DOUBTFUL 1e-6
/* Coefficients that grow so many times as large are not followed, nor are searches of so many looks. */
#define TOO_FAR 100.0
#define MOST_LOOKS 50
/* About how often a search looks at the rows of a key: each time is as good as a number more. */
#define LOOKS 5
#define INLINE static inline __attribute__((always_inline))
/* Keeps a product from being added to something before it is rounded: so all instruction sets, and
   NumPy, find the same sum. */
#if defined(__x86_64__)
#define ROUNDED(v) __asm__("" : "+x"(v))
#elif defined(__aarch64__)
#define ROUNDED(v) __asm__("" : "+w"(v))
#else
#define ROUNDED(v) __asm__("" : "+m"(v))
#endif

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

typedef struct {
    const double *linear; /* of each key, what its coefficient is multiplied by */
    const double *pull, *identity, *lower; /* how it is pulled, whereto, and its least */
} Pulled;

typedef struct {
    double theta, value, slope, bend;
} Place;

/* Weight, size, square and number of rows in a cell. */
typedef double Four __attribute__((vector_size(32), aligned(8)));

typedef struct {
    int64_t classes, width; /* of the table of coefficients, whose last column are the biases */
    int is_diagonal; /* whether each class sees its own feature only */
    const int64_t *labels;
} PerClass;

typedef struct {
    const char *logits;
    int single; /* whether they are floats, not doubles */
    const char *scale, *bias; /* doubles */
    int own_scale, own_bias; /* whether every row has its own */
    int64_t rows;
    double *out; /* (rows, 2) */
} Line;

typedef struct {
    const char *logits; /* (rows, classes) */
    int single; /* whether they are floats, not doubles */
    double scale;
    int64_t rows, classes;
    double *out; /* of the same shape */
} Scaled;

typedef struct {
    const double *before, *after; /* of each row; or after, of each key, what the one is multiplied by */
    const char *keys; /* or NULL */
    Py_ssize_t key_size;
    uint64_t n_keys;
    const int64_t *labels;
    const double *weights; /* or NULL */
} Compared;

typedef struct {
    const double *x;
    const int64_t *labels;
    int64_t rows;
    const char *keys;
    Py_ssize_t key_size;
    uint64_t n_keys;
    double scale; /* of x, so that a cell is 1 wide */
    int64_t cells;
    Four *sums; /* (keys, cells) */
} Celled;

/* Keys have two, four or eight bytes; one below zero is beyond all that there are. */
INLINE uint64_t key_at(const char *keys, Py_ssize_t size, Py_ssize_t i) {
    if (size == 2) return ((const uint16_t *)keys)[i];
    return size == 4 ? (uint64_t)((const int32_t *)keys)[i] : (uint64_t)((const int64_t *)keys)[i];
}

/* Do it for keys of each size, known when it is compiled. */
#define BY_SIZE(size, call) ((size) == 2 ? call(2) : (size) == 4 ? call(4) : call(8))

typedef struct {
    int good;
    int32_t low, high;
} Whole;

typedef union {
    double number;
    uint64_t bits;
} Both;

/* Whether all keys are there, and in order. */
typedef struct {
    int good, ascend;
} Counted;

/* What is not within 32 bits has others once this is added. */
#define BEYOND ((uint64_t)1 << 31)

/* Beyond it a double no longer tells a logit from the next whole one. */
#define LARGEST_LOGIT 0x1p53

#include "bins.h"

/* FOR(...) and END set the instructions that the compiler may use in between. */
#define PRAGMA(words) _Pragma(#words)
#if defined(__clang__)
#define FOR(set) PRAGMA(clang attribute push(__attribute__((target(set))), apply_to = function))
#define END PRAGMA(clang attribute pop)
#define AVX512 "avx512f,avx512dq,avx512vl,avx2,fma"
#else
#define FOR(set) PRAGMA(GCC push_options) PRAGMA(GCC target(set))
#define END PRAGMA(GCC pop_options)
/* Clang knows no such preference, and would not take the others then. */
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
    void (*even)(const Rows *, const Keys *, Found *);
    void (*descend)(const Rows *, const Pulled *, const Keys *, double *, char *);
    void (*shared)(const Rows *, const Keys *, Found *);
    int (*per_class)(const Rows *, const PerClass *, const Keys *, Found *);
    int (*compare)(const Compared *, int64_t, double *, double *);
    int (*bin_pairs)(const Binned *);
    int (*sigmoid)(const Line *);
    int (*softmax)(const Scaled *);
    void (*count_moments)(const char *, int, int64_t, double, int64_t, Four *);
    int (*cells_by_key)(const Celled *);
    Counted (*count_rows)(const char *, Py_ssize_t, int64_t, int64_t *, uint64_t);
    Whole (*code_rows)(const char *, int, double, Py_ssize_t, char *, Py_ssize_t);
    double (*pull)(const char *, int, const int64_t *, int64_t);
    void (*double_ends)(const double *, int64_t, double *);
    void (*float_ends)(const float *, int64_t, float *);
    void (*whole_ends)(const int64_t *, int64_t, int64_t *);
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

#define LOOPS(set) {#set, supported_##set, even_##set, descend_##set, shared_##set, per_class_##set, compare_##set, \
                    bin_pairs_##set, sigmoid_##set, softmax_##set, \
                    count_moments_##set, cells_by_key_##set, count_rows_##set, code_rows_##set, pull_##set, \
                    double_ends_##set, float_ends_##set, whole_ends_##set, \
                    exponential_##set, logarithm_##set}
/* The widest last. */
static const Loops SETS[] = {
    LOOPS(plain),
#ifdef HAS_MORE
    LOOPS(avx2),
    LOOPS(avx512),
#endif
};
static const Loops *loops = SETS;

#include "arrays.h"
#include "threads.h"
#include "chain.h"
#include "keys.h"
#include "pool.h"
#include "sort.h"

/* Sums over the rows of each key. */

typedef struct {
    Rows rows;
    Keys keys;
    Found found;
    PerClass model; /* of a softmax with several coefficients for each class */
    int64_t parts, coefficients;
    void (*loop)(const Rows *, const Keys *, Found *); /* or NULL */
    int has_room;
} Summed;

static void sum_part(void *context, int64_t part) {
    Summed *of = context;
    const int64_t p = of->coefficients, first = first_piece(part, of->parts, of->keys.starts, of->keys.count);
    const int64_t count = first_piece(part + 1, of->parts, of->keys.starts, of->keys.count) - first;
    const Keys keys = {of->keys.starts + first, of->keys.theta + first * p, count};
    Found found = {of->found.loss + first, of->found.gradient ? of->found.gradient + first * p : NULL,
                   of->found.hessian ? of->found.hessian + first * p * p : NULL};
    if (of->loop) of->loop(&of->rows, &keys, &found);
    else if (count > 0 && !loops->per_class(&of->rows, &of->model, &keys, &found))
        __atomic_store_n(&of->has_room, 0, __ATOMIC_RELAXED);
}

static PyObject *sum(PyObject *const *given, Py_ssize_t count, int is_even) {
    enum { X, WEIGHTS, LABELS, THETA, STARTS, LOSS, GRADIENT, HESSIAN };
    static const Wanted wanted[] = {
        {"df", 2, PyBUF_STRIDES, 0}, {"d", 1, READ, 1},  {"d", 1, READ, 1},  {"d", 2, READ, 0},
        {"lq", 1, READ, 0},          {"d", 1, WRITE, 0}, {"d", 2, WRITE, 1}, {"d", 3, WRITE, 1},
    };
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 8) < 0) return NULL;
    const Py_buffer *x = arrays.views + X;
    const Py_ssize_t n = SHAPE(X, 1), n_keys = SHAPE(LOSS, 0), p = SHAPE(THETA, 1);
    int good = are_bounds(arrays.views + STARTS, n_keys, n) && SHAPE(THETA, 0) == n_keys
               && SHAPE(X, 0) > 0 && n > 0 && HAS_LENGTH(GRADIENT, n_keys)
               && (arrays.taken[GRADIENT] ? SHAPE(GRADIENT, 1) == p : is_even && !arrays.taken[HESSIAN])
               && x->strides[1] == x->itemsize && HAS_LENGTH(WEIGHTS, n) && HAS_LENGTH(LABELS, n)
               && HAS_LENGTH(HESSIAN, n_keys)
               && (!arrays.taken[HESSIAN] || (SHAPE(HESSIAN, 1) == p && SHAPE(HESSIAN, 2) == p))
               && (is_even ? p == SHAPE(X, 0) && p <= MOST : p == 1 && arrays.taken[LABELS]);
    if (good) {
        Summed of = {.rows = {x->buf, SHAPE(X, 0), x->strides[0], x->format[0] == 'f', BUFFER(WEIGHTS),
                              BUFFER(LABELS)},
                     .keys = {BUFFER(STARTS), BUFFER(THETA), n_keys},
                     .found = {BUFFER(LOSS), BUFFER(GRADIENT), BUFFER(HESSIAN)},
                     .parts = parts_for(n, SHAPE(X, 0)),
                     .coefficients = p,
                     .loop = is_even ? loops->even : loops->shared};
        Py_BEGIN_ALLOW_THREADS;
        do_all(sum_part, &of, of.parts);
        Py_END_ALLOW_THREADS;
    }
    return done(&arrays, good);
}

static PyObject *even_sums(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    return sum(given, count, 1);
}

static PyObject *shared_sums(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    return sum(given, count, 0);
}

typedef struct {
    Rows rows;
    Pulled pulled;
    Keys keys;
    double *theta;
    char *doubts;
    int64_t parts;
} Descended;

static void descend_part(void *context, int64_t part) {
    const Descended *of = context;
    const int64_t first = first_piece(part, of->parts, of->keys.starts, of->keys.count);
    const int64_t count = first_piece(part + 1, of->parts, of->keys.starts, of->keys.count) - first;
    const Pulled pulled = {of->pulled.linear + first, of->pulled.pull + first, of->pulled.identity + first,
                           of->pulled.lower + first};
    const Keys keys = {of->keys.starts + first, of->keys.theta + first, count};
    loops->descend(&of->rows, &pulled, &keys, of->theta + first, of->doubts + first);
}

/* One coefficient for each key, closer to its optimum; and whether there is doubt that it has one. */
static PyObject *descend(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, WEIGHTS, LINEAR, PULL, IDENTITY, LOWER, STARTS, THETA, DOUBTS };
    static const Wanted wanted[] = {
        {"df", 1, READ, 0}, {"d", 1, READ, 1}, {"d", 1, READ, 0},  {"d", 1, READ, 0},  {"d", 1, READ, 0},
        {"d", 1, READ, 0},  {"lq", 1, READ, 0}, {"d", 1, WRITE, 0}, {"?", 1, WRITE, 0},
    };
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 9) < 0) return NULL;
    const Py_ssize_t n = SHAPE(X, 0), n_keys = SHAPE(THETA, 0);
    int good = are_bounds(arrays.views + STARTS, n_keys, n) && HAS_LENGTH(WEIGHTS, n)
               && HAS_LENGTH(LINEAR, n_keys) && HAS_LENGTH(PULL, n_keys)
               && HAS_LENGTH(IDENTITY, n_keys) && HAS_LENGTH(LOWER, n_keys) && HAS_LENGTH(DOUBTS, n_keys);
    if (good) {
        Descended of = {.rows = {BUFFER(X), 1, 0, arrays.views[X].format[0] == 'f', BUFFER(WEIGHTS), NULL},
                        .pulled = {BUFFER(LINEAR), BUFFER(PULL), BUFFER(IDENTITY), BUFFER(LOWER)},
                        .keys = {BUFFER(STARTS), BUFFER(THETA), n_keys},
                        .theta = BUFFER(THETA),
                        .doubts = BUFFER(DOUBTS),
                        .parts = parts_for(n, LOOKS)};
        Py_BEGIN_ALLOW_THREADS;
        do_all(descend_part, &of, of.parts);
        Py_END_ALLOW_THREADS;
    }
    return done(&arrays, good);
}

/* Sums of a softmax with several coefficients for each class; labels are codes of classes. */
static PyObject *sum_per_class(PyObject *const *given, Py_ssize_t count, int is_diagonal) {
    enum { X, WEIGHTS, LABELS, THETA, STARTS, LOSS, GRADIENT, HESSIAN };
    static const Wanted wanted[] = {
        {"df", 2, PyBUF_STRIDES, 0}, {"d", 1, READ, 1},  {"lq", 1, READ, 0}, {"d", 2, READ, 0},
        {"lq", 1, READ, 0},          {"d", 1, WRITE, 0}, {"d", 2, WRITE, 0}, {"d", 3, WRITE, 1},
    };
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 8) < 0) return NULL;
    const Py_buffer *x = arrays.views + X;
    const Py_ssize_t n = SHAPE(X, 1), n_keys = SHAPE(LOSS, 0), p = SHAPE(THETA, 1);
    const Py_ssize_t width = is_diagonal ? 2 : SHAPE(X, 0) + 1, classes = p / width;
    const int64_t *labels = BUFFER(LABELS);
    int good = are_bounds(arrays.views + STARTS, n_keys, n) && SHAPE(THETA, 0) == n_keys
               && SHAPE(GRADIENT, 0) == n_keys && SHAPE(GRADIENT, 1) == p && classes > 0
               && p == classes * width && (!is_diagonal || classes == SHAPE(X, 0))
               && x->strides[1] == x->itemsize && HAS_LENGTH(WEIGHTS, n) && HAS_LENGTH(LABELS, n)
               && arrays.views[LABELS].itemsize == 8 && HAS_LENGTH(HESSIAN, n_keys)
               && (!arrays.taken[HESSIAN] || (SHAPE(HESSIAN, 1) == p && SHAPE(HESSIAN, 2) == p));
    int has_room = 1;
    if (good) {
        Summed of = {.rows = {x->buf, SHAPE(X, 0), x->strides[0], x->format[0] == 'f', BUFFER(WEIGHTS), NULL},
                     .keys = {BUFFER(STARTS), BUFFER(THETA), n_keys},
                     .found = {BUFFER(LOSS), BUFFER(GRADIENT), BUFFER(HESSIAN)},
                     .model = {classes, width, is_diagonal, labels},
                     .parts = parts_for(n, SHAPE(X, 0)),
                     .coefficients = p,
                     .has_room = 1};
        Py_BEGIN_ALLOW_THREADS;
        for (Py_ssize_t i = 0; i < n; i++) good &= (uint64_t)labels[i] < (uint64_t)classes;
        if (good) do_all(sum_part, &of, of.parts);
        Py_END_ALLOW_THREADS;
        has_room = of.has_room;
    }
    return done_with_memory(&arrays, good, has_room);
}

static PyObject *full_sums(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    return sum_per_class(given, count, 0);
}

static PyObject *diagonal_sums(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    return sum_per_class(given, count, 1);
}

/* (1/2 - label) x of doubles, added up under the key of each row; tells whether all keys are there. */
INLINE int pull_by_key(const double *x, const int64_t *labels, const char *keys, Py_ssize_t size,
                       Py_ssize_t n, double *sums, uint64_t n_keys) {
    int good = 1;
    for (Py_ssize_t i = 0; i < n; i++) {
        const uint64_t key = key_at(keys, size, i);
        if (key < n_keys) sums[key] += (0.5 - (double)labels[i]) * x[i];
        else good = 0;
    }
    return good;
}

/* (1/2 - target) x of each row, added up under its key, or under the first. Whole targets are 0 or 1. */
static PyObject *linear_sums(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, TARGETS, WEIGHTS, KEYS, SUMS };
    static const Wanted wanted[] = {{"df", 1, READ, 0},
                                    {"d?lq", 1, READ, 0},
                                    {"d", 1, READ, 1},
                                    {KEY_KINDS, 1, READ, 1},
                                    {"d", 1, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 5) < 0) return NULL;
    const Py_ssize_t n = SHAPE(X, 0);
    const Py_ssize_t n_keys = SHAPE(SUMS, 0);
    int good = HAS_LENGTH(TARGETS, n) && HAS_LENGTH(WEIGHTS, n) && n_keys > 0 && HAS_LENGTH(KEYS, n)
               && (arrays.views[TARGETS].itemsize == 8 || arrays.views[TARGETS].itemsize == 1);
    if (good) {
        const char *x = BUFFER(X);
        const double *weights = BUFFER(WEIGHTS);
        const int single = arrays.views[X].format[0] == 'f';
        const char *keys = BUFFER(KEYS);
        const Py_ssize_t size = keys ? arrays.views[KEYS].itemsize : 0;
        const char kind = arrays.views[TARGETS].format[0];
        const double *shares = kind == 'd' ? BUFFER(TARGETS) : NULL;
        const unsigned char *bits = kind == '?' ? BUFFER(TARGETS) : NULL;
        const int64_t *labels = BUFFER(TARGETS);
        double *sums = BUFFER(SUMS), few[4] = {0};
#define TARGET(i) (bits ? bits[i] : shares ? shares[i] : (double)labels[i])
#define PULL(i) ((0.5 - TARGET(i)) * (weights ? weights[i] : 1.0) * number_at(x, single, i))
#define PULL_BY_KEY(size) pull_by_key((const double *)x, labels, keys, size, n, sums, (uint64_t)n_keys)
        Py_BEGIN_ALLOW_THREADS;
        if (keys && !weights && !bits && !shares && !single)
            good = BY_SIZE(size, PULL_BY_KEY);
        else if (keys)
            for (Py_ssize_t i = 0; i < n; i++) {
                const uint64_t key = key_at(keys, size, i);
                if (key < (uint64_t)n_keys) sums[key] += PULL(i);
                else good = 0;
            }
        else {
            /* Four sums, so that not every one waits for the one before. */
            Py_ssize_t i = 0;
            for (; i + 4 <= n; i += 4)
                for (int k = 0; k < 4; k++) few[k] += PULL(i + k);
            for (; i < n; i++) few[0] += PULL(i);
            sums[0] += (few[0] + few[1]) + (few[2] + few[3]);
        }
        Py_END_ALLOW_THREADS;
#undef PULL_BY_KEY
#undef PULL
#undef TARGET
    }
    return done(&arrays, good);
}

typedef struct {
    const char *x;
    int single;
    const double *weights, *scale;
    const int64_t *labels, *bounds;
    int64_t pieces, parts, cells;
    Four *sums; /* (pieces, cells) */
    double *pulls;
} Pieced;

static void pull_part(void *context, int64_t part) {
    const Pieced *of = context;
    const int64_t end = first_piece(part + 1, of->parts, of->bounds, of->pieces);
    for (int64_t piece = first_piece(part, of->parts, of->bounds, of->pieces); piece < end; piece++) {
        const int64_t first = of->bounds[piece], rows = of->bounds[piece + 1] - first;
        of->pulls[piece] = loops->pull(of->x + first * (of->single ? 4 : 8), of->single, of->labels + first, rows);
    }
}

/* (1/2 - label) x, added up over the rows of each piece. */
static PyObject *pulls(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, LABELS, BOUNDS, SUMS };
    static const Wanted wanted[] = {
        {"df", 1, READ, 0}, {"lq", 1, READ, 0}, {"lq", 1, READ, 0}, {"d", 1, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 4) < 0) return NULL;
    const Py_ssize_t n = SHAPE(X, 0), pieces = SHAPE(SUMS, 0);
    int good = are_bounds(arrays.views + BOUNDS, pieces, n) && HAS_LENGTH(LABELS, n)
               && arrays.views[LABELS].itemsize == 8;
    if (good) {
        Pieced of = {.x = BUFFER(X), .single = arrays.views[X].format[0] == 'f', .labels = BUFFER(LABELS),
                     .bounds = BUFFER(BOUNDS), .pieces = pieces, .parts = parts_for(n, 1), .pulls = BUFFER(SUMS)};
        Py_BEGIN_ALLOW_THREADS;
        do_all(pull_part, &of, of.parts);
        Py_END_ALLOW_THREADS;
    }
    return done(&arrays, good);
}

static void moments_of_piece(const Pieced *of, int64_t piece) {
    const int64_t first = of->bounds[piece], end = of->bounds[piece + 1], cells = of->cells;
    const double *weights = of->weights, scale = *of->scale;
    Four *sums = of->sums + piece * cells;
    if (!weights && end - first >= LEAST_ROWS && end - first <= MOST_ROWS && cells <= MOST_CELLS && scale > 0.0) {
        loops->count_moments(of->x + first * (of->single ? 4 : 8), of->single, end - first, scale, cells, sums);
        return;
    }
    for (int64_t i = first; i < end; i++) {
        const double size = fabs(number_at(of->x, of->single, i)), weight = weights ? weights[i] : 1.0;
        const double place = size * scale;
        if (place < (double)cells)
            sums[(Py_ssize_t)place] += (Four){weight, weight * size, weight * size * size, 1.0};
    }
}

static void moments_part(void *context, int64_t part) {
    const Pieced *of = context;
    const int64_t end = first_piece(part + 1, of->parts, of->bounds, of->pieces);
    for (int64_t piece = first_piece(part, of->parts, of->bounds, of->pieces); piece < end; piece++)
        moments_of_piece(of, piece);
    if (of->labels) pull_part(context, part);
}

/* Weight, size, square and number of the rows of each piece, in cells of their size; those beyond the
   last cell are left out. And, with labels, the sum of (1/2 - label) x. */
static PyObject *moments(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, WEIGHTS, BOUNDS, SCALE, SUMS, LABELS, PULLS };
    static const Wanted wanted[] = {
        {"df", 1, READ, 0}, {"d", 1, READ, 1},  {"lq", 1, READ, 0}, {"d", 1, READ, 0},
        {"d", 3, WRITE, 0}, {"lq", 1, READ, 1}, {"d", 1, WRITE, 1},
    };
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 7) < 0) return NULL;
    const Py_ssize_t n = SHAPE(X, 0), pieces = SHAPE(SUMS, 0), cells = SHAPE(SUMS, 1);
    int good = HAS_LENGTH(WEIGHTS, n) && are_bounds(arrays.views + BOUNDS, pieces, n)
               && SHAPE(SUMS, 2) == 4 && cells > 0 && SHAPE(SCALE, 0) == 1
               && *(double *)BUFFER(SCALE) >= 0.0 && HAS_LENGTH(LABELS, n) && HAS_LENGTH(PULLS, pieces)
               && arrays.taken[LABELS] == arrays.taken[PULLS]
               && (!arrays.taken[LABELS] || (!arrays.taken[WEIGHTS] && arrays.views[LABELS].itemsize == 8));
    if (good) {
        Pieced of = {BUFFER(X), arrays.views[X].format[0] == 'f', BUFFER(WEIGHTS), BUFFER(SCALE),
                     BUFFER(LABELS), BUFFER(BOUNDS), pieces, parts_for(n, 1), cells,
                     BUFFER(SUMS), BUFFER(PULLS)};
        Py_BEGIN_ALLOW_THREADS;
        do_all(moments_part, &of, of.parts);
        Py_END_ALLOW_THREADS;
    }
    return done(&arrays, good);
}

typedef struct {
    Celled all; /* of which each room takes a part */
    int64_t rooms;
    int is_good;
} Rooms;

static void cells_part(void *context, int64_t part) {
    Rooms *rooms = context;
    const int64_t first = begin_of(part, rooms->rooms, rooms->all.rows);
    Celled of = rooms->all;
    of.x += first;
    of.labels += first;
    of.keys += first * of.key_size;
    of.rows = begin_of(part + 1, rooms->rooms, rooms->all.rows) - first;
    of.sums += part * (int64_t)of.n_keys * of.cells;
    if (!loops->cells_by_key(&of)) __atomic_store_n(&rooms->is_good, 0, __ATOMIC_RELAXED);
}

/* Number, size, square and (1/2 - label) x of rows in cells of their size, by key: a room for each part. */
static PyObject *cells_by_key(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, LABELS, KEYS, SCALE, SUMS };
    static const Wanted wanted[] = {{"d", 1, READ, 0},
                                    {"lq", 1, READ, 0},
                                    {KEY_KINDS, 1, READ, 0},
                                    {"d", 1, READ, 0},
                                    {"d", 4, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 5) < 0) return NULL;
    const Py_ssize_t n = SHAPE(X, 0), n_keys = SHAPE(SUMS, 1), cells = SHAPE(SUMS, 2);
    int good = HAS_LENGTH(LABELS, n) && arrays.views[LABELS].itemsize == 8 && HAS_LENGTH(KEYS, n)
               && SHAPE(SCALE, 0) == 1 && *(double *)BUFFER(SCALE) >= 0.0 && n_keys > 0 && cells > 0
               && cells < INT32_MAX && SHAPE(SUMS, 3) == 4;
    if (good) {
        Rooms rooms = {{BUFFER(X), BUFFER(LABELS), n, BUFFER(KEYS), arrays.views[KEYS].itemsize,
                        (uint64_t)n_keys, *(double *)BUFFER(SCALE), cells, BUFFER(SUMS)},
                       SHAPE(SUMS, 0), 1};
        Py_BEGIN_ALLOW_THREADS;
        do_all(cells_part, &rooms, rooms.rooms);
        Py_END_ALLOW_THREADS;
        good = rooms.is_good;
    }
    return done(&arrays, good);
}

/* Logits (rows, classes) measured from the top class of each row, turned into (classes, rows); and
   that of the label. */
static PyObject *from_top(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { LOGITS, LABELS, TURNED, TRUE };
    static const Wanted wanted[] = {{"d", 2, READ, 0},
                                    {"lq", 1, READ, 0},
                                    {"d", 2, PyBUF_STRIDES | PyBUF_WRITABLE, 0},
                                    {"d", 1, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 4) < 0) return NULL;
    const Py_ssize_t n = SHAPE(LOGITS, 0), classes = SHAPE(LOGITS, 1);
    const Py_ssize_t *strides = arrays.views[TURNED].strides;
    int good = classes > 0 && SHAPE(TURNED, 0) == classes && SHAPE(TURNED, 1) == n && strides[1] == 8
               && HAS_LENGTH(LABELS, n) && arrays.views[LABELS].itemsize == 8 && HAS_LENGTH(TRUE, n);
    if (good) {
        const double *row = BUFFER(LOGITS);
        const int64_t *labels = BUFFER(LABELS);
        double *true_logits = BUFFER(TRUE);
        char *turned = BUFFER(TURNED);
        Py_BEGIN_ALLOW_THREADS;
        for (Py_ssize_t i = 0; i < n; i++, row += classes) {
            double top = row[0];
            for (Py_ssize_t k = 1; k < classes; k++) top = row[k] > top ? row[k] : top;
            for (Py_ssize_t k = 0; k < classes; k++)
                ((double *)(turned + k * strides[0]))[i] = row[k] - top;
            if ((uint64_t)labels[i] < (uint64_t)classes) true_logits[i] = row[labels[i]] - top;
            else good = 0;
        }
        Py_END_ALLOW_THREADS;
    }
    return done(&arrays, good);
}

typedef struct {
    const char *x;
    char *ends; /* (parts, 2) */
    int64_t rows, parts;
    char kind;
} Ended;

static void ends_part(void *context, int64_t part) {
    const Ended *of = context;
    const int64_t first = begin_of(part, of->parts, of->rows), n = begin_of(part + 1, of->parts, of->rows) - first;
    const int64_t size = of->kind == 'f' ? 4 : 8;
    const void *x = of->x + first * size;
    void *found = of->ends + 2 * part * size;
    if (of->kind == 'd') loops->double_ends(x, n, found);
    else if (of->kind == 'f') loops->float_ends(x, n, found);
    else loops->whole_ends(x, n, found);
}

/* The lowest and the highest of some numbers, in their own type: of each part of them. */
static PyObject *ends(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { X, ENDS };
    static const Wanted wanted[] = {{"dflq", 1, READ, 0}, {"dflq", 2, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 2) < 0) return NULL;
    const char kind = arrays.views[X].format[0];
    Ended of = {BUFFER(X), BUFFER(ENDS), SHAPE(X, 0), SHAPE(ENDS, 0), kind};
    const int good = of.rows >= of.parts && of.parts > 0 && SHAPE(ENDS, 1) == 2
                     && arrays.views[ENDS].format[0] == kind
                     && arrays.views[X].itemsize == (kind == 'f' ? 4 : 8);
    if (good) {
        Py_BEGIN_ALLOW_THREADS;
        do_all(ends_part, &of, of.parts);
        Py_END_ALLOW_THREADS;
    }
    return done(&arrays, good);
}

typedef struct {
    Compared all;
    int64_t rows, parts;
    double *gains, *sums; /* (rows,) or NULL; (parts, 4) */
    int is_good;
} Comparison;

static void compare_part(void *context, int64_t part) {
    Comparison *whole = context;
    const int64_t first = begin_of(part, whole->parts, whole->rows);
    const int64_t n = begin_of(part + 1, whole->parts, whole->rows) - first;
    Compared of = whole->all;
    of.before += first;
    if (of.keys) of.keys += first * of.key_size;
    else of.after += first;
    of.labels += first;
    if (of.weights) of.weights += first;
    if (!loops->compare(&of, n, whole->gains ? whole->gains + first : NULL, whole->sums + 4 * part))
        __atomic_store_n(&whole->is_good, 0, __ATOMIC_RELAXED);
}

/* Losses of binary rows before and after, in parts: their sums, those of the gains and of their squares;
   and the gains themselves if they are asked for. With keys, after is before times the number of the key. */
static PyObject *compare(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { BEFORE, AFTER, KEYS, LABELS, WEIGHTS, GAINS, SUMS };
    static const Wanted wanted[] = {{"d", 1, READ, 0}, {"d", 1, READ, 0},  {KEY_KINDS, 1, READ, 1},
                                    {"lq", 1, READ, 0}, {"d", 1, READ, 1}, {"d", 1, WRITE, 1},
                                    {"d", 2, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 7) < 0) return NULL;
    const Py_ssize_t n = SHAPE(BEFORE, 0), n_after = SHAPE(AFTER, 0);
    int good = (arrays.taken[KEYS] ? n_after > 0 : n_after == n) && HAS_LENGTH(KEYS, n)
               && HAS_LENGTH(WEIGHTS, n) && HAS_LENGTH(GAINS, n) && SHAPE(SUMS, 0) > 0 && SHAPE(SUMS, 1) == 4
               && arrays.views[LABELS].itemsize == 8 && HAS_LENGTH(LABELS, n);
    if (good) {
        Comparison of = {{BUFFER(BEFORE), BUFFER(AFTER), BUFFER(KEYS),
                          arrays.taken[KEYS] ? arrays.views[KEYS].itemsize : 0, (uint64_t)n_after,
                          BUFFER(LABELS), BUFFER(WEIGHTS)},
                         n, SHAPE(SUMS, 0), BUFFER(GAINS), BUFFER(SUMS), 1};
        Py_BEGIN_ALLOW_THREADS;
        do_all(compare_part, &of, of.parts);
        Py_END_ALLOW_THREADS;
        good = of.is_good;
    }
    return done(&arrays, good);
}

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

/* The path of nearly-isotonic regression: how many joins there are, and the blocks they make. */
static PyObject *join_blocks(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { WEIGHT, TOTAL, FALLS, START, STOP, ENDED_BY, JOINS };
    static const Wanted wanted[] = {{"d", 1, WRITE, 0},  {"d", 1, WRITE, 0},  {"lq", 1, READ, 0},
                                    {"lq", 1, WRITE, 0}, {"lq", 1, WRITE, 0}, {"lq", 1, WRITE, 0},
                                    {"d", 1, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 7) < 0) return NULL;
    const Py_ssize_t n = SHAPE(JOINS, 0) + 1, blocks = 2 * n - 1;
    const int in_order = HAS_LENGTH(WEIGHT, blocks) && HAS_LENGTH(TOTAL, blocks)
                         && HAS_LENGTH(FALLS, n + 1) && HAS_LENGTH(START, blocks)
                         && HAS_LENGTH(STOP, blocks) && HAS_LENGTH(ENDED_BY, blocks)
                         && arrays.views[FALLS].itemsize == 8 && arrays.views[START].itemsize == 8
                         && arrays.views[STOP].itemsize == 8 && arrays.views[ENDED_BY].itemsize == 8;
    Chain chain = {0};
    int found = 1;
    if (in_order) {
        chain.count = n;
        chain.weight = BUFFER(WEIGHT);
        chain.total = BUFFER(TOTAL);
        chain.falls = BUFFER(FALLS);
        chain.start = BUFFER(START);
        chain.stop = BUFFER(STOP);
        chain.ended_by = BUFFER(ENDED_BY);
        chain.joins = BUFFER(JOINS);
        Py_BEGIN_ALLOW_THREADS;
        found = run_chain(&chain);
        Py_END_ALLOW_THREADS;
    }
    PyObject *nothing = done(&arrays, in_order);
    Py_XDECREF(nothing);
    if (!nothing) return NULL;
    return found ? PyLong_FromLongLong(chain.made) : PyErr_NoMemory();
}

/* Probabilities. */

/* Tells whether every logit is a number within the largest. */
static PyObject *sigmoid(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { LOGITS, SCALE, BIAS, OUT };
    static const Wanted wanted[] = {
        {"df", 1, READ, 0}, {"d", 1, READ, 0}, {"d", 1, READ, 0}, {"d", 2, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 4) < 0) return NULL;
    const Py_ssize_t n = SHAPE(LOGITS, 0), scales = SHAPE(SCALE, 0), biases = SHAPE(BIAS, 0);
    int good = SHAPE(OUT, 0) == n && SHAPE(OUT, 1) == 2 && (scales == 1 || scales == n)
               && (biases == 1 || biases == n);
    int within = n == 0;
    if (good && n > 0) {
        const Line line = {BUFFER(LOGITS), arrays.views[LOGITS].format[0] == 'f', BUFFER(SCALE),
                           BUFFER(BIAS),   scales > 1, biases > 1, n, BUFFER(OUT)};
        Py_BEGIN_ALLOW_THREADS;
        within = loops->sigmoid(&line);
        Py_END_ALLOW_THREADS;
    }
    PyObject *nothing = done(&arrays, good);
    Py_XDECREF(nothing);
    return nothing ? PyBool_FromLong(within) : NULL;
}

static PyObject *softmax(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    enum { LOGITS, SCALE, OUT };
    static const Wanted wanted[] = {{"df", 2, READ, 0}, {"d", 1, READ, 0}, {"d", 2, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 3) < 0) return NULL;
    const Py_ssize_t n = SHAPE(LOGITS, 0), classes = SHAPE(LOGITS, 1);
    int good = SHAPE(OUT, 0) == n && SHAPE(OUT, 1) == classes && classes > 0 && SHAPE(SCALE, 0) == 1;
    int within = 0;
    if (good) {
        const Scaled of = {BUFFER(LOGITS), arrays.views[LOGITS].format[0] == 'f',
                           *(double *)BUFFER(SCALE), n, classes, BUFFER(OUT)};
        Py_BEGIN_ALLOW_THREADS;
        within = loops->softmax(&of);
        Py_END_ALLOW_THREADS;
    }
    PyObject *nothing = done(&arrays, good);
    Py_XDECREF(nothing);
    if (!nothing) return NULL;
    return within < 0 ? PyErr_NoMemory() : PyBool_FromLong(within);
}

/* exp and log of every number: what the tests hold the loops to. */

static PyObject *map(PyObject *const *given, Py_ssize_t count,
                     void (*work)(const double *, int64_t, double *)) {
    static const Wanted wanted[] = {{"d", 1, READ, 0}, {"d", 1, WRITE, 0}};
    Arrays arrays;
    if (take(&arrays, given, count, wanted, 2) < 0) return NULL;
    int good = SHAPE(0, 0) == SHAPE(1, 0);
    if (good) work(BUFFER(0), SHAPE(0, 0), BUFFER(1));
    return done(&arrays, good);
}

static PyObject *exponential(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    return map(given, count, loops->exponential);
}

static PyObject *logarithm(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    return map(given, count, loops->logarithm);
}

static PyObject *cores(PyObject *self, PyObject *count) {
    const long given = PyLong_AsLong(count);
    if (given == -1 && PyErr_Occurred()) return NULL;
    use_cores(given > MOST_CORES ? MOST_CORES : given < 1 ? 1 : (int)given);
    return Py_NewRef(Py_None);
}

static PyObject *alone(PyObject *self, PyObject *is_so) {
    const int given = PyObject_IsTrue(is_so);
    if (given < 0) return NULL;
    stay_alone(given);
    return Py_NewRef(Py_None);
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
    FAST(descend, "One coefficient for each key, closer to its optimum."),
    FAST(shared_sums, "Sums of the loss of a softmax with one coefficient, by key."),
    FAST(full_sums, "Sums of the loss of a softmax of a matrix times x, by key."),
    FAST(diagonal_sums, "Sums of the loss of a softmax with two coefficients a class, by key."),
    FAST(linear_sums, "Sums of (1/2 - target) x, by key."),
    FAST(pulls, "Sums of (1/2 - label) x, by piece."),
    FAST(moments, "Weight, size and square of rows, in cells of their size."),
    FAST(cells_by_key, "Number, size, square and (1/2 - label) x of rows, in cells of their size by key."),
    FAST(count_keys, "Rows of each key; tells whether they come in the order of their keys."),
    FAST(scatter, "Rows in the order of their keys."),
    FAST(whole_codes, "Whole numbers counted from a first; False if one is a fraction or far away."),
    FAST(from_top, "Logits measured from the top class, a row for each class; and that of the label."),
    FAST(ends, "The lowest and the highest of some numbers."),
    FAST(compare, "Losses of binary rows before and after."),
    FAST(bin_sums, "Rows and confidence by bin and outcome; False if a row is out of order."),
    FAST(join_blocks, "The path of nearly-isotonic regression."),
    FAST(count_cells, "Rows of either class in each cell of their values."),
    FAST(spread, "Rows of some cells by stretches of their values and by class."),
    FAST(sort, "Values in order."),
    FAST(merge, "Distinct values of two sorted classes, and the rows at each."),
    FAST(pool, "Blocks of isotonic regression."),
    FAST(sigmoid, "Probabilities of two classes from scaled logits; False if one is out of order."),
    FAST(softmax, "Probabilities of all classes from scaled logits; False if one is out of order."),
    FAST(exponential, "exp of numbers up to 709."),
    FAST(logarithm, "log of positive normal numbers."),
    FAST(sweep_sums, "Sums of log(2 cosh(eta / 2)) and its derivatives, by part and key of rows in no order."),
    {"cores", cores, METH_O, "Say how many cores there are."},
    {"alone", alone, METH_O, "Say whether this thread works beside others, and calls for no more."},
    {"use", use, METH_O, "Choose an instruction set: plain, avx2 or avx512."},
    {"available", available, METH_NOARGS, "The instruction sets that this processor has."},
    {"used", used, METH_NOARGS, "The instruction set in use."},
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
