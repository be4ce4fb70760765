/* test_net_noise.c: noise in a pass: the gradient is that of the very draw, nothing is
 * stored, every part of an address counts, a dealt pass draws the same, weights drawn
 * ahead or by panels are the same, estimators are unbiased, antithetic pairs mirror. */
#include "passtest.h"

#include "base/comm.h"
#include "base/ctx.h"
#include "run/pass.h"

/* y = x (mu + sigma z) tells z; the gradient by sigma must be x z dy. */
static void gradient_is_of_the_very_draw(void **state)
{
    (void)state;
    for (int e = 0; e <= XB_ESTIMATOR_LOCAL; e++) {
        xb_pass_options opt = options_of((xb_estimator)e, 1, NULL);
        netbed b = netbed_make("dense 1 nobias", (xb_shape){1, 1, 1},
                               law_for(opt.estimator), NULL, &opt);
        netbed_forward(&b);
        netbed_backward(&b);
        double x = (double)b.x[0], dy = (double)b.dy[0];
        double z = ((double)b.y[0] / x - (double)b.mu[0]) / (double)b.sigma[0];
        assert_true(fabs(z) > 1e-3);
        assert_close((double)b.d_sigma[0], x * z * dy, 1e-5);
        assert_close((double)b.d_mu[0], x * dy, 1e-6);
        netbed_free(&b);
    }
}

/* A net whose rows could be dealt to ranks hands out its gradients when the pass ends,
 * and draws the noise of each layer again: the bytes are those of a pass that is not
 * dealt. */
static void a_dealt_pass_has_the_same_gradients(void **state)
{
    (void)state;
    static const char net[] = "conv 32, relu, conv 16, relu, flatten, dense 3";
    static const xb_estimator estimators[] = {XB_ESTIMATOR_SHARED, XB_ESTIMATOR_FLIPOUT,
                                              XB_ESTIMATOR_LOCAL};
    xb_comm alone = {.size = 1};
    for (int e = 0; e < XB_COUNT(estimators); e++) {
        xb_pass_options opt = options_of(estimators[e], 48, NULL);
        netbed b =
            netbed_make(net, (xb_shape){28, 28, 1}, law_for(opt.estimator), NULL, &opt);
        const size_t size = (size_t)b.params * sizeof *b.d_mu;
        xb_real *mu = malloc(size), *sigma = malloc(size);
        b.mode = XB_MODE_TRAIN;
        netbed_forward(&b);
        netbed_backward(&b);
        memcpy(mu, b.d_mu, size);
        memcpy(sigma, b.d_sigma, size);
        assert_ok(b.ctx, xb_pass_join(b.ctx, b.pass, &alone));
        if (xb_pass_backend(b.pass)->host) assert_true(xb_pass_is_dealt(b.pass, b.batch));
        netbed_forward(&b);
        netbed_backward(&b);
        assert_memory_equal(mu, b.d_mu, size);
        assert_memory_equal(sigma, b.d_sigma, size);
        free(mu);
        free(sigma);
        netbed_free(&b);
    }
}

static const char deep[] =
    "conv 3, batchnorm, relu, maxpool 2, flatten, dense 5, elu, dense 2";

/* Whatever is in the scratch after forward, backward is the same: so noise is made
 * again, not kept. What is kept does not grow with noise either. */
static void no_noise_is_stored(void **state)
{
    (void)state;
    for (int e = 0; e <= XB_ESTIMATOR_LOCAL; e++) {
        xb_pass_options opt = options_of((xb_estimator)e, 5, NULL);
        xb_net_options all = xb_net_options_default(), none = all;
        all.stochastic = XB_STOCHASTIC_ALL, none.stochastic = XB_STOCHASTIC_NONE;
        netbed b =
            netbed_make(deep, (xb_shape){6, 6, 2}, law_for(opt.estimator), &all, &opt);
        netbed fixed = netbed_make(deep, (xb_shape){6, 6, 2}, NULL, &none, &opt);
        assert_int_equal(b.pass->n_output, fixed.pass->n_output);
        assert_int_equal(b.pass->n_keep, fixed.pass->n_keep);
        assert_int_equal(b.pass->n_gradient, fixed.pass->n_gradient);
        b.mode = XB_MODE_TRAIN;
        netbed_forward(&b);
        netbed_backward(&b);
        size_t size = (size_t)b.params * sizeof *b.d_mu;
        xb_real *mu = malloc(size), *sigma = malloc(size);
        memcpy(mu, b.d_mu, size);
        memcpy(sigma, b.d_sigma, size);
        netbed_forward(&b);
        const xb_backend *of = xb_pass_backend(b.pass);
        of->fill(of, b.pass->scratch, NAN, b.pass->n_scratch);
        of->fill(of, b.pass->gradient[0], NAN, 2 * b.pass->n_gradient);
        netbed_backward(&b);
        assert_memory_equal(mu, b.d_mu, size);
        assert_memory_equal(sigma, b.d_sigma, size);
        free(mu);
        free(sigma);
        netbed_free(&b);
        netbed_free(&fixed);
    }
}

/* Another step, sample or key is another draw; the same address the same. */
static void every_part_of_an_address_counts(void **state)
{
    (void)state;
    for (int e = 0; e <= XB_ESTIMATOR_LOCAL; e++) {
        xb_pass_options opt = options_of((xb_estimator)e, 5, NULL);
        netbed b = netbed_make("dense 3, tanh, dense 2", (xb_shape){1, 1, 4},
                               law_for(opt.estimator), NULL, &opt);
        size_t size = (size_t)(b.batch * b.out) * sizeof *b.y;
        xb_real *y = malloc(size);
        assert_non_null(y);
        netbed_forward(&b);
        memcpy(y, b.y, size);
        const xb_noise here = b.noise;
        xb_noise other[] = {here, here, here, here};
        other[0].step++;
        other[1].sample++;
        other[2].key.word[0]++;
        other[3].key.word[1]++;
        for (int i = 0; i < XB_COUNT(other); i++) {
            b.noise = other[i];
            netbed_forward(&b);
            assert_memory_not_equal(y, b.y, size);
        }
        b.noise = here;
        netbed_forward(&b);
        assert_memory_equal(y, b.y, size);
        free(y);
        netbed_free(&b);
    }
}

/* A net that is a part of a larger one draws what it would draw there: of two layers that
 * run one after the other, the second is numbered on from the first. */
static void a_part_draws_as_in_the_whole(void **state)
{
    (void)state;
    for (int e = 0; e <= XB_ESTIMATOR_LOCAL; e++) {
        xb_pass_options opt = options_of((xb_estimator)e, 5, NULL), later = opt;
        later.first_tensor = 2;
        const char *law = law_for(opt.estimator);
        netbed whole = netbed_make("dense 3, dense 2", features3, law, NULL, &opt);
        netbed low = netbed_make("dense 3", features3, law, NULL, &opt);
        netbed high = netbed_make("dense 2", features3, law, NULL, &later);
        const size_t each = sizeof *whole.mu, first = (size_t)low.params;
        memcpy(low.mu, whole.mu, first * each);
        memcpy(low.sigma, whole.sigma, first * each);
        memcpy(high.mu, whole.mu + first, (size_t)high.params * each);
        memcpy(high.sigma, whole.sigma + first, (size_t)high.params * each);
        memcpy(low.x, whole.x, (size_t)(low.batch * low.in) * each);
        netbed_forward(&whole);
        netbed_forward(&low);
        memcpy(high.x, low.y, (size_t)(low.batch * low.out) * each);
        netbed_forward(&high);
        assert_memory_equal(whole.y, high.y, (size_t)(whole.batch * whole.out) * each);
        netbed_free(&whole);
        netbed_free(&low);
        netbed_free(&high);
    }
}

static void wrong_first_tensors_are_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = NULL;
    xb_net *net = NULL;
    xb_pass *pass = NULL;
    xb_pass_options opt = options_of(XB_ESTIMATOR_SHARED, 1, NULL);
    assert_int_equal(xb_ctx_create(&ctx), XB_OK);
    assert_int_equal(xb_net_parse(ctx, &net, "dense 1", features3, NULL), XB_OK);
    for (int i = 0; i < 2; i++) {
        opt.first_tensor = i ? (INT64_C(1) << 30) - 1 : -1;
        assert_int_equal(xb_pass_create(ctx, &pass, net, &opt), XB_E_ARGUMENT);
        assert_non_null(strstr(xb_ctx_message(ctx), "first_tensor is "));
        assert_null(pass);
    }
    xb_net_destroy(net);
    xb_ctx_destroy(ctx);
}

/* theta [params] of the bed's weights, drawn in the backend's memory. */
static void draw_ahead(netbed *b, xb_real *theta)
{
    const xb_backend *of = xb_pass_backend(b->pass);
    int64_t bytes = b->params * (int64_t)sizeof *theta;
    void *memory = NULL;
    assert_ok(b->ctx, of->take(of, b->ctx, &memory, 3 * bytes));
    xb_real *mu = memory, *sigma = mu + b->params, *drawn = sigma + b->params;
    of->put(of, mu, b->mu, bytes);
    of->put(of, sigma, b->sigma, bytes);
    const xb_weights random = {mu, sigma, drawn, NULL}; /* a state that nobody reads */
    assert_ok(b->ctx, xb_pass_draw_within(b->ctx, b->pass, drawn, &random, &b->noise));
    of->get(of, theta, drawn, bytes);
    of->release(of, memory);
}

/* One draw for several passes is the draw that a pass makes itself; going back through
 * it is refused, as its weights were not those of a forward pass. */
static void weights_drawn_ahead_are_the_same(void **state)
{
    (void)state;
    for (int anti = 0; anti < 2; anti++) {
        xb_pass_options opt = options_of(XB_ESTIMATOR_SHARED, 5, NULL);
        xb_net_options all = xb_net_options_default();
        all.stochastic = XB_STOCHASTIC_ALL;
        netbed b = netbed_make(deep, (xb_shape){6, 6, 2}, "bimodal:m=0.9", &all, &opt);
        b.noise.antithetic = anti;
        netbed_forward(&b);
        size_t size = (size_t)(b.batch * b.out) * sizeof *b.y;
        xb_real *theta = calloc((size_t)b.params, sizeof *theta), *y = malloc(size);
        assert_non_null(theta);
        assert_non_null(y);
        memcpy(y, b.y, size);
        const xb_weights drawn = {theta, NULL, b.state, b.state};
        const xb_gradient g = {b.d_mu, b.d_sigma, b.d_x};
        draw_ahead(&b, theta);
        assert_int_equal(xb_pass_backward(b.ctx, b.pass, &g, b.dy), XB_E_ARGUMENT);
        assert_ok(b.ctx, xb_pass_forward(b.ctx, b.pass, b.y, b.x, b.batch, &drawn, NULL,
                                         b.mode));
        assert_memory_equal(y, b.y, size);
        free(theta);
        free(y);
        netbed_free(&b);
    }
}

/* A batch under one draw against its weights written down and its rows one by one: large
 * layers go by panels the first way, or by draws that are used up as they are made, and
 * as a plain product the second. */
static void check_panels(const char *text, int64_t batch, bool antithetic, bool gradients,
                         xb_stochastic which, int threads)
{
    xb_pass_options opt = options_of(XB_ESTIMATOR_SHARED, batch, NULL);
    xb_net_options choice = xb_net_options_default();
    choice.stochastic = which;
    opt.gradients = gradients;
    netbed b = netbed_make(text, (xb_shape){1, 1, 130}, mtj, &choice, &opt);
    b.noise.antithetic = antithetic;
    xb_ctx_set_threads(b.ctx, threads);
    netbed_forward(&b);
    size_t size = (size_t)(b.batch * b.out) * sizeof *b.y;
    xb_real *theta = calloc((size_t)b.params, sizeof *theta), *y = malloc(size);
    assert_non_null(theta);
    assert_non_null(y);
    memcpy(y, b.y, size);
    const xb_weights drawn = {theta, NULL, b.state, b.state};
    draw_ahead(&b, theta);
    for (int64_t r = 0; r < batch; r++)
        assert_ok(b.ctx, xb_pass_forward(b.ctx, b.pass, b.y + r * b.out, b.x + r * b.in,
                                         1, &drawn, NULL, b.mode));
    assert_memory_equal(y, b.y, size);
    free(theta);
    free(y);
    netbed_free(&b);
}

static void panels_are_the_same_bytes(void **state)
{
    (void)state;
    static const char uneven[] =
        "dense 301, elu, dense 540, tanh, dense 1030 nobias, dense 3";
    static const char whole[] =
        "dense 64, elu, dense 1280, tanh, dense 192 nobias, dense 3";
    static const int64_t batches[] = {1, 2, 3, 17, 250};
    for (int i = 0; i < XB_COUNT(batches); i++) {
        int64_t n = batches[i];
        check_panels(uneven, n, n % 2, false, XB_STOCHASTIC_ALL, 1);
        check_panels(uneven, n, n % 2, true, XB_STOCHASTIC_KERNELS, 2);
        check_panels(uneven, n, n % 2, false, XB_STOCHASTIC_NONE, 3);
        check_panels(whole, n, false, false, XB_STOCHASTIC_ALL, 1);
        check_panels(whole, n, false, true, XB_STOCHASTIC_KERNELS, 3);
        check_panels(whole, n, true, false, XB_STOCHASTIC_ALL, 1);
    }
}

/* Without gradients a wide layer's draw is never held: the workspace is smaller than a
 * hundredth of it. */
static void a_wide_draw_takes_no_memory(void **state)
{
    (void)state;
    xb_pass_options opt = options_of(XB_ESTIMATOR_SHARED, 1, NULL);
    opt.gradients = false;
    netbed b = netbed_make("dense 2048 nobias", (xb_shape){1, 1, 2048}, mtj, NULL, &opt);
    if (strcmp(xb_backend_name(0), "ref") != 0)
        assert_true(xb_pass_bytes(b.pass) < b.params * (int64_t)sizeof *b.mu / 100);
    netbed_free(&b);
}

/* Running mean and variance of a stream of numbers. */
typedef struct running {
    double n, mean, square;
} running;

static void running_add(running *r, double v)
{
    double d = v - r->mean;
    r->n++;
    r->mean += d / r->n;
    r->square += d * (v - r->mean);
}

/* More than 4.5 standard errors off: one false alarm in 150,000. */
static void assert_mean(const running *r, double expected, const char *what, int e)
{
    double error = sqrt(r->square / r->n / (r->n - 1));
    if (!(fabs(r->mean - expected) <= 4.5 * error + 1e-6 * fabs(expected)))
        fail_msg("%s %s: %.6g +- %.2g, expected %.6g", xb_estimator_name((xb_estimator)e),
                 what, r->mean, error, expected);
}

enum { IN = 3, OUT = 2, BATCH = 6, DRAWS = 20000 };

/* For y = x theta + b and the loss sum of y^2, in expectation
 *   d / d mu_ij    = sum_n 2 x_ni (x_n mu_j + b_j)
 *   d / d sigma_ij = sum_n 2 x_ni^2 sigma_ij       (z of variance 1, independent) */
static double exact_mu(const netbed *b, int i, int j)
{
    double sum = 0;
    for (int n = 0; n < BATCH; n++) {
        double y = (double)b->mu[IN * OUT + j];
        for (int k = 0; k < IN; k++)
            y += (double)b->x[n * IN + k] * (double)b->mu[k * OUT + j];
        sum += 2 * (i < IN ? (double)b->x[n * IN + i] : 1) * y;
    }
    return sum;
}

static double exact_sigma(const netbed *b, int i, int j)
{
    double sum = 0;
    for (int n = 0; n < BATCH; n++) {
        double x = i < IN ? (double)b->x[n * IN + i] : 1;
        sum += 2 * x * x * (double)b->sigma[i * OUT + j];
    }
    return sum;
}

typedef struct estimate {
    running mu[(IN + 1) * OUT], sigma[(IN + 1) * OUT];
} estimate;

static void estimate_run(estimate *out, netbed *b, int draws)
{
    for (int s = 0; s < draws; s++) {
        double mu[(IN + 1) * OUT] = {0}, sigma[(IN + 1) * OUT] = {0};
        int pair = b->noise.antithetic ? 2 : 1; /* a pair is one independent number */
        for (int half = 0; half < pair; half++) {
            b->noise.sample = (uint32_t)(pair * s + half);
            netbed_forward(b);
            for (int i = 0; i < BATCH * OUT; i++) b->dy[i] = 2 * b->y[i];
            netbed_backward(b);
            for (int i = 0; i < (IN + 1) * OUT; i++) {
                mu[i] += (double)b->d_mu[i] / pair;
                sigma[i] += (double)b->d_sigma[i] / pair;
            }
        }
        for (int i = 0; i < (IN + 1) * OUT; i++) {
            running_add(&out->mu[i], mu[i]);
            running_add(&out->sigma[i], sigma[i]);
        }
    }
}

static double total_variance(const running *r)
{
    double sum = 0;
    for (int i = 0; i < (IN + 1) * OUT; i++) sum += r[i].square / (r[i].n - 1);
    return sum;
}

__attribute__((unused)) static void estimators_are_unbiased(void **state)
{
    (void)state;
    double variance[4][2];
    for (int e = 0; e <= XB_ESTIMATOR_LOCAL; e++)
        for (int antithetic = 0; antithetic < 2; antithetic++) {
            xb_net_options all = xb_net_options_default();
            all.stochastic = XB_STOCHASTIC_ALL;
            xb_pass_options opt = options_of((xb_estimator)e, BATCH, NULL);
            netbed b =
                netbed_make("dense 2", features3, law_for(opt.estimator), &all, &opt);
            estimate got = {0};
            b.noise.antithetic = antithetic;
            estimate_run(&got, &b, DRAWS / (1 + antithetic));
            for (int i = 0; i <= IN; i++)
                for (int j = 0; j < OUT; j++) {
                    int at = i * OUT + j;
                    assert_mean(&got.mu[at], exact_mu(&b, i, j), "mu", e);
                    assert_mean(&got.sigma[at], exact_sigma(&b, i, j), "sigma", e);
                }
            variance[e][antithetic] = total_variance(got.mu);
            netbed_free(&b);
        }
    /* what they are for: less variance than one draw a batch; this loss is even in
     * z about its mean, so antithetic pairs leave nothing of mu's */
    for (int e = XB_ESTIMATOR_EXAMPLE; e <= XB_ESTIMATOR_LOCAL; e++)
        assert_at_most(variance[e][0], 0.7 * variance[XB_ESTIMATOR_SHARED][0]);
    for (int e = 0; e <= XB_ESTIMATOR_LOCAL; e++)
        assert_at_most(variance[e][1], 1e-9 * variance[e][0]);
}

static void antithetic_pairs_mirror(void **state)
{
    (void)state;
    for (int e = 0; e <= XB_ESTIMATOR_LOCAL; e++) {
        xb_pass_options opt = options_of((xb_estimator)e, 4, NULL);
        netbed b = netbed_make("dense 2", features3, law_for(opt.estimator), NULL, &opt);
        netbed plain = netbed_make("dense 2", features3, NULL, NULL, &opt);
        double sum[8] = {0};
        b.noise.antithetic = true;
        for (uint32_t s = 6; s < 8; s++) {
            b.noise.sample = s;
            netbed_forward(&b);
            for (int i = 0; i < 8; i++) sum[i] += (double)b.y[i];
        }
        netbed_forward(&plain);
        for (int i = 0; i < 8; i++)
            assert_close_floor(sum[i], 2 * (double)plain.y[i], 1e-6, 1);
        netbed_free(&b);
        netbed_free(&plain);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_is_of_the_very_draw),
        cmocka_unit_test(a_dealt_pass_has_the_same_gradients),
        cmocka_unit_test(no_noise_is_stored),
        cmocka_unit_test(every_part_of_an_address_counts),
        cmocka_unit_test(a_part_draws_as_in_the_whole),
        cmocka_unit_test(wrong_first_tensors_are_refused),
        cmocka_unit_test(weights_drawn_ahead_are_the_same),
        cmocka_unit_test(panels_are_the_same_bytes),
        cmocka_unit_test(a_wide_draw_takes_no_memory),
#if !defined(XB_SEALED) /* many draws, which are the same in any memory */
        cmocka_unit_test(estimators_are_unbiased),
#endif
        cmocka_unit_test(antithetic_pairs_mirror),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
