/* scalar_model.c: data and training settings of the scalar study.
 *
 * The paper prints the noise as N(0, 0.1 (1 + min(0, x - 1))), negative for x < 0; its
 * size is taken as the standard deviation; "max" is the reading with max for min. It does
 * not specify the length of the maximum likelihood phase, the parametrisation of sigma
 * and its initial value: the literal setting uses the usual choices (softplus, sigma
 * 0.05, one draw per batch), with a first phase long enough not to be the problem. */
#include "study/scalar_model.h"

#include <math.h>

#include "crossbayes/random.h"

static const char *const NET =
    "dense 16, elu, dense 16, elu, dense 16, elu, dense 16, elu, dense 1";

enum { EPOCHS = 100, LITERAL_EPOCHS = 10, BATCH = 100 };

/* Tensor numbers of the streams; training's own shuffles use small ones. */
enum { STREAM_X = 1000, STREAM_NOISE = 1001 };

/* (S1) */
double xb_scalar_truth(double x) { return sin(2 * M_PI * x); }
double xb_scalar_noise_sd(double x, xb_noise_scale scale)
{
    return scale == XB_NOISE_SCALE_MAX ? 0.1 * fmax(1, x) : 0.1 * fabs(fmin(1, x));
}

/* A uniform point of the set from u in (0, 1). */
static double place(double u, xb_scalar_set set)
{
    if (set != XB_SCALAR_TEST_OUT) return XB_SCALAR_KNOWN * (2 * u - 1);
    double far = (XB_SCALAR_ASKED - XB_SCALAR_KNOWN) * (2 * u - 1);
    return far + copysign(XB_SCALAR_KNOWN, far);
}

void xb_scalar_draw(double *x, double *y, int64_t n, uint64_t seed, xb_scalar_set set,
                    xb_noise_scale scale, const xb_law *gaussian)
{
    xb_key key = xb_key_make(seed, XB_PURPOSE_DATA);
    const xb_stream at = {.key = key, .tensor = STREAM_X, .sample = (uint32_t)set};
    const xb_stream noise = {.key = key, .tensor = STREAM_NOISE, .sample = (uint32_t)set};
    for (int64_t i = 0; i < n; i++) {
        double z = xb_law_quantile(gaussian, xb_stream_uniform(&noise, i));
        x[i] = place(xb_stream_uniform(&at, i), set);
        y[i] = xb_scalar_truth(x[i]) + xb_scalar_noise_sd(x[i], scale) * z;
    }
}

/* What both settings share: the paper's net, the prior N(0, 1) on its kernels, biases
 * that stay as the first phase left them, and noise from a second net. */
static xb_train_options common(uint64_t seed)
{
    xb_train_options o = xb_train_options_default();
    o.net = NET;
    o.likelihood = XB_LIKELIHOOD_HETEROSCEDASTIC;
    o.stochastic = XB_STOCHASTIC_KERNELS;
    o.prior_by_fan = false;
    o.freeze = true;
    o.noise_prior = 0;
    o.batch = BATCH;
    o.mle_epochs = EPOCHS;
    o.seed = seed;
    return o;
}

xb_train_options xb_scalar_settled(const xb_law *law, uint64_t seed)
{
    xb_train_options o = common(seed);
    o.law = law;
    o.epochs = EPOCHS;
    o.sigma = 0.005;
    return o;
}

xb_train_options xb_scalar_literal(uint64_t seed)
{
    xb_train_options o = common(seed);
    o.epochs = LITERAL_EPOCHS;
    o.estimator = XB_ESTIMATOR_SHARED;
    o.adam = xb_adam_options_default();
    o.rate = (xb_schedule){.kind = XB_SCHEDULE_CONSTANT, .value = 1};
    o.temperature = (xb_schedule){.kind = XB_SCHEDULE_EXP, .value = 1000};
    o.sigma_transform = XB_SIGMA_TRANSFORM_SOFTPLUS;
    o.sigma = 0.05;
    return o;
}
