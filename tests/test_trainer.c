/* test_trainer.c: the public trainer: steps one by one give the bytes of xb_train, its
 * gradient is that of F, a callback stops it, its state goes out and back, and a table in
 * memory is the table of the file. Only public headers. */
#include "slopetest.h"
#include "traintest.h"

#include <float.h>

#include "crossbayes/train.h"

/* A run with everything that has a state: batchnorm, rows held out, both phases. */
static xb_train_options full_options(void)
{
    xb_train_options opt = quick_options();
    opt.net = "dense 6, batchnorm, elu, dense 1";
    opt.validation = 0.2;
    opt.mle_epochs = 4;
    opt.epochs = 6;
    return opt;
}

static xb_trainer *make_trainer(xb_ctx *ctx, const rows *r, const xb_train_options *opt)
{
    xb_trainer *t = NULL;
    const xb_train_data data = rows_data(r, false);
    assert_ok(ctx, xb_trainer_create(ctx, &t, &data, opt));
    return t;
}

static void run_to_end(xb_ctx *ctx, xb_trainer *t)
{
    while (!xb_trainer_done(t)) assert_ok(ctx, xb_trainer_step(ctx, t));
}

static xb_model *best_of(xb_ctx *ctx, xb_trainer *t)
{
    xb_model *model = NULL;
    assert_ok(ctx, xb_trainer_best_model(ctx, &model, t));
    return model;
}

static void steps_give_the_bytes_of_train(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const rows r = make_rows(false);
    for (int held = 0; held < 2; held++) {
        xb_train_options opt = full_options();
        if (!held) opt.validation = 0;
        xb_train_report *whole = NULL, *parts = NULL;
        xb_model *expected = train_model(ctx, &opt, false, &whole);
        xb_trainer *t = make_trainer(ctx, &r, &opt);
        int64_t steps = 0, changes = 0, phase = xb_trainer_phase(t);
        assert_int_equal(phase, 1);
        for (; !xb_trainer_done(t); steps++) {
            assert_ok(ctx, xb_trainer_step(ctx, t));
            changes += xb_trainer_phase(t) != phase;
            phase = xb_trainer_phase(t);
        }
        assert_int_equal(changes, 1);
        assert_int_equal(xb_trainer_epochs_done(t), 6);
        assert_int_equal(xb_trainer_steps_done(t), xb_trainer_step_count(t));
        assert_int_equal(steps, xb_trainer_step_count(t) / 6 * 10);
        assert_ok(ctx, xb_trainer_step(ctx, t)); /* nothing left to do */
        xb_model *model = best_of(ctx, t);
        assert_same_file(ctx, model, expected);
        assert_ok(ctx, xb_trainer_report(ctx, &parts, t));
        assert_same_table(xb_train_report_history(whole), xb_train_report_history(parts));
        xb_train_report_destroy(whole);
        xb_train_report_destroy(parts);
        xb_model_destroy(model);
        xb_model_destroy(expected);
        xb_trainer_destroy(t);
    }
    xb_ctx_destroy(ctx);
}

/* A look at the model, the gradient and the report in between changes nothing, in either
 * phase. */
static void looking_changes_nothing(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const rows r = make_rows(false);
    const xb_train_options opt = full_options();
    xb_model *expected = train_model(ctx, &opt, false, NULL);
    xb_trainer *t = make_trainer(ctx, &r, &opt);
    const xb_train_data some = {.x = r.x, .y = r.y, .n = 30, .features = COLUMNS};
    double before = INFINITY;
    while (!xb_trainer_done(t)) {
        double f = 0, again = 0;
        xb_model *now = NULL;
        assert_ok(ctx, xb_trainer_model(ctx, &now, t));
        xb_model_destroy(now);
        xb_model_destroy(best_of(ctx, t));
        assert_ok(ctx, xb_trainer_gradient(ctx, &f, NULL, NULL, NULL, t, &some, 7));
        assert_ok(ctx, xb_trainer_gradient(ctx, &again, NULL, NULL, NULL, t, &some, 7));
        assert_true(f == again);
        assert_ok(ctx, xb_trainer_gradient(ctx, &f, NULL, NULL, NULL, t, NULL, -1));
        assert_ok(ctx, xb_trainer_step(ctx, t));
        assert_true(xb_trainer_step_value(t, XB_HISTORY_F) ==
                    f); /* the step's own batch */
        assert_true(xb_trainer_rate(t) <= before || xb_trainer_steps_done(t) == 0);
        before = xb_trainer_rate(t);
    }
    const double parts = -xb_trainer_step_value(t, XB_HISTORY_LOG_LIKELIHOOD) +
                         xb_trainer_step_value(t, XB_HISTORY_KL);
    assert_close(xb_trainer_step_value(t, XB_HISTORY_F), parts, 1e-12); /* (V1), T = 1 */
    xb_model *model = best_of(ctx, t);
    assert_same_file(ctx, model, expected);
    xb_model_destroy(model);
    xb_model_destroy(expected);
    xb_trainer_destroy(t);
    xb_ctx_destroy(ctx);
}

/* ---- the gradient */

static void gradient_is_that_of_f(void **state)
{
    (void)state;
    for (int spread = 0; spread < 2; spread++) {
        xb_ctx *ctx = test_ctx();
        const rows r = make_rows(false);
        xb_train_options opt = quick_options();
        opt.net = "dense 4, tanh, dense 1";
        opt.sigma_transform =
            spread ? XB_SIGMA_TRANSFORM_SOFTPLUS : XB_SIGMA_TRANSFORM_EXP;
        opt.sigma = 0.2;
        opt.mle_epochs = opt.epochs = 2;
        opt.temperature = (xb_schedule){.kind = XB_SCHEDULE_CONSTANT, .value = 0.7};
        probe p = {ctx,
                   make_trainer(ctx, &r, &opt),
                   {.x = r.x, .y = r.y, .n = 40, .features = COLUMNS},
                   ROWS};
        while (xb_trainer_phase(p.t) < 2) assert_ok(ctx, xb_trainer_epoch(ctx, p.t));
        assert_ok(ctx, xb_trainer_step(ctx, p.t));
        float d_mu[64], d_sigma[64], d_noise[1];
        double f = 0;
        assert_int_equal(xb_trainer_array_size(p.t, 0), 21);
        assert_ok(ctx,
                  xb_trainer_gradient(ctx, &f, d_mu, d_sigma, d_noise, p.t, &p.rows, 3));
        assert_true(f == f_of(&p));
        assert_int_equal(check_slopes(&p, "mu", d_mu), 21);
        assert_int_equal(check_slopes(&p, "sigma", d_sigma), 16);
        assert_int_equal(check_slopes(&p, "noise", d_noise), 1);
        xb_trainer_destroy(p.t);
        xb_ctx_destroy(ctx);
    }
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const rows r = make_rows(false);
    const xb_train_options opt = full_options();
    xb_trainer *t = make_trainer(ctx, &r, &opt);
    xb_train_data many = rows_data(&r, false), narrow = {.x = r.x, .y = r.y, .n = 9};
    double f = -1;
    narrow.features = 2;
    assert_int_equal(xb_trainer_gradient(ctx, &f, NULL, NULL, NULL, t, &many, 0),
                     XB_E_ARGUMENT);
    assert_non_null(strstr(xb_ctx_message(ctx), "120 rows: expected 1 to 50"));
    assert_int_equal(xb_trainer_gradient(ctx, &f, NULL, NULL, NULL, t, &narrow, 0),
                     XB_E_ARGUMENT);
    assert_true(f == -1);
    const int64_t sigma = xb_trainer_array_find(t, "sigma");
    float value[64] = {0};
    assert_int_equal(xb_trainer_array_set(ctx, t, sigma, value), XB_E_ARGUMENT);
    value[0] = NAN;
    assert_int_equal(xb_trainer_array_set(ctx, t, 0, value), XB_E_ARGUMENT);
    assert_int_equal(xb_trainer_array_get(ctx, value, t, 11), XB_E_ARGUMENT);
    assert_int_equal(xb_trainer_array_find(t, "nu"), -1);
    assert_int_equal(xb_trainer_resume(ctx, t, "/nowhere"), XB_E_INPUT);
    xb_trainer_destroy(t);
    xb_ctx_destroy(ctx);
}

/* ---- callbacks */

typedef struct caller {
    int64_t calls, stop_at;
} caller;

static bool count_epochs(void *arg, xb_trainer *t)
{
    caller *c = arg;
    assert_true(isfinite(xb_trainer_epoch_value(t, XB_HISTORY_F)));
    assert_true(xb_trainer_epoch_value(t, XB_HISTORY_PHASE) > 1 || c->calls < 4);
    return ++c->calls != c->stop_at;
}

static void a_callback_stops_and_keeps(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_train_options opt = full_options();
    opt.validation = 0;
    caller c = {0};
    opt.on_epoch = count_epochs;
    opt.on_epoch_arg = &c;
    xb_train_report *report = NULL;
    xb_model *whole = train_model(ctx, &opt, false, &report);
    assert_int_equal(c.calls, 10);
    assert_false(xb_train_report_stopped(report));
    xb_train_report_destroy(report);

    /* the model is the one that stepping leaves after as many epochs */
    const rows r = make_rows(false);
    opt.on_epoch = NULL;
    xb_trainer *t = make_trainer(ctx, &r, &opt);
    for (int i = 0; i < 7; i++) assert_ok(ctx, xb_trainer_epoch(ctx, t));
    xb_model *expected = NULL;
    assert_ok(ctx, xb_trainer_model(ctx, &expected, t));
    c = (caller){.stop_at = 7};
    opt.on_epoch = count_epochs;
    opt.stop_keeps = true;
    xb_model *model = train_model(ctx, &opt, false, &report);
    assert_int_equal(c.calls, 7);
    assert_true(xb_train_report_stopped(report));
    assert_int_equal(xb_train_report_epoch_count(report), 3);
    assert_same_file(ctx, model, expected);
    assert_false(same_numbers(model, whole));
    xb_train_report_destroy(report);
    xb_model_destroy(expected);
    xb_model_destroy(model);
    xb_model_destroy(whole);
    xb_trainer_destroy(t);
    xb_ctx_destroy(ctx);
}

static void a_callback_cancels(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const rows r = make_rows(false);
    const xb_train_data data = rows_data(&r, false);
    xb_train_options opt = full_options();
    xb_model *expected = train_model(ctx, &opt, false, NULL), *model = NULL;
    caller c = {.stop_at = 4}; /* between the phases */
    opt.on_epoch = count_epochs;
    opt.on_epoch_arg = &c;
    assert_int_equal(xb_train(ctx, &model, NULL, &data, &opt), XB_E_CANCELLED);
    assert_null(model);
    assert_string_equal(xb_ctx_message(ctx), "training stopped on request");

    /* a trainer goes on where it was stopped */
    c = (caller){.stop_at = 4};
    xb_trainer *t = make_trainer(ctx, &r, &opt);
    xb_status status = XB_OK;
    while (status == XB_OK) status = xb_trainer_epoch(ctx, t);
    assert_int_equal(status, XB_E_CANCELLED);
    assert_false(xb_trainer_done(t));
    run_to_end(ctx, t);
    assert_int_equal(c.calls, 10);
    model = best_of(ctx, t);
    assert_same_file(ctx, model, expected);
    xb_model_destroy(model);
    xb_model_destroy(expected);
    xb_trainer_destroy(t);
    xb_ctx_destroy(ctx);
}

/* ---- the state */

/* Saved in the middle of an epoch, read into a new trainer, trained to the end. */
static void a_saved_state_goes_on(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    const rows r = make_rows(false);
    const xb_train_options opt = full_options();
    xb_model *expected = train_model(ctx, &opt, false, NULL);
    for (int steps = 3; steps < 18; steps += 7) {
        xb_trainer *a = make_trainer(ctx, &r, &opt), *b = make_trainer(ctx, &r, &opt);
        for (int i = 0; i < steps; i++) assert_ok(ctx, xb_trainer_step(ctx, a));
        for (int i = 0; i < 5; i++) assert_ok(ctx, xb_trainer_step(ctx, b));
        assert_ok(ctx, xb_trainer_save(ctx, a, scratch_path(&s, "state")));
        assert_ok(ctx, xb_trainer_resume(ctx, b, scratch_path(&s, "state")));
        assert_int_equal(xb_trainer_steps_done(b), xb_trainer_steps_done(a));
        run_to_end(ctx, b);
        xb_model *model = best_of(ctx, b);
        assert_same_file(ctx, model, expected);
        xb_model_destroy(model);
        xb_trainer_destroy(a);
        xb_trainer_destroy(b);
    }
    xb_model_destroy(expected);
    assert_int_equal(scratch_remove(&s), 1);
    xb_ctx_destroy(ctx);
}

/* All arrays out, all of them spoilt, all of them back. */
static void arrays_go_out_and_back(void **state)
{
    (void)state;
    enum { MOST = 256 };
    xb_ctx *ctx = test_ctx();
    const rows r = make_rows(false);
    const xb_train_options opt = full_options();
    xb_model *expected = train_model(ctx, &opt, false, NULL);
    xb_trainer *t = make_trainer(ctx, &r, &opt);
    for (int i = 0; i < 10; i++) assert_ok(ctx, xb_trainer_step(ctx, t));
    assert_int_equal(xb_trainer_phase(t), 2);
    static float kept[16][MOST], half[MOST];
    const int64_t n = xb_trainer_array_count(t);
    const int64_t sigma = xb_trainer_array_find(t, "sigma");
    for (int64_t i = 0; i < n; i++) {
        assert_in_range(xb_trainer_array_size(t, i), 1, MOST);
        assert_int_equal(xb_trainer_array_find(t, xb_trainer_array_name(t, i)), i);
        assert_ok(ctx, xb_trainer_array_get(ctx, kept[i], t, i));
    }
    for (int k = 0; k < MOST; k++) half[k] = 0.5f;
    for (int64_t i = 0; i < n; i++) assert_ok(ctx, xb_trainer_array_set(ctx, t, i, half));
    xb_model *spoilt = NULL;
    assert_ok(ctx, xb_trainer_model(ctx, &spoilt, t));
    assert_true(xb_model_weights(spoilt).mu[0] == 0.5f);
    xb_model_destroy(spoilt);
    for (int64_t i = 0; i < n; i++)
        if (i != sigma) assert_ok(ctx, xb_trainer_array_set(ctx, t, i, kept[i]));
    float now[MOST];
    assert_ok(ctx, xb_trainer_array_get(ctx, now, t, sigma));
    for (int64_t k = 0; k < xb_trainer_array_size(t, sigma); k++)
        assert_true(now[k] == kept[sigma][k]);
    run_to_end(ctx, t);
    xb_model *model = best_of(ctx, t);
    assert_same_file(ctx, model, expected);
    xb_model_destroy(model);
    xb_model_destroy(expected);
    xb_trainer_destroy(t);
    xb_ctx_destroy(ctx);
}

/* Sigma that is set is the model's, to a rounding. */
static void sigma_can_be_set(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const rows r = make_rows(false);
    xb_train_options opt = full_options();
    opt.sigma_transform = XB_SIGMA_TRANSFORM_SOFTPLUS;
    opt.mle_epochs = 0;
    xb_trainer *t = make_trainer(ctx, &r, &opt);
    const int64_t sigma = xb_trainer_array_find(t, "sigma");
    float value[256];
    for (int i = 0; i < 256; i++) value[i] = 0.01f * (float)(i + 1);
    assert_ok(ctx, xb_trainer_array_set(ctx, t, sigma, value));
    xb_model *model = NULL;
    assert_ok(ctx, xb_trainer_model(ctx, &model, t));
    const xb_weights w = xb_model_weights(model);
    int random = 0;
    for (int64_t i = 0; i < xb_trainer_array_size(t, sigma); i++) {
        if (w.sigma[i] == 0) continue;
        assert_close((double)w.sigma[i], (double)value[i], 8 * (double)FLT_EPSILON);
        random++;
    }
    assert_int_equal(random, xb_net_stochastic_count(xb_model_net(model)));
    xb_model_destroy(model);
    xb_trainer_destroy(t);
    xb_ctx_destroy(ctx);
}

/* ---- models, to arrays and back */

static void every_array_of_a_model_can_be_read(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_train_options opt = full_options();
    opt.likelihood = XB_LIKELIHOOD_HETEROSCEDASTIC;
    opt.noise_net = "dense 3, batchnorm, tanh, dense 1";
    xb_model *model = train_model(ctx, &opt, false, NULL), *again = NULL;
    static const char *const names[] = {"1", "2", "3"};
    const xb_weights noise = xb_model_noise_weights(model);
    assert_null(noise.sigma);
    const xb_model_parts parts = {.net = xb_model_net(model),
                                  .weights = xb_model_weights(model),
                                  .law = xb_model_law(model),
                                  .prior = xb_model_prior(model),
                                  .likelihood = xb_model_likelihood(model),
                                  .noise_net = xb_model_noise_net(model),
                                  .noise_mu = noise.mu,
                                  .noise_state = noise.state,
                                  .feature_name = names,
                                  .input_mean = xb_model_input_mean(model),
                                  .input_sd = xb_model_input_sd(model),
                                  .target_name = xb_model_target_name(model),
                                  .target_mean = xb_model_target_mean(model),
                                  .target_sd = xb_model_target_sd(model),
                                  .settings = xb_model_settings(model),
                                  .provenance = xb_model_provenance(model)};
    assert_ok(ctx, xb_model_create(ctx, &again, &parts));
    assert_same_file(ctx, model, again);
    xb_model_destroy(again);
    xb_model_destroy(model);
    opt = quick_options();
    model = train_model(ctx, &opt, false, NULL);
    assert_null(xb_model_noise_weights(model).mu);
    xb_model_destroy(model);
    xb_ctx_destroy(ctx);
}

/* ---- the report */

/* Of the epoch kept, the last here; F as the mean of a twentieth of the epochs. */
static void the_report_is_of_the_last_epochs(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_train_options opt = quick_options();
    opt.mle_epochs = 3;
    opt.epochs = 60;
    xb_train_report *r = NULL;
    xb_model *model = train_model(ctx, &opt, false, &r);
    const xb_table *trace = xb_train_report_history(r);
    double mean = 0;
    for (int i = 60; i < 63; i++) mean += xb_table_get(trace, i, XB_HISTORY_F) / 3;
    assert_int_equal(xb_table_row_count(trace), 63);
    for (int c = 0; c <= XB_HISTORY_VALIDATION; c++) {
        xb_history_column found = XB_HISTORY_PHASE;
        assert_ok(ctx, xb_history_column_parse(
                           ctx, &found, xb_history_column_name((xb_history_column)c)));
        assert_int_equal(found, c);
        assert_string_equal(xb_table_column_name(trace, c),
                            xb_history_column_name((xb_history_column)c));
    }
    assert_close(xb_train_report_f(r).value, mean, 1e-14);
    assert_true(xb_train_report_f(r).std_error > 0);
    assert_true(xb_train_report_value(r, XB_HISTORY_KL) ==
                xb_table_get(trace, 62, XB_HISTORY_KL));
    assert_int_equal(xb_train_report_epoch_kept(r), 60);
    assert_int_equal(xb_train_report_row_count(r), ROWS);
    assert_int_equal(xb_train_report_held_count(r), 0);
    xb_model_destroy(model);
    xb_train_report_destroy(r);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_give_the_bytes_of_train),
        cmocka_unit_test(looking_changes_nothing),
        cmocka_unit_test(gradient_is_that_of_f),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(a_callback_stops_and_keeps),
        cmocka_unit_test(a_callback_cancels),
        cmocka_unit_test(a_saved_state_goes_on),
        cmocka_unit_test(arrays_go_out_and_back),
        cmocka_unit_test(sigma_can_be_set),
        cmocka_unit_test(every_array_of_a_model_can_be_read),
        cmocka_unit_test(the_report_is_of_the_last_epochs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
