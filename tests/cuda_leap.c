/* cuda_leap.c: training on the GPU, many steps a launch (cuda/device_steps.cu), beside
 * the CPU's steps; the same bytes however steps are cut into launches; what is not
 * finite; predictions of images. $CROSSBAYES_CUDA names the module: this machine's GPU,
 * or as the CPU emulates it. With little shared memory (XB_EMULATED_SHARED) the same nets
 * take the way of wide ones. */
#include "traintest.h"

#include "crossbayes/train.h"
#include "vi/trainer.h"

enum { TARGETS = 2 };

typedef struct net_case {
    const char *net, *law;
    int estimator;
    bool classes, several, freeze;
    double rate;
    int64_t batch; /* 0: batches of 30 */
} net_case;

static const net_case cases[] = {
    {"dense 8, elu, dense 1", "gaussian", XB_ESTIMATOR_LOCAL, .rate = 1e-3},
    {"dense 5, tanh, dense 7, relu, dense 1", "gaussian", XB_ESTIMATOR_LOCAL,
     .rate = 1e-3},
    {"dense 6, sigmoid, dense 1", "mtj:B=0.15,w=0.5", XB_ESTIMATOR_SHARED, .rate = 1e-3},
    {"dense 3, elu, dense 9, elu, dense 1", "laplace", XB_ESTIMATOR_SHARED, .rate = 1e-3},
    {"dense 7, relu, dense 2", "gaussian", XB_ESTIMATOR_LOCAL, .classes = true,
     .rate = 1e-3},
    {"dense 4, elu, dense 2", "gaussian", XB_ESTIMATOR_SHARED, .several = true,
     .rate = 1e-3},
    {"dense 12, elu, dense 1", "gaussian", XB_ESTIMATOR_LOCAL, .freeze = true,
     .rate = 1e-3},
    {"dense 1", "gaussian", XB_ESTIMATOR_LOCAL, .rate = 1e-3},
    {"dense 16, elu, dense 16, tanh, dense 1", "laplace", XB_ESTIMATOR_SHARED,
     .rate = 1e-3, .batch = ROWS}, /* two rows for each thread of device_narrow.cu */
    {"dense 16, relu, dense 16, elu, dense 15, elu, dense 2", "gaussian",
     XB_ESTIMATOR_SHARED, .classes = true, .rate = 1e-3}, /* and two weights */
    {"dense 17, elu, dense 2", "student:nu=5", XB_ESTIMATOR_SHARED, .several = true,
     .rate = 1e-3}, /* too wide for it */
};

static double both[TARGETS * ROWS];

static xb_trainer *trainer_of(xb_ctx *ctx, const net_case *c, const char *backend)
{
    static rows r;
    xb_train_options opt = quick_options();
    xb_law *law = NULL;
    xb_trainer *t = NULL;
    r = make_rows(c->classes);
    xb_train_data data = rows_data(&r, c->classes);
    for (int i = 0; i < ROWS; i++)
        both[2 * i] = r.y[i], both[2 * i + 1] = r.x[3 * i] - r.y[i];
    assert_ok(ctx, xb_law_parse(ctx, &law, c->law));
    opt.net = c->net, opt.law = law, opt.backend = backend;
    opt.estimator = c->estimator, opt.freeze = c->freeze;
    opt.batch = c->batch > 0 ? c->batch : 37; /* 37: batches of 30 */
    opt.mle_epochs = 2, opt.epochs = 3;
    opt.adam.rate = c->rate;
    opt.likelihood = c->classes ? XB_LIKELIHOOD_SOFTMAX : XB_LIKELIHOOD_GAUSSIAN;
    if (c->several) data.y = both, opt.targets = TARGETS;
    assert_ok(ctx, xb_trainer_create(ctx, &t, &data, &opt));
    xb_law_destroy(law);
    return t;
}

/* "mu", "sigma", ... one after the other; free() it. */
static float *state_of(xb_ctx *ctx, const xb_trainer *t, int64_t *n)
{
    const int64_t arrays = xb_trainer_array_count(t);
    *n = 0;
    for (int64_t i = 0; i < arrays; i++) *n += xb_trainer_array_size(t, i);
    float *all = malloc((size_t)(*n + 1) * sizeof *all), *to = all;
    assert_non_null(all);
    for (int64_t i = 0; i < arrays; to += xb_trainer_array_size(t, i), i++)
        assert_ok(ctx, xb_trainer_array_get(ctx, to, t, i));
    return all;
}

static double largest_gap(xb_ctx *ctx, const xb_trainer *a, const xb_trainer *b)
{
    int64_t n = 0, m = 0;
    double most = 0;
    float *x = state_of(ctx, a, &n), *y = state_of(ctx, b, &m);
    assert_int_equal(n, m);
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs((double)x[i] - (double)y[i]));
    free(x), free(y);
    return most;
}

/* F of each epoch and the state after it, beside the CPU's. The worst seen is 2e-5 of
 * parameters that moved by up to 0.01. */
static void steps_are_those_of_the_cpu(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(cases); i++) {
        xb_trainer *gpu = trainer_of(ctx, &cases[i], "cuda");
        xb_trainer *cpu = trainer_of(ctx, &cases[i], "cpu");
        assert_non_null(gpu->leap);
        assert_null(cpu->leap);
        while (!xb_trainer_done(cpu)) {
            assert_ok(ctx, xb_trainer_epoch(ctx, cpu));
            assert_ok(ctx, xb_trainer_epoch(ctx, gpu));
            for (int c = 0; c < XB_TRACE_COLUMNS; c++) {
                const double u = xb_trainer_epoch_value(cpu, (xb_history_column)c);
                const double v = xb_trainer_epoch_value(gpu, (xb_history_column)c);
                if (isnan(u)) assert_true(isnan(v));
                if (!isnan(u)) assert_at_most(fabs(v - u), 1e-4 * (1 + fabs(u)));
            }
            assert_at_most(largest_gap(ctx, cpu, gpu), 1e-3);
        }
        assert_true(xb_trainer_done(gpu));
        xb_trainer_destroy(cpu);
        xb_trainer_destroy(gpu);
    }
    xb_ctx_destroy(ctx);
}

static void run_by(xb_ctx *ctx, xb_trainer *t, int how)
{
    while (!xb_trainer_done(t))
        assert_ok(ctx, how == 0   ? xb_trainer_step(ctx, t)
                       : how == 1 ? xb_trainer_epoch(ctx, t)
                                  : xb_trainer_advance(ctx, t));
}

static void cuts_change_no_byte(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(cases); i++) {
        xb_trainer *t[3];
        for (int how = 0; how < 3; how++) {
            t[how] = trainer_of(ctx, &cases[i], "cuda");
            run_by(ctx, t[how], how);
        }
        for (int how = 1; how < 3; how++) {
            assert_true(largest_gap(ctx, t[0], t[how]) == 0);
            assert_int_equal(t[0]->place.rows, t[how]->place.rows);
            assert_memory_equal(t[0]->trace, t[how]->trace,
                                (size_t)t[0]->place.rows * XB_TRACE_COLUMNS *
                                    sizeof(double));
        }
        for (int how = 0; how < 3; how++) xb_trainer_destroy(t[how]);
    }
    xb_ctx_destroy(ctx);
}

/* A rate at which the net leaves the finite numbers: the line is that of a step by
 * layers, the state before it is left as it was, and whole epochs end too. */
static void what_is_not_finite_is_said(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const net_case wild = {"dense 4, relu, dense 1", "gaussian", XB_ESTIMATOR_SHARED,
                           .rate = 1e30};
    for (int how = 0; how < 2; how++) {
        xb_trainer *t = trainer_of(ctx, &wild, "cuda");
        xb_status status = XB_OK;
        for (int i = 0; i < 100 && status == XB_OK; i++)
            status = how ? xb_trainer_advance(ctx, t) : xb_trainer_step(ctx, t);
        assert_int_equal(status, XB_E_NUMERIC);
        assert_non_null(strstr(xb_ctx_message(ctx), "training diverged at step 2 of"));
        assert_int_equal(xb_trainer_steps_done(t), 1);
        xb_trainer_destroy(t);
    }
    xb_ctx_destroy(ctx);
}

/* Likelihoods whose functions a GPU has not: their numbers are the host's, step by step.
 */
static void other_likelihoods_are_those_of_the_cpu(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const xb_likelihood kinds[] = {XB_LIKELIHOOD_STUDENT, XB_LIKELIHOOD_POISSON,
                                   XB_LIKELIHOOD_NEGATIVE_BINOMIAL};
    rows r = make_rows(false);
    for (int i = 0; i < ROWS; i++) r.y[i] = floor(fabs(r.y[i]));
    const xb_train_data data = rows_data(&r, false);
    for (int i = 0; i < XB_COUNT(kinds); i++) {
        xb_trainer *t[2] = {NULL, NULL};
        for (int k = 0; k < 2; k++) {
            xb_train_options opt = quick_options();
            opt.net = "dense 4, elu, dense 1", opt.likelihood = kinds[i];
            opt.mle_epochs = 1, opt.epochs = 2, opt.adam.rate = 1e-3;
            opt.backend = k ? "cuda" : "cpu";
            assert_ok(ctx, xb_trainer_create(ctx, &t[k], &data, &opt));
            while (!xb_trainer_done(t[k])) assert_ok(ctx, xb_trainer_step(ctx, t[k]));
        }
        assert_null(t[1]->leap);
        assert_at_most(largest_gap(ctx, t[0], t[1]), 1e-3);
        xb_trainer_destroy(t[0]);
        xb_trainer_destroy(t[1]);
    }
    xb_ctx_destroy(ctx);
}

/* What is not for one block goes by layers: another estimator, too much work. */
static void other_nets_go_by_layers(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const net_case wide = {"dense 600, relu, dense 600, relu, dense 1", "gaussian",
                           XB_ESTIMATOR_LOCAL, .rate = 1e-3};
    /* little work, but places in its arrays are too large to be divided quickly */
    const net_case flat = {"dense 12000, relu, dense 1", "gaussian", XB_ESTIMATOR_LOCAL,
                           .rate = 1e-3};
    const net_case *const nets[] = {&wide, &flat};
    for (int i = 0; i < 2; i++) {
        xb_trainer *t = trainer_of(ctx, nets[i], "cuda");
        assert_null(t->leap);
        xb_trainer_destroy(t);
    }
    xb_ctx_destroy(ctx);
}

/* ---- an output that is to be a standard normal */

typedef struct energy_net {
    xb_net *net;
    int64_t p;
    float *all; /* mu, rho, moments [2 p] each, sigma, gradient [2 p] */
    xb_energy_state at;
} energy_net;

static energy_net make_energy(xb_ctx *ctx, const char *text, bool kernels)
{
    energy_net e = {0};
    xb_net_options how = xb_net_options_default();
    how.stochastic = kernels ? XB_STOCHASTIC_KERNELS : XB_STOCHASTIC_ALL;
    assert_ok(ctx, xb_net_parse(ctx, &e.net, text, (xb_shape){1, 1, 1}, &how));
    e.p = xb_net_param_count(e.net);
    e.all = calloc((size_t)(9 * e.p), sizeof *e.all);
    assert_non_null(e.all);
    e.at = (xb_energy_state){e.all, e.all + e.p, e.all + 6 * e.p, e.all + 2 * e.p,
                             e.all + 4 * e.p};
    for (int64_t i = 0; i < e.p; i++)
        e.at.mu[i] = (float)sin(1.0 + 2.3 * (double)i), e.at.rho[i] = -1;
    for (int i = 0; i < xb_net_tensor_count(e.net); i++) {
        const xb_tensor *t = xb_net_tensor_at(e.net, i);
        if (t->stochastic)
            xb_sigma_transform_fill(ctx, XB_SIGMA_TRANSFORM_EXP, e.at.sigma + t->offset,
                                    e.at.rho + t->offset, t->size);
    }
    return e;
}

static bool energy_of(void *arg, float *df, const float *f, int64_t n)
{
    *(double *)arg = xb_energy_loss(df, f, n);
    return true;
}

enum { WALK_DRAWS = 33, WALK_STEPS = 7, WALK_TOTAL = 50 };

/* The same steps by the pass's own functions. */
static void step_by_step(xb_ctx *ctx, energy_net *e, xb_key key, double rate)
{
    const float x[WALK_DRAWS] = {0};
    const xb_schedule falling = {.kind = XB_SCHEDULE_COSINE};
    float *g = e->all + 7 * e->p;
    xb_pass_options opt = xb_pass_options_default();
    xb_adam_options adam = xb_adam_options_default();
    xb_law *law = NULL;
    xb_sampler *sampler = NULL;
    xb_pass *pass = NULL;
    opt.batch = WALK_DRAWS, opt.estimator = XB_ESTIMATOR_LOCAL, adam.rate = rate;
    assert_ok(ctx, xb_law_parse(ctx, &law, "gaussian"));
    assert_ok(ctx, xb_sampler_create(ctx, &sampler, law, NULL));
    assert_ok(ctx, xb_pass_create(ctx, &pass, e->net, &opt));
    for (int k = 0; k < WALK_STEPS; k++) {
        const xb_weights weights = {e->at.mu, e->at.sigma, NULL, NULL};
        const xb_gradient gradient = {g, g + e->p, NULL};
        const xb_noise noise = {.sampler = sampler, .key = key, .step = (uint32_t)k};
        const xb_adam_block block = {e->at.mu, e->at.first, e->at.second, g,
                                     2 * e->p, 1,           NULL};
        double loss = 0;
        assert_ok(ctx, xb_pass_step(ctx, pass, &gradient, true, x, WALK_DRAWS, &weights,
                                    &noise, energy_of, &loss));
        xb_sigma_transform_chain(ctx, XB_SIGMA_TRANSFORM_EXP, g + e->p, e->at.sigma,
                                 e->p);
        xb_adam_step(ctx, &adam, &block, 1, k + 1,
                     xb_schedule_at(&falling, k, WALK_TOTAL));
        for (int64_t i = 0; i < e->p; i++)
            if (e->at.sigma[i] > 0) e->at.sigma[i] = expf(e->at.rho[i]);
    }
    xb_pass_destroy(pass);
    xb_sampler_destroy(sampler);
    xb_law_destroy(law);
}

static void a_walk_is_its_steps(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const char *const nets[] = {"dense 6, elu, dense 5, elu, dense 1",
                                "dense 3, elu, dense 1"};
    for (int i = 0; i < 2; i++) {
        energy_net a = make_energy(ctx, nets[i], i), b = make_energy(ctx, nets[i], i);
        xb_energy_steps_options opt = xb_energy_steps_options_default();
        int64_t done = 0;
        opt.backend = "cuda", opt.key = xb_key_make(9, XB_PURPOSE_WEIGHT);
        opt.draws = WALK_DRAWS, opt.count = WALK_STEPS, opt.total = WALK_TOTAL;
        step_by_step(ctx, &a, opt.key, opt.rate);
        assert_ok(ctx, xb_energy_steps(ctx, &done, &b.at, b.net, &opt));
        assert_int_equal(done, WALK_STEPS);
        for (int64_t k = 0; k < 7 * a.p; k++) /* gradients are not compared */
            assert_at_most(fabs((double)a.all[k] - (double)b.all[k]), 2e-4);
        opt.backend = "cpu";
        assert_ok(ctx, xb_energy_steps(ctx, &done, &b.at, b.net, &opt));
        assert_int_equal(done, 0); /* it steps one by one */
        opt.count = 2000;
        assert_int_equal(xb_energy_steps(ctx, &done, &b.at, b.net, &opt), XB_E_ARGUMENT);
        free(a.all), free(b.all);
        xb_net_destroy(a.net), xb_net_destroy(b.net);
    }
    xb_ctx_destroy(ctx);
}

/* ---- predictions of images, more than the device takes at a time */

enum { IMAGES = 300, IMAGE = 10 * 10 * 3, IMAGE_DRAWS = 3 };

static void images_are_predicted_as_on_the_cpu(void **state)
{
    static uint8_t bytes[IMAGES * IMAGE];
    static double y[IMAGES], value[2][IMAGE_DRAWS * IMAGES];
    int64_t select[IMAGES];
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < IMAGES * IMAGE; i++) bytes[i] = (uint8_t)(i * 2654435761u >> 23);
    for (int i = 0; i < IMAGES; i++) y[i] = i % 7, select[i] = (7 * i + 5) % IMAGES;
    for (int k = 0; k < 2; k++) {
        const xb_train_data data = {
            .bytes = bytes, .y = y, .n = IMAGES, .features = IMAGE};
        const xb_rows in = {.bytes = bytes,
                            .select = k == 1 ? select : NULL,
                            .n = IMAGES,
                            .features = IMAGE};
        xb_train_options opt = xb_train_options_default();
        xb_trainer *t = NULL;
        xb_model *model = NULL;
        opt.net =
            "conv 16, relu, maxpool 2 ceil, batchnorm, conv 32, relu, maxpool 2 ceil, "
            "batchnorm, flatten, dense 96, batchnorm, relu, dense 1";
        opt.input = (xb_shape){10, 10, 3};
        opt.likelihood = XB_LIKELIHOOD_GAUSSIAN;
        opt.estimator = XB_ESTIMATOR_SHARED, opt.batch = 100;
        assert_ok(ctx, xb_trainer_create(ctx, &t, &data, &opt));
        assert_ok(ctx, xb_trainer_model(ctx, &model, t));
        for (int b = 0; b < 2; b++) {
            xb_predict_options how = xb_predict_options_default();
            how.backend = b == 0 ? "cpu" : "cuda";
            assert_ok(ctx, xb_predict_draws_rows(ctx, value[b], NULL, model, &in, 0,
                                                 IMAGE_DRAWS, &how));
        }
        double largest = 0;
        for (int i = 0; i < IMAGE_DRAWS * IMAGES; i++) {
            assert_at_most(fabs(value[0][i] - value[1][i]), 1e-3);
            largest = fmax(largest, fabs(value[0][i] - value[0][0]));
        }
        assert_true(largest > 0.1);
        xb_model_destroy(model);
        xb_trainer_destroy(t);
    }
    xb_ctx_destroy(ctx);
}

int main(void)
{
    if (!getenv("CROSSBAYES_CUDA")) {
        printf("skipped: CROSSBAYES_CUDA does not say where the GPU module is\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_those_of_the_cpu),
        cmocka_unit_test(cuts_change_no_byte),
        cmocka_unit_test(what_is_not_finite_is_said),
        cmocka_unit_test(other_nets_go_by_layers),
        cmocka_unit_test(other_likelihoods_are_those_of_the_cpu),
        cmocka_unit_test(a_walk_is_its_steps),
        cmocka_unit_test(images_are_predicted_as_on_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
