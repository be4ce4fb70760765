/* cuda_updates.c: losses, checks and updates of a step: the library's structs handed to
 * the device; maths N13-N16, V2-V8. */
#include <math.h>

#include "cuda_module.h"

/* False: a kind that the library has and this module does not. */
static bool kind_of(xbc_loss_kind *to, xb_loss_kind kind)
{
    switch (kind) {
    case XB_LOSS_SQUARE: *to = XBC_SQUARE; return true;
    case XB_LOSS_GAUSSIAN: *to = XBC_GAUSSIAN; return true;
    case XB_LOSS_HETEROSCEDASTIC: *to = XBC_HETEROSCEDASTIC; return true;
    case XB_LOSS_SOFTMAX: *to = XBC_SOFTMAX; return true;
    case XB_LOSS_STUDENT: /* never asked for: there are no more_losses */
    case XB_LOSS_POISSON:
    case XB_LOSS_NEGATIVE_BINOMIAL: break;
    }
    return false;
}

double xbc_op_loss(const xb_backend *b, const xb_loss *l, xb_real *dy, const xb_real *y,
                   int64_t rows)
{
    (void)b;
    const bool numbers = l->kind == XB_LOSS_SQUARE || l->kind == XB_LOSS_HETEROSCEDASTIC;
    const int64_t targets = l->kind == XB_LOSS_GAUSSIAN ? l->outputs : 1;
    xbc_loss_kind kind;
    if (!kind_of(&kind, l->kind)) {
        XBC_INSIDE(xbc_fail("finding a loss that its module does not know"));
        return NAN;
    }
    xbc_loss job = {.kind = kind,
                    .rows = numbers ? rows * l->outputs : rows,
                    .outputs = l->outputs,
                    .y = y,
                    .target = l->target,
                    .log_sd = l->log_sd,
                    .raw = l->raw,
                    .label = l->label,
                    .dy = dy,
                    .d_log_sd = l->d_log_sd,
                    .d_raw = l->d_raw,
                    .least = l->least,
                    .scale = l->scale};
    double value, sum = 0;
    for (int64_t k = 0; k < targets; k++) { /* (V30) */
        XBC_INSIDE(value = xbc_find_loss(&job));
        sum += value;
        job.y++, job.target++, job.log_sd++;
        if (job.dy) job.dy++;
        if (job.d_log_sd) job.d_log_sd++;
    }
    return sum;
}

static bool all_below(const float *x, int64_t n, float limit)
{
    bool all = true;
    if (n > 0) XBC_INSIDE(all = xbc_all_below(x, n, limit));
    return all;
}

bool xbc_op_finite(const xb_backend *b, const xb_real *x, int64_t n)
{
    (void)b;
    return all_below(x, n, INFINITY);
}

bool xbc_op_squares_finite(const xb_backend *b, const float *x, int64_t n)
{
    (void)b;
    return all_below(x, n, 0x1p64f);
}

void xbc_op_adam(const xb_backend *b, const xb_ctx *ctx, const xb_adam_block *k,
                 const xb_adam_rates *r)
{
    (void)b, (void)ctx;
    const xbc_adam job = {.parameter = k->parameter,
                          .first = k->first,
                          .second = k->second,
                          .sigma = k->sigma,
                          .gradient = k->gradient,
                          .n = k->n,
                          .rate = r->rate,
                          .beta1 = r->beta1,
                          .beta2 = r->beta2,
                          .rest1 = r->rest1,
                          .rest2 = r->rest2,
                          .epsilon = r->epsilon};
    XBC_INSIDE(xbc_adam_step(&job));
}

void xbc_op_spread_fill(const xb_backend *b, const xb_ctx *ctx, xb_spread spread,
                        float *sigma, const float *rho, int64_t n)
{
    (void)b, (void)ctx;
    XBC_INSIDE(xbc_spread_fill(sigma, rho, n, spread == XB_SPREAD_EXP));
}

void xbc_op_spread_chain(const xb_backend *b, const xb_ctx *ctx, xb_spread spread,
                         float *gradient, const float *sigma, int64_t n)
{
    (void)b, (void)ctx;
    XBC_INSIDE(xbc_spread_chain(gradient, sigma, n, spread == XB_SPREAD_EXP));
}

double xbc_op_kl(const xb_backend *b, const xb_ctx *ctx, const xb_kl_block *k)
{
    (void)b, (void)ctx;
    const xbc_kl job = {.grad_mu = k->grad_mu,
                        .grad_sigma = k->grad_sigma,
                        .mu = k->mu,
                        .sigma = k->sigma,
                        .rho = k->rho,
                        .n = k->n,
                        .mean = k->mean,
                        .precision = k->precision,
                        .weight = k->weight,
                        .cross = k->cross};
    double sum;
    XBC_INSIDE(sum = xbc_find_kl(&job));
    return sum;
}
