/* train_choice.h: training with the net left to the data. */
#ifndef XB_CLI_TRAIN_CHOICE_H
#define XB_CLI_TRAIN_CHOICE_H

#include "train_show.h"

/* xb_train; where no net is asked for, of a table, also with two hidden layers instead
 * of one, and the better is kept: by the rows held out, else by F. Fills model, trace
 * (destroy them) and what became of the other. */
xb_status cli_train_best(cli_session *s, cli_trained *out, const xb_train_data *data,
                         const xb_train_options *opt);

#endif
