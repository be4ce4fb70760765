/* crossbar_job.h: one run of `crossbar`: what was asked for (crossbar_ask.c), the arrays
 * that are read for it (crossbar_assays.c), and what is said and written of them
 * (crossbar_deliver.c). */
#ifndef XB_CLI_CROSSBAR_JOB_H
#define XB_CLI_CROSSBAR_JOB_H

#include "crossbar_cases.h"
#include "crossbar_data.h"
#include "crossbar_draws.h"
#include "session.h"
#include "sweep.h"

enum { CASES_MAX = 64, REMEDIES_MAX = 16, SWEEPS_MAX = CLI_REPEAT_MAX };

typedef struct sweep_run {
    cli_sweep sweep;
    cli_case *cases; /* [sweep.count] */
} sweep_run;

typedef struct crossbar_job {
    cli_session *s;
    xb_model *model;
    cli_array_data data, calibration; /* calibration without rows: the data */
    xb_array *array;
    xb_costs costs;            /* where --costs is a file */
    cli_draws draws;           /* that rows need */
    xb_cost_model *cost_model; /* where it is the model, else NULL */
    xb_assay *assay;
    int64_t reads;
    cli_case cases[CASES_MAX];
    int n_cases;
    char without[REMEDIES_MAX][64]; /* names of cases */
    sweep_run sweep[SWEEPS_MAX];
    int n_sweeps;
    xb_draws_verdict usable; /* reads 0: reads do not follow a trace */
} crossbar_job;

/* crossbar_ask.c: the array with its sweeps; the model, the data and the table of costs;
 * which files will be written. */
cli_exit crossbar_read_array(crossbar_job *job);
cli_exit crossbar_read_data(crossbar_job *job);
cli_exit crossbar_plan_outputs(crossbar_job *job);
/* Costs by the model of the library, not from a file. */
bool crossbar_costs_by_model(const cli_session *s);

/* crossbar_assays.c: every array is read. */
xb_analog_options crossbar_analog_options(const crossbar_job *job);
xb_status crossbar_run_assays(crossbar_job *job);

/* crossbar_deliver.c: files, then text or JSON; `analog` is the whole array. */
cli_exit crossbar_deliver(crossbar_job *job, const xb_analog *analog);

#endif
