/* Sums of losses and derivatives by key, for binary models and for softmax with one coefficient. */

/* Sum log(2 cosh(eta / 2)) with eta = theta . x, and its derivatives by theta up to `order`, over the rows of one
   key. `x` is of shape (p, rows). */
INLINE void NAME(even_rows)(const Rows *rows, int64_t first, int64_t end, const double *theta,
                            int p, int weighted, int order, double *loss, double *gradient,
                            double *hessian) {
    const int pairs = p * (p + 1) / 2;
    const ivec sign = (ivec){0} + INT64_MIN;
    for (int64_t at = first; at < end;) {
        int64_t stop = at + CHUNK_ROWS < end ? at + CHUNK_ROWS : end;
        vec size = {0}, logs = {0}, product = (vec){0} + 1.0;
        vec g[MAX_COEFFICIENTS], h[MAX_COEFFICIENTS * (MAX_COEFFICIENTS + 1) / 2];
        for (int i = 0; i < p; i++) g[i] = (vec){0};
        for (int i = 0; i < pairs; i++) h[i] = (vec){0};
        for (; at < stop; at += LANES) {
            int64_t count = stop - at < LANES ? stop - at : LANES;
            vec x[MAX_COEFFICIENTS], eta = {0};
            for (int i = 0; i < p; i++) {
                x[i] = load(rows->x + i * rows->stride, rows->single, at, count);
                eta += theta[i] * x[i];
            }
            vec below = (vec)((ivec)eta | sign);
            vec small = NAME(exp)(below), total = 1.0 + small, weight = {0};
            if (weighted) {
                weight = load((const char *)rows->weights, 0, at, count);
                size += weight * below;
                logs += weight * NAME(log)(total);
            } else {
                size += below;
                /* Padding has eta = 0, and would add log 2. */
                if (count < LANES) total = NAME(choose)(NAME(there)(count), total, (vec){0} + 1.0);
                product *= total;
            }
            if (order == 0) continue;
            vec inverse = 1.0 / (1.0 + small);
            vec slope = (vec)((ivec)(inverse - 0.5) | ((ivec)eta & sign));
            vec curvature = small * inverse * inverse;
            if (weighted) {
                slope *= weight;
                curvature *= weight;
            }
            for (int i = 0; i < p; i++) {
                g[i] += slope * x[i];
                if (order == 2)
                    for (int j = 0; j <= i; j++) h[i * (i + 1) / 2 + j] += curvature * x[i] * x[j];
            }
        }
        *loss += (weighted ? NAME(sum)(logs) : log(NAME(product)(product))) - 0.5 * NAME(sum)(size);
        if (order > 0)
            for (int i = 0; i < p; i++) gradient[i] += NAME(sum)(g[i]);
        if (order == 2)
            for (int i = 0; i < pairs; i++) hessian[i] += NAME(sum)(h[i]);
    }
}

/* Sum the loss of softmax(theta z) and its derivatives; return error flags. The z of the class of the highest
   theta z is subtracted, so that no exponent is above 0, however it is rounded. `z` is a buffer for LANES rows. */
INLINE int NAME(shared_rows)(const Rows *rows, int64_t first, int64_t end, double theta, int weighted,
                             vec *z, double *found) {
    const int64_t classes = rows->count;
    /* A product of this many totals, each at most the number of classes, does not overflow. */
    const int64_t few = LANES * (CHUNK_ROWS / LANES / (1 + (int64_t)log2((double)classes)));
    int wrong = 0;
    for (int64_t at = first; at < end;) {
        int64_t stop = at + few < end ? at + few : end;
        vec loss = {0}, slope = {0}, curvature = {0}, product = (vec){0} + 1.0;
        for (; at < stop; at += LANES) {
            const int64_t count = stop - at < LANES ? stop - at : LANES;
            int64_t row[LANES];
            NAME(find)(rows, at, count, row);
            vec top = z[0] = NAME(gather)(rows, 0, row);
            for (int64_t k = 1; k < classes; k++) {
                z[k] = NAME(gather)(rows, k, row);
                top = theta < 0.0 ? -NAME(larger)(-top, -z[k]) : NAME(larger)(top, z[k]);
            }
            vec total = {0}, once = {0}, twice = {0}, at_label = {0};
            for (int i = 0; i < LANES; i++) {
                const uint64_t label = (uint64_t)rows->labels[row[i]];
                if (label < (uint64_t)classes) at_label[i] = ((const double *)(z + label))[i];
                else wrong = UNKNOWN_CLASS;
            }
            at_label -= top;
            for (int64_t k = 0; k < classes; k++) {
                const vec from_top = z[k] - top, e = NAME(exp)(theta * from_top);
                total += e;
                once += e * from_top;
                twice += e * from_top * from_top;
            }
            vec inverse = 1.0 / total, mean = once * inverse;
            vec variance = NAME(larger)(twice * inverse - mean * mean, (vec){0});
            vec own = -theta * at_label, residual = mean - at_label;
            if (weighted || count < LANES) {
                const vec weight = NAME(weigh)(rows, row, count);
                own *= weight;
                residual *= weight;
                variance *= weight;
                if (weighted) own += weight * NAME(log)(total);
                /* Padding has a total of 1, whose log is 0. */
                else total = NAME(choose)(NAME(there)(count), total, (vec){0} + 1.0);
            }
            loss += own;
            if (!weighted) product *= total;
            slope += residual;
            curvature += variance;
        }
        found[0] += NAME(sum)(loss) + (weighted ? 0.0 : log(NAME(product)(product)));
        found[1] += NAME(sum)(slope);
        found[2] += NAME(sum)(curvature);
    }
    return wrong;
}

static void NAME(even)(const Rows *rows, const Keys *keys, SumArrays *found) {
    const int p = (int)rows->count, weighted = rows->weights != NULL;
    const int order = found->hessian ? 2 : found->gradient ? 1 : 0;
    for (int64_t key = 0; key < keys->count; key++) {
        int64_t first = keys->starts[key], end = keys->starts[key + 1];
        const double *theta = keys->theta + key * p;
        double *loss = found->loss + key, *gradient = order ? found->gradient + key * p : NULL;
        *loss = 0.0;
        for (int i = 0; order && i < p; i++) gradient[i] = 0.0;
        double hessian[MAX_COEFFICIENTS * (MAX_COEFFICIENTS + 1) / 2] = {0};
#define EVEN(P, W, O) \
    NAME(even_rows)(rows, first, end, theta, P, W, O, loss, gradient, hessian)
#define EVEN_OR(P, W) (order == 2 ? EVEN(P, W, 2) : order ? EVEN(P, W, 1) : EVEN(P, W, 0))
#define EVEN_OF(P) (weighted ? EVEN_OR(P, 1) : EVEN_OR(P, 0))
        if (p == 1) EVEN_OF(1);
        else if (p == 2) EVEN_OF(2);
        else EVEN_OF(3);
#undef EVEN_OF
#undef EVEN_OR
#undef EVEN
        if (order == 2)
            for (int i = 0; i < p; i++)
                for (int j = 0; j < p; j++)
                    found->hessian[(key * p + i) * p + j] =
                        hessian[i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i];
    }
}

static int NAME(shared)(const Rows *rows, const Keys *keys, SumArrays *found) {
    char *memory = malloc(sizeof(vec) * (size_t)(rows->count + 1));
    if (!memory) return NO_MEMORY;
    vec *buffer = (vec *)(memory + (sizeof(vec) - (uintptr_t)memory % sizeof(vec)));
    int wrong = 0;
    for (int64_t key = 0; key < keys->count; key++) {
        const int64_t first = keys->starts[key], end = keys->starts[key + 1];
        const double theta = keys->theta[key];
        double sums[3] = {0};
        if (rows->weights) wrong |= NAME(shared_rows)(rows, first, end, theta, 1, buffer, sums);
        else wrong |= NAME(shared_rows)(rows, first, end, theta, 0, buffer, sums);
        found->loss[key] = sums[0];
        found->gradient[key] = sums[1];
        if (found->hessian) found->hessian[key] = sums[2];
    }
    free(memory);
    return wrong;
}
