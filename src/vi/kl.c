/* kl.c: KL(q || prior) of weights theta = mu + sigma z; maths V2-V6.
 *
 *     KL = -log sigma - H(z) - E log p(mu + sigma z)
 *
 * Here are the constants and the tables of the cross entropy -E log p: closed form
 * (normal), exact (laplace), tables (mixture), or the law's n-point Gauss rule. Weights
 * are summed by the backend (backend/update_ops.c), by the arithmetic of
 * kernel/cross_kernel.h. Measured on one busy core of a virtual EPYC: normal 0.6, laplace
 * 17 to 25, mixture 100 to 600 ns a weight. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "vi/kl.h"
#include "vi/spike.h"

struct xb_kl {
    xb_cross cross;         /* refers to the tables below and borrows the rest */
    xb_cross placed;        /* the same in a backend's memory: see xb_kl_place() */
    const xb_backend *with; /* that backend; NULL: only the host's */
    void *memory;           /* its buffer */
    double constant;        /* constant of every weight: -H(z) and the prior's
                               normaliser */
    xb_meanabs meanabs;     /* laplace */
    xb_spike spike;         /* mixture */
    xb_rule rule;           /* standardised nodes, if points were requested */
};

xb_kl_value xb_kl_one(const xb_kl *kl, double mu, double sigma)
{
    xb_kl_value v = xb_cross_at(&kl->cross, mu, sigma);
    v.kl += kl->constant - log(sigma);
    v.d_sigma -= 1 / sigma;
    return v;
}

/* ---- many weights */

bool xb_kl_normal(const xb_kl *kl, double *mean, double *precision, double *constant)
{
    if (kl->cross.kind != XB_CROSS_NORMAL) return false;
    *mean = kl->cross.prior.mean;
    *precision = 1 / (kl->cross.prior.sd * kl->cross.prior.sd);
    *constant = kl->constant;
    return true;
}

static double sum_block(const xb_backend *b, const xb_ctx *ctx, const xb_kl *kl,
                        const xb_kl_block *block)
{
    xb_kl_block k = *block;
    double constant;
    if (!xb_kl_normal(kl, &k.mean, &k.precision, &constant))
        k.cross = b == kl->with ? &kl->placed : &kl->cross;
    return (double)k.n * kl->constant + b->kl(b, ctx, &k);
}

double xb_kl_sum(const xb_ctx *ctx, const xb_kl *kl, float *grad_mu, float *grad_sigma,
                 const float *mu, const float *sigma, int64_t n, double weight)
{
    const xb_kl_block block = {.grad_mu = grad_mu,
                               .grad_sigma = grad_sigma,
                               .mu = mu,
                               .sigma = sigma,
                               .n = n,
                               .weight = weight};
    return sum_block(&xb_backend_host, ctx, kl, &block);
}

double xb_kl_sum_sigma(const xb_backend *b, const xb_ctx *ctx, const xb_kl *kl,
                       const xb_kl_block *block)
{
    xb_kl_block k = *block;
    k.rho = NULL;
    return sum_block(b, ctx, kl, &k);
}

double xb_kl_sum_rho(const xb_backend *b, const xb_ctx *ctx, const xb_kl *kl,
                     xb_sigma_transform transform, const xb_kl_block *k)
{
    if (kl->cross.kind == XB_CROSS_NORMAL && transform == XB_SIGMA_TRANSFORM_EXP)
        return sum_block(b, ctx, kl, k);
    double sum = xb_kl_sum_sigma(b, ctx, kl, k);
    b->spread_chain(b, ctx, transform, k->grad_sigma, k->sigma, k->n);
    return sum;
}

/* ---- tables in a backend's memory */

enum { LINE = 64 }; /* bytes */

/* One buffer, filled from its start; without a buffer the size that is needed is
 * counted. */
typedef struct placing {
    const xb_backend *backend;
    char *buffer; /* NULL: counting */
    int64_t bytes;
} placing;

static void *place(placing *p, const void *from, int64_t bytes)
{
    char *to = p->buffer ? p->buffer + p->bytes : NULL;
    if (to) p->backend->put(p->backend, to, from, bytes);
    p->bytes += (bytes + LINE - 1) / LINE * LINE;
    return to;
}

static void place_curve(placing *p, xb_curve_table *to, const xb_curve_table *c)
{
    if (!c->first) return;
    to->first = place(p, c->first, (c->buckets + 1) * (int64_t)sizeof *c->first);
    to->piece = place(p, c->piece, (c->pieces + 1) * (int64_t)sizeof *c->piece);
}

static void place_rule(placing *p, xb_cross_rule *to, const xb_cross_rule *r)
{
    if (r->n == 0) return;
    to->node = place(p, r->node, r->n * (int64_t)sizeof *r->node);
    to->weight = place(p, r->weight, r->n * (int64_t)sizeof *r->weight);
}

static void place_cross(placing *p, xb_cross *to, const xb_cross *c)
{
    *to = *c;
    place_curve(p, &to->meanabs.curve, &c->meanabs.curve);
    place_curve(p, &to->kappa, &c->kappa);
    place_rule(p, &to->few, &c->few);
    place_rule(p, &to->many, &c->many);
    place_rule(p, &to->spike, &c->spike);
}

xb_status xb_kl_place(xb_ctx *ctx, xb_kl *kl, const xb_backend *b)
{
    placing size = {.backend = b};
    if (b->host || kl->cross.kind == XB_CROSS_NORMAL) return XB_OK;
    place_cross(&size, &kl->placed, &kl->cross);
    XB_TRY(b->take(b, ctx, &kl->memory, size.bytes));
    placing real = {.backend = b, .buffer = kl->memory};
    place_cross(&real, &kl->placed, &kl->cross);
    kl->with = b;
    return XB_OK;
}

/* ---- making one */

static xb_status make_rule(xb_ctx *ctx, xb_kl *kl, const xb_law *law, int64_t points)
{
    kl->cross.kind = XB_CROSS_RULE;
    XB_TRY(xb_rule_fill_gauss(ctx, &kl->rule, law, points, XB_RECURRENCE_STABLE));
    for (int64_t i = 0; i < points; i++)
        kl->rule.nodes[i] = (kl->rule.nodes[i] - xb_law_mean(law)) / xb_law_sd(law);
    kl->cross.few = (xb_cross_rule){kl->rule.nodes, kl->rule.weights, points};
    return XB_OK;
}

static xb_status make_cross(xb_ctx *ctx, xb_kl *kl, const xb_law *law)
{
    double log_root = 0.5 * log(2 * M_PI);
    xb_cross *cross = &kl->cross;
    switch (cross->prior.kind) {
    case XB_PRIOR_NORMAL:
        cross->kind = XB_CROSS_NORMAL;
        kl->constant += log_root + log(cross->prior.sd);
        return XB_OK;
    case XB_PRIOR_LAPLACE:
        cross->kind = XB_CROSS_LAPLACE;
        kl->constant += log(2 * cross->prior.scale);
        XB_TRY(xb_meanabs_make(ctx, &kl->meanabs, law));
        cross->meanabs = kl->meanabs;
        return XB_OK;
    case XB_PRIOR_MIXTURE: break;
    }
    cross->kind = XB_CROSS_MIXTURE;
    XB_TRY(xb_spike_make(ctx, &kl->spike, law, &cross->prior));
    xb_spike_lend(cross, &kl->spike);
    kl->constant += log_root + log(kl->spike.wide) - kl->spike.log_wide_weight;
    return XB_OK;
}

xb_status xb_kl_create(xb_ctx *ctx, xb_kl **out, const xb_law *law, const xb_prior *prior,
                       int64_t points)
{
    if (points < 0 || points > XB_RULE_MAX)
        return xb_fail(ctx, XB_E_ARGUMENT, "KL by %lld points, expected 0 to %d",
                       (long long)points, XB_RULE_MAX);
    xb_kl *kl = xb_new(ctx, 1, sizeof *kl);
    if (!kl) return XB_E_MEMORY;
    kl->cross.prior = *prior;
    kl->constant = log(xb_law_sd(law)) - xb_law_entropy(law); /* -H(z) */
    xb_status status =
        points > 0 ? make_rule(ctx, kl, law, points) : make_cross(ctx, kl, law);
    if (status == XB_OK) *out = kl;
    if (status != XB_OK) xb_kl_destroy(kl);
    return status;
}

void xb_kl_destroy(xb_kl *kl)
{
    if (!kl) return;
    if (kl->with) kl->with->release(kl->with, kl->memory);
    xb_meanabs_free(&kl->meanabs);
    xb_spike_free(&kl->spike);
    xb_rule_free(&kl->rule);
    free(kl);
}
