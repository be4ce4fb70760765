/* doubts.h: notes about data that are valid but may not be what the user meant. */
#ifndef XB_CLI_DOUBTS_H
#define XB_CLI_DOUBTS_H

#include "inputs.h"

/* Prints notes about training data on stderr, unless --quiet is given; classes 0: a
 * target of numbers. */
void cli_doubt_training(cli_session *s, const cli_inputs *in, int64_t classes);

/* Print a note on stderr for each option that has no effect beside the others, unless
 * --quiet is given. */
void cli_doubt_train_options(cli_session *s, const cli_inputs *in);
void cli_doubt_predict_options(cli_session *s);
void cli_doubt_design_options(cli_session *s); /* without --retrain */
void cli_doubt_device_options(cli_session *s, bool campaign, bool traces);

#endif
