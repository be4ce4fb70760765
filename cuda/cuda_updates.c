/* cuda_updates.c: losses, checks and updates of a step: the library's structs handed to
 * the device; maths N13-N16, V2-V8. */
#include <math.h>
#include <stdlib.h>

#include "cuda_module.h"

/* Returns false for a likelihood that is computed on the host. */
static bool kind_of(xbc_loss_kind *to, xb_loss_kind kind)
{
    switch (kind) {
    case XB_LOSS_SQUARE: *to = XBC_SQUARE; return true;
    case XB_LOSS_GAUSSIAN: *to = XBC_GAUSSIAN; return true;
    case XB_LOSS_HETEROSCEDASTIC: *to = XBC_HETEROSCEDASTIC; return true;
    case XB_LOSS_SOFTMAX: *to = XBC_SOFTMAX; return true;
    case XB_LOSS_STUDENT:
    case XB_LOSS_POISSON:
    case XB_LOSS_NEGATIVE_BINOMIAL: break;
    }
    return false;
}

/* A batch's numbers on the host, in one block of memory. */
typedef struct host_batch {
    xb_real *y, *target, *dy; /* [rows][outputs] */
    xb_real *noise, *d_noise; /* [noises] */
    xb_real *link;            /* [2][outputs] */
    int64_t n, noises;
} host_batch;

static int64_t noises_of(const xb_loss *l)
{
    return l->kind == XB_LOSS_STUDENT             ? l->outputs + 1
           : l->kind == XB_LOSS_NEGATIVE_BINOMIAL ? l->outputs
                                                  : 0;
}

static xb_real *take_batch(host_batch *b, const xb_loss *l, int64_t rows)
{
    b->n = rows * l->outputs, b->noises = noises_of(l);
    xb_real *all =
        calloc((size_t)(3 * b->n + 2 * b->noises + 2 * l->outputs), sizeof *all);
    b->y = all, b->target = all + b->n, b->dy = all + 2 * b->n;
    b->noise = all + 3 * b->n, b->d_noise = b->noise + b->noises;
    b->link = b->d_noise + b->noises;
    return all;
}

static void get_batch(const host_batch *b, const xb_loss *l, const xb_real *y)
{
    const size_t bytes = (size_t)b->n * sizeof *y, noises = (size_t)b->noises * sizeof *y;
    xbc_get(b->y, y, bytes);
    xbc_get(b->target, l->target, bytes);
    xbc_get(b->noise, l->log_sd, noises);
    if (l->d_log_sd) xbc_get(b->d_noise, l->d_log_sd, noises);
    if (l->link) xbc_get(b->link, l->link, (size_t)(2 * l->outputs) * sizeof *y);
}

/* Likelihoods whose functions a GPU does not have: the host computes them from the
 * outputs, which are few. */
static double loss_on_host(const xb_loss *l, xb_real *dy, const xb_real *y, int64_t rows)
{
    host_batch b;
    xb_real *all = take_batch(&b, l, rows);
    if (!all) {
        XBC_INSIDE(xbc_fail("taking memory for a loss"));
        return NAN;
    }
    XBC_INSIDE(get_batch(&b, l, y));
    xb_loss here = *l;
    here.target = b.target, here.log_sd = b.noise, here.link = l->link ? b.link : NULL;
    here.d_log_sd = l->d_log_sd ? b.d_noise : NULL;
    const double value = xbc_host->loss(&here, dy ? b.dy : NULL, b.y, rows);
    xbc_enter();
    if (dy) xbc_put(dy, b.dy, (size_t)b.n * sizeof *dy);
    if (l->d_log_sd) xbc_put(l->d_log_sd, b.d_noise, (size_t)b.noises * sizeof *dy);
    xbc_leave();
    free(all);
    return value;
}

double xbc_op_loss(const xb_backend *b, const xb_loss *l, xb_real *dy, const xb_real *y,
                   int64_t rows)
{
    (void)b;
    const bool numbers = l->kind == XB_LOSS_SQUARE || l->kind == XB_LOSS_HETEROSCEDASTIC;
    const int64_t targets = l->kind == XB_LOSS_GAUSSIAN ? l->outputs : 1;
    xbc_loss_kind kind;
    if (!kind_of(&kind, l->kind)) return loss_on_host(l, dy, y, rows);
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

void xbc_op_spread_fill(const xb_backend *b, const xb_ctx *ctx,
                        xb_sigma_transform transform, float *sigma, const float *rho,
                        int64_t n)
{
    (void)b, (void)ctx;
    XBC_INSIDE(xbc_spread_fill(sigma, rho, n, transform == XB_SIGMA_TRANSFORM_EXP));
}

void xbc_op_spread_chain(const xb_backend *b, const xb_ctx *ctx,
                         xb_sigma_transform transform, float *gradient,
                         const float *sigma, int64_t n)
{
    (void)b, (void)ctx;
    XBC_INSIDE(xbc_spread_chain(gradient, sigma, n, transform == XB_SIGMA_TRANSFORM_EXP));
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
