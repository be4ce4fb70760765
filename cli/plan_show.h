/* plan_show.h: prints the results of `crossbayes plan` as text and as JSON. */
#ifndef CLI_PLAN_SHOW_H
#define CLI_PLAN_SHOW_H

#include "crossbayes/crossbayes.h"

#include "commands.h"

enum { PLAN_ROWS_MAX = 64 };

/* One input that was planned for. */
typedef struct plan_case {
    int64_t row;    /* row of the data, from 1; 0: no data */
    int64_t member; /* member of an ensemble, from 1; 0: one posterior */
    int64_t output; /* output if there are several, from 1; 0: only one */
    xb_plan *plan;
} plan_case;

typedef struct plan_job {
    cli_session *s;
    xb_law *law;
    xb_plan_options opt;
    xb_net *own_net; /* the net of --net */
    xb_model *model;
    const xb_net *net;
    xb_weights weights;
    float *block; /* memory of `own_weights` */
    int cases;
    plan_case at[PLAN_ROWS_MAX];
    xb_plan_width width; /* for --net */
    double needed;
    xb_draws_verdict draws; /* reads is 0 if the law does not come from a trace */
} plan_job;

/* The number of members of the model, and of outputs planned separately; with equal
 * shares all outputs are alike, so only one is planned. */
int64_t cli_plan_members(const plan_job *job);
int64_t cli_plan_outputs(const plan_job *job);

/* The verdict on reads as draws, if the law comes from a trace. */
void cli_plan_print_draws(const plan_job *job);
cli_exit cli_plan_print_text(const plan_job *job);
cli_exit cli_plan_print_json(const plan_job *job);

#endif
