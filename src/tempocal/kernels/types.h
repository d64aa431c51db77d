/* Arguments of the loops. */

typedef struct {
    const char *x; /* (count, rows): features are `stride` bytes apart, and rows `step` */
    int64_t count, stride, step;
    int single; /* float rather than double */
    const double *weights; /* or NULL */
    const int64_t *labels; /* codes of classes; NULL for a binary model */
    const uint32_t *order; /* permutation of the rows, or NULL */
} Rows;

/* Error flags. */
#define NO_MEMORY 1
#define UNKNOWN_CLASS 2

typedef struct {
    const int64_t *starts; /* first row of each key, and the end of the last */
    const double *theta;
    int64_t count;
} Keys;

typedef struct {
    double *loss, *gradient, *hessian;
} SumArrays;

/* Sums of w, w |x|, w x^2 and another number over the rows of a cell. */
typedef double CellSums __attribute__((vector_size(32), aligned(8)));

typedef struct {
    int64_t classes, width; /* of the matrix of coefficients, whose last column has the biases */
    int is_diagonal; /* whether each class uses its own feature only */
} PerClass;

typedef struct {
    const char *logits;
    int single; /* float rather than double */
    const char *scale, *bias; /* doubles */
    int own_scale, own_bias; /* whether every row has its own */
    int64_t rows;
    double *out; /* (rows, 2) */
} SigmoidArgs;

typedef struct {
    const char *logits; /* (rows, classes) */
    int single; /* float rather than double */
    double scale;
    int64_t rows, classes;
    double *out; /* of the same shape */
} SoftmaxArgs;

typedef struct {
    const char *before; /* of each row */
    int single; /* float rather than double */
    const double *after; /* logits of each row; or the factor of each key */
    const char *keys; /* or NULL */
    Py_ssize_t key_size;
    uint64_t n_keys;
    const int64_t *labels;
    const double *weights; /* or NULL */
} CompareArgs;

typedef struct {
    const char *x;
    int single; /* float rather than double */
    const int64_t *labels; /* or NULL */
    const double *weights; /* or NULL */
    int64_t rows;
    const char *keys; /* or NULL */
    Py_ssize_t key_size;
    uint64_t n_keys;
    double scale; /* of x, so that a cell has width 1 */
    int64_t cells;
    CellSums *sums; /* (keys, cells) */
} CellArgs;

/* Keys have two, four or eight bytes, or none if all are 0; a negative one becomes larger than any valid key. */
INLINE uint64_t key_at(const char *keys, Py_ssize_t size, Py_ssize_t i) {
    if (size == 0) return 0;
    if (size == 2) return ((const uint16_t *)keys)[i];
    return size == 4 ? (uint64_t)((const int32_t *)keys)[i] : (uint64_t)((const int64_t *)keys)[i];
}

#define KEY_KINDS "Hilq"

/* A call for each size of keys, which is then known at compile time. */
#define BY_SIZE(size, call) ((size) == 2 ? call(2) : (size) == 4 ? call(4) : (size) == 8 ? call(8) : call(0))

/* Targets are doubles, booleans, or integers 0 and 1. */
INLINE double target_at(const char *targets, char kind, int64_t i) {
    if (kind == 'd') return ((const double *)targets)[i];
    return kind == '?' ? targets[i] : (double)((const int64_t *)targets)[i];
}

typedef struct {
    const char *x; /* (coefficients, rows), with features `stride` bytes apart */
    int64_t coefficients, stride;
    int single; /* float rather than double */
    const char *targets;
    char kind; /* of the targets */
    const double *weights; /* or NULL */
    const char *keys;
    Py_ssize_t key_size;
    int64_t n_keys;
    const double *theta; /* (keys, coefficients) */
    const char *groups;
    Py_ssize_t group_size;
    int64_t first_group, n_groups, rows;
    double *sums; /* (coefficients, groups, keys), from the first group on */
} GroupGradientArgs;

typedef struct {
    int good;
    int32_t low, high;
} IntegerRange;

typedef union {
    double number;
    uint64_t bits;
} DoubleBits;

/* Whether all keys are valid, and whether they are sorted. */
typedef struct {
    int good, ascend;
} KeyCheck;

/* A difference fits 32 bits if the higher bits are 0 once this is added. */
#define BEYOND ((uint64_t)1 << 31)

/* Beyond it consecutive integers are not distinct as doubles. */
#define LARGEST_LOGIT 0x1p53
