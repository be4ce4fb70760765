/* train_show.h: what `crossbayes train` tells of a trained model. */
#ifndef XB_CLI_TRAIN_SHOW_H
#define XB_CLI_TRAIN_SHOW_H

#include "session.h"

typedef struct cli_trained {
    const char *path;
    xb_model *model;
    xb_table *trace;
    char other_net[64];  /* tried too and left; empty: none was */
    xb_estimate other_f; /* of it */
    double other_score;
    xb_gradient_noise noise[XB_GRADIENT_NOISE_MOST];
    int noises; /* 0: not asked for */
} cli_trained;

xb_estimate cli_trained_f(const cli_trained *o); /* mean of its last epochs, see there */
double cli_trained_score(const cli_trained *o);  /* of rows held out; NAN: none were */

cli_exit cli_trained_json(cli_session *s, const cli_trained *o);
void cli_trained_print(const cli_trained *o);

#endif
