/* The heteroscedastic likelihood is safe: on tables whose noise is constant, whose
 * targets are whole numbers or repeat one value, that are small or hold rows twice, its
 * test score is not worse than constant noise by more than its error; and F, which
 * charges for the noise net too, puts nets of different size in the order of their
 * scores. The noise net of default is small, and better than a larger one. XB_LONG=1
 * takes more and larger tables with the settings of `train`. */
#include "noisetables.h"
#include "vi/model.h"

static xb_train_options options(void)
{
    xb_train_options o = xb_train_options_default();
    o.net = "dense 50, relu, dense 1";
    o.keep_copies = true; /* for tables that hold rows twice */
    if (test_long()) return o;
    o.adam.rate = 1e-2;
    o.batch = 50;
    return o;
}

/* Minus the log density of each test row; F of the training. */
static double score(xb_ctx *ctx, double nll[TEST_ROWS], const table *train,
                    const table *test, xb_train_options o)
{
    xb_model *model = NULL;
    xb_train_report *report = NULL;
    const xb_train_data data = data_of(train);
    if (!test_long()) o.mle_epochs = 500 * 50 / train->n, o.epochs = 2000 * 50 / train->n;
    assert_ok(ctx, xb_train(ctx, &model, &report, &data, &o));
    test_nll(ctx, nll, model, test);
    const double f = xb_train_report_f(report).value;
    xb_train_report_destroy(report);
    xb_model_destroy(model);
    return f;
}

static table train_rows, test_rows;

/* How much the heteroscedastic likelihood loses against constant noise. */
static loss against_constant(kind k, int64_t n, uint64_t seed, double prior)
{
    xb_ctx *ctx = test_ctx();
    double constant[TEST_ROWS], other[TEST_ROWS];
    make(&train_rows, k, 0, n, seed);
    make(&test_rows, k, MOST, TEST_ROWS, seed);
    xb_train_options o = options();
    o.likelihood = XB_LIKELIHOOD_GAUSSIAN;
    (void)score(ctx, constant, &train_rows, &test_rows, o);
    o.likelihood = XB_LIKELIHOOD_HETEROSCEDASTIC;
    o.noise_prior = prior;
    (void)score(ctx, other, &train_rows, &test_rows, o);
    xb_ctx_destroy(ctx);
    return loss_of(other, constant);
}

/* 3 standard errors, and what one training differs from the next by. */
static void assert_safe(kind k, int64_t n)
{
    const double standard = xb_train_options_default().noise_prior;
    for (uint64_t seed = 1; seed <= (test_long() ? 3 : 1); seed++) {
        const loss l = against_constant(k, n, seed, standard);
        print_message("%d, %lld rows: %+.4f +- %.4f nats a row\n", (int)k, (long long)n,
                      l.mean, l.error);
        assert_true(l.mean <= 3 * l.error + 0.02);
    }
}

static void whole_numbers_are_safe(void **state)
{
    (void)state;
    assert_safe(WHOLE, test_long() ? 1600 : 200);
}

/* Half of the targets are exactly the same, as where a meter has a lower limit. */
static void repeated_values_are_safe(void **state)
{
    (void)state;
    assert_safe(CUT, 600);
}

static void few_rows_are_safe(void **state)
{
    (void)state;
    assert_safe(CONSTANT, 100);
}

static void rows_held_twice_are_safe(void **state)
{
    (void)state;
    assert_safe(TWICE, test_long() ? 800 : 300);
}

static void constant_noise_is_safe(void **state)
{
    (void)state;
    assert_safe(CONSTANT, 500);
    if (test_long()) assert_safe(CONSTANT, 800);
}

/* The tables above are ones that maximum likelihood fails on. */
static void maximum_likelihood_is_not(void **state)
{
    (void)state;
    const loss l = against_constant(WHOLE, 200, 1, 0);
    print_message("without a prior: %+.4f +- %.4f\n", l.mean, l.error);
    assert_true(l.mean > 0.1);
}

/* Noise that does depend on the input is found: most of what there is to gain. */
static void growing_noise_is_found(void **state)
{
    (void)state;
    const loss l = against_constant(GROWING, test_long() ? 3000 : 500, 1,
                                    xb_train_options_default().noise_prior);
    print_message("growing: %+.4f +- %.4f\n", l.mean, l.error);
    assert_true(l.mean < -0.1);
}

/* (V19) The floor of the noise: a fifth of the share of the most frequent value. */
static void repeated_values_raise_the_floor(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *model = NULL;
    xb_train_options o = options();
    make(&train_rows, CUT, 0, 200, 1);
    int equal = 0;
    for (int i = 0; i < 200; i++) equal += train_rows.y[i] == 0.5;
    const xb_train_data data = data_of(&train_rows);
    o.likelihood = XB_LIKELIHOOD_HETEROSCEDASTIC;
    o.mle_epochs = o.epochs = 1;
    assert_ok(ctx, xb_train(ctx, &model, NULL, &data, &o));
    assert_true(equal > 50 && equal < 150);
    assert_float_equal(model->noise_least, 0.2 * equal / 200, 1e-12);
    xb_model_destroy(model);
    xb_ctx_destroy(ctx);
}

/* The number of hidden units follows the rows (V19); without a prior, as in the paper,
 * the noise net has the layers of the net. */
static void the_noise_net_is_small(void **state)
{
    (void)state;
    static const struct {
        int64_t rows;
        double prior;
        const char *net;
    } cases[] = {{100, 0.3, "dense 3, tanh, dense 1"},
                 {4000, 0.3, "dense 6, tanh, dense 1"},
                 {100, 0, "dense 50, relu, dense 1"}};
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < 3; i++) {
        xb_train_options o = options();
        xb_model *model = NULL;
        make(&train_rows, CONSTANT, 0, cases[i].rows, 1);
        const xb_train_data data = data_of(&train_rows);
        o.likelihood = XB_LIKELIHOOD_HETEROSCEDASTIC;
        o.noise_prior = cases[i].prior;
        o.mle_epochs = o.epochs = 1;
        assert_ok(ctx, xb_train(ctx, &model, NULL, &data, &o));
        assert_string_equal(xb_net_text(xb_model_noise_net(model)), cases[i].net);
        xb_model_destroy(model);
    }
    xb_ctx_destroy(ctx);
}

/* A noise net as large as the net costs F more than it is worth. */
static void a_small_noise_net_is_better(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double small[TEST_ROWS], large[TEST_ROWS];
    const kind k = test_long() ? WAVING : GROWING;
    const int64_t n = test_long() ? 2000 : 400;
    make(&train_rows, k, 0, n, 3);
    make(&test_rows, k, MOST, TEST_ROWS, 3);
    xb_train_options o = options();
    o.likelihood = XB_LIKELIHOOD_HETEROSCEDASTIC;
    const double f_small = score(ctx, small, &train_rows, &test_rows, o);
    o.noise_net = o.net;
    const double f_large = score(ctx, large, &train_rows, &test_rows, o);
    const loss l = loss_of(small, large);
    print_message("%lld rows: F %.0f and %.0f, %+.4f +- %.4f\n", (long long)n, f_small,
                  f_large, l.mean, l.error);
    assert_true(f_small < f_large);
    assert_true(l.mean <= 3 * l.error);
    xb_ctx_destroy(ctx);
}

/* Of noise nets of three sizes, the one that F likes best scores as well as any. */
static void the_bound_orders_noise_nets(void **state)
{
    (void)state;
    static const char *const nets[] = {"dense 50, relu, dense 50, relu, dense 1",
                                       "dense 50, relu, dense 1",
                                       "dense 5, relu, dense 1"};
    if (!test_long()) skip();
    xb_ctx *ctx = test_ctx();
    double nll[3][TEST_ROWS], f[3];
    make(&train_rows, GROWING, 0, 3000, 7);
    make(&test_rows, GROWING, MOST, TEST_ROWS, 7);
    int best = 0;
    for (int i = 0; i < 3; i++) {
        xb_train_options o = options();
        o.noise_net = nets[i];
        f[i] = score(ctx, nll[i], &train_rows, &test_rows, o);
        if (f[i] < f[best]) best = i;
        const loss l = loss_of(nll[i], nll[0]);
        print_message("%s: F %.0f, against the first %+.4f\n", nets[i], f[i], l.mean);
    }
    for (int i = 0; i < 3; i++) {
        const loss l = loss_of(nll[best], nll[i]);
        assert_true(l.mean <= 3 * l.error + 0.02);
    }
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_are_safe),
        cmocka_unit_test(repeated_values_are_safe),
        cmocka_unit_test(few_rows_are_safe),
        cmocka_unit_test(rows_held_twice_are_safe),
        cmocka_unit_test(constant_noise_is_safe),
        cmocka_unit_test(maximum_likelihood_is_not),
        cmocka_unit_test(growing_noise_is_found),
        cmocka_unit_test(repeated_values_raise_the_floor),
        cmocka_unit_test(the_noise_net_is_small),
        cmocka_unit_test(a_small_noise_net_is_better),
        cmocka_unit_test(the_bound_orders_noise_nets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
