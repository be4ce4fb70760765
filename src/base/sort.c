/* sort.c: least-significant-digit radix sort on the bits of doubles, 11 bits a
 * pass, passes in which all keys agree skipped. Cost O(n). */
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { DIGIT_BITS = 11, BUCKETS = 1 << DIGIT_BITS, PASSES = 6 };

/* An unsigned key in the order of the doubles: flip all bits of negatives, the
 * sign bit of the others. */
static uint64_t key_of(uint64_t bits)
{
    return bits & (UINT64_C(1) << 63) ? ~bits : bits | (UINT64_C(1) << 63);
}

static uint64_t bits_of(uint64_t key)
{
    return key & (UINT64_C(1) << 63) ? key & ~(UINT64_C(1) << 63) : ~key;
}

static void scatter(uint64_t *to, const uint64_t *from, int64_t n, int64_t *count,
                    int shift)
{
    int64_t start = 0;
    for (int b = 0; b < BUCKETS; b++) {
        int64_t c = count[b];
        count[b] = start;
        start += c;
    }
    for (int64_t i = 0; i < n; i++)
        to[count[from[i] >> shift & (BUCKETS - 1)]++] = from[i];
}

xb_status xb_sort_doubles(xb_ctx *ctx, double *x, int64_t n)
{
    int64_t(*count)[BUCKETS] = xb_new(ctx, PASSES, sizeof *count);
    uint64_t *a = xb_new(ctx, 2 * n, sizeof *a);
    if (!count || !a) {
        free(count);
        free(a);
        return XB_E_MEMORY;
    }
    uint64_t *b = a + n;
    memcpy(a, x, (size_t)n * sizeof *x);
    for (int64_t i = 0; i < n; i++) {
        a[i] = key_of(a[i]);
        for (int p = 0; p < PASSES; p++)
            count[p][a[i] >> (p * DIGIT_BITS) & (BUCKETS - 1)]++;
    }
    uint64_t *from = a, *to = b;
    for (int p = 0; p < PASSES && n > 0; p++) {
        int shift = p * DIGIT_BITS;
        if (count[p][from[0] >> shift & (BUCKETS - 1)] == n) continue;
        scatter(to, from, n, count[p], shift);
        uint64_t *swap = from;
        from = to, to = swap;
    }
    for (int64_t i = 0; i < n; i++) from[i] = bits_of(from[i]);
    memcpy(x, from, (size_t)n * sizeof *x);
    free(count);
    free(a);
    return XB_OK;
}
