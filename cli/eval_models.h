/* eval_models.h: `crossbayes eval A B DATA`: two models on the same rows. */
#ifndef XB_CLI_EVAL_MODELS_H
#define XB_CLI_EVAL_MODELS_H

#include "session.h"

/* The arguments are A, B and DATA. */
cli_exit cli_eval_models(cli_session *s, const xb_evaluate_options *opt);

#endif
