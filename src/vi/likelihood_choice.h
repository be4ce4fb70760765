/* likelihood_choice.h: trainings that are compared; see likelihood_choice.c and
 * train_choice.c. */
#ifndef XB_VI_LIKELIHOOD_CHOICE_H
#define XB_VI_LIKELIHOOD_CHOICE_H

#include "vi/trainer.h"

/* The result of one training. */
typedef struct xb_trained {
    xb_model *model;
    xb_train_report *report;
} xb_trained;

void xb_trained_drop(xb_trained *one);

/* train_choice.c. `traced`: the whole trace will be read; `reported`: a report is wanted.
 */
xb_status xb_train_one(xb_ctx *ctx, xb_trained *out, const xb_train_data *data,
                       const xb_train_options *opt, bool traced, bool reported);

/* Ends a run that finished or failed with `status`: writes its checkpoint. */
xb_status xb_train_left(xb_trainer *t, xb_status status);

/* Whether F of two trainings with these options can be compared: a table, at temperature
 * 1. */
bool xb_train_comparable(const xb_train_data *data, const xb_train_options *opt);

/* Whether the likelihood is chosen from the data. */
bool xb_likelihood_is_open(const xb_train_data *data, const xb_train_options *opt);

/* (V20) Trains the net of `best`, which has constant noise or is of counts, under the
 * other likelihoods; the best of them all is in `best` then, and its report says what was
 * tried. `dealt`: ranks train one or several each. */
xb_status xb_likelihood_choose(xb_ctx *ctx, xb_trained *best, const xb_train_data *data,
                               const xb_train_options *opt, bool traced, bool dealt);

#endif
