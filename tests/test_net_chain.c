/* test_net_chain.c: a step through a small net of dense layers in one call (run/chain.c)
 * finds what forward, loss and backward find layer by layer, on every backend; and which
 * nets go that way. */
#include "nettest.h"

#include "crossbayes/net.h"
#include "run/pass.h"

typedef struct chain_case {
    const char *net;
    int64_t in, batch;
    xb_stochastic stochastic;
} chain_case;

static const chain_case cases[] = {
    {"dense 16, elu, dense 16, elu, dense 16, elu, dense 1", 1, 100,
     XB_STOCHASTIC_KERNELS},
    {"dense 16, elu, dense 16, elu, dense 1", 1, 100, XB_STOCHASTIC_ALL},
    {"dense 16, relu, dense 16 nobias, tanh, dense 2", 3, 17, XB_STOCHASTIC_ALL},
    {"dense 50, relu, dense 1", 8, 32, XB_STOCHASTIC_KERNELS},
    {"dense 5, sigmoid, dense 7, dense 3, elu", 2, 1, XB_STOCHASTIC_ALL},
    {"dense 16, elu, dense 1", 16, 3, XB_STOCHASTIC_NONE},
    {"dense 1", 1, 4, XB_STOCHASTIC_ALL},
};

/* The gradient of the loss is b->dy plus y, so that it knows the outputs. */
static bool loss(void *arg, xb_real *dy, const xb_real *y, int64_t batch)
{
    netbed *b = arg;
    assert_int_equal(batch, b->batch);
    memcpy(b->y, y, (size_t)(batch * b->out) * sizeof *y);
    for (int64_t i = 0; i < batch * b->out; i++) dy[i] = b->dy[i] + y[i];
    return true;
}

/* Fresh, or on top of what is there. */
static void step(netbed *b, xb_real *d_mu, xb_real *d_sigma, bool fresh)
{
    const xb_weights w = {b->mu, b->sigma, b->state, b->state};
    const xb_gradient g = {d_mu, d_sigma, NULL};
    assert_ok(b->ctx, xb_pass_step(b->ctx, b->pass, &g, fresh, b->x, b->batch, &w,
                                   b->noisy ? &b->noise : NULL, loss, b));
}

/* To a rounding or two of the sums. */
static void assert_same(const xb_real *a, const xb_real *b, int64_t n, const char *what)
{
    double scale = 0;
    for (int64_t i = 0; i < n; i++) scale = fmax(scale, fabs((double)b[i]));
    for (int64_t i = 0; i < n; i++)
        if (!(fabs((double)a[i] - (double)b[i]) <= 1e-6 * scale))
            fail_msg("%s %lld: %.9g, layer by layer %.9g", what, (long long)i,
                     (double)a[i], (double)b[i]);
}

static void check_case(const chain_case *c, xb_estimator e, const char *backend,
                       const char *law, bool antithetic)
{
    xb_pass_options opt = xb_pass_options_default();
    opt.estimator = e, opt.batch = c->batch, opt.backend = backend;
    xb_net_options which = xb_net_options_default();
    which.stochastic = c->stochastic;
    netbed b = netbed_make(c->net, (xb_shape){1, 1, c->in}, law, &which, &opt);
    b.mode = XB_MODE_TRAIN;
    b.noise.antithetic = antithetic;
    b.noise.first = 11;
    for (int64_t i = 0; i < b.in && b.batch > 2; i++) /* no variance behind such a row */
        b.x[2 * b.in + i] = 0;
    assert_non_null(b.pass->chain);
    xb_real *mu = test_reals(b.params, 0, 0, 0), *sigma = test_reals(b.params, 0, 0, 0);
    const xb_backend *of = xb_pass_backend(b.pass);
    of->fill(of, b.pass->scratch, NAN, b.pass->n_scratch);
    for (int64_t i = 0; i < b.params; i++) mu[i] = sigma[i] = NAN; /* not added to */
    step(&b, mu, sigma, true);
    xb_real *y = test_reals(b.batch * b.out, 0, 0, 0);
    memcpy(y, b.y, (size_t)(b.batch * b.out) * sizeof *y);
    netbed_forward(&b);
    assert_same(y, b.y, b.batch * b.out, "output");
    for (int64_t i = 0; i < b.batch * b.out; i++) b.dy[i] += b.y[i];
    netbed_backward(&b);
    assert_same(mu, b.d_mu, b.params, "gradient by mu");
    assert_same(sigma, b.d_sigma, b.params, "gradient by sigma");
    free(mu);
    free(sigma);
    free(y);
    netbed_free(&b);
}

static void a_step_is_forward_and_backward(void **state)
{
    (void)state;
    static const xb_estimator e[] = {XB_ESTIMATOR_SHARED, XB_ESTIMATOR_LOCAL};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int k = 0; k < xb_backend_count(); k++)
            for (int j = 0; j < 2; j++) {
                check_case(&cases[i], e[j], xb_backend_name(k), "gaussian", false);
                check_case(&cases[i], e[j], xb_backend_name(k), "gaussian", true);
                check_case(&cases[i], e[j], xb_backend_name(k), NULL, false);
            }
}

/* Without gradients and noise a small net runs here, the same net with them by layers. */
static void forward_alone_is_the_layers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int k = 0; k < xb_backend_count(); k++) {
            xb_pass_options opt = xb_pass_options_default();
            netbed b[2];
            opt.batch = cases[i].batch, opt.backend = xb_backend_name(k);
            for (int j = 0; j < 2; j++) {
                opt.gradients = j == 1;
                b[j] = netbed_make(cases[i].net, (xb_shape){1, 1, cases[i].in}, NULL,
                                   NULL, &opt);
                netbed_forward(&b[j]);
            }
            assert_non_null(b[0].pass->chain);
            assert_memory_equal(b[0].y, b[1].y,
                                (size_t)(b[0].batch * b[0].out) * sizeof *b[0].y);
            for (int j = 0; j < 2; j++) netbed_free(&b[j]);
        }
}

/* Gradients are added to, and there is nothing to go back through afterwards. */
static void check_adds(xb_estimator e)
{
    xb_pass_options opt = xb_pass_options_default();
    opt.batch = 6, opt.estimator = e;
    netbed b =
        netbed_make("dense 4, elu, dense 1", (xb_shape){1, 1, 2}, "gaussian", NULL, &opt);
    xb_real *once = test_reals(b.params, 0, 0, 0), *sigma = test_reals(b.params, 0, 0, 0);
    xb_real *twice = test_reals(b.params, 0, 0, 0);
    xb_real *both = test_reals(b.params, 0, 0, 0);
    step(&b, once, sigma, true);
    step(&b, twice, both, false);
    step(&b, twice, both, false);
    for (int64_t i = 0; i < b.params; i++)
        assert_true(twice[i] == 2 * once[i] && both[i] == 2 * sigma[i]);
    const xb_gradient g = {b.d_mu, b.d_sigma, NULL};
    assert_int_equal(xb_pass_backward(b.ctx, b.pass, &g, b.dy), XB_E_ARGUMENT);
    free(once);
    free(twice);
    free(both);
    free(sigma);
    netbed_free(&b);
}

static void a_step_adds_and_is_over(void **state)
{
    (void)state;
    check_adds(XB_ESTIMATOR_SHARED);
    check_adds(XB_ESTIMATOR_LOCAL);
}

typedef struct way_case {
    const char *net;
    xb_shape input;
    int64_t batch;
    xb_estimator estimator;
} way_case;

/* Layers that are worth threads, noise beyond the cache, other layers and estimators. */
static void others_go_layer_by_layer(void **state)
{
    (void)state;
    static const way_case others[] = {
        {"dense 16, elu, dense 1", {1, 1, 1}, 40000, XB_ESTIMATOR_SHARED},
        {"dense 400, elu, dense 1", {1, 1, 100}, 2, XB_ESTIMATOR_SHARED},
        {"dense 16, elu, dense 1", {1, 1, 1}, 1000, XB_ESTIMATOR_LOCAL},
        {"dense 4, batchnorm, elu, dense 1", {1, 1, 1}, 10, XB_ESTIMATOR_SHARED},
        {"elu, dense 1", {1, 1, 3}, 10, XB_ESTIMATOR_SHARED},
        {"conv 2, flatten, dense 1", {4, 4, 1}, 10, XB_ESTIMATOR_SHARED},
        {"dense 4, elu, dense 1", {1, 1, 1}, 10, XB_ESTIMATOR_FLIPOUT},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        xb_pass_options opt = xb_pass_options_default();
        opt.batch = others[i].batch, opt.estimator = others[i].estimator;
        netbed b = netbed_make(others[i].net, others[i].input, "gaussian", NULL, &opt);
        xb_real *mu = test_reals(b.params, 0, 0, 0),
                *sigma = test_reals(b.params, 0, 0, 0);
        b.mode = XB_MODE_TRAIN;
        assert_null(b.pass->chain);
        for (int64_t k = 0; k < b.params; k++) mu[k] = sigma[k] = NAN;
        step(&b, mu, sigma, true);
        netbed_forward(&b);
        for (int64_t j = 0; j < b.batch * b.out; j++) b.dy[j] += b.y[j];
        netbed_backward(&b);
        assert_same(mu, b.d_mu, b.params, "gradient by mu");
        free(mu);
        free(sigma);
        netbed_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_forward_and_backward),
        cmocka_unit_test(forward_alone_is_the_layers),
        cmocka_unit_test(a_step_adds_and_is_over),
        cmocka_unit_test(others_go_layer_by_layer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
