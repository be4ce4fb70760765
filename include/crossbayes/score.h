/* crossbayes/score.h: how good a model is on rows with targets, under one law or several.
 *
 *     xb_predict_options opt = xb_predict_options_default();   // opt.law: another law
 *     xb_scores *s = NULL;
 *     if (xb_score_model(ctx, &s, model, &rows, y, &opt) != XB_OK) ...
 *     printf("nll %g\n", xb_scores_get(s, "nll").value);
 *     xb_scores_destroy(s);
 *
 *     const xb_law *laws[] = {NULL, device};                    // NULL: the model's own
 *     xb_evaluation *e = NULL;
 *     if (xb_evaluate(ctx, &e, model, &rows, y, laws, 2, NULL) != XB_OK) ...
 *     puts(xb_verdict_name(xb_distances_verdict(xb_evaluation_outputs(e, 1))));
 *     xb_evaluation_destroy(e);
 *
 * These functions combine xb_predict_draws and the scores of crossbayes/compare.h, a few
 * rows at a time: memory does not grow with rows times draws, and progress is reported
 * ("scoring").
 */
#ifndef CROSSBAYES_SCORE_H
#define CROSSBAYES_SCORE_H

#include "crossbayes/compare.h"
#include "crossbayes/predict.h"

#ifdef __cplusplus
extern "C" {
#endif

/* target: [n], with several targets [n][targets]; class numbers for classes. opt->draws
 * must be 1 or more, and n >= 1. */
XB_API xb_status xb_score_model(xb_ctx *ctx, xb_scores **out, const xb_model *model,
                                const xb_rows *rows, const double *target,
                                const xb_predict_options *opt);

/* ---- a model under several laws */

typedef struct xb_evaluate_options {
    size_t struct_size;
    int64_t draws;     /* weight draws under each law, 1000; 0: as many as the verdicts
                          need; with one law, as many as bring the Monte Carlo error of nll
                          to a tenth of the error over rows */
    int64_t max_draws; /* 40000: largest number of draws with draws = 0 */
    double tolerance;  /* 0.01: tolerance of the verdicts, in epistemic sds */
    uint64_t seed;     /* 1 */
    const char *const *names; /* [n_laws]: names of the laws in texts; NULL, or NULL for
                                 one of them: the law's own text */
    const char *backend;      /* NULL: the context's */
} xb_evaluate_options;

XB_OPTIONS(evaluate);

/* A model's scores under each law, and how far each law's predictives are from the first
 * one's. */
typedef struct xb_evaluation xb_evaluation;

/* target as above; laws: [n_laws], where NULL means the model's own law; n_laws = 0 means
 * that law alone. At most XB_DRAWS_MAX draws. Predictives are compared at up to 200
 * rows, evenly spread (fewer where rows have several outputs or draws are many). */
XB_API xb_status xb_evaluate(xb_ctx *ctx, xb_evaluation **out, const xb_model *model,
                             const xb_rows *rows, const double *target,
                             const xb_law *const *laws, int64_t n_laws,
                             const xb_evaluate_options *opt);
XB_API void xb_evaluation_destroy(xb_evaluation *e); /* NULL is fine */

XB_API int64_t xb_evaluation_rows(const xb_evaluation *e);
XB_API int64_t xb_evaluation_draws(const xb_evaluation *e);         /* under each law */
XB_API int64_t xb_evaluation_compared_rows(const xb_evaluation *e); /* 0: one law */

/* The laws in the given order. Everything below is borrowed from the evaluation; beyond
 * the last law, pointers are NULL and numbers NAN. */
XB_API int64_t xb_evaluation_law_count(const xb_evaluation *e);
XB_API const char *xb_evaluation_law_name(const xb_evaluation *e, int64_t i);
XB_API int64_t xb_evaluation_law_find(const xb_evaluation *e, const char *name);
XB_API const xb_law *xb_evaluation_law_at(const xb_evaluation *e, int64_t i);

XB_API const xb_scores *xb_evaluation_scores(const xb_evaluation *e, int64_t law);

/* Differences from the first law; for the first law itself they are NULL or NAN. In this
 * order: distances of the net's outputs or class probabilities over weight draws (the
 * epistemic part alone), whose verdict is the verdict on the laws; distances of outputs
 * with the data's noise (NULL for classes); a lower bound of KL(outputs || the first
 * law's), NAN with few draws; the root mean square difference of mean probabilities (NAN
 * for numbers); and nll minus the first law's, row by row (NAN for classes). */
XB_API const xb_distances *xb_evaluation_outputs(const xb_evaluation *e, int64_t law);
XB_API const xb_distances *xb_evaluation_predictive(const xb_evaluation *e, int64_t law);
XB_API double xb_evaluation_kl_at_least(const xb_evaluation *e, int64_t law);
XB_API double xb_evaluation_probability_gap(const xb_evaluation *e, int64_t law);
XB_API xb_score xb_evaluation_nll_difference(const xb_evaluation *e, int64_t law);

/* The same in words, one sentence each, such as "means differ by 0.043 of the epistemic
 * sd (noise alone 0.0055; without it at least 0.029): different"; none for the first law.
 */
XB_API int64_t xb_evaluation_finding_count(const xb_evaluation *e, int64_t law);
XB_API const char *xb_evaluation_finding_at(const xb_evaluation *e, int64_t law,
                                            int64_t i);
/* A sentence that says how many draws would lead to a verdict; NULL: there is a verdict.
 */
XB_API const char *xb_evaluation_needed(const xb_evaluation *e, int64_t law);

/* ---- recalibration on rows that were held out (C27) */

/* Recalibrates a model from its scores, under its own law, on 50 or more rows that it was
 * not trained on: from now on its quantiles are those that had the right share of these
 * targets below them. The model must have exactly one target, of numbers. The
 * recalibration is saved with the model. Call this before other threads share the model.
 */
XB_API xb_status xb_model_calibrate(xb_ctx *ctx, xb_model *model, const xb_scores *held);

/* The coverage of the central interval of probability `interval`, and the miscalibration
 * area (C9), for the points of `s` with the model's recalibrated quantiles. With model
 * NULL, each half of the points (every second one) uses the recalibration of the other
 * half. mc_error is NAN. */
XB_API xb_status xb_score_calibrated(xb_ctx *ctx, xb_score *coverage, xb_score *area,
                                     const xb_scores *s, const xb_model *model,
                                     double interval);

/* ---- two models on the same rows
 *
 *     xb_score_gaps *g = NULL;
 *     if (xb_score_gaps_create(ctx, &g, scores_a, scores_b) != XB_OK) ...
 *     if (xb_score_gaps_better(g, xb_score_gaps_find(g, "nll")) > 0) puts("a is better");
 *     xb_score_gaps_destroy(g);
 *
 * The scores of two models on the same rows in the same order, compared row by row, so
 * that the difficulty of a row, which both models share, adds no error to their
 * difference (C23). For numbers nll, rmse and crps are compared; for classes nll,
 * accuracy and brier; for several targets together nll alone, and all three for each
 * target through xb_scores_target_at. */
typedef struct xb_score_gaps xb_score_gaps;

/* Refuses scores with different numbers of rows, classes or targets. */
XB_API xb_status xb_score_gaps_create(xb_ctx *ctx, xb_score_gaps **out,
                                      const xb_scores *a, const xb_scores *b);
XB_API void xb_score_gaps_destroy(xb_score_gaps *gaps); /* NULL is fine */

/* Beyond the last score the name is NULL, the numbers are NAN and xb_score_gaps_better is
 * 0. */
XB_API int64_t xb_score_gaps_count(const xb_score_gaps *gaps);
XB_API const char *xb_score_gaps_name(const xb_score_gaps *gaps, int64_t i);
XB_API int64_t xb_score_gaps_find(const xb_score_gaps *gaps, const char *name);
/* The score of a minus that of b, with its error over rows, which accounts for the
 * pairing, and over the draws of both. */
XB_API xb_score xb_score_gaps_difference(const xb_score_gaps *gaps, int64_t i);
/* Its size and both errors together, like the gaps of xb_distances with a tolerance of 0:
 * the bounds of all three scores hold jointly with 95 % confidence; draws_needed counts
 * rows. */
XB_API xb_gap xb_score_gaps_at(const xb_score_gaps *gaps, int64_t i);
/* 1: a is better, -1: b is, with that confidence; 0: the rows do not suffice to tell, as
 * always with fewer than 20. */
XB_API int64_t xb_score_gaps_better(const xb_score_gaps *gaps, int64_t i);

#ifdef __cplusplus
}
#endif
#endif
