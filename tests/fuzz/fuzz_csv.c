/* fuzz_csv.c: text tables, as a column and as a frame with and without a target. */
#include "fuzz.h"

static void read_frame(xb_ctx *ctx, const char *path, const char *target,
                       xb_target_kind kind)
{
    xb_frame_options opt = xb_frame_options_default();
    xb_frame *frame = NULL;
    opt.target = target;
    opt.target_kind = kind;
    xb_status status = xb_frame_read(ctx, &frame, path, &opt);
    fuzz_check(ctx, status);
    if (status == XB_OK && xb_frame_row_count(frame) < 1) abort();
    xb_frame_destroy(frame);
}

/* As a table to train on, and again by its own recipe: the same features. */
static void learn_frame(xb_ctx *ctx, const char *path, const char *target)
{
    xb_frame_options opt = xb_frame_options_default(), later = opt;
    xb_frame *frame = NULL, *again = NULL;
    opt.target = target;
    opt.prepare = true;
    xb_status status = xb_frame_read(ctx, &frame, path, &opt);
    fuzz_check(ctx, status);
    if (status != XB_OK) return;
    const int64_t n = xb_frame_row_count(frame) * xb_frame_feature_count(frame);
    for (int64_t i = 0; i < n; i++)
        if (!(xb_frame_values(frame)[i] - xb_frame_values(frame)[i] == 0)) abort();
    later.recipe = xb_frame_recipe(frame);
    later.id = "1";
    if (later.recipe) {
        status = xb_frame_read(ctx, &again, path, &later);
        fuzz_check(ctx, status);
        if (status != XB_OK ||
            memcmp(xb_frame_values(again), xb_frame_values(frame), (size_t)n * 8) != 0)
            abort();
        xb_frame_destroy(again);
    }
    xb_frame_destroy(frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    xb_ctx *ctx = fuzz_ctx();
    fuzz_file file = fuzz_file_make(data, size);
    double *x = NULL;
    int64_t n = 0;
    xb_status status = xb_column_read(ctx, &x, &n, file.path, NULL);
    fuzz_check(ctx, status);
    for (int64_t i = 0; status == XB_OK && i < n; i++)
        if (!(x[i] - x[i] == 0)) abort(); /* finite, as promised */
    free(x);
    read_frame(ctx, file.path, NULL, XB_TARGET_AUTO);
    read_frame(ctx, file.path, "1", XB_TARGET_AUTO);
    read_frame(ctx, file.path, "2", XB_TARGET_CLASS);
    learn_frame(ctx, file.path, NULL);
    learn_frame(ctx, file.path, "2");
    fuzz_file_close(&file);
    xb_ctx_destroy(ctx);
    return 0;
}
