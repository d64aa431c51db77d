/* Sums of a softmax with several coefficients per class.

   With d_kl = w p_k (1{k = l} - p_l), the block of the Hessian for the classes k and l is the sum of
   d_kl x_k x_l' over the rows. If all classes use the same x, it is symmetric and the same for (l, k):
   so all blocks are one product of two matrices, (pairs of classes, rows) and (rows, pairs of features),
   with a quarter of the entries of the Hessian.

   Rows are processed in blocks whose tables stay in the cache. */

#define BLOCK_ROWS 256
/* Rows and columns of the tile of sums that is kept in registers. */
#define TALL (LANES == 8 ? 4 : 3)
#define WIDE (LANES == 8 ? 6 : 4)
#define UP(n, step) (((n) + (step) - 1) / (step) * (step))
#define PAIRS(n) ((n) * ((n) + 1) / 2)
#define AT(table, row, column) (*(NAME(doubles) *)((table) + (row) * BLOCK_ROWS + (column)))
#define SUM(sums, index) (*(NAME(doubles) *)((sums) + (index) * LANES))

/* Tables with a column for each row of the block, and a row for each feature, class, or pair of them; and sums by
   lane. */
typedef struct {
    double *features, *p, *residual, *curvatures, *squares;
    double *gradient, *hessian;
    int64_t gradient_size, hessian_size;
    int64_t length; /* columns in use, rounded up to full vectors */
    int wrong;
} NAME(Tables);

/* Compute features, probabilities and weighted probabilities of a block; return its loss. Padding has weight 0. */
static double NAME(softmax_some)(const Rows *rows, const PerClass *model, const double *theta,
                                 int64_t first, int64_t count, NAME(Tables) *t) {
    const int64_t classes = model->classes, width = model->width, features = rows->count;
    const int in_line = rows->step == (rows->single ? 4 : 8);
    double *const p = t->p;
    vec loss = {0};
    for (int64_t at = 0; at < t->length; at += LANES) {
        const int64_t left = count - at < LANES ? count - at : LANES;
        vec top = (vec){0} - HUGE_VAL, total = {0}, own = {0};
        for (int64_t f = 0; f < features; f++)
            AT(t->features, f, at) = in_line ? load(rows->x + f * rows->stride, rows->single, first + at, left)
                                             : NAME(gather)(rows, f, first + at, left);
        for (int64_t k = 0; k < classes; k++) {
            const double *slopes = theta + k * width;
            vec eta = (vec){0} + slopes[width - 1];
            if (model->is_diagonal) eta += slopes[0] * AT(t->features, k, at);
            else
                for (int64_t f = 0; f < features; f++) eta += slopes[f] * AT(t->features, f, at);
            AT(p, k, at) = eta;
            top = NAME(larger)(top, eta);
        }
        for (int64_t i = 0; i < left; i++) {
            const uint64_t label = (uint64_t)rows->labels[first + at + i];
            if (label < (uint64_t)classes) own[i] = p[(int64_t)label * BLOCK_ROWS + at + i];
            else t->wrong = UNKNOWN_CLASS;
        }
        for (int64_t k = 0; k < classes; k++) {
            AT(p, k, at) = NAME(exp)(AT(p, k, at) - top);
            total += AT(p, k, at);
        }
        const vec weight = NAME(weigh)(rows, first + at, left);
        loss += weight * ((top - own) + NAME(log)(total));
        const vec inverse = 1.0 / total;
        for (int64_t k = 0; k < classes; k++) {
            AT(p, k, at) *= inverse;
            AT(t->residual, k, at) = weight * AT(p, k, at);
        }
    }
    return NAME(sum)(loss);
}

/* Turn weighted probabilities into residuals: weighted derivatives of the loss by the linear predictors. */
static void NAME(subtract_labels)(const Rows *rows, int64_t first, int64_t count, double *residual) {
    for (int64_t i = first; i < first + count; i++)
        residual[rows->labels[i] * BLOCK_ROWS + i - first] -= rows->weights ? rows->weights[i] : 1.0;
}

/* Add one * other' to (m, n) sums, where the tables are (m, BLOCK_ROWS) and (n, BLOCK_ROWS). */
static void NAME(add_products)(const double *one, int64_t m, const double *other, int64_t n,
                               int64_t length, double *sums) {
    for (int64_t i = 0; i < m; i += TALL)
        for (int64_t j = 0; j < n; j += WIDE) {
            vec found[TALL][WIDE];
            for (int r = 0; r < TALL; r++)
                for (int c = 0; c < WIDE; c++) found[r][c] = (vec){0};
            for (int64_t at = 0; at < length; at += LANES) {
                vec right[WIDE];
                for (int c = 0; c < WIDE; c++) right[c] = AT(other, j + c, at);
                for (int r = 0; r < TALL; r++) {
                    vec left = AT(one, i + r, at);
                    for (int c = 0; c < WIDE; c++) found[r][c] += left * right[c];
                }
            }
            for (int r = 0; r < TALL; r++)
                for (int c = 0; c < WIDE; c++) SUM(sums, (i + r) * n + j + c) += found[r][c];
        }
}

/* Hessian of classes that use all features. */
static void NAME(add_full)(const PerClass *model, const NAME(Tables) *t) {
    const int64_t classes = model->classes, width = model->width, length = t->length;
    double *curvatures = t->curvatures, *squares = t->squares;
    for (int64_t k = 0; k < classes; k++)
        for (int64_t l = 0; l <= k; l++, curvatures += BLOCK_ROWS)
            for (int64_t at = 0; at < length; at += LANES) {
                vec weighted = AT(t->residual, k, at);
                AT(curvatures, 0, at) = (k == l ? weighted : (vec){0}) - weighted * AT(t->p, l, at);
            }
    for (int64_t i = 0; i < width; i++)
        for (int64_t j = 0; j <= i; j++, squares += BLOCK_ROWS)
            for (int64_t at = 0; at < length; at += LANES)
                AT(squares, 0, at) = AT(t->features, i, at) * AT(t->features, j, at);
    NAME(add_products)(t->curvatures, UP(PAIRS(classes), TALL), t->squares,
                       UP(PAIRS(width), WIDE), length, t->hessian);
}

/* Gradient and Hessian of classes that use their own feature only, and a constant. */
static void NAME(add_diagonal_gradient)(const PerClass *model, const NAME(Tables) *t) {
    for (int64_t k = 0; k < model->classes; k++) {
        vec slope = {0}, bias = {0};
        for (int64_t at = 0; at < t->length; at += LANES) {
            slope += AT(t->residual, k, at) * AT(t->features, k, at);
            bias += AT(t->residual, k, at);
        }
        SUM(t->gradient, 2 * k) += slope;
        SUM(t->gradient, 2 * k + 1) += bias;
    }
}

static void NAME(add_diagonal)(const PerClass *model, const NAME(Tables) *t) {
    double *sums = t->hessian;
    for (int64_t k = 0; k < model->classes; k++)
        for (int64_t l = 0; l <= k; l++, sums += 4 * LANES) {
            vec both = {0}, one = {0}, other = {0}, biases = {0};
            for (int64_t at = 0; at < t->length; at += LANES) {
                vec weighted = AT(t->residual, k, at), x = AT(t->features, k, at);
                vec curvature = (k == l ? weighted : (vec){0}) - weighted * AT(t->p, l, at);
                both += curvature * x * AT(t->features, l, at);
                one += curvature * x;
                other += curvature * AT(t->features, l, at);
                biases += curvature;
            }
            SUM(sums, 0) += both;
            SUM(sums, 1) += one;
            SUM(sums, 2) += other;
            SUM(sums, 3) += biases;
        }
}

/* Sum over lanes, in place; the results are contiguous. */
static void NAME(join_lanes)(double *sums, int64_t size) {
    for (int64_t i = 0; i < size; i++) sums[i] = NAME(sum)(SUM(sums, i));
}

/* Copy the sums of a key to the output. */
static void NAME(write_out)(const PerClass *model, const NAME(Tables) *t, double *gradient,
                            double *hessian) {
    const int64_t classes = model->classes, width = model->width, size = classes * width;
    const int64_t columns = model->is_diagonal ? 2 : UP(width, WIDE);
    const int64_t square = model->is_diagonal ? 4 : UP(PAIRS(width), WIDE);
    NAME(join_lanes)(t->gradient, t->gradient_size);
    for (int64_t k = 0; k < classes; k++)
        for (int64_t i = 0; i < width; i++) gradient[k * width + i] = t->gradient[k * columns + i];
    if (!hessian) return;
    NAME(join_lanes)(t->hessian, t->hessian_size);
    for (int64_t k = 0; k < classes; k++)
        for (int64_t l = 0; l <= k; l++) {
            const double *sums = t->hessian + (PAIRS(k) + l) * square;
            for (int64_t i = 0; i < width; i++)
                for (int64_t j = 0; j < width; j++) {
                    const int64_t pair = i >= j ? PAIRS(i) + j : PAIRS(j) + i;
                    const double sum = sums[model->is_diagonal ? 2 * i + j : pair];
                    hessian[(k * width + i) * size + l * width + j] = sum;
                    hessian[(l * width + j) * size + k * width + i] = sum;
                }
        }
}

static void NAME(per_class_key)(const Rows *rows, const PerClass *model, const double *theta,
                                int64_t first, int64_t end, NAME(Tables) *t, double *loss,
                                double *gradient, double *hessian) {
    const int64_t classes = model->classes, width = model->width;
    memset(t->gradient, 0, 8 * LANES * (size_t)t->gradient_size);
    if (hessian) memset(t->hessian, 0, 8 * LANES * (size_t)t->hessian_size);
    *loss = 0.0;
    for (; first < end; first += BLOCK_ROWS) {
        const int64_t count = end - first < BLOCK_ROWS ? end - first : BLOCK_ROWS;
        t->length = UP(count, LANES);
        *loss += NAME(softmax_some)(rows, model, theta, first, count, t);
        if (t->wrong) return;
        if (hessian) (model->is_diagonal ? NAME(add_diagonal) : NAME(add_full))(model, t);
        NAME(subtract_labels)(rows, first, count, t->residual);
        if (model->is_diagonal) NAME(add_diagonal_gradient)(model, t);
        else
            NAME(add_products)(t->residual, UP(classes, TALL), t->features, UP(width, WIDE),
                               t->length, t->gradient);
    }
    NAME(write_out)(model, t, gradient, hessian);
}

/* Return error flags. */
static int NAME(per_class)(const Rows *rows, const PerClass *model, const Keys *keys, SumArrays *found) {
    const int64_t classes = model->classes, width = model->width, size = classes * width;
    const int full = !model->is_diagonal, second = found->hessian != NULL;
    const int64_t features = UP(rows->count + 1, WIDE), residuals = UP(classes, TALL);
    const int64_t curvatures = second && full ? UP(PAIRS(classes), TALL) : 0;
    const int64_t squares = second && full ? UP(PAIRS(width), WIDE) : 0;
    NAME(Tables) t = {
        .gradient_size = full ? residuals * features : size,
        .hessian_size = second ? (full ? curvatures * squares : 4 * PAIRS(classes)) : 0,
    };
    const int64_t tables = BLOCK_ROWS * (features + classes + residuals + curvatures + squares);
    const int64_t sums = LANES * (t.gradient_size + t.hessian_size);
    /* Padding rows of the tables stay 0. */
    char *memory = calloc(8 * (size_t)(tables + sums) + 64, 1);
    if (!memory) return NO_MEMORY;
    t.features = (double *)(memory + (64 - (uintptr_t)memory % 64) % 64);
    t.p = t.features + BLOCK_ROWS * features;
    t.residual = t.p + BLOCK_ROWS * classes;
    t.curvatures = t.residual + BLOCK_ROWS * residuals;
    t.squares = t.curvatures + BLOCK_ROWS * curvatures;
    t.gradient = t.squares + BLOCK_ROWS * squares;
    t.hessian = t.gradient + LANES * t.gradient_size;
    for (int64_t i = 0; i < BLOCK_ROWS; i++) t.features[BLOCK_ROWS * rows->count + i] = 1.0;
    for (int64_t key = 0; key < keys->count; key++)
        NAME(per_class_key)(rows, model, keys->theta + key * size, keys->starts[key],
                            keys->starts[key + 1], &t, found->loss + key,
                            found->gradient + key * size,
                            second ? found->hessian + key * size * size : NULL);
    free(memory);
    return t.wrong;
}

#undef BLOCK_ROWS
#undef TALL
#undef WIDE
#undef UP
#undef PAIRS
#undef AT
#undef SUM
