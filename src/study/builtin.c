/* builtin.c: the built-in noise sample: draws of the reference device by its
 * exact quantile, addressed by element like all randomness here. Synthetic: the
 * paper's own samples are not published. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "crossbayes/random.h"
#include "crossbayes/study.h"

enum { PIECE = 4096 };

typedef struct noise_job {
    const xb_law *law;
    xb_stream where;
    double *out;
    int64_t n;
} noise_job;

static void fill_piece(void *arg, int64_t piece)
{
    const noise_job *job = arg;
    int64_t end = (piece + 1) * PIECE < job->n ? (piece + 1) * PIECE : job->n;
    for (int64_t i = piece * PIECE; i < end; i++)
        job->out[i] = xb_law_quantile(job->law, xb_stream_uniform(&job->where, i));
}

xb_status xb_builtin_noise(xb_ctx *ctx, double **out, int64_t n, uint64_t seed)
{
    if (n < 1 || n > XB_STREAM_MAX / 2)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld built-in samples: expected 1 to %lld",
                       (long long)n, (long long)(XB_STREAM_MAX / 2));
    xb_law *law = NULL;
    XB_TRY(xb_law_parse(ctx, &law, "mtj:B=0.15,w=0.5"));
    double *x = xb_new(ctx, n, sizeof *x);
    if (x) {
        noise_job job = {law, {xb_key_make(seed, XB_PURPOSE_DATA), 0, 0, 0}, x, n};
        xb_parallel_for(ctx, (n + PIECE - 1) / PIECE, fill_piece, &job);
        *out = x;
    }
    xb_law_destroy(law);
    return x ? XB_OK : XB_E_MEMORY;
}
