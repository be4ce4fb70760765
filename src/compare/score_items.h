/* score_items.h: the contents of xb_scores, and the positions where a scorer writes
 * them. */
#ifndef XB_COMPARE_SCORE_ITEMS_H
#define XB_COMPARE_SCORE_ITEMS_H

#include "base/ctx.h"
#include "crossbayes/compare.h"

/* Positions of the scores of numbers, and of classes. */
typedef enum xb_number_score {
    XB_NUMBER_RMSE,
    XB_NUMBER_MAE,
    XB_NUMBER_NLL,
    XB_NUMBER_CRPS,
    XB_NUMBER_COVERAGE,
    XB_NUMBER_COVERAGE_UNCERTAIN,
    XB_NUMBER_WIDTH,
    XB_NUMBER_PINBALL,
    XB_NUMBER_AREA,
    XB_NUMBER_AREA_FLOOR,
    XB_NUMBER_SHARPNESS,
    XB_NUMBER_EPISTEMIC,
    XB_NUMBER_ALEATORIC,
    XB_NUMBER_DISAGREEMENT,
    XB_NUMBER_SCORES
} xb_number_score;

typedef enum xb_class_score {
    XB_CLASS_ACCURACY,
    XB_CLASS_NLL,
    XB_CLASS_BRIER,
    XB_CLASS_ECE,
    XB_CLASS_ECE_FLOOR,
    XB_CLASS_ENTROPY,
    XB_CLASS_INFORMATION,
    XB_CLASS_DISAGREEMENT,
    XB_CLASS_SCORES
} xb_class_score;

/* Positions of the arrays: three for the curve or the bins, then those of the points. */
typedef enum xb_score_array {
    XB_ARRAY_LEVEL,
    XB_ARRAY_SHARE,
    XB_ARRAY_SHARE_ERROR,
    XB_ARRAY_BIN_SHARE = XB_ARRAY_LEVEL,
    XB_ARRAY_BIN_CONFIDENCE,
    XB_ARRAY_BIN_ACCURACY,
    XB_ARRAY_POINTS
} xb_score_array;

enum { XB_SCORE_ARRAYS_MAX = XB_ARRAY_POINTS + 6 };

struct xb_scores {
    int64_t n, draws, classes;
    int64_t curve;                      /* length of the curve, or number of bins */
    xb_score score[XB_NUMBER_SCORES];   /* for either kind; numbers have more scores */
    double *array[XB_SCORE_ARRAYS_MAX]; /* [curve] or [n] */
    double *numbers;                    /* the block that holds them */
    xb_scores **target;                 /* [targets] scores of each of several targets;
                                           else NULL */
    int64_t targets;
    char doubt[64];     /* "": none */
    char **target_name; /* [targets], or NULL */
};

/* Copies the names of several targets; a single target needs none. */
xb_status xb_scores_name_targets(xb_ctx *ctx, xb_scores *s, char *const *name);

/* Makes scores with memory for everything; all scores are NAN. classes 0: numbers, with a
 * curve of XB_CALIBRATION_LEVELS. */
xb_status xb_scores_create(xb_ctx *ctx, xb_scores **out, int64_t n, int64_t draws,
                           int64_t classes, int64_t curve);

/* score_bytes.c: packs scores into bytes; `like` has their shape and the names of the
 * targets. *to and *from move behind them. */
int64_t xb_scores_bytes(const xb_scores *like);
void xb_scores_pack(unsigned char **to, const xb_scores *s);
xb_status xb_scores_unpack(xb_ctx *ctx, xb_scores **out, const unsigned char **from,
                           const xb_scores *like);

#endif
