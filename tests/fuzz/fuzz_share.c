/* fuzz_share.c: shares that are put together. First byte even: the rest is the file; odd:
 * the one share of a prediction of classes, with bytes changed. Predictions are made from
 * what is taken. */
#include "crossbayes/work.h"
#include "fuzz.h"

enum { ROWS = 8, CLASSES = 2, DRAWS = 4 };

static const double x[ROWS] = {0, 1, 2, 3, 4, 5, 6, 7}, y[ROWS] = {1, 0, 1, 0, 1, 0, 1};

/* Trained once. */
static const xb_model *the_model(void)
{
    static xb_model *model;
    if (model) return model;
    xb_ctx *ctx = fuzz_ctx();
    const xb_train_data rows = {
        .x = x, .y = y, .n = ROWS, .features = 1, .classes = CLASSES};
    xb_train_options opt = xb_train_options_default();
    opt.net = "dense 2, elu, dense 2";
    opt.mle_epochs = opt.epochs = 1;
    if (xb_train(ctx, &model, NULL, &rows, &opt) != XB_OK) abort();
    xb_ctx_destroy(ctx);
    return model;
}

static xb_status predict(xb_ctx *ctx)
{
    xb_predict_options opt = xb_predict_options_default();
    xb_prediction *p = NULL;
    opt.draws = DRAWS;
    const xb_status status = xb_predict(ctx, &p, the_model(), x, ROWS, &opt);
    for (int64_t i = 0; status == XB_OK && i < ROWS; i++)
        if (xb_prediction_class(p)[i] < 0 || xb_prediction_class(p)[i] >= CLASSES)
            abort();
    xb_prediction_destroy(p);
    return status;
}

static uint8_t *whole_share(const char *path, size_t *size)
{
    static const char *const words[] = {"predict"};
    xb_ctx *ctx = fuzz_ctx();
    if (xb_share_begin(ctx, 1, 1) != XB_OK || predict(ctx) != XB_E_ELSEWHERE ||
        xb_share_write(ctx, path, words, 1) != XB_OK)
        abort();
    xb_ctx_destroy(ctx);
    return fuzz_slurp(path, size);
}

static void merge(const char *path)
{
    xb_ctx *ctx = fuzz_ctx();
    xb_shares *shares = NULL;
    xb_status status = xb_shares_open(ctx, &shares, &path, 1);
    if (status == XB_OK) status = xb_shares_use(ctx, shares);
    if (status == XB_OK) status = predict(ctx);
    fuzz_check(ctx, status);
    xb_ctx_destroy(ctx);
    xb_shares_destroy(shares);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t *whole;
    static size_t bytes;
    char path[64];
    snprintf(path, sizeof path, "%s/fuzz-share-%ld", fuzz_folder(), (long)getpid());
    if (size == 0) return 0;
    if (!whole) whole = whole_share(path, &bytes);
    if (data[0] % 2) {
        uint8_t *copy = malloc(bytes);
        if (!copy) abort();
        memcpy(copy, whole, bytes);
        fuzz_put(path, copy, fuzz_damage(copy, bytes, data + 1, size - 1));
        free(copy);
    } else {
        fuzz_put(path, data + 1, size - 1);
    }
    merge(path);
    unlink(path);
    return 0;
}
