/* fuzz_array.c: arrays as JSON files and presets by name. An array that was taken is a
 * possible one, and comes back from what it is written as. */
#include "fuzz.h"
#include "crossbar/array.h"

static void check_array(xb_ctx *ctx, const xb_array *array)
{
    if (xb_array_check(ctx, array) != XB_OK) abort();
    for (int i = 0; i < xb_array_field_count(); i++) {
        const xb_array_field field = xb_array_field_at(i);
        double value;
        if (xb_array_get(ctx, &value, array, field.key) != XB_OK) abort();
        if (!(value >= field.min && value <= field.max)) abort();
    }
    double share = xb_array_correlation(array);
    if (!(share >= 0 && share <= 1)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    xb_ctx *ctx = fuzz_ctx();
    char *text = fuzz_text(data, size);
    xb_array array;
    if (!strpbrk(text, "./")) { /* a path is not what is tested */
        xb_array *parsed = NULL;
        xb_status status = xb_array_parse(ctx, &parsed, text);
        fuzz_check(ctx, status);
        if (status == XB_OK) check_array(ctx, parsed);
        xb_array_destroy(parsed);
    }
    fuzz_file file = fuzz_file_make(data, size);
    xb_status status = xb_array_read(ctx, &array, file.path);
    fuzz_check(ctx, status);
    if (status == XB_OK) check_array(ctx, &array);
    fuzz_file_close(&file);
    free(text);
    xb_ctx_destroy(ctx);
    return 0;
}
