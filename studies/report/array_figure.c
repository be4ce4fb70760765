/* array_figure.c: the figure of the study "array": a panel for each imperfection, how far
 * it moves the predictives of both tasks, and how far the law's shape does as level
 * lines. */
#include <string.h>

#include "base/ctx.h"
#include "report/sketch.h"
#include "report/style.h"

typedef struct array_panel {
    const char *table, *label;
} array_panel;

static const array_panel array_panels[] = {
    {"adc_bits", "bits of the ADC"},
    {"mean_levels", "states of a mean device"},
    {"program_error", "programming error / range"},
    {"sigma_levels", "widths of a noise device"},
    {"sigma_min_us", "smallest / largest width"},
    {"correlation", "correlation time / read interval"},
};

enum { LEGEND = 1 }; /* the panel that carries it, above all of them */

static const struct array_line {
    const char *task, *title, *colour;
} array_lines[] = {{"scalar", "sine (dashed)", "#000000"},
                   {"table", "table (dotted)", "#56B4E9"}};

/* How far swapping the law moves a task's predictive, as a level. */
static void shape_level(const xb_sketch *k, int law, int task, const char *title)
{
    static const char *const laws[] = {"device", "bimodal"};
    static const char *const dashes[] = {"(14,6)", "(3,5)"};
    const xb_table *t = xb_study_table(k->study, "shape");
    int64_t row = (int64_t)task * XB_COUNT(laws) + law;
    fprintf(k->script,
            "%.6g with lines dashtype %s linewidth 1.6 linecolor '%s' title '%s%s'",
            xb_table_get(t, row, xb_table_find(t, "moved")), dashes[task],
            xb_style_colour(laws[law]), title, *title ? laws[law] : "");
    xb_sketch_next(k);
}

/* One task's curve with two Monte Carlo errors; what is below the axis is drawn on it. A
 * predictive of few reads has its chance level instead. */
static void curve_of(const xb_sketch *k, const char *table, int task, bool few,
                     bool titled)
{
    char moved[32], noise[32];
    snprintf(moved, sizeof moved, "moved_%s", array_lines[task].task);
    snprintf(noise, sizeof noise, "noise_%s", array_lines[task].task);
    int m = xb_sketch_column(k, table, moved), n = xb_sketch_column(k, table, noise);
    xb_sketch_next(k);
    fprintf(k->script, "%s index '%s' using 1:(above(column(%d)))", k->data, table, m);
    if (!few)
        fprintf(k->script,
                ":(above(column(%d)-2*column(%d))):(above(column(%d)+2*column(%d)))", m,
                n, m, n);
    fprintf(k->script,
            " with %s pointtype 7 pointsize 0.5 linewidth 1.8 linecolor '%s' title '%s'",
            few ? "linespoints" : "yerrorlines", array_lines[task].colour,
            titled ? array_lines[task].title : "");
}

/* What so few reads move by chance. */
static void chance_of(const xb_sketch *k, const char *table, int task)
{
    char noise[32];
    snprintf(noise, sizeof noise, "noise_%s", array_lines[task].task);
    xb_sketch_next(k);
    fprintf(k->script,
            "%s index '%s' using 1:%d with lines dashtype 3 linecolor '%s' notitle",
            k->data, table, xb_sketch_column(k, table, noise), array_lines[task].colour);
}

static void draw_panel(const xb_sketch *k, const array_panel *p, bool titled)
{
    bool few = strcmp(p->table, "correlation") == 0;
    fprintf(k->script, "set xlabel '%s%s'\nplot ", p->label, few ? ", 100 reads" : "");
    for (int t = 0; t < XB_COUNT(array_lines); t++)
        for (int law = 0; law < 2; law++)
            shape_level(k, law, t, titled && t == 0 ? "shape: " : "");
    fprintf(k->script, "0.1 with lines linewidth 5 linecolor '#e0e0d8' title '%s'",
            titled ? "0.1 sd" : "");
    for (int t = 0; t < XB_COUNT(array_lines); t++) {
        if (few) chance_of(k, p->table, t);
        curve_of(k, p->table, t, few, titled);
    }
    xb_sketch_end(k);
}

/* Where a curve is below the level of the shapes, nothing is left to gain. */
void xb_draw_array(const xb_sketch *k)
{
    fprintf(k->script,
            "set multiplot layout 2,3 margins 0.07,0.985,0.09,0.915 spacing 0.06,0.13\n"
            "set key at screen 0.5, screen 0.998 center top vertical maxrows 2\n"
            "above(x) = x > 1e-3 ? x : 1e-3\n"
            "set logscale y\nset yrange [1e-3:3]\nset format y "
            "'10^{%%L}'\n"
            "set autoscale xfix\n");
    for (int i = 0; i < XB_COUNT(array_panels); i++) {
        bool bits = strcmp(array_panels[i].table, "adc_bits") == 0;
        fprintf(k->script, "%s\n%sset logscale x\n",
                i % 3 == 0 ? "set ylabel 'predictive moved (sds)'" : "unset ylabel",
                bits ? "un" : "");
        draw_panel(k, &array_panels[i], i == LEGEND);
    }
}
