/* test_train_resume.c: the same bytes: for any number of threads, and for runs that were
 * stopped and went on from their checkpoint; checkpoints that do not fit are refused. */
#include "traintest.h"

#include "vi/trainer.h"

static void same_bytes_for_any_threads(void **state)
{
    (void)state;
    xb_model *model[2] = {NULL};
    xb_ctx *ctx = test_ctx();
    xb_train_options opt = quick_options();
    opt.net = "dense 64, elu, dense 64, elu, dense 1"; /* large enough to be split */
    opt.epochs = opt.mle_epochs = 4;
    opt.batch = 120;
    opt.draws = 2;
    opt.antithetic = true;
    for (int i = 0; i < 2; i++) {
        xb_ctx_set_threads(ctx, i == 0 ? 1 : 3);
        model[i] = train_model(ctx, &opt, false, NULL);
    }
    assert_true(same_numbers(model[0], model[1]));
    xb_model_destroy(model[1]);
    opt.seed = 2;
    model[1] = train_model(ctx, &opt, false, NULL);
    assert_false(same_numbers(model[0], model[1]));
    for (int i = 0; i < 2; i++) xb_model_destroy(model[i]);
    xb_ctx_destroy(ctx);
}

static bool stop_at(void *arg, const xb_progress *event)
{
    return event->done < *(const int64_t *)arg;
}

/* Stopped at any step, in the middle of an epoch or between the phases, and resumed:
 * the model and the trace of an undisturbed run. */
static void resumed_runs_end_the_same(void **state)
{
    (void)state;
    static const int64_t stops[] = {1, 29, 30, 31, 60, 61, 77, 119};
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_train_options opt = quick_options();
    opt.net = "dense 6, batchnorm, elu, dense 1";
    opt.validation = 0.25;
    opt.batch = 30;
    xb_train_report *whole = NULL, *parts = NULL;
    xb_model *undisturbed = train_model(ctx, &opt, false, &whole);
    char path[160];
    snprintf(path, sizeof path, "%s", scratch_path(&s, "model.checkpoint"));
    opt.checkpoint = path;
    opt.resume = true;
    rows r = make_rows(false);
    xb_train_data data = rows_data(&r, false);
    xb_model *model = NULL;
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        int64_t stop = stops[i];
        xb_ctx_set_progress(ctx, stop_at, &stop);
        assert_int_equal(xb_train(ctx, &model, NULL, &data, &opt), XB_E_CANCELLED);
        assert_non_null(strstr(xb_ctx_message(ctx), "model.checkpoint"));
        assert_int_equal(access(path, R_OK), 0);
    }
    xb_ctx_set_progress(ctx, NULL, NULL);
    assert_ok(ctx, xb_train(ctx, &model, &parts, &data, &opt));
    assert_true(same_numbers(model, undisturbed));
    assert_same_table(xb_train_report_history(whole), xb_train_report_history(parts));
    xb_train_report_destroy(whole);
    xb_train_report_destroy(parts);
    xb_model_destroy(model);
    xb_model_destroy(undisturbed);
    assert_int_equal(scratch_remove(&s), 1);
    xb_ctx_destroy(ctx);
}

/* A training that was stopped at its tenth event, with its checkpoint. */
typedef struct stopped {
    xb_ctx *ctx;
    scratch s;
    char path[160];
    rows r;
    xb_train_options opt;
    int64_t stop;
} stopped;

static xb_status stopped_resume(stopped *t)
{
    const xb_train_data data = rows_data(&t->r, false);
    xb_model *model = NULL;
    xb_status status = xb_train(t->ctx, &model, NULL, &data, &t->opt);
    assert_null(model);
    return status;
}

static xb_train_options stopped_options(const stopped *t)
{
    xb_train_options opt = quick_options();
    opt.checkpoint = t->path;
    opt.resume = true;
    return opt;
}

static void stopped_make(stopped *t)
{
    *t = (stopped){.ctx = test_ctx(), .s = scratch_make()};
    t->r = make_rows(false);
    t->stop = 10;
    snprintf(t->path, sizeof t->path, "%s", scratch_path(&t->s, "c"));
    t->opt = stopped_options(t);
    xb_ctx_set_progress(t->ctx, stop_at, &t->stop);
    assert_int_equal(stopped_resume(t), XB_E_CANCELLED);
}

/* With these bytes in its checkpoint's place it does not go on. */
static void assert_refused(stopped *t, const char *bytes, size_t n, const char *says)
{
    scratch_write(&t->s, "c", bytes, n);
    assert_int_equal(stopped_resume(t), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(t->ctx), says));
}

static void stopped_free(stopped *t)
{
    assert_int_equal(scratch_remove(&t->s), 1);
    xb_ctx_destroy(t->ctx);
}

static void other_checkpoints_are_refused(void **state)
{
    (void)state;
    static char bytes[1 << 16];
    stopped t;
    stopped_make(&t);
    size_t n = scratch_read(t.path, bytes, sizeof bytes);
    t.r.y[3] += 1e-9;
    assert_refused(&t, bytes, n, "left by another run: the data's checksum was ");
    t.r = make_rows(false);
    char says[96];
    snprintf(says, sizeof says, "c: left by another run: sigma was %.10g and is 0.02",
             t.opt.sigma);
    t.opt.sigma = 0.02;
    assert_refused(&t, bytes, n, says);
    assert_null(strchr(xb_ctx_message(t.ctx), ';')); /* and nothing else */
    t.opt.sigma = quick_options().sigma;
    t.opt.seed++;
    t.opt.antithetic = true;
    t.opt.draws = 2;
    assert_refused(&t, bytes, n,
                   "draws was 1 and is 2; antithetic was off and is on; seed was ");
    t.opt = stopped_options(&t);
    t.opt.mirror = true; /* a setting that is there only where it is on */
    assert_refused(&t, bytes, n, "left by another run: mirror was not set and is on");
    t.opt = stopped_options(&t);
    t.opt.net = "dense 4, tanh, dense 1";
    assert_refused(&t, bytes, n, " and is 'dense 4, tanh, dense 1'");
    t.opt = stopped_options(&t);
    xb_ctx *ctx = test_ctx(); /* that does not stop */
    xb_train_options quick = quick_options();
    xb_model *start = train_model(ctx, &quick, false, NULL);
    t.opt.start = start;
    assert_refused(&t, bytes, n,
                   "left by another run: the starting model's checksum was ");
    t.opt.start = NULL;
    xb_model_destroy(start);
    xb_ctx_destroy(ctx);
    for (size_t cut = 0; cut < n; cut += 97) assert_refused(&t, bytes, cut, t.path);
    stopped_free(&t);
}

/* In the file: a length, the header, then place, sums, trace and, last, floats. */
static void checkpoints_hold_numbers(void **state)
{
    (void)state;
    stopped t;
    stopped_make(&t);
    static char whole[1 << 16], bytes[sizeof whole];
    size_t n = scratch_read(t.path, whole, sizeof whole);
    uint64_t header = 0;
    memcpy(&header, whole, sizeof header);
    static const double lost[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 2 * XB_COUNT(lost); i++) {
        const double number = lost[i / 2];
        const float small = (float)number;
        const size_t sums = sizeof header + header + sizeof(xb_train_place);
        memcpy(bytes, whole, n);
        if (i % 2)
            memcpy(bytes + n - sizeof small, &small, sizeof small);
        else
            memcpy(bytes + sums + offsetof(xb_train_sums, nll), &number, sizeof number);
        assert_refused(&t, bytes, n, "not finite");
    }
    stopped_free(&t);
}

/* From the same weights, in one batch, seeds differ by their noise alone: the order of
 * rows is worth a rounding. */
static void noise_takes_the_seed(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_train_options opt = quick_options();
    xb_model *start = train_model(ctx, &opt, false, NULL);
    double likelihood[2];
    for (int i = 0; i < 2; i++) {
        opt = quick_options();
        opt.start = start;
        opt.mle_epochs = 0;
        opt.epochs = 1;
        opt.batch = ROWS;
        opt.sigma = 0.1;
        opt.estimator = XB_ESTIMATOR_SHARED;
        opt.seed = 1 + (uint64_t)i;
        xb_train_report *report = NULL;
        xb_model *model = train_model(ctx, &opt, false, &report);
        const xb_table *trace = xb_train_report_history(report);
        likelihood[i] =
            xb_table_get(trace, 0, xb_table_column_find(trace, "log_likelihood"));
        xb_train_report_destroy(report);
        xb_model_destroy(model);
    }
    assert_true(fabs(likelihood[0] - likelihood[1]) > 1e-3 * fabs(likelihood[0]));
    xb_model_destroy(start);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_for_any_threads),
        cmocka_unit_test(resumed_runs_end_the_same),
        cmocka_unit_test(other_checkpoints_are_refused),
        cmocka_unit_test(checkpoints_hold_numbers),
        cmocka_unit_test(noise_takes_the_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
