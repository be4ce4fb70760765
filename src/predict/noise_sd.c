/* noise_sd.c: the aleatoric standard deviation of inputs: a constant for each target, or
 * the noise net's (maths P3, P7). */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "predict/draws.h"
#include "run/pass.h"

/* (P3) Of one member, target by target. */
static xb_status noise_sd(xb_ctx *ctx, double *sd, const xb_model *m, const xb_rows *in,
                          const char *backend)
{
    const int64_t n = in->n, targets = m->targets;
    if (!m->noise_net) {
        for (int64_t i = 0; i < n * targets; i++)
            sd[i] = m->y_sd[i % targets] * exp(m->noise_log_sd[i % targets]);
        return XB_OK;
    }
    xb_pass *pass = NULL;
    xb_pass_options opt = xb_pass_options_default();
    opt.backend = backend;
    opt.batch = xb_chunk_rows(&xb_backend_host, m->noise_net);
    opt.gradients = false;
    const xb_weights weights = {m->noise_mu, NULL, m->noise_state, NULL};
    float *x = xb_new(ctx, opt.batch * (m->features + targets), sizeof *x);
    float *raw = x ? x + opt.batch * m->features : NULL;
    xb_status status = x ? xb_pass_create(ctx, &pass, m->noise_net, &opt) : XB_E_MEMORY;
    for (int64_t row = 0; row < n && status == XB_OK; row += opt.batch) {
        int64_t rows = n - row < opt.batch ? n - row : opt.batch;
        xb_model_take_rows(m, x, in, row, rows);
        status =
            xb_pass_forward(ctx, pass, raw, x, rows, &weights, NULL, XB_MODE_PREDICT);
        for (int64_t i = 0; status == XB_OK && i < rows * targets; i++)
            sd[row * targets + i] =
                m->y_sd[i % targets] *
                xb_sd_of(XB_SD_SOFTPLUS, m->noise_least, (double)raw[i]);
    }
    xb_pass_destroy(pass);
    free(x);
    return status;
}

xb_status xb_predict_noise_rows(xb_ctx *ctx, double *sd, const xb_model *model,
                                const xb_rows *rows, const char *backend)
{
    const int64_t each = rows->n * model->targets;
    for (int64_t i = 0; i < xb_model_member_count(model); i++)
        XB_TRY(noise_sd(ctx, sd + i * each, xb_model_member_at(model, i), rows, backend));
    return XB_OK;
}

void xb_noise_of_members(double *out, const double *sd, int64_t members, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double square = 0;
        for (int64_t m = 0; m < members; m++) square += sd[m * n + i] * sd[m * n + i];
        out[i] = members > 1 ? sqrt(square / (double)members) : sd[i];
    }
}
