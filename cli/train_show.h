/* train_show.h: what `crossbayes train` tells of a trained model. */
#ifndef XB_CLI_TRAIN_SHOW_H
#define XB_CLI_TRAIN_SHOW_H

#include "session.h"

typedef struct cli_trained {
    const char *path;
    const xb_model *model;
    const xb_table *trace;
    xb_gradient_noise noise[XB_GRADIENT_NOISE_MOST];
    int noises; /* 0: not asked for */
} cli_trained;

cli_exit cli_trained_json(cli_session *s, const cli_trained *o);
void cli_trained_print(const cli_trained *o);

#endif
