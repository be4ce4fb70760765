/* design_figure.c: the figure of a search for a design: the loss of quality of each
 * design against the energy and the time of a prediction, with the front, the limit and
 * the choice. Designs far above the limit are outside the frame. */
#include <math.h>
#include <string.h>

#include "crossbayes/design.h"
#include "crossbayes/extend.h"
#include "report/figure.h"
#include "report/style.h"

/* Losses above FRAMED times the limit may be outside the frame. */
enum { WIDTH = 1000, HEIGHT = 470, FRAMED = 5 };

typedef struct design_view {
    const xb_design *d;
    xb_si_unit energy, time;
    double limit; /* the limit as a loss */
    double low, high;
} design_view;

static double middle_j(const xb_design_point *p)
{
    return 1e-12 * sqrt(p->energy_pj.low * p->energy_pj.high);
}

/* Finds the frame: the fronts and the limit are inside it, unless they are far above. */
static void find_frame(design_view *v)
{
    double least = INFINITY, energy = 0, time = 0;
    for (int64_t i = 0; i < xb_design_count(v->d); i++) {
        const xb_design_point p = xb_design_at(v->d, i);
        energy = fmax(energy, middle_j(&p));
        time = fmax(time, 1e-9 * p.time_ns);
        if (!(p.energy_front || p.time_front)) continue;
        least = fmin(least, p.loss);
        v->low = fmin(v->low, p.loss - p.error);
        v->high = fmax(v->high, p.loss + p.error);
    }
    const double most = FRAMED * fmax(v->limit, fmax(fabs(least), 1e-3));
    v->low = fmin(v->low, fmin(v->limit, 0));
    v->high = fmax(fmin(v->high, most), v->limit);
    const double room = 0.06 * fmax(v->high - v->low, 1e-6);
    v->low -= room, v->high += room;
    v->energy = xb_si_unit_for(energy, "J");
    v->time = xb_si_unit_for(time, "s");
}

/* Blocks: designs dropped early, finalists, the front of energy, that of time, the
 * choice. */
typedef bool pick_fn(const xb_design *d, int64_t i, const xb_design_point *p);

static bool given_up(const xb_design *d, int64_t i, const xb_design_point *p)
{
    (void)d, (void)i;
    return !p->finalist && p->chips > 0;
}
static bool finalist(const xb_design *d, int64_t i, const xb_design_point *p)
{
    (void)d, (void)i;
    return p->finalist;
}
static bool on_energy(const xb_design *d, int64_t i, const xb_design_point *p)
{
    (void)d, (void)i;
    return p->energy_front;
}
static bool on_time(const xb_design *d, int64_t i, const xb_design_point *p)
{
    (void)d, (void)i;
    return p->time_front;
}
static bool chosen(const xb_design *d, int64_t i, const xb_design_point *p)
{
    (void)p;
    return i == xb_design_chosen(d);
}

static void write_block(FILE *data, const design_view *v, const char *name, pick_fn *pick)
{
    bool any = false;
    fprintf(data, "# %s: energy, its low and high end (%s), time (%s), loss, error\n",
            name, v->energy.text, v->time.text);
    for (int64_t i = 0; i < xb_design_count(v->d); i++) {
        const xb_design_point p = xb_design_at(v->d, i);
        if (!pick(v->d, i, &p)) continue;
        any = true;
        fprintf(data, "%.8g %.8g %.8g %.8g %.8g %.8g\n", middle_j(&p) / v->energy.factor,
                1e-12 * p.energy_pj.low / v->energy.factor,
                1e-12 * p.energy_pj.high / v->energy.factor,
                1e-9 * p.time_ns / v->time.factor, p.loss, isnan(p.error) ? 0 : p.error);
    }
    if (!any) fprintf(data, "NaN NaN NaN NaN NaN NaN\n");
    fprintf(data, "\n\n");
}

/* A panel over column x; the front is block `front`. */
static void panel(FILE *script, const char *data, int x, int front, bool bands)
{
    fprintf(script,
            "plot %s index 0 using %d:5 with points pointtype 7 pointsize 0.3 linecolor"
            " '#c8c8c0' title 'dropped early', \\\n"
            "     '' index 1 using %d:5 with points pointtype 7 pointsize 0.45 linecolor"
            " '#7a9cc0' title 'read on all chips', \\\n"
            "     limit(x) with lines dashtype (8,5) linewidth 1.6 linecolor '%s' title"
            " 'limit', \\\n",
            data, x, x, xb_style_colour("bimodal"));
    if (bands)
        fprintf(script,
                "     '' index %d using 1:5:2:3 with xerrorbars pointtype 0 linewidth 1"
                " linecolor '#b0b0a8' notitle, \\\n",
                front);
    fprintf(
        script,
        "     '' index %d using %d:5:6 smooth unique with lines linewidth 1.6"
        " linecolor '%s' notitle, \\\n"
        "     '' index %d using %d:5:6 with yerrorbars pointtype 7 pointsize 0.6"
        " linewidth 1.6 linecolor '%s' title 'front', \\\n"
        "     '' index 4 using %d:5 with points pointtype 6 pointsize 2.2 linewidth 2.2"
        " linecolor '%s' title 'chosen'\n",
        front, x, xb_style_colour("device"), front, x, xb_style_colour("device"), x,
        xb_style_colour("gaussian"));
}

/* The usual name of a score. */
static const char *score_word(const char *name)
{
    static const char *const words[][2] = {
        {"nll", "NLL (nats)"}, {"rmse", "RMSE"}, {"coverage95", "coverage"}};
    for (int i = 0; i < XB_COUNT(words); i++)
        if (strcmp(words[i][0], name) == 0) return words[i][1];
    return name;
}

static void write_script(FILE *script, const char *data, const design_view *v)
{
    char label[96];
    fprintf(script,
            "set multiplot layout 1,2 margins 0.085,0.98,0.14,0.88 spacing 0.09,0.1\n"
            "set key at screen 0.5, screen 0.985 center top vertical maxrows 1\n"
            "set logscale x\nset format x '%%g'\nset yrange [%.10g:%.10g]\n"
            "limit(x) = %.10g\n",
            v->low, v->high, v->limit);
    snprintf(label, sizeof label, "loss of %s against the digital model",
             score_word(xb_design_score_name(v->d)));
    xb_style_label(script, "y", label, "", "");
    xb_style_label(script, "x", "energy of a prediction", "", v->energy.text);
    fprintf(script, "set autoscale xfix\nset offsets graph 0.04, graph 0.04, 0, 0\n");
    panel(script, data, 1, 2, true);
    fprintf(script, "unset key\nset ylabel ''\n");
    xb_style_label(script, "x", "time of a prediction", "", v->time.text);
    panel(script, data, 4, 3, false);
    fprintf(script, "unset multiplot\n");
}

xb_status xb_report_design(xb_ctx *ctx, const xb_design *design, const char *path,
                           unsigned formats)
{
    design_view v = {.d = design, .low = INFINITY, .high = -INFINITY};
    v.limit = fabs(xb_design_limit(design) - xb_design_digital(design));
    if (xb_design_count(design) < 1)
        return xb_fail(ctx, XB_E_ARGUMENT, "no designs to draw");
    find_frame(&v);
    xb_figure *f = NULL;
    XB_TRY(xb_figure_open(ctx, &f, path, WIDTH, HEIGHT));
    FILE *data = xb_figure_data(f);
    write_block(data, &v, "dropped early", given_up);
    write_block(data, &v, "finalists", finalist);
    write_block(data, &v, "front of energy", on_energy);
    write_block(data, &v, "front of time", on_time);
    write_block(data, &v, "chosen", chosen);
    write_script(xb_figure_script(f), xb_figure_data_name(f), &v);
    return xb_figure_draw(ctx, f, formats);
}
