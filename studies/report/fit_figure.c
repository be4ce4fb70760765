/* fit_figure.c: the figure of a fit: histogram and fitted densities on the left, Q-Q plot
 * of the chosen law on the right with the band in which 95 % of such points fall at the
 * effective number of samples. All axes are in the user's units. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "crossbayes/extend.h"
#include "report/figure.h"
#include "report/style.h"
#include "report/trace_panels.h"
#include "study/bins.h"

enum {
    FAMILIES_MOST = 16,   /* largest number of families drawn */
    EVEN_POINTS = 401,    /* evenly spaced points of a curve */
    QUANTILE_POINTS = 99, /* further points of a curve, where its law has its mass */
    CURVE_POINTS = EVEN_POINTS + (FAMILIES_MOST + 1) * QUANTILE_POINTS,
    QQ_POINTS = 240,
};

/* One fitted law in the user's units. */
typedef struct curve {
    const char *family;
    const xb_law *law;
    double offset, scale;
} curve;

typedef struct fit_view {
    const xb_fit *fit;
    const xb_trace_view *trace; /* NULL: the fit alone */
    double *sorted;             /* [n] */
    int64_t n;
    curve curve[FAMILIES_MOST + 1]; /* the chosen law first */
    int curves;
    xb_si_unit unit;
    bool narrow;  /* the density has a peak that needs a log axis */
    double least; /* density of half a sample in a bin, in the axis unit */
} fit_view;

static double named_value(const xb_fit_family *f, const char *name, double standard)
{
    int64_t i = xb_fit_family_param_find(f, name);
    return i < 0 ? standard : xb_fit_family_param_value(f, i);
}

static bool can_draw(const xb_fit_family *f)
{
    double scale = named_value(f, "scale", NAN), offset = named_value(f, "offset", NAN);
    return xb_fit_family_converged(f) && scale > 0 && isfinite(offset) &&
           strcmp(xb_fit_family_name(f), "empirical") != 0;
}

static void collect_curves(fit_view *v)
{
    for (int chosen = 1; chosen >= 0; chosen--) /* the chosen law first */
        for (int i = 0; i < xb_fit_family_count(v->fit) && v->curves <= FAMILIES_MOST;
             i++) {
            const xb_fit_family *f = xb_fit_family_at(v->fit, i);
            const xb_law *law = xb_fit_law_at(v->fit, i);
            if ((i == xb_fit_chosen(v->fit)) != chosen) continue;
            if (!chosen && !can_draw(f)) continue;
            xb_law_place place = xb_law_placement(law);
            v->curve[v->curves++] =
                (curve){xb_fit_family_name(f), law, place.offset, place.scale};
        }
}

static xb_status write_histogram(xb_ctx *ctx, FILE *data, fit_view *v)
{
    xb_bins bins;
    XB_TRY(xb_bins_choose(ctx, &bins, v->sorted, v->n, v->curve[0].offset));
    double *density = xb_new(ctx, bins.count, sizeof *density);
    if (!density) return XB_E_MEMORY;
    xb_bins_density(density, &bins, v->sorted, v->n);
    v->least = 0.5 / ((double)v->n * bins.width) * v->unit.factor;
    fprintf(data, "# histogram: x, density, bin width\n");
    for (int64_t k = 0; k < bins.count; k++)
        fprintf(data, "%.10g %.8g %.10g\n", xb_bins_middle(&bins, k) / v->unit.factor,
                density[k] * v->unit.factor, bins.width / v->unit.factor);
    xb_free(density);
    return XB_OK;
}

static double quantile_at(const curve *k, double u)
{
    const double open = 1e-12; /* the band never reaches infinity */
    double inside = fmin(fmax(u, open), 1 - open);
    return k->offset + k->scale * xb_law_quantile(k->law, inside);
}

/* The points where densities are drawn: evenly spaced ones, and others where each law has
 * its mass, so that a narrow peak is resolved. Returns their number. */
static xb_status choose_points(xb_ctx *ctx, double x[CURVE_POINTS], int *count,
                               const fit_view *v)
{
    double low = v->sorted[0], high = v->sorted[v->n - 1], margin = 0.05 * (high - low);
    int n = 0;
    for (int i = 0; i < EVEN_POINTS; i++)
        x[n++] = low - margin + (high - low + 2 * margin) * i / (EVEN_POINTS - 1);
    for (int c = 0; c < v->curves; c++)
        for (int i = 1; i <= QUANTILE_POINTS; i++) {
            double at = quantile_at(&v->curve[c], (double)i / (QUANTILE_POINTS + 1));
            if (at > low - margin && at < high + margin) x[n++] = at;
        }
    *count = n;
    return xb_sort_doubles(ctx, x, n);
}

static double density_at(const curve *k, double x)
{
    return xb_law_pdf(k->law, (x - k->offset) / k->scale) / k->scale;
}

static xb_status write_densities(xb_ctx *ctx, FILE *data, fit_view *v)
{
    double x[CURVE_POINTS], chosen[CURVE_POINTS];
    int n = 0;
    XB_TRY(choose_points(ctx, x, &n, v));
    fprintf(data, "\n\n# densities: x");
    for (int c = 0; c < v->curves; c++) fprintf(data, ", %s", v->curve[c].family);
    for (int i = 0; i < n; i++) {
        fprintf(data, "\n%.10g", x[i] / v->unit.factor);
        for (int c = 0; c < v->curves; c++)
            fprintf(data, " %.8g", density_at(&v->curve[c], x[i]) * v->unit.factor);
        chosen[i] = density_at(&v->curve[0], x[i]);
    }
    fputc('\n', data);
    v->narrow = xb_style_narrow_peak(x, chosen, n);
    return XB_OK;
}

/* Wilson's interval for a proportion u of n. */
static void proportion_band(double *low, double *high, double u, double n)
{
    const double z = 1.959963984540054; /* 97.5 % point of the normal */
    double centre = (u + z * z / (2 * n)) / (1 + z * z / n);
    double half = z / (1 + z * z / n) * sqrt(u * (1 - u) / n + z * z / (4 * n * n));
    *low = fmax(centre - half, 0);
    *high = fmin(centre + half, 1);
}

/* Points are denser towards both tails: equal steps of log(u / (1 - u)). */
static void write_qq(FILE *data, const fit_view *v)
{
    const curve *k = &v->curve[0];
    double n = (double)v->n,
           effective = xb_fit_sample_effective(xb_fit_sample_info(v->fit));
    double reach = log(2 * n - 1);
    int64_t last = -1;
    fprintf(data, "\n\n# q-q: law, sample, low, high\n");
    for (int j = 0; j < QQ_POINTS; j++) {
        double logit = reach * (2.0 * j / (QQ_POINTS - 1) - 1);
        int64_t i = (int64_t)(n / (1 + exp(-logit)));
        if (i >= v->n) i = v->n - 1;
        if (i == last) continue;
        last = i;
        double u = ((double)i + 0.5) / n, low, high;
        proportion_band(&low, &high, u, effective);
        fprintf(data, "%.10g %.10g %.10g %.10g\n", quantile_at(k, u) / v->unit.factor,
                v->sorted[i] / v->unit.factor, quantile_at(k, low) / v->unit.factor,
                quantile_at(k, high) / v->unit.factor);
    }
}

/* Dash styles keep laws that lie on top of each other visible; the chosen one is
 * solid. */
static const char *dash_of(int c)
{
    static const char *const dashes[] = {"(10,4)", "(4,4)", "(10,4,3,4)", "(2,3)"};
    return c == 0 ? "1" : dashes[(c - 1) % XB_COUNT(dashes)];
}

static void write_curves(FILE *script, const fit_view *v, const char *data)
{
    for (int c = v->curves - 1; c >= 0; c--) /* the chosen law on top */
        fprintf(script,
                ", \\\n     %s index 1 using 1:%d with lines linewidth %s dashtype %s"
                " linecolor '%s' title '%s'",
                data, c + 2, c == 0 ? "2.2" : "1.3", dash_of(c),
                xb_style_colour(v->curve[c].family), v->curve[c].family);
}

/* On a linear axis a narrow peak would hide everything else. */
static void write_density_panel(FILE *script, const fit_view *v, const char *data)
{
    xb_style_label(script, "x", "noise", "", v->unit.text);
    xb_style_label(script, "y", "density", "per ", v->unit.text);
    if (v->narrow)
        fprintf(script, "set logscale y\nset format y '10^{%%L}'\nset yrange [%.3g:*]\n",
                v->least);
    else
        fprintf(script, "set yrange [0:*]\n");
    fprintf(script,
            "set autoscale xfix\n"
            "plot %s index 0 using 1:2:3 with boxes fill solid 1 noborder"
            " linecolor '%s' title 'samples'",
            data, xb_style_colour("data"));
    write_curves(script, v, data);
    fprintf(script, "\n\nunset logscale y\nset format y '%%h'\nset autoscale y\n");
}

static void write_quantile_panel(FILE *script, const fit_view *v, const char *data)
{
    fprintf(script, "set autoscale fix\n"
                    "set offsets graph 0.03, graph 0.03, graph 0.03, graph 0.03\n");
    char label[64];
    snprintf(label, sizeof label, "quantile of the %s law", v->curve[0].family);
    xb_style_label(script, "x", label, "", v->unit.text);
    xb_style_label(script, "y", "quantile of the samples", "", v->unit.text);
    fprintf(
        script,
        "plot %s index 2 using 1:3:4 with filledcurves fill solid 0.35 noborder"
        " linecolor '%s' title '95 %% band', \\\n"
        "     %s index 2 using 1:1 with lines linecolor '#444444' title 'diagonal', \\\n"
        "     %s index 2 using 1:2 with points pointtype 7 pointsize 0.4"
        " linecolor '%s' title 'samples'\n",
        data, xb_style_colour("data"), data, data, xb_style_colour(v->curve[0].family));
}

static void write_script(FILE *script, const fit_view *v, const char *data)
{
    fprintf(script, "set multiplot layout 1,2 margins 0.09,0.97,0.14,0.84 spacing 0.12\n"
                    "set key tmargin center vertical maxrows 3\n");
    write_density_panel(script, v, data);
    write_quantile_panel(script, v, data);
    fprintf(script, "unset multiplot\n");
}

static void place_panel(FILE *script, double left, double right, double bottom,
                        double top)
{
    fprintf(script,
            "set lmargin at screen %g\nset rmargin at screen %g\n"
            "set bmargin at screen %g\nset tmargin at screen %g\n",
            left, right, bottom, top);
}

/* Draws the trace above two panels of its law and two of its spectrum and correlation. */
static void write_trace_script(FILE *script, const fit_view *v, const char *data)
{
    enum { FIRST = 3 }; /* blocks of data before those of the trace */
    const double left[] = {0.09, 0.59}, right[] = {0.47, 0.97};
    const xb_trace_view *t = v->trace;
    static const char above[] = "set key at graph 0.5, graph 1.04 center bottom vertical";
    fprintf(script, "set multiplot\n%s maxrows 1\n", above);
    place_panel(script, left[0], right[1], 0.76, 0.95);
    xb_trace_panel(script, t, data, FIRST);
    fprintf(script, "%s maxrows 3\n", above);
    place_panel(script, left[0], right[0], 0.42, 0.64);
    write_density_panel(script, v, data);
    place_panel(script, left[1], right[1], 0.42, 0.64);
    write_quantile_panel(script, v, data);
    fprintf(script, "set offsets\n");
    place_panel(script, left[0], right[0], 0.07, 0.30);
    xb_spectrum_panel(script, t, data, FIRST);
    place_panel(script, left[1], right[1], 0.07, 0.30);
    xb_memory_panel(script, t, data, FIRST);
    fprintf(script, "unset multiplot\n");
}

static xb_status draw(xb_ctx *ctx, fit_view *v, const char *path, unsigned formats)
{
    xb_figure *f = NULL;
    XB_TRY(xb_figure_open(ctx, &f, path, 900, v->trace ? 1100 : 440));
    xb_status status = write_histogram(ctx, xb_figure_data(f), v);
    if (status == XB_OK) status = write_densities(ctx, xb_figure_data(f), v);
    if (status != XB_OK) {
        xb_figure_discard(f);
        return status;
    }
    write_qq(xb_figure_data(f), v);
    if (v->trace) xb_trace_write_data(xb_figure_data(f), v->trace);
    (v->trace ? write_trace_script : write_script)(xb_figure_script(f), v,
                                                   xb_figure_data_name(f));
    return xb_figure_draw(ctx, f, formats);
}

/* x are the samples of the fit; `trace` is NULL, or the whole trace that they are a part
 * of, whose axis units are set here. */
static xb_status report(xb_ctx *ctx, const xb_fit *fit, const double *x, int64_t n,
                        xb_trace_view *trace, const char *path, unsigned formats)
{
    if (n < 2) return xb_fail(ctx, XB_E_ARGUMENT, "a figure needs 2 samples or more");
    fit_view v = {
        .fit = fit, .n = n, .trace = trace, .sorted = xb_new(ctx, n, sizeof(double))};
    if (!v.sorted) return XB_E_MEMORY;
    memcpy(v.sorted, x, (size_t)n * sizeof *x);
    xb_status status = xb_sort_doubles(ctx, v.sorted, n);
    if (status == XB_OK) collect_curves(&v);
    if (status == XB_OK) {
        v.unit = xb_style_unit(fmax(fabs(v.sorted[0]), fabs(v.sorted[n - 1])),
                               xb_law_placement(xb_fit_law(fit)).unit);
        if (trace) *trace = xb_trace_view_make(trace->series, trace->x, trace->n, v.unit);
        status = draw(ctx, &v, path, formats);
    }
    xb_free(v.sorted);
    return status;
}

xb_status xb_report_fit(xb_ctx *ctx, const xb_fit *fit, const double *x, int64_t n,
                        const char *path, unsigned formats)
{
    return report(ctx, fit, x, n, NULL, path, formats);
}

xb_status xb_report_trace(xb_ctx *ctx, const xb_fit *fit, const xb_series *series,
                          const double *x, int64_t n, const char *path, unsigned formats)
{
    xb_trace_view trace = {.series = series, .x = x, .n = n};
    return report(ctx, fit, xb_series_values(series), xb_series_count(series), &trace,
                  path, formats);
}
