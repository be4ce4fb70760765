/* array_figure.c: the figure of the study "array": how far each imperfection moves the
 * predictive, beside how far the shape of the law does. */
#include <string.h>

#include "base/memory.h"
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
} array_lines[] = {{"scalar", "scalar task", "#000000"}, {"table", "table", "#56B4E9"}};

/* How far swapping the law moves a task's predictive, as a level. */
static void shape_level(const xb_sketch *k, const char *law, const char *task,
                        const char *title, const char *dash)
{
    char name[64];
    snprintf(name, sizeof name, "shape_%s_%s", law, task);
    fprintf(k->script,
            "%.6g with lines dashtype %s linewidth 1.6 linecolor '%s' title '%s'",
            xb_sketch_fact(k, name), dash, xb_style_colour(law), title);
    xb_sketch_next(k);
}

static void draw_array_panel(const xb_sketch *k, const array_panel *p, bool titled)
{
    static const char *const dashes[] = {"(14,6)", "(3,5)"};
    bool few = strcmp(p->table, "correlation") == 0;
    fprintf(k->script, "set xlabel '%s%s'\nplot ", p->label, few ? ", 100 reads" : "");
    for (int t = 0; t < XB_COUNT(array_lines); t++) {
        shape_level(k, "device", array_lines[t].task,
                    titled && t == 0 ? "shape: device" : "", dashes[t]);
        shape_level(k, "bimodal", array_lines[t].task,
                    titled && t == 0 ? "shape: bimodal" : "", dashes[t]);
    }
    fprintf(k->script, "0.1 with lines linewidth 6 linecolor '#e0e0d8' title '%s'",
            titled ? "0.1 sd" : "");
    for (int t = 0; t < XB_COUNT(array_lines); t++) {
        char moved[32], noise[32];
        snprintf(moved, sizeof moved, "moved_%s", array_lines[t].task);
        snprintf(noise, sizeof noise, "noise_%s", array_lines[t].task);
        int m = xb_sketch_column(k, p->table, moved),
            n = xb_sketch_column(k, p->table, noise);
        xb_sketch_next(k);
        if (few)
            fprintf(k->script,
                    "%s index '%s' using 1:%d with lines dashtype 3"
                    " linecolor '%s' notitle, ",
                    k->data, p->table, n, array_lines[t].colour);
        fprintf(k->script,
                "%s index '%s' using 1:(column(%d) < 1e-3 ? 1e-3 : column(%d))"
                " with linespoints pointtype 7 pointsize 0.5"
                " linewidth 2 linecolor '%s' title '%s'",
                k->data, p->table, m, m, array_lines[t].colour,
                titled ? array_lines[t].title : "");
    }
    xb_sketch_end(k);
}

/* Where a curve is below the level of the shapes, nothing is left to gain. What is below
 * the axis is drawn on it. */
void xb_draw_array(const xb_sketch *k)
{
    fprintf(
        k->script,
        "set multiplot layout 2,3 margins 0.07,0.985,0.09,0.915 spacing 0.06,0.13\n"
        "set key at screen 0.5, screen 0.998 center top horizontal maxcols 5 width -2\n"
        "set logscale y\nset yrange [1e-3:3]\nset format y "
        "'10^{%%L}'\n"
        "set autoscale xfix\n");
    for (int i = 0; i < XB_COUNT(array_panels); i++) {
        bool bits = strcmp(array_panels[i].table, "adc_bits") == 0;
        fprintf(k->script, "%s\n%sset logscale x\n",
                i % 3 == 0 ? "set ylabel 'predictive moved (sds)'" : "unset ylabel",
                bits ? "un" : "");
        draw_array_panel(k, &array_panels[i], i == LEGEND);
    }
}
