/* Sums of losses and derivatives over the rows of each key, of binary models and of softmax with one
   coefficient; and a search for one coefficient of each key. */

/* log(2 cosh(eta / 2)) with eta = theta . x, and its derivatives by theta up to some order, added up
   over the rows of one key. `x` is an array of shape (p, rows). */
INLINE void NAME(even_rows)(const Rows *rows, int64_t first, int64_t end, const double *theta,
                            int p, int weighted, int order, double *loss, double *gradient,
                            double *hessian) {
    const int pairs = p * (p + 1) / 2;
    const ivec sign = (ivec){0} + INT64_MIN;
    for (int64_t at = first; at < end;) {
        int64_t stop = at + FEW < end ? at + FEW : end;
        vec size = {0}, logs = {0}, product = (vec){0} + 1.0, g[MOST], h[MOST * (MOST + 1) / 2];
        for (int i = 0; i < p; i++) g[i] = (vec){0};
        for (int i = 0; i < pairs; i++) h[i] = (vec){0};
        for (; at < stop; at += LANES) {
            int64_t count = stop - at < LANES ? stop - at : LANES;
            vec x[MOST], eta = {0};
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
                /* Rows that are not there have eta = 0, and would count as log 2. */
                if (count < LANES) total = NAME(choose)(NAME(there)(count), total, (vec){0} + 1.0);
                product *= total;
            }
            if (order == 0) continue;
            vec inverse = 1.0 / (1.0 + small);
            vec slope = (vec)((ivec)(inverse - 0.5) | ((ivec)eta & sign));
            vec bend = small * inverse * inverse;
            if (weighted) {
                slope *= weight;
                bend *= weight;
            }
            for (int i = 0; i < p; i++) {
                g[i] += slope * x[i];
                if (order == 2)
                    for (int j = 0; j <= i; j++) h[i * (i + 1) / 2 + j] += bend * x[i] * x[j];
            }
        }
        *loss += (weighted ? NAME(sum)(logs) : log(NAME(product)(product))) - 0.5 * NAME(sum)(size);
        if (order > 0)
            for (int i = 0; i < p; i++) gradient[i] += NAME(sum)(g[i]);
        if (order == 2)
            for (int i = 0; i < pairs; i++) hessian[i] += NAME(sum)(h[i]);
    }
}

/* Softmax of theta z over the classes: its loss, and the derivatives; returns what is wrong. z is measured
   from the class of the highest theta z, where it is 0: so no exponent is above 0, however they are rounded.
   `z` is room for that, of LANES rows. */
INLINE int NAME(shared_rows)(const Rows *rows, int64_t first, int64_t end, double theta, int weighted,
                             vec *z, double *found) {
    const int64_t classes = rows->count;
    /* A product of so many totals, each at most the number of classes, does not overflow. */
    const int64_t few = LANES * (FEW / LANES / (1 + (int64_t)log2((double)classes)));
    int wrong = 0;
    for (int64_t at = first; at < end;) {
        int64_t stop = at + few < end ? at + few : end;
        vec loss = {0}, slope = {0}, bend = {0}, product = (vec){0} + 1.0;
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
                else wrong = NO_SUCH_CLASS;
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
            vec own = -theta * at_label, pull = mean - at_label;
            if (weighted || count < LANES) {
                const vec weight = NAME(weigh)(rows, row, count);
                own *= weight;
                pull *= weight;
                variance *= weight;
                if (weighted) own += weight * NAME(log)(total);
                /* Rows that are not there count as one class. */
                else total = NAME(choose)(NAME(there)(count), total, (vec){0} + 1.0);
            }
            loss += own;
            if (!weighted) product *= total;
            slope += pull;
            bend += variance;
        }
        found[0] += NAME(sum)(loss) + (weighted ? 0.0 : log(NAME(product)(product)));
        found[1] += NAME(sum)(slope);
        found[2] += NAME(sum)(bend);
    }
    return wrong;
}

static void NAME(even)(const Rows *rows, const Keys *keys, Found *found) {
    const int p = (int)rows->count, weighted = rows->weights != NULL;
    const int order = found->hessian ? 2 : found->gradient ? 1 : 0;
    for (int64_t key = 0; key < keys->count; key++) {
        int64_t first = keys->starts[key], end = keys->starts[key + 1];
        const double *theta = keys->theta + key * p;
        double *loss = found->loss + key, *gradient = order ? found->gradient + key * p : NULL;
        *loss = 0.0;
        for (int i = 0; order && i < p; i++) gradient[i] = 0.0;
        double hessian[MOST * (MOST + 1) / 2] = {0};
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

INLINE Place NAME(look)(const Rows *rows, const Pulled *pulled, int64_t key, int64_t first,
                              int64_t end, double theta) {
    const double away = theta - pulled->identity[key];
    Place place = {theta, 0.0, 0.0, 0.0};
    if (rows->weights)
        NAME(even_rows)(rows, first, end, &theta, 1, 1, 2, &place.value, &place.slope, &place.bend);
    else
        NAME(even_rows)(rows, first, end, &theta, 1, 0, 2, &place.value, &place.slope, &place.bend);
    place.value += pulled->linear[key] * theta + 0.5 * pulled->pull[key] * away * away;
    place.slope += pulled->linear[key] + pulled->pull[key] * away;
    place.bend += pulled->pull[key];
    return place;
}

/* Newton's method for one coefficient of each key, whose rows stay in the cache meanwhile. Where it
   comes to no end, the coefficient is what it was, or 0 if that is better. Where nothing pulls and the
   last step is long, by the curvature at the start, the end may be none: so it is where classes are
   separated, and a step promises less and less. */
static void NAME(descend)(const Rows *rows, const Pulled *pulled, const Keys *keys, double *found,
                          char *doubts) {
    for (int64_t key = 0; key < keys->count; key++) {
        const int64_t first = keys->starts[key], end = keys->starts[key + 1];
        const double lower = pulled->lower[key];
        double weight = (double)(end - first), share = 1.0;
        if (rows->weights) {
            weight = 0.0;
            for (int64_t i = first; i < end; i++) weight += rows->weights[i];
        }
        const double start = keys->theta[key] > lower ? keys->theta[key] : lower;
        Place place = NAME(look)(rows, pulled, key, first, end, start);
        const double away = pulled->identity[key], nothing = lower > 0.0 ? lower : 0.0;
        if (place.value > weight * OF_NOTHING + 0.5 * pulled->pull[key] * away * away
            || place.slope * place.slope > 2.0 * SATURATED * place.bend * place.value)
            place = NAME(look)(rows, pulled, key, first, end, nothing);
        const double farthest = TOO_FAR * (fabs(place.theta) > 1.0 ? fabs(place.theta) : 1.0);
        const double bend = place.bend;
        found[key] = place.theta;
        doubts[key] = 0;
        for (int looks = 0; looks < MOST_LOOKS && place.bend > 0.0; looks++) {
            double next = place.theta - share * place.slope / place.bend;
            next = next > lower ? next : lower;
            if (!(fabs(next) < farthest)) break;
            const double step = next - place.theta;
            if (-step * (place.slope + 0.5 * place.bend * step) <= CLOSE * weight) {
                found[key] = next;
                doubts[key] = pulled->pull[key] == 0.0 && step * step * bend > DOUBTFUL * weight;
                break;
            }
            const Place trial = NAME(look)(rows, pulled, key, first, end, next);
            share = trial.value <= place.value ? 1.0 : 0.25 * share;
            if (trial.value <= place.value) place = trial;
        }
    }
}

static int NAME(shared)(const Rows *rows, const Keys *keys, Found *found) {
    char *memory = malloc(sizeof(vec) * (size_t)(rows->count + 1));
    if (!memory) return NO_ROOM;
    vec *room = (vec *)(memory + (sizeof(vec) - (uintptr_t)memory % sizeof(vec)));
    int wrong = 0;
    for (int64_t key = 0; key < keys->count; key++) {
        const int64_t first = keys->starts[key], end = keys->starts[key + 1];
        const double theta = keys->theta[key];
        double sums[3] = {0};
        if (rows->weights) wrong |= NAME(shared_rows)(rows, first, end, theta, 1, room, sums);
        else wrong |= NAME(shared_rows)(rows, first, end, theta, 0, room, sums);
        found->loss[key] = sums[0];
        found->gradient[key] = sums[1];
        if (found->hessian) found->hessian[key] = sums[2];
    }
    free(memory);
    return wrong;
}
