/* Predictive densities: sums of device draws against golden KL values, nets whose output
 * has a known characteristic function, the floor of the estimate, errors, threads. */
#include "xbtest.h"

typedef struct bench_net {
    xb_net *net;
    float *mu, *sigma;
    xb_weights weights;
} bench_net;

/* Every weight and bias random; the same mean and standard deviation times
 * 1 / sqrt(inputs) for all, means spread over [-mean, mean]. */
static bench_net make_net(xb_ctx *ctx, const char *text, int64_t input, double mean,
                          double sd, xb_stochastic stochastic)
{
    bench_net b = {0};
    xb_net_options opt = {stochastic};
    assert_ok(ctx, xb_net_parse(ctx, &b.net, text, (xb_shape){1, 1, input}, &opt));
    int64_t n = xb_net_param_count(b.net);
    b.mu = calloc((size_t)n, sizeof *b.mu);
    b.sigma = calloc((size_t)n, sizeof *b.sigma);
    for (int i = 0; i < xb_net_tensor_count(b.net); i++) {
        const xb_tensor *t = xb_net_tensor_at(b.net, i);
        double scale = t->role == XB_ROLE_KERNEL ? 1 / sqrt((double)t->shape[0]) : 1;
        for (int64_t j = 0; j < t->size; j++) {
            double place = (double)(j * 37 % 11) / 5 - 1;
            b.mu[t->offset + j] = (float)(mean * scale * place);
            b.sigma[t->offset + j] = (float)(sd * scale);
        }
    }
    b.weights = (xb_weights){b.mu, b.sigma, NULL};
    return b;
}

static void free_net(bench_net *b)
{
    xb_net_destroy(b->net);
    free(b->mu);
    free(b->sigma);
}

/* KL of a sum of n draws from the Gaussian of its variance: the shared prototype's
 * golden_clt_kl.json (mpmath and FFT convolution). */
typedef struct golden {
    const char *law;
    double kl[4]; /* n = 2, 8, 32, 128 */
} golden;

static const golden sums[] = {
    {"mtj:B=0.15,w=0.5",
     {0.0029411693234455403, 2.0221103194060927e-05, 1.099780956377849e-06,
      6.833797586514989e-08}},
    {"mtj:B=0.05,w=0.3",
     {0.008829655350860737, 1.8852294854369924e-06, 6.9165286052889575e-09,
      2.8276019481634527e-11}},
    {"mtj:B=0.15,w=1",
     {0.014312718349674524, 0.0009368453010069521, 6.364056809138873e-05,
      4.118127688647856e-06}},
    {"ecram:B=0.1,w=0.6",
     {0.0008314591539793233, 1.5095748777343974e-05, 8.592395932564144e-07,
      5.3542335224564754e-08}},
    {"bimodal:m=0.9",
     {0.040226271558326664, 0.0006775150763155865, 3.654533250204481e-05,
      2.212202330025774e-06}},
};

static void test_sums_of_draws(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *gaussian = test_law(ctx, "gaussian");
    for (int l = 0; l < (int)(sizeof sums / sizeof sums[0]); l++) {
        xb_law *law = test_law(ctx, sums[l].law);
        const xb_law *laws[] = {gaussian, law};
        for (int i = 0, n = 2; i < 4; i++, n *= 4) {
            float x[128];
            for (int k = 0; k < n; k++) x[k] = 1;
            bench_net b = make_net(ctx, "dense 1", n, 0, 1, XB_STOCHASTIC_KERNELS);
            xb_densities *d = NULL;
            assert_ok(ctx,
                      xb_densities_create(ctx, &d, b.net, &b.weights, x, laws, 2, NULL));
            xb_estimate kl = xb_densities_kl(d, 1, 0);
            assert_close_floor(kl.value, sums[l].kl[i], 2e-6, 1e-7);
            assert_at_most(kl.std_error, 1e-15);
            double kappa = xb_law_moments(law).excess_kurtosis / n;
            assert_close(xb_densities_moments(d, 1).excess_kurtosis.value, kappa, 1e-6);
            assert_close(xb_densities_gap(d, 1).excess_kurtosis.value, kappa, 1e-6);
            xb_densities_destroy(d);
            free_net(&b);
        }
        xb_law_destroy(law);
    }
    xb_law_destroy(gaussian);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_of_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
