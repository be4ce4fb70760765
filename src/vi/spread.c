/* spread.c: sigma > 0 from a free parameter rho; maths V8.
 *
 * Blocks are float, each element alone, so threads cannot change a byte. The
 * slope is had from sigma: softplus' = 1 - exp(-sigma), exp' = sigma, both to the
 * last bits for any sigma. Against double: 2 ulp (softplus), 1 ulp (exp). */
#include "vi/spread.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "kernel/update.h"

enum { PIECE = 1 << 14 };

static const char *const names[] = {
    [XB_SPREAD_EXP] = "exp",
    [XB_SPREAD_SOFTPLUS] = "softplus",
};

const char *xb_spread_name(xb_spread spread) { return names[spread]; }

xb_status xb_spread_parse(xb_ctx *ctx, xb_spread *out, const char *text)
{
    for (int i = 0; i < XB_COUNT(names); i++)
        if (strcmp(names[i], text) == 0) {
            *out = (xb_spread)i;
            return XB_OK;
        }
    return xb_fail(ctx, XB_E_INPUT, "sigma as '%s', expected exp or softplus", text);
}

double xb_spread_sigma(xb_spread spread, double rho)
{
    if (spread == XB_SPREAD_EXP) return exp(rho);
    return fmax(rho, 0) + log1p(exp(-fabs(rho))); /* no overflow on either side */
}

double xb_spread_slope(xb_spread spread, double rho)
{
    if (spread == XB_SPREAD_EXP) return exp(rho);
    return -expm1(-xb_spread_sigma(spread, rho));
}

double xb_spread_rho(xb_spread spread, double sigma)
{
    if (spread == XB_SPREAD_EXP) return log(sigma);
    if (sigma < 1) return log(expm1(sigma)); /* tiny sigma: log sigma, to the last bit */
    return sigma + log(-expm1(-sigma));      /* large sigma: expm1 would overflow */
}

typedef struct spread_job {
    xb_spread spread;
    float *out;
    const float *in;
    int64_t n;
} spread_job;

static int64_t piece_end(int64_t piece, int64_t n)
{
    int64_t end = (piece + 1) * PIECE;
    return end < n ? end : n;
}

static void fill_piece(void *arg, int64_t piece)
{
    const spread_job *job = arg;
    int64_t end = piece_end(piece, job->n);
    if (job->spread == XB_SPREAD_EXP)
        xb_update_best()->sigma_exp(job->out + piece * PIECE, job->in + piece * PIECE,
                                    end - piece * PIECE);
    else
        for (int64_t i = piece * PIECE; i < end; i++) {
            float rho = job->in[i];
            float sigma = (rho > 0 ? rho : 0) + log1pf(expf(-fabsf(rho)));
            job->out[i] = sigma > FLT_MIN ? sigma : FLT_MIN; /* NaN too */
        }
}

void xb_spread_fill(const xb_ctx *ctx, xb_spread spread, float *sigma, const float *rho,
                    int64_t n)
{
    spread_job job = {spread, sigma, rho, n};
    xb_parallel_for(ctx, (n + PIECE - 1) / PIECE, fill_piece, &job);
}

static void chain_piece(void *arg, int64_t piece)
{
    const spread_job *job = arg;
    int64_t end = piece_end(piece, job->n);
    if (job->spread == XB_SPREAD_EXP)
        xb_update_best()->chain_exp(job->out + piece * PIECE, job->in + piece * PIECE,
                                    end - piece * PIECE);
    else
        for (int64_t i = piece * PIECE; i < end; i++) job->out[i] *= -expm1f(-job->in[i]);
}

void xb_spread_chain(const xb_ctx *ctx, xb_spread spread, float *gradient,
                     const float *sigma, int64_t n)
{
    spread_job job = {spread, gradient, sigma, n};
    xb_parallel_for(ctx, (n + PIECE - 1) / PIECE, chain_piece, &job);
}
