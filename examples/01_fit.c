/* 01_fit.c: fits a law to measured noise and writes a law file.
 *
 *     cc 01_fit.c $(pkg-config --cflags --libs crossbayes) -o 01_fit
 *     ./01_fit noise.csv law.json
 *
 * Without arguments it fits a built-in sample and saves nothing.
 */
#include <stdio.h>
#include <stdlib.h>

#include <crossbayes/crossbayes.h>

static xb_status read_or_draw(xb_ctx *ctx, double **x, int64_t *n, const char *path)
{
    if (path) return xb_column_read(ctx, x, n, path, NULL);
    *n = 20000;
    return xb_builtin_noise(ctx, x, *n, 1);
}

int main(int argc, char **argv)
{
    xb_ctx *ctx = NULL;
    if (xb_ctx_create(&ctx) != XB_OK) return 1;

    double *x = NULL;
    int64_t n = 0;
    xb_fit *fit = NULL;
    xb_status status = read_or_draw(ctx, &x, &n, argc > 1 ? argv[1] : NULL);
    if (status == XB_OK) {
        xb_fit_options opt = xb_fit_options_default();
        status = xb_fit_run(ctx, &fit, x, n, &opt);
    }
    if (status == XB_OK) {
        const xb_fit_family *best = xb_fit_family_at(fit, xb_fit_chosen(fit));
        printf("%lld samples, worth %.0f independent ones\n", (long long)n,
               xb_fit_sample_effective(xb_fit_sample_info(fit)));
        for (int i = 0; i < xb_fit_family_param_count(best); i++)
            printf("%-8s %.4g +- %.2g\n", xb_fit_family_param_name(best, i),
                   xb_fit_family_param_value(best, i),
                   xb_fit_family_param_error(best, i));
        printf("%s\n", xb_fit_verdict(fit));
        if (argc > 2) status = xb_fit_save(ctx, fit, argv[2]);
    }
    if (status != XB_OK) fprintf(stderr, "%s\n", xb_ctx_message(ctx));

    /* The caller destroys everything that it created; NULL is fine. */
    xb_fit_destroy(fit);
    xb_free(x);
    xb_ctx_destroy(ctx);
    return status == XB_OK ? 0 : 1;
}
