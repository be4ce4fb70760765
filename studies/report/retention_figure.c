/* retention_figure.c: the figure of the study "retention": growth of the NLL, coverage
 * and RMSE over the age of the array for three ways to use its states, and the states
 * themselves. Ages beyond the measured ones are shaded grey. */
#include <math.h>

#include "crossbayes/extend.h"
#include "report/sketch.h"

static const struct retention_line {
    const char *way, *title, *colour;
} lines[] = {
    {"all", "all states", "#000000"},
    {"range", "quiet states only", "#E69F00"},
    {"pairs", "quietest pairs", "#0072B2"},
};

/* Draws a curve with error bars of one standard error. */
static void curve(const xb_sketch *k, const char *score, int i, bool titled)
{
    char value[64], error[64];
    snprintf(value, sizeof value, "%s_%s", score, lines[i].way);
    snprintf(error, sizeof error, "%s_error_%s", score, lines[i].way);
    const int v = xb_sketch_column(k, "scores", value);
    const int e = xb_sketch_column(k, "scores", error);
    fprintf(
        k->script,
        "%s index 'scores' using 1:(above(column(%d))):(above(column(%d)-column(%d))):"
        "(above(column(%d)+column(%d))) with yerrorlines pointtype 7 pointsize 0.5"
        " linewidth 1.8 linecolor '%s' title '%s'",
        k->data, v, v, e, v, e, lines[i].colour, titled ? lines[i].title : "");
}

/* Draws a horizontal line: the level of the digital model or a limit. */
static void level(const xb_sketch *k, double y, const char *colour, const char *title)
{
    fprintf(k->script,
            "%.10g with lines dashtype (8,5) linewidth 1.6 linecolor '%s'"
            " title '%s'",
            y, colour, title);
    xb_sketch_next(k);
}

static void panel(const xb_sketch *k, const char *score, const char *label, double y,
                  const char *title, bool titled)
{
    fprintf(k->script, "set ylabel '%s'\nplot ", label);
    if (isfinite(y)) level(k, y, "#888880", titled ? title : "");
    for (int i = 0; i < XB_COUNT(lines); i++) {
        if (i > 0) xb_sketch_next(k);
        curve(k, score, i, titled);
    }
    xb_sketch_end(k);
}

static void states_panel(const xb_sketch *k)
{
    fprintf(
        k->script,
        "unset object 1\nunset logscale x\nset format x '%%g'\nset xrange [*:*]\n"
        "set xtics autofreq\nset xlabel 'programmed conductance (µS)'\n"
        "set ylabel 'spread after %g s (µS)'\nset logscale y\nset format y '%%g'\n"
        "set key at graph 0.98, graph 0.98 right top vertical maxrows 3\n"
        "plot %s index 'states' using 1:2 with linespoints pointtype 7 pointsize 0.4"
        " linewidth 1.6 linecolor '%s' notitle, \\\n"
        "     %s index 'states' using ($3 > 0 ? $1 : NaN):2 with linespoints"
        " pointtype 7 pointsize 0.6 linewidth 2 linecolor '%s' title 'quiet states'\n",
        xb_sketch_fact(k, "measured_s"), k->data, lines[0].colour, k->data,
        lines[1].colour);
}

void xb_draw_retention(const xb_sketch *k)
{
    fprintf(k->script,
            "set multiplot layout 2,2 margins 0.085,0.975,0.085,0.87 spacing 0.1,0.14\n"
            "set key at screen 0.5, screen 0.995 center top horizontal maxrows 1\n"
            "set logscale x\nset format x '10^{%%L}'\n"
            "set xrange [0.5e-2:2e6]\nset xtics 1e-2, 100\nset mxtics 1\n"
            "above(x) = x > 1e-2 ? x : 1e-2\n"
            "set logscale y\nset format y '%%g'\nset yrange [1e-2:*]\n"
            "set object 1 rectangle from first %.10g, graph 0 to graph 1, graph 1 behind"
            " fillcolor '#efefe8' fillstyle solid noborder\n"
            "set xlabel 'age of the array (s)'\n",
            xb_sketch_fact(k, "measured_s"));
    panel(k, "loss", "growth of the NLL (nats)", xb_sketch_fact(k, "loss"), "", false);
    fprintf(k->script, "unset logscale y\nset format y '%%g'\nset yrange [0:*]\n");
    panel(k, "rmse", "RMSE (units of the target)", xb_sketch_fact(k, "rmse_digital"),
          "digital model; limit of the loss", true);
    fprintf(k->script, "set yrange [0:1]\n");
    panel(k, "coverage95", "coverage of 95 % intervals",
          xb_sketch_fact(k, "coverage95_digital"), "", false);
    fprintf(k->script, "set yrange [*:*]\n");
    states_panel(k);
}
