/* device_figure.c: the figure of a device: how far its states spread and shift with time,
 * the programming error, the shape of the cells' movement, and the width of the read
 * noise, with one panel for each of them that was measured. All axes are in the device's
 * unit. */
#include <math.h>

#include "crossbayes/device.h"
#include "crossbayes/extend.h"
#include "report/figure.h"
#include "report/style.h"

enum {
    SHOWN_MOST = 6, /* largest number of states, or times, that have their own line */
    PANEL_WIDTH = 480,
    PANEL_HEIGHT = 380,
};

typedef struct device_view {
    const xb_device *device;
    xb_si_unit unit;
    int64_t shown[SHOWN_MOST]; /* indices of the states shown */
    int states;
    FILE *script;
    const char *data;
} device_view;

static const char *const colours[SHOWN_MOST] = {"#0072B2", "#56B4E9", "#009E73",
                                                "#E69F00", "#D55E00", "#CC79A7"};

static int64_t states_of(const device_view *v)
{
    return xb_device_state_count(v->device);
}

/* Chooses states evenly, including the first and the last. */
static void choose_states(device_view *v)
{
    const int64_t n = states_of(v);
    v->states = n < SHOWN_MOST ? (int)n : SHOWN_MOST;
    for (int i = 0; i < v->states; i++)
        v->shown[i] = v->states == 1 ? 0 : i * (n - 1) / (v->states - 1);
}

/* ---- data: a block for each state that is shown, then one for each time, then shapes,
 * then traces */

static void write_move(FILE *data, const device_view *v, double x, xb_device_move m)
{
    const double f = v->unit.factor;
    fprintf(data, "%.10g %.8g %.8g %.8g %.8g\n", x, m.spread / f, m.spread_error / f,
            m.shift / f, m.shift_error / f);
}

static void write_over_time(FILE *data, const device_view *v)
{
    for (int i = 0; i < v->states; i++) {
        fprintf(data, "# state %d: time, spread, its error, shift, its error\n", i);
        for (int64_t k = 0; k < xb_device_time_count(v->device); k++)
            write_move(data, v, xb_device_time_at(v->device, k),
                       xb_device_move_at(v->device, v->shown[i], k));
        fprintf(data, "\n\n");
    }
}

static void write_over_states(FILE *data, const device_view *v)
{
    const int64_t last = xb_device_time_count(v->device) - 1;
    fprintf(data, "# states: conductance, spread, its error, shift, its error, last time;"
                  " spread at the first time; programming error\n");
    for (int64_t i = 0; i < states_of(v); i++) {
        const xb_device_state s = xb_device_state_at(v->device, i);
        const xb_device_move m = xb_device_move_at(v->device, i, last);
        const xb_device_move first = xb_device_move_at(v->device, i, 0);
        const double f = v->unit.factor;
        fprintf(data, "%.10g %.8g %.8g %.8g %.8g %.8g %.8g %.8g\n", s.conductance / f,
                m.spread / f, m.spread_error / f, m.shift / f, m.shift_error / f,
                first.spread / f, first.spread_error / f, s.error / f);
    }
    fprintf(data, "\n\n");
}

/* Standardised quantiles at the last time against those of a normal law. */
static void write_shapes(FILE *data, const device_view *v, const xb_law *normal)
{
    const double time = xb_device_time_at(v->device, xb_device_time_count(v->device) - 1);
    for (int i = 0; i < v->states; i++) {
        const double g = xb_device_state_at(v->device, v->shown[i]).conductance;
        const xb_device_move m = xb_device_moved(v->device, g, time);
        fprintf(data, "# shape %d: normal quantile, the cells'\n", i);
        for (double u = 0.002; u < 0.999; u += 0.004) {
            const double moved = xb_device_relaxed(v->device, g, time, u) - g;
            fprintf(data, "%.6g %.6g\n", xb_law_quantile(normal, u),
                    (moved - m.shift) / m.spread);
        }
        fprintf(data, "\n\n");
    }
}

static void write_traces(FILE *data, const device_view *v)
{
    fprintf(data, "# traces: conductance, width, its error\n");
    for (int64_t i = 0; i < xb_device_trace_count(v->device); i++) {
        const xb_device_trace t = xb_device_trace_at(v->device, i);
        const double f = v->unit.factor;
        fprintf(data, "%.10g %.8g %.8g\n", t.conductance / f, t.width / f,
                t.width_error / f);
    }
    fprintf(data, "\n\n");
}

/* ---- panels */

static void state_title(const device_view *v, int i)
{
    const double g = xb_device_state_at(v->device, v->shown[i]).conductance;
    fprintf(v->script, "title '%.3g %s'", g / v->unit.factor, v->unit.text);
}

/* Draws a line for each state from column `y` of its block; `first` is the number of the
 * first block. */
static void state_lines(const device_view *v, int first, const char *using)
{
    fprintf(v->script, "plot ");
    for (int i = 0; i < v->states; i++) {
        fprintf(v->script,
                "%s%s index %d using %s pointtype 7 pointsize 0.5 linewidth 1.6"
                " linecolor '%s' ",
                i ? ", \\\n     " : "", v->data, first + i, using, colours[i]);
        state_title(v, i);
    }
    fprintf(v->script, "\n\n");
}

static void over_time_panels(const device_view *v)
{
    fprintf(v->script, "set logscale xy\nset format x '10^{%%L}'\nset format y '%%g'\n"
                       "set xlabel 'time since programming (s)'\n");
    xb_style_label(v->script, "y", "spread of the cells", "", v->unit.text);
    state_lines(v, 0, "1:2:3 with yerrorlines");
    fprintf(v->script, "unset logscale y\n");
    xb_style_label(v->script, "y", "mean shift of the cells", "", v->unit.text);
    state_lines(v, 0, "1:4:5 with yerrorlines");
    fprintf(v->script, "unset logscale x\nset format x '%%g'\n");
}

static void over_states_panels(const device_view *v)
{
    const int block = v->states;
    const double first = xb_device_time_at(v->device, 0);
    const double last = xb_device_time_at(v->device, xb_device_time_count(v->device) - 1);
    xb_style_label(v->script, "x", "programmed conductance", "", v->unit.text);
    xb_style_label(v->script, "y", "spread of the cells", "", v->unit.text);
    fprintf(v->script, "set logscale y\nplot ");
    if (last > first)
        fprintf(v->script,
                "%s index %d using 1:6:7 with yerrorlines pointtype 7 pointsize 0.4"
                " linecolor '%s' title 'after %g s', \\\n     ",
                v->data, block, colours[0], first);
    fprintf(v->script,
            "%s index %d using 1:2:3 with yerrorlines pointtype 7 pointsize 0.4"
            " linecolor '%s' title 'after %g s'\n\nunset logscale y\n",
            v->data, block, colours[4], last);
    xb_style_label(v->script, "y", "programming error (sd)", "", v->unit.text);
    fprintf(v->script,
            "set yrange [0:*]\nplot %s index %d using 1:8 with linespoints pointtype 7"
            " pointsize 0.4 linecolor '%s' notitle\n\nset yrange [*:*]\n",
            v->data, block, colours[0]);
}

static void shape_panel(const device_view *v)
{
    const double last = xb_device_time_at(v->device, xb_device_time_count(v->device) - 1);
    fprintf(v->script,
            "set xlabel 'quantile of a normal law (sd)'\n"
            "set ylabel 'quantile of the cells after %g s (sd)'\n"
            "set yrange [-6:6]\n",
            last);
    state_lines(v, v->states + 1, "1:2 with lines");
    fprintf(v->script, "set yrange [*:*]\n");
}

static void width_panel(const device_view *v)
{
    xb_style_label(v->script, "x", "conductance", "", v->unit.text);
    xb_style_label(v->script, "y", "width of the read noise (sd)", "", v->unit.text);
    fprintf(v->script,
            "set yrange [0:*]\nset offsets graph 0.05, graph 0.05, 0, 0\n"
            "plot %s index %d using 1:2:3 with yerrorlines pointtype 7 pointsize 0.6"
            " linewidth 1.6 linecolor '%s' notitle\n\n",
            v->data, v->states ? 2 * v->states + 1 : 0, colours[0]);
}

/* ---- the figure */

static int panels_of(const device_view *v)
{
    return (v->states > 0 ? 5 : 0) + (xb_device_trace_count(v->device) > 0);
}

static xb_status write_data(xb_ctx *ctx, FILE *data, const device_view *v)
{
    if (v->states > 0) {
        xb_law *normal = NULL;
        XB_TRY(xb_law_parse(ctx, &normal, "gaussian"));
        write_over_time(data, v);
        write_over_states(data, v);
        write_shapes(data, v, normal);
        xb_law_destroy(normal);
    }
    if (xb_device_trace_count(v->device) > 0) write_traces(data, v);
    return XB_OK;
}

static void write_script(const device_view *v, int columns, int rows)
{
    fprintf(v->script,
            "set multiplot layout %d,%d margins %g,0.975,%g,%g spacing %g,%g\n"
            "set key at graph 0.5, graph 1.03 center bottom vertical maxrows 2"
            " samplen 1.5\n",
            rows, columns, 0.18 / columns + 0.005, 0.17 / rows, 1 - 0.15 / rows,
            0.2 / columns, 0.32 / rows);
    if (v->states > 0) {
        over_time_panels(v);
        over_states_panels(v);
        shape_panel(v);
    }
    if (xb_device_trace_count(v->device) > 0) width_panel(v);
    fprintf(v->script, "unset multiplot\n");
}

xb_status xb_report_device(xb_ctx *ctx, const xb_device *device, const char *path,
                           unsigned formats)
{
    device_view v = {.device = device};
    const int64_t states = xb_device_state_count(device);
    const double largest =
        states > 0
            ? xb_device_state_at(device, states - 1).conductance
            : xb_device_trace_at(device, xb_device_trace_count(device) - 1).conductance;
    v.unit = xb_style_unit(largest, xb_device_unit(device));
    choose_states(&v);
    const int panels = panels_of(&v), columns = panels < 1 ? 1 : panels < 3 ? panels : 3;
    const int rows = (panels + columns - 1) / columns;
    xb_figure *f = NULL;
    XB_TRY(xb_figure_open(ctx, &f, path, columns * PANEL_WIDTH, rows * PANEL_HEIGHT));
    xb_status status = write_data(ctx, xb_figure_data(f), &v);
    if (status != XB_OK) {
        xb_figure_discard(f);
        return status;
    }
    v.script = xb_figure_script(f);
    v.data = xb_figure_data_name(f);
    write_script(&v, columns, rows);
    return xb_figure_draw(ctx, f, formats);
}
