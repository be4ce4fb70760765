/* test_gradient_noise.c: the variance of a step's gradient, estimator by estimator,
 * against closed forms. For f = x theta under a normal likelihood of standard deviation
 * s, a batch of b rows has d/dmu = (1/b s^2) sum x (x theta - y): its variance is that of
 * (sigma / b s^2) sum x^2 z, z one for all rows (shared) or one for each. Pairs z, -z
 * leave none of it. */
#include "traintest.h"

enum { PAIRS = 4000 };

typedef struct setting {
    xb_model *model;
    rows rows;
    xb_train_data data;
    xb_train_options opt;
} setting;

/* One column, one weight; the whole data are the batch. */
static void train_line(xb_ctx *ctx, setting *s, const xb_law *law)
{
    *s = (setting){.rows = make_rows(false), .opt = quick_options()};
    for (int i = 0; i < ROWS; i++) s->rows.x[i] = s->rows.x[COLUMNS * i];
    s->data = (xb_train_data){.x = s->rows.x, .y = s->rows.y, .n = ROWS, .features = 1};
    s->opt.net = "dense 1 nobias";
    s->opt.batch = ROWS;
    s->opt.law = law;
    assert_ok(ctx, xb_train(ctx, &s->model, NULL, &s->data, &s->opt));
}

/* Sums of x^2 and x^4 over the rows as the net sees them. */
static void powers(const setting *s, double *two, double *four)
{
    *two = *four = 0;
    for (int i = 0; i < ROWS; i++) {
        double x = (s->rows.x[i] - xb_model_input_mean(s->model)[0]) /
                   xb_model_input_sd(s->model)[0];
        *two += x * x;
        *four += x * x * x * x;
    }
}

static double expected(const setting *s, xb_estimator e)
{
    double two, four;
    powers(s, &two, &four);
    double sd = xb_model_noise_sd(s->model) / xb_model_target_sd(s->model);
    double unit = (double)xb_model_weights(s->model).sigma[0] / (ROWS * sd * sd);
    return unit * unit * (e == XB_ESTIMATOR_SHARED ? two * two : four);
}

/* d/drho = sigma z (B + A sigma z), A = sum x^2 / (b s^2): a pair z, -z leaves
 * A sigma^2 z^2, and has two draws to pay for. */
static double expected_of_pairs(const setting *s, const xb_law *law)
{
    double two, four, sigma = (double)xb_model_weights(s->model).sigma[0];
    powers(s, &two, &four);
    double sd = xb_model_noise_sd(s->model) / xb_model_target_sd(s->model);
    double unit = two / (ROWS * sd * sd) * sigma * sigma;
    return 2 * unit * unit * (xb_law_moments(law).excess_kurtosis + 2);
}

static int64_t check_line(const char *text)
{
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, text);
    setting s;
    train_line(ctx, &s, law);
    xb_gradient_noise *g = NULL;
    assert_ok(ctx, xb_train_gradient_noise(ctx, &g, s.model, &s.data, &s.opt, PAIRS));
    const int64_t count = xb_gradient_noise_count(g);
    assert_true(count >= 2);
    assert_int_equal(xb_gradient_noise_estimator(g, 0), XB_ESTIMATOR_SHARED);
    for (int64_t i = 0; i < count; i++) {
        const xb_estimator e = xb_gradient_noise_estimator(g, i);
        const xb_estimate mean = xb_gradient_noise_mean(g, i);
        double want = xb_gradient_noise_antithetic(g, i) ? 0 : expected(&s, e);
        double size = expected(&s, XB_ESTIMATOR_SHARED);
        assert_true(mean.std_error <= 0.05 * size);
        /* 5 standard errors: a false alarm once in 2e6 */
        if (fabs(mean.value - want) > 5 * mean.std_error + 1e-9 * size)
            fail_msg("%s: %g, expected %g +- %g", xb_estimator_name(e), mean.value, want,
                     mean.std_error);
    }
    assert_true(xb_gradient_noise_antithetic(g, 1));
    assert_int_equal(xb_gradient_noise_estimator(g, 1), XB_ESTIMATOR_SHARED);
    const xb_estimate spread = xb_gradient_noise_spread(g, 1);
    assert_at_most(fabs(spread.value - expected_of_pairs(&s, law)), 5 * spread.std_error);
    assert_at_most(spread.std_error, 0.1 * spread.value);
    xb_gradient_noise_destroy(g);
    xb_model_destroy(s.model);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
    return count;
}

static void variances_are_the_closed_forms(void **state)
{
    (void)state;
    assert_int_equal(check_line("gaussian"), 8);
    assert_int_equal(check_line("mtj:B=0.15,w=0.5"), 6);
}

/* Through hidden layers there is no closed form, but an order: what every row draws for
 * itself is less noisy than one draw for all. The same bytes on any number of threads. */
static void own_draws_are_less_noisy(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_train_options opt = quick_options();
    xb_model *model = train_model(ctx, &opt, false, NULL);
    rows r = make_rows(false);
    xb_train_data data = rows_data(&r, false);
    xb_gradient_noise *g[2] = {NULL, NULL};
    for (int t = 0; t < 2; t++) {
        xb_ctx_set_threads(ctx, t + 1);
        assert_ok(ctx, xb_train_gradient_noise(ctx, &g[t], model, &data, &opt, 100));
    }
    assert_int_equal(xb_gradient_noise_count(g[0]), 8);
    const double first = xb_gradient_noise_mean(g[0], 0).value;
    const double first_spread = xb_gradient_noise_spread(g[0], 0).value;
    for (int i = 0; i < 8; i++) {
        const double mean = xb_gradient_noise_mean(g[0], i).value;
        const double spread = xb_gradient_noise_spread(g[0], i).value;
        assert_true(mean == xb_gradient_noise_mean(g[1], i).value);
        assert_true(spread == xb_gradient_noise_spread(g[1], i).value);
        if (xb_gradient_noise_estimator(g[0], i) == XB_ESTIMATOR_SHARED) continue;
        assert_true(mean < 0.5 * first);
        assert_true(spread < 0.5 * first_spread);
    }
    for (int t = 0; t < 2; t++) xb_gradient_noise_destroy(g[t]);
    xb_model_destroy(model);
    xb_ctx_destroy(ctx);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_train_options opt = quick_options();
    xb_model *model = train_model(ctx, &opt, false, NULL);
    rows r = make_rows(false);
    xb_train_data data = rows_data(&r, false);
    xb_gradient_noise *none = NULL;
    assert_int_equal(xb_train_gradient_noise(ctx, &none, model, &data, &opt, 1),
                     XB_E_ARGUMENT);
    data.features = 2;
    assert_int_equal(xb_train_gradient_noise(ctx, &none, model, &data, &opt, 9),
                     XB_E_ARGUMENT);
    assert_null(none);
    xb_model_destroy(model);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variances_are_the_closed_forms),
        cmocka_unit_test(own_draws_are_less_noisy),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
