/* eval_calibrate.h: `eval --calibrate MODEL`, intervals recalibrated on the rows at hand,
 * and what a recalibration that is in the model does for them. */
#ifndef XB_CLI_EVAL_CALIBRATE_H
#define XB_CLI_EVAL_CALIBRATE_H

#include <jansson.h>

#include "session.h"

typedef struct cli_recalibration {
    bool there, made;     /* something to show; by this command */
    xb_score coverage[2]; /* before and after */
    xb_score area[2];
} cli_recalibration;

/* Of a model that has a recalibration, or with --calibrate: recalibrates it and saves it.
 */
cli_exit cli_recalibrate(cli_session *s, cli_recalibration *out, xb_model *model,
                         const xb_scores *scores);
void cli_recalibration_json(json_t *root, const cli_recalibration *r);
void cli_recalibration_print(const cli_recalibration *r);

#endif
