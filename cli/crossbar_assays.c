/* crossbar_assays.c: the arrays that `crossbar` reads: each effect alone, all without
 * each remedy, all together, and those of sweeps; see crossbar_job.h. */
#include <stdio.h>

#include "crossbar_job.h"

enum { CHIPS = 8 };

static int64_t chips_of(const crossbar_job *job)
{
    return (int64_t)cli_count(&job->s->args, "chips", CHIPS);
}

/* Adds the array with all effects but without one of the remedies. */
static xb_status add_without(crossbar_job *job, cli_case_list *list, int remedy,
                             int64_t chips)
{
    cli_case *c = &job->cases[job->n_cases++];
    xb_array *less = NULL;
    snprintf(job->without[remedy], sizeof job->without[remedy], "all, no %s",
             xb_array_remedy_name(remedy));
    c->name = job->without[remedy];
    XB_TRY(xb_array_without(job->s->ctx, &less, job->array, remedy));
    return cli_cases_add(job->s->ctx, list, c, less, chips);
}

/* Adds each effect alone, all effects without each remedy, then all effects. Single
 * effects are simulated on one chip unless --chips is given, because they would take most
 * of the time. */
static xb_status add_effects(crossbar_job *job, cli_case_list *list)
{
    xb_ctx *ctx = job->s->ctx;
    const int64_t asked = (int64_t)cli_count(&job->s->args, "chips", 1);
    for (int e = 0; e < xb_array_effect_count(); e++) {
        if (!xb_array_has_effect(job->array, e)) continue;
        cli_case *c = &job->cases[job->n_cases++];
        xb_array *alone = NULL;
        c->name = xb_array_effect_name(e);
        XB_TRY(xb_array_only(ctx, &alone, job->array, e));
        XB_TRY(cli_cases_add(ctx, list, c, alone, asked));
    }
    for (int i = 0; i < xb_array_remedy_count(); i++)
        if (xb_array_has_remedy(job->array, i)) XB_TRY(add_without(job, list, i, asked));
    cli_case *all = &job->cases[job->n_cases++];
    xb_array *copy = NULL;
    all->name = "all together";
    XB_TRY(xb_array_copy(ctx, &copy, job->array));
    return cli_cases_add(ctx, list, all, copy, chips_of(job));
}

static xb_status add_sweep(crossbar_job *job, cli_case_list *list, sweep_run *run)
{
    xb_ctx *ctx = job->s->ctx;
    for (int k = 0; k < run->sweep.count; k++) {
        xb_array *array = NULL;
        run->cases[k].value = run->sweep.value[k];
        XB_TRY(xb_array_copy(ctx, &array, job->array));
        const xb_status status =
            xb_array_set(ctx, array, run->sweep.key, run->sweep.value[k]);
        if (status != XB_OK) {
            xb_array_destroy(array);
            return status;
        }
        XB_TRY(cli_cases_add(ctx, list, &run->cases[k], array, chips_of(job)));
    }
    return XB_OK;
}

xb_analog_options crossbar_analog_options(const crossbar_job *job)
{
    xb_analog_options o = xb_analog_options_default();
    o.seed = cli_seed(job->s);
    o.chip = cli_count(&job->s->args, "chip", o.chip);
    return o;
}

static xb_assay_options assay_options(const crossbar_job *job,
                                      const xb_analog_options *analog)
{
    xb_assay_options o = xb_assay_options_default();
    o.reads = job->reads;
    o.tolerance = cli_number(&job->s->args, "tolerance", o.tolerance);
    o.analog = analog;
    if (job->calibration.x) {
        o.calibration = job->calibration.x;
        o.calibration_n = job->calibration.n;
    }
    return o;
}

xb_status crossbar_run_assays(crossbar_job *job)
{
    const xb_analog_options analog = crossbar_analog_options(job);
    const xb_assay_options o = assay_options(job, &analog);
    cli_case_list list = {0};
    xb_status status = xb_assay_create(job->s->ctx, &job->assay, job->model, job->data.x,
                                       job->data.y, job->data.n, &o);
    if (status == XB_OK) status = add_effects(job, &list);
    for (int i = 0; i < job->n_sweeps && status == XB_OK; i++)
        status = add_sweep(job, &list, &job->sweep[i]);
    if (status == XB_OK) status = cli_cases_run(job->s->ctx, &list, job->assay);
    cli_cases_free(&list);
    return status;
}
