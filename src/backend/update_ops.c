/* update_ops.c: what a step does with all parameters, cut into pieces whose bounds depend
 * on their number alone; maths V2-V8. The kernels: kernel/update.h.
 *
 * sigma's slope follows from sigma: softplus' = 1 - exp(-sigma), exp' = sigma, both to
 * the last bits for any sigma. Against double: 2 ulp (softplus), 1 ulp (exp). */
#include <float.h>
#include <math.h>

#include "backend/host.h"
#include "crossbayes/extend.h"
#include "base/tree.h"

enum { PIECE = 1 << 14 };

static int64_t pieces_of(int64_t n) { return (n + PIECE - 1) / PIECE; }

static int64_t piece_end(int64_t piece, int64_t n)
{
    int64_t end = (piece + 1) * PIECE;
    return end < n ? end : n;
}

bool xb_host_finite(const xb_backend *b, const xb_real *x, int64_t n)
{
    (void)b;
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

bool xb_host_squares_finite(const xb_backend *b, const float *x, int64_t n)
{
    (void)b;
    return xb_update_best()->squares_finite(x, n);
}

/* ---- Adam */

typedef struct adam_job {
    const xb_adam_block *block;
    const xb_adam_rates *rates;
} adam_job;

static void adam_piece(void *arg, int64_t piece)
{
    const adam_job *job = arg;
    const xb_adam_block *k = job->block;
    int64_t from = piece * PIECE, count = piece_end(piece, k->n) - from;
    const xb_update *update = xb_update_best();
    if (k->sigma)
        update->adam_exp(k->sigma + from, k->parameter + from, k->first + from,
                         k->second + from, k->gradient + from, count, job->rates);
    else
        update->adam(k->parameter + from, k->first + from, k->second + from,
                     k->gradient + from, count, job->rates);
}

void xb_host_adam(const xb_backend *b, const xb_ctx *ctx, const xb_adam_block *block,
                  const xb_adam_rates *rates)
{
    (void)b;
    adam_job job = {block, rates};
    xb_parallel_for(ctx, pieces_of(block->n), adam_piece, &job);
}

/* ---- sigma and rho */

typedef struct spread_job {
    xb_sigma_transform transform;
    float *out;
    const float *in;
    int64_t n;
} spread_job;

static void fill_piece(void *arg, int64_t piece)
{
    const spread_job *job = arg;
    int64_t end = piece_end(piece, job->n);
    if (job->transform == XB_SIGMA_TRANSFORM_EXP)
        xb_update_best()->sigma_exp(job->out + piece * PIECE, job->in + piece * PIECE,
                                    end - piece * PIECE);
    else
        for (int64_t i = piece * PIECE; i < end; i++) {
            float rho = job->in[i];
            float sigma = (rho > 0 ? rho : 0) + log1pf(expf(-fabsf(rho)));
            job->out[i] = sigma > FLT_MIN ? sigma : FLT_MIN; /* NaN too */
        }
}

void xb_host_spread_fill(const xb_backend *b, const xb_ctx *ctx,
                         xb_sigma_transform transform, float *sigma, const float *rho,
                         int64_t n)
{
    (void)b;
    spread_job job = {transform, sigma, rho, n};
    xb_parallel_for(ctx, pieces_of(n), fill_piece, &job);
}

static void chain_piece(void *arg, int64_t piece)
{
    const spread_job *job = arg;
    int64_t end = piece_end(piece, job->n);
    if (job->transform == XB_SIGMA_TRANSFORM_EXP)
        xb_update_best()->chain_exp(job->out + piece * PIECE, job->in + piece * PIECE,
                                    end - piece * PIECE);
    else
        for (int64_t i = piece * PIECE; i < end; i++) job->out[i] *= -expm1f(-job->in[i]);
}

void xb_host_spread_chain(const xb_backend *b, const xb_ctx *ctx,
                          xb_sigma_transform transform, float *gradient,
                          const float *sigma, int64_t n)
{
    (void)b;
    spread_job job = {transform, gradient, sigma, n};
    xb_parallel_for(ctx, pieces_of(n), chain_piece, &job);
}

/* ---- KL to a prior */

enum {
    KL_PIECES = 256, /* at most */
    KL_LEAST = 4096, /* weights of a piece */
};

typedef struct kl_job {
    const xb_kl_block *block;
    int64_t size;
    double partial[KL_PIECES];
} kl_job;

static double normal_sum(const xb_kl_block *k, int64_t from, int64_t n)
{
    const xb_update *update = xb_update_best();
    float scaled = (float)(k->weight * k->precision), weight = (float)k->weight;
    const float *mu = k->mu + from, *sigma = k->sigma + from;
    xb_normal_sums sums;
    if (k->rho) {
        sums = update->normal_exp(k->grad_mu + from, k->grad_sigma + from, mu, sigma,
                                  k->rho + from, n, k->mean, scaled, weight);
    } else {
        if (k->grad_mu)
            update->normal_gradient(k->grad_mu + from, k->grad_sigma + from, mu, sigma, n,
                                    (float)k->mean, scaled, weight);
        sums = update->normal_sums(mu, sigma, n, k->mean);
    }
    return 0.5 * k->precision * sums.square - sums.logs; /* (V3) */
}

static double cross_sum(const xb_kl_block *k, int64_t from, int64_t n)
{
    double sum = 0;
    for (int64_t i = from; i < from + n; i++)
        sum += xb_cross_add(k->cross, k->grad_mu ? k->grad_mu + i : NULL,
                            k->grad_mu ? k->grad_sigma + i : NULL, k->mu[i], k->sigma[i],
                            k->weight);
    return sum;
}

static void kl_piece(void *arg, int64_t piece)
{
    kl_job *job = arg;
    int64_t from = piece * job->size, left = job->block->n - from;
    int64_t n = left < job->size ? left : job->size;
    job->partial[piece] =
        (job->block->cross ? cross_sum : normal_sum)(job->block, from, n);
}

double xb_host_kl(const xb_backend *b, const xb_ctx *ctx, const xb_kl_block *block)
{
    (void)b;
    kl_job job;
    job.block = block;
    job.size = (block->n + KL_PIECES - 1) / KL_PIECES;
    if (job.size < KL_LEAST) job.size = KL_LEAST;
    int64_t pieces = (block->n + job.size - 1) / job.size;
    xb_parallel_for(ctx, pieces, kl_piece, &job);
    return xb_tree_sum(job.partial, pieces);
}
