/* eval_calibrate.h: `eval --save-calibrated MODEL`, recalibrates intervals on the given
 * rows, and scores a recalibration that the model already has. */
#ifndef XB_CLI_EVAL_CALIBRATE_H
#define XB_CLI_EVAL_CALIBRATE_H

#include <jansson.h>

#include "session.h"

typedef struct cli_recalibration {
    bool there, made;     /* whether there is a result, and whether this command made the
                             recalibration */
    xb_score coverage[2]; /* before and after */
    xb_score area[2];
} cli_recalibration;

/* Scores a model's recalibration; with --save-calibrated, recalibrates the model and
 * saves it.
 */
cli_exit cli_recalibrate(cli_session *s, cli_recalibration *out, xb_model *model,
                         const xb_scores *scores);
void cli_recalibration_json(json_t *root, const cli_recalibration *r);
void cli_recalibration_print(const cli_recalibration *r);

#endif
