/* doubts.h: nothing is known to be wrong, but a word may spare a surprise. */
#ifndef XB_CLI_DOUBTS_H
#define XB_CLI_DOUBTS_H

#include "inputs.h"

/* Of data to learn from; classes 0: a target of numbers. On stderr, unless the command is
 * to be quiet. */
void cli_doubt_training(cli_session *s, const cli_inputs *in, int64_t classes);

#endif
