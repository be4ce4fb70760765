/* crossbar_draws.c: see crossbar_draws.h. */
#include "crossbar_draws.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "crossbayes/extend.h"
#include "print.h"

/* Number of independent reads of each member that are needed, and of reads before
 * intervals are checked for the first time. */
enum { FIRST = 32 };

static double covered(const xb_stopping *s, const double *y)
{
    const int64_t n = xb_stopping_count(s);
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += xb_stopping_low(s)[i] <= y[i] && y[i] <= xb_stopping_high(s)[i];
    return sum / (double)n;
}

/* Reads of this array whose noise is correlated are worth fewer draws. */
static xb_status settle(xb_ctx *ctx, cli_draws *out, const double *value,
                        const double *sd, const double *y, int64_t n, int64_t reads,
                        xb_stopping_options opt)
{
    xb_stopping *whole = NULL;
    xb_status status = xb_stopping_find(ctx, &out->settled, value, sd, reads, n, 1, &opt);
    opt.first = reads; /* check only after the last read */
    if (status == XB_OK)
        status = xb_stopping_find(ctx, &whole, value, sd, reads, n, 1, &opt);
    if (status == XB_OK) {
        out->tolerance = opt.tolerance;
        out->coverage = covered(out->settled, y);
        out->coverage_all = covered(whole, y);
        for (int64_t i = 0; i < n; i++)
            out->mean += (double)xb_stopping_draws_used(out->settled)[i] / (double)n;
    }
    xb_stopping_destroy(whole);
    return status;
}

xb_status cli_draws_find(xb_ctx *ctx, cli_draws *out, const xb_model *model,
                         const xb_analog *analog, const double *x, const double *y,
                         int64_t n, int64_t reads)
{
    xb_stopping_options opt = xb_stopping_options_default();
    opt.members = xb_model_member_count(model);
    const bool numbers = xb_model_class_count(model) == 0 &&
                         xb_model_target_count(model) == 1 && !xb_model_of_counts(model);
    /* Reads that share nearly all their noise scatter too little to show their error. */
    const double worth = xb_array_independent(xb_analog_array(analog), reads);
    if (!numbers || worth < FIRST * (double)opt.members) return XB_OK;
    opt.worth = worth / (double)reads;
    double *value = xb_new(ctx, reads * n, sizeof *value);
    double *sd = xb_new(ctx, n, sizeof *sd);
    xb_status status = value && sd ? XB_OK : XB_E_MEMORY;
    if (status == XB_OK) status = xb_analog_draws(ctx, value, sd, analog, x, n, 0, reads);
    if (status == XB_OK) status = settle(ctx, out, value, sd, y, n, reads, opt);
    free(sd);
    free(value);
    return status;
}

void cli_draws_free(cli_draws *d) { xb_stopping_destroy(d->settled); }

/* The number of reads that suffices for this share of the rows. */
static double needed_by(const xb_stopping *s, double share)
{
    const int64_t n = xb_stopping_count(s);
    double *order = malloc((size_t)n * sizeof *order), found = NAN;
    if (!order) return NAN;
    for (int64_t i = 0; i < n; i++) order[i] = xb_stopping_draws_needed(s)[i];
    if (xb_sort_doubles(NULL, order, n) == XB_OK)
        found = order[(int64_t)ceil(share * (double)n) - 1];
    free(order);
    return ceil(found);
}

void cli_show_draws(const cli_draws *d, int64_t reads)
{
    if (!d->settled) return;
    const double energy = 100 * d->mean / (double)reads;
    printf(
        "\n  A row's 95 %% interval is settled when the error of its ends is at most %g "
        "sd."
        "\n  Half of the rows need at most %.0f reads for it, 95 %% of the rows at most"
        " %.0f.\n",
        d->tolerance, needed_by(d->settled, 0.5), needed_by(d->settled, 0.95));
    printf(
        "  Reading each row until then takes %.0f of %lld reads on average and %.*g %% of"
        "\n  the energy. These intervals cover %.1f %% of the rows, those of all reads"
        "\n  %.1f %%.\n",
        d->mean, (long long)reads, energy < 99.5 ? 2 : 3, energy, 100 * d->coverage,
        100 * d->coverage_all);
}

json_t *cli_draws_json(const cli_draws *d)
{
    if (!d->settled) return json_null();
    json_t *needed = json_array(), *used = json_array();
    for (int64_t i = 0; i < xb_stopping_count(d->settled); i++) {
        json_array_append_new(needed,
                              cli_json_real(xb_stopping_draws_needed(d->settled)[i]));
        json_array_append_new(used, json_integer(xb_stopping_draws_used(d->settled)[i]));
    }
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "tolerance",
                     cli_json_real(d->tolerance), "mean", cli_json_real(d->mean),
                     "coverage", cli_json_real(d->coverage), "coverage_all",
                     cli_json_real(d->coverage_all), "needed", needed, "used", used);
}
