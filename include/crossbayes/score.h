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

/* target: [n], of several targets [n][targets]; class numbers for classes. opt->samples
 * draws, 1 or more. n >= 1. */
XB_API xb_status xb_score_model(xb_ctx *ctx, xb_scores **out, const xb_model *model,
                                const xb_rows *rows, const double *target,
                                const xb_predict_options *opt);

/* ---- a model under several laws */

typedef struct xb_evaluate_options {
    size_t struct_size;
    int64_t samples;          /* weight draws under each law, 1000; 0: as many as the
                                 verdicts need, or for one law as many as make the Monte
                                 Carlo error of nll a tenth of the error over rows */
    int64_t most;             /* 40000: draws at which samples = 0 gives up */
    double tolerance;         /* 0.01: of the verdicts, in epistemic sds */
    uint64_t seed;            /* 1 */
    const char *const *names; /* [n_laws]: of the laws in texts; NULL, or NULL for one:
                                 the law's own text */
    const char *backend;      /* NULL: the fastest */
} xb_evaluate_options;

XB_OPTIONS(evaluate);

/* A model's scores under each law, and how far each law's predictives are from the first
 * one's. */
typedef struct xb_evaluation xb_evaluation;

/* target as above; laws: [n_laws], NULL stands for the model's own; n_laws 0 is the
 * model's alone. At most XB_DRAWS_MOST draws. Predictives are compared at up to 200 rows,
 * evenly spread (fewer where rows have several outputs or draws are many). */
XB_API xb_status xb_evaluate(xb_ctx *ctx, xb_evaluation **out, const xb_model *model,
                             const xb_rows *rows, const double *target,
                             const xb_law *const *laws, int64_t n_laws,
                             const xb_evaluate_options *opt);
XB_API void xb_evaluation_destroy(xb_evaluation *e); /* NULL is fine */

XB_API int64_t xb_evaluation_rows(const xb_evaluation *e);
XB_API int64_t xb_evaluation_draws(const xb_evaluation *e);         /* under each law */
XB_API int64_t xb_evaluation_compared_rows(const xb_evaluation *e); /* 0: one law */

/* The laws as they were given. What follows is borrowed from the evaluation; beyond the
 * last law pointers are NULL and numbers NAN. */
XB_API int64_t xb_evaluation_law_count(const xb_evaluation *e);
XB_API const char *xb_evaluation_law_name(const xb_evaluation *e, int64_t i);
XB_API int64_t xb_evaluation_law_find(const xb_evaluation *e, const char *name);
XB_API const xb_law *xb_evaluation_law_at(const xb_evaluation *e, int64_t i);

XB_API const xb_scores *xb_evaluation_scores(const xb_evaluation *e, int64_t law);

/* From the first law, for the first itself NULL or NAN: the net's outputs or class
 * probabilities over the weights' draws, the epistemic part alone, whose verdict is that
 * of the laws; outputs with the data's noise (numbers, else NULL); the bound of
 * KL(outputs || the first law's), NAN for few draws; the root mean square difference of
 * mean probabilities (classes, else NAN); nll less the first law's, row by row (numbers,
 * else NAN). */
XB_API const xb_distances *xb_evaluation_outputs(const xb_evaluation *e, int64_t law);
XB_API const xb_distances *xb_evaluation_predictive(const xb_evaluation *e, int64_t law);
XB_API double xb_evaluation_kl_at_least(const xb_evaluation *e, int64_t law);
XB_API double xb_evaluation_probability_gap(const xb_evaluation *e, int64_t law);
XB_API xb_score xb_evaluation_nll_difference(const xb_evaluation *e, int64_t law);

/* The same in words, a sentence each, such as "means differ by 0.043 of the epistemic sd
 * (noise alone 0.0055): different"; none for the first law. */
XB_API int64_t xb_evaluation_finding_count(const xb_evaluation *e, int64_t law);
XB_API const char *xb_evaluation_finding_at(const xb_evaluation *e, int64_t law,
                                            int64_t i);
/* How many draws would lead to a verdict, as a sentence; NULL: there is a verdict. */
XB_API const char *xb_evaluation_needed(const xb_evaluation *e, int64_t law);

/* ---- two models on the same rows
 *
 *     xb_score_gaps *g = NULL;
 *     if (xb_score_gaps_create(ctx, &g, scores_a, scores_b) != XB_OK) ...
 *     if (xb_score_gaps_better(g, xb_score_gaps_find(g, "nll")) > 0) puts("a is better");
 *     xb_score_gaps_destroy(g);
 *
 * The scores of two models on the same rows in the same order, compared row by row: what
 * makes a row hard for both is no error of their difference (C23). Of numbers: nll, rmse,
 * crps; of classes: nll, accuracy, brier; of several targets together nll alone, and all
 * of each by xb_scores_target_at. */
typedef struct xb_score_gaps xb_score_gaps;

/* Refuses scores of other numbers of rows, classes or targets. */
XB_API xb_status xb_score_gaps_create(xb_ctx *ctx, xb_score_gaps **out,
                                      const xb_scores *a, const xb_scores *b);
XB_API void xb_score_gaps_destroy(xb_score_gaps *gaps); /* NULL is fine */

/* Beyond the last the name is NULL, the numbers are NAN and nothing is better. */
XB_API int64_t xb_score_gaps_count(const xb_score_gaps *gaps);
XB_API const char *xb_score_gaps_name(const xb_score_gaps *gaps, int64_t i);
XB_API int64_t xb_score_gaps_find(const xb_score_gaps *gaps, const char *name);
/* The score of a less that of b, with its error over rows, which knows the pairs, and
 * over the draws of both. */
XB_API xb_score xb_score_gaps_difference(const xb_score_gaps *gaps, int64_t i);
/* Its size and both errors together, as gaps of xb_distances with a tolerance of 0: the
 * bounds of all three scores hold at once with 95 %; draws_needed counts rows. */
XB_API xb_gap xb_score_gaps_at(const xb_score_gaps *gaps, int64_t i);
/* 1: a is better, -1: b is; 0: the same within the error, always below 20 rows. */
XB_API int64_t xb_score_gaps_better(const xb_score_gaps *gaps, int64_t i);

#ifdef __cplusplus
}
#endif
#endif
