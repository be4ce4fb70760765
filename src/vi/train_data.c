/* train_data.c: what training takes from the data besides its rows: the columns' means
 * and standard deviations, their names, and a checksum for the model's provenance. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "vi/trainer.h"

xb_train_data xb_train_data_of(const xb_frame *frame)
{
    return (xb_train_data){.x = xb_frame_values(frame),
                           .y = xb_frame_target(frame),
                           .n = xb_frame_rows(frame),
                           .features = xb_frame_features(frame),
                           .classes = xb_frame_classes(frame),
                           .names = frame};
}

/* Two passes, so that a large mean costs no digits. A column that never changes has no
 * scale of its own: its size stands in, or 1. */
static void column_scale(double *mean, double *sd, const double *x, int64_t n,
                         int64_t stride)
{
    double sum = 0, square = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i * stride] / (double)n;
    for (int64_t i = 0; i < n; i++) {
        double d = x[i * stride] - sum;
        square += d * d / (double)n;
    }
    const double rounding = 1e-12; /* of the mean: below it a spread is none */
    *mean = sum;
    *sd = sqrt(square);
    if (*sd > rounding * fabs(sum) && isfinite(*sd)) return;
    *sd = sum != 0 ? fabs(sum) : 1;
}

static xb_status copy_name(xb_ctx *ctx, char **out, const char *name, int64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)number);
    *out = xb_strdup(ctx, name ? name : text);
    return *out ? XB_OK : XB_E_MEMORY;
}

static xb_status copy_names(xb_ctx *ctx, xb_model *model, const xb_frame *frame)
{
    for (int64_t j = 0; j < model->features; j++)
        XB_TRY(copy_name(ctx, &model->feature_name[j],
                         frame ? xb_frame_feature_name(frame, j) : NULL, j + 1));
    for (int64_t k = 0; k < model->classes; k++)
        XB_TRY(copy_name(ctx, &model->class_name[k],
                         frame ? xb_frame_class_name(frame, k) : NULL, k));
    const char *target = frame ? xb_frame_target_name(frame) : NULL;
    return copy_name(ctx, &model->target_name, target, model->features + 1);
}

xb_status xb_model_fit_scales(xb_ctx *ctx, xb_model *model, const xb_train_data *data)
{
    XB_TRY(xb_model_columns(ctx, model, data->features, data->classes));
    for (int64_t j = 0; j < data->features; j++)
        column_scale(&model->x_mean[j], &model->x_sd[j], data->x + j, data->n,
                     data->features);
    model->y_mean = 0;
    model->y_sd = 1;
    if (data->classes == 0)
        column_scale(&model->y_mean, &model->y_sd, data->y, data->n, 1);
    return copy_names(ctx, model, data->names);
}

/* FNV-1a, 64 bits. */
static uint64_t hash(uint64_t h, const void *bytes, size_t size)
{
    const uint64_t prime = UINT64_C(1099511628211);
    const unsigned char *p = bytes;
    for (size_t i = 0; i < size; i++) h = (h ^ p[i]) * prime;
    return h;
}

uint64_t xb_train_checksum(const xb_train_data *data)
{
    const uint64_t basis = UINT64_C(14695981039346656037);
    size_t rows = (size_t)data->n * sizeof(double);
    uint64_t h = hash(basis, data->x, rows * (size_t)data->features);
    return hash(h, data->y, rows);
}
