/* The heteroscedastic likelihood is safe: on tables whose noise is constant, whose
 * targets are whole numbers, that are small or hold rows twice, its test score is not
 * worse than constant noise by more than its error; and F, which charges for the noise
 * net too, puts nets of different size in the order of their scores. XB_LONG=1 takes more
 * and larger tables with the settings of `train`. */
#include "noisetables.h"

static xb_train_options options(void)
{
    xb_train_options o = xb_train_options_default();
    o.net = "dense 50, relu, dense 1";
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
        cmocka_unit_test(few_rows_are_safe),
        cmocka_unit_test(rows_held_twice_are_safe),
        cmocka_unit_test(constant_noise_is_safe),
        cmocka_unit_test(maximum_likelihood_is_not),
        cmocka_unit_test(growing_noise_is_found),
        cmocka_unit_test(the_bound_orders_noise_nets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
