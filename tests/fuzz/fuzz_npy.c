/* fuzz_npy.c: NPY arrays. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    xb_ctx *ctx = fuzz_ctx();
    fuzz_file file = fuzz_file_make(data, size);
    double *x = NULL, sum = 0;
    int64_t shape[8], n = 1;
    int ndim = 0;
    xb_status status = xb_npy_read(ctx, &x, shape, &ndim, file.path);
    fuzz_check(ctx, status);
    for (int k = 0; status == XB_OK && k < ndim; k++) n *= shape[k];
    for (int64_t i = 0; status == XB_OK && i < n; i++) sum += x[i];
    volatile double keep = sum;
    (void)keep;
    free(x);
    fuzz_file_close(&file);
    xb_ctx_destroy(ctx);
    return 0;
}
