/* What the loops are given. */

typedef struct {
    const char *x; /* (count, rows): features are `stride` bytes apart, and rows `step` */
    int64_t count, stride, step;
    int single; /* whether x has floats, not doubles */
    const double *weights; /* or NULL */
    const int64_t *labels; /* codes of classes; none of a binary model */
    const uint32_t *order; /* which rows come first, second, ...; or NULL: as they lie */
} Rows;

/* What may be wrong with sums over rows. */
#define NO_ROOM 1
#define NO_SUCH_CLASS 2

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
    const char *before; /* of each row */
    int single; /* whether these are floats, not doubles */
    const double *after; /* of each row; or, of each key, what the one is multiplied by */
    const char *keys; /* or NULL */
    Py_ssize_t key_size;
    uint64_t n_keys;
    const int64_t *labels;
    const double *weights; /* or NULL */
} Compared;

typedef struct {
    const char *x;
    int single; /* whether it has floats, not doubles */
    const int64_t *labels; /* or NULL */
    const double *weights; /* or NULL */
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

#define KEY_KINDS "Hilq"

/* Do it for keys of each size, known when it is compiled. */
#define BY_SIZE(size, call) ((size) == 2 ? call(2) : (size) == 4 ? call(4) : call(8))

/* Targets are doubles, booleans, or whole numbers 0 and 1, by their kind. */
INLINE double target_at(const char *targets, char kind, int64_t i) {
    if (kind == 'd') return ((const double *)targets)[i];
    return kind == '?' ? targets[i] : (double)((const int64_t *)targets)[i];
}

typedef struct {
    const char *x; /* (coefficients, rows), a row of it `stride` bytes after the one before */
    int64_t coefficients, stride;
    int single; /* whether x has floats, not doubles */
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
    double *sums; /* (coefficients, groups, keys), of groups from the first one on */
} Scored;

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
