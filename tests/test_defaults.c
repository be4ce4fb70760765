/* test_defaults.c: options that are NULL are the defaults, in every function that takes
 * some: the same results as with what NAME_options_default() gives. */
#include "comparetest.h"
#include "traintest.h"

#include "base/ctx.h"
#include "crossbar/array.h"
#include "rule/standard.h"
#include "plan/plan.h"

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
    OPTIMISED_ONLY();
    xb_ctx *ctx = test_ctx();
    const xb_train_options opt = xb_train_options_default();
    xb_model *a = trained(ctx, &opt), *b = trained(ctx, NULL);
    assert_true(same_numbers(a, b));
    rows r = make_rows(false);
    xb_train_data data = rows_data(&r, false);
    xb_gradient_noise *noise[2] = {NULL, NULL};
    for (int k = 0; k < 2; k++)
        assert_ok(ctx,
                  xb_train_gradient_noise(ctx, &noise[k], a, &data, k ? &opt : NULL, 2));
    assert_true(xb_gradient_noise_mean(noise[0], 0).value ==
                xb_gradient_noise_mean(noise[1], 0).value);
    for (int k = 0; k < 2; k++) xb_gradient_noise_destroy(noise[k]);
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
    xb_scores *s[2] = {NULL, NULL};
    xb_evaluation *e[2] = {NULL, NULL};
    const xb_evaluate_options evaluate = xb_evaluate_options_default();
    for (int k = 0; k < 2; k++) {
        const xb_predict_options *o = k ? &opt : NULL;
        assert_ok(ctx, xb_predict(ctx, &p[k], model, r.x, ROWS, o));
        assert_ok(ctx, xb_predict_draws(ctx, value[k], NULL, model, r.x, ROWS, 0, 2, o));
        assert_ok(ctx, xb_score_model(ctx, &s[k], model, &all, r.y, o));
        if (SANITIZED) continue; /* the evaluation is the same again, and slow there */
        assert_ok(ctx, xb_evaluate(ctx, &e[k], model, &all, r.y, NULL, 0,
                                   k ? &evaluate : NULL));
    }
    assert_memory_equal(xb_prediction_mean(p[0]), xb_prediction_mean(p[1]),
                        ROWS * sizeof(double));
    assert_memory_equal(value[0], value[1], sizeof value[0]);
    assert_true(xb_scores_get(s[0], "nll").value == xb_scores_get(s[1], "nll").value);
    for (int k = 0; k < 2; k++) { /* the defaults score alike */
        if (e[k])
            assert_true(xb_scores_get(xb_evaluation_scores(e[k], 0), "nll").value ==
                        xb_scores_get(s[k], "nll").value);
        xb_prediction_destroy(p[k]);
        xb_scores_destroy(s[k]);
        xb_evaluation_destroy(e[k]);
    }
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

static void distances_of_samples(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    rows r = make_rows(false);
    const xb_distance_options opt = xb_distance_options_default();
    measured d[2] = {0};
    for (int k = 0; k < 2; k++)
        assert_ok(ctx, measure(ctx, &d[k], r.y, ROWS / 2, r.y + ROWS / 2, ROWS / 2, 1,
                               k ? &opt : NULL));
    assert_true(d[0].energy.value == d[1].energy.value);
    assert_true(d[0].energy.p_value == d[1].energy.p_value);
    assert_true(d[0].mean.rms == d[1].mean.rms);
    assert_int_equal(d[0].neighbours, d[1].neighbours);
    assert_int_equal(d[0].verdict, d[1].verdict);
    xb_ctx_destroy(ctx);
}

static void samplers_and_rules(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "mtj");
    const xb_sampler_options standardised = xb_sampler_options_default();
    const xb_composite_options opt = xb_composite_options_default();
    const xb_stream where = {.key = xb_key_make(3, XB_PURPOSE_TEST)};
    xb_rule rule[2] = {{0}, {0}};
    float z[2][100];
    for (int k = 0; k < 2; k++) {
        xb_sampler *sampler = NULL;
        assert_ok(ctx, xb_sampler_create(ctx, &sampler, law, k ? &standardised : NULL));
        xb_sampler_fill(sampler, z[k], XB_COUNT(z[k]), &where, 0);
        xb_sampler_destroy(sampler);
        /* the kind that looks at its options */
        assert_ok(ctx, xb_rule_fill_composite(ctx, &rule[k], law, 16, XB_COMPOSITE_SPLIT,
                                              k ? &opt : NULL));
    }
    assert_memory_equal(z[0], z[1], sizeof z[0]);
    assert_int_equal(rule[0].n, rule[1].n);
    assert_memory_equal(rule[0].nodes, rule[1].nodes, (size_t)rule[0].n * sizeof(double));
    for (int k = 0; k < 2; k++) xb_rule_free(&rule[k]);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

static void densities_and_plans(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "bimodal:m=0.9");
    const xb_law *const laws[] = {law};
    xb_net *net = NULL;
    assert_ok(
        ctx, xb_net_parse(ctx, &net, "dense 2, elu, dense 1", (xb_shape){1, 1, 1}, NULL));
    float mu[7] = {1, -1, 0.3f, 0.1f, 1, 0.5f, 0}, sigma[7] = {1, 1, 0, 0, 1, 1, 0};
    const float x = 1;
    const xb_weights weights = {mu, sigma, NULL, NULL};
    assert_int_equal(xb_net_param_count(net), XB_COUNT(mu));
    const xb_density_options density = xb_density_options_default();
    const xb_plan_options opt = xb_plan_options_default();
    xb_densities *d[2] = {NULL, NULL};
    xb_plan plan[2];
    for (int k = 0; k < 2; k++) {
        assert_ok(ctx, xb_densities_create(ctx, &d[k], net, &weights, &x, laws, 1,
                                           k ? &density : NULL));
        assert_ok(ctx,
                  xb_plan_fill(ctx, &plan[k], net, &weights, &x, law, k ? &opt : NULL));
    }
    assert_int_equal(xb_densities_draws(d[0]), xb_densities_draws(d[1]));
    assert_int_equal(xb_densities_count(d[0]), xb_densities_count(d[1]));
    assert_memory_equal(xb_densities_value(d[0], 0), xb_densities_value(d[1], 0),
                        (size_t)xb_densities_count(d[0]) * sizeof(double));
    assert_true(plan[0].measured.value == plan[1].measured.value);
    assert_true(plan[0].predicted.value == plan[1].predicted.value);
    assert_int_equal(plan[0].verdict, plan[1].verdict);
    for (int k = 0; k < 2; k++) xb_densities_destroy(d[k]);
    xb_net_destroy(net);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

static void arrays(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    rows r = make_rows(false);
    xb_train_options quick = quick_options();
    xb_model *model = train_model(ctx, &quick, false, NULL);
    xb_array array = {0};
    assert_ok(ctx, xb_array_fill(ctx, &array, "mtj"));
    const xb_analog_options opt = xb_analog_options_default();
    const xb_assay_options assay = xb_assay_options_default();
    static double value[2][4 * ROWS];
    double nll[2];
    for (int k = 0; k < 2; k++) {
        xb_analog *analog = NULL;
        xb_assay *a = NULL;
        assert_ok(ctx, xb_analog_create(ctx, &analog, model, &array, r.x, ROWS,
                                        k ? &opt : NULL));
        assert_ok(ctx, xb_analog_draws(ctx, value[k], NULL, analog, r.x, ROWS, 0, 4));
        assert_ok(ctx, xb_assay_create(ctx, &a, model, r.x, r.y, 8, k ? &assay : NULL));
        nll[k] = xb_scores_get(xb_assay_result_scores(xb_assay_digital(a)), "nll").value;
        xb_assay_destroy(a);
        xb_analog_destroy(analog);
    }
    assert_memory_equal(value[0], value[1], sizeof value[0]);
    assert_true(nll[0] == nll[1]);
    xb_model_destroy(model);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training),
        cmocka_unit_test(predictions_and_scores),
        cmocka_unit_test(fits),
        cmocka_unit_test(passes),
        cmocka_unit_test(distances_of_samples),
        cmocka_unit_test(samplers_and_rules),
        cmocka_unit_test(densities_and_plans),
        cmocka_unit_test(arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
