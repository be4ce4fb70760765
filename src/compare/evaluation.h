/* evaluation.h: the contents of an evaluation, see crossbayes/score.h. */
#ifndef XB_COMPARE_EVALUATION_H
#define XB_COMPARE_EVALUATION_H

#include "base/ctx.h"
#include "crossbayes/score.h"

enum { XB_FINDINGS_MAX = 6 };

typedef struct xb_evaluated_law {
    xb_law *law;
    char *name; /* name in texts */
    xb_scores *scores;
    /* Differences from the first law; unused for the first law itself: */
    xb_distances *outputs;
    xb_distances *predictive; /* for numbers */
    double kl_at_least;
    double probability_gap;  /* for classes */
    xb_score nll_difference; /* for numbers */
    char *finding[XB_FINDINGS_MAX];
    int64_t findings;
    char *needed; /* NULL: a verdict was reached */
} xb_evaluated_law;

struct xb_evaluation {
    int64_t n, draws, compared_rows;
    xb_evaluated_law *law; /* [laws] */
    int64_t laws;
};

/* evaluation_text.c: the sentences about each law but the first, after its numbers. */
xb_status xb_evaluation_describe(xb_ctx *ctx, xb_evaluation *e);

#endif
