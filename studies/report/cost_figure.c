/* cost_figure.c: the figure of costs: energy of a draw by layer on the array, and of the
 * whole net on the array beside the two other designs, with parts stacked. Each
 * has two bars, with the lowest and with the highest published numbers. */
#include <math.h>

#include "crossbayes/crossbar.h"
#include "crossbayes/extend.h"
#include "report/figure.h"
#include "report/style.h"

enum { WIDTH = 1000, HEIGHT = 470, PARTS = 5, LAYERS_MOST = 12 };

typedef struct cost_view {
    const xb_cost_model *cost;
    xb_si_unit unit;
} cost_view;

static double joule(xb_band pj, bool high) { return 1e-12 * (high ? pj.high : pj.low); }

/* The largest sum of a group of bars. */
static double largest(const xb_cost_model *cost, int64_t design, int64_t layer)
{
    return joule(xb_cost_model_energy_pj(cost, design, layer, -1), true);
}

/* Writes one bar: its position and name, then the cumulative sums of its parts. */
static void write_bar(FILE *data, const cost_view *v, double at, int64_t design,
                      int64_t layer, bool high)
{
    double sum = 0;
    fprintf(data, "%.3f", at);
    for (int64_t part = 0; part < PARTS; part++) {
        const double e =
            joule(xb_cost_model_energy_pj(v->cost, design, layer, part), high);
        fprintf(data, " %.8g", sum / v->unit.factor);
        sum += e;
        fprintf(data, " %.8g", sum / v->unit.factor);
    }
    fputc('\n', data);
}

static void write_group(FILE *data, const cost_view *v, double at, int64_t design,
                        int64_t layer)
{
    const double apart = 0.19;
    write_bar(data, v, at - apart, design, layer, false);
    write_bar(data, v, at + apart, design, layer, true);
}

/* Writes two blocks: the layers of the array, then the designs. */
static void write_data(FILE *data, const cost_view *layers, const cost_view *designs,
                       int64_t shown)
{
    fprintf(data, "# layers: place, then for each part from and to (%s)\n",
            layers->unit.text);
    for (int64_t i = 0; i < shown; i++) write_group(data, layers, (double)i, 0, i);
    fprintf(data, "\n\n# designs: the same (%s)\n", designs->unit.text);
    for (int64_t i = 0; i < xb_cost_model_design_count(); i++)
        write_group(data, designs, (double)i, i, -1);
}

static void plot(FILE *script, const char *data, int block)
{
    static const char *const colours[PARTS] = {"#56b4e9", "#e69f00", "#0072b2", "#999999",
                                               "#d55e00"};
    static const char *const names[PARTS] = {"DAC", "cells", "ADC", "digital",
                                             "sampling"};
    for (int k = 0; k < PARTS; k++)
        fprintf(script,
                "%s%s index %d using 1:%d:($1-0.17):($1+0.17):%d:%d with boxxyerror fill"
                " solid 0.9 border rgb '#ffffff' linecolor rgb '%s' title '%s'",
                k == 0 ? "plot " : ", \\\n     ", k == 0 ? data : "''", block, 2 * k + 3,
                2 * k + 2, 2 * k + 3, colours[k], names[k]);
    fputc('\n', script);
}

static void layer_ticks(FILE *script, const xb_cost_model *cost, int64_t shown)
{
    fprintf(script, "set xtics (");
    for (int64_t i = 0; i < shown; i++)
        fprintf(script, "%s'layer %lld' %lld", i ? ", " : "",
                (long long)xb_cost_model_layer_at(cost, i) + 1, (long long)i);
    fprintf(script, ")\nset xrange [-0.6:%.2f]\n", (double)shown - 0.4);
}

static void write_script(FILE *script, const char *data, const cost_view *layers,
                         const cost_view *designs, int64_t shown)
{
    fprintf(script,
            "set multiplot layout 1,2 margins 0.085,0.98,0.14,0.88 spacing 0.1,0.1\n"
            "set key at screen 0.5, screen 0.985 center top vertical maxrows 1\n"
            "set yrange [0:*]\nset grid ytics\n");
    layer_ticks(script, layers->cost, shown);
    xb_style_label(script, "y", "energy of a draw on this array", "", layers->unit.text);
    xb_style_label(script, "x", "left: lowest published numbers, right: highest", "", "");
    plot(script, data, 0);
    fprintf(script,
            "unset key\nset xtics ('this array' 0, 'digital sampling' 1, 'array without"
            " noise' 2)\nset xrange [-0.6:2.6]\n");
    xb_style_label(script, "y", "energy of a draw, all layers", "", designs->unit.text);
    plot(script, data, 1);
    fprintf(script, "unset multiplot\n");
}

xb_status xb_report_costs(xb_ctx *ctx, const xb_cost_model *cost, const char *path,
                          unsigned formats)
{
    const int64_t all = xb_cost_model_layer_count(cost);
    const int64_t shown = all < LAYERS_MOST ? all : LAYERS_MOST;
    double of_layers = 0, of_designs = 0;
    if (xb_cost_model_part_count() != PARTS)
        return xb_fail(ctx, XB_E_ARGUMENT, "costs of %lld parts, expected %d",
                       (long long)xb_cost_model_part_count(), PARTS);
    for (int64_t i = 0; i < shown; i++) of_layers = fmax(of_layers, largest(cost, 0, i));
    for (int64_t i = 0; i < xb_cost_model_design_count(); i++)
        of_designs = fmax(of_designs, largest(cost, i, -1));
    const cost_view layers = {cost, xb_si_unit_for(of_layers, "J")};
    const cost_view designs = {cost, xb_si_unit_for(of_designs, "J")};
    xb_figure *f = NULL;
    XB_TRY(xb_figure_open(ctx, &f, path, WIDTH, HEIGHT));
    write_data(xb_figure_data(f), &layers, &designs, shown);
    write_script(xb_figure_script(f), xb_figure_data_name(f), &layers, &designs, shown);
    return xb_figure_draw(ctx, f, formats);
}
