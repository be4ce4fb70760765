/* prior_choice.h: the scale of a normal prior from the data; see prior_choice.c. */
#ifndef XB_VI_PRIOR_CHOICE_H
#define XB_VI_PRIOR_CHOICE_H

#include "vi/trainer.h"

/* Whether the scale is fitted without being asked for (XB_PRIOR_SCALE_AUTO), in a
 * training that chooses the net. */
bool xb_prior_fits_itself(const xb_train_data *data, const xb_train_options *opt);
/* What can be fitted: a normal prior whose scale is left open, for a table. */
xb_status xb_prior_fit_check(xb_ctx *ctx, const xb_train_data *data,
                             const xb_train_options *opt);
/* (V23) The scale for the net and the likelihood of `opt`, as opt->prior_scale says. */
xb_status xb_prior_fit(xb_ctx *ctx, xb_fitted_prior *out, const xb_train_data *data,
                       const xb_train_options *opt);

#endif
