/* train_show.h: prints what `crossbayes train` reports about a trained model. */
#ifndef XB_CLI_TRAIN_SHOW_H
#define XB_CLI_TRAIN_SHOW_H

#include "session.h"

typedef struct cli_trained {
    const char *path;
    xb_model *model;
    xb_train_report *report;
    xb_gradient_noise *noise; /* NULL: not requested */
    xb_evaluation *test;      /* scores of the rows of --test-share; NULL: none */
} cli_trained;

cli_exit cli_trained_json(cli_session *s, const cli_trained *o);
void cli_trained_print(const cli_trained *o);

#endif
