/* energy_keep.c: log sum_k E a_k^4 as a penalty; maths G5.
 *
 * n_eff = Var(f)^2 / sum_k E a_k^4, a_k = sigma_k df/dtheta_k at a draw of the weights,
 * and the loss keeps Var(f) near 1, so only the sum has to be made small. Each call
 * updates a running mean of (df/dtheta_k)^4 with one more draw and treats it as constant,
 * so that the gradient is with respect to sigma alone: 4 a^4 / sum with respect to log
 * sigma, which shrinks the few dominating weights and no others. */
#include "energy/energy_keep.h"

#include <stdlib.h>
#include <string.h>

#include "crossbayes/extend.h"

/* The number of draws that the running means average over: enough for a fourth moment to
 * settle, and few compared with the 10,000 steps of a training. */
enum { MEMORY = 100 };

struct xb_energy_keep {
    xb_pass *pass;
    int64_t n, seen;
    float *gradient; /* [mu n][sigma n] */
    double *fourth;  /* [n]: mean of (df/dtheta)^4 */
};

xb_status xb_energy_keep_create(xb_ctx *ctx, xb_energy_keep **out, const xb_net *net,
                                const char *backend)
{
    xb_energy_keep *k = xb_new(ctx, 1, sizeof *k);
    if (!k) return XB_E_MEMORY;
    xb_pass_options opt = xb_pass_options_default();
    opt.backend = backend;
    opt.batch = 1;
    k->n = xb_net_param_count(net);
    k->gradient = xb_new(ctx, 2 * k->n, sizeof *k->gradient);
    k->fourth = xb_new(ctx, k->n, sizeof *k->fourth);
    bool all = k->gradient && k->fourth;
    xb_status status = all ? xb_pass_create(ctx, &k->pass, net, &opt) : XB_E_MEMORY;
    if (status != XB_OK) {
        xb_energy_keep_destroy(k);
        return status;
    }
    *out = k;
    return XB_OK;
}

void xb_energy_keep_destroy(xb_energy_keep *k)
{
    if (!k) return;
    xb_pass_destroy(k->pass);
    xb_free(k->gradient);
    xb_free(k->fourth);
    xb_free(k);
}

/* Adds one more draw to the running means. */
static xb_status look(xb_ctx *ctx, xb_energy_keep *k, const xb_weights *weights,
                      const xb_noise *noise)
{
    const float x = 0, one = 1;
    float y;
    const xb_gradient gradient = {k->gradient, k->gradient + k->n, NULL};
    memset(k->gradient, 0, (size_t)(2 * k->n) * sizeof *k->gradient);
    XB_TRY(xb_pass_forward(ctx, k->pass, &y, &x, 1, weights, noise, XB_MODE_TRAIN));
    XB_TRY(xb_pass_backward(ctx, k->pass, &gradient, &one));
    if (k->seen < MEMORY) k->seen++;
    double share = 1 / (double)k->seen;
    for (int64_t i = 0; i < k->n; i++) {
        double square = (double)k->gradient[i] * (double)k->gradient[i];
        k->fourth[i] += share * (square * square - k->fourth[i]);
    }
    return XB_OK;
}

xb_status xb_energy_keep_add(xb_ctx *ctx, xb_energy_keep *k, float *d_sigma,
                             const xb_weights *weights, const xb_noise *noise,
                             double weight)
{
    const float *sigma = weights->sigma;
    double sum = 0;
    XB_TRY(look(ctx, k, weights, noise));
    for (int64_t i = 0; i < k->n; i++) {
        double v = (double)sigma[i] * (double)sigma[i];
        sum += v * v * k->fourth[i];
    }
    if (!(sum > 0)) return XB_OK;        /* the output does not vary */
    for (int64_t i = 0; i < k->n; i++) { /* (G5); sigma is 0 where a weight is fixed */
        double s = (double)sigma[i];
        d_sigma[i] += (float)(weight * 4 * s * s * s * k->fourth[i] / sum);
    }
    return XB_OK;
}
