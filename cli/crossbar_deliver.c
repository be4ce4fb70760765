/* crossbar_deliver.c: writes the results of `crossbar` as files, text and JSON; see
 * crossbar_job.h.
 */
#include <stdlib.h>

#include "cost_show.h"
#include "crossbar_chips.h"
#include "crossbar_device.h"
#include "crossbar_job.h"
#include "outputs.h"
#include "show.h"

/* Writes KEY.csv and the figure of one sweep to DIR. */
static xb_status write_sweep(crossbar_job *job, const sweep_run *run, const char *dir)
{
    xb_ctx *ctx = job->s->ctx;
    unsigned formats = cli_formats(cli_text(&job->s->args, "format", "svg,png"));
    xb_table *table = NULL;
    xb_status status = cli_cases_table(ctx, &table, run->sweep.key, run->cases,
                                       run->sweep.count, xb_assay_digital(job->assay),
                                       cli_number(&job->s->args, "tolerance", 0.1));
    char *path = cli_join(dir, run->sweep.key, ""),
         *csv = cli_join(dir, run->sweep.key, ".csv");
    if (status == XB_OK && !(path && csv)) status = XB_E_MEMORY;
    if (status == XB_OK) status = xb_report_sweep(ctx, table, path, formats);
    if (status == XB_OK) status = xb_table_write_csv(ctx, table, csv);
    free(path);
    free(csv);
    xb_table_destroy(table);
    return status;
}

static json_t *sweep_json(const sweep_run *run, const xb_assay_result *digital)
{
    json_t *list = json_array();
    for (int k = 0; k < run->sweep.count; k++) {
        const cli_case *c = &run->cases[k];
        json_t *one = cli_case_json(NULL, c->value, c->result);
        json_object_set_new(one, "chips", cli_chips_json(c, digital));
        json_array_append_new(list, one);
    }
    return json_pack("{s:s,s:o}", "key", run->sweep.key, "cases", list);
}

static cli_exit print_json(const crossbar_job *job, const xb_analog *analog,
                           json_t *costs)
{
    const cli_args *args = &job->s->args;
    json_t *list = json_array(), *sweeps = json_array();
    json_array_append_new(list,
                          cli_case_json("digital", 0, xb_assay_digital(job->assay)));
    for (int i = 0; i < job->n_cases; i++) {
        const cli_case *c = &job->cases[i];
        json_t *one = cli_case_json(c->name, 0, c->result);
        json_object_set_new(one, "chips",
                            cli_chips_json(c, xb_assay_digital(job->assay)));
        json_array_append_new(list, one);
    }
    for (int i = 0; i < job->n_sweeps; i++)
        json_array_append_new(sweeps,
                              sweep_json(&job->sweep[i], xb_assay_digital(job->assay)));
    json_t *root = json_pack(
        "{s:o,s:I,s:I,s:o,s:o,s:o}", "array", cli_json_text(xb_array_name(job->array)),
        "rows", (json_int_t)job->data.n, "reads", (json_int_t)job->reads, "calibration",
        cli_json_text(cli_text(args, "calibration", "the data")), "cases", list, "sweeps",
        sweeps);
    json_object_set_new(root, "chip",
                        json_integer((json_int_t)crossbar_analog_options(job).chip));
    json_object_set_new(root, "independent_draws",
                        cli_json_real(xb_array_independent(job->array, job->reads)));
    json_object_set_new(root, "limits", cli_limits_json(analog));
    json_object_set_new(root, "draws", cli_draws_json(&job->draws));
    if (job->usable.reads > 0)
        json_object_set_new(root, "usable", cli_usable_json(&job->usable));
    if (costs) json_object_set_new(root, "costs", costs);
    return cli_json_print(job->s, root);
}

static cli_exit print_text(const crossbar_job *job, const xb_analog *analog)
{
    const cli_args *args = &job->s->args;
    printf("%s on %s: %lld %s, %lld reads, array %s\n", args->arg[0], args->arg[1],
           (long long)job->data.n, xb_plural(job->data.n, "row", "rows"),
           (long long)job->reads, xb_array_name(job->array));
    if (xb_model_member_count(job->model) > 1)
        printf("  each of the %lld members has its own tiles; the reads are divided "
               "among them\n",
               (long long)xb_model_member_count(job->model));
    const cli_exit code = cli_show_device(job->s, job->array, job->model);
    if (code != CLI_DONE) return code;
    const double worth = xb_array_independent(job->array, job->reads);
    if (job->usable.reads > 0) {
        printf("  ");
        cli_print_words(job->usable.text, 2, true);
    } else if (worth < 0.99 * (double)job->reads)
        printf(
            "  noise is correlated between reads: they are worth %.3g independent %s\n",
            worth, worth < 1.005 ? "draw" : "draws");
    if (xb_model_cells(job->model))
        printf("  weights are made of cells whose noise is their width: sigma range and"
               " sigma levels\n  do not apply\n");
    cli_show_cases(job->cases, job->n_cases, xb_assay_digital(job->assay),
                   "effect alone");
    for (int i = 0; i < job->n_sweeps; i++) {
        const sweep_run *run = &job->sweep[i];
        cli_show_cases(run->cases, run->sweep.count, xb_assay_digital(job->assay),
                       run->sweep.key);
        cli_show_sweep_chips(run->cases, run->sweep.count, run->sweep.key);
    }
    const uint64_t chip = crossbar_analog_options(job).chip;
    printf(
        "\n  ±: Monte Carlo error over reads of chip %llu; off: how far outputs are from"
        " the\n  digital model's, root mean square over inputs, noise included, in"
        " epistemic\n  sds; same: without noise, all three are within %g (--tolerance);"
        " converters\n  calibrated on %s\n",
        (unsigned long long)chip, cli_number(args, "tolerance", 0.1),
        cli_text(args, "calibration", "the inputs of the data itself"));
    cli_show_chips(job->cases, job->n_cases, xb_assay_digital(job->assay), chip);
    if (!xb_array_differs(job->array))
        printf("  nothing on this array differs from chip to chip\n");
    cli_show_limits(job->s->ctx, analog);
    cli_print_doubts(xb_assay_result_scores(xb_assay_digital(job->assay)));
    return CLI_DONE;
}

/* Writes costs.csv and the figure of the cost model. */
static xb_status write_costs(crossbar_job *job, const char *dir)
{
    xb_ctx *ctx = job->s->ctx;
    unsigned formats = cli_formats(cli_text(&job->s->args, "format", "svg,png"));
    xb_table *table = NULL;
    char *path = cli_join(dir, "costs", ""), *csv = cli_join(dir, "costs", ".csv");
    xb_status status =
        path && csv ? cli_cost_table(ctx, &table, job->cost_model) : XB_E_MEMORY;
    if (status == XB_OK) status = xb_report_costs(ctx, job->cost_model, path, formats);
    if (status == XB_OK) status = xb_table_write_csv(ctx, table, csv);
    free(path);
    free(csv);
    xb_table_destroy(table);
    return status;
}

/* Writes the files of all sweeps and of the costs; on failure the older files stay. */
static xb_status write_files(crossbar_job *job, const char *dir)
{
    xb_ctx *ctx = job->s->ctx;
    xb_stage *stage = NULL;
    xb_status status = xb_stage_open(ctx, &stage, dir);
    if (status != XB_OK) return status;
    for (int i = 0; i < job->n_sweeps && status == XB_OK; i++)
        status = write_sweep(job, &job->sweep[i], xb_stage_dir(stage));
    if (status == XB_OK && job->cost_model)
        status = write_costs(job, xb_stage_dir(stage));
    if (status == XB_OK) return xb_stage_publish(ctx, stage, NULL);
    xb_stage_discard(ctx, stage);
    return status;
}

static json_t *costs_json(const crossbar_job *job, const xb_analog *analog)
{
    if (job->cost_model) return cli_cost_model_json(job->cost_model);
    if (!cli_flag(&job->s->args, "costs")) return NULL;
    return cli_costs_json(analog, job->reads, &job->costs);
}

cli_exit crossbar_deliver(crossbar_job *job, const xb_analog *analog)
{
    cli_session *s = job->s;
    const char *dir = cli_text(&s->args, "output", NULL);
    const char *export = cli_text(&s->args, "export", NULL);
    xb_status status = XB_OK;
    if (export) status = xb_analog_export(s->ctx, analog, export);
    if (status == XB_OK && dir && (job->n_sweeps || job->cost_model))
        status = write_files(job, dir);
    if (status != XB_OK) return cli_status(s, status);
    cli_progress_clear(&s->progress);
    if (cli_json(s)) return print_json(job, analog, costs_json(job, analog));
    cli_exit code = print_text(job, analog);
    cli_show_draws(&job->draws, job->reads);
    if (job->cost_model)
        cli_show_cost_model(job->cost_model);
    else if (cli_flag(&s->args, "costs"))
        cli_show_costs(analog, job->reads, &job->costs);
    return code;
}
