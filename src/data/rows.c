/* rows.c: see rows.h. Bytes need no check, because each of them is a number. */
#include "data/rows.h"

#include <math.h>

static xb_status not_finite(xb_ctx *ctx, int64_t row, int64_t feature)
{
    return xb_fail(ctx, XB_E_INPUT, "row %lld, feature %lld is not finite",
                   (long long)row + 1, (long long)feature + 1);
}

xb_status xb_rows_check(xb_ctx *ctx, const xb_rows *rows)
{
    if ((rows->x != NULL) + (rows->scaled != NULL) + (rows->bytes != NULL) != 1)
        return xb_fail(ctx, XB_E_ARGUMENT, "set exactly one of x, scaled, bytes");
    if (rows->bytes) return XB_OK;
    for (int64_t i = 0; i < rows->n; i++) {
        int64_t at = (rows->select ? rows->select[i] : i) * rows->features;
        for (int64_t j = 0; j < rows->features; j++)
            if (!isfinite(rows->x ? rows->x[at + j] : (double)rows->scaled[at + j]))
                return not_finite(ctx, rows->first + i, j);
    }
    return XB_OK;
}

xb_rows xb_rows_part(const xb_rows *rows, int64_t first, int64_t n)
{
    xb_rows part = *rows;
    int64_t at = first * rows->features;
    part.n = n;
    part.first += first;
    if (part.select) {
        part.select += first;
        return part;
    }
    if (part.x) part.x += at;
    if (part.scaled) part.scaled += at;
    if (part.bytes) part.bytes += at;
    return part;
}
