/* scalar_figures.c: figures of the study "scalar": the predictives under three laws, the
 * paper's Fig. 5, and how far device and bimodal law move them from the Gaussian's. */
#include "crossbayes/extend.h"
#include "report/sketch.h"
#include "report/style.h"

/* ---- predictives: Fig. 5 */

typedef struct law_panel {
    const char *law, *title;
} law_panel;

static const law_panel scalar_panels[] = {
    {"gaussian", "Gaussian"}, {"device", "device"}, {"bimodal", "bimodal"}};

/* Draws mean +- 2 sd, both columns of `bands`, minus the script's base(x). */
static void band(const xb_sketch *k, const char *mean, const char *sd, const char *colour,
                 const char *title)
{
    int m = xb_sketch_column(k, "bands", mean), s = xb_sketch_column(k, "bands", sd);
    fprintf(k->script,
            "%s index 'bands' using 1:(column(%d)-base($1)-2*column(%d)):"
            "(column(%d)-base($1)+2*column(%d)) with filledcurves fillcolor '%s'"
            " fillstyle transparent solid 0.4 noborder title '%s'",
            k->data, m, s, m, s, colour, title);
    xb_sketch_next(k);
}

static void above_base(const xb_sketch *k, const char *table, const char *y,
                       const char *style, const char *colour, const char *title)
{
    fprintf(k->script,
            "%s index '%s' using 1:(column(%d)-base($1)) with %s linecolor '%s'"
            " title '%s'",
            k->data, table, xb_sketch_column(k, table, y), style, colour, title);
}

static void draw_scalar_law(const xb_sketch *k, const char *law)
{
    char mean[32], epistemic[32];
    snprintf(mean, sizeof mean, "mean_%s", law);
    snprintf(epistemic, sizeof epistemic, "epistemic_%s", law);
    fprintf(k->script, "plot ");
    band(k, mean, "aleatoric", "#F0E442", "±2σ_a");
    above_base(k, "data", "y", "points pointtype 7 pointsize 0.25", "#777777", "data");
    xb_sketch_next(k);
    band(k, mean, epistemic, xb_style_colour(law), "±2σ_e");
    above_base(k, "bands", "truth", "lines linewidth 1.4 dashtype (6,5)", "black",
               "truth");
    xb_sketch_next(k);
    above_base(k, "bands", mean, "lines linewidth 1.8", xb_style_colour(law), "mean");
    xb_sketch_end(k);
}

static void draw_scalar_row(const xb_sketch *k, bool titled)
{
    for (int i = 0; i < XB_COUNT(scalar_panels); i++) {
        const char *title = titled ? scalar_panels[i].title : "";
        fprintf(k->script, "set title '%s' offset 0,-0.4\n", title);
        draw_scalar_law(k, scalar_panels[i].law);
        fprintf(k->script, "unset ylabel\n");
    }
}

/* The upper panels show the predictives, the lower ones the same minus the truth, because
 * sigma_e is too small to see otherwise. */
void xb_draw_scalar(const xb_sketch *k)
{
    fprintf(k->script,
            "set multiplot layout 2,3 margins 0.065,0.985,0.08,0.88 spacing 0.05,0.07\n"
            "set key at graph 0.5, graph 1.12 center bottom horizontal maxrows 2\n"
            "set xrange [-1.5:1.5]\nset xtics 0.5\n"
            "set object 1 rectangle from -1, graph 0 to 1, graph 1 behind"
            " fillcolor '#efefe8' fillstyle solid noborder\n"
            "set yrange [-2.2:2.2]\nset ylabel 'y'\nbase(x) = 0\n");
    draw_scalar_row(k, true);
    fprintf(
        k->script,
        "unset key\nset yrange [-0.3:0.3]\nset ylabel 'y - truth'\n"
        "set xlabel 'x (shaded: range of the training data)'\nbase(x) = sin(2*pi*x)\n");
    draw_scalar_row(k, false);
}

/* ---- what the law's shape changes */

static int gap_column(const xb_sketch *k, const char *kind, const char *law)
{
    char column[32];
    snprintf(column, sizeof column, "%s_%s", kind, law);
    return xb_sketch_column(k, "gaps", column);
}

/* Draws a band of two Monte Carlo errors around a law's difference, below the lines of
 * all laws. */
static void gap_band(const xb_sketch *k, const char *kind, const char *law)
{
    int c = gap_column(k, kind, law);
    xb_sketch_next(k);
    fprintf(k->script,
            "%s index 'gaps' using 2:(seed0($1) ? column(%d)-2*column(%d) : NaN):"
            "(column(%d)+2*column(%d)) with filledcurves fillcolor '%s' fillstyle"
            " transparent solid 0.25 noborder notitle",
            k->data, c, c + 1, c, c + 1, xb_style_colour(law));
}

static void gap_line(const xb_sketch *k, const char *kind, const char *law,
                     const char *style, bool titled)
{
    xb_sketch_next(k);
    fprintf(k->script,
            "%s index 'gaps' using 2:(seed0($1) ? column(%d) : NaN) with lines linewidth"
            " 1.8 %s linecolor '%s' title '%s'",
            k->data, gap_column(k, kind, law), style, xb_style_colour(law),
            titled ? law : "");
}

/* Draws the differences of the first seed; the grey band is what counts as the same. */
static void draw_gap(const xb_sketch *k, const char *kind, bool titled)
{
    fprintf(k->script,
            "plot %s index 'gaps' using 2:(seed0($1) ? -0.01 : NaN):(0.01) with"
            " filledcurves fillcolor '#e4e4e4' fillstyle solid noborder title '%s',"
            " 0 with lines linecolor '#444444' linewidth 1 notitle,"
            " 0.0125 with lines linewidth 0 linecolor '#ffffff' notitle,"
            " -0.0125 with lines linewidth 0 linecolor '#ffffff' notitle",
            k->data, titled ? "counts as the same" : "");
    gap_band(k, kind, "device");
    gap_band(k, kind, "bimodal");
    gap_line(k, kind, "device", "", titled);
    gap_line(k, kind, "bimodal", "dashtype (12,6)", titled);
    xb_sketch_end(k);
}

void xb_draw_scalar_gaps(const xb_sketch *k)
{
    const xb_table *t = xb_study_table(k->study, "gaps");
    double first = xb_table_row_count(t) > 0 ? xb_table_get(t, 0, 0) : 0;
    fprintf(k->script,
            "set multiplot layout 1,2 margins 0.1,0.985,0.14,0.9 spacing 0.11\n"
            "set key at screen 0.535, screen 0.985 center top vertical maxrows 1\n"
            "seed0(s) = s == %.17g\nset xrange [-1.5:1.5]\nset xtics 0.5\n"
            "set xlabel 'x (training data from -1 to 1)'\n"
            "set ylabel 'change of the mean (σ_e)'\n",
            first);
    draw_gap(k, "mean", true);
    fprintf(k->script, "set ylabel 'change of the sd (σ_e)'\n");
    draw_gap(k, "sd", false);
}
