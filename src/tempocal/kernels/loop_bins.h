/* Bins of the calibration error, of two classes. */

/* Labels and the most probable class cannot be predicted by the processor, so there is no branch on them. The
   bins of a block of rows are computed first; if one of the rows is invalid or close to an edge, the block is left
   to `bin_rows`.

   A double near 3 * 2^31 has 20 binary digits after the point. So the bits of that number plus the confidence
   in units of bins are the bin and the position within the bin. They increase with the confidence: a negative
   difference from the lowest or to the highest means that it is out of range. */
INLINE int NAME(bin_some)(const BinTask *of, int64_t columns, int single, int narrow, int is_top) {
    enum { SOME = 64, WITHIN = 20 };
    const vec bins = (vec){0} + (double)of->bins, from = (vec){0} + 0x1.8p32;
    const uvec lowest = (uvec)from, highest = (uvec)(from + bins);
    const ivec sign = (ivec){0} + INT64_MIN, one = (ivec){0} + 1;
    ivec seconds = {0};
    int64_t counted = 0, at = 0;
    for (; at + SOME <= of->rows; at += SOME) {
        double sure[SOME];
        int64_t index[SOME];
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
            ivec outcome = is_top ? label ^ (is_second & one) ^ one : label;
            ivec cell = ((ivec)(digits >> (WITHIN - 1)) & 0xfffffffe) | outcome;
            others |= label;
            ones += label;
            memcpy(sure + i, &confidence, sizeof confidence);
            memcpy(index + i, &cell, sizeof cell);
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
        for (int64_t i = 0; i < SOME; i += TABLES)
            for (int64_t k = 0; k < TABLES; k++)
                of->tables[2 * k * of->bins + index[i + k]] += (Two){1.0, sure[i + k]};
    }
    for (int k = 0; k < LANES; k++) {
        of->class_counts[1] += seconds[k];
        counted -= seconds[k];
    }
    of->class_counts[0] += counted;
    return bin_rows(of, at, of->rows);
}

static int NAME(bin_pairs)(const BinTask *of) {
    if (of->columns == 1 && !of->single && !of->narrow)
        return of->is_top ? NAME(bin_some)(of, 1, 0, 0, 1) : NAME(bin_some)(of, 1, 0, 0, 0);
    if (of->columns == 2 && !of->single && !of->narrow && of->is_top)
        return NAME(bin_some)(of, 2, 0, 0, 1);
    return NAME(bin_some)(of, of->columns, of->single, of->narrow, of->is_top);
}
