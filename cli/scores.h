/* scores.h: scores of a predictive as rows, for `eval` and `crossbar` alike. */
#ifndef XB_CLI_SCORES_H
#define XB_CLI_SCORES_H

#include "print.h"

typedef struct cli_score {
    const char *name, *key;
    xb_score score;
    double chance; /* what perfect calibration reads on average; NAN: not that kind */
    int bins;      /* that it depends on, or 0 */
} cli_score;

enum { CLI_SCORES_MAX = 9 };

/* Those of numbers, or of classes; returns how many. */
int cli_score_rows(cli_score out[CLI_SCORES_MAX], bool classes,
                   const xb_regression_scores *r, const xb_class_scores *c);

/* KEY, KEY_error and KEY_mc_error of each, KEY_chance and KEY_bins where there are. */
void cli_scores_json(json_t *root, const cli_score *row, int rows);

/* {"rms", "noise", "excess", "least", "bound", "draws_needed", "verdict"}. */
json_t *cli_gap_json(const xb_gap *gap);

#endif
