/* fuzz_checkpoint.c: the checkpoint of a training run. First byte even: the rest is the
 * file; odd: the checkpoint of a run stopped half way, with bytes changed. Training goes
 * on from what is taken. */
#include "fuzz.h"

enum { ROWS = 8, STOP_AFTER = 5 };

static const double x[ROWS] = {0, 1, 2, 3, 4, 5, 6, 7}, y[ROWS] = {1, 0, 1, 2, 3, 2};

static xb_status train(xb_ctx *ctx, const char *path)
{
    const xb_train_data rows = {.x = x, .y = y, .n = ROWS, .features = 1};
    xb_train_options opt = xb_train_options_default();
    xb_model *model = NULL;
    opt.net = "dense 2, elu, dense 1";
    opt.batch = 4;
    opt.mle_epochs = opt.epochs = 2;
    opt.checkpoint = path;
    opt.resume = true;
    xb_status status = xb_train(ctx, &model, NULL, &rows, &opt);
    xb_model_destroy(model);
    return status;
}

static bool stop_later(void *arg, const xb_progress *event)
{
    (void)event;
    return ++*(int *)arg < STOP_AFTER;
}

/* free() it. */
static uint8_t *half_way(const char *path, size_t *size)
{
    int told = 0;
    xb_ctx *ctx = fuzz_ctx();
    unlink(path);
    xb_ctx_set_progress(ctx, stop_later, &told);
    if (train(ctx, path) != XB_E_CANCELLED) abort();
    xb_ctx_destroy(ctx);
    return fuzz_slurp(path, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/fuzz-checkpoint-%ld", (long)getpid());
    if (size == 0) return 0;
    if (data[0] % 2) {
        size_t bytes = 0;
        uint8_t *whole = half_way(path, &bytes);
        fuzz_put(path, whole, fuzz_damage(whole, bytes, data + 1, size - 1));
        free(whole);
    } else {
        fuzz_put(path, data + 1, size - 1);
    }
    xb_ctx *ctx = fuzz_ctx();
    fuzz_check(ctx, train(ctx, path));
    xb_ctx_destroy(ctx);
    unlink(path);
    return 0;
}
