/* Counts of keys, integer codes of times, and the minimum and maximum of numbers. */

/* Check the range and the order of keys, in a loop that compilers vectorize. */
INLINE KeyCheck NAME(check_keys)(const char *keys, Py_ssize_t size, int64_t first, int64_t end, uint64_t n_keys) {
#define CHECK(type) \
    const type *of = (const type *)keys; \
    type top = of[first], falls = first > 0 && of[first] < of[first - 1], below = of[first] < 0; \
    for (int64_t i = first + 1; i < end; i++) { \
        top = of[i] > top ? of[i] : top; \
        falls |= of[i] < of[i - 1]; \
        below |= of[i] < 0; \
    } \
    return (KeyCheck) { !below && (uint64_t)top < n_keys, !falls }
    if (size == 2) { CHECK(uint16_t); }
    if (size == 4) { CHECK(int32_t); }
    CHECK(int64_t);
#undef CHECK
}

/* Count rows by key. With few keys consecutive rows use different tables, since an increment would often have to
   wait for the previous one of the same key. */
INLINE KeyCheck NAME(count_some)(const char *keys, Py_ssize_t size, int64_t n, int64_t *counts, uint64_t n_keys) {
    enum { AT_ONCE = 4096, FEW_KEYS = 512 };
    int64_t few[3][FEW_KEYS] = {{0}};
    KeyCheck found = {1, 1};
    for (int64_t at = 0; at < n; at += AT_ONCE) {
        const int64_t end = at + AT_ONCE < n ? at + AT_ONCE : n;
        const KeyCheck some = NAME(check_keys)(keys, size, at, end, n_keys);
        found.ascend &= some.ascend;
        if (!some.good) return (KeyCheck){0, 0};
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

static KeyCheck NAME(count_rows)(const char *keys, Py_ssize_t size, int64_t n, int64_t *counts, uint64_t n_keys) {
#define COUNT(size) NAME(count_some)(keys, size, n, counts, n_keys)
    return BY_SIZE(size, COUNT);
#undef COUNT
}

/* Subtract the first of integers; return whether all differences fit 31 bits. The first is within 2^53, so that a
   difference that overflows does not become a small one. */
INLINE int NAME(subtract_from_ints)(const int64_t *values, int64_t first, Py_ssize_t n, int32_t *since) {
    uint64_t wrong = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        const uint64_t far = (uint64_t)values[i] - (uint64_t)first;
        since[i] = (int32_t)far;
        wrong |= (far + BEYOND) >> 32;
    }
    return !wrong;
}

/* The same for doubles. Adding 1.5 * 2^52 rounds to an integer, which is then in the low bits. What is too large,
   and NaN, changes higher bits. All operations are on 64 bits, so that compilers vectorize the loop. */
INLINE int NAME(subtract_from_doubles)(const double *values, double first, Py_ssize_t n, int32_t *since) {
    const DoubleBits shift = {0x1.8p52};
    uint64_t wrong = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        const double far = values[i] - first;
        const DoubleBits shifted = {far + shift.number}, rest = {shifted.number - shift.number - far};
        const DoubleBits lost = {far + first - values[i]}; /* detects a fraction that the subtraction rounds away */
        const uint64_t code = shifted.bits - shift.bits;
        since[i] = (int32_t)code;
        wrong |= (code + BEYOND) >> 32 | (rest.bits | lost.bits) << 1; /* the shift drops the sign of zero */
    }
    return !wrong;
}

INLINE void NAME(update_min_max)(const int32_t *since, Py_ssize_t n, IntegerRange *found) {
    int32_t low = found->low, high = found->high;
    for (Py_ssize_t i = 0; i < n; i++) {
        low = since[i] < low ? since[i] : low;
        high = since[i] > high ? since[i] : high;
    }
    found->low = low;
    found->high = high;
}

static IntegerRange NAME(code_rows)(const char *values, int are_doubles, double first, Py_ssize_t n, char *codes, Py_ssize_t size) {
    enum { ROWS = 1024 };
    int32_t since[ROWS];
    IntegerRange found = {1, INT32_MAX, INT32_MIN};
    for (Py_ssize_t start = 0; start < n && found.good; start += ROWS) {
        const Py_ssize_t count = start + ROWS < n ? ROWS : n - start;
        const void *some = values + 8 * start;
        found.good = are_doubles ? NAME(subtract_from_doubles)(some, first, count, since)
                                 : NAME(subtract_from_ints)(some, (int64_t)first, count, since);
        NAME(update_min_max)(since, count, &found);
        if (size == 4) memcpy(codes + 4 * start, since, 4 * (size_t)count);
        else
            for (Py_ssize_t i = 0; i < count; i++) ((uint16_t *)codes)[start + i] = (uint16_t)since[i];
    }
    return found;
}

/* Minimum, maximum and sum of at least one number; minimum and maximum are NaN if there is one. Independent lanes
   hide latency, and compilers vectorize them. */
#define MIN_MAX(name, type, sum_type) \
    static void NAME(name)(const type *x, int64_t n, type *min_max) { \
        enum { SOME = 4 * LANES }; \
        type low[SOME], high[SOME]; \
        sum_type sum[SOME] = {0}; \
        int64_t odd[SOME] = {0}, at = 0; \
        for (int i = 0; i < SOME; i++) low[i] = high[i] = x[0]; \
        for (; at + SOME <= n; at += SOME) \
            for (int i = 0; i < SOME; i++) { \
                const type one = x[at + i]; \
                low[i] = one < low[i] ? one : low[i]; \
                high[i] = one > high[i] ? one : high[i]; \
                odd[i] |= one != one; \
                sum[i] += (sum_type)one; \
            } \
        for (; at < n; at++) { \
            low[0] = x[at] < low[0] ? x[at] : low[0]; \
            high[0] = x[at] > high[0] ? x[at] : high[0]; \
            odd[0] |= x[at] != x[at]; \
            sum[0] += (sum_type)x[at]; \
        } \
        for (int i = 1; i < SOME; i++) { \
            low[0] = low[i] < low[0] ? low[i] : low[0]; \
            high[0] = high[i] > high[0] ? high[i] : high[0]; \
            odd[0] |= odd[i]; \
            sum[0] += sum[i]; \
        } \
        min_max[0] = odd[0] ? (type)NAN : low[0]; \
        min_max[1] = odd[0] ? (type)NAN : high[0]; \
        min_max[2] = (type)sum[0]; \
    }
MIN_MAX(double_min_max, double, double)
MIN_MAX(float_min_max, float, float)
MIN_MAX(int_min_max, int64_t, uint64_t)
#undef MIN_MAX
