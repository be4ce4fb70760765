/* test_sealed.c: nobody but a backend touches its memory. Training and prediction with
 * buffers that cannot be read outside operations (sealed_backend.c) end, and give the
 * bytes of the host's backend, whose buffers anybody could read. The suites of passes,
 * training, prediction and arrays run with it too: the tests named *_sealed. */
#include "arraytest.h"

#include <signal.h>
#include <sys/wait.h>

#include "sealed_backend.h"

static const xb_backend *used(bool sealed)
{
    sealed_in_use = sealed;
    return xb_backend_find(NULL);
}

/* What operations may be left out is said in backend.h. */
static void required_operations_are_there(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        const xb_backend *b = used(k == 1);
        assert_int_equal(b->host, k == 0);
        assert_true(b->take && b->release && b->put && b->get && b->copy && b->clear);
        assert_true(b->fill && b->gather && b->dense && b->conv && b->maxpool);
        assert_true(b->batchnorm && b->activation && b->flatten && b->draw && b->loss);
        assert_true(b->finite && b->squares_finite && b->adam && b->spread_fill);
        assert_true(b->spread_chain && b->kl);
        assert_true(!b->block == !b->norm_block && !b->chain_suits == !b->chain_step);
    }
}

/* A child's exit status after it read a buffer's first number. */
static int read_in_a_child(const volatile float *buffer)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* cmocka would go on */
        _exit(buffer[0] == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void memory_comes_goes_and_is_moved(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int k = 0; k < 2; k++) {
        const xb_backend *b = used(k == 1);
        const float x[] = {1, 2, 3, 4}, wanted[] = {0, 3, 4, 1, 2, 7, 7, 0};
        const int32_t row[] = {1, 0};
        float y[8];
        void *p = NULL, *q = NULL;
        assert_ok(ctx, b->take(b, ctx, &p, sizeof y));
        assert_ok(ctx, b->take(b, ctx, &q, sizeof x));
        assert_int_equal((uintptr_t)p % 64, 0);
        float *to = p, *from = q;
        b->put(b, from, x, sizeof x);
        void *index = NULL;
        assert_ok(ctx, b->take(b, ctx, &index, sizeof row));
        b->put(b, index, row, sizeof row);
        b->gather(b, to + 1, from, index, 2, 2 * sizeof *x);
        b->fill(b, to + 5, 7, 3);
        b->clear(b, to + 7, sizeof *to);
        b->get(b, y, to, sizeof y);
        assert_memory_equal(y, wanted, sizeof y);
        b->gather(b, to, from, index, 2, sizeof *x);
        b->copy(b, to + 2, from + 3, sizeof *x);
        b->get(b, y, to, 3 * sizeof *y);
        assert_true(y[0] == 2 && y[1] == 1 && y[2] == 4);
        assert_true(b->finite(b, to, 8));
        b->fill(b, to + 7, INFINITY, 1);
        assert_true(b->finite(b, to, 7) && !b->finite(b, to, 8));
        if (k == 1) assert_true(WIFSIGNALED(read_in_a_child(to)));
        b->release(b, p), b->release(b, q), b->release(b, index);
        b->release(b, NULL);
    }
    xb_ctx_destroy(ctx);
}

typedef struct kind_of_run {
    const char *net, *law, *prior;
    xb_likelihood likelihood;
    xb_sigma_transform sigma_transform;
    xb_estimator estimator;
    double validation;
    xb_shape input;
} kind_of_run;

static const kind_of_run kinds[] = {
    /* small nets go in one call, the others layer by layer */
    {.net = "dense 8, elu, dense 1", .estimator = XB_ESTIMATOR_LOCAL, .validation = 0.2},
    {.net = "dense 8, elu, dense 1", .estimator = XB_ESTIMATOR_SHARED},
    {.net = "dense 8, tanh, dense 1, sigmoid",
     .law = "mtj:B=0.15,w=0.5",
     .estimator = XB_ESTIMATOR_EXAMPLE,
     .sigma_transform = XB_SIGMA_TRANSFORM_SOFTPLUS},
    {.net = "dense 200, relu, batchnorm, dense 1",
     .law = "bimodal:m=0.9",
     .estimator = XB_ESTIMATOR_FLIPOUT,
     .prior = "laplace:b=1"},
    {.net = "dense 8, elu, dense 1",
     .likelihood = XB_LIKELIHOOD_HETEROSCEDASTIC,
     .estimator = XB_ESTIMATOR_SHARED,
     .validation = 0.2,
     .prior = "mixture:pi=0.5,s1=1,s2=0.1"},
    {.net = "conv 5, relu, maxpool 2 ceil, batchnorm, conv 3, relu, maxpool 2 ceil,"
            " flatten, dense 2",
     .likelihood = XB_LIKELIHOOD_SOFTMAX,
     .estimator = XB_ESTIMATOR_SHARED,
     .validation = 0.2,
     .input = {1, 3, 1}},
};

static xb_model *train_kind(xb_ctx *ctx, const kind_of_run *k, xb_train_report **report)
{
    xb_train_options opt = quick_options();
    xb_law *law = k->law ? test_law(ctx, k->law) : NULL;
    opt.net = k->net, opt.law = law, opt.likelihood = k->likelihood;
    opt.sigma_transform = k->sigma_transform, opt.estimator = (int)k->estimator;
    opt.validation = k->validation, opt.input = k->input;
    opt.mle_epochs = 2, opt.epochs = 3;
    if (k->prior) assert_ok(ctx, xb_prior_parse(ctx, &opt.prior, k->prior));
    xb_model *m = train_model(ctx, &opt, k->likelihood == XB_LIKELIHOOD_SOFTMAX, report);
    xb_law_destroy(law);
    return m;
}

enum { DRAWS = 20 };

static double *predict_rows(xb_ctx *ctx, const xb_model *m, int64_t outputs, double *sd)
{
    rows r = make_rows(false);
    double *value = calloc((size_t)(DRAWS * ROWS * outputs), sizeof *value);
    assert_non_null(value);
    assert_ok(ctx, xb_predict_draws(ctx, value, sd, m, r.x, ROWS, 0, DRAWS, NULL));
    return value;
}

static void sealed_runs_give_the_same_bytes(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(kinds); i++) {
        xb_model *m[2];
        xb_train_report *report[2] = {NULL, NULL};
        double *value[2], sd[2][ROWS] = {{0}};
        int64_t outputs = kinds[i].likelihood == XB_LIKELIHOOD_SOFTMAX ? 2 : 1;
        int64_t before = sealed_calls();
        for (int k = 0; k < 2; k++) {
            used(k == 1);
            m[k] = train_kind(ctx, &kinds[i], &report[k]);
            value[k] = predict_rows(ctx, m[k], outputs, sd[k]);
        }
        assert_true(sealed_calls() > before + 100); /* it was asked */
        assert_true(same_numbers(m[0], m[1]));
        assert_same_table(xb_train_report_history(report[0]),
                          xb_train_report_history(report[1]));
        assert_memory_equal(value[0], value[1],
                            (size_t)(DRAWS * ROWS * outputs) * sizeof *value[0]);
        assert_memory_equal(sd[0], sd[1], sizeof sd[0]);
        for (int k = 0; k < 2; k++) {
            free(value[k]);
            xb_train_report_destroy(report[k]);
            xb_model_destroy(m[k]);
        }
        assert_int_equal(sealed_buffers(), 0);
    }
    xb_ctx_destroy(ctx);
}

/* ---- simulated arrays */

typedef struct kind_of_array {
    const char *net, *preset;
    xb_shape input;
    bool fresh;      /* noise that does not remember and has the law's shape */
    bool calibrated; /* columns have gains and offsets */
} kind_of_array;

static const kind_of_array arrays[] = {
    {"dense 40, relu, dense 2", "ideal", {1, 1, 30}, true, false},
    {"dense 40, relu, dense 2", "mtj", {1, 1, 30}, true, false},
    {"dense 40, elu, batchnorm, dense 2", "mtj", {1, 1, 30}, false, false},
    {"dense 40, relu, dense 2", "mtj", {1, 1, 30}, true, true},
    {"conv 4, relu, maxpool 2, flatten, dense 2", "mtj", {6, 6, 2}, true, false},
    {"conv 4, relu, maxpool 2, flatten, dense 2", "ideal", {6, 6, 2}, true, false},
};

static void arrays_read_the_same_bytes(void **state)
{
    (void)state;
    enum { INPUTS = 300, READS = 6, CLASSES = 2 };
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(arrays); i++) {
        used(false);
        xb_model *m = net_model(ctx, arrays[i].net, arrays[i].input, CLASSES, 0.01);
        double *x = net_inputs(m, INPUTS), *value[2];
        xb_array array = test_array(arrays[i].preset);
        array.rows = 16; /* several tiles */
        if (arrays[i].fresh) array.shape_spread = array.correlation_time_ns = 0;
        if (arrays[i].calibrated) array.column_calibration = 8;
        for (int k = 0; k < 2; k++) {
            int64_t before = sealed_calls();
            used(k == 1);
            value[k] = test_reads(ctx, m, &array, x, INPUTS, 3, READS);
            assert_true(k == 0 || sealed_calls() > before + 2 * 3 * READS);
        }
        assert_memory_equal(value[0], value[1],
                            (size_t)(READS * INPUTS * CLASSES) * sizeof *value[0]);
        assert_int_equal(sealed_buffers(), 0);
        free(value[0]), free(value[1]), free(x);
        xb_model_destroy(m);
    }
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(required_operations_are_there),
        cmocka_unit_test(memory_comes_goes_and_is_moved),
        cmocka_unit_test(sealed_runs_give_the_same_bytes),
        cmocka_unit_test(arrays_read_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
