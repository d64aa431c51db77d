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

/* The same from scale * logit + bias. Return which logits are NaN or too large. */
INLINE ivec NAME(sigmoid_some)(vec logit, vec scale, vec bias, int64_t count, double *pairs) {
    vec product = scale * logit;
    ROUNDED(product);
    NAME(both_classes)(product + bias, count, pairs);
    return ~((vec)((ivec)logit & INT64_MAX) <= LARGEST_LOGIT);
}

INLINE int NAME(sigmoid_rows)(const SigmoidArgs args, int single, int own_scale, int own_bias) {
    vec scale = (vec){0} + *(const double *)args.scale, bias = (vec){0} + *(const double *)args.bias;
    int64_t any = 0, at = 0;
    ivec odd = {0};
#define SOME(count) \
    if (own_scale) scale = load(args.scale, 0, at, count); \
    if (own_bias) bias = load(args.bias, 0, at, count); \
    odd |= NAME(sigmoid_some)(load(args.logits, single, at, count), scale, bias, count, args.out + 2 * at)
    for (; at + LANES <= args.rows; at += LANES) { SOME(LANES); }
    if (at < args.rows) { SOME(args.rows - at); }
#undef SOME
    for (int i = 0; i < LANES; i++) any |= odd[i];
    return !any;
}

static int NAME(sigmoid)(const SigmoidArgs *args) {
#define SIGMOID(S, B) (args->single ? NAME(sigmoid_rows)(*args, 1, S, B) : NAME(sigmoid_rows)(*args, 0, S, B))
    if (args->own_scale) return args->own_bias ? SIGMOID(1, 1) : SIGMOID(1, 0);
    return args->own_bias ? SIGMOID(0, 1) : SIGMOID(0, 0);
#undef SIGMOID
}

/* Logits of one class, which are `classes` apart in memory. */
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

/* Probabilities of all classes from scaled logits; `each` is a buffer of one vector per class. Return which logits
   are NaN or too large. */
INLINE ivec NAME(probabilities_some)(const SoftmaxArgs *of, int single, int64_t row, int64_t count, vec *each) {
    const int64_t classes = of->classes, first = row * classes;
    double *out = of->out + first;
    vec top = (vec){0} - HUGE_VAL, total = {0};
    ivec odd = {0};
    for (int64_t k = 0; k < classes; k++) {
        vec logit = NAME(column)(of->logits, single, first + k, classes, count);
        vec z = of->scale * logit;
        ROUNDED(z);
        /* NaN is never the top, but its exponential is NaN, and so is the total. */
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

INLINE int NAME(probabilities_rows)(const SoftmaxArgs of, int single, vec *each) {
    int64_t any = 0, at = 0;
    ivec odd = {0};
    for (; at + LANES <= of.rows; at += LANES)
        odd |= NAME(probabilities_some)(&of, single, at, LANES, each);
    if (at < of.rows) odd |= NAME(probabilities_some)(&of, single, at, of.rows - at, each);
    for (int i = 0; i < LANES; i++) any |= odd[i];
    return !any;
}

/* Return -1 if there is no memory. */
static int NAME(softmax)(const SoftmaxArgs *of) {
    char *memory = malloc(sizeof(vec) * ((size_t)of->classes + 1));
    if (!memory) return -1;
    vec *each = (vec *)(memory + -(uintptr_t)memory % sizeof(vec));
    int found = of->single ? NAME(probabilities_rows)(*of, 1, each) : NAME(probabilities_rows)(*of, 0, each);
    free(memory);
    return found;
}
