/* The loops over rows, once for each instruction set. Sums over CHUNK_ROWS rows are added up, so that rounding
   errors hardly grow with the number of rows. */

#include "vectors.h"

#include "loop_bins.h"
#include "loop_cells.h"
#include "loop_compare.h"
#include "loop_keys.h"
#include "loop_per_class.h"
#include "loop_proba.h"
#include "loop_group_gradients.h"
#include "loop_sums.h"

/* exp and log of arrays, for tests. */
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
