/* result_bytes.c: packs the result of an assay into bytes for another process
 * (crossbayes/work.h). All results have the shape of the digital model's; values that are
 * used as indices are checked, because the bytes may come from a file. */
#include <string.h>

#include "base/memory.h"
#include "compare/distance_items.h"
#include "compare/score_items.h"
#include "crossbar/assay.h"

int64_t xb_assay_result_bytes(const xb_assay_result *like)
{
    return (int64_t)(sizeof like->nll_difference + sizeof like->kl_at_least +
                     sizeof *like->distance) +
           xb_scores_bytes(like->scores);
}

void xb_assay_result_pack(unsigned char *to, const xb_assay_result *r)
{
    memcpy(to, &r->nll_difference, sizeof r->nll_difference);
    to += sizeof r->nll_difference;
    memcpy(to, &r->kl_at_least, sizeof r->kl_at_least);
    to += sizeof r->kl_at_least;
    memcpy(to, r->distance, sizeof *r->distance);
    to += sizeof *r->distance;
    xb_scores_pack(&to, r->scores);
}

static bool is_verdict(xb_verdict v)
{
    return (unsigned)v <= (unsigned)XB_VERDICT_UNRESOLVED;
}

static xb_status check(xb_ctx *ctx, const xb_distances *d)
{
    bool good = is_verdict(d->verdict) && d->n >= 0;
    for (int i = 0; i < XB_GAPS; i++)
        good = good && is_verdict(d->gap[i].verdict) && d->gap[i].largest_at >= 0 &&
               d->gap[i].largest_at < d->n;
    return good ? XB_OK : xb_fail(ctx, XB_E_INPUT, "not a valid result of an array");
}

static xb_status unpack(xb_ctx *ctx, xb_assay_result *r, const unsigned char *from,
                        const xb_assay_result *like)
{
    r->distance = xb_new(ctx, 1, sizeof *r->distance);
    if (!r->distance) return XB_E_MEMORY;
    memcpy(&r->nll_difference, from, sizeof r->nll_difference);
    from += sizeof r->nll_difference;
    memcpy(&r->kl_at_least, from, sizeof r->kl_at_least);
    from += sizeof r->kl_at_least;
    memcpy(r->distance, from, sizeof *r->distance);
    from += sizeof *r->distance;
    XB_TRY(check(ctx, r->distance));
    return xb_scores_unpack(ctx, &r->scores, &from, like->scores);
}

xb_status xb_assay_result_unpack(xb_ctx *ctx, xb_assay_result **out,
                                 const unsigned char *from, const xb_assay_result *like)
{
    xb_assay_result *r = xb_new(ctx, 1, sizeof *r);
    if (!r) return XB_E_MEMORY;
    const xb_status status = unpack(ctx, r, from, like);
    if (status == XB_OK)
        *out = r;
    else
        xb_assay_result_destroy(r);
    return status;
}
