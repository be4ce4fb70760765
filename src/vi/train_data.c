/* train_data.c: what training needs from the data besides its rows: which of them are
 * held out, means and standard deviations of the columns over the others, names, and a
 * checksum for the model's provenance. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/names.h"
#include "vi/trainer.h"

xb_train_data xb_train_data_of(const xb_frame *frame)
{
    return (xb_train_data){.x = xb_frame_values(frame),
                           .y = xb_frame_target(frame),
                           .n = xb_frame_row_count(frame) - xb_frame_test_count(frame),
                           .features = xb_frame_feature_count(frame),
                           .classes = xb_frame_class_count(frame),
                           .names = frame};
}

xb_train_data xb_train_data_of_images(const xb_images *images, const int64_t *select,
                                      int64_t n)
{
    xb_shape shape = {0};
    xb_images_shape(images, &shape.h, &shape.w, &shape.c);
    return (xb_train_data){.bytes = xb_images_bytes(images),
                           .y = xb_images_target(images),
                           .select = select,
                           .n = select ? n : xb_images_count(images),
                           .features = xb_shape_size(shape),
                           .classes = xb_images_class_count(images),
                           .images = images};
}

xb_rows xb_train_rows(const xb_train_data *data)
{
    return (xb_rows){.x = data->x,
                     .scaled = data->scaled,
                     .bytes = data->bytes,
                     .select = data->select,
                     .n = data->n,
                     .features = data->features};
}

int64_t xb_train_targets(const xb_train_data *data, const xb_train_options *opt)
{
    if (data->classes > 0) return 1;
    if (opt->targets > 0) return opt->targets;
    const int64_t named = data->names ? xb_frame_target_count(data->names) : 0;
    return named > 0 ? named : 1;
}

const double *xb_train_target(const xb_train_data *data, int64_t targets, int64_t i)
{
    return data->y + (data->select ? data->select[i] : i) * targets;
}

/* ---- rows held out */

enum { SPLIT_STREAM = 1000 }; /* not used by the shuffles of phases 0 and 1 */

int64_t xb_train_held(const xb_train_data *data, const xb_train_options *opt)
{
    if (data->held > 0) return data->held;
    return (int64_t)floor(opt->validation * (double)data->n);
}

/* (V12) */
xb_status xb_holdout_make(xb_ctx *ctx, xb_holdout *out, const xb_train_data *data,
                          const xb_train_options *opt)
{
    const int64_t all = data->n;
    xb_holdout holdout = {.held = xb_train_held(data, opt)};
    holdout.n = all - holdout.held;
    int32_t *order = xb_new(ctx, all, sizeof *order);
    holdout.row = xb_new(ctx, all, sizeof *holdout.row);
    if (!order || !holdout.row) {
        free(order);
        xb_holdout_free(&holdout);
        return XB_E_MEMORY;
    }
    for (int64_t i = 0; i < all; i++) order[i] = (int32_t)i;
    if (holdout.held > 0 && data->held == 0) /* the rows were chosen here */
        xb_shuffle(order, all, xb_key_make(opt->seed, XB_PURPOSE_DATA), SPLIT_STREAM, 0);
    for (int64_t i = 0; i < all; i++)
        holdout.row[i] = data->select ? data->select[order[i]] : order[i];
    free(order);
    *out = holdout;
    return XB_OK;
}

void xb_holdout_free(xb_holdout *holdout)
{
    free(holdout->row);
    *holdout = (xb_holdout){0};
}

/* ---- scales */

/* Two passes, so that a large mean costs no digits, in units of a power of two near the
 * largest deviation, so that no square is too large or too small. A column that never
 * changes has no scale of its own; its size is used instead, or 1. */
static double scale_of(double mean, double square, int unit)
{
    const double rounding = 1e-12; /* relative to the mean: a smaller spread counts as
                                      none */
    const double sd = scalbn(sqrt(square), unit);
    if (sd > rounding * fabs(mean) && isfinite(sd)) return sd;
    return mean != 0 ? fabs(mean) : 1;
}

/* Goes row by row with all columns together, because a long table lies in a file. The sd
 * holds the largest deviation until the second pass is done, then the mean square. */
static void fit_columns(double *mean, double *sd, int *unit, const double *x,
                        int64_t columns, const xb_holdout *holdout)
{
    const int64_t n = holdout->n, *row = holdout->row;
    for (int64_t j = 0; j < columns; j++) mean[j] = sd[j] = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < columns; j++)
            mean[j] += x[row[i] * columns + j] / (double)n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < columns; j++)
            sd[j] = fmax(sd[j], fabs(x[row[i] * columns + j] - mean[j]));
    for (int64_t j = 0; j < columns; j++) {
        unit[j] = isfinite(sd[j]) && sd[j] > 0 ? ilogb(sd[j]) : 0;
        sd[j] = 0;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < columns; j++) {
            const double d = scalbn(x[row[i] * columns + j] - mean[j], -unit[j]);
            sd[j] += d * d / (double)n;
        }
    for (int64_t j = 0; j < columns; j++) sd[j] = scale_of(mean[j], sd[j], unit[j]);
}

static xb_status column_scales(xb_ctx *ctx, double *mean, double *sd, const double *x,
                               int64_t columns, const xb_holdout *holdout)
{
    int *unit = xb_new(ctx, columns, sizeof *unit);
    if (!unit) return XB_E_MEMORY;
    fit_columns(mean, sd, unit, x, columns, holdout);
    free(unit);
    return XB_OK;
}

static xb_status copy_name(xb_ctx *ctx, char **out, const char *name, int64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)number);
    *out = xb_strdup(ctx, name ? name : text);
    return *out ? XB_OK : XB_E_MEMORY;
}

static xb_status copy_names(xb_ctx *ctx, xb_model *model, const xb_train_data *data)
{
    const xb_frame *frame = data->names;
    const xb_images *images = data->images;
    for (int64_t j = 0; j < model->features && !model->pixels; j++)
        XB_TRY(copy_name(ctx, &model->feature_name[j],
                         frame ? xb_frame_feature_name(frame, j) : NULL, j + 1));
    for (int64_t k = 0; k < model->classes; k++)
        XB_TRY(copy_name(ctx, &model->class_name[k],
                         frame    ? xb_frame_class_name(frame, k)
                         : images ? xb_images_class_name(images, k)
                                  : NULL,
                         k));
    for (int64_t k = 0; k < model->targets; k++) {
        const bool named = frame && k < xb_frame_target_count(frame);
        const char *target = named    ? xb_frame_target_name_at(frame, k)
                             : images ? xb_images_target_name(images)
                                      : NULL;
        XB_TRY(copy_name(ctx, &model->target_each[k], target, model->features + 1 + k));
    }
    model->target_name = xb_names_join(ctx, model->target_each, model->targets);
    return model->target_name ? XB_OK : XB_E_MEMORY;
}

static xb_status fit_scales(xb_ctx *ctx, xb_model *model, const xb_train_data *data,
                            const xb_holdout *holdout, const xb_train_options *opt)
{
    XB_TRY(xb_model_columns(ctx, model, data->features, data->classes));
    model->pixels = !data->x;
    for (int64_t j = 0; j < data->features; j++) model->x_sd[j] = 1;
    if (data->x)
        XB_TRY(column_scales(ctx, model->x_mean, model->x_sd, data->x, data->features,
                             holdout));
    XB_TRY(copy_names(ctx, model, data));
    const xb_recipe *recipe = data->names ? xb_frame_recipe(data->names) : NULL;
    if (recipe)
        XB_TRY(xb_model_set_recipe(ctx, model, recipe));
    else
        XB_TRY(xb_model_plain_recipe(ctx, model));
    if (opt->skewed != XB_SKEWED_LOG || !data->x) return XB_OK;
    return xb_model_bend(ctx, model, data->x, holdout->row, holdout->n);
}

/* Rows that repeat one value, such as zeros of a target that cannot be negative, look
 * free of noise; the noise net must not stake the other rows on it. Relative to the
 * target's sd. */
#define REPEATED 0.2

/* (V19) With several targets the smallest, so that a coarsely rounded target does not set
 * the floor of the others. */
static xb_status fit_noise_least(xb_ctx *ctx, xb_model *model, const xb_train_data *data,
                                 const xb_holdout *holdout, const xb_train_options *opt,
                                 int64_t k)
{
    if (!(opt->noise_prior > 0) || model->pixels ||
        model->likelihood != XB_LIKELIHOOD_HETEROSCEDASTIC)
        return XB_OK;
    xb_grain grain;
    XB_TRY(xb_target_grain(ctx, &grain, data->y + k, model->targets, holdout->row,
                           holdout->n));
    const double rounding = grain.step / sqrt(12) / model->y_sd[k];
    const double least = fmax(fmax(XB_NOISE_LEAST, rounding), REPEATED * grain.share);
    model->noise_least = k == 0 ? least : fmin(model->noise_least, least);
    return XB_OK;
}

/* (V40) Centre and unit of the log rate, as floats have them: the logarithm of the mean,
 * and the spread that rates of a log-normal law would have to explain the variance. */
static void link_counts(xb_model *m, int64_t k, int64_t n)
{
    const double least = 0.1, mean = fmax(m->y_mean[k], 0.5 / (double)n);
    const double variance = m->y_sd[k] * m->y_sd[k];
    const double beyond = fmax(0, variance - mean) / (mean * mean);
    m->y_mean[k] = (double)(float)log(mean);
    m->y_sd[k] = (double)(float)fmax(least, sqrt(log1p(beyond)));
}

static xb_status fit_target(xb_ctx *ctx, xb_model *model, const xb_train_data *data,
                            const xb_holdout *holdout, const xb_train_options *opt,
                            int64_t k)
{
    if (xb_model_of_counts(model)) link_counts(model, k, holdout->n);
    double mean = model->y_mean[k], sd = model->y_sd[k];
    if (data->classes == 0 && opt->target_sd != 0) {
        if (!(opt->target_sd > 0) || !isfinite(opt->target_sd + opt->target_mean))
            return xb_fail(ctx, XB_E_ARGUMENT, "target_sd is %g, expected more than 0",
                           opt->target_sd);
        model->target_spread[k] = sd / opt->target_sd;
        mean = opt->target_mean;
        sd = opt->target_sd;
    }
    model->y_mean[k] = mean;
    model->y_sd[k] = sd;
    XB_TRY(fit_noise_least(ctx, model, data, holdout, opt, k));
    if (fabs(mean) <= XB_TARGET_MOST && sd <= XB_TARGET_MOST && sd >= 1 / XB_TARGET_MOST)
        return XB_OK;
    return xb_fail(ctx, XB_E_INPUT,
                   "the target has mean %g and standard deviation %g, which scores "
                   "square: expected at most %g and at least %g; use other units",
                   mean, sd, XB_TARGET_MOST, 1 / XB_TARGET_MOST);
}

xb_status xb_model_fit_columns(xb_ctx *ctx, xb_model *m, const xb_train_data *data,
                               const xb_train_options *opt)
{
    xb_holdout holdout;
    XB_TRY(xb_holdout_make(ctx, &holdout, data, opt));
    xb_status status = xb_model_targets(ctx, m, xb_train_targets(data, opt));
    if (status == XB_OK) status = fit_scales(ctx, m, data, &holdout, opt);
    if (status == XB_OK && data->classes == 0)
        status = column_scales(ctx, m->y_mean, m->y_sd, data->y, m->targets, &holdout);
    for (int64_t k = 0; k < m->targets && status == XB_OK; k++)
        status = fit_target(ctx, m, data, &holdout, opt, k);
    xb_holdout_free(&holdout);
    return status;
}

uint64_t xb_model_checksum(const xb_model *m)
{
    size_t means = (size_t)xb_net_param_count(m->net) * sizeof *m->mu;
    size_t state = (size_t)xb_net_state_count(m->net) * sizeof *m->state;
    return xb_hash_bytes(xb_hash_bytes(0, m->mu, means), m->state, state);
}

uint64_t xb_train_checksum(const xb_train_data *data, int64_t targets)
{
    const size_t width = (size_t)data->features;
    const size_t item = data->x        ? sizeof *data->x
                        : data->scaled ? sizeof *data->scaled
                                       : sizeof *data->bytes;
    const char *x = data->x        ? (const char *)data->x
                    : data->scaled ? (const char *)data->scaled
                                   : (const char *)data->bytes;
    uint64_t h = 0;
    for (int64_t i = 0; i < data->n; i++) {
        size_t row = (size_t)(data->select ? data->select[i] : i);
        h = xb_hash_bytes(h, x + row * width * item, width * item);
    }
    for (int64_t i = 0; i < data->n; i++) {
        const double *y = xb_train_target(data, targets, i);
        h = xb_hash_bytes(h, y, (size_t)targets * sizeof *y);
    }
    return h;
}
