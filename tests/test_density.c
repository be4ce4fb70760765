/* Predictive densities: sums of device draws against golden KL values, nets whose output
 * has a known characteristic function, the floor of the estimate, errors, threads. */
#include "comparetest.h"

#include "failalloc.h"
#include "predict/density.h"
#include "predict/hidden.h"

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
    xb_net_options opt = xb_net_options_default();
    opt.stochastic = stochastic;
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
    b.weights = (xb_weights){b.mu, b.sigma, NULL, NULL};
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

/* ---- a net whose output's law is known: one hidden layer at x = 0 */

/* Output = b + sum of theta_k elu(b_k) under `bimodal` (m > 0) or Gaussian (m = 0) noise:
 * its characteristic function by the trapezoid rule over each b_k. */
typedef struct exact_net {
    double m, s; /* of the law: modes at -m, m, each of standard deviation s */
    const bench_net *net;
    int width;
} exact_net;

static double exact_phi(const exact_net *e, double x)
{
    return cos(e->m * x) * exp(-0.5 * e->s * e->s * x * x);
}

static double exact_pdf(const exact_net *e, double z)
{
    double a = (z - e->m) / e->s, b = (z + e->m) / e->s;
    return (exp(-a * a / 2) + exp(-b * b / 2)) / (2 * e->s * sqrt(2 * M_PI));
}

/* Tensors: 0.kernel [1][W], 0.bias [W], 2.kernel [W][1], 2.bias [1]. */
static void exact_at(double out[2], const exact_net *e, double t)
{
    int w = e->width;
    const float *mu = e->net->mu, *sigma = e->net->sigma;
    double re = exact_phi(e, sigma[3 * w] * t), im = 0, angle = mu[3 * w] * t;
    out[0] = re * cos(angle), out[1] = re * sin(angle);
    for (int k = 0; k < w; k++) {
        const double step = 0.01, far = 9;
        re = im = 0;
        for (double z = -far; z <= far; z += step) {
            double b = mu[w + k] + sigma[w + k] * z, h = b > 0 ? b : expm1(b);
            double phi = step * exact_pdf(e, z) * exact_phi(e, sigma[2 * w + k] * h * t);
            re += phi * cos(mu[2 * w + k] * h * t);
            im += phi * sin(mu[2 * w + k] * h * t);
        }
        double next = out[0] * re - out[1] * im;
        out[1] = out[0] * im + out[1] * re, out[0] = next;
    }
}

enum { EXACT_TIMES = 160, EXACT_POINTS = 321 };

/* The density at -8, -7.95, .. 8. */
static void exact_density(double *p, const exact_net *e)
{
    const double dt = 0.1;
    double phi[EXACT_TIMES][2];
    for (int j = 0; j < EXACT_TIMES; j++) exact_at(phi[j], e, dt * j);
    for (int i = 0; i < EXACT_POINTS; i++) {
        double y = -8 + 0.05 * i, sum = 0.5;
        for (int j = 1; j < EXACT_TIMES; j++)
            sum += phi[j][0] * cos(dt * j * y) + phi[j][1] * sin(dt * j * y);
        p[i] = sum * dt / M_PI;
    }
}

static double exact_kl(const bench_net *net, int width, double m)
{
    static double p[EXACT_POINTS], q[EXACT_POINTS];
    exact_net law = {m, sqrt(1 - m * m), net, width}, gaussian = {0, 1, net, width};
    double kl = 0;
    exact_density(p, &law);
    exact_density(q, &gaussian);
    for (int i = 0; i < EXACT_POINTS; i++)
        if (p[i] > 1e-12 && q[i] > 1e-12) kl += p[i] * log(p[i] / q[i]) * 0.05;
    return kl;
}

static void test_net_at_zero(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *gaussian = test_law(ctx, "gaussian"), *law = test_law(ctx, "bimodal:m=0.9");
    const xb_law *laws[] = {gaussian, law};
    const char *text[] = {"dense 1, elu, dense 1", "dense 3, elu, dense 1"};
    for (int i = 0; i < 2; i++) {
        bench_net b = make_net(ctx, text[i], 1, 0.8, 0.6, XB_STOCHASTIC_ALL);
        float x = 0;
        xb_densities *d = NULL;
        assert_ok(ctx,
                  xb_densities_create(ctx, &d, b.net, &b.weights, &x, laws, 2, NULL));
        xb_estimate kl = xb_densities_kl(d, 1, 0);
        double exact = exact_kl(&b, i == 0 ? 1 : 3, 0.9);
        assert_at_most(fabs(kl.value - exact), 4 * kl.std_error); /* 1 in 16,000 */
        assert_at_most(kl.std_error, 0.01 * exact);
        assert_at_most(xb_densities_roughness(d), 1e-3);
        xb_densities_destroy(d);
        free_net(&b);
    }
    xb_law_destroy(gaussian);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* ---- against plain samples: another route through the library, with a bias of its own
 */

enum { SAMPLES = 20000 };

static double *sample_outputs(xb_ctx *ctx, const bench_net *b, const xb_law *law,
                              uint32_t step)
{
    enum { BATCH = 1000 };
    double *out = malloc(SAMPLES * sizeof *out);
    float x[BATCH] = {0}, y[BATCH];
    xb_sampler *sampler = NULL;
    xb_pass *pass = NULL;
    xb_pass_options opt = xb_pass_options_default();
    opt.batch = BATCH, opt.gradients = false, opt.estimator = XB_ESTIMATOR_EXAMPLE;
    assert_ok(ctx, xb_sampler_create(ctx, &sampler, law, NULL));
    assert_ok(ctx, xb_pass_create(ctx, &pass, b->net, &opt));
    for (int i = 0; i < SAMPLES; i += BATCH) {
        xb_noise noise = {.sampler = sampler,
                          .key = xb_key_make(7, XB_PURPOSE_TEST),
                          .step = step,
                          .first = i};
        assert_ok(ctx, xb_pass_forward(ctx, pass, y, x, BATCH, &b->weights, &noise,
                                       XB_MODE_PREDICT));
        for (int k = 0; k < BATCH; k++) out[i + k] = (double)y[k];
    }
    xb_pass_destroy(pass);
    xb_sampler_destroy(sampler);
    return out;
}

static double sample_kl(xb_ctx *ctx, const double *a, const double *b, double *error)
{
    measured d = {0};
    xb_distance_options opt = xb_distance_options_default();
    opt.permutations = 0;
    assert_ok(ctx, measure(ctx, &d, a, SAMPLES, b, SAMPLES, 1, &opt));
    *error = d.kl.std_error;
    return d.kl.value;
}

static void test_against_samples(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *gaussian = test_law(ctx, "gaussian"), *law = test_law(ctx, "bimodal:m=0.9");
    const xb_law *laws[] = {gaussian, law};
    bench_net b = make_net(ctx, "dense 2, tanh, dense 2, elu, dense 1", 1, 0.5, 0.7,
                           XB_STOCHASTIC_ALL);
    float x = 0;
    xb_densities *d = NULL;
    assert_ok(ctx, xb_densities_create(ctx, &d, b.net, &b.weights, &x, laws, 2, NULL));
    xb_estimate kl = xb_densities_kl(d, 1, 0);
    double *p = sample_outputs(ctx, &b, law, 0),
           *q = sample_outputs(ctx, &b, gaussian, 1);
    double *r = sample_outputs(ctx, &b, gaussian, 2), error, floor_error;
    double sampled = sample_kl(ctx, p, q, &error);
    double floor = sample_kl(ctx, r, q, &floor_error);
    assert_at_most(fabs(sampled - kl.value), 4 * error + fabs(floor));
    assert_at_most(kl.std_error, error / 5);
    double mean = 0, square = 0;
    for (int i = 0; i < SAMPLES; i++)
        mean += p[i] / SAMPLES, square += p[i] * p[i] / SAMPLES;
    xb_output_moments m = xb_densities_moments(d, 1);
    assert_at_most(fabs(mean - m.mean.value), 4 * m.sd.value / sqrt(SAMPLES));
    assert_close(sqrt(square - mean * mean), m.sd.value, 0.03);
    free(p), free(q), free(r);
    xb_densities_destroy(d);
    free_net(&b);
    xb_law_destroy(gaussian);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* ---- noise */

static xb_hidden_source paired;

/* Law 1 of this source takes words of its own: two runs of one law. */
static xb_status draw_apart(void *run, const xb_real **h, int law, int block,
                            int64_t first, int64_t count)
{
    return paired.draw(run, h, law, block + 1000 * law, first, count);
}

/* Two independent runs of the Gaussian law: the plain estimate sees a distance of noise
 * alone, ours sees 0 within its error. */
static void test_no_bias(void **state)
{
    (void)state;
    enum { RUNS = 40, BLOCKS = 16 };
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "gaussian");
    bench_net b = make_net(ctx, "dense 4, elu, dense 1", 1, 0.8, 0.6, XB_STOCHASTIC_ALL);
    xb_sampler *sampler[2] = {NULL, NULL};
    xb_charfn charfn[2];
    for (int l = 0; l < 2; l++) {
        assert_ok(ctx, xb_sampler_create(ctx, &sampler[l], law, NULL));
        assert_ok(ctx, xb_charfn_make(ctx, &charfn[l], law));
    }
    double value[RUNS], error = 0, plain = 0, mean = 0, spread = 0;
    for (int i = 0; i < RUNS; i++) {
        xb_hidden hidden;
        float x = 0;
        assert_ok(ctx, xb_hidden_make(ctx, &hidden, b.net, &b.weights, &x,
                                      (uint64_t)i + 1, NULL));
        hidden.sampler = sampler;
        paired = xb_hidden_source_of(&hidden);
        xb_hidden_source apart = paired;
        apart.draw = draw_apart;
        xb_output_layer last = xb_output_layer_of(b.net, &b.weights);
        xb_densities *d = NULL;
        assert_ok(ctx, xb_densities_new(ctx, &d, 2, BLOCKS, 256));
        assert_ok(ctx, xb_densities_run(ctx, d, &apart, &last, charfn, 128));
        xb_estimate kl = xb_densities_kl(d, 1, 0);
        value[i] = kl.value;
        error += kl.std_error / RUNS;
        for (int64_t k = 0; k < d->count; k++) {
            double p = d->value[d->count + k], q = d->value[k];
            if (p > 0 && q > 0) plain += p * log(p / q) * d->step / RUNS;
        }
        xb_densities_destroy(d);
        xb_hidden_free(&hidden);
    }
    for (int i = 0; i < RUNS; i++) mean += value[i] / RUNS;
    for (int i = 0; i < RUNS; i++)
        spread += (value[i] - mean) * (value[i] - mean) / (RUNS - 1);
    assert_at_most(fabs(mean), 4 * sqrt(spread / RUNS)); /* 1 in 16,000 */
    assert_at_most(sqrt(spread), 2 * error);
    assert_true(plain > 3 * sqrt(spread / RUNS)); /* what the correction takes away */
    for (int l = 0; l < 2; l++) {
        xb_sampler_destroy(sampler[l]);
        xb_charfn_free(&charfn[l]);
    }
    free_net(&b);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* A wide net with equal shares: a device's 2e-7 is seen to 1e-7 with 131072 draws. */
static void test_floor(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *gaussian = test_law(ctx, "gaussian"), *law = test_law(ctx, "mtj");
    const xb_law *laws[] = {gaussian, law};
    bench_net b = make_net(ctx, "dense 48, elu, dense 48, elu, dense 1", 1, 1, 0.2,
                           XB_STOCHASTIC_KERNELS);
    float x = 1;
    xb_density_options opt = xb_density_options_default();
    opt.draws = test_long() ? 131072 : 32768;
    xb_densities *d = NULL;
    assert_ok(ctx, xb_densities_create(ctx, &d, b.net, &b.weights, &x, laws, 2, &opt));
    xb_estimate kl = xb_densities_kl(d, 1, 0);
    assert_at_most(kl.std_error, test_long() ? 2e-7 : 1e-6);
    assert_at_most(fabs(kl.value), 5e-6);
    xb_densities_destroy(d);
    free_net(&b);
    xb_law_destroy(gaussian);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* ---- the rest */

static void test_threads(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *gaussian = test_law(ctx, "gaussian"), *law = test_law(ctx, "mtj");
    const xb_law *laws[] = {gaussian, law};
    bench_net b = make_net(ctx, "dense 5, elu, dense 3, relu, dense 1", 2, 0.5, 0.5,
                           XB_STOCHASTIC_ALL);
    const float x[] = {0.3f, -1};
    xb_density_options opt = xb_density_options_default();
    opt.draws = 1000, opt.blocks = 7, opt.grid = 256;
    xb_densities *d[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        xb_ctx_set_threads(ctx, i ? 5 : 1);
        assert_ok(ctx,
                  xb_densities_create(ctx, &d[i], b.net, &b.weights, x, laws, 2, &opt));
    }
    assert_int_equal(xb_densities_draws(d[0]), 1000 / 7 * 7);
    assert_int_equal(xb_densities_count(d[0]), 256);
    for (int l = 0; l < 2; l++)
        assert_memory_equal(xb_densities_value(d[0], l), xb_densities_value(d[1], l),
                            256 * sizeof(double));
    assert_memory_equal(xb_densities_grid(d[0]), xb_densities_grid(d[1]),
                        256 * sizeof(double));
    for (int i = 0; i < 2; i++) xb_densities_destroy(d[i]);
    free_net(&b);
    xb_law_destroy(gaussian);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

static bool stop_half_way(void *arg, const xb_progress *event)
{
    *(int64_t *)arg = event->done;
    return 2 * event->done < event->total;
}

/* Wide nets take minutes: whoever asks to stop waits for one block, not for all. */
static void test_stops_when_asked(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "mtj");
    const xb_law *laws[] = {law};
    bench_net b = make_net(ctx, "dense 5, elu, dense 1", 1, 0.5, 0.5, XB_STOCHASTIC_ALL);
    const float x[] = {0.3f};
    xb_density_options opt = xb_density_options_default();
    opt.draws = 800, opt.blocks = 8, opt.grid = 256;
    xb_densities *d = NULL;
    int64_t done = 0;
    xb_ctx_set_threads(ctx, 1);
    xb_ctx_set_progress(ctx, stop_half_way, &done);
    assert_int_equal(xb_densities_create(ctx, &d, b.net, &b.weights, x, laws, 1, &opt),
                     XB_E_CANCELLED);
    assert_null(d);
    assert_int_equal(done, 4);
    free_net(&b);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

static void refused(xb_ctx *ctx, const char *net, xb_stochastic stochastic, double sd,
                    const xb_density_options *opt, const char *word)
{
    bench_net b = make_net(ctx, net, 1, 0.5, sd, stochastic);
    xb_law *law = test_law(ctx, "gaussian");
    const xb_law *laws[] = {law};
    float x = 1;
    xb_densities *d = NULL;
    assert_int_equal(xb_densities_create(ctx, &d, b.net, &b.weights, &x, laws, 1, opt),
                     XB_E_ARGUMENT);
    assert_null(d);
    if (!strstr(xb_ctx_message(ctx), word))
        fail_msg("'%s' does not say '%s'", xb_ctx_message(ctx), word);
    xb_law_destroy(law);
    free_net(&b);
}

static void test_refusals(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_density_options opt = xb_density_options_default();
    refused(ctx, "dense 2", XB_STOCHASTIC_ALL, 1, NULL, "dense 1");
    refused(ctx, "dense 1, elu", XB_STOCHASTIC_ALL, 1, NULL, "dense 1");
    refused(ctx, "dense 2, dense 1", XB_STOCHASTIC_NONE, 1, NULL, "random");
    refused(ctx, "dense 2, dense 1", XB_STOCHASTIC_ALL, 0, NULL, "spread");
    opt.grid = 1000;
    refused(ctx, "dense 1", XB_STOCHASTIC_ALL, 1, &opt, "1000");
    opt = xb_density_options_default(), opt.blocks = 1;
    refused(ctx, "dense 1", XB_STOCHASTIC_ALL, 1, &opt, "block: expected 2 to");
    opt = xb_density_options_default(), opt.draws = 5;
    refused(ctx, "dense 1", XB_STOCHASTIC_ALL, 1, &opt, "draws");
    opt = xb_density_options_default(), opt.backend = "none";
    refused(ctx, "dense 1", XB_STOCHASTIC_ALL, 1, &opt, "none");
    xb_ctx_destroy(ctx);
}

/* Half the hidden draws leave the output no spread at all: the densities say so. */
static void test_roughness(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "gaussian");
    const xb_law *laws[] = {law};
    bench_net b =
        make_net(ctx, "dense 1 nobias, relu, dense 1", 1, 0, 1, XB_STOCHASTIC_KERNELS);
    float x = 1;
    xb_densities *d = NULL;
    assert_ok(ctx, xb_densities_create(ctx, &d, b.net, &b.weights, &x, laws, 1, NULL));
    assert_true(xb_densities_roughness(d) > 0.3);
    xb_densities_destroy(d);
    free_net(&b);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* (E10) Moments of an exponential, about a place far from its mean: both blocks have the
 * same, so there is no error and no bias to take away. */
static void test_moments_about_anywhere(void **state)
{
    (void)state;
    const double raw[] = {1, 1, 2, 6, 24}, centre = 0.3;
    const int choose[5][5] = {{1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}, {1, 4, 6, 4, 1}};
    xb_ctx *ctx = test_ctx();
    xb_densities *d = NULL;
    assert_ok(ctx, xb_densities_new(ctx, &d, 1, 2, 16));
    d->centre = centre;
    for (int b = 0; b < 2; b++)
        for (int n = 1; n <= XB_DENSITY_MOMENTS; n++) {
            double sum = 0;
            for (int k = 0; k <= n; k++)
                sum += choose[n][k] * raw[k] * pow(-centre, n - k);
            xb_densities_part_moment(d, b, 0)[n - 1] = sum;
        }
    xb_output_moments m = xb_densities_moments(d, 0);
    assert_close(m.mean.value, 1, 1e-13);
    assert_close(m.sd.value, 1, 1e-13);
    assert_close(m.skewness.value, 2, 1e-12);
    assert_close(m.excess_kurtosis.value, 6, 1e-12);
    assert_at_most(m.excess_kurtosis.std_error, 1e-6);
    xb_densities_destroy(d);
    xb_ctx_destroy(ctx);
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_ctx_set_threads(ctx, 1);
    xb_law *gaussian = test_law(ctx, "gaussian"), *law = test_law(ctx, "bimodal");
    const xb_law *laws[] = {gaussian, law};
    bench_net b = make_net(ctx, "dense 2, elu, dense 1", 1, 0.5, 0.5, XB_STOCHASTIC_ALL);
    xb_density_options opt = xb_density_options_default();
    opt.draws = 8, opt.blocks = 2, opt.grid = 64;
    float x = 0;
    for (int k = 0; fail_alloc_after(k); k++) {
        xb_densities *d = NULL;
        xb_status status =
            xb_densities_create(ctx, &d, b.net, &b.weights, &x, laws, 2, &opt);
        if (!fail_alloc_happened()) {
            assert_int_equal(status, XB_OK);
            xb_densities_destroy(d);
            break;
        }
        if (status == XB_OK) { /* one that could be done without */
            xb_densities_destroy(d);
            continue;
        }
        assert_int_equal(status, XB_E_MEMORY);
        assert_null(d);
        assert_true(k < 1000);
    }
    free_net(&b);
    xb_law_destroy(gaussian);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_of_draws),
        cmocka_unit_test(test_net_at_zero),
        cmocka_unit_test(test_against_samples),
        cmocka_unit_test(test_no_bias),
        cmocka_unit_test(test_floor),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_roughness),
        cmocka_unit_test(test_memory_runs_out),
        cmocka_unit_test(test_stops_when_asked),
        cmocka_unit_test(test_moments_about_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
