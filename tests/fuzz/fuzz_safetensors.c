/* fuzz_safetensors.c: the file format under models, checkpoints and cells. Every byte of
 * what was taken can be read, and the tensors are where they say. */
#include "crossbayes/safetensors.h"
#include "fuzz.h"

static void use(const xb_stored *tensor)
{
    int64_t bytes = 0;
    if (!xb_stored_bytes(&bytes, tensor)) abort();
    if ((uintptr_t)tensor->data % XB_STORED_ALIGNMENT != 0) abort();
    fuzz_touch(tensor->data, (size_t)bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    xb_ctx *ctx = fuzz_ctx();
    fuzz_file file = fuzz_file_make(data, size);
    xb_safetensors *tensors = NULL;
    xb_status status = xb_safetensors_open(ctx, &tensors, file.path);
    fuzz_check(ctx, status);
    for (int64_t i = 0; status == XB_OK && i < xb_safetensors_count(tensors); i++) {
        const xb_stored *t = xb_safetensors_at(tensors, i);
        if (xb_safetensors_find(tensors, t->name) != i) abort();
        use(t);
    }
    xb_safetensors_destroy(tensors);
    fuzz_file_close(&file);
    xb_ctx_destroy(ctx);
    return 0;
}
