/* device_page.c: see device_page.h. */
#include "device_page.h"

#include <math.h>
#include <stdlib.h>

#include "crossbar_device.h"
#include "crossbayes/studies.h"
#include "outputs.h"
#include "print.h"
#include "show.h"

#define PAGE "device"

cli_exit cli_device_plan(cli_session *s)
{
    static const char *const files[] = {"relaxation.csv", "traces.csv"};
    return cli_plan_page(s, "report", PAGE, files, CLI_COUNT_OF(files));
}

int64_t cli_device_extreme(const xb_device *d, int sign)
{
    const int64_t last = xb_device_time_count(d) - 1;
    int64_t best = 0;
    double best_value = -INFINITY;
    for (int64_t i = 0; i < xb_device_state_count(d); i++) {
        const xb_device_move m = xb_device_move_at(d, i, last);
        const double value = sign * m.spread - 2 * m.spread_error;
        if (value > best_value) best = i, best_value = value;
    }
    return best;
}

/* ---- tables: conductances in the device's unit, multiplied by `factor` */

static xb_status relaxation_table(xb_ctx *ctx, xb_table **out, const xb_device *d,
                                  double factor)
{
    static const char *const names[] = {
        "state", "conductance", "program_error", "time_s",       "cells",
        "shift", "shift_error", "spread",        "spread_error", "skewness"};
    const int64_t times = xb_device_time_count(d), states = xb_device_state_count(d);
    xb_table *t = NULL;
    xb_status status = xb_table_create(ctx, &t, "relaxation", states * times,
                                       CLI_COUNT_OF(names), names);
    if (status != XB_OK) return status;
    for (int64_t row = 0; row < states * times; row++) {
        const xb_device_state s = xb_device_state_at(d, row / times);
        const xb_device_move m = xb_device_move_at(d, row / times, row % times);
        const double cell[] = {s.label,
                               factor * s.conductance,
                               factor * s.error,
                               xb_device_time_at(d, row % times),
                               (double)m.cells,
                               factor * m.shift,
                               factor * m.shift_error,
                               factor * m.spread,
                               factor * m.spread_error,
                               m.skewness};
        for (int c = 0; c < CLI_COUNT_OF(cell); c++) xb_table_set(t, row, c, cell[c]);
    }
    *out = t;
    return XB_OK;
}

static xb_status traces_table(xb_ctx *ctx, xb_table **out, const xb_device *d,
                              double factor)
{
    static const char *const names[] = {"state", "conductance", "width", "width_error",
                                        "independent"};
    const int64_t n = xb_device_trace_count(d);
    xb_table *t = NULL;
    xb_status status = xb_table_create(ctx, &t, "traces", n, CLI_COUNT_OF(names), names);
    if (status != XB_OK) return status;
    for (int64_t i = 0; i < n; i++) {
        const xb_device_trace r = xb_device_trace_at(d, i);
        const double cell[] = {r.label, factor * r.conductance, factor * r.width,
                               factor * r.width_error, r.independent};
        for (int c = 0; c < CLI_COUNT_OF(cell); c++) xb_table_set(t, i, c, cell[c]);
    }
    *out = t;
    return XB_OK;
}

typedef xb_status table_fn(xb_ctx *ctx, xb_table **out, const xb_device *d,
                           double factor);

/* The unit of the page's tables, which suits the largest conductance. */
static xb_si_unit unit_of(const xb_device *d)
{
    double largest = 0;
    for (int64_t i = 0; i < xb_device_state_count(d); i++)
        largest = fmax(largest, xb_device_state_at(d, i).conductance);
    for (int64_t i = 0; i < xb_device_trace_count(d); i++)
        largest = fmax(largest, xb_device_trace_at(d, i).conductance);
    return xb_si_unit_for(largest, xb_device_unit(d));
}

static xb_status write_csv(xb_ctx *ctx, const char *dir, const xb_device *d,
                           table_fn *make)
{
    xb_table *t = NULL;
    xb_status status = make(ctx, &t, d, 1);
    if (status != XB_OK) return status;
    char *path = cli_join(dir, xb_table_name(t), ".csv");
    status = path ? xb_table_write_csv(ctx, t, path) : XB_E_MEMORY;
    free(path);
    xb_table_destroy(t);
    return status;
}

/* Writes the table as CSV to the folder, and adds it to the page, folded, with a prefix
 * to the unit. */
static xb_status add_table(xb_ctx *ctx, xb_page *page, const char *dir,
                           const xb_device *d, table_fn *make, const char *caption)
{
    xb_table *t = NULL;
    xb_status status = write_csv(ctx, dir, d, make);
    if (status == XB_OK) status = make(ctx, &t, d, 1 / unit_of(d).factor);
    if (status == XB_OK) xb_page_table(page, t, caption, true);
    xb_table_destroy(t);
    return status;
}

/* ---- the page */

/* Whether the state matters: compares the noisiest state with the quietest, at two
 * standard errors. */
static void add_finding(xb_page *page, const xb_device *d)
{
    const int64_t last = xb_device_time_count(d) - 1;
    const int64_t quiet = cli_device_extreme(d, -1), loud = cli_device_extreme(d, 1);
    const xb_device_move a = xb_device_move_at(d, quiet, last);
    const xb_device_move b = xb_device_move_at(d, loud, last);
    char when[64], where[2][64], spread[2][64], text[512];
    cli_time_text(when, sizeof when, xb_device_time_at(d, last));
    const char *unit = xb_device_unit(d);
    xb_quantity_text(where[0], sizeof where[0], xb_device_state_at(d, loud).conductance,
                     NAN, unit);
    xb_quantity_text(where[1], sizeof where[1], xb_device_state_at(d, quiet).conductance,
                     NAN, unit);
    xb_quantity_text(spread[0], sizeof spread[0], b.spread, b.spread_error, unit);
    xb_quantity_text(spread[1], sizeof spread[1], a.spread, a.spread_error, unit);
    snprintf(text, sizeof text,
             "After %s, cells programmed to %s have spread by %s, those programmed to %s"
             " by %s.",
             when, where[0], spread[0], where[1], spread[1]);
    const bool matters = b.spread - a.spread > 2 * hypot(a.spread_error, b.spread_error);
    xb_page_finding(page,
                    &(xb_finding){matters ? XB_FINDING_DIFFERS : XB_FINDING_AGREES,
                                  matters ? "state matters" : "all states alike", text});
}

/* Writes "Read noise, by state; conductances in µS". */
static const char *with_unit(char *out, size_t size, const char *words,
                             const xb_device *d)
{
    snprintf(out, size, "%s; conductances in %s", words, unit_of(d).text);
    return out;
}

static const char campaign_caption[] =
    "Measured values with one standard error, as far as they were measured: spread and "
    "mean shift over time for some states, named by their conductance; spread by state; "
    "programming error; quantiles of how far cells have moved, against those of a normal "
    "law; width of the read noise.";

static const char traces_caption[] =
    "Width (standard deviation) of the read noise in the stationary part of each trace, "
    "with one standard error, against the conductance of the state.";

static xb_status fill(xb_ctx *ctx, xb_page *page, const xb_device *d, const char *dir)
{
    xb_status status = XB_OK;
    char *svg = cli_join(dir, PAGE, ".svg");
    if (!svg) return XB_E_MEMORY;
    xb_page_section(page, "device", "The device");
    if (xb_device_state_count(d) > 1) add_finding(page, d);
    xb_page_figure(
        page,
        &(xb_page_figure_info){
            .svg = svg,
            .alt = xb_device_state_count(d) > 0
                       ? "Spread and shift of programmed cells over time and by "
                         "state, programming error, shape, and width of the read "
                         "noise, as far as they were measured."
                       : "Width of the read noise against conductance.",
            .caption = xb_device_state_count(d) > 0 ? campaign_caption : traces_caption});
    free(svg);
    char caption[128];
    xb_page_section(page, "numbers", "All numbers");
    if (xb_device_state_count(d) > 0)
        status = add_table(
            ctx, page, dir, d, relaxation_table,
            with_unit(caption, sizeof caption, "Relaxation, by state and time", d));
    if (status == XB_OK && xb_device_trace_count(d) > 0)
        status = add_table(ctx, page, dir, d, traces_table,
                           with_unit(caption, sizeof caption, "Read noise, by state", d));
    return status;
}

static xb_status write_page(xb_ctx *ctx, const xb_device *d, const char *dir,
                            const char *source)
{
    char title[300], cells[32];
    xb_page *page = NULL;
    const int64_t more = xb_device_trace_count(d) - (xb_device_state_count(d) == 0);
    const int used = snprintf(title, sizeof title, "Device measured in %.200s", source);
    if (more > 0)
        snprintf(title + used, sizeof title - (size_t)used, " and %lld %s%s",
                 (long long)more, xb_device_state_count(d) > 0 ? "" : "more ",
                 xb_plural(more, "trace", "traces"));
    snprintf(cells, sizeof cells, "%lld", (long long)xb_device_cells(d));
    xb_status status =
        xb_page_create(ctx, &page, title,
                       xb_device_state_count(d) > 0
                           ? "A number after ± is one standard error; that of a spread "
                             "comes from the fourth moment of the readings."
                           : "A number after ± is one standard error; it allows for the "
                             "correlation of the readings.");
    if (status != XB_OK) return status;
    xb_page_summary(page, "What was found");
    if (xb_device_cells(d) > 0) xb_page_provenance(page, "cells", cells);
    char *path = cli_join(dir, PAGE, ".html");
    status = path ? fill(ctx, page, d, dir) : XB_E_MEMORY;
    if (status == XB_OK) status = xb_page_write(ctx, page, path);
    xb_page_destroy(page);
    free(path);
    return status;
}

static xb_status write_all(cli_session *s, const xb_device *d, const char *dir,
                           const char *source)
{
    char *figure = cli_join(dir, PAGE, "");
    xb_status status =
        figure ? xb_report_device(s->ctx, d, figure, cli_page_formats(s)) : XB_E_MEMORY;
    free(figure);
    return status == XB_OK ? write_page(s->ctx, d, dir, source) : status;
}

cli_exit cli_device_report(cli_session *s, const xb_device *device, const char *source)
{
    const char *dir = cli_text(&s->args, "report", NULL);
    xb_stage *stage = NULL;
    if (!dir) return CLI_DONE;
    xb_status status = xb_stage_open(s->ctx, &stage, dir);
    if (status != XB_OK) return cli_status(s, status);
    status = write_all(s, device, xb_stage_dir(stage), source);
    if (status == XB_OK)
        status =
            xb_stage_publish(s->ctx, stage, (const char *const[]){PAGE ".html", NULL});
    else
        xb_stage_discard(s->ctx, stage);
    return cli_status(s, status);
}
