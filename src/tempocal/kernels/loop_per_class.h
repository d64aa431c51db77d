/* Sums of a softmax whose classes have coefficients of their own.

   With d_kl = w p_k (1{k = l} - p_l), the block of the Hessian for the classes k and l is the sum of
   d_kl x_k x_l' over the rows. Where all classes see the same x, it is symmetric in itself and the
   same for l and k: so all blocks are one product of two matrices, pairs of classes by rows and rows
   by pairs of features, with a quarter of the numbers of the Hessian.

   Some rows are taken at a time, so that all that is made of them stays in the cache. */

#define SOME 256
/* Sums that are held in registers at once. */
#define TALL (LANES == 8 ? 4 : 3)
#define WIDE (LANES == 8 ? 6 : 4)
#define UP(n, step) (((n) + (step) - 1) / (step) * (step))
#define PAIRS(n) ((n) * ((n) + 1) / 2)
#define AT(table, row, column) (*(NAME(doubles) *)((table) + (row) * SOME + (column)))
#define SUM(sums, place) (*(NAME(doubles) *)((sums) + (place) * LANES))

/* Tables of SOME columns, with a row for each feature, class, or pair of them; and sums by lane. */
typedef struct {
    double *seen, *p, *pull, *bends, *squares;
    double *gradient, *hessian;
    int64_t gradient_size, hessian_size;
    int64_t length; /* columns in use, up to the last whole vector */
    int wrong;
} NAME(Space);

/* Read some rows, and turn them into probabilities and weighted probabilities; return their loss.
   Rows that are not there have no weight. */
static double NAME(softmax_some)(const Rows *rows, const PerClass *model, const double *theta,
                                 int64_t first, int64_t count, NAME(Space) *space) {
    const int64_t classes = model->classes, width = model->width, features = rows->count;
    const int in_line = rows->step == (rows->single ? 4 : 8);
    double *const p = space->p;
    vec loss = {0};
    for (int64_t at = 0; at < space->length; at += LANES) {
        const int64_t left = count - at < LANES ? count - at : LANES;
        vec top = (vec){0} - HUGE_VAL, total = {0}, own = {0};
        int64_t row[LANES];
        NAME(find)(rows, first + at, left, row);
        for (int64_t f = 0; f < features; f++)
            AT(space->seen, f, at) = in_line ? load(rows->x + f * rows->stride, rows->single, first + at, left)
                                             : NAME(gather)(rows, f, row);
        for (int64_t k = 0; k < classes; k++) {
            const double *slopes = theta + k * width;
            vec eta = (vec){0} + slopes[width - 1];
            if (model->is_diagonal) eta += slopes[0] * AT(space->seen, k, at);
            else
                for (int64_t f = 0; f < features; f++) eta += slopes[f] * AT(space->seen, f, at);
            AT(p, k, at) = eta;
            top = NAME(larger)(top, eta);
        }
        for (int64_t i = 0; i < left; i++) {
            const uint64_t label = (uint64_t)rows->labels[row[i]];
            if (label < (uint64_t)classes) own[i] = p[(int64_t)label * SOME + at + i];
            else space->wrong = NO_SUCH_CLASS;
        }
        for (int64_t k = 0; k < classes; k++) {
            AT(p, k, at) = NAME(exp)(AT(p, k, at) - top);
            total += AT(p, k, at);
        }
        const vec weight = NAME(weigh)(rows, row, left);
        loss += weight * ((top - own) + NAME(log)(total));
        const vec inverse = 1.0 / total;
        for (int64_t k = 0; k < classes; k++) {
            AT(p, k, at) *= inverse;
            AT(space->pull, k, at) = weight * AT(p, k, at);
        }
    }
    return NAME(sum)(loss);
}

/* Turn weighted probabilities into weighted derivatives of the loss by the linear predictors. */
static void NAME(take_labels)(const Rows *rows, int64_t first, int64_t count, double *pull) {
    for (int64_t i = first; i < first + count; i++)
        pull[rows->labels[i] * SOME + i - first] -= rows->weights ? rows->weights[i] : 1.0;
}

/* Add the products of all pairs of rows of two tables, (m, SOME) and (n, SOME), to (m, n) sums. */
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

/* The Hessian of classes that see all features. */
static void NAME(add_full)(const PerClass *model, const NAME(Space) *space) {
    const int64_t classes = model->classes, width = model->width, length = space->length;
    double *bends = space->bends, *squares = space->squares;
    for (int64_t k = 0; k < classes; k++)
        for (int64_t l = 0; l <= k; l++, bends += SOME)
            for (int64_t at = 0; at < length; at += LANES) {
                vec weighted = AT(space->pull, k, at);
                AT(bends, 0, at) = (k == l ? weighted : (vec){0}) - weighted * AT(space->p, l, at);
            }
    for (int64_t i = 0; i < width; i++)
        for (int64_t j = 0; j <= i; j++, squares += SOME)
            for (int64_t at = 0; at < length; at += LANES)
                AT(squares, 0, at) = AT(space->seen, i, at) * AT(space->seen, j, at);
    NAME(add_products)(space->bends, UP(PAIRS(classes), TALL), space->squares,
                       UP(PAIRS(width), WIDE), length, space->hessian);
}

/* Gradient and Hessian of classes that see their own feature only, and a constant. */
static void NAME(add_diagonal_gradient)(const PerClass *model, const NAME(Space) *space) {
    for (int64_t k = 0; k < model->classes; k++) {
        vec slope = {0}, bias = {0};
        for (int64_t at = 0; at < space->length; at += LANES) {
            slope += AT(space->pull, k, at) * AT(space->seen, k, at);
            bias += AT(space->pull, k, at);
        }
        SUM(space->gradient, 2 * k) += slope;
        SUM(space->gradient, 2 * k + 1) += bias;
    }
}

static void NAME(add_diagonal)(const PerClass *model, const NAME(Space) *space) {
    double *sums = space->hessian;
    for (int64_t k = 0; k < model->classes; k++)
        for (int64_t l = 0; l <= k; l++, sums += 4 * LANES) {
            vec both = {0}, one = {0}, other = {0}, biases = {0};
            for (int64_t at = 0; at < space->length; at += LANES) {
                vec weighted = AT(space->pull, k, at), x = AT(space->seen, k, at);
                vec bend = (k == l ? weighted : (vec){0}) - weighted * AT(space->p, l, at);
                both += bend * x * AT(space->seen, l, at);
                one += bend * x;
                other += bend * AT(space->seen, l, at);
                biases += bend;
            }
            SUM(sums, 0) += both;
            SUM(sums, 1) += one;
            SUM(sums, 2) += other;
            SUM(sums, 3) += biases;
        }
}

/* Add up the lanes of sums; the results come to lie one after the other. */
static void NAME(join_lanes)(double *sums, int64_t size) {
    for (int64_t i = 0; i < size; i++) sums[i] = NAME(sum)(SUM(sums, i));
}

/* Put the sums of a key in their places. */
static void NAME(write_out)(const PerClass *model, const NAME(Space) *space, double *gradient,
                            double *hessian) {
    const int64_t classes = model->classes, width = model->width, size = classes * width;
    const int64_t columns = model->is_diagonal ? 2 : UP(width, WIDE);
    const int64_t square = model->is_diagonal ? 4 : UP(PAIRS(width), WIDE);
    NAME(join_lanes)(space->gradient, space->gradient_size);
    for (int64_t k = 0; k < classes; k++)
        for (int64_t i = 0; i < width; i++) gradient[k * width + i] = space->gradient[k * columns + i];
    if (!hessian) return;
    NAME(join_lanes)(space->hessian, space->hessian_size);
    for (int64_t k = 0; k < classes; k++)
        for (int64_t l = 0; l <= k; l++) {
            const double *sums = space->hessian + (PAIRS(k) + l) * square;
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
                                int64_t first, int64_t end, NAME(Space) *space, double *loss,
                                double *gradient, double *hessian) {
    const int64_t classes = model->classes, width = model->width;
    memset(space->gradient, 0, 8 * LANES * (size_t)space->gradient_size);
    if (hessian) memset(space->hessian, 0, 8 * LANES * (size_t)space->hessian_size);
    *loss = 0.0;
    for (; first < end; first += SOME) {
        const int64_t count = end - first < SOME ? end - first : SOME;
        space->length = UP(count, LANES);
        *loss += NAME(softmax_some)(rows, model, theta, first, count, space);
        if (space->wrong) return;
        if (hessian) (model->is_diagonal ? NAME(add_diagonal) : NAME(add_full))(model, space);
        NAME(take_labels)(rows, first, count, space->pull);
        if (model->is_diagonal) NAME(add_diagonal_gradient)(model, space);
        else
            NAME(add_products)(space->pull, UP(classes, TALL), space->seen, UP(width, WIDE),
                               space->length, space->gradient);
    }
    NAME(write_out)(model, space, gradient, hessian);
}

/* Returns what is wrong. */
static int NAME(per_class)(const Rows *rows, const PerClass *model, const Keys *keys, Found *found) {
    const int64_t classes = model->classes, width = model->width, size = classes * width;
    const int full = !model->is_diagonal, second = found->hessian != NULL;
    const int64_t features = UP(rows->count + 1, WIDE), pulls = UP(classes, TALL);
    const int64_t bends = second && full ? UP(PAIRS(classes), TALL) : 0;
    const int64_t squares = second && full ? UP(PAIRS(width), WIDE) : 0;
    NAME(Space) space = {
        .gradient_size = full ? pulls * features : size,
        .hessian_size = second ? (full ? bends * squares : 4 * PAIRS(classes)) : 0,
    };
    const int64_t tables = SOME * (features + classes + pulls + bends + squares);
    const int64_t sums = LANES * (space.gradient_size + space.hessian_size);
    /* Rows of a table that only fill it up stay 0. */
    char *memory = calloc(8 * (size_t)(tables + sums) + 64, 1);
    if (!memory) return NO_ROOM;
    space.seen = (double *)(memory + (64 - (uintptr_t)memory % 64) % 64);
    space.p = space.seen + SOME * features;
    space.pull = space.p + SOME * classes;
    space.bends = space.pull + SOME * pulls;
    space.squares = space.bends + SOME * bends;
    space.gradient = space.squares + SOME * squares;
    space.hessian = space.gradient + LANES * space.gradient_size;
    for (int64_t i = 0; i < SOME; i++) space.seen[SOME * rows->count + i] = 1.0;
    for (int64_t key = 0; key < keys->count; key++)
        NAME(per_class_key)(rows, model, keys->theta + key * size, keys->starts[key],
                            keys->starts[key + 1], &space, found->loss + key,
                            found->gradient + key * size,
                            second ? found->hessian + key * size * size : NULL);
    free(memory);
    return space.wrong;
}

#undef SOME
#undef TALL
#undef WIDE
#undef UP
#undef PAIRS
#undef AT
#undef SUM
