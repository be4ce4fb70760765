/* fuzz_device.c: device files. A device that was taken has curves that can be asked
 * anywhere, and comes back from what it is written as. */
#include "crossbayes/extend.h"
#include "fuzz.h"

/* Numbers between others that are finite may still overflow, but nothing is below 0. */
static void check_curves(const xb_device *d)
{
    static const double at[] = {0, 1e-6, 50e-6, 1, 1e300};
    for (int i = 0; i < XB_COUNT(at); i++)
        for (int k = 0; k < XB_COUNT(at); k++) {
            const xb_device_move m = xb_device_moved(d, at[i], at[k]);
            if (m.spread < 0) abort();
            if (xb_device_relaxed(d, at[i], at[k], 0.3) < 0) abort();
        }
    for (int i = 0; i < XB_COUNT(at) && xb_device_trace_count(d) > 0; i++)
        if (!(xb_device_width_of(d, at[i]).sigma >= 0)) abort();
}

static void check_round_trip(xb_ctx *ctx, const xb_device *d)
{
    char *text = NULL;
    xb_device *back = NULL;
    if (xb_device_json(ctx, &text, d) != XB_OK) return;
    fuzz_file file = fuzz_file_make((const uint8_t *)text, strlen(text));
    if (xb_device_load(ctx, &back, file.path) != XB_OK) abort();
    if (xb_device_state_count(back) != xb_device_state_count(d)) abort();
    if (xb_device_trace_count(back) != xb_device_trace_count(d)) abort();
    xb_device_destroy(back);
    fuzz_file_close(&file);
    xb_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    xb_ctx *ctx = fuzz_ctx();
    xb_device *device = NULL;
    xb_law *law = NULL;
    fuzz_file file = fuzz_file_make(data, size);
    xb_status status = xb_device_load(ctx, &device, file.path);
    fuzz_check(ctx, status);
    if (status == XB_OK) {
        check_curves(device);
        check_round_trip(ctx, device);
        if (xb_device_law(ctx, &law, device) == XB_OK) xb_law_destroy(law);
    }
    xb_device_destroy(device);
    fuzz_file_close(&file);
    xb_ctx_destroy(ctx);
    return 0;
}
