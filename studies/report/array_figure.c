/* array_figure.c: the figure of the study "array": one panel for each imperfection, which
 * shows how far it moves the predictives of both tasks, with the effect of the law's
 * shape as horizontal lines. */
#include <math.h>
#include <string.h>

#include "crossbayes/extend.h"
#include "report/sketch.h"
#include "report/style.h"

typedef struct array_panel {
    const char *table, *label;
} array_panel;

static const array_panel array_panels[] = {
    {"adc_bits", "resolution of the ADC (bits)"},
    {"mean_levels", "states of a mean device"},
    {"program_error", "programming error / conductance range"},
    {"sigma_levels", "number of widths of a noise device"},
    {"sigma_min_us", "smallest / largest noise width"},
    {"correlation", "correlation time / time between reads"},
};

enum { LEGEND = 1 }; /* the panel that draws the legend for all of them */

static const struct array_line {
    const char *task, *title, *colour, *dash; /* `dash` is the style of the level lines */
} array_lines[] = {{"scalar", "sine", "#000000", "(14,6)"},
                   {"table", "table", "#56B4E9", "(3,5)"}};

/* Draws a horizontal line that shows how far swapping the law moves a task's
 * predictive. */
static void shape_level(const xb_sketch *k, int law, int task, bool titled)
{
    static const char *const laws[] = {"device", "bimodal"};
    const xb_table *t = xb_study_table(k->study, "shape");
    int64_t row = (int64_t)task * XB_COUNT(laws) + law;
    char title[64] = "";
    if (titled)
        snprintf(title, sizeof title, "%s law, %s", laws[law], array_lines[task].title);
    fprintf(k->script,
            "%.6g with lines dashtype %s linewidth 1.6 linecolor '%s' title '%s'",
            xb_table_get(t, row, xb_table_column_find(t, "moved")),
            array_lines[task].dash, xb_style_colour(laws[law]), title);
    xb_sketch_next(k);
}

/* Draws one task's curve with two Monte Carlo errors, or with the quantiles 5 % and 95 %
 * over chips if those are further apart; values below the axis are drawn on it. A
 * predictive of few reads has its chance level instead. */
static void curve_of(const xb_sketch *k, const char *table, int task, bool few,
                     bool titled)
{
    static const char *const names[] = {"moved", "noise", "low", "high"};
    int column[XB_COUNT(names)];
    for (int i = 0; i < XB_COUNT(names); i++) {
        char name[32];
        snprintf(name, sizeof name, "%s_%s", names[i], array_lines[task].task);
        column[i] = xb_sketch_column(k, table, name);
    }
    const int m = column[0], n = column[1];
    xb_sketch_next(k);
    fprintf(k->script, "%s index '%s' using 1:(above(column(%d)))", k->data, table, m);
    if (!few)
        fprintf(k->script,
                ":(above(least(column(%d)-2*column(%d),column(%d))))"
                ":(above(most(column(%d)+2*column(%d),column(%d))))",
                m, n, column[2], m, n, column[3]);
    fprintf(
        k->script,
        " with %s pointtype 7 pointsize 0.5 linewidth 1.8 linecolor '%s' title '%s%s'",
        few ? "linespoints" : "yerrorlines", array_lines[task].colour,
        titled ? "array, " : "", titled ? array_lines[task].title : "");
}

/* The movement by chance with this few reads. */
static void chance_of(const xb_sketch *k, const char *table, int task)
{
    char noise[32];
    snprintf(noise, sizeof noise, "noise_%s", array_lines[task].task);
    xb_sketch_next(k);
    fprintf(k->script,
            "%s index '%s' using 1:%d with lines dashtype (1,4) linewidth 1.6 linecolor"
            " '%s' title 'chance, %s'",
            k->data, table, xb_sketch_column(k, table, noise), array_lines[task].colour,
            array_lines[task].title);
}

static void draw_panel(const xb_sketch *k, const array_panel *p, bool titled)
{
    bool few = strcmp(p->table, "correlation") == 0;
    fprintf(k->script, "set xlabel '%s%s'\nplot ", p->label, few ? ", 100 reads" : "");
    for (int t = 0; t < XB_COUNT(array_lines); t++)
        for (int law = 0; law < 2; law++) shape_level(k, law, t, titled);
    fprintf(k->script, "0.1 with lines linewidth 5 linecolor '#e0e0d8' title '%s'",
            titled ? "threshold, 0.1 sd" : "");
    for (int t = 0; t < XB_COUNT(array_lines); t++) {
        if (few) chance_of(k, p->table, t);
        curve_of(k, p->table, t, few, titled);
    }
    xb_sketch_end(k);
}

/* The largest movement of any panel with its error, which is the top of all panels. */
static double largest_moved(const xb_sketch *k)
{
    double most = 1;
    for (int i = 0; i < XB_COUNT(array_panels); i++) {
        const xb_table *t = xb_study_table(k->study, array_panels[i].table);
        for (int64_t r = 0; t && r < xb_table_row_count(t); r++)
            for (int c = 1; c < xb_table_column_count(t); c++)
                if (strncmp(xb_table_column_name(t, c), "high_", 5) == 0)
                    most = fmax(most, xb_table_get(t, r, c));
    }
    return most;
}

/* The axis of bits is linear, the others are logarithmic. */
static void panel_axis(const xb_sketch *k, const array_panel *p)
{
    const xb_table *t = xb_study_table(k->study, p->table);
    int64_t rows = t ? xb_table_row_count(t) : 0;
    if (strcmp(p->table, "adc_bits") != 0 || rows == 0)
        fprintf(k->script, "set logscale x\nset xtics autofreq\nset format x '%%g'\n");
    else
        fprintf(k->script, "unset logscale x\nset xtics %g\n",
                xb_style_whole_step(xb_table_get(t, 0, 0), xb_table_get(t, rows - 1, 0)));
}

/* Where a curve is below the level of the shapes, nothing is left to gain. The panel of
 * few reads names its chance levels itself. */
void xb_draw_array(const xb_sketch *k)
{
    fprintf(k->script,
            "set multiplot layout 2,3 margins 0.07,0.985,0.09,0.88 spacing 0.06,0.15\n"
            "set key at screen 0.5, screen 0.995 center top vertical maxrows 2\n"
            "above(x) = x > 1e-3 ? x : 1e-3\n"
            "least(a,b) = b < a ? b : a\nmost(a,b) = b > a ? b : a\n"
            "set logscale y\nset yrange [0.7e-3:%.3g]\nset format y "
            "'10^{%%L}'\n"
            "set autoscale xfix\nset offsets graph 0.04, graph 0.04, 0, 0\n",
            2 * largest_moved(k));
    for (int i = 0; i < XB_COUNT(array_panels); i++) {
        fprintf(k->script, "set ylabel '%s'\n",
                i % 3 == 0 ? "shift of the predictive (sd)" : "");
        panel_axis(k, &array_panels[i]);
        if (i + 1 == XB_COUNT(array_panels))
            fprintf(k->script, "set key at graph 0.5, graph 1.02 center bottom\n");
        draw_panel(k, &array_panels[i], i == LEGEND);
    }
}
