/* predicted.h: writes predictions, for cmd_predict.c. */
#ifndef XB_CLI_PREDICTED_H
#define XB_CLI_PREDICTED_H

#include <jansson.h>
#include <stdio.h>

#include "inputs.h"

typedef struct cli_predicted {
    const xb_model *model;
    const cli_inputs *in;
    const xb_frame *block;       /* the rows being predicted; NULL: all of `in` */
    double level[2];             /* levels of the quantiles */
    bool adaptive, draws_needed; /* as in xb_predict_options */
} cli_predicted;

/* Write the names of the columns, and the rows of one prediction. */
void cli_predicted_head(FILE *out, const cli_predicted *r);
void cli_predicted_rows(FILE *out, const cli_predicted *r, const xb_prediction *p);
void cli_predicted_json(json_t *root, const cli_predicted *r, const xb_prediction *p);

#endif
