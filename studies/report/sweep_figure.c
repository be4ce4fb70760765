/* sweep_figure.c: what happens to a model's scores while one number of its arrays is
 * swept: a panel for each score, the Monte Carlo error as bars, the digital model's level
 * beside it, one legend above all of them. */
#include <math.h>
#include <string.h>

#include "crossbayes/crossbar.h"
#include "report/figure.h"
#include "report/style.h"

enum {
    SCORES_MOST = 6,
    FIRST = 1,
    EACH = 3,
    TICKS_MOST = 8,
    PANEL_WIDTH = 460,
    PANEL_HEIGHT = 330,
    LEGEND_HEIGHT = 40
};

/* The axis of the number that is swept. */
typedef struct sweep_axis {
    const char *label;
    bool whole; /* ticks at whole numbers */
    bool log;
    double low, high;
    xb_si_unit unit;
} sweep_axis;

static void write_rows(FILE *data, const xb_table *t, double factor)
{
    for (int c = 0; c < xb_table_columns(t); c++)
        fprintf(data, "%s%s", c ? " " : "# ", xb_table_column_name(t, c));
    fputc('\n', data);
    for (int64_t r = 0; r < xb_table_rows(t); r++) {
        for (int c = 0; c < xb_table_columns(t); c++) {
            double value = xb_table_get(t, r, c) / (c == 0 ? factor : 1);
            if (isfinite(value))
                fprintf(data, "%.17g ", value);
            else
                fprintf(data, "NaN ");
        }
        fputc('\n', data);
    }
}

/* What the key of a swept number is called, and in what it is counted. Numbers over one
 * and a half decades or more, all above 0, are seen on a log axis. */
static sweep_axis find_axis(const xb_table *t)
{
    sweep_axis a = {.label = xb_table_column_name(t, 0), .low = INFINITY};
    const char *unit = "";
    xb_array_field field;
    if (xb_array_field_find(a.label, &field))
        a.label = field.label, a.whole = field.whole, unit = field.unit;
    for (int64_t r = 0; r < xb_table_rows(t); r++) {
        a.low = fmin(a.low, xb_table_get(t, r, 0));
        a.high = fmax(a.high, xb_table_get(t, r, 0));
    }
    const double wide = 30;
    a.log = a.low > 0 && a.high / a.low >= wide;
    double typical = a.log ? sqrt(a.low * a.high) : a.high;
    a.unit = *unit ? xb_si_unit_for(typical, unit) : (xb_si_unit){.factor = 1};
    return a;
}

/* Scores by the names people know; another column keeps its own. */
static const char *score_label(const char *key)
{
    static const char *const labels[][2] = {
        {"rmse", "RMSE (target's unit)"},
        {"nll", "NLL (nats per row)"},
        {"coverage95", "coverage of 95 % intervals"},
        {"epistemic", "epistemic sd (target's unit)"},
        {"accuracy", "accuracy"},
        {"ece", "expected calibration error"},
        {"information", "mutual information (nats)"},
    };
    for (int i = 0; i < XB_COUNT(labels); i++)
        if (strcmp(labels[i][0], key) == 0) return labels[i][1];
    return key;
}

/* A few whole numbers over decades are their own ticks. */
static void write_ticks(FILE *script, const xb_table *t, const sweep_axis *a)
{
    if (a->log) fprintf(script, "set logscale x\n");
    if (!a->whole) return;
    if (!a->log) {
        fprintf(script, "set xtics %g\nset mxtics 1\n",
                xb_style_whole_step(a->low, a->high));
        return;
    }
    if (xb_table_rows(t) > TICKS_MOST) return;
    fprintf(script, "set xtics (");
    for (int64_t r = 0; r < xb_table_rows(t); r++)
        fprintf(script, "%s%.0f", r ? "," : "", xb_table_get(t, r, 0));
    fprintf(script, ")\n");
}

/* Panels of the same size, a legend above, and room between the data and the frame. */
static void write_layout(FILE *script, int across, int down)
{
    double high = down * PANEL_HEIGHT + LEGEND_HEIGHT, wide = across * PANEL_WIDTH;
    fprintf(script,
            "set multiplot layout %d,%d margins screen %.4f,%.4f,%.4f,%.4f spacing screen"
            " %.4f,%.4f\n"
            "set key at screen 0.5, screen %.4f center top vertical maxrows 1\n"
            "set autoscale fix\n"
            "set offsets graph 0.05, graph 0.05, graph 0.08, graph 0.08\n",
            down, across, 85 / wide, 1 - 20 / wide, 60 / high,
            1 - (LEGEND_HEIGHT + 8) / high, 90 / wide, 70 / high, 1 - 6 / high);
}

static void draw_panel(FILE *script, const char *data, const xb_table *t, int column,
                       bool titled)
{
    int from = column + 1; /* gnuplot counts from 1 */
    xb_style_label(script, "y", score_label(xb_table_column_name(t, column)), "", "");
    fprintf(script,
            "plot %s using 1:%d with lines dashtype (12,6) linewidth 1.6 linecolor '%s'"
            " title '%s', \\\n     '' using 1:%d:%d with yerrorlines pointtype 7"
            " pointsize 0.5 linewidth 1.8 linecolor '%s' title '%s'\n",
            data, from + 2, xb_style_colour("gaussian"), titled ? "digital model" : "",
            from, from + 1, xb_style_colour("device"),
            titled ? "array, ± one Monte Carlo error" : "");
}

xb_status xb_report_sweep(xb_ctx *ctx, const xb_table *table, const char *path,
                          unsigned formats)
{
    int scores = (xb_table_columns(table) - FIRST) / EACH;
    if (scores < 1 || xb_table_columns(table) != FIRST + EACH * scores)
        return xb_fail(ctx, XB_E_ARGUMENT, "a sweep of %d columns: expected 1 + 3 k",
                       xb_table_columns(table));
    if (scores > SCORES_MOST) scores = SCORES_MOST;
    int across = scores < 2 ? 1 : 2, down = (scores + across - 1) / across;
    xb_figure *f = NULL;
    XB_TRY(xb_figure_open(ctx, &f, path, across * PANEL_WIDTH,
                          down * PANEL_HEIGHT + LEGEND_HEIGHT));
    FILE *script = xb_figure_script(f);
    const sweep_axis axis = find_axis(table);
    write_rows(xb_figure_data(f), table, axis.unit.factor);
    write_layout(script, across, down);
    write_ticks(script, table, &axis);
    xb_style_label(script, "x", axis.label, "", axis.unit.text);
    for (int k = 0; k < scores; k++)
        draw_panel(script, xb_figure_data_name(f), table, FIRST + EACH * k, k == 0);
    fprintf(script, "unset multiplot\n");
    return xb_figure_draw(ctx, f, formats);
}
