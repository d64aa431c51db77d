/* Losses of binary rows before and after calibration. */

/* With a the log-odds against the true class, a loss is log(1 + exp(-|a|)) + max(a, 0). `sums` are
   those of the losses before and after, of the gains, and of their squares. */
INLINE void NAME(compare_rows)(const CompareArgs *of, int64_t first, int64_t n, const double *after,
                               int single, int weighted, double *gains, double *sums) {
    const ivec sign = (ivec){0} + INT64_MIN;
    vec loss = {0}, left = {0}, gain = {0}, square = {0}, one_product = (vec){0} + 1.0, other_product = one_product;
    for (int64_t at = 0; at < n; at += LANES) {
        const int64_t count = n - at < LANES ? n - at : LANES;
        ivec is_second = {0};
        if (count == LANES) memcpy(&is_second, of->labels + first + at, sizeof is_second);
        else for (int i = 0; i < count; i++) is_second[i] = of->labels[first + at + i];
        is_second <<= 63;
        const ivec one = (ivec)load(of->before, single, first + at, count) ^ is_second;
        const ivec other = (ivec)load((const char *)after, 0, at, count) ^ is_second;
        /* max(., 0), without a comparison. */
        const vec one_top = (vec)(one & ~(one >> 63)), other_top = (vec)(other & ~(other >> 63));
        const vec a = NAME(exp)((vec)(one | sign)), b = NAME(exp)((vec)(other | sign));
        /* Large terms are subtracted first, so that the small logarithms are not rounded away:
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
                /* Padding has log-odds of 0, and would add log 2. */
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

/* Multiply logits by the factor of their key; return whether all keys are valid. */
INLINE int NAME(scale_some)(const CompareArgs *of, Py_ssize_t size, int64_t first, int64_t n, double *scaled) {
    uint64_t top = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t key = key_at(of->keys, size, first + i);
        top = key > top ? key : top;
        scaled[i] = of->after[key < of->n_keys ? key : 0] * number_at(of->before, of->single, first + i);
    }
    return top < of->n_keys;
}

static int NAME(compare)(const CompareArgs *of, int64_t n, double *gains, double *sums) {
    double scaled[CHUNK_ROWS];
    for (int64_t first = 0; first < n; first += CHUNK_ROWS) {
        const int64_t count = n - first < CHUNK_ROWS ? n - first : CHUNK_ROWS;
#define SCALE(size) NAME(scale_some)(of, size, first, count, scaled)
        if (of->keys && !BY_SIZE(of->key_size, SCALE)) return 0;
#undef SCALE
        const double *after = of->keys ? scaled : of->after + first;
#define COMPARE(single, weighted) NAME(compare_rows)(of, first, count, after, single, weighted, gains, sums)
        if (of->single) of->weights ? COMPARE(1, 1) : COMPARE(1, 0);
        else of->weights ? COMPARE(0, 1) : COMPARE(0, 0);
#undef COMPARE
    }
    return 1;
}
