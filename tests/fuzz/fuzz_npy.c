/* fuzz_npy.c: NPY arrays: whole, a column of one, a table of features and classes. */
#include "fuzz.h"

static void read_parts(xb_ctx *ctx, const char *path)
{
    double *x = NULL;
    int64_t n = 0;
    xb_frame *frame = NULL;
    xb_frame_options opt = xb_frame_options_default();
    fuzz_check(ctx, xb_column_read(ctx, &x, &n, path, "1"));
    free(x);
    opt.target = "2";
    opt.target_kind = XB_TARGET_CLASS;
    fuzz_check(ctx, xb_frame_read(ctx, &frame, path, &opt));
    xb_frame_destroy(frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    xb_ctx *ctx = fuzz_ctx();
    fuzz_file file = fuzz_file_make(data, size);
    double *x = NULL;
    int64_t shape[8], n = 1;
    int64_t ndim = 0;
    xb_status status = xb_npy_read(ctx, &x, shape, &ndim, file.path);
    fuzz_check(ctx, status);
    for (int k = 0; status == XB_OK && k < ndim; k++) n *= shape[k];
    if (status == XB_OK) fuzz_touch(x, (size_t)n * sizeof *x);
    free(x);
    read_parts(ctx, file.path);
    fuzz_file_close(&file);
    xb_ctx_destroy(ctx);
    return 0;
}
