/* traintest.h: small made-up data to train on, for the tests of training, model files
 * and prediction. */
#ifndef TRAINTEST_H
#define TRAINTEST_H

#include "scratch.h"

enum { ROWS = 120, COLUMNS = 3 };

typedef struct rows {
    double x[ROWS * COLUMNS], y[ROWS];
} rows;

/* y = 10 + 3 x0 - 2 x1^2 + noise of sd 0.5; x2 is always 7. Classes: y above 9 or not. */
static inline rows make_rows(bool classes)
{
    rows r;
    const xb_stream where = {.key = xb_key_make(5, XB_PURPOSE_TEST)};
    for (int i = 0; i < ROWS; i++) {
        double a = 2 * xb_stream_uniform(&where, 6 * i) - 1;
        double b = 2 * xb_stream_uniform(&where, 6 * i + 1) - 1, noise = -2;
        for (int k = 2; k < 6; k++) noise += xb_stream_uniform(&where, 6 * i + k);
        r.x[3 * i] = a;
        r.x[3 * i + 1] = 100 * b;
        r.x[3 * i + 2] = 7;
        double mean = 10 + 3 * a - 2 * b * b;
        r.y[i] = classes ? mean > 9 : mean + 0.5 * sqrt(3) * noise;
    }
    return r;
}

static inline xb_train_data rows_data(const rows *r, bool classes)
{
    return (xb_train_data){
        .x = r->x, .y = r->y, .n = ROWS, .features = COLUMNS, .classes = classes ? 2 : 0};
}

/* Short: a few hundred steps. */
static inline xb_train_options quick_options(void)
{
    xb_train_options opt = xb_train_options_default();
    opt.net = "dense 8, elu, dense 1";
    opt.batch = 50;
    opt.mle_epochs = 20;
    opt.epochs = 20;
    opt.adam.rate = 1e-2;
    return opt;
}

static inline xb_model *train_model(xb_ctx *ctx, const xb_train_options *opt,
                                    bool classes, xb_train_report **report)
{
    rows r = make_rows(classes);
    xb_train_data data = rows_data(&r, classes);
    xb_model *model = NULL;
    assert_ok(ctx, xb_train(ctx, &model, report, &data, opt));
    return model;
}

/* All numbers of two models, bit for bit. */
static inline bool same_numbers(const xb_model *a, const xb_model *b)
{
    xb_weights u = xb_model_weights(a), v = xb_model_weights(b);
    size_t n = (size_t)xb_net_param_count(xb_model_net(a)) * sizeof *u.mu;
    double s = xb_model_noise_sd(a), t = xb_model_noise_sd(b);
    return memcmp(u.mu, v.mu, n) == 0 && memcmp(u.sigma, v.sigma, n) == 0 &&
           memcmp(&s, &t, sizeof s) == 0;
}

/* The bytes of a model's file; free() them. */
static inline char *file_of(xb_ctx *ctx, const xb_model *model, size_t *size)
{
    enum { MOST = 1 << 18 };
    scratch s = scratch_make();
    char *bytes = malloc(MOST);
    assert_ok(ctx, xb_model_save(ctx, model, scratch_path(&s, "m")));
    *size = scratch_read(scratch_path(&s, "m"), bytes, MOST);
    assert_in_range(*size, 100, MOST - 1);
    scratch_remove(&s);
    return bytes;
}

static inline void assert_same_file(xb_ctx *ctx, const xb_model *a, const xb_model *b)
{
    size_t n = 0, m = 0;
    char *x = file_of(ctx, a, &n), *y = file_of(ctx, b, &m);
    assert_int_equal(n, m);
    assert_memory_equal(x, y, n);
    free(x);
    free(y);
}

static inline void assert_same_table(const xb_table *a, const xb_table *b)
{
    assert_int_equal(xb_table_row_count(a), xb_table_row_count(b));
    for (int64_t i = 0; i < xb_table_row_count(a); i++)
        for (int j = 0; j < xb_table_column_count(a); j++) {
            double u = xb_table_get(a, i, j), v = xb_table_get(b, i, j);
            assert_memory_equal(&u, &v, sizeof u);
        }
}

#endif
