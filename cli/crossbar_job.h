/* crossbar_job.h: the state of one run of `crossbar`. crossbar_ask.c reads the request,
 * crossbar_assays.c reads the arrays, and crossbar_deliver.c prints and writes the
 * results. */
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
    cli_array_data data, calibration; /* if `calibration` has no rows, `data` is used */
    xb_array *array;
    xb_costs costs;            /* used if --costs names a file */
    cli_draws draws;           /* number of draws that rows need */
    xb_cost_model *cost_model; /* NULL: no --costs model */
    xb_assay *assay;
    int64_t reads;
    cli_case cases[CASES_MAX];
    int n_cases;
    char without[REMEDIES_MAX][64]; /* names of the cases without a remedy */
    sweep_run sweep[SWEEPS_MAX];
    int n_sweeps;
    xb_draws_verdict usable; /* reads is 0 if the reads do not follow a trace */
} crossbar_job;

/* crossbar_ask.c: reads the array with its sweeps, the model, the data and the table of
 * costs, and plans the files to be written. */
cli_exit crossbar_read_array(crossbar_job *job);
cli_exit crossbar_read_data(crossbar_job *job);
cli_exit crossbar_plan_outputs(crossbar_job *job);
/* Whether costs come from the library's model, not from a file. */
bool crossbar_costs_by_model(const cli_session *s);

/* crossbar_assays.c: reads all arrays. */
xb_analog_options crossbar_analog_options(const crossbar_job *job);
xb_status crossbar_run_assays(crossbar_job *job);

/* crossbar_deliver.c: writes the files, then text or JSON; `analog` is the array with all
 * effects. */
cli_exit crossbar_deliver(crossbar_job *job, const xb_analog *analog);

#endif
