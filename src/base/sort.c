/* sort.c: least-significant-digit radix sort on the bits of doubles, 11 bits a pass.
 * Cost O(n).
 *
 * Three passes over the 33 highest bits in which keys differ leave next to nothing out
 * of order, which insertion then puts right; where it does not (values that differ in
 * their last bits only here and there) all bits are sorted. */
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { DIGIT_BITS = 11, BUCKETS = 1 << DIGIT_BITS, FIRST_PASSES = 3 };

/* An unsigned key in the order of the doubles: flip all bits of negatives, the
 * sign bit of the others. */
static uint64_t key_of(uint64_t bits)
{
    uint64_t negative = UINT64_C(0) - (bits >> 63);
    return bits ^ (negative | UINT64_C(1) << 63);
}

static uint64_t bits_of(uint64_t key)
{
    uint64_t positive = UINT64_C(0) - (key >> 63);
    return key ^ (~positive | UINT64_C(1) << 63);
}

/* Keys with room for as many. */
typedef struct keys {
    uint64_t *from, *to;
    int64_t n;
} keys;

/* One pass; none where all keys have the same digit. */
static void sort_digit(keys *k, int shift)
{
    int64_t count[BUCKETS] = {0}, start = 0;
    const uint64_t *from = k->from;
    uint64_t *to = k->to;
    for (int64_t i = 0; i < k->n; i++) count[from[i] >> shift & (BUCKETS - 1)]++;
    if (count[from[0] >> shift & (BUCKETS - 1)] == k->n) return;
    for (int b = 0; b < BUCKETS; b++) {
        int64_t c = count[b];
        count[b] = start;
        start += c;
    }
    for (int64_t i = 0; i < k->n; i++)
        to[count[from[i] >> shift & (BUCKETS - 1)]++] = from[i];
    k->to = k->from, k->from = to;
}

/* False if it would take more than a few moves a key. */
static bool insert(uint64_t *key, int64_t n)
{
    int64_t budget = 4 * n;
    for (int64_t i = 1; i < n; i++) {
        uint64_t moving = key[i];
        int64_t j = i;
        for (; j > 0 && key[j - 1] > moving; j--) key[j] = key[j - 1];
        key[j] = moving;
        budget -= i - j;
        if (budget < 0) return false;
    }
    return true;
}

static void sort_keys(keys *k, uint64_t differ)
{
    int bits = 64 - __builtin_clzll(differ), high = FIRST_PASSES * DIGIT_BITS;
    int low = bits > high ? bits - high : 0;
    for (int shift = low; shift < bits; shift += DIGIT_BITS) sort_digit(k, shift);
    if (low == 0 || insert(k->from, k->n)) return;
    for (int shift = 0; shift < bits; shift += DIGIT_BITS) sort_digit(k, shift);
}

xb_status xb_sort_copy(xb_ctx *ctx, double *out, const double *x, int64_t n)
{
    uint64_t *a = xb_room(ctx, 2 * n, sizeof *a), differ = 0;
    if (!a) return XB_E_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        a[i] = key_of(bits);
        differ |= a[i] ^ a[0];
    }
    keys k = {a, a + n, n};
    if (differ) sort_keys(&k, differ);
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits = bits_of(k.from[i]);
        memcpy(&out[i], &bits, sizeof bits);
    }
    free(a);
    return XB_OK;
}

xb_status xb_sort_doubles(xb_ctx *ctx, double *x, int64_t n)
{
    return xb_sort_copy(ctx, x, x, n);
}
