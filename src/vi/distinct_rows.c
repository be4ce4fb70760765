/* distinct_rows.c: leaves out rows that repeat another row in every column and in the
 * target (maths V22). Each copy would count as evidence of its own: with four copies of
 * every row a posterior is half as wide as it should be, and a net that passes through
 * the rows looks right. */
#include "vi/distinct_rows.h"

#include <stdlib.h>

#include "base/memory.h"
#include "data/copies.h"

/* (V22) Of equal rows the first is kept, so that rows held out, which come last, never
 * repeat one that is learnt from. */
static xb_status leave_out(xb_ctx *ctx, xb_distinct *d, const int64_t *first)
{
    const xb_train_data all = d->data;
    int64_t *select = xb_new(ctx, all.n, sizeof *select), n = 0, held = 0;
    if (!select) return XB_E_MEMORY;
    for (int64_t i = 0; i < all.n; i++) {
        if (first[i] != i) continue;
        select[n++] = all.select ? all.select[i] : i;
        held += i >= all.n - all.held;
    }
    d->select = select;
    d->copies = all.n - n;
    d->data.select = select;
    d->data.n = n;
    d->data.held = held;
    return XB_OK;
}

xb_status xb_distinct_rows(xb_ctx *ctx, xb_distinct *d, const xb_train_data *data,
                           const xb_train_options *opt)
{
    const xb_copied_rows rows = {.x = data->x,
                                 .y = data->y,
                                 .select = data->select,
                                 .width = data->features,
                                 .targets = xb_train_targets(data, opt),
                                 .n = data->n};
    int64_t *first = NULL;
    *d = (xb_distinct){.data = *data};
    if (opt->keep_copies || !data->x || !data->y || data->classes > 0 ||
        data->features < 1 || data->n < 1)
        return XB_OK;
    XB_TRY(xb_copies_find(ctx, &first, &rows));
    const xb_status status = first ? leave_out(ctx, d, first) : XB_OK;
    free(first);
    return status;
}
