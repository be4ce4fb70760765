/* copies.c: rows that repeat another row in every column and in the target, or nearly in
 * the target (maths V22).
 *
 * A measured target of fine resolution does not come out twice: such rows were copied, by
 * a join, a paste or an export, or are readings of one measurement, and are no evidence
 * of their own. Targets of few values, as counts and ratings have, repeat by chance, and
 * their rows stay. So do rows with equal columns whose targets vary: they show the noise.
 * Rows are found by a hash table with open addressing that is at most half full. */
#include "data/copies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/extend.h"

#define FEW 0.1                /* share of the rows up to which copies stay */
#define NEAR 0.01              /* sds of a target that copies may differ by */
enum { LEAST_DIFFERENT = 10 }; /* with fewer different rows all stay */

/* An open hash table of rows: `slot` [size], a power of two above twice their number. */
typedef struct seen_rows {
    int64_t *slot;
    uint64_t size;
} seen_rows;

static const double *x_of(const xb_copied_rows *r, int64_t i)
{
    return r->x + (r->select ? r->select[i] : i) * r->width;
}

static const double *y_of(const xb_copied_rows *r, int64_t i)
{
    return r->y + (r->select ? r->select[i] : i) * r->targets;
}

static bool equals(const double *a, const double *b, int64_t n)
{
    return memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

/* Fills first [n] with the earliest row of the same columns, and of the same targets too
 * if `whole`; returns how many rows repeat another one. */
static int64_t compare(int64_t *first, const seen_rows *seen, const xb_copied_rows *r,
                       bool whole)
{
    const uint64_t mask = seen->size - 1;
    const int64_t targets = whole ? r->targets : 0;
    int64_t copies = 0;
    memset(seen->slot, 0xff, seen->size * sizeof *seen->slot);
    for (int64_t i = 0; i < r->n; i++) {
        const double *x = x_of(r, i), *y = y_of(r, i);
        uint64_t h = xb_hash_bytes(0, x, (size_t)r->width * sizeof *x);
        if (whole) h = xb_hash_bytes(h, y, (size_t)targets * sizeof *y);
        uint64_t k = h & mask;
        while (seen->slot[k] >= 0 && !(equals(x, x_of(r, seen->slot[k]), r->width) &&
                                       equals(y, y_of(r, seen->slot[k]), targets)))
            k = (k + 1) & mask;
        if (seen->slot[k] < 0) seen->slot[k] = i;
        first[i] = seen->slot[k];
        copies += first[i] != i;
    }
    return copies;
}

static double sd_of(const xb_copied_rows *r, int64_t k)
{
    const double n = (double)r->n;
    double mean = 0, square = 0;
    for (int64_t i = 0; i < r->n; i++) mean += y_of(r, i)[k] / n;
    for (int64_t i = 0; i < r->n; i++) {
        const double e = y_of(r, i)[k] - mean;
        square += e * e / n;
    }
    return sqrt(square);
}

/* varies [n]: for the first row of those with the same columns, whether one of them has
 * a target that is further away than copies may be. */
static void find_varying(bool *varies, const int64_t *first, const xb_copied_rows *r)
{
    memset(varies, 0, (size_t)r->n * sizeof *varies);
    for (int64_t k = 0; k < r->targets; k++) {
        const double most = NEAR * sd_of(r, k);
        for (int64_t i = 0; i < r->n; i++) {
            const double apart = fabs(y_of(r, i)[k] - y_of(r, first[i])[k]);
            if (!(apart <= most)) varies[first[i]] = true;
        }
    }
}

/* Of rows with equal columns whose targets vary, only those that are equal as a whole
 * stay copies in first [n]; *copies: how many copies there are. */
static xb_status keep_varying(xb_ctx *ctx, int64_t *copies, int64_t *first,
                              const seen_rows *seen, const xb_copied_rows *r)
{
    int64_t *same = xb_new(ctx, r->n, sizeof *same);
    bool *varies = xb_new(ctx, r->n, sizeof *varies);
    if (same && varies) {
        find_varying(varies, first, r);
        compare(same, seen, r, true);
        *copies = 0;
        for (int64_t i = 0; i < r->n; i++) {
            if (varies[first[i]]) first[i] = same[i];
            *copies += first[i] != i;
        }
    }
    const bool done = same && varies;
    free(same);
    free(varies);
    return done ? XB_OK : XB_E_MEMORY;
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
        if (first[i] == i) y[n++] = y_of(r, i)[k];
    bool finite = true;
    for (int64_t i = 0; i < n; i++) finite = finite && isfinite(y[i]);
    const xb_status status = finite ? xb_sort_doubles(ctx, y, n) : XB_OK;
    for (int64_t i = 1; i < n; i++) values += y[i] > y[i - 1];
    free(y);
    *fine = finite && 2 * values >= n;
    return status;
}

static bool are_many(int64_t copies, const xb_copied_rows *r)
{
    return (double)copies > FEW * (double)r->n && r->n - copies >= LEAST_DIFFERENT;
}

static xb_status fill(xb_ctx *ctx, bool *found, int64_t *first, const seen_rows *seen,
                      const xb_copied_rows *r)
{
    int64_t copies = compare(first, seen, r, false);
    *found = false;
    if ((double)copies <= FEW * (double)r->n) return XB_OK;
    XB_TRY(keep_varying(ctx, &copies, first, seen, r));
    if (!are_many(copies, r)) return XB_OK;
    for (int64_t k = 0; k < r->targets && !*found; k++)
        XB_TRY(is_fine(ctx, found, r, first, k));
    return XB_OK;
}

xb_status xb_copies_find(xb_ctx *ctx, int64_t **first, const xb_copied_rows *rows)
{
    seen_rows seen = {.size = 2};
    bool found = false;
    *first = NULL;
    while (seen.size < 2 * (uint64_t)rows->n) seen.size *= 2;
    seen.slot = xb_room(ctx, (int64_t)seen.size, sizeof *seen.slot);
    int64_t *row = xb_new(ctx, rows->n, sizeof *row);
    const xb_status status =
        seen.slot && row ? fill(ctx, &found, row, &seen, rows) : XB_E_MEMORY;
    if (status == XB_OK && found)
        *first = row;
    else
        free(row);
    free(seen.slot);
    return status;
}
