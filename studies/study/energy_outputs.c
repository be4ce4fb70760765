/* energy_outputs.c: plain draws of a net's output at x = 0, with all weights drawn again
 * for each, for the check by nearest neighbours. */
#include <stdlib.h>

#include "crossbayes/extend.h"
#include "study/energy_cell.h"

enum { BATCH = 64 };

static xb_status run_batches(xb_ctx *ctx, double *y, xb_pass *pass, const xb_model *model,
                             xb_noise *noise, int64_t draws)
{
    const float x[BATCH] = {0};
    float f[BATCH];
    const xb_weights weights = xb_model_weights(model);
    for (int64_t done = 0; done < draws; done += BATCH) {
        int64_t batch = draws - done < BATCH ? draws - done : BATCH;
        noise->step = (uint32_t)(done / BATCH);
        XB_TRY(xb_pass_forward(ctx, pass, f, x, batch, &weights, noise, XB_MODE_PREDICT));
        for (int64_t i = 0; i < batch; i++) y[done + i] = (double)f[i];
    }
    return XB_OK;
}

xb_status xb_cell_outputs(xb_ctx *ctx, double *y, const xb_model *model,
                          const xb_law *law, int64_t draws, uint64_t seed, uint32_t run,
                          const char *backend)
{
    xb_pass_options opt = xb_pass_options_default();
    opt.backend = backend;
    opt.batch = BATCH;
    opt.gradients = false;
    opt.estimator = XB_ESTIMATOR_EXAMPLE;
    xb_pass *pass = NULL;
    xb_sampler *sampler = NULL;
    XB_TRY(xb_sampler_create(ctx, &sampler, law, NULL));
    xb_noise noise = {
        .sampler = sampler, .key = xb_key_make(seed, XB_PURPOSE_SAMPLE), .sample = run};
    xb_status status = xb_pass_create(ctx, &pass, xb_model_net(model), &opt);
    if (status == XB_OK) status = run_batches(ctx, y, pass, model, &noise, draws);
    xb_pass_destroy(pass);
    xb_sampler_destroy(sampler);
    return status;
}
