/* The loops over rows. Sums are taken over FEW rows first and then added up, so that rounding
   errors do not grow with the number of rows. */

#include "vectors.h"

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
                weight = load(rows->weights, 0, at, count);
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

/* Softmax of theta z over the classes, z of shape (classes, rows): its loss, and the derivatives.
   z is measured from the top class, where it is 0, and theta is not negative: so no exponent is
   above 0, however they are rounded. */
INLINE void NAME(shared_rows)(const Rows *rows, int64_t first, int64_t end, double theta,
                              int weighted, double *found) {
    /* A product of so many totals, each at most the number of classes, does not overflow. */
    const int64_t few = LANES * (FEW / LANES / (1 + (int64_t)log2((double)rows->count)));
    for (int64_t at = first; at < end;) {
        int64_t stop = at + few < end ? at + few : end;
        vec loss = {0}, slope = {0}, bend = {0}, product = (vec){0} + 1.0;
        for (; at < stop; at += LANES) {
            int64_t count = stop - at < LANES ? stop - at : LANES;
            vec total = {0}, once = {0}, twice = {0};
            for (int64_t k = 0; k < rows->count; k++) {
                vec z = load(rows->x + k * rows->stride, rows->single, at, count);
                vec e = NAME(exp)(theta * z);
                total += e;
                once += e * z;
                twice += e * z * z;
            }
            vec inverse = 1.0 / total, mean = once * inverse;
            vec variance = NAME(larger)(twice * inverse - mean * mean, (vec){0});
            vec at_label = load(rows->labels, 0, at, count);
            vec own = -theta * at_label, pull = mean - at_label;
            if (weighted) {
                vec weight = load(rows->weights, 0, at, count);
                loss += weight * (own + NAME(log)(total));
                slope += weight * pull;
                bend += weight * variance;
            } else {
                if (count < LANES) total = NAME(choose)(NAME(there)(count), total, (vec){0} + 1.0);
                loss += own;
                product *= total;
                slope += pull;
                bend += variance;
            }
        }
        found[0] += NAME(sum)(loss) + (weighted ? 0.0 : log(NAME(product)(product)));
        found[1] += NAME(sum)(slope);
        found[2] += NAME(sum)(bend);
    }
}

static void NAME(even)(const Rows *rows, const Keys *keys, Found *found) {
    const int p = (int)rows->count, weighted = rows->weights != NULL;
    const int order = found->hessian ? 2 : found->gradient ? 1 : 0;
    for (int64_t key = 0; key < keys->count; key++) {
        int64_t first = keys->starts[key], end = keys->starts[key + 1];
        const double *theta = keys->theta + key * p;
        double *loss = found->loss + key, *gradient = order ? found->gradient + key * p : NULL;
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
            for (int64_t i = first; i < end; i++) weight += ((const double *)rows->weights)[i];
        }
        const double start = keys->theta[key] > lower ? keys->theta[key] : lower;
        Place place = NAME(look)(rows, pulled, key, first, end, start);
        const double away = pulled->identity[key], nothing = lower > 0.0 ? lower : 0.0;
        if (place.value > weight * OF_NOTHING + 0.5 * pulled->pull[key] * away * away)
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

static void NAME(shared)(const Rows *rows, const Keys *keys, Found *found) {
    for (int64_t key = 0; key < keys->count; key++) {
        int64_t first = keys->starts[key], end = keys->starts[key + 1];
        double sums[3] = {0};
        if (rows->weights) NAME(shared_rows)(rows, first, end, keys->theta[key], 1, sums);
        else NAME(shared_rows)(rows, first, end, keys->theta[key], 0, sums);
        found->loss[key] = sums[0];
        found->gradient[key] = sums[1];
        if (found->hessian) found->hessian[key] = sums[2];
    }
}

#include "per_class.h"

/* With a the log-odds against the true class, a loss is log(1 + exp(-|a|)) + max(a, 0). `sums` are
   those of the losses before and after, of the gains, and of their squares. */
INLINE void NAME(compare_rows)(const Compared *of, int64_t first, int64_t n, const double *after,
                               int weighted, double *gains, double *sums) {
    const ivec sign = (ivec){0} + INT64_MIN;
    vec loss = {0}, left = {0}, gain = {0}, square = {0}, one_product = (vec){0} + 1.0, other_product = one_product;
    for (int64_t at = 0; at < n; at += LANES) {
        const int64_t count = n - at < LANES ? n - at : LANES;
        ivec is_second = {0};
        if (count == LANES) memcpy(&is_second, of->labels + first + at, sizeof is_second);
        else for (int i = 0; i < count; i++) is_second[i] = of->labels[first + at + i];
        is_second <<= 63;
        const ivec one = (ivec)load((const char *)of->before, 0, first + at, count) ^ is_second;
        const ivec other = (ivec)load((const char *)after, 0, at, count) ^ is_second;
        /* max(., 0), without a comparison. */
        const vec one_top = (vec)(one & ~(one >> 63)), other_top = (vec)(other & ~(other >> 63));
        const vec a = NAME(exp)((vec)(one | sign)), b = NAME(exp)((vec)(other | sign));
        /* Huge losses cancel before the small logarithm is lost in them:
           log((1 + a) / (1 + b)) = 2 atanh((a - b) / (2 + a + b)), whatever their size. */
        const vec gained = (one_top - other_top) + NAME(twice_atanh)((a - b) / (2.0 + a + b));
        if (gains) memcpy(gains + first + at, &gained, 8 * (size_t)count);
        if (weighted) {
            const vec weight = load((const char *)of->weights, 0, first + at, count);
            loss += weight * (one_top + NAME(twice_atanh)(a / (2.0 + a)));
            left += weight * (other_top + NAME(twice_atanh)(b / (2.0 + b)));
            gain += weight * gained;
            square += weight * gained * gained;
        } else {
            vec one_total = 1.0 + a, other_total = 1.0 + b;
            if (count < LANES) {
                /* Rows that are not there have log-odds of 0, and would count as log 2. */
                one_total = NAME(choose)(NAME(there)(count), one_total, (vec){0} + 1.0);
                other_total = NAME(choose)(NAME(there)(count), other_total, (vec){0} + 1.0);
            }
            loss += one_top;
            left += other_top;
            one_product *= one_total;
            other_product *= other_total;
            gain += gained;
            square += gained * gained;
        }
    }
    sums[0] += NAME(sum)(loss) + (weighted ? 0.0 : log(NAME(product)(one_product)));
    sums[1] += NAME(sum)(left) + (weighted ? 0.0 : log(NAME(product)(other_product)));
    sums[2] += NAME(sum)(gain);
    sums[3] += NAME(sum)(square);
}

/* What some rows become under the number of their key; tells whether all keys are there. */
INLINE int NAME(scale_some)(const Compared *of, Py_ssize_t size, int64_t first, int64_t n, double *scaled) {
    uint64_t top = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t key = key_at(of->keys, size, first + i);
        top = key > top ? key : top;
        scaled[i] = of->after[key < of->n_keys ? key : 0] * of->before[first + i];
    }
    return top < of->n_keys;
}

static int NAME(compare)(const Compared *of, int64_t n, double *gains, double *sums) {
    double scaled[FEW];
    for (int64_t first = 0; first < n; first += FEW) {
        const int64_t count = n - first < FEW ? n - first : FEW;
#define SCALE(size) NAME(scale_some)(of, size, first, count, scaled)
        if (of->keys && !BY_SIZE(of->key_size, SCALE)) return 0;
#undef SCALE
        const double *after = of->keys ? scaled : of->after + first;
        if (of->weights) NAME(compare_rows)(of, first, count, after, 1, gains, sums);
        else NAME(compare_rows)(of, first, count, after, 0, gains, sums);
    }
    return 1;
}

/* Bins of two classes. No processor foresees a label, or which class is on top: there is no branch on
   them. Some rows are placed first, and where one of them is out of order or lies next to an edge,
   they are all left to `bin_rows`.

   Doubles around 3 * 2^31 end in 20 binary digits behind the point. So the digits of such a one plus a
   confidence in bins are the bin and where in the bin, and they ascend as the confidence does: what is
   negative of a difference is below or above them all. */
INLINE int NAME(bin_some)(const Binned *of, int64_t columns, int single, int narrow, int is_top) {
    enum { SOME = 64, WITHIN = 20 };
    const vec bins = (vec){0} + (double)of->bins, from = (vec){0} + 0x1.8p32;
    const uvec lowest = (uvec)from, highest = (uvec)(from + bins);
    const ivec sign = (ivec){0} + INT64_MIN, one = (ivec){0} + 1;
    ivec seconds = {0};
    int64_t counted = 0, at = 0;
    for (; at + SOME <= of->rows; at += SOME) {
        double sure[SOME];
        int64_t place[SOME];
        ivec odd = {0}, others = {0}, ones = {0};
        for (int64_t i = 0; i < SOME; i += LANES) {
            vec p, q;
            if (columns == 1) {
                p = load(of->proba, single, at + i, LANES);
                q = 1.0 - p;
            } else
                for (int k = 0; k < LANES; k++) {
                    q[k] = number_at(of->proba, single, 2 * (at + i + k));
                    p[k] = number_at(of->proba, single, 2 * (at + i + k) + 1);
                }
            ivec label;
            if (narrow)
                for (int k = 0; k < LANES; k++) label[k] = ((const unsigned char *)of->labels)[at + i + k];
            else memcpy(&label, of->labels + 8 * (at + i), sizeof label);
            if (columns == 2) {
                odd |= ~((p >= 0.0) & (p <= 1.0) & (q >= 0.0) & (q <= 1.0));
                odd |= ~((vec)((ivec)(p + q - 1.0) & ~sign) <= 0.99e-3);
            }
            ivec is_second = p > q;
            vec confidence = is_top ? NAME(choose)(is_second, p, q) : p;
            uvec digits = (uvec)(confidence * bins + from), within = digits & ((1 << WITHIN) - 1);
            odd |= (ivec)(digits | (digits - lowest) | (highest - digits) | (within - 1));
            ivec came = is_top ? label ^ (is_second & one) ^ one : label;
            ivec cell = ((ivec)(digits >> (WITHIN - 1)) & 0xfffffffe) | came;
            others |= label;
            ones += label;
            memcpy(sure + i, &confidence, sizeof confidence);
            memcpy(place + i, &cell, sizeof cell);
        }
        int64_t any = 0;
        odd = (odd & sign) | (others & ~one);
        for (int k = 0; k < LANES; k++) any |= odd[k];
        if (any) {
            if (!bin_rows(of, at, at + SOME)) return 0;
            continue;
        }
        seconds += ones;
        counted += SOME;
        for (int64_t i = 0; i < SOME; i += TURNS)
            for (int64_t k = 0; k < TURNS; k++)
                of->tables[2 * k * of->bins + place[i + k]] += (Two){1.0, sure[i + k]};
    }
    for (int k = 0; k < LANES; k++) {
        of->seen[1] += seconds[k];
        counted -= seconds[k];
    }
    of->seen[0] += counted;
    return bin_rows(of, at, of->rows);
}

static int NAME(bin_pairs)(const Binned *of) {
    if (of->columns == 1 && !of->single && !of->narrow)
        return of->is_top ? NAME(bin_some)(of, 1, 0, 0, 1) : NAME(bin_some)(of, 1, 0, 0, 0);
    if (of->columns == 2 && !of->single && !of->narrow && of->is_top)
        return NAME(bin_some)(of, 2, 0, 0, 1);
    return NAME(bin_some)(of, of->columns, of->single, of->narrow, of->is_top);
}

/* Probabilities of both classes, (count, 2), from log-odds. */
INLINE void NAME(both_classes)(vec eta, int64_t count, double *pairs) {
    vec small = NAME(exp)((vec)((ivec)eta | INT64_MIN)), more = 1.0 / (1.0 + small);
    vec less = small * more;
    vec first = NAME(choose)(eta >= 0.0, less, more), second = NAME(choose)(eta >= 0.0, more, less);
    if (count == LANES) {
        *(NAME(doubles) *)pairs = NAME(front_pairs)(first, second);
        *(NAME(doubles) *)(pairs + LANES) = NAME(back_pairs)(first, second);
    } else
        for (int i = 0; i < count; i++) {
            pairs[2 * i] = first[i];
            pairs[2 * i + 1] = second[i];
        }
}

/* The same from scale * logit + bias. Tells which logits are not numbers within the largest. */
INLINE ivec NAME(line_some)(vec logit, vec scale, vec bias, int64_t count, double *pairs) {
    vec product = scale * logit;
    ROUNDED(product);
    NAME(both_classes)(product + bias, count, pairs);
    return ~((vec)((ivec)logit & INT64_MAX) <= LARGEST_LOGIT);
}

INLINE int NAME(line_rows)(const Line line, int single, int own_scale, int own_bias) {
    vec scale = (vec){0} + *(const double *)line.scale, bias = (vec){0} + *(const double *)line.bias;
    int64_t any = 0, at = 0;
    ivec odd = {0};
#define SOME(count) \
    if (own_scale) scale = load(line.scale, 0, at, count); \
    if (own_bias) bias = load(line.bias, 0, at, count); \
    odd |= NAME(line_some)(load(line.logits, single, at, count), scale, bias, count, line.out + 2 * at)
    for (; at + LANES <= line.rows; at += LANES) { SOME(LANES); }
    if (at < line.rows) { SOME(line.rows - at); }
#undef SOME
    for (int i = 0; i < LANES; i++) any |= odd[i];
    return !any;
}

static int NAME(sigmoid)(const Line *line) {
#define LINE(S, B) (line->single ? NAME(line_rows)(*line, 1, S, B) : NAME(line_rows)(*line, 0, S, B))
    if (line->own_scale) return line->own_bias ? LINE(1, 1) : LINE(1, 0);
    return line->own_bias ? LINE(0, 1) : LINE(0, 0);
#undef LINE
}

/* One class of some rows: their logits lie `classes` apart. */
INLINE vec NAME(column)(const char *numbers, int single, int64_t first, int64_t classes, int64_t count) {
#define OF(i) number_at(numbers, single, first + (i) * classes)
#if LANES == 2
    if (count == LANES) return (vec){OF(0), OF(1)};
#elif LANES == 4
    if (count == LANES) return (vec){OF(0), OF(1), OF(2), OF(3)};
#else
    if (count == LANES) return (vec){OF(0), OF(1), OF(2), OF(3), OF(4), OF(5), OF(6), OF(7)};
#endif
    vec read = {0};
    for (int i = 0; i < count; i++) read[i] = OF(i);
#undef OF
    return read;
}

/* Probabilities of all classes of some rows from scaled logits; `each` has room for a vector a class.
   Tells which logits are not numbers within the largest. */
INLINE ivec NAME(scaled_some)(const Scaled *of, int single, int64_t row, int64_t count, vec *each) {
    const int64_t classes = of->classes, first = row * classes;
    double *out = of->out + first;
    vec top = (vec){0} - HUGE_VAL, total = {0};
    ivec odd = {0};
    for (int64_t k = 0; k < classes; k++) {
        vec logit = NAME(column)(of->logits, single, first + k, classes, count);
        vec z = of->scale * logit;
        ROUNDED(z);
        /* NaN is no top, and need not be: its exponential is NaN, and so is the total. */
        top = NAME(choose)(z > top, z, top);
        odd |= ~((vec)((ivec)logit & INT64_MAX) <= LARGEST_LOGIT);
        each[k] = z;
    }
    for (int64_t k = 0; k < classes; k++) {
        each[k] = NAME(exp)(each[k] - top);
        total += each[k];
    }
    for (int64_t k = 0; k < classes; k++) {
        vec share = each[k] / total;
        if (count == LANES) for (int i = 0; i < LANES; i++) out[i * classes + k] = share[i];
        else for (int i = 0; i < count; i++) out[i * classes + k] = share[i];
    }
    return odd;
}

INLINE int NAME(scaled_rows)(const Scaled of, int single, vec *each) {
    int64_t any = 0, at = 0;
    ivec odd = {0};
    for (; at + LANES <= of.rows; at += LANES)
        odd |= NAME(scaled_some)(&of, single, at, LANES, each);
    if (at < of.rows) odd |= NAME(scaled_some)(&of, single, at, of.rows - at, each);
    for (int i = 0; i < LANES; i++) any |= odd[i];
    return !any;
}

/* -1 if there is no room. */
static int NAME(softmax)(const Scaled *of) {
    char *room = malloc(sizeof(vec) * ((size_t)of->classes + 1));
    if (!room) return -1;
    vec *each = (vec *)(room + -(uintptr_t)room % sizeof(vec));
    int found = of->single ? NAME(scaled_rows)(*of, 1, each) : NAME(scaled_rows)(*of, 0, each);
    free(room);
    return found;
}

/* How many rows lie in each narrow cell of their size; one more cell is for those beyond. */
INLINE void NAME(count_narrow)(const char *x, int single, int64_t n, double scale, double beyond,
                               uint16_t *counts) {
    enum { AT_ONCE = 256 };
    int32_t cells[AT_ONCE];
    for (int64_t at = 0; at < n; at += AT_ONCE) {
        const int count = n - at < AT_ONCE ? (int)(n - at) : AT_ONCE;
        for (int i = 0; i < count; i++) {
            const double place = fabs(number_at(x, single, at + i)) * scale;
            cells[i] = (int32_t)(place < beyond ? place : beyond);
        }
        for (int i = 0; i < count; i++) counts[cells[i]]++;
    }
}

/* Sums over rows of weight 1 in at most MOST_CELLS cells of their size. */
static void NAME(count_moments)(const char *x, int single, int64_t n, double scale, int64_t cells,
                                Four *sums) {
    const double width = 1.0 / (scale * NARROW), beyond = (double)(cells * NARROW);
    const double narrow = scale * NARROW; /* a power of two: the cells end where those of others end */
    uint16_t counts[MOST_CELLS * NARROW + 1];
    memset(counts, 0, (size_t)(cells * NARROW + 1) * sizeof *counts);
    if (single) NAME(count_narrow)(x, 1, n, narrow, beyond, counts);
    else NAME(count_narrow)(x, 0, n, narrow, beyond, counts);
    for (int64_t cell = 0; cell < cells; cell++) {
        const uint16_t *own = counts + cell * NARROW;
        int32_t number = 0, once = 0, twice = 0; /* at most MOST_ROWS * NARROW^2 */
        for (int32_t k = 0; k < NARROW; k++) {
            number += own[k];
            once += own[k] * k;
            twice += own[k] * (k * k);
        }
        /* Measured from the middle of the first narrow cell; and the spread within each. */
        const double rows = number, mean = once, from = (double)(cell * NARROW) + 0.5;
        const double squares = twice + 2.0 * from * mean + rows * (from * from + 1.0 / 12.0);
        sums[cell] += (Four){rows, width * (mean + rows * from), width * width * squares, rows};
    }
}

/* Number, size, square and (1/2 - label) x of rows in cells of their size, under the key of each; the last
   cell of a key is for rows beyond. Tells whether all keys are there. */
INLINE int NAME(cell_rows)(const Celled *of, Py_ssize_t size) {
    enum { AT_ONCE = 256 };
    const double beyond = (double)(of->cells - 1);
    int32_t cells[AT_ONCE];
    uint64_t top = 0;
    for (int64_t at = 0; at < of->rows; at += AT_ONCE) {
        const int count = of->rows - at < AT_ONCE ? (int)(of->rows - at) : AT_ONCE;
        const double *x = of->x + at;
        for (int i = 0; i < count; i++) {
            const double place = fabs(x[i]) * of->scale;
            cells[i] = (int32_t)(place < beyond ? place : beyond);
        }
        for (int i = 0; i < count; i++) {
            const uint64_t key = key_at(of->keys, size, at + i);
            const double far = fabs(x[i]);
            top = key > top ? key : top;
            of->sums[(key < of->n_keys ? key : 0) * (uint64_t)of->cells + (uint64_t)cells[i]] +=
                (Four){1.0, far, far * far, (0.5 - (double)of->labels[at + i]) * x[i]};
        }
    }
    return top < of->n_keys;
}

static int NAME(cells_by_key)(const Celled *of) {
#define CELL(size) NAME(cell_rows)(of, size)
    return BY_SIZE(of->key_size, CELL);
#undef CELL
}

/* Look at keys, which compilers do several at a time; what is no key is above all that there are. */
INLINE Counted NAME(look_at_keys)(const char *keys, Py_ssize_t size, int64_t first, int64_t end, uint64_t n_keys) {
#define LOOK(type) \
    const type *of = (const type *)keys; \
    type top = of[first], falls = first > 0 && of[first] < of[first - 1], below = of[first] < 0; \
    for (int64_t i = first + 1; i < end; i++) { \
        top = of[i] > top ? of[i] : top; \
        falls |= of[i] < of[i - 1]; \
        below |= of[i] < 0; \
    } \
    return (Counted) { !below && (uint64_t)top < n_keys, !falls }
    if (size == 2) { LOOK(uint16_t); }
    if (size == 4) { LOOK(int32_t); }
    LOOK(int64_t);
#undef LOOK
}

/* Rows of each key. Where keys are few, rows take turns at tables, for the same key often comes again
   before it is counted. */
INLINE Counted NAME(count_some)(const char *keys, Py_ssize_t size, int64_t n, int64_t *counts, uint64_t n_keys) {
    enum { AT_ONCE = 4096, FEW_KEYS = 512 };
    int64_t few[3][FEW_KEYS] = {{0}};
    Counted found = {1, 1};
    for (int64_t at = 0; at < n; at += AT_ONCE) {
        const int64_t end = at + AT_ONCE < n ? at + AT_ONCE : n;
        const Counted some = NAME(look_at_keys)(keys, size, at, end, n_keys);
        found.ascend &= some.ascend;
        if (!some.good) return (Counted){0, 0};
        int64_t i = at;
        if (n_keys <= FEW_KEYS)
            for (; i + 4 <= end; i += 4) {
                counts[key_at(keys, size, i)]++;
                for (int k = 0; k < 3; k++) few[k][key_at(keys, size, i + k + 1)]++;
            }
        for (; i < end; i++) counts[key_at(keys, size, i)]++;
    }
    for (uint64_t key = 0; key < n_keys && key < FEW_KEYS; key++)
        counts[key] += few[0][key] + few[1][key] + few[2][key];
    return found;
}

static Counted NAME(count_rows)(const char *keys, Py_ssize_t size, int64_t n, int64_t *counts, uint64_t n_keys) {
#define COUNT(size) NAME(count_some)(keys, size, n, counts, n_keys)
    return BY_SIZE(size, COUNT);
#undef COUNT
}

/* How far whole numbers are from the first; return whether all of them are, within 31 bits. The first
   is not beyond 2**53, from where no difference of integers wraps around to a near one. */
INLINE int NAME(since_whole)(const int64_t *values, int64_t first, Py_ssize_t n, int32_t *since) {
    uint64_t wrong = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        const uint64_t far = (uint64_t)values[i] - (uint64_t)first;
        since[i] = (int32_t)far;
        wrong |= (far + BEYOND) >> 32;
    }
    return !wrong;
}

/* Beside 1.5 * 2**52 a double has no digits but those of a whole number, the last of its bits. What is
   too large for that, and NaN, has others in the bits before them. All of it in words of one size, for
   compilers to do several at once. */
INLINE int NAME(since_double)(const double *values, double first, Py_ssize_t n, int32_t *since) {
    const Both beside = {0x1.8p52};
    uint64_t wrong = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        const double far = values[i] - first;
        const Both moved = {far + beside.number}, rest = {moved.number - beside.number - far};
        const Both lost = {far + first - values[i]}; /* of a number too small to be told from the first */
        const uint64_t code = moved.bits - beside.bits;
        since[i] = (int32_t)code;
        wrong |= (code + BEYOND) >> 32 | (rest.bits | lost.bits) << 1; /* but for the sign of zero */
    }
    return !wrong;
}

INLINE void NAME(look_at_ends)(const int32_t *since, Py_ssize_t n, Whole *found) {
    int32_t low = found->low, high = found->high;
    for (Py_ssize_t i = 0; i < n; i++) {
        low = since[i] < low ? since[i] : low;
        high = since[i] > high ? since[i] : high;
    }
    found->low = low;
    found->high = high;
}

static Whole NAME(code_rows)(const char *values, int are_doubles, double first, Py_ssize_t n, char *codes, Py_ssize_t size) {
    enum { ROWS = 1024 };
    int32_t since[ROWS];
    Whole found = {1, INT32_MAX, INT32_MIN};
    for (Py_ssize_t start = 0; start < n && found.good; start += ROWS) {
        const Py_ssize_t count = start + ROWS < n ? ROWS : n - start;
        const void *some = values + 8 * start;
        found.good = are_doubles ? NAME(since_double)(some, first, count, since)
                                 : NAME(since_whole)(some, (int64_t)first, count, since);
        NAME(look_at_ends)(since, count, &found);
        if (size == 4) memcpy(codes + 4 * start, since, 4 * (size_t)count);
        else
            for (Py_ssize_t i = 0; i < count; i++) ((uint16_t *)codes)[start + i] = (uint16_t)since[i];
    }
    return found;
}

/* (1/2 - label) x, added up over rows whose labels are 0 or 1. */
static double NAME(pull)(const char *x, int single, const int64_t *labels, int64_t n) {
    double total = 0.0;
    for (int64_t at = 0; at < n;) {
        int64_t stop = at + FEW < n ? at + FEW : n;
        vec halves = {0};
        for (; at < stop; at += LANES) {
            int64_t count = stop - at < LANES ? stop - at : LANES;
            ivec is_second = {0};
            if (count == LANES) memcpy(&is_second, labels + at, sizeof is_second);
            else for (int i = 0; i < count; i++) is_second[i] = labels[at + i];
            halves += (vec)((ivec)load(x, single, at, count) ^ (is_second << 63));
        }
        total += 0.5 * NAME(sum)(halves);
    }
    return total;
}

/* The lowest and the highest of at least one number; of floats NaN if there is one. Several at once, so
   that no comparison waits for the one before; compilers make vectors of it. */
#define ENDS(name, type) \
    static void NAME(name)(const type *x, int64_t n, type *ends) { \
        enum { SOME = 4 * LANES }; \
        type low[SOME], high[SOME]; \
        int64_t odd[SOME] = {0}, at = 0; \
        for (int i = 0; i < SOME; i++) low[i] = high[i] = x[0]; \
        for (; at + SOME <= n; at += SOME) \
            for (int i = 0; i < SOME; i++) { \
                const type one = x[at + i]; \
                low[i] = one < low[i] ? one : low[i]; \
                high[i] = one > high[i] ? one : high[i]; \
                odd[i] |= one != one; \
            } \
        for (; at < n; at++) { \
            low[0] = x[at] < low[0] ? x[at] : low[0]; \
            high[0] = x[at] > high[0] ? x[at] : high[0]; \
            odd[0] |= x[at] != x[at]; \
        } \
        for (int i = 1; i < SOME; i++) { \
            low[0] = low[i] < low[0] ? low[i] : low[0]; \
            high[0] = high[i] > high[0] ? high[i] : high[0]; \
            odd[0] |= odd[i]; \
        } \
        ends[0] = odd[0] ? (type)NAN : low[0]; \
        ends[1] = odd[0] ? (type)NAN : high[0]; \
    }
ENDS(double_ends, double)
ENDS(float_ends, float)
ENDS(whole_ends, int64_t)
#undef ENDS

/* exp of every number: what the tests hold the loops to. */
static void NAME(exponential)(const double *x, int64_t n, double *out) {
    for (int64_t at = 0; at < n; at += LANES) {
        int64_t count = n - at < LANES ? n - at : LANES;
        vec e = NAME(exp)(load((const char *)x, 0, at, count));
        memcpy(out + at, &e, 8 * (size_t)count);
    }
}

static void NAME(logarithm)(const double *x, int64_t n, double *out) {
    for (int64_t at = 0; at < n; at += LANES) {
        int64_t count = n - at < LANES ? n - at : LANES;
        vec e = NAME(log)(load((const char *)x, 0, at, count));
        memcpy(out + at, &e, 8 * (size_t)count);
    }
}

#undef LANES
#undef NAME
#undef vec
#undef ivec
#undef uvec
#undef load
