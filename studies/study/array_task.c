/* array_task.c: the tasks of the study of arrays: the paper's scalar experiment, with
 * converged Gaussian weights, and a table with one hidden layer. The table is the user's,
 * or Friedman's function of ten inputs (1991), of which five matter, with noise of sd 1
 * (maths X17). Every fifth row is for testing. */
#include "study/array_task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crossbayes/extend.h"
#include "crossbayes/random.h"
#include "crossbayes/train.h"
#include "study/scalar_model.h"

enum { FIFTH = 5, FRIEDMAN_ROWS = 400, FRIEDMAN_INPUTS = 10 };
enum { STREAM_X = 1010, STREAM_NOISE = 1011 }; /* tensor numbers for the built-in table */

static xb_status take_rows(xb_ctx *ctx, xb_array_task *t)
{
    t->train_x = xb_new(ctx, t->n_train * t->features, sizeof(double));
    t->train_y = xb_new(ctx, t->n_train, sizeof(double));
    t->test_x = xb_new(ctx, t->n_test * t->features, sizeof(double));
    t->test_y = xb_new(ctx, t->n_test, sizeof(double));
    t->mean = xb_new(ctx, t->n_test, sizeof(double));
    t->sd = xb_new(ctx, t->n_test, sizeof(double));
    bool all = t->train_x && t->train_y && t->test_x && t->test_y && t->mean && t->sd;
    return all ? XB_OK : XB_E_MEMORY;
}

void xb_array_task_free(xb_array_task *t)
{
    xb_assay_destroy(t->assay);
    xb_model_destroy(t->model);
    double *const blocks[] = {t->train_x, t->train_y, t->test_x,
                              t->test_y,  t->mean,    t->sd};
    for (int i = 0; i < XB_COUNT(blocks); i++) xb_free(blocks[i]);
}

/* Mean and standard deviation of the outputs at every test point. */
static xb_status digital_moments(xb_ctx *ctx, xb_array_task *t, int64_t draws,
                                 uint64_t seed)
{
    xb_predict_options opt = xb_predict_options_default();
    opt.seed = seed;
    double *value = xb_new(ctx, draws * t->n_test, sizeof *value);
    if (!value) return XB_E_MEMORY;
    xb_status status = xb_predict_draws(ctx, value, NULL, t->model, t->test_x, t->n_test,
                                        0, draws, &opt);
    for (int64_t i = 0; i < t->n_test && status == XB_OK; i++) {
        double sum = 0, square = 0, n = (double)draws;
        for (int64_t s = 0; s < draws; s++) sum += value[s * t->n_test + i];
        for (int64_t s = 0; s < draws; s++)
            square += pow(value[s * t->n_test + i] - sum / n, 2);
        t->mean[i] = sum / n;
        t->sd[i] = sqrt(square / (n - 1));
    }
    xb_free(value);
    return status;
}

/* Trains, and scores the digital model. */
static xb_status finish(xb_ctx *ctx, xb_array_task *t, const xb_train_options *o,
                        const xb_array_sizes *sizes)
{
    enum { MORE = 4 }; /* the reference has this many times the draws of a case */
    const xb_train_data data = {
        .x = t->train_x, .y = t->train_y, .n = t->n_train, .features = t->features};
    XB_TRY(xb_train(ctx, &t->model, NULL, &data, o));
    xb_analog_options analog = xb_analog_options_default();
    xb_assay_options a = xb_assay_options_default();
    analog.seed = o->seed;
    a.reads = sizes->reads;
    a.calibration = t->train_x;
    a.calibration_n = t->n_train;
    a.analog = &analog;
    XB_TRY(
        xb_assay_create(ctx, &t->assay, t->model, t->test_x, t->test_y, t->n_test, &a));
    return digital_moments(ctx, t, MORE * sizes->reads, o->seed);
}

xb_status xb_array_task_scalar(xb_ctx *ctx, xb_array_task *t, const xb_study_options *opt,
                               const xb_array_sizes *sizes)
{
    *t = (xb_array_task){.n_train = sizes->train, .n_test = sizes->test, .features = 1};
    XB_TRY(take_rows(ctx, t));
    xb_law *gaussian = NULL;
    XB_TRY(xb_law_parse(ctx, &gaussian, "gaussian"));
    xb_scalar_draw(t->train_x, t->train_y, t->n_train, opt->seed, XB_SCALAR_TRAIN,
                   XB_NOISE_SCALE_MIN, gaussian);
    xb_scalar_draw(t->test_x, t->test_y, t->n_test, opt->seed, XB_SCALAR_TEST_IN,
                   XB_NOISE_SCALE_MIN, gaussian);
    xb_law_destroy(gaussian);
    xb_train_options o = xb_scalar_settled(NULL, opt->seed);
    o.mle_epochs = o.epochs = sizes->epochs;
    return finish(ctx, t, &o, sizes);
}

/* (X17) */
static double friedman(const double *x)
{
    return 10 * sin(M_PI * x[0] * x[1]) + 20 * (x[2] - 0.5) * (x[2] - 0.5) + 10 * x[3] +
           5 * x[4];
}

static void put_row(xb_array_task *t, int64_t row, const double *x, double y)
{
    bool test = row % FIFTH == FIFTH - 1;
    int64_t at = test ? row / FIFTH : row - row / FIFTH;
    double *to = test ? t->test_x : t->train_x;
    memcpy(to + at * t->features, x, (size_t)t->features * sizeof *x);
    (test ? t->test_y : t->train_y)[at] = y;
}

static void size_rows(xb_array_task *t, int64_t rows, int64_t features)
{
    *t = (xb_array_task){
        .n_train = rows - rows / FIFTH, .n_test = rows / FIFTH, .features = features};
}

static xb_status built_in(xb_ctx *ctx, xb_array_task *t, uint64_t seed)
{
    xb_law *gaussian = NULL;
    xb_key key = xb_key_make(seed, XB_PURPOSE_DATA);
    const xb_stream at = {.key = key, .tensor = STREAM_X};
    const xb_stream noise = {.key = key, .tensor = STREAM_NOISE};
    size_rows(t, FRIEDMAN_ROWS, FRIEDMAN_INPUTS);
    XB_TRY(take_rows(ctx, t));
    XB_TRY(xb_law_parse(ctx, &gaussian, "gaussian"));
    for (int64_t i = 0; i < FRIEDMAN_ROWS; i++) {
        double x[FRIEDMAN_INPUTS];
        for (int j = 0; j < FRIEDMAN_INPUTS; j++)
            x[j] = xb_stream_uniform(&at, i * FRIEDMAN_INPUTS + j);
        double z = xb_law_quantile(gaussian, xb_stream_uniform(&noise, i));
        put_row(t, i, x, friedman(x) + z);
    }
    xb_law_destroy(gaussian);
    return XB_OK;
}

/* The target is the named column, or the last one. */
static xb_status read_frame(xb_ctx *ctx, xb_frame **out, const xb_study_options *opt)
{
    char last[32];
    xb_frame_options f = xb_frame_options_default();
    f.target = opt->target;
    f.target_kind = XB_TARGET_NUMBER;
    if (!f.target) {
        XB_TRY(xb_frame_read(ctx, out, opt->data, NULL));
        snprintf(last, sizeof last, "%lld", (long long)xb_frame_feature_count(*out));
        xb_frame_destroy(*out);
        *out = NULL;
        f.target = last;
    }
    XB_TRY(xb_frame_read(ctx, out, opt->data, &f));
    if (xb_frame_row_count(*out) >= 10 * FIFTH && xb_frame_feature_count(*out) > 0)
        return XB_OK;
    return xb_fail(ctx, XB_E_INPUT,
                   "%s: %lld %s, expected %d or more, with a target of numbers",
                   opt->data, (long long)xb_frame_row_count(*out),
                   xb_plural(xb_frame_row_count(*out), "row", "rows"), 10 * FIFTH);
}

static xb_status user_table(xb_ctx *ctx, xb_array_task *t, const xb_study_options *opt)
{
    xb_frame *frame = NULL;
    xb_status status = read_frame(ctx, &frame, opt);
    if (status == XB_OK) {
        size_rows(t, xb_frame_row_count(frame), xb_frame_feature_count(frame));
        status = take_rows(ctx, t);
    }
    for (int64_t i = 0; status == XB_OK && i < xb_frame_row_count(frame); i++)
        put_row(t, i, xb_frame_values(frame) + i * t->features,
                xb_frame_target(frame)[i]);
    xb_frame_destroy(frame);
    return status;
}

xb_status xb_array_task_table(xb_ctx *ctx, xb_array_task *t, const xb_study_options *opt,
                              const xb_array_sizes *sizes)
{
    *t = (xb_array_task){0};
    XB_TRY(opt->data ? user_table(ctx, t, opt) : built_in(ctx, t, opt->seed));
    xb_train_options o = xb_train_options_default();
    o.net = "dense 50, relu, dense 1"; /* so that no deeper net is tried */
    o.seed = opt->seed;
    return finish(ctx, t, &o, sizes);
}
