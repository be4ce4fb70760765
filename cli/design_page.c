/* design_page.c: the files of a search for a design, see design_show.h. They appear
 * together, the page last. */
#include <math.h>
#include <stdlib.h>

#include "crossbayes/studies.h"
#include "cost_show.h"
#include "design_show.h"
#include "outputs.h"
#include "show.h"

#define PAGE "design"

cli_exit cli_design_plan(cli_session *s)
{
    static const char *const files[] = {"designs.csv", "array.json", "model.safetensors"};
    const int plain = CLI_COUNT_OF(files) - 1;
    return cli_plan_page(s, "output", PAGE, files,
                         plain + (cli_flag(&s->args, "retrain") ? 1 : 0));
}

/* ---- the table */

enum { AXES_MOST = 16, NUMBERS = 14 };

static const char *const number_names[NUMBERS] = {
    "energy_pj_low", "energy_pj_high", "time_ns", "score",     "loss",
    "loss_error",    "row_error",      "yield",   "chips",     "verdict",
    "finalist",      "energy_front",   "tie",     "time_front"};

static void fill_row(xb_table *t, const xb_design *d, int64_t i, int64_t axes)
{
    const xb_design_point p = xb_design_at(d, i);
    const double cell[NUMBERS] = {p.energy_pj.low,
                                  p.energy_pj.high,
                                  p.time_ns,
                                  p.score,
                                  p.loss,
                                  p.error,
                                  p.row_error,
                                  p.yield,
                                  (double)p.chips,
                                  (double)p.kept,
                                  (double)p.finalist,
                                  (double)p.energy_front,
                                  (double)p.tie,
                                  (double)p.time_front};
    for (int64_t k = 0; k < axes; k++) xb_table_set(t, i, k, xb_design_value(d, i, k));
    for (int k = 0; k < NUMBERS; k++) xb_table_set(t, i, axes + k, cell[k]);
}

static xb_status make_table(xb_ctx *ctx, xb_table **out, const xb_design *d)
{
    const int64_t axes = xb_design_space_axis_count(xb_design_axes(d));
    const char *names[AXES_MOST + NUMBERS];
    for (int64_t k = 0; k < axes; k++)
        names[k] = xb_design_space_axis_name(xb_design_axes(d), k);
    for (int k = 0; k < NUMBERS; k++) names[axes + k] = number_names[k];
    xb_table *t = NULL;
    xb_status status = xb_table_create(ctx, &t, "designs", xb_design_count(d),
                                       (int)axes + NUMBERS, names);
    if (status != XB_OK) return status;
    for (int64_t i = 0; i < xb_design_count(d); i++) fill_row(t, d, i, axes);
    *out = t;
    return XB_OK;
}

/* ---- the page */

/* Says why no design was chosen: none keeps the condition, or the best one may. */
static void add_failure(xb_page *page, const xb_design *d, const char *keep)
{
    const int64_t best = xb_design_best(d);
    const bool open = best >= 0 && xb_design_at(d, best).kept == XB_KEPT_UNRESOLVED;
    char why[1024], text[sizeof why + 1];
    cli_design_why(why, sizeof why, d, keep);
    snprintf(text, sizeof text, "%c%s.", why[0] - 'a' + 'A', why + 1);
    xb_page_finding(page, &(xb_finding){open ? XB_FINDING_UNCLEAR : XB_FINDING_DIFFERS,
                                        open ? "cannot tell" : "not reachable", text});
}

static void add_finding(xb_page *page, const xb_design *d, const char *keep)
{
    const int64_t i = xb_design_chosen(d);
    char text[1024], what[512], energy[64], time[64], loss[64];
    if (i < 0) {
        add_failure(page, d, keep);
        return;
    }
    const xb_design_point p = xb_design_confirmed(d);
    cli_design_text(what, sizeof what, d, i);
    cli_energy_text(energy, sizeof energy, p.energy_pj);
    cli_nanoseconds_text(time, sizeof time, p.time_ns);
    cli_format_error(loss, sizeof loss, p.loss, p.error);
    snprintf(text, sizeof text,
             "A prediction takes %s and %s with %s; its %s is %s worse than the digital "
             "model's, averaged over %lld chips.",
             energy, time, what, xb_design_score_name(d), loss, (long long)p.chips);
    xb_page_finding(page, &(xb_finding){XB_FINDING_AGREES, "reachable", text});
}

static xb_status fill(xb_ctx *ctx, xb_page *page, const xb_design *d, const char *dir,
                      const char *keep)
{
    xb_table *table = NULL;
    char *svg = cli_join(dir, PAGE, ".svg"), *csv = cli_join(dir, "designs", ".csv");
    xb_status status = svg && csv ? make_table(ctx, &table, d) : XB_E_MEMORY;
    if (status == XB_OK) status = xb_table_write_csv(ctx, table, csv);
    if (status == XB_OK) {
        xb_page_section(page, "choice", "The cheapest design");
        add_finding(page, d, keep);
        xb_page_figure(
            page,
            &(xb_page_figure_info){
                .svg = svg,
                .alt = "Loss of quality over energy and over time of a prediction, for"
                       " all designs, with the front, the limit and the choice.",
                .caption = "Every dot is a design. The line is the Pareto front, with "
                           "one standard error over chips and reads; a horizontal bar is "
                           "the range of energies where published numbers disagree. Pale "
                           "dots were dropped after a few chips."});
        xb_page_section(page, "numbers", "All numbers");
        xb_page_table(page, table,
                      "All designs; verdict: 0 keeps, 1 fails, 2 cannot tell", true);
    }
    xb_table_destroy(table);
    free(csv);
    free(svg);
    return status;
}

static xb_status write_page(cli_session *s, const xb_design *d, const char *dir,
                            const char *keep)
{
    char title[300];
    xb_page *page = NULL;
    snprintf(title, sizeof title, "The cheapest array for %.100s that keeps %.60s",
             s->args.arg[0], keep);
    xb_status status =
        xb_page_create(s->ctx, &page, title,
                       "A number after ± is one standard error over chips and reads. An "
                       "energy is a range where published numbers disagree; buffers, "
                       "buses and leakage are not counted.");
    if (status != XB_OK) return status;
    xb_page_summary(page, "What was found");
    xb_page_provenance(page, "data", s->args.arg[1]);
    char *path = cli_join(dir, PAGE, ".html");
    status = path ? fill(s->ctx, page, d, dir, keep) : XB_E_MEMORY;
    if (status == XB_OK) status = xb_page_write(s->ctx, page, path);
    xb_page_destroy(page);
    free(path);
    return status;
}

static xb_status write_array(xb_ctx *ctx, const xb_design *d, const char *dir)
{
    xb_array *array = NULL;
    char *path = cli_join(dir, "array", ".json");
    xb_status status =
        path ? xb_design_array(ctx, &array, d, xb_design_chosen(d)) : XB_E_MEMORY;
    if (status == XB_OK) status = xb_array_set_name(ctx, array, "design");
    if (status == XB_OK) status = xb_array_save(ctx, array, path);
    xb_array_destroy(array);
    free(path);
    return status;
}

/* Saves the model if the chosen design has one that was trained again. */
static xb_status write_model(xb_ctx *ctx, const xb_design *d, const char *dir)
{
    const xb_model *model = xb_design_model(d, xb_design_chosen(d));
    if (!model) return XB_OK;
    char *path = cli_join(dir, "model", ".safetensors");
    const xb_status status = path ? xb_model_save(ctx, model, path) : XB_E_MEMORY;
    free(path);
    return status;
}

static xb_status write_all(cli_session *s, const xb_design *d, const char *dir,
                           const char *keep)
{
    char *figure = cli_join(dir, PAGE, "");
    xb_status status =
        figure ? xb_report_design(s->ctx, d, figure, cli_page_formats(s)) : XB_E_MEMORY;
    free(figure);
    if (status == XB_OK && xb_design_chosen(d) >= 0) status = write_array(s->ctx, d, dir);
    if (status == XB_OK && xb_design_chosen(d) >= 0) status = write_model(s->ctx, d, dir);
    return status == XB_OK ? write_page(s, d, dir, keep) : status;
}

cli_exit cli_design_write(cli_session *s, const xb_design *d, const char *keep)
{
    const char *dir = cli_text(&s->args, "output", NULL);
    xb_stage *stage = NULL;
    if (!dir) return CLI_DONE;
    xb_status status = xb_stage_open(s->ctx, &stage, dir);
    if (status != XB_OK) return cli_status(s, status);
    status = write_all(s, d, xb_stage_dir(stage), keep);
    if (status == XB_OK)
        status =
            xb_stage_publish(s->ctx, stage, (const char *const[]){PAGE ".html", NULL});
    else
        xb_stage_discard(s->ctx, stage);
    return cli_status(s, status);
}
