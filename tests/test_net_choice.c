/* test_net_choice.c: the net that training chooses where none is given (V18): what is
 * tried, what settles it, what is given up halfway; and the presets. Only public headers.
 */
#include "traintest.h"

#include "crossbayes/train.h"

static void presets_are_a_table(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    assert_int_equal(xb_train_preset_count(), 1);
    assert_int_equal(xb_train_preset_find("paper"), 0);
    assert_int_equal(xb_train_preset_find("papers"), -1);
    assert_string_equal(xb_train_preset_name(0), "paper");
    assert_true(strlen(xb_train_preset_sets(0)) > 10);
    assert_true(strlen(xb_train_preset_source(0)) > 10);
    assert_null(xb_train_preset_name(1));
    xb_train_options opt = xb_train_options_default();
    opt.seed = 5;
    assert_ok(ctx, xb_train_preset(ctx, &opt, "paper"));
    assert_int_equal(opt.seed, 5);    /* not the preset's */
    assert_int_equal(opt.epochs, 10); /* what the words say of it */
    assert_int_equal(opt.estimator, XB_ESTIMATOR_SHARED);
    assert_int_equal(opt.sigma_transform, XB_SIGMA_TRANSFORM_SOFTPLUS);
    assert_int_equal(opt.temperature.kind, XB_SCHEDULE_EXP);
    assert_int_equal(opt.rate.kind, XB_SCHEDULE_CONSTANT);
    assert_true(opt.temperature.value == 1000 && opt.sigma == 0.05);
    assert_true(opt.adam.rate == 1e-3 && opt.freeze && !opt.prior_by_fan);
    assert_int_equal(opt.struct_size, sizeof opt);
    assert_int_equal(xb_train_preset(ctx, &opt, "papr"), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "did you mean 'paper'"));
    xb_ctx_destroy(ctx);
}

/* Mean F of the last `n` of the first `end` epochs of the second phase. */
static double f_up_to(const xb_train_report *r, int64_t end, int64_t n)
{
    const xb_table *trace = xb_train_report_history(r);
    double sum = 0;
    for (int64_t i = 0; i < xb_table_row_count(trace); i++) {
        const double epoch = xb_table_get(trace, i, XB_HISTORY_EPOCH);
        if (xb_table_get(trace, i, XB_HISTORY_PHASE) == 2 && epoch > (double)(end - n) &&
            epoch <= (double)end)
            sum += xb_table_get(trace, i, XB_HISTORY_F) / (double)n;
    }
    return sum;
}

/* (V18) A deeper net that is far behind halfway is given up: the numbers are those of
 * both nets trained alone, and the model is that of the first. */
static void a_net_far_behind_is_given_up_halfway(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_train_options opt = quick_options();
    xb_train_report *report[3] = {NULL};
    xb_model *model[3];
    static const char *const net[] = {NULL, "dense 50, relu, dense 1",
                                      "dense 50, relu, dense 50, relu, dense 1"};
    opt.epochs = 40;
    opt.members = 1;
    opt.prior_scale = XB_PRIOR_SCALE_STANDARD;
    opt.likelihood = XB_LIKELIHOOD_GAUSSIAN;
    for (int i = 0; i < 3; i++) {
        opt.net = net[i];
        model[i] = train_model(ctx, &opt, false, &report[i]);
    }
    const double half = f_up_to(report[2], 20, 2) - f_up_to(report[1], 20, 2);
    const double early = f_up_to(report[2], 12, 2) - f_up_to(report[1], 12, 2);
    assert_true(half > 0 && half > early - half); /* the case is one */
    assert_string_equal(xb_train_report_other_net(report[0]), net[2]);
    assert_close(xb_train_report_other_behind(report[0]), half, 1e-12);
    assert_true(isnan(xb_train_report_other_f(report[0]).value));
    assert_true(xb_train_report_f(report[0]).value == xb_train_report_f(report[1]).value);
    assert_same_file(ctx, model[0], model[1]);
    for (int i = 0; i < 3; i++) {
        xb_train_report_destroy(report[i]);
        xb_model_destroy(model[i]);
    }
    xb_ctx_destroy(ctx);
}

static bool stop_at_once(void *arg, xb_trainer *t)
{
    (void)arg, (void)t;
    return false;
}

/* What is tried where no net is asked for, and what settles it. */
static void a_net_is_chosen_where_none_is_given(void **state)
{
    (void)state;
    static const char one[] = "dense 50, relu, dense 1";
    static const char two[] = "dense 50, relu, dense 50, relu, dense 1";
    xb_ctx *ctx = test_ctx();
    for (int held = 0; held < 2; held++) {
        xb_train_options opt = quick_options();
        opt.net = NULL;
        opt.likelihood = XB_LIKELIHOOD_GAUSSIAN;
        opt.mle_epochs = opt.epochs = 8;
        opt.validation = held ? 0.2 : 0;
        xb_train_report *report = NULL, *alone = NULL;
        xb_model *chosen = train_model(ctx, &opt, false, &report);
        const bool deeper = strcmp(xb_model_net_text(chosen), two) == 0;
        assert_string_equal(xb_train_report_other_net(report), deeper ? one : two);
        assert_string_equal(xb_train_report_criterion(report), held ? "validation" : "F");
        double mine = held ? -xb_train_report_value(report, XB_HISTORY_VALIDATION)
                           : xb_train_report_f(report).value;
        double other = held ? -xb_train_report_other_score(report)
                            : xb_train_report_other_f(report).value;
        assert_true(mine < other);
        opt.net = xb_train_report_other_net(report);
        xb_model *left = train_model(ctx, &opt, false, &alone);
        assert_null(xb_train_report_other_net(alone));
        assert_null(xb_train_report_criterion(alone));
        assert_true(xb_train_report_f(alone).value ==
                    xb_train_report_other_f(report).value);
        xb_model_destroy(left);
        xb_train_report_destroy(alone);
        xb_train_report_destroy(report);
        xb_model_destroy(chosen);
    }
    xb_train_options opt = quick_options();
    opt.net = NULL;
    opt.prior_scale = XB_PRIOR_SCALE_STANDARD;
    opt.epochs = 2;
    for (int k = 0; k < 3; k++) {
        opt.noise_net = k == 1 ? "dense 2, relu, dense 1" : NULL;
        opt.temperature.value = k == 0 ? 0.5 : 1;
        opt.on_epoch = k == 2 ? stop_at_once : NULL;
        opt.stop_keeps = true;
        xb_train_report *report = NULL;
        xb_model *model = train_model(ctx, &opt, false, &report);
        assert_null(xb_train_report_other_net(report));
        assert_string_equal(xb_model_net_text(model), one);
        if (k == 1)
            assert_int_equal(xb_model_likelihood(model), XB_LIKELIHOOD_HETEROSCEDASTIC);
        xb_train_report_destroy(report);
        xb_model_destroy(model);
    }
    xb_ctx_destroy(ctx);
}

/* What the choice goes by, less is better: F, or the score of rows held out. */
static double cost_of(xb_ctx *ctx, xb_train_options opt, const char *net,
                      xb_likelihood likelihood)
{
    xb_train_report *report = NULL;
    opt.net = net;
    opt.likelihood = likelihood;
    xb_model_destroy(train_model(ctx, &opt, false, &report));
    const double cost = opt.validation > 0
                            ? -xb_train_report_value(report, XB_HISTORY_VALIDATION)
                            : xb_train_report_f(report).value;
    xb_train_report_destroy(report);
    return cost;
}

/* (V18) The deeper net with constant noise is compared with the small one under the
 * likelihood that suits it best. With so few epochs F has no error and no half. Returns 2
 * if the deeper net wins, 1 if it would against constant noise. */
static int deeper_wins(xb_ctx *ctx, double validation, int64_t epochs)
{
    static const char one[] = "dense 50, relu, dense 1";
    static const char two[] = "dense 50, relu, dense 50, relu, dense 1";
    xb_train_options opt = quick_options();
    xb_train_report *report = NULL;
    opt.net = NULL;
    opt.mle_epochs = opt.epochs = epochs;
    opt.members = 1;
    opt.validation = validation;
    xb_model *chosen = train_model(ctx, &opt, false, &report);
    const double constant = cost_of(ctx, opt, one, XB_LIKELIHOOD_GAUSSIAN);
    double small = fmin(constant, cost_of(ctx, opt, one, XB_LIKELIHOOD_HETEROSCEDASTIC));
    small = fmin(small, cost_of(ctx, opt, one, XB_LIKELIHOOD_STUDENT));
    const double deep = cost_of(ctx, opt, two, XB_LIKELIHOOD_GAUSSIAN);
    const double other = validation > 0 ? -xb_train_report_other_score(report)
                                        : xb_train_report_other_f(report).value;
    print_message("%lld epochs: %g, %g, deeper %g\n", (long long)epochs, constant, small,
                  deep);
    assert_string_equal(xb_model_net_text(chosen), deep < small ? two : one);
    assert_true(other == fmax(small, deep));
    assert_int_equal(xb_train_report_likelihood_count(report), 3);
    xb_train_report_destroy(report);
    xb_model_destroy(chosen);
    return (deep < constant) + (deep < small);
}

static void a_deeper_net_is_compared_with_every_likelihood(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    assert_int_equal(deeper_wins(ctx, 0.2, 10), 2);
    assert_int_equal(deeper_wins(ctx, 0.2, 16), 1); /* ahead of constant noise only */
    assert_int_equal(deeper_wins(ctx, 0, 2), 0);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets_are_a_table),
        cmocka_unit_test(a_net_is_chosen_where_none_is_given),
        cmocka_unit_test(a_deeper_net_is_compared_with_every_likelihood),
        cmocka_unit_test(a_net_far_behind_is_given_up_halfway),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
