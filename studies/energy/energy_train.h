/* energy_train.h: the texts that describe a net trained with the energy distance. They
 * identify such a net in a file. */
#ifndef XB_ENERGY_TRAIN_H
#define XB_ENERGY_TRAIN_H

#include "crossbayes/energy.h"

/* "dense 4, elu, dense 1"; xb_free() it. */
xb_status xb_energy_net_text(xb_ctx *ctx, char **out, const xb_energy_options *opt);
/* JSON, as xb_model_settings() has it; xb_free() it. */
xb_status xb_energy_settings(xb_ctx *ctx, char **out, const xb_energy_options *opt);

#endif
