/* score_bytes.c: packs scores into bytes for another process (crossbayes/work.h). Both
 * processes know the shape of the scores, which is that of `like`, and have the same
 * build, so only numbers are sent: the scores, the arrays, the doubt, then the same for
 * each target. */
#include <string.h>

#include "compare/score_items.h"

static int64_t number_count(const xb_scores *s)
{
    const int64_t points = xb_scores_array_count(s) - XB_ARRAY_POINTS;
    return XB_ARRAY_POINTS * s->curve + points * s->n;
}

int64_t xb_scores_bytes(const xb_scores *s)
{
    int64_t bytes = (int64_t)(sizeof s->score + sizeof s->doubt) +
                    number_count(s) * (int64_t)sizeof *s->numbers;
    for (int64_t k = 0; s->target && k < s->targets; k++)
        bytes += xb_scores_bytes(s->target[k]);
    return bytes;
}

static void put(unsigned char **to, const void *from, size_t bytes)
{
    memcpy(*to, from, bytes);
    *to += bytes;
}

static void get(void *to, const unsigned char **from, size_t bytes)
{
    memcpy(to, *from, bytes);
    *from += bytes;
}

void xb_scores_pack(unsigned char **to, const xb_scores *s)
{
    put(to, s->score, sizeof s->score);
    put(to, s->doubt, sizeof s->doubt);
    put(to, s->numbers, (size_t)number_count(s) * sizeof *s->numbers);
    for (int64_t k = 0; s->target && k < s->targets; k++)
        xb_scores_pack(to, s->target[k]);
}

static xb_status unpack_targets(xb_ctx *ctx, xb_scores *s, const unsigned char **from,
                                const xb_scores *like)
{
    s->targets = like->targets;
    s->target = xb_new(ctx, s->targets, sizeof(xb_scores *));
    if (!s->target) return XB_E_MEMORY;
    for (int64_t k = 0; k < s->targets; k++)
        XB_TRY(xb_scores_unpack(ctx, &s->target[k], from, like->target[k]));
    return like->target_name ? xb_scores_name_targets(ctx, s, like->target_name) : XB_OK;
}

xb_status xb_scores_unpack(xb_ctx *ctx, xb_scores **out, const unsigned char **from,
                           const xb_scores *like)
{
    xb_scores *s = NULL;
    XB_TRY(xb_scores_create(ctx, &s, like->n, like->draws, like->classes, like->curve));
    get(s->score, from, sizeof s->score);
    get(s->doubt, from, sizeof s->doubt);
    s->doubt[sizeof s->doubt - 1] = '\0';
    get(s->numbers, from, (size_t)number_count(s) * sizeof *s->numbers);
    const xb_status status = like->target ? unpack_targets(ctx, s, from, like) : XB_OK;
    if (status == XB_OK)
        *out = s;
    else
        xb_scores_destroy(s);
    return status;
}
