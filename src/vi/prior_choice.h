/* prior_choice.h: the scale of a normal prior from the data; see prior_choice.c. */
#ifndef XB_VI_PRIOR_CHOICE_H
#define XB_VI_PRIOR_CHOICE_H

#include "vi/trainer.h"

/* What can be fitted: a normal prior whose width is left open, for a table, in one
 * process. */
xb_status xb_prior_fit_check(xb_ctx *ctx, const xb_train_data *data,
                             const xb_train_options *opt);
/* (V23) The scale for the net and the likelihood of `opt`. */
xb_status xb_prior_fit(xb_ctx *ctx, xb_fitted_prior *out, const xb_train_data *data,
                       const xb_train_options *opt);

#endif
