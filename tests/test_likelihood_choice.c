/* The likelihood that train chooses: on tables of each kind of noise it is the right one,
 * or what it loses against the right one is within its error. The report says what was
 * tried and why. XB_LONG=1 takes more tables, with the settings of `train`. */
#include "noisetables.h"

static table train_rows, test_rows;

static xb_train_options options(int64_t n)
{
    xb_train_options o = xb_train_options_default();
    if (test_long()) return o;
    o.net = "dense 20, relu, dense 1";
    o.choose_likelihood = true;
    o.adam.rate = 1e-2;
    o.batch = 50;
    o.mle_epochs = 500 * 50 / n;
    o.epochs = 2500 * 50 / n;
    return o;
}

/* Test scores of the model; the likelihood it has. */
static xb_likelihood train(xb_ctx *ctx, double nll[TEST_ROWS], xb_likelihood wanted,
                           double validation, xb_train_report **report)
{
    xb_train_options o = options(train_rows.n);
    xb_model *model = NULL;
    const xb_train_data data = data_of(&train_rows);
    o.likelihood = wanted;
    o.validation = validation;
    assert_ok(ctx, xb_train(ctx, &model, report, &data, &o));
    const xb_likelihood found = xb_model_likelihood(model);
    test_nll(ctx, nll, model, &test_rows);
    xb_model_destroy(model);
    return found;
}

static void check_kind(kind k, int64_t n, uint64_t seed, xb_likelihood right,
                       double validation)
{
    xb_ctx *ctx = test_ctx();
    double chosen[TEST_ROWS], best[TEST_ROWS];
    xb_train_report *report = NULL;
    make(&train_rows, k, 0, n, seed);
    make(&test_rows, k, MOST, TEST_ROWS, seed);
    const xb_likelihood found =
        train(ctx, chosen, XB_LIKELIHOOD_AUTO, validation, &report);
    print_message("%s\n", xb_train_report_likelihood_reason(report));
    const int64_t at = xb_train_report_likelihood_find(report, xb_likelihood_name(found));
    assert_true(xb_train_report_likelihood_count(report) >= 2);
    assert_int_equal(at >= 0, 1);
    assert_true(isfinite(xb_train_report_likelihood_score(report, at)) ==
                (validation > 0));
    if (found != right) {
        (void)train(ctx, best, right, validation, NULL);
        const loss l = loss_of(chosen, best);
        print_message("%s in place of %s: %+.4f +- %.4f\n", xb_likelihood_name(found),
                      xb_likelihood_name(right), l.mean, l.error);
        assert_true(l.mean <= 3 * l.error + 0.02);
    }
    xb_train_report_destroy(report);
    xb_ctx_destroy(ctx);
}

static uint64_t tables(void) { return test_long() ? 5 : 1; }

static void constant_noise_stays_constant(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= tables(); seed++)
        check_kind(CONSTANT, 500, seed, XB_LIKELIHOOD_GAUSSIAN, 0);
}

static void growing_noise_is_noticed(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= tables(); seed++)
        check_kind(GROWING, 500, seed, XB_LIKELIHOOD_HETEROSCEDASTIC, 0);
    double nll[TEST_ROWS];
    xb_ctx *ctx = test_ctx();
    assert_int_equal(train(ctx, nll, XB_LIKELIHOOD_AUTO, 0, NULL),
                     XB_LIKELIHOOD_HETEROSCEDASTIC); /* nothing near the threshold */
    xb_ctx_destroy(ctx);
}

static void heavy_tails_are_noticed(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= tables(); seed++)
        check_kind(HEAVY, 800, seed, XB_LIKELIHOOD_STUDENT, 0);
}

static void rows_held_out_judge(void **state)
{
    (void)state;
    check_kind(GROWING, 500, 1, XB_LIKELIHOOD_HETEROSCEDASTIC, 0.2);
}

/* F prefers the noise net of this table to Student's t, and new rows agree: the noise net
 * of a size that this many rows can pay for. */
static void a_noise_net_is_affordable(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double chosen[TEST_ROWS], rejected[TEST_ROWS];
    xb_model *model = NULL, *student = NULL;
    xb_train_options o = xb_train_options_default();
    o.net = "dense 50, relu, dense 1";
    o.choose_likelihood = true;
    make(&train_rows, GROWING, 0, 400, 6);
    make(&test_rows, GROWING, MOST, TEST_ROWS, 6);
    const xb_train_data data = data_of(&train_rows);
    assert_ok(ctx, xb_train(ctx, &model, NULL, &data, &o));
    assert_int_equal(xb_model_likelihood(model), XB_LIKELIHOOD_HETEROSCEDASTIC);
    o.likelihood = XB_LIKELIHOOD_STUDENT;
    assert_ok(ctx, xb_train(ctx, &student, NULL, &data, &o));
    test_nll(ctx, chosen, model, &test_rows);
    test_nll(ctx, rejected, student, &test_rows);
    const loss l = loss_of(rejected, chosen);
    print_message("student loses %.3f +- %.3f on new rows\n", l.mean, l.error);
    assert_true(l.mean > 5 * l.error);
    xb_model_destroy(student);
    xb_model_destroy(model);
    xb_ctx_destroy(ctx);
}

/* What was asked for is not chosen. */
static void a_likelihood_asked_for_is_taken(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double nll[TEST_ROWS];
    xb_train_report *report = NULL;
    make(&train_rows, GROWING, 0, 100, 1);
    make(&test_rows, GROWING, MOST, TEST_ROWS, 1);
    assert_int_equal(train(ctx, nll, XB_LIKELIHOOD_GAUSSIAN, 0, &report),
                     XB_LIKELIHOOD_GAUSSIAN);
    assert_int_equal(xb_train_report_likelihood_count(report), 0);
    assert_null(xb_train_report_likelihood_reason(report));
    assert_null(xb_train_report_likelihood_name(report, 0));
    assert_int_equal(xb_train_report_likelihood_find(report, "gaussian"), -1);
    xb_train_report_destroy(report);
    xb_ctx_destroy(ctx);
}

static void effort_is_steps(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    int64_t steps[3];
    make(&train_rows, CONSTANT, 0, 300, 1);
    const xb_train_data data = data_of(&train_rows);
    for (int e = 0; e < 3; e++) {
        xb_train_options o = xb_train_options_default();
        xb_trainer *t = NULL;
        o.effort = (xb_train_effort)e;
        assert_ok(ctx, xb_trainer_create(ctx, &t, &data, &o));
        steps[e] = xb_trainer_step_count(t);
        xb_trainer_destroy(t);
    }
    assert_true(2 * steps[XB_TRAIN_EFFORT_QUICK] < steps[XB_TRAIN_EFFORT_STANDARD]);
    assert_true(2 * steps[XB_TRAIN_EFFORT_STANDARD] < steps[XB_TRAIN_EFFORT_FULL]);
    xb_train_effort e = XB_TRAIN_EFFORT_STANDARD;
    assert_ok(ctx, xb_train_effort_parse(ctx, &e, "full"));
    assert_int_equal(e, XB_TRAIN_EFFORT_FULL);
    assert_string_equal(xb_train_effort_name(e), "full");
    assert_int_equal(xb_train_effort_parse(ctx, &e, "much"), XB_E_INPUT);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_noise_stays_constant),
        cmocka_unit_test(growing_noise_is_noticed),
        cmocka_unit_test(heavy_tails_are_noticed),
        cmocka_unit_test(rows_held_out_judge),
        cmocka_unit_test(a_noise_net_is_affordable),
        cmocka_unit_test(a_likelihood_asked_for_is_taken),
        cmocka_unit_test(effort_is_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
