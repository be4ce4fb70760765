/* law_samples.c: see law_samples.h. */
#include "law_samples.h"

#include "print.h"

/* So few independent samples, each of which stands for so many samples, test nothing
 * (maths F12). */
enum { FEW_INDEPENDENT = 50, MANY_FOR_ONE = 20 };

static bool too_few(const xb_fit_sample *x)
{
    return xb_fit_sample_effective(x) < FEW_INDEPENDENT &&
           (double)xb_fit_sample_count(x) >= MANY_FOR_ONE * xb_fit_sample_effective(x);
}

cli_exit cli_law_samples(cli_session *s, xb_goodness_result **out, const xb_law *law)
{
    const char *path = cli_text(&s->args, "samples", NULL);
    double *x = NULL;
    int64_t n = 0;
    if (!path) return CLI_DONE;
    xb_status status =
        xb_column_read(s->ctx, &x, &n, path, cli_text(&s->args, "column", NULL));
    if (status == XB_OK) {
        xb_goodness_options o = xb_goodness_options_default();
        o.level = cli_number(&s->args, "level", o.level);
        status = xb_law_goodness(s->ctx, out, law, x, n, &o);
    }
    xb_free(x);
    cli_progress_clear(&s->progress);
    return cli_status(s, status);
}

static void print_test(const char *name, const char *symbol, double value, double p)
{
    char text[32];
    cli_format_p(text, sizeof text, p);
    printf("  %-20s%s %.4g, p %s\n", name, symbol, value, text);
}

/* Whether the law lies where its family has it, as without a fit. */
static bool is_unplaced(const xb_law *law)
{
    const xb_law_place place = xb_law_placement(law);
    return place.offset == 0 && place.scale == 1;
}

void cli_show_goodness(const cli_session *s, const xb_goodness_result *r,
                       const xb_law *law)
{
    const xb_fit_sample *x = xb_goodness_result_sample(r);
    const double level =
        cli_number(&s->args, "level", xb_goodness_options_default().level);
    long long n = xb_fit_sample_count(x), outside = xb_goodness_result_outside(r);
    printf("\n  against %s: %lld samples, worth %.0f independent ones\n",
           cli_text(&s->args, "samples", ""), n, xb_fit_sample_effective(x));
    print_test("Kolmogorov-Smirnov", "D", xb_goodness_result_ks(r),
               xb_goodness_result_ks_p(r));
    print_test("Anderson-Darling", "A²", xb_goodness_result_ad(r),
               xb_goodness_result_ad_p(r));
    if (outside > 0)
        printf("  %lld %s outside the law's support\n", outside,
               xb_plural(outside, "sample lies", "samples lie"));
    if (xb_goodness_result_fits(r) && too_few(x))
        printf("  Cannot tell: both p-values are above %g, but with fewer than %d "
               "independent"
               " samples\n  nearly any law passes.\n",
               level, FEW_INDEPENDENT);
    else if (xb_goodness_result_fits(r))
        printf("  The law fits: both p-values are above %g.\n", level);
    else
        printf("  The law does not fit: a p-value is %g or less.\n", level);
    if (!xb_goodness_result_fits(r) && is_unplaced(law))
        printf(
            "  The samples are tested as they are: this law has offset 0 and scale 1.\n"
            "  `crossbayes fit` also finds the offset and the scale of a family.\n");
}

json_t *cli_goodness_json(const cli_session *s, const xb_goodness_result *r)
{
    const xb_fit_sample *x = xb_goodness_result_sample(r);
    json_t *root = json_object();
    json_object_set_new(root, "samples",
                        cli_json_text(cli_text(&s->args, "samples", "")));
    json_object_set_new(root, "n", json_integer(xb_fit_sample_count(x)));
    json_object_set_new(root, "n_effective", cli_json_real(xb_fit_sample_effective(x)));
    json_object_set_new(root, "tau", cli_json_real(xb_fit_sample_tau(x)));
    json_object_set_new(root, "outside", json_integer(xb_goodness_result_outside(r)));
    json_object_set_new(root, "ks", cli_json_real(xb_goodness_result_ks(r)));
    json_object_set_new(root, "ks_p", cli_json_real(xb_goodness_result_ks_p(r)));
    json_object_set_new(root, "ad", cli_json_real(xb_goodness_result_ad(r)));
    json_object_set_new(root, "ad_p", cli_json_real(xb_goodness_result_ad_p(r)));
    json_object_set_new(root, "level",
                        cli_json_real(cli_number(&s->args, "level",
                                                 xb_goodness_options_default().level)));
    json_object_set_new(root, "fits", json_boolean(xb_goodness_result_fits(r)));
    return root;
}
