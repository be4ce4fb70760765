/* crossbayes/score.h: how good a model is on rows with targets.
 *
 *     xb_predict_options opt = xb_predict_options_default();   // opt.law: another law
 *     xb_model_scores s;
 *     xb_score_model(ctx, &s, NULL, model, &rows, y, &opt);
 *     printf("nll %g +- %g\n", s.regression.nll.value, s.regression.nll.std_error);
 *
 * xb_predict_draws and the scores of crossbayes/compare.h in one, a few rows at a time:
 * memory does not grow with rows times draws, and progress is told ("scoring").
 */
#ifndef CROSSBAYES_SCORE_H
#define CROSSBAYES_SCORE_H

#include "crossbayes/compare.h"
#include "crossbayes/predict.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xb_model_scores {
    xb_regression_scores regression; /* a target of numbers, else all 0 */
    xb_class_scores classes;         /* of classes, else all 0 */
} xb_model_scores;

/* target: [n], class numbers for classes. opt->samples draws, 1 or more. nll: NULL, or
 * [n] for each row's (numbers; see xb_score_difference). n >= 1. */
XB_API xb_status xb_score_model(xb_ctx *ctx, xb_model_scores *out, double *nll,
                                const xb_model *model, const xb_rows *rows,
                                const double *target, const xb_predict_options *opt);

#ifdef __cplusplus
}
#endif
#endif
