/* array_aware.c: training for an array (maths V60, V61). The net that is run has
 * converters around its linear layers; kernels are rounded to the states of the devices
 * and get a new programming error in each draw. Training learns the weights before these
 * changes, and takes the gradient of the changed weights as theirs. */
#include <math.h>

#include "net/rounded.h"
#include "run/pass.h"
#include "vi/trainer.h"

/* The errors of training differ from those of every chip, whose streams have small
 * samples. */
enum { FIRST_SAMPLE = 1 << 20, BITS_MOST = 20, LEVELS_MOST = 1 << 30 };

static bool is_share(double x) { return x >= 0 && x <= 1; }

static xb_status check(xb_ctx *ctx, const xb_train_array *a)
{
    if (a->dac_bits < 0 || a->dac_bits == 1 || a->dac_bits > BITS_MOST ||
        a->adc_bits < 0 || a->adc_bits == 1 || a->adc_bits > BITS_MOST)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "training for converters of %lld and %lld bits, expected 0 (none)"
                       " or 2 to %d",
                       (long long)a->dac_bits, (long long)a->adc_bits, BITS_MOST);
    if (a->levels < 0 || a->levels > LEVELS_MOST)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "training for weights of %lld levels, expected 0 (any) to %d",
                       (long long)a->levels, LEVELS_MOST);
    if (!is_share(a->error) || !is_share(a->floor))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "training for an error of %g and a smallest sigma of %g of the"
                       " largest weight, expected 0 to 1",
                       a->error, a->floor);
    return XB_OK;
}

static bool rounds(const xb_train_array *a) { return a->dac_bits > 0 || a->adc_bits > 0; }
static bool writes(const xb_train_array *a)
{
    return a->levels > 0 || a->error > 0 || a->floor > 0;
}

xb_status xb_aware_make(xb_trainer *t)
{
    const xb_train_array *a = t->opt.array;
    xb_law *gaussian = NULL;
    if (!a) return XB_OK;
    XB_TRY(check(t->ctx, a));
    if (t->opt.cells)
        return xb_fail(t->ctx, XB_E_ARGUMENT,
                       "weights made of cells are trained with their own noise, not for"
                       " an array of pairs");
    if (!t->backend->rounding || !t->backend->written)
        return xb_fail(t->ctx, XB_E_ARGUMENT,
                       "nets are not trained for an array on this backend: use cpu");
    if (rounds(a))
        XB_TRY(
            xb_net_rounded(t->ctx, &t->rounded, t->model->net, a->dac_bits, a->adc_bits));
    if (!writes(a)) return XB_OK;
    XB_TRY(xb_law_parse(t->ctx, &gaussian, "gaussian"));
    const xb_status status = xb_sampler_create(t->ctx, &t->write_error, gaussian, NULL);
    xb_law_destroy(gaussian);
    return status;
}

xb_weights xb_aware_weights(xb_trainer *t, bool spread, int64_t draw)
{
    const xb_train_array *a = t->opt.array;
    float *sigma = spread ? t->sigma : NULL;
    xb_weights plain = {t->theta, sigma, t->state, t->state};
    if (!a || !writes(a)) return plain;
    const xb_net *net = t->model->net;
    const xb_backend *b = t->backend;
    float *mu_to = t->written, *sigma_to = t->written + t->rho;
    b->copy(b, mu_to, t->theta, t->p * (int64_t)sizeof *mu_to);
    if (spread) b->copy(b, sigma_to, sigma, t->p * (int64_t)sizeof *mu_to);
    for (int i = 0; i < xb_net_tensor_count(net); i++) {
        const xb_tensor *k = xb_net_tensor_at(net, i);
        if (k->role != XB_ROLE_KERNEL) continue;
        const xb_written_block block = {
            .mu_to = mu_to + k->offset,
            .sigma_to = sigma_to + k->offset,
            .mu = t->theta + k->offset,
            .sigma = spread && k->stochastic ? sigma + k->offset : NULL,
            .n = k->size,
            .levels = a->levels,
            .error = a->error,
            .floor = a->floor,
            .normal = t->write_error,
            .where = {t->write_key, (uint32_t)i, (uint32_t)(FIRST_SAMPLE + draw),
                      (uint32_t)t->draw}};
        b->written(b, t->ctx, &block);
    }
    return (xb_weights){mu_to, spread ? sigma_to : NULL, t->state, t->state};
}
