/* copies.c: rows that repeat another row in every column and in the target (maths V22).
 *
 * A measured target of fine resolution does not come out twice: such rows were copied, by
 * a join, a paste or an export, and are no evidence of their own. Targets of few values,
 * as counts and ratings have, repeat by chance, and their rows stay. Rows are found by a
 * hash table with open addressing that is at most half full. */
#include "data/copies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/extend.h"

#define FEW 0.1                /* share of the rows up to which copies stay */
enum { LEAST_DIFFERENT = 10 }; /* with fewer different rows all stay */

static const double *at(const double *values, const xb_copied_rows *r, int64_t i,
                        int64_t width)
{
    return values + (r->select ? r->select[i] : i) * width;
}

static uint64_t hash_of(const xb_copied_rows *r, int64_t i)
{
    const uint64_t h =
        xb_hash_bytes(0, at(r->x, r, i, r->width), (size_t)r->width * sizeof *r->x);
    return xb_hash_bytes(h, at(r->y, r, i, r->targets),
                         (size_t)r->targets * sizeof *r->y);
}

static bool is_same(const xb_copied_rows *r, int64_t i, int64_t k)
{
    return memcmp(at(r->x, r, i, r->width), at(r->x, r, k, r->width),
                  (size_t)r->width * sizeof *r->x) == 0 &&
           memcmp(at(r->y, r, i, r->targets), at(r->y, r, k, r->targets),
                  (size_t)r->targets * sizeof *r->y) == 0;
}

/* Fills first [n]; returns the number of copies. `slot` [size], a power of two above n,
 * is -1 everywhere. */
static int64_t compare(int64_t *first, int64_t *slot, uint64_t size,
                       const xb_copied_rows *r)
{
    int64_t copies = 0;
    for (int64_t i = 0; i < r->n; i++) {
        uint64_t k = hash_of(r, i) & (size - 1);
        while (slot[k] >= 0 && !is_same(r, i, slot[k])) k = (k + 1) & (size - 1);
        if (slot[k] < 0) slot[k] = i;
        first[i] = slot[k];
        copies += slot[k] != i;
    }
    return copies;
}

/* Whether a finite target has at least half as many values as there are different rows.
 */
static xb_status is_fine(xb_ctx *ctx, bool *fine, const xb_copied_rows *r,
                         const int64_t *first, int64_t k)
{
    int64_t n = 0, values = 1;
    double *y = xb_new(ctx, r->n, sizeof *y);
    if (!y) return XB_E_MEMORY;
    for (int64_t i = 0; i < r->n; i++)
        if (first[i] == i) y[n++] = at(r->y, r, i, r->targets)[k];
    bool finite = true;
    for (int64_t i = 0; i < n; i++) finite = finite && isfinite(y[i]);
    const xb_status status = finite ? xb_sort_doubles(ctx, y, n) : XB_OK;
    for (int64_t i = 1; i < n; i++) values += y[i] > y[i - 1];
    free(y);
    *fine = finite && 2 * values >= n;
    return status;
}

static xb_status fill(xb_ctx *ctx, int64_t **out, const xb_copied_rows *r, int64_t *slot,
                      uint64_t size)
{
    bool fine = false;
    int64_t *first = xb_new(ctx, r->n, sizeof *first);
    if (!first) return XB_E_MEMORY;
    memset(slot, 0xff, size * sizeof *slot);
    xb_status status = XB_OK;
    const int64_t copies = compare(first, slot, size, r);
    if ((double)copies > FEW * (double)r->n && r->n - copies >= LEAST_DIFFERENT)
        for (int64_t k = 0; k < r->targets && !fine && status == XB_OK; k++)
            status = is_fine(ctx, &fine, r, first, k);
    if (status == XB_OK && fine)
        *out = first;
    else
        free(first);
    return status;
}

xb_status xb_copies_find(xb_ctx *ctx, int64_t **first, const xb_copied_rows *rows)
{
    uint64_t size = 2;
    *first = NULL;
    while (size < 2 * (uint64_t)rows->n) size *= 2;
    int64_t *slot = xb_room(ctx, (int64_t)size, sizeof *slot);
    if (!slot) return XB_E_MEMORY;
    const xb_status status = fill(ctx, first, rows, slot, size);
    free(slot);
    return status;
}
