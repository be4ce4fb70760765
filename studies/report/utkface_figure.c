/* utkface_figure.c: calibration curves of the study of faces, the paper's Fig. 6: one
 * column for each training law, with one curve for each law of the evaluation. */
#include <math.h>

#include "crossbayes/extend.h"
#include "report/sketch.h"
#include "report/style.h"

/* Dash styles keep curves that lie on top of each other visible. */
static const struct asked_law {
    const char *law, *title, *style;
} laws[] = {{"gaussian", "Gaussian", "linewidth 1.6"},
            {"device", "device", "linewidth 2.4 dashtype (12,6)"},
            {"bimodal", "bimodal", "linewidth 2.4 dashtype (4,8)"}};

typedef struct trained_panel {
    const char *prefix, *title;
    int row; /* its first row in the table of scores */
} trained_panel;

static const trained_panel trained_panels[] = {
    {"", "trained with the Gaussian law", 0},
    {"dev_", "trained with the device law", XB_COUNT(laws)}};

/* The band around the diagonal in which a calibrated predictive lies for a sample of this
 * size. */
static void sampling_band(const xb_sketch *k, const char *title)
{
    fprintf(k->script,
            "plot %s index 'calibration' using 1:(base($1)-$2):(base($1)+$2) with"
            " filledcurves fillcolor '#dddddd' fillstyle solid noborder title '%s',"
            " \\\n     base(x) with lines linewidth 1.2 linecolor 'black' title '%s'",
            k->data, title, *title ? "diagonal" : "");
}

/* Draws a law's curve minus the script's `less`, with a band of two Monte Carlo
 * errors. */
static void calibration_curve(const xb_sketch *k, const trained_panel *panel, int law,
                              bool titled)
{
    const xb_table *scores = xb_study_table(k->study, "scores");
    char column[32], title[64] = "";
    snprintf(column, sizeof column, "%s%s", panel->prefix, laws[law].law);
    int c = xb_sketch_column(k, "calibration", column);
    int area = xb_table_column_find(scores, "miscalibration_area");
    const char *colour = xb_style_colour(laws[law].law);
    if (titled)
        snprintf(title, sizeof title, "%s, area %.4f ± %.4f", laws[law].title,
                 xb_table_get(scores, panel->row + law, area),
                 xb_table_get(scores, panel->row + law, area + 2));
    xb_sketch_next(k);
    fprintf(k->script,
            "%s index 'calibration' using 1:(column(%d)-less($1)-2*column(%d)):"
            "(column(%d)-less($1)+2*column(%d)) with filledcurves fillcolor '%s'"
            " fillstyle transparent solid 0.25 noborder notitle",
            k->data, c, c + 1, c, c + 1, colour);
    xb_sketch_next(k);
    fprintf(k->script,
            "%s index 'calibration' using 1:(column(%d)-less($1)) with lines %s linecolor"
            " '%s' title '%s'",
            k->data, c, laws[law].style, colour, title);
}

static void draw_calibration(const xb_sketch *k, bool titled)
{
    for (int i = 0; i < XB_COUNT(trained_panels); i++) {
        const trained_panel *panel = &trained_panels[i];
        fprintf(k->script, "set title '%s' offset 0,-0.4\n", titled ? panel->title : "");
        sampling_band(k, titled ? "2 sd of the test sample" : "");
        for (int law = 0; law < XB_COUNT(laws); law++)
            calibration_curve(k, panel, law, titled);
        xb_sketch_end(k);
        fprintf(k->script, "unset ylabel\n");
    }
}

/* One range for all panels of differences, a little larger than any curve or the band
 * needs. */
static void same_range(const xb_sketch *k)
{
    const xb_table *t = xb_study_table(k->study, "calibration");
    double low = 0, high = 0;
    for (int64_t i = 0; i < xb_table_row_count(t); i++) {
        double level = xb_table_get(t, i, 0), band = xb_table_get(t, i, 1);
        low = fmin(low, -band);
        high = fmax(high, band);
        for (int c = 2; c + 1 < xb_table_column_count(t); c += 2) {
            double gap = xb_table_get(t, i, c) - level;
            double error = 2 * xb_table_get(t, i, c + 1);
            low = fmin(low, gap - error);
            high = fmax(high, gap + error);
        }
    }
    fprintf(k->script, "set yrange [%g:%g]\n", 1.1 * low, 1.1 * high);
}

/* The upper panels show the curves, the lower ones the same minus the diagonal, because
 * the curves are close to it. */
void xb_draw_utkface(const xb_sketch *k)
{
    fprintf(k->script,
            "set multiplot layout 2,2 margins 0.085,0.985,0.075,0.82 spacing 0.07,0.07\n"
            "set key at graph 0.5, graph 1.09 center bottom vertical maxrows 5\nset "
            "xrange [0:1]\nset yrange [0:1]\n"
            "set xtics 0.2\nset ylabel 'share of ages inside'\n"
            "base(x) = x\nless(x) = 0\n");
    draw_calibration(k, true);
    fprintf(k->script, "unset key\nset ylabel 'share - level'\n"
                       "set xlabel 'level of the central interval (bands: 2 Monte Carlo"
                       " errors)'\nbase(x) = 0\nless(x) = x\n");
    same_range(k);
    draw_calibration(k, false);
}
