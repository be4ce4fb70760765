/* recordings.c: makes the read noise of a device from traces of cells, each in one state:
 * width, correlation and law of the stationary part by state, and whether all states have
 * the same shape (maths K6). series/ finds the stationary parts and fit/ their laws. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crossbayes/extend.h"
#include "device/relaxation.h"
#include "fit/fit.h"
#include "law/lawfile.h"

/* One trace while it is processed. */
typedef struct reading_of {
    xb_series *series;
    xb_fit *fit;
    double *sorted; /* [count] standardised */
    int64_t count;
    double independent;
} reading_of;

static void release(reading_of *r, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        xb_series_destroy(r[i].series);
        xb_fit_destroy(r[i].fit);
        free(r[i].sorted);
    }
    free(r);
}

/* ---- one trace */

static xb_status analyse(xb_ctx *ctx, reading_of *out, const xb_recording *rec,
                         const char *unit)
{
    xb_series_options s = xb_series_options_default();
    xb_fit_options f = xb_fit_options_default();
    s.sample_interval = rec->sample_interval;
    s.unit = f.unit = unit;
    s.source = f.source = rec->source;
    XB_TRY(xb_series_run(ctx, &out->series, rec->x, rec->n, &s));
    out->count = xb_series_count(out->series);
    f.series = out->series;
    XB_TRY(xb_fit_run(ctx, &out->fit, xb_series_values(out->series), out->count, &f));
    out->independent = fmin(xb_series_independent(out->series),
                            xb_fit_sample_effective(xb_fit_sample_info(out->fit)));
    return XB_OK;
}

/* Writes the chosen law as text. */
static void describe_law(xb_state_record *r, const xb_fit *fit)
{
    const xb_fit_family *f = xb_fit_family_at(fit, xb_fit_chosen(fit));
    snprintf(r->law, sizeof r->law, "%.255s", xb_law_text(xb_fit_law(fit)));
    snprintf(r->fits, sizeof r->fits, "%.31s",
             xb_fit_decision_name(xb_fit_family_decision(f)));
}

static xb_status describe(xb_ctx *ctx, xb_state_record *out, const reading_of *r,
                          const xb_recording *rec)
{
    const xb_fit_sample *sample = xb_fit_sample_info(r->fit);
    out->trace = (xb_device_trace){.label = rec->label,
                                   .conductance = xb_fit_sample_mean(sample),
                                   .width = xb_fit_sample_sd(sample),
                                   .width_error = xb_fit_sample_sd_error(sample),
                                   .independent = r->independent};
    if (!isfinite(out->trace.width_error)) out->trace.width_error = out->trace.width;
    if (out->trace.conductance < 0)
        return xb_fail(ctx, XB_E_INPUT,
                       "%s%sthe mean of the trace is %g: expected a conductance of 0 or"
                       " more",
                       rec->source ? rec->source : "", rec->source ? ": " : "",
                       out->trace.conductance);
    out->interval_s =
        xb_series_has_interval(r->series) ? xb_series_interval(r->series) : 0;
    for (int i = 0; i < XB_DEVICE_LAGS; i++) {
        const double rho = xb_series_autocorrelation(r->series, INT64_C(1) << i);
        if (!isfinite(rho)) break;
        out->correlation[out->lags++] = rho;
    }
    describe_law(out, r->fit);
    return XB_OK;
}

/* ---- one shape or several */

static xb_status standardise(xb_ctx *ctx, reading_of *r)
{
    const double *x = xb_series_values(r->series);
    const double mean = xb_fit_sample_mean(xb_fit_sample_info(r->fit));
    const double sd = xb_fit_sample_sd(xb_fit_sample_info(r->fit));
    r->sorted = xb_new(ctx, r->count, sizeof *r->sorted);
    if (!r->sorted) return XB_E_MEMORY;
    for (int64_t i = 0; i < r->count; i++) r->sorted[i] = (x[i] - mean) / sd;
    return xb_sort_doubles(ctx, r->sorted, r->count);
}

/* The largest distance between two distribution functions. */
static double distance(const reading_of *a, const reading_of *b)
{
    double most = 0;
    int64_t i = 0, k = 0;
    while (i < a->count && k < b->count) {
        const double x = fmin(a->sorted[i], b->sorted[k]);
        while (i < a->count && a->sorted[i] <= x) i++;
        while (k < b->count && b->sorted[k] <= x) k++;
        most =
            fmax(most, fabs((double)i / (double)a->count - (double)k / (double)b->count));
    }
    return most;
}

/* (K6) The tail of Kolmogorov's distribution for n independent samples. */
static double p_of(double distance, double n)
{
    const double x = (sqrt(n) + 0.12 + 0.11 / sqrt(n)) * distance;
    double sum = 0;
    for (int j = 1; j <= 100; j++) sum += (j % 2 ? 2 : -2) * exp(-2.0 * j * j * x * x);
    return x < 0.2 ? 1 : fmin(fmax(sum, 0), 1);
}

static xb_status compare_shapes(xb_ctx *ctx, xb_device *d, reading_of *r)
{
    const double few = 8, level = 0.01;
    const double pairs = 0.5 * (double)(d->traces * (d->traces - 1));
    bool tested = true;
    double least = 1;
    if (d->traces < 2) return XB_OK;
    for (int64_t i = 0; i < d->traces; i++) XB_TRY(standardise(ctx, &r[i]));
    for (int64_t i = 0; i < d->traces; i++)
        for (int64_t k = i + 1; k < d->traces; k++) {
            const double a = r[i].independent, b = r[k].independent, n = a * b / (a + b);
            if (n < few)
                tested = false;
            else
                least = fmin(least, p_of(distance(&r[i], &r[k]), n));
        }
    /* The p-value of the worst pair is corrected for the number of pairs. */
    d->shapes_p = fmin(pairs * least, 1);
    const char *word = d->shapes_p < level ? "differ"
                       : tested            ? "agree"
                                           : "cannot be tested";
    if (!tested && d->shapes_p >= level) d->shapes_p = NAN;
    snprintf(d->shapes, sizeof d->shapes, "%s", word);
    return XB_OK;
}

/* The law for all states: that of the trace with the most independent samples. */
static void choose_law(xb_ctx *ctx, xb_device *d, const reading_of *r)
{
    int64_t best = 0;
    if (strcmp(d->shapes, "differ") == 0) return;
    for (int64_t i = 1; i < d->traces; i++)
        if (r[i].independent > r[best].independent) best = i;
    d->law = xb_fit_to_json(ctx, r[best].fit);
}

/* ---- all of it */

static int by_conductance(const void *left, const void *right)
{
    const xb_state_record *a = left, *b = right;
    const double x = a->trace.conductance, y = b->trace.conductance;
    return (x > y) - (x < y);
}

/* Called last, because it changes the order that the other steps rely on. */
static xb_status order_traces(xb_ctx *ctx, xb_device *d)
{
    qsort(d->record, (size_t)d->traces, sizeof *d->record, by_conductance);
    for (int64_t i = 1; i < d->traces; i++)
        if (d->record[i].trace.conductance == d->record[i - 1].trace.conductance)
            return xb_fail(ctx, XB_E_INPUT,
                           "the traces of states %g and %g have the same conductance, %g:"
                           " expected one trace for each state",
                           d->record[i - 1].trace.label, d->record[i].trace.label,
                           d->record[i].trace.conductance);
    return XB_OK;
}

static void copy_campaign(xb_device *d, const xb_device *from)
{
    d->cells = from->cells;
    d->cells_left_out = from->cells_left_out;
    d->states_left_out = from->states_left_out;
    memcpy(d->state, from->state, (size_t)from->states * sizeof *d->state);
    memcpy(d->time, from->time, (size_t)from->times * sizeof *d->time);
    memcpy(d->node, from->node, (size_t)(from->states * from->times) * sizeof *d->node);
}

static xb_status fill(xb_ctx *ctx, xb_device *d, reading_of *r, const xb_recording *rec)
{
    for (int64_t i = 0; i < d->traces; i++) {
        XB_TRY(xb_progress_tell(ctx, "reading traces", i, d->traces));
        XB_TRY(analyse(ctx, &r[i], &rec[i], d->unit));
        XB_TRY(describe(ctx, &d->record[i], &r[i], &rec[i]));
    }
    XB_TRY(compare_shapes(ctx, d, r));
    choose_law(ctx, d, r);
    return order_traces(ctx, d);
}

xb_status xb_device_record(xb_ctx *ctx, xb_device **out, const xb_recording *recording,
                           int64_t count, const xb_device *campaign,
                           const xb_device_options *opt)
{
    xb_device_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, device, &chosen, opt, source));
    if (count < 1 || count > XB_DEVICE_STATES)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld traces: expected 1 to %d",
                       (long long)count, XB_DEVICE_STATES);
    xb_device *d = NULL;
    XB_TRY(xb_device_new(ctx, &d, campaign ? campaign->states : 0,
                         campaign ? campaign->times : 0, count));
    snprintf(d->unit, sizeof d->unit, "%s", chosen.unit ? chosen.unit : "");
    snprintf(d->source, sizeof d->source, "%s", chosen.source ? chosen.source : "");
    if (campaign) copy_campaign(d, campaign);
    reading_of *r = xb_new(ctx, count, sizeof *r);
    xb_status status = r ? fill(ctx, d, r, recording) : XB_E_MEMORY;
    if (r) release(r, count);
    if (status == XB_OK)
        *out = d;
    else
        xb_device_destroy(d);
    return status;
}

/* ---- what was measured */

const char *xb_device_trace_law(const xb_device *d, int64_t i)
{
    return d->record[i].law;
}
const char *xb_device_trace_fits(const xb_device *d, int64_t i)
{
    return d->record[i].fits;
}
const char *xb_device_shapes(const xb_device *d) { return d->shapes; }
double xb_device_shapes_p(const xb_device *d) { return d->shapes_p; }

xb_status xb_device_law(xb_ctx *ctx, xb_law **out, const xb_device *d)
{
    if (!d->law)
        return xb_fail(ctx, XB_E_INPUT, "the device has no law of its read noise");
    return xb_law_from_json(ctx, out, d->law, d->source);
}
