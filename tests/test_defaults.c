/* test_defaults.c: options that are NULL are the defaults, in every function that takes
 * some: the same results as with what NAME_options_default() gives. */
#include "traintest.h"

static xb_model *trained(xb_ctx *ctx, const xb_train_options *opt)
{
    rows r = make_rows(false);
    xb_train_data data = rows_data(&r, false);
    xb_model *model = NULL;
    assert_ok(ctx, xb_train(ctx, &model, NULL, &data, opt));
    return model;
}

static void training(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const xb_train_options opt = xb_train_options_default();
    xb_model *a = trained(ctx, &opt), *b = trained(ctx, NULL);
    assert_true(same_numbers(a, b));
    rows r = make_rows(false);
    xb_train_data data = rows_data(&r, false);
    xb_gradient_noise noise[2][XB_GRADIENT_NOISE_MOST];
    int count = 0;
    for (int k = 0; k < 2; k++)
        assert_ok(ctx, xb_train_gradient_noise(ctx, noise[k], &count, a, &data,
                                               k ? &opt : NULL, 2));
    assert_true(noise[0][0].mean.value == noise[1][0].mean.value);
    xb_model_destroy(a);
    xb_model_destroy(b);
    xb_ctx_destroy(ctx);
}

static void predictions_and_scores(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    rows r = make_rows(false);
    xb_train_options quick = quick_options();
    xb_model *model = train_model(ctx, &quick, false, NULL);
    const xb_predict_options opt = xb_predict_options_default();
    const xb_rows all = {.x = r.x, .n = ROWS, .features = COLUMNS};
    xb_prediction *p[2] = {NULL, NULL};
    static double value[2][2 * ROWS];
    xb_model_scores s[2];
    for (int k = 0; k < 2; k++) {
        const xb_predict_options *o = k ? &opt : NULL;
        assert_ok(ctx, xb_predict(ctx, &p[k], model, r.x, ROWS, o));
        assert_ok(ctx, xb_predict_draws(ctx, value[k], NULL, model, r.x, ROWS, 0, 2, o));
        assert_ok(ctx, xb_score_model(ctx, &s[k], NULL, model, &all, r.y, o));
    }
    assert_memory_equal(xb_prediction_mean(p[0]), xb_prediction_mean(p[1]),
                        ROWS * sizeof(double));
    assert_memory_equal(value[0], value[1], sizeof value[0]);
    assert_true(s[0].regression.nll.value == s[1].regression.nll.value);
    for (int k = 0; k < 2; k++) xb_prediction_destroy(p[k]);
    xb_model_destroy(model);
    xb_ctx_destroy(ctx);
}

static void fits(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    rows r = make_rows(false);
    const xb_fit_options opt = xb_fit_options_default();
    xb_fit *fit[2] = {NULL, NULL};
    for (int k = 0; k < 2; k++)
        assert_ok(ctx, xb_fit_run(ctx, &fit[k], r.y, ROWS, k ? &opt : NULL));
    assert_string_equal(xb_fit_verdict(fit[0]), xb_fit_verdict(fit[1]));
    for (int k = 0; k < 2; k++) xb_fit_destroy(fit[k]);
    xb_ctx_destroy(ctx);
}

static void passes(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_net *net = NULL;
    const xb_pass_options opt = xb_pass_options_default();
    xb_pass *pass[2] = {NULL, NULL};
    assert_ok(
        ctx, xb_net_parse(ctx, &net, "dense 3, elu, dense 1", (xb_shape){1, 1, 2}, NULL));
    for (int k = 0; k < 2; k++)
        assert_ok(ctx, xb_pass_create(ctx, &pass[k], net, k ? &opt : NULL));
    assert_int_equal(xb_pass_bytes(pass[0]), xb_pass_bytes(pass[1]));
    for (int k = 0; k < 2; k++) xb_pass_destroy(pass[k]);
    xb_net_destroy(net);
    xb_ctx_destroy(ctx);
}

/* Distances, densities, plans, rules, samplers, arrays: only that they answer; with
 * options they are tested in files of their own. */
static void the_others(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    rows r = make_rows(false);
    xb_law *law = test_law(ctx, "mtj");
    xb_distances d;
    xb_sampler *sampler = NULL;
    xb_rule rule = {0};
    assert_ok(ctx, xb_distance_samples(ctx, &d, r.y, ROWS / 2, r.y + ROWS / 2, ROWS / 2,
                                       1, NULL));
    assert_ok(ctx, xb_sampler_create(ctx, &sampler, law, NULL));
    assert_ok(ctx, xb_rule_composite(ctx, &rule, law, 16, XB_COMPOSITE_SMOOTH, NULL));
    xb_train_options quick = quick_options();
    xb_model *model = train_model(ctx, &quick, false, NULL);
    xb_array array = {0};
    xb_analog *analog = NULL;
    assert_ok(ctx, xb_array_preset(ctx, &array, "ideal"));
    assert_ok(ctx, xb_analog_create(ctx, &analog, model, &array, r.x, ROWS, NULL));
    xb_analog_destroy(analog);
    xb_model_destroy(model);
    xb_rule_free(&rule);
    xb_sampler_destroy(sampler);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training),   cmocka_unit_test(predictions_and_scores),
        cmocka_unit_test(fits),       cmocka_unit_test(passes),
        cmocka_unit_test(the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
