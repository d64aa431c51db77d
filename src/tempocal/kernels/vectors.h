/* Vectors of doubles in plain C, by the vector extensions of GCC and Clang: one source for every instruction set.
   This file is included once for each of them, with LANES doubles in a register and NAME() to distinguish the
   functions. */

typedef double NAME(vec) __attribute__((vector_size(8 * LANES)));
typedef uint64_t NAME(uvec) __attribute__((vector_size(8 * LANES)));
typedef int64_t NAME(ivec) __attribute__((vector_size(8 * LANES)));
#define vec NAME(vec)
#define ivec NAME(ivec)
#define uvec NAME(uvec)

/* Unaligned vectors in memory. */
typedef double NAME(doubles) __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
typedef float NAME(floats) __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

/* Load `count` numbers; the other lanes are 0. */
INLINE vec NAME(load)(const char *numbers, int single, int64_t first, int64_t count) {
    if (count == LANES && single)
        return __builtin_convertvector(*(const NAME(floats) *)(numbers + 4 * first), vec);
    if (count == LANES) return *(const NAME(doubles) *)(numbers + 8 * first);
    vec read = {0};
    for (int i = 0; i < count; i++)
        read[i] = single ? ((const float *)numbers)[first + i] : ((const double *)numbers)[first + i];
    return read;
}
#define load NAME(load)

/* A feature of `count` rows, which may be apart in memory; padding repeats the first row. */
INLINE vec NAME(gather)(const Rows *rows, int64_t feature, int64_t first, int64_t count) {
    const char *x = rows->x + feature * rows->stride + first * rows->step;
    vec read;
    for (int i = 0; i < LANES; i++) {
        const char *one = x + (i < count ? i : 0) * rows->step;
        read[i] = rows->single ? (double)*(const float *)one : *(const double *)one;
    }
    return read;
}

/* Their weights; padding has weight 0. */
INLINE vec NAME(weigh)(const Rows *rows, int64_t first, int64_t count) {
    if (rows->weights) return load((const char *)rows->weights, 0, first, count);
    vec weight = {0};
    for (int i = 0; i < count; i++) weight[i] = 1.0;
    return weight;
}

/* Mask of the first `count` lanes. */
INLINE ivec NAME(there)(int64_t count) {
    ivec lane = {0};
    for (int i = 0; i < LANES; i++) lane[i] = i;
    return lane < count;
}

INLINE double NAME(sum)(vec v) {
    double total = v[0];
    for (int i = 1; i < LANES; i++) total += v[i];
    return total;
}

INLINE double NAME(product)(vec v) {
    double total = v[0];
    for (int i = 1; i < LANES; i++) total *= v[i];
    return total;
}

INLINE vec NAME(choose)(ivec mask, vec yes, vec no) {
    return (vec)((mask & (ivec)yes) | (~mask & (ivec)no));
}

INLINE vec NAME(larger)(vec one, vec other) {
    return NAME(choose)((one > other) | (one != one), one, other);
}

/* Interleave the first half of the lanes of two vectors, and the second half. */
#if LANES == 2
#define FRONT 0, 2
#define BACK 1, 3
#elif LANES == 4
#define FRONT 0, 4, 1, 5
#define BACK 2, 6, 3, 7
#else
#define FRONT 0, 8, 1, 9, 2, 10, 3, 11
#define BACK 4, 12, 5, 13, 6, 14, 7, 15
#endif
#if defined(__clang__)
INLINE vec NAME(front_pairs)(vec one, vec other) { return __builtin_shufflevector(one, other, FRONT); }
INLINE vec NAME(back_pairs)(vec one, vec other) { return __builtin_shufflevector(one, other, BACK); }
#else
INLINE vec NAME(front_pairs)(vec one, vec other) { return __builtin_shuffle(one, other, (ivec){FRONT}); }
INLINE vec NAME(back_pairs)(vec one, vec other) { return __builtin_shuffle(one, other, (ivec){BACK}); }
#endif
#undef FRONT
#undef BACK

/* exp(x) for x <= 709, to about 1 ulp: x = n log 2 + r with |r| <= log(2) / 2, and a polynomial of degree 11 in r
   (Chebyshev nodes; error 2e-17). Subnormal results are 0. */
INLINE vec NAME(exp)(vec x) {
    const double round = 0x1.8p52;
    vec n = x * 0x1.71547652b82fep0 + round;
    uvec power = ((uvec)n << 52) + ((uint64_t)1023 << 52);
    n -= round;
    vec r = x - n * LOG_2_HIGH - n * LOG_2_LOW;
    /* Estrin's scheme: pairs of terms, and pairs of those, so that fewer steps depend on each other. */
    vec r2 = r * r, r4 = r2 * r2;
    vec low = (0.5 + r * 0x1.5555555555556p-3) + r2 * (0x1.5555555553d63p-5 + r * 0x1.11111111109b3p-7);
    vec high = (0x1.6c16c1788bd90p-10 + r * 0x1.a01a01a7c41d5p-13)
               + r2 * (0x1.a019b90d2ae7ap-16 + r * 0x1.71de0dae63bb3p-19);
    vec q = low + r4 * (high + r4 * (0x1.289185613a3d6p-22 + r * 0x1.af38a9b0ec855p-26));
    vec result = (1.0 + (r + r2 * q)) * (vec)power;
    return (vec)((ivec)result & ~(x < -708.0)); /* NaN stays NaN */
}

/* 2 atanh(s) - 2 s, from s and w = s^2, for |s| up to (sqrt 2 - 1) / (sqrt 2 + 1). */
INLINE vec NAME(beyond)(vec s, vec w) {
    vec w2 = w * w;
    vec low = (0x1.5555555555558p-1 + w * 0x1.99999999952d7p-2)
              + w2 * (0x1.2492492df281ap-2 + w * 0x1.c71c62e3f11e6p-3);
    vec high = (0x1.7462b51cb66b1p-3 + w * 0x1.39fe51a7c18f9p-3) + w2 * 0x1.2b5900de53b32p-3;
    return s * w * (low + w2 * w2 * high);
}

/* log(x) for normal x > 0: x = 2^n m with m around 1, and log m = 2 atanh((m - 1) / (m + 1)). */
INLINE vec NAME(log)(vec x) {
    const int64_t below = 0x3fe6a09e667f3bcd; /* sqrt(1/2) */
    ivec bits = (ivec)x - below;
    ivec power = bits & ~INT64_C(0xfffffffffffff);
    /* Convert integers to doubles by adding them to the bits of 1.5 * 2^52. */
    vec n = (vec)((ivec)((power >> 52) + 0x4338000000000000)) - 0x1.8p52;
    vec m = (vec)((ivec)x - power);
    vec s = (m - 1.0) / (m + 1.0);
    return n * LOG_2_HIGH + (2.0 * s + (NAME(beyond)(s, s * s) + n * LOG_2_LOW));
}

/* 2 atanh(s) for |s| up to 1/3: a polynomial of degree 9 in its square (Chebyshev nodes; error 7e-18). */
INLINE vec NAME(twice_atanh)(vec s) {
    vec w = s * s, w2 = w * w, w4 = w2 * w2;
    vec low = (0x1.5555555555555p-1 + w * 0x1.999999999a3dfp-2)
              + w2 * (0x1.24924923d422cp-2 + w * 0x1.c71c727164156p-3);
    vec high = (0x1.745cf0aa6a011p-3 + w * 0x1.3b18b34a260a3p-3)
               + w2 * (0x1.10ac6a3d3e5f6p-3 + w * 0x1.eb913ba3ef69ep-4);
    vec last = 0x1.687604d0c86a1p-4 + w * 0x1.4b0ed4be611b2p-3;
    return 2.0 * s + s * w * (low + w4 * (high + w4 * last));
}
