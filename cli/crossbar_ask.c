/* crossbar_ask.c: reads the request of `crossbar`: array, device, data; see
 * crossbar_job.h. */
#include <stdlib.h>
#include <string.h>

#include "crossbar_device.h"
#include "crossbar_job.h"
#include "outputs.h"
#include "show.h"

enum { KNOWN_MOST = 512 };

static cli_exit apply_set(crossbar_job *job, const char *text)
{
    cli_sweep one;
    char why[160];
    if (!cli_sweep_read(&one, text, why, sizeof why) || one.count != 1)
        return cli_fail(job->s, CLI_USAGE, "--set %s: expected KEY=NUMBER", text);
    return cli_status(job->s,
                      xb_array_set(job->s->ctx, job->array, one.key, one.value[0]));
}

/* Each key may be swept once only, because a sweep's files are named after it. */
static bool swept_already(const crossbar_job *job, const char *key)
{
    int64_t field = xb_array_field_find(key);
    for (int i = 0; field >= 0 && i < job->n_sweeps; i++)
        if (xb_array_field_find(job->sweep[i].sweep.key) == field) return true;
    return false;
}

/* Fails if the array cannot take one of the values. */
static xb_status try_sweep(crossbar_job *job, const cli_sweep *sweep)
{
    xb_array *trial = NULL;
    xb_status status = xb_array_copy(job->s->ctx, &trial, job->array);
    for (int k = 0; k < sweep->count && status == XB_OK; k++) {
        status = xb_array_set(job->s->ctx, trial, sweep->key, sweep->value[k]);
        if (status == XB_OK) status = xb_array_check(job->s->ctx, trial);
    }
    xb_array_destroy(trial);
    return status;
}

static cli_exit read_sweeps(crossbar_job *job)
{
    const cli_value *given = cli_get(&job->s->args, "sweep");
    char why[160];
    for (int i = 0; given->given && i < given->n_texts; i++) {
        sweep_run *run = &job->sweep[job->n_sweeps];
        if (!cli_sweep_read(&run->sweep, given->texts[i], why, sizeof why))
            return cli_fail(job->s, CLI_USAGE, "--sweep %s", why);
        if (swept_already(job, run->sweep.key))
            return cli_fail(
                job->s, CLI_USAGE,
                "--sweep %s: %s is swept twice; give all of its values at once",
                given->texts[i], run->sweep.key);
        xb_status status = try_sweep(job, &run->sweep);
        if (status != XB_OK) return cli_status(job->s, status);
        run->cases = calloc((size_t)run->sweep.count, sizeof *run->cases);
        if (!run->cases) return cli_fail(job->s, CLI_FAILED, "not enough memory");
        job->n_sweeps++;
    }
    return CLI_DONE;
}

/* Does the file know the correlation of its trace? One of a device, of a law without a
 * trace or without the interval between its samples does not. */
static bool knows_correlation(crossbar_job *job, const char *law)
{
    xb_array *trial = NULL;
    if (xb_array_copy(job->s->ctx, &trial, job->array) != XB_OK) return false;
    bool knows = xb_array_set_measured(job->s->ctx, trial, law, 0) == XB_OK;
    xb_array_destroy(trial);
    return knows;
}

/* Sets the law and, if it comes from a trace whose sample interval is known, the
 * correlation of that trace. */
static xb_status use_law(crossbar_job *job, const char *law)
{
    xb_ctx *ctx = job->s->ctx;
    double interval = 0;
    const bool file = strpbrk(law, "./") != NULL;
    XB_TRY(xb_array_get(ctx, &interval, job->array, "read_interval_ns"));
    if (file && interval > 0 && xb_array_set_measured(ctx, job->array, law, 0) == XB_OK)
        return xb_draws_judge(ctx, &job->usable, law, 1e-9 * interval, job->reads);
    if (file && !(interval > 0) && !cli_quiet(job->s) && knows_correlation(job, law))
        fprintf(stderr,
                "  reads are taken as independent draws; --read-interval TIME lets"
                " them follow the trace behind the law\n");
    return xb_array_set_law(ctx, job->array, law);
}

static cli_exit read_interval(crossbar_job *job)
{
    cli_session *s = job->s;
    double seconds = 0;
    cli_exit code = cli_quantity(s, &seconds, "read-interval", "s");
    if (code != CLI_DONE || !(seconds > 0)) return code;
    return cli_status(
        s, xb_array_set(s->ctx, job->array, "read_interval_ns", 1e9 * seconds));
}

cli_exit crossbar_read_array(crossbar_job *job)
{
    cli_session *s = job->s;
    const cli_value *set = cli_get(&s->args, "set");
    xb_status status =
        xb_array_parse(s->ctx, &job->array, cli_text(&s->args, "array", "mtj"));
    if (status != XB_OK) return cli_status(s, status);
    for (int i = 0; set->given && i < set->n_texts; i++) {
        cli_exit code = apply_set(job, set->texts[i]);
        if (code != CLI_DONE) return code;
    }
    xb_redraw redraw = xb_array_redraw(job->array);
    const char *wanted = cli_text(&s->args, "redraw", NULL);
    if (wanted) status = xb_redraw_parse(s->ctx, &redraw, wanted);
    xb_array_set_redraw(job->array, redraw);
    cli_exit code = read_interval(job);
    if (code != CLI_DONE) return code;
    const char *law = cli_text(&s->args, "law", NULL);
    if (law && use_law(job, law) != XB_OK)
        return cli_fail(s, CLI_USAGE, "--law: the text is too long");
    code = cli_array_device(s, job->array);
    if (code != CLI_DONE) return code;
    if (status == XB_OK) status = xb_array_check(s->ctx, job->array);
    if (status != XB_OK) return cli_status(s, status);
    return read_sweeps(job);
}

bool crossbar_costs_by_model(const cli_session *s)
{
    return strcmp(cli_text(&s->args, "costs", ""), "model") == 0;
}

cli_exit crossbar_read_data(crossbar_job *job)
{
    cli_session *s = job->s;
    const char *calibration = cli_text(&s->args, "calibration", NULL);
    const char *costs = cli_text(&s->args, "costs", NULL);
    xb_status status = XB_OK;
    if (costs && !crossbar_costs_by_model(s))
        status = xb_costs_load(s->ctx, &job->costs, costs);
    if (status == XB_OK) status = xb_model_load(s->ctx, &job->model, s->args.arg[0]);
    if (status != XB_OK) return cli_status(s, status);
    const int64_t most = (int64_t)cli_count(&s->args, "rows", 0);
    cli_exit code =
        cli_array_data_read(s, &job->data, job->model, s->args.arg[1], true, most);
    if (code == CLI_DONE && calibration)
        code = cli_array_data_read(s, &job->calibration, job->model, calibration, false,
                                   KNOWN_MOST);
    return code;
}

/* ---- files */

/* A sweep writes KEY.csv and a figure. */
static xb_status plan_sweep(crossbar_job *job, const sweep_run *run, const char *dir,
                            const char *label)
{
    char name[2 * sizeof run->sweep.key];
    xb_ctx *ctx = job->s->ctx;
    unsigned formats = cli_formats(cli_text(&job->s->args, "format", "svg,png"));
    snprintf(name, sizeof name, "%s.csv", run->sweep.key);
    xb_status status = xb_files_plan_in(ctx, dir, name, label);
    if (status != XB_OK) return status;
    return xb_report_plan_in(ctx, dir, run->sweep.key, formats, label);
}

cli_exit crossbar_plan_outputs(crossbar_job *job)
{
    cli_session *s = job->s;
    const char *dir = cli_text(&s->args, "output", NULL);
    const char *export = cli_text(&s->args, "export", NULL);
    char label[CLI_LABEL];
    xb_status status = XB_OK;
    if (export) {
        cli_output_label(label, s, "export", export);
        status = xb_analog_export_plan(s->ctx, export, label);
    }
    if (dir) cli_output_label(label, s, "output", dir);
    if (dir && status == XB_OK && crossbar_costs_by_model(s)) {
        unsigned formats = cli_formats(cli_text(&s->args, "format", "svg,png"));
        status = xb_files_plan_in(s->ctx, dir, "costs.csv", label);
        if (status == XB_OK)
            status = xb_report_plan_in(s->ctx, dir, "costs", formats, label);
    }
    for (int i = 0; dir && i < job->n_sweeps && status == XB_OK; i++)
        status = plan_sweep(job, &job->sweep[i], dir, label);
    return cli_status(s, status);
}
