/* fuzz_law.c: law texts and law files. A law that was taken must be one: its quantiles
 * go up and its distribution function comes back from them. */
#include "fuzz.h"

static void use(xb_ctx *ctx, xb_law *law)
{
    if (!law) return;
    double below = xb_law_quantile(law, 0.25), above = xb_law_quantile(law, 0.75);
    if (!(below <= above) || !(xb_law_sd(law) > 0)) abort();
    char *text = strdup(xb_law_text(law));
    xb_law *again = NULL;
    if (strcmp(xb_law_family(law), "empirical") != 0 &&
        xb_law_parse(ctx, &again, text) != XB_OK)
        abort();
    xb_law_destroy(again);
    xb_law_destroy(law);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    xb_ctx *ctx = fuzz_ctx();
    char *text = fuzz_text(data, size);
    xb_law *law = NULL;
    if (!strpbrk(text, "/\n")) { /* a path is not what is tested */
        fuzz_check(ctx, xb_law_parse(ctx, &law, text));
        use(ctx, law);
    }
    fuzz_file file = fuzz_file_make(data, size);
    xb_law *loaded = NULL;
    fuzz_check(ctx, xb_law_load(ctx, &loaded, file.path));
    use(ctx, loaded);
    fuzz_file_close(&file);
    free(text);
    xb_ctx_destroy(ctx);
    return 0;
}
