/* test_net_pass.c: what passes promise: the gradient is that of the very draw, no
 * noise is stored, estimators are unbiased, a batch in parts gets the noise of the
 * whole, bytes do not depend on threads, batchnorm keeps its statistics. */
#include "nettest.h"

#include "base/ctx.h"
#include "failalloc.h"
#include "net/pass.h"

static const xb_shape features3 = {1, 1, 3};
static const char mtj[] = "mtj:B=0.15,w=0.5";

static xb_pass_options options_of(xb_estimator e, int64_t batch, const char *backend)
{
    xb_pass_options opt = xb_pass_options_default();
    opt.estimator = e;
    opt.batch = batch;
    opt.backend = backend;
    return opt;
}

static const char *law_for(xb_estimator e)
{
    return e == XB_ESTIMATOR_LOCAL ? "gaussian" : mtj;
}

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

static const char deep[] =
    "conv 3, batchnorm, relu, maxpool 2, flatten, dense 5, elu, dense 2";

/* Whatever is in the scratch after forward, backward is the same: so noise is made
 * again, not kept. What is kept does not grow with noise either. */
static void no_noise_is_stored(void **state)
{
    (void)state;
    for (int e = 0; e <= XB_ESTIMATOR_LOCAL; e++) {
        xb_pass_options opt = options_of((xb_estimator)e, 5, NULL);
        xb_net_options all = {XB_STOCHASTIC_ALL}, none = {XB_STOCHASTIC_NONE};
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
        for (int64_t i = 0; i < b.pass->n_scratch; i++) b.pass->scratch[i] = NAN;
        for (int64_t i = 0; i < 2 * b.pass->n_gradient; i++) b.pass->gradient[0][i] = NAN;
        for (int64_t i = 0; i < b.pass->n_sums; i++) b.pass->sums[i] = NAN;
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

/* One draw for several passes is the draw that a pass makes itself; going back through
 * it is refused, as its weights were not those of a forward pass. */
static void weights_drawn_ahead_are_the_same(void **state)
{
    (void)state;
    for (int anti = 0; anti < 2; anti++) {
        xb_pass_options opt = options_of(XB_ESTIMATOR_SHARED, 5, NULL);
        xb_net_options all = {XB_STOCHASTIC_ALL};
        netbed b = netbed_make(deep, (xb_shape){6, 6, 2}, "bimodal:m=0.9", &all, &opt);
        b.noise.antithetic = anti;
        netbed_forward(&b);
        size_t size = (size_t)(b.batch * b.out) * sizeof *b.y;
        xb_real *theta = calloc((size_t)b.params, sizeof *theta), *y = malloc(size);
        assert_non_null(theta);
        assert_non_null(y);
        memcpy(y, b.y, size);
        const xb_weights random = {b.mu, b.sigma, b.state},
                         drawn = {theta, NULL, b.state};
        const xb_gradient g = {b.d_mu, b.d_sigma, b.d_x};
        assert_ok(b.ctx, xb_pass_draw(b.ctx, b.pass, theta, &random, &b.noise));
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
    xb_net_options choice = {which};
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
    const xb_weights random = {b.mu, b.sigma, b.state}, drawn = {theta, NULL, b.state};
    assert_ok(b.ctx, xb_pass_draw(b.ctx, b.pass, theta, &random, &b.noise));
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
    if (strcmp(xb_backend_name_at(0), "ref") != 0)
        assert_true(xb_pass_bytes(b.pass) < (size_t)b.params * sizeof *b.mu / 100);
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

static void estimators_are_unbiased(void **state)
{
    (void)state;
    double variance[4][2];
    for (int e = 0; e <= XB_ESTIMATOR_LOCAL; e++)
        for (int antithetic = 0; antithetic < 2; antithetic++) {
            xb_net_options all = {XB_STOCHASTIC_ALL};
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

/* A net of 3 x 3 layers, examples 0 .. 10 at once and as 0 .. 3 and 4 .. 10. */
static void a_batch_in_parts_is_the_whole(void **state)
{
    (void)state;
    for (int e = 0; e <= XB_ESTIMATOR_LOCAL; e++)
        for (int64_t group = 1; group <= 3; group++) {
            xb_pass_options opt = options_of((xb_estimator)e, 11, NULL);
            opt.group = group;
            opt.gradients = false;
            netbed b = netbed_make("dense 4, tanh, elu, dense 2", features3,
                                   law_for(opt.estimator), NULL, &opt);
            xb_weights w = {b.mu, b.sigma, NULL};
            xb_real parts[22];
            netbed_forward(&b);
            assert_ok(b.ctx, xb_pass_forward(b.ctx, b.pass, parts, b.x, 4, &w, &b.noise,
                                             XB_MODE_PREDICT));
            b.noise.first = 4;
            assert_ok(b.ctx, xb_pass_forward(b.ctx, b.pass, parts + 8, b.x + 12, 7, &w,
                                             &b.noise, XB_MODE_PREDICT));
            assert_memory_equal(parts, b.y, sizeof parts);
            netbed_free(&b);
        }
}

/* The gradient by the inputs of a batch that is cut into pieces, against its halves,
 * which are other pieces. */
static void gradients_of_pieces_are_those_of_parts(void **state)
{
    (void)state;
    enum { MANY = 64, HALF = MANY / 2, WIDE = 128 };
    for (int e = 0; e <= XB_ESTIMATOR_LOCAL; e++) {
        xb_pass_options opt = options_of((xb_estimator)e, MANY, NULL);
        netbed b = netbed_make("dense 96", (xb_shape){1, 1, WIDE}, law_for(opt.estimator),
                               NULL, &opt);
        const xb_weights w = {b.mu, b.sigma, NULL};
        static xb_real part[HALF * WIDE], y[HALF * 96];
        netbed_forward(&b);
        netbed_backward(&b);
        for (int64_t from = 0; from < MANY; from += HALF) {
            const xb_gradient g = {b.d_mu, b.d_sigma, part};
            b.noise.first = from;
            assert_ok(b.ctx, xb_pass_forward(b.ctx, b.pass, y, b.x + from * WIDE, HALF,
                                             &w, &b.noise, XB_MODE_PREDICT));
            assert_ok(b.ctx, xb_pass_backward(b.ctx, b.pass, &g, b.dy + from * 96));
            for (int64_t i = 0; i < HALF * WIDE; i++)
                assert_close_floor(part[i], b.d_x[from * WIDE + i], 1e-4, 1);
        }
        netbed_free(&b);
    }
}

/* Work large enough to be cut into pieces, at several thread counts. */
static void check_threads(const char *text, xb_shape in, int64_t batch, xb_estimator e,
                          const char *backend)
{
    static const int threads[] = {1, 2, 3, 8};
    xb_pass_options opt = options_of(e, batch, backend);
    netbed b = netbed_make(text, in, law_for(e), NULL, &opt);
    size_t size = (size_t)b.params * sizeof *b.mu;
    size_t y_size = (size_t)(batch * b.out) * sizeof *b.y;
    size_t x_size = (size_t)(batch * b.in) * sizeof *b.x;
    xb_real *mu = malloc(size), *sigma = malloc(size), *y = malloc(y_size);
    xb_real *x = malloc(x_size);
    b.mode = XB_MODE_TRAIN;
    for (int t = 0; t < XB_COUNT(threads); t++) {
        xb_ctx_set_threads(b.ctx, threads[t]);
        netbed_forward(&b);
        netbed_backward(&b);
        if (t == 0) {
            memcpy(mu, b.d_mu, size);
            memcpy(sigma, b.d_sigma, size);
            memcpy(y, b.y, y_size);
            memcpy(x, b.d_x, x_size);
        }
        assert_memory_equal(mu, b.d_mu, size);
        assert_memory_equal(sigma, b.d_sigma, size);
        assert_memory_equal(y, b.y, y_size);
        assert_memory_equal(x, b.d_x, x_size);
    }
    free(mu), free(sigma), free(y), free(x);
    netbed_free(&b);
}

static void check_nets(xb_estimator e, const char *backend)
{
    check_threads("dense 100, batchnorm, elu, dense 33", (xb_shape){1, 1, 90}, 300, e,
                  backend);
    check_threads("conv 16, batchnorm, relu, maxpool 2, flatten, dense 3",
                  (xb_shape){15, 15, 9}, 45, e, backend);
    check_threads("maxpool 3 stride 1, conv 1 1x1", (xb_shape){40, 40, 8}, 10, e,
                  backend);
    check_threads("conv 16, relu, maxpool 2 ceil, batchnorm, conv 20, relu, maxpool 2",
                  (xb_shape){29, 31, 3}, 43, e, backend);
}

static void bytes_do_not_depend_on_threads(void **state)
{
    (void)state;
    for (int e = 0; e <= XB_ESTIMATOR_LOCAL; e++) check_nets((xb_estimator)e, "cpu");
    check_nets(XB_ESTIMATOR_SHARED, "ref");
}

/* Against numbers worked out from the definition (N4). */
static void batchnorm_runs_its_statistics(void **state)
{
    (void)state;
    xb_pass_options opt = options_of(XB_ESTIMATOR_SHARED, 4, NULL);
    netbed b = netbed_make("batchnorm momentum 0.75 epsilon 0.5", (xb_shape){1, 1, 2},
                           NULL, NULL, &opt);
    static const float x[] = {1, -1, 2, 0, 3, 1, 6, 8}; /* means 3 and 2 */
    static const double variance[] = {(4 + 1 + 0 + 9) / 4.0, (9 + 4 + 1 + 36) / 4.0};
    for (int i = 0; i < 8; i++) b.x[i] = x[i];
    xb_net_state_start(b.net, b.state);
    for (int i = 0; i < 4; i++) assert_close((double)b.state[i], i < 2 ? 0 : 1, 0);
    b.mode = XB_MODE_TRAIN;
    netbed_forward(&b);
    for (int c = 0; c < 2; c++) {
        double mean = c == 0 ? 3 : 2, scale = (double)b.mu[c],
               shift = (double)b.mu[2 + c];
        assert_close((double)b.state[c], 0.25 * mean, 1e-6);
        assert_close((double)b.state[2 + c], 0.75 + 0.25 * variance[c], 1e-6);
        for (int n = 0; n < 4; n++)
            assert_close_floor(
                (double)b.y[2 * n + c],
                ((double)x[2 * n + c] - mean) / sqrt(variance[c] + 0.5) * scale + shift,
                1e-6, 1);
    }
    xb_real kept[4];
    memcpy(kept, b.state, sizeof kept);
    b.mode = XB_MODE_PREDICT;
    netbed_forward(&b);
    assert_memory_equal(kept, b.state, sizeof kept);
    for (int i = 0; i < 8; i++) {
        int c = i % 2;
        double y = ((double)x[i] - (double)kept[c]) / sqrt((double)kept[2 + c] + 0.5);
        assert_close_floor((double)b.y[i], y * (double)b.mu[c] + (double)b.mu[2 + c],
                           1e-6, 1);
    }
    netbed_free(&b);
}

/* Small numbers by hand: conv is correlation, not flipped; maxpool's ceil. */
static void values_by_hand(void **state)
{
    (void)state;
    xb_pass_options opt = options_of(XB_ESTIMATOR_SHARED, 1, NULL);
    netbed b = netbed_make("conv 1 2x2 valid, maxpool 2 ceil", (xb_shape){4, 4, 1}, NULL,
                           NULL, &opt);
    static const float w[] = {1, 0, -2, 3, 0.5f}; /* [ky][kx], bias */
    for (int i = 0; i < 5; i++) b.mu[i] = w[i];
    for (int i = 0; i < 16; i++) b.x[i] = (float)(i * i % 7);
    netbed_forward(&b);
    double conv[9];
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++)
            conv[3 * y + x] = (double)b.x[4 * y + x] - 2 * (double)b.x[4 * y + 4 + x] +
                              3 * (double)b.x[4 * y + 5 + x] + 0.5;
    double expected[] = {fmax(fmax(conv[0], conv[1]), fmax(conv[3], conv[4])),
                         fmax(conv[2], conv[5]), fmax(conv[6], conv[7]), conv[8]};
    for (int i = 0; i < 4; i++) assert_close((double)b.y[i], expected[i], 1e-6);
    netbed_free(&b);
}

/* TensorFlow's SAME, worked out by hand: 4 rows, window 2, stride 2: 2 places, no
 * padding; 7 columns, window 5, stride 2: 4 places, 2 before and 2 after. */
static void same_pads_as_tensorflow(void **state)
{
    (void)state;
    xb_pass_options opt = options_of(XB_ESTIMATOR_SHARED, 1, NULL);
    netbed b =
        netbed_make("conv 1 2x5 stride 2 nobias", (xb_shape){4, 7, 1}, NULL, NULL, &opt);
    netbed_forward(&b);
    for (int oy = 0; oy < 2; oy++)
        for (int ox = 0; ox < 4; ox++) {
            double sum = 0;
            for (int ky = 0; ky < 2; ky++)
                for (int kx = 0; kx < 5; kx++) {
                    int y = 2 * oy + ky, x = 2 * ox + kx - 2;
                    if (x < 0 || x > 6) continue;
                    sum += (double)b.mu[5 * ky + kx] * (double)b.x[7 * y + x];
                }
            assert_close_floor((double)b.y[4 * oy + ox], sum, 1e-6, 1);
        }
    netbed_free(&b);
}

static void not_a_number_shows(void **state)
{
    (void)state;
    static const char *const text[] = {"relu", "elu", "tanh", "sigmoid", "maxpool 2"};
    for (int i = 0; i < xb_backend_count(); i++)
        for (int t = 0; t < XB_COUNT(text); t++)
            for (int at = 0; at < 4; at++) {
                xb_pass_options opt =
                    options_of(XB_ESTIMATOR_SHARED, 1, xb_backend_name_at(i));
                netbed b = netbed_make(text[t], (xb_shape){2, 2, 1}, NULL, NULL, &opt);
                b.x[at] = NAN;
                netbed_forward(&b);
                bool seen = false;
                for (int j = 0; j < b.out; j++) seen |= isnan(b.y[j]);
                if (!seen) fail_msg("%s loses NaN on %s", text[t], xb_backend_name_at(i));
                netbed_free(&b);
            }
}

static void assert_refused(xb_ctx *ctx, xb_status status, const char *says)
{
    assert_int_equal(status, XB_E_ARGUMENT);
    assert_string_equal(xb_ctx_message(ctx), says);
}

static void wrong_calls_are_refused(void **state)
{
    (void)state;
    xb_pass_options opt = options_of(XB_ESTIMATOR_LOCAL, 2, NULL);
    netbed b = netbed_make("dense 2, batchnorm", features3, mtj, NULL, &opt);
    xb_weights w = {b.mu, b.sigma, b.state};
    xb_gradient g = {b.d_mu, b.d_sigma, NULL};
    xb_noise n = b.noise;
#define FORWARD(batch, weights, noise)                                                   \
    xb_pass_forward(b.ctx, b.pass, b.y, b.x, batch, weights, noise, XB_MODE_PREDICT)
    assert_refused(b.ctx, xb_pass_backward(b.ctx, b.pass, &g, b.dy),
                   "no forward pass to go back through (or one without gradients)");
    assert_refused(b.ctx, FORWARD(3, &w, NULL), "a batch of 3: this pass takes 0 to 2");
    assert_refused(b.ctx, FORWARD(-1, &w, NULL), "a batch of -1: this pass takes 0 to 2");
    assert_refused(b.ctx, FORWARD(1, &w, &n),
                   "estimator local needs the gaussian law, not mtj:B=0.15,w=0.5");
    w.state = NULL;
    assert_refused(b.ctx, FORWARD(1, &w, NULL),
                   "the net has batchnorm and needs its state");
    w = (xb_weights){b.mu, NULL, b.state};
    assert_refused(b.ctx, FORWARD(1, &w, &n), "noise without sigma");
    assert_ok(b.ctx, FORWARD(0, &w, NULL));
    assert_ok(b.ctx, xb_pass_backward(b.ctx, b.pass, &g, b.dy));
#undef FORWARD
    netbed_free(&b);
}

/* A skewed law from samples: flipout and antithetic pairs are refused. */
static void laws_must_suit(void **state)
{
    (void)state;
    double sample[64];
    for (int i = 0; i < 64; i++) sample[i] = exp(2.0 * i / 64);
    xb_pass_options opt = options_of(XB_ESTIMATOR_FLIPOUT, 2, NULL);
    netbed b = netbed_make("dense 2", features3, NULL, NULL, &opt);
    xb_weights w = {b.mu, b.sigma, NULL};
    xb_law *law = NULL;
    assert_ok(b.ctx, xb_law_from_samples(b.ctx, &law, sample, 64));
    assert_ok(b.ctx, xb_sampler_create(b.ctx, &b.sampler, law, NULL));
    xb_noise n = {.sampler = b.sampler};
    assert_refused(b.ctx,
                   xb_pass_forward(b.ctx, b.pass, b.y, b.x, 2, &w, &n, XB_MODE_TRAIN),
                   "estimator flipout needs a symmetric law, not empirical");
    xb_pass_destroy(b.pass);
    opt.estimator = XB_ESTIMATOR_SHARED;
    assert_ok(b.ctx, xb_pass_create(b.ctx, &b.pass, b.net, &opt));
    assert_ok(b.ctx, xb_pass_forward(b.ctx, b.pass, b.y, b.x, 2, &w, &n, XB_MODE_TRAIN));
    n.antithetic = true;
    assert_refused(b.ctx,
                   xb_pass_forward(b.ctx, b.pass, b.y, b.x, 2, &w, &n, XB_MODE_TRAIN),
                   "antithetic pairs need a symmetric law, not empirical");
    n = (xb_noise){.sampler = b.sampler, .first = -1};
    assert_refused(b.ctx,
                   xb_pass_forward(b.ctx, b.pass, b.y, b.x, 2, &w, &n, XB_MODE_TRAIN),
                   "the first example is number -1, expected 0 to 2^34");
    n.first = XB_STREAM_MAX;
    assert_refused(b.ctx,
                   xb_pass_forward(b.ctx, b.pass, b.y, b.x, 2, &w, &n, XB_MODE_TRAIN),
                   "example 17179869186 is beyond the noise that tensor 0.kernel has");
    xb_law_destroy(law);
    netbed_free(&b);
}

static void options_are_checked(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_net *net = NULL;
    xb_pass *pass = NULL;
    assert_ok(ctx, xb_net_parse(ctx, &net, "dense 2", features3, NULL));
    xb_pass_options opt = options_of(XB_ESTIMATOR_SHARED, 2, "abacus");
    assert_refused(ctx, xb_pass_create(ctx, &pass, net, &opt),
                   "there is no backend 'abacus' on this machine");
    opt = options_of((xb_estimator)9, 2, NULL);
    assert_refused(ctx, xb_pass_create(ctx, &pass, net, &opt),
                   "there is no estimator number 9");
    opt = options_of(XB_ESTIMATOR_SHARED, 0, NULL);
    assert_refused(ctx, xb_pass_create(ctx, &pass, net, &opt),
                   "a batch of 0: expected 1 to 2^31 - 1");
    opt = options_of(XB_ESTIMATOR_EXAMPLE, 2, NULL);
    opt.group = 0;
    assert_refused(ctx, xb_pass_create(ctx, &pass, net, &opt),
                   "groups of 0 examples: expected 1 to 2^31 - 1");
    xb_net *wide = NULL;
    assert_ok(ctx,
              xb_net_parse(ctx, &wide, "elu", (xb_shape){1, 1 << 16, 1 << 15}, NULL));
    opt = options_of(XB_ESTIMATOR_SHARED, INT32_MAX, NULL);
    assert_int_equal(xb_pass_create(ctx, &pass, wide, &opt), XB_E_MEMORY);
    xb_net_destroy(wide);
    for (int e = 0; e <= XB_ESTIMATOR_LOCAL; e++) {
        xb_estimator found;
        assert_true(xb_estimator_find(xb_estimator_name((xb_estimator)e), &found));
        assert_int_equal(found, e);
    }
    assert_false(xb_estimator_find("reinforce", &(xb_estimator){0}));
    opt = options_of(XB_ESTIMATOR_SHARED, 2, NULL);
    for (int k = 0; fail_alloc_after(k); k++) {
        xb_status status = xb_pass_create(ctx, &pass, net, &opt);
        bool failed = fail_alloc_happened();
        assert_int_equal(status, failed ? XB_E_MEMORY : XB_OK);
        if (!failed) break;
        assert_null(pass);
    }
    assert_true(xb_pass_bytes(pass) > 0);
    xb_pass_destroy(pass);
    xb_pass_destroy(NULL);
    xb_net_destroy(net);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_is_of_the_very_draw),
        cmocka_unit_test(no_noise_is_stored),
        cmocka_unit_test(every_part_of_an_address_counts),
        cmocka_unit_test(weights_drawn_ahead_are_the_same),
        cmocka_unit_test(panels_are_the_same_bytes),
        cmocka_unit_test(a_wide_draw_takes_no_memory),
        cmocka_unit_test(estimators_are_unbiased),
        cmocka_unit_test(antithetic_pairs_mirror),
        cmocka_unit_test(a_batch_in_parts_is_the_whole),
        cmocka_unit_test(gradients_of_pieces_are_those_of_parts),
        cmocka_unit_test(bytes_do_not_depend_on_threads),
        cmocka_unit_test(batchnorm_runs_its_statistics),
        cmocka_unit_test(values_by_hand),
        cmocka_unit_test(same_pads_as_tensorflow),
        cmocka_unit_test(not_a_number_shows),
        cmocka_unit_test(wrong_calls_are_refused),
        cmocka_unit_test(laws_must_suit),
        cmocka_unit_test(options_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
