/* builtin.c: the built-in noise sample: n draws of the reference device, by its exact
 * quantile, not by the sampler that the studies examine. Draw i is a function of (seed,
 * i) alone. */
#include "crossbayes/draw.h"
#include "crossbayes/extend.h"

enum { PIECE = 4096 };

typedef struct drawing {
    double *x;
    int64_t n;
    const xb_law *law;
    xb_stream where;
} drawing;

static void draw_piece(void *arg, int64_t piece)
{
    const drawing *d = arg;
    int64_t end = (piece + 1) * PIECE < d->n ? (piece + 1) * PIECE : d->n;
    for (int64_t i = piece * PIECE; i < end; i++)
        d->x[i] = xb_law_quantile(d->law, xb_stream_uniform(&d->where, i));
}

xb_status xb_noise_draw(xb_ctx *ctx, double **out, const xb_law *law, int64_t n,
                        uint64_t seed)
{
    if (n < 1 || n > XB_STREAM_MAX / 2)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld noise samples: expected 1 to %lld",
                       (long long)n, (long long)(XB_STREAM_MAX / 2));
    double *x = xb_new(ctx, n, sizeof *x);
    if (!x) return XB_E_MEMORY;
    drawing d = {x, n, law, {xb_key_make(seed, XB_PURPOSE_DATA), 0, 0, 0}};
    xb_parallel_for(ctx, (n + PIECE - 1) / PIECE, draw_piece, &d);
    *out = x;
    return XB_OK;
}

xb_status xb_builtin_noise(xb_ctx *ctx, double **out, int64_t n, uint64_t seed)
{
    xb_law *law = NULL;
    XB_TRY(xb_law_parse(ctx, &law, "mtj:B=0.15,w=0.5"));
    xb_status status = xb_noise_draw(ctx, out, law, n, seed);
    xb_law_destroy(law);
    return status;
}
