/* Whole numbers: keys that are counted, times that become keys; and the ends of any numbers. */

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

/* The lowest and the highest of at least one number, of floats NaN if there is one, and the sum of all.
   Several at once, so that none waits for the one before; compilers make vectors of it. */
#define ENDS(name, type, sum_type) \
    static void NAME(name)(const type *x, int64_t n, type *ends) { \
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
        ends[0] = odd[0] ? (type)NAN : low[0]; \
        ends[1] = odd[0] ? (type)NAN : high[0]; \
        ends[2] = (type)sum[0]; \
    }
ENDS(double_ends, double, double)
ENDS(float_ends, float, float)
ENDS(whole_ends, int64_t, uint64_t)
#undef ENDS
