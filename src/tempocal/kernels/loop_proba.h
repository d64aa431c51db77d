/* Probabilities from logits. */

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
