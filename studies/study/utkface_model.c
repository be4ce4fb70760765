/* utkface_model.c: see utkface_model.h. The paper does not specify the number of filters,
 * the length of its phases and the noise net. Ours: 16 filters at first; sigma = exp
 * (rho) from 0.01 at a rate of 1e-3, as in the scalar study; a small net of strided
 * convolutions for sigma_a, whose last layer sees values of tanh only, so that its output
 * for an unfamiliar picture stays within the range it has learnt; batchnorm keeps tanh
 * from its flat ends, where without it Adam's first steps take a sum over hundreds of
 * positive pixels. It starts from what the first phase leaves unexplained (V11). */
#include "study/utkface_model.h"

#include <stdio.h>

enum { BATCH = 100, VALIDATION_DRAWS = 4 };

/* Plans for real or synthetic faces, each in full and quick. */
/* clang-format off */
static const xb_utkface_plan plans[2][2] = {
    {{.size = 100, .held = 1000, .momentum = 0.99, .blocks = 4, .filters = 16,
      .mle_epochs = 20, .epochs = 12, .mle_rate = 5e-3, .rate = 1e-3, .mirror = true,
      .draws = 64},
     {.size = 64, .train = 12000, .held = 400, .test = 1000, .momentum = 0.95,
      .blocks = 4, .filters = 8, .mle_epochs = 8, .epochs = 4, .mle_rate = 1e-2,
      .rate = 3e-3, .draws = 32}},
    {{.size = 40, .faces = 6000, .momentum = 0.9, .blocks = 3, .filters = 8,
      .mle_epochs = 10, .epochs = 6, .mle_rate = 3e-3, .rate = 1e-3, .draws = 200},
     {.size = 24, .faces = 1000, .momentum = 0.9, .blocks = 2, .filters = 4,
      .mle_epochs = 8, .epochs = 4, .mle_rate = 1e-2, .rate = 3e-3, .draws = 40}}};
/* clang-format on */

xb_utkface_plan xb_utkface_plan_for(bool synthetic, bool quick)
{
    return plans[synthetic][quick];
}

static void mean_net(char out[XB_UTKFACE_NET], const xb_utkface_plan *plan,
                     const char *norm)
{
    int used = 0;
    for (int b = 0; b < plan->blocks; b++)
        for (int twice = 0; twice < 2; twice++)
            used +=
                snprintf(out + used, (size_t)(XB_UTKFACE_NET - used),
                         "conv %d, relu, maxpool 2 ceil, %s, ", plan->filters << b, norm);
    snprintf(out + used, (size_t)(XB_UTKFACE_NET - used),
             "flatten, dense 100, %s, relu, dense 10, %s, relu, dense 1, %s, sigmoid",
             norm, norm, norm);
}

void xb_utkface_nets_for(xb_utkface_nets *out, const xb_utkface_plan *plan)
{
    char norm[48];
    snprintf(norm, sizeof norm, "batchnorm momentum %g", plan->momentum);
    mean_net(out->mean, plan, norm);
    snprintf(out->noise, sizeof out->noise,
             "conv 8 5x5 stride 4, relu, %s, conv 16 stride 2, relu, %s, conv 16 stride"
             " 2, relu, %s, flatten, dense 16, %s, tanh, dense 1",
             norm, norm, norm, norm);
}

static xb_train_options common(const xb_utkface_plan *plan, const xb_utkface_nets *nets,
                               uint64_t seed)
{
    xb_train_options o = xb_train_options_default();
    o.net = nets->mean;
    o.noise_net = nets->noise;
    o.likelihood = XB_LIKELIHOOD_HETEROSCEDASTIC;
    o.target_mean = 0;
    o.target_sd = XB_UTKFACE_AGE_MAX;
    o.batch = BATCH;
    o.validation_draws = VALIDATION_DRAWS;
    o.mirror = plan->mirror; /* flipping a face does not change its age */
    o.seed = seed;
    return o;
}

xb_train_options xb_utkface_mle(const xb_utkface_plan *plan, const xb_utkface_nets *nets,
                                uint64_t seed)
{
    xb_train_options o = common(plan, nets, seed);
    o.mle_epochs = plan->mle_epochs;
    o.epochs = 0;
    o.adam.rate = plan->mle_rate;
    o.sigma = 1e-9; /* practically no noise yet */
    return o;
}

xb_train_options xb_utkface_vi(const xb_utkface_plan *plan, const xb_utkface_nets *nets,
                               uint64_t seed, const xb_law *law, const xb_model *start)
{
    xb_train_options o = common(plan, nets, seed);
    o.mle_epochs = 0;
    o.epochs = plan->epochs;
    o.adam.rate = plan->rate;
    o.law = law;
    o.start = start;
    o.temperature =
        (xb_schedule){.kind = XB_SCHEDULE_EXP, .value = 1000, .floor = 0.1}; /* (V9) */
    return o;
}
