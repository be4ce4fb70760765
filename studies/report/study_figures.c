/* study_figures.c: the studies' figures from their tables, one script each.
 * A table becomes a block of NAME.dat under its own name, so that a script line
 * reads like what it draws: index 'curves' using 1:3. A new study's figure is
 * one function and one row of the table at the end. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "crossbayes/extend.h"
#include "crossbayes/outfile.h"
#include "report/figure.h"
#include "report/sketch.h"
#include "report/style.h"
#include "study/study.h"

typedef xb_sketch sketch;

static void write_table(FILE *data, const xb_table *t)
{
    fprintf(data, "# %s\n#", xb_table_name(t));
    for (int c = 0; c < xb_table_column_count(t); c++)
        fprintf(data, " %s", xb_table_column_name(t, c));
    for (int64_t r = 0; r < xb_table_row_count(t); r++) {
        fputc('\n', data);
        for (int c = 0; c < xb_table_column_count(t); c++) {
            double value = xb_table_get(t, r, c);
            if (isnan(value))
                fprintf(data, "NaN ");
            else
                fprintf(data, "%.17g ", value);
        }
    }
    fprintf(data, "\n\n\n");
}

int xb_sketch_column(const sketch *k, const char *table, const char *column)
{
    const xb_table *t = xb_study_table(k->study, table);
    return t ? xb_table_column_find(t, column) + 1 : 0;
}

/* Writes "index 'table' using x:y"; a column that does not exist draws nothing. */
static void source(const sketch *k, const char *table, const char *x, const char *y)
{
    int cx = xb_sketch_column(k, table, x), cy = xb_sketch_column(k, table, y);
    if (cx == 0 || cy == 0)
        fprintf(k->script, "NaN");
    else
        fprintf(k->script, "%s index '%s' using %d:%d", k->data, table, cx, cy);
}

static void line(const sketch *k, const char *table, const char *x, const char *y,
                 const char *style, const char *title)
{
    source(k, table, x, y);
    fprintf(k->script, " with lines %s linecolor '%s' ", style, xb_style_colour(y));
    if (title)
        fprintf(k->script, "title '%s'", title);
    else
        fprintf(k->script, "notitle");
}

void xb_sketch_next(const sketch *k) { fprintf(k->script, ", \\\n     "); }
void xb_sketch_end(const sketch *k) { fprintf(k->script, "\n\n"); }

/* ---- laws: Fig. 1 */

static double largest_in_column(const xb_table *t, int column)
{
    double largest = 0;
    for (int64_t r = 0; t && r < xb_table_row_count(t); r++)
        largest = fmax(largest, fabs(xb_table_get(t, r, column)));
    return largest;
}

double xb_sketch_fact(const xb_sketch *k, const char *name)
{
    const xb_study *study = k->study;
    for (int i = 0; i < xb_study_fact_count(study); i++)
        if (strcmp(xb_study_fact_at(study, i).name, name) == 0)
            return xb_study_fact_at(study, i).value;
    return NAN;
}

/* A density over x, both in the axis unit of the script. */
static void density(const sketch *k, const char *table, const char *y, const char *role,
                    const char *style, const char *title)
{
    int column = xb_sketch_column(k, table, y);
    fprintf(k->script,
            "%s index '%s' using ($1/unit):(column(%d)*unit) with %s linecolor '%s'"
            " title '%s'",
            k->data, table, column, style, xb_style_colour(role), title);
}

static bool narrow_column(const xb_table *t, const char *column)
{
    enum { ROWS_MOST = 2048 };
    double x[ROWS_MOST], density[ROWS_MOST];
    int c = t ? xb_table_column_find(t, column) : -1;
    int64_t n = c < 0 ? 0 : xb_table_row_count(t);
    if (n > ROWS_MOST) n = ROWS_MOST;
    for (int64_t r = 0; r < n; r++) {
        x[r] = xb_table_get(t, r, 0);
        density[r] = xb_table_get(t, r, c);
    }
    return xb_style_narrow_peak(x, density, n);
}

/* Densities start at 0; if a peak is narrow, the axis is logarithmic over this many
 * decades. */
static void density_axis(const sketch *k, const char *table, const char *column)
{
    const double decades = 5;
    const xb_table *t = xb_study_table(k->study, table);
    bool narrow = narrow_column(t, column);
    double most = t ? largest_in_column(t, xb_table_column_find(t, column)) : 0;
    if (narrow)
        fprintf(k->script,
                "set logscale y\nset format y '10^{%%L}'\nset yrange [%g*unit:*]\n",
                most * pow(10, -decades));
    else
        fprintf(k->script, "unset logscale y\nset format y '%%h'\nset yrange [0:*]\n");
}

static void draw_laws(const sketch *k)
{
    double largest = largest_in_column(xb_study_table(k->study, "histogram"), 0);
    xb_si_unit unit = xb_style_unit(largest, xb_study_unit(k->study));
    fprintf(k->script,
            "unit = %g\n"
            "set multiplot layout 2,1 margins 0.11,0.96,0.08,0.96 spacing 0.14\n"
            "set key at graph 0.5, graph 1.01 center bottom vertical maxrows 1\n"
            "set style fill solid 1 noborder\n"
            "set autoscale xfix\nset offsets graph 0.02, graph 0.02, 0, 0\n",
            unit.factor);
    xb_style_label(k->script, "x", "noise", "", unit.text);
    xb_style_label(k->script, "y", "density", "per ", unit.text);
    density_axis(k, "histogram", "fit");
    fprintf(k->script, "plot ");
    density(k, "histogram", "density", "data", "boxes", "samples");
    xb_sketch_next(k);
    density(k, "histogram", "fit", "device", "lines linewidth 2.2", "fitted law");
    xb_sketch_end(k);
    xb_style_label(k->script, "x", "noise, with mean 0 and the same variance for all", "",
                   unit.text);
    density_axis(k, "densities", "device");
    fprintf(k->script, "plot ");
    density(k, "densities", "gaussian", "gaussian", "lines linewidth 2", "Gaussian");
    xb_sketch_next(k);
    density(k, "densities", "device", "device", "lines linewidth 2 dashtype (12,5)",
            "device");
    xb_sketch_next(k);
    density(k, "densities", "bimodal", "bimodal", "lines linewidth 2 dashtype (4,4)",
            "bimodal");
    xb_sketch_end(k);
}

/* ---- quadrature: Fig. 2 */

typedef struct rule_line {
    const char *rule, *title;
    bool dashed; /* drawn dashed, because it lies on another line */
} rule_line;

static const rule_line device_rules[] = {
    {"legendre", "Legendre", false},
    {"hermite", "Hermite", false},
    {"paper_split", "split (paper)", false},
    {"paper_laguerre", "Laguerre (paper)", false},
    {"gauss", "Gauss", false},
    {"gauss_wheeler", "Gauss by Wheeler", true},
    {"smooth", "smooth", false},
};
static const rule_line bimodal_rules[] = {
    {"hermite", "Hermite", false},       {"paper_laguerre", "Laguerre (paper)", false},
    {"modes", "Hermite by mode", false}, {"trapezoid", "trapezoid", false},
    {"smooth", "smooth", false},
};

/* The rule's column, counted from 1; 0 if it has no value for this law. */
static int rule_column(const sketch *k, const char *table, const char *rule)
{
    const xb_table *t = xb_study_table(k->study, table);
    int column = t ? xb_table_column_find(t, rule) : -1;
    for (int64_t r = 0; column >= 0 && r < xb_table_row_count(t); r++)
        if (!isnan(xb_table_get(t, r, column))) return column + 1;
    return 0;
}

/* The range of a panel's values in decades. */
typedef struct decades {
    double low, high;
} decades;

/* A log axis cannot show 0: values below the floor are drawn on it. */
static const double ERROR_FLOOR = 1e-17, STEP_FLOOR = 1e-33;

static void widen(decades *d, const sketch *k, const char *table, const rule_line *rule,
                  double floor_at)
{
    const xb_table *t = xb_study_table(k->study, table);
    int column = rule_column(k, table, rule->rule) - 1;
    for (int64_t r = 0; column >= 0 && r < xb_table_row_count(t); r++) {
        double value = xb_table_get(t, r, column);
        if (!isfinite(value)) continue;
        value = log10(fmax(value, floor_at));
        d->low = fmin(d->low, value);
        d->high = fmax(d->high, value);
    }
}

static void rule_curve(const sketch *k, const char *table, const rule_line *rule,
                       double floor_at, const char *style, bool titled)
{
    int column = rule_column(k, table, rule->rule);
    if (column == 0) return;
    fprintf(k->script,
            "%s index '%s' using 1:(column(%d) < %g ? %g : column(%d)) with lines %s"
            " linecolor '%s' title '%s'",
            k->data, table, column, floor_at, floor_at, column, style,
            xb_style_colour(rule->rule), titled ? rule->title : "");
    xb_sketch_next(k);
}

/* The panel ends half a decade beyond its data; there is a label every 2, 4, 6 or 8
 * decades. */
static void decade_axis(const sketch *k, decades d)
{
    const double room = 0.5;
    if (!(d.high > d.low)) d = (decades){-1, 0};
    double step = 2 * ceil((d.high - d.low) / 16);
    fprintf(k->script, "set yrange [%.3g:%.3g]\nset ytics 1e%g\n", pow(10, d.low - room),
            pow(10, d.high + room), step);
}

/* The true error is solid, the paper's measure of it is thin and dashed, both in the
 * rule's colour. */
static void draw_rules(const sketch *k, const char *law, const char *quantity,
                       const rule_line *rules, int count)
{
    char error[64], step[64];
    snprintf(error, sizeof error, "%s_%s_error", law, quantity);
    snprintf(step, sizeof step, "%s_%s_step", law, quantity);
    decades d = {INFINITY, -INFINITY};
    for (int i = 0; i < count; i++) {
        widen(&d, k, error, &rules[i], ERROR_FLOOR);
        widen(&d, k, step, &rules[i], STEP_FLOOR);
    }
    decade_axis(k, d);
    fprintf(k->script, "plot ");
    for (int i = 0; i < count; i++)
        rule_curve(k, step, &rules[i], STEP_FLOOR, "linewidth 0.9 dashtype (6,6)", false);
    for (int i = 0; i < count; i++)
        rule_curve(k, error, &rules[i], ERROR_FLOOR,
                   rules[i].dashed ? "linewidth 2.2 dashtype (5,7)" : "linewidth 2.2",
                   true);
    fprintf(k->script, "NaN notitle");
    xb_sketch_end(k);
}

static void draw_quadrature(const sketch *k)
{
    static const char *const quantities[] = {"variance", "kl"};
    fprintf(k->script,
            "set multiplot layout 2,2 margins 0.085,0.975,0.075,0.88 spacing 0.1,0.16\n"
            "set key at graph 0.5, graph 1.03 center bottom vertical maxrows 3\n"
            "set label 1 'solid: true error; thin, dashed: squared change between "
            "orders, the measure of the paper, in the same colour' at screen 0.53, "
            "screen 0.98 center\n"
            "set logscale x 2\nset logscale y\nset autoscale xfix\nset mytics 1\n"
            "set format y '10^{%%L}'\nset xlabel 'points n'\n");
    for (int q = 0; q < XB_COUNT(quantities); q++) {
        const char *name = q ? "KL" : "variance", *unit = q ? " (nats)" : "";
        fprintf(k->script, "set ylabel 'error of the device''s %s%s'\n", name, unit);
        draw_rules(k, "device", quantities[q], device_rules, XB_COUNT(device_rules));
        fprintf(k->script,
                "unset label 1\nset ylabel 'error of the bimodal law''s %s%s'\n", name,
                unit);
        draw_rules(k, "bimodal", quantities[q], bimodal_rules, XB_COUNT(bimodal_rules));
    }
}

/* ---- quantile: Fig. 3 */

static const char *const fits[] = {"direct", "corrected", "spectral"};

/* Places about four labels on the x axis, however small its range is. */
static void few_tics(const sketch *k, const char *table)
{
    const xb_table *t = xb_study_table(k->study, table);
    if (!t || xb_table_row_count(t) == 0) return;
    double step = xb_table_get(t, xb_table_row_count(t) - 1, 0) / 4;
    double unit = pow(10, floor(log10(step)));
    double round = step / unit >= 5 ? 5 : step / unit >= 2 ? 2 : 1;
    fprintf(k->script, "set xtics %g\n", round * unit);
}

/* Dash styles keep curves that lie on top of each other visible. */
static const char *const fit_style[] = {"linewidth 1.6", "linewidth 2.4 dashtype (12,6)",
                                        "linewidth 2.4 dashtype (4,8)"};

static void draw_curves(const sketch *k, const char *table)
{
    few_tics(k, table);
    fprintf(k->script, "plot ");
    line(k, table, "u", "exact", "linewidth 4", "exact");
    for (int i = 0; i < XB_COUNT(fits); i++) {
        xb_sketch_next(k);
        line(k, table, "u", fits[i], fit_style[i], fits[i]);
    }
    xb_sketch_end(k);
}

/* Draws the Monte Carlo error against draws, and the remaining bias as horizontal
 * lines. */
static void draw_kl_error(const sketch *k)
{
    fprintf(k->script, "plot ");
    for (int i = 0; i < XB_COUNT(fits); i++) {
        source(k, "kl_error", "draws", fits[i]);
        fprintf(k->script,
                " with linespoints %s pointtype 7 pointsize 0.4 linecolor '%s'"
                " title '%s'",
                fit_style[i], xb_style_colour(fits[i]), fits[i]);
        xb_sketch_next(k);
    }
    for (int i = 0; i < XB_COUNT(fits); i++) {
        char name[32];
        snprintf(name, sizeof name, "bias_%s", fits[i]);
        double bias = fabs(xb_sketch_fact(k, name));
        if (!(bias > 0)) continue;
        fprintf(k->script,
                "%.6g with lines dashtype (20,10) linewidth 1 linecolor '%s'"
                " title 'bias, %s'",
                bias, xb_style_colour(fits[i]), fits[i]);
        xb_sketch_next(k);
    }
    line(k, "kl_error", "draws", "std_error", "linewidth 2 dashtype 3", "std. error");
    xb_sketch_end(k);
}

static void draw_bias(const sketch *k)
{
    fprintf(k->script, "plot ");
    for (int i = 0; i < XB_COUNT(fits); i++) {
        int column = xb_sketch_column(k, "bias", fits[i]);
        if (i > 0) xb_sketch_next(k);
        fprintf(
            k->script,
            "%s index 'bias' using 1:(abs(column(%d))) with linespoints %s pointtype 7"
            " pointsize 0.4 linecolor '%s' title '%s'",
            k->data, column, fit_style[i], xb_style_colour(fits[i]), fits[i]);
    }
    xb_sketch_end(k);
}

/* One error of the sampler over the mass in its tail; the upper tail is dashed. */
static void sampler_error(const sketch *k, const char *column, const char *colour,
                          bool upper, const char *title)
{
    fprintf(k->script,
            "%s index 'sampler' using 1:(above(column(%d))) with lines linewidth 1.6 %s"
            " linecolor '%s' title '%s'",
            k->data, xb_sketch_column(k, "sampler", column),
            upper ? "dashtype (8,4)" : "", colour, title);
}

static void draw_sampler(const sketch *k)
{
    const char *single = xb_style_colour("device"), *whole = "#444444";
    fprintf(
        k->script,
        "above(x) = x > 1e-18 ? x : 1e-18\nset logscale xy\nset format xy '10^{%%L}'\n"
        "set xtics autofreq\nset yrange [1e-18:1e-6]\n"
        "set xlabel 'mass v in the tail'\nset ylabel '|Q(G) - v| of the sampler'\n"
        "plot ");
    sampler_error(k, "single_lower", single, false, "single, lower tail");
    xb_sketch_next(k);
    sampler_error(k, "single_upper", single, true, "single, upper");
    xb_sketch_next(k);
    sampler_error(k, "double_lower", whole, false, "double, lower tail");
    xb_sketch_next(k);
    sampler_error(k, "double_upper", whole, true, "double, upper");
    xb_sketch_end(k);
}

static bool has_polynomials(const xb_study *study)
{
    return xb_study_table(study, "bias") != NULL;
}

static int quantile_rows(const xb_study *study) { return has_polynomials(study) ? 2 : 1; }

/* For a law without polynomials: its quantile, and the errors of the sampler. */
static void draw_quantile_alone(const sketch *k)
{
    fprintf(k->script,
            "set multiplot layout 1,2 margins 0.085,0.975,0.15,0.86 spacing 0.1\n"
            "set key at graph 0.5, graph 1.03 center bottom vertical maxrows 2\n"
            "set autoscale xfix\nset xlabel 'u'\nset ylabel 'quantile G(u)'\n"
            "set xtics 0.2\nplot ");
    line(k, "curves", "u", "exact", "linewidth 2", "exact");
    xb_sketch_end(k);
    draw_sampler(k);
}

static void draw_quantile(const sketch *k)
{
    if (!has_polynomials(k->study)) {
        draw_quantile_alone(k);
        return;
    }
    fprintf(k->script,
            "set multiplot layout 2,2 margins 0.085,0.975,0.075,0.93 spacing 0.1,0.18\n"
            "set key at graph 0.5, graph 1.03 center bottom vertical maxrows 3\n"
            "set autoscale xfix\nset offsets graph 0.03, graph 0.03, 0, 0\nset mytics 1\n"
            "set xlabel 'u'\nset ylabel 'quantile G(u)'\n");
    draw_curves(k, "curves");
    fprintf(k->script, "set xlabel 'u, near 0'\n");
    draw_curves(k, "near_zero");
    fprintf(k->script, "set logscale xy\nset format xy '10^{%%L}'\nset xtics autofreq\n"
                       "set xlabel 'draws'\nset ylabel '|error of KL| (nats)'\n");
    draw_kl_error(k);
    fprintf(k->script, "unset logscale x\nset format x '%%g'\nset xlabel 'degree'\n"
                       "set ylabel '|exact bias of KL| (nats)'\n");
    draw_bias(k);
}

/* ---- the table */

/* A study may have several figures; the names of both make up the file name. */
static const struct study_figure {
    const char *study, *part;
    int width, height;
    void (*draw)(const sketch *k);
    int (*rows)(const xb_study *study); /* number of rows of panels; `height` is that of
                                           one row; NULL: one row */
} figures[] = {
    {"laws", "", 700, 720, draw_laws, NULL},
    {"quadrature", "", 1000, 820, draw_quadrature, NULL},
    {"quantile", "", 1000, 410, draw_quantile, quantile_rows},
    {"energy", "", 1000, 440, xb_draw_energy, xb_energy_panel_rows},
    {"energy", "_densities", 1000, 620, xb_draw_energy_densities, NULL},
    {"energy", "_n_eff", 1000, 440, xb_draw_energy_n_eff, xb_energy_panel_rows},
    {"scalar", "", 1200, 760, xb_draw_scalar, NULL},
    {"scalar", "_gaps", 1000, 420, xb_draw_scalar_gaps, NULL},
    {"utkface", "", 1000, 820, xb_draw_utkface, NULL},
    {"narrow", "", 1200, 620, xb_draw_narrow, NULL},
    {"array", "", 1200, 760, xb_draw_array, NULL},
    {"retention", "", 1100, 760, xb_draw_retention, NULL},
};

static xb_status draw_figure(xb_ctx *ctx, const xb_study *study,
                             const struct study_figure *figure, const char *dir,
                             unsigned formats)
{
    size_t size = strlen(dir) + strlen(figure->study) + strlen(figure->part) + 2;
    char *path = xb_new(ctx, (int64_t)size, 1);
    if (!path) return XB_E_MEMORY;
    snprintf(path, size, "%s/%s%s", dir, figure->study, figure->part);
    xb_figure *f = NULL;
    int rows = figure->rows ? figure->rows(study) : 1;
    xb_status status =
        xb_figure_open(ctx, &f, path, figure->width, figure->height * rows);
    xb_free(path);
    XB_TRY(status);
    for (int i = 0; i < xb_study_table_count(study); i++)
        write_table(xb_figure_data(f), xb_study_table_at(study, i));
    sketch k = {study, xb_figure_script(f), xb_figure_data_name(f)};
    figure->draw(&k);
    fprintf(k.script, "unset multiplot\n");
    return xb_figure_draw(ctx, f, formats);
}

xb_status xb_report_plan_study(xb_ctx *ctx, const char *study, const char *dir,
                               unsigned formats, const char *label)
{
    char name[128];
    for (int i = 0; i < XB_COUNT(figures); i++) {
        if (strcmp(figures[i].study, study) != 0) continue;
        snprintf(name, sizeof name, "%s%s", figures[i].study, figures[i].part);
        XB_TRY(xb_report_plan_in(ctx, dir, name, formats, label));
    }
    return XB_OK;
}

xb_status xb_report_study(xb_ctx *ctx, const xb_study *study, const char *dir,
                          unsigned formats)
{
    const char *name = xb_study_name(study);
    bool any = false;
    XB_TRY(xb_dir_make(ctx, dir));
    for (int i = 0; i < XB_COUNT(figures); i++) {
        if (strcmp(figures[i].study, name) != 0) continue;
        XB_TRY(draw_figure(ctx, study, &figures[i], dir, formats));
        any = true;
    }
    if (any) return XB_OK;
    return xb_fail(ctx, XB_E_ARGUMENT, "the study '%s' has no figure", name);
}
