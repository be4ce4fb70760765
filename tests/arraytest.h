/* arraytest.h: small models to put on arrays, for the tests of crossbar. */
#ifndef ARRAYTEST_H
#define ARRAYTEST_H

#include "traintest.h"

#include "vi/model.h"
#include "crossbar/array.h"

static inline xb_array test_array(const char *preset)
{
    xb_array array;
    assert_int_equal(xb_array_fill(NULL, &array, preset), XB_OK);
    return array;
}

/* A model of a net on `features` columns (as an image of `shape`), trained briefly; its
 * widths are then made large enough to show. */
static inline xb_model *net_model(xb_ctx *ctx, const char *net, xb_shape shape,
                                  int64_t classes, double sigma)
{
    enum { N = 64 };
    int64_t features = xb_shape_size(shape);
    double *x = calloc((size_t)(N * features), sizeof *x), y[N];
    xb_stream where = {xb_key_make(21, XB_PURPOSE_TEST), 0, 0, 0};
    for (int64_t i = 0; i < N * features; i++) x[i] = xb_stream_uniform(&where, i) - 0.3;
    for (int i = 0; i < N; i++)
        y[i] = classes ? (double)(i % classes) : x[i * features] + 0.1 * i / N;
    xb_train_data data = {
        .x = x, .y = y, .n = N, .features = features, .classes = classes};
    xb_train_options opt = quick_options();
    opt.net = net;
    opt.input = shape;
    opt.mle_epochs = opt.epochs = 2;
    xb_model *model = NULL;
    assert_ok(ctx, xb_train(ctx, &model, NULL, &data, &opt));
    for (int64_t i = 0; i < xb_net_param_count(model->net) && sigma > 0; i++)
        if (model->sigma[i] > 0) model->sigma[i] = (float)(sigma * (1 + (double)(i % 7)));
    free(x);
    return model;
}

/* n inputs of a model, which depend only on their position. */
static inline double *net_inputs(const xb_model *model, int64_t n)
{
    int64_t size = n * xb_model_feature_count(model);
    double *x = calloc((size_t)size, sizeof *x);
    assert_non_null(x);
    xb_stream where = {xb_key_make(22, XB_PURPOSE_TEST), 0, 0, 0};
    for (int64_t i = 0; i < size; i++) x[i] = xb_stream_uniform(&where, i) - 0.3;
    return x;
}

static inline xb_analog *test_analog(xb_ctx *ctx, const xb_model *model,
                                     const xb_array *array, const double *x, int64_t n)
{
    xb_analog *analog = NULL;
    assert_ok(ctx, xb_analog_create(ctx, &analog, model, array, x, n, NULL));
    return analog;
}

/* [reads][n][outputs] of an array; free it. */
static inline double *test_reads(xb_ctx *ctx, const xb_model *model,
                                 const xb_array *array, const double *x, int64_t n,
                                 int64_t first, int64_t reads)
{
    xb_analog *analog = test_analog(ctx, model, array, x, n);
    double *value = calloc((size_t)(reads * n * xb_model_outputs(model)), sizeof *value);
    assert_non_null(value);
    assert_ok(ctx, xb_analog_draws(ctx, value, NULL, analog, x, n, first, reads));
    xb_analog_destroy(analog);
    return value;
}

#endif
