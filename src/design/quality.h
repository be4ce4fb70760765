/* quality.h: how good predictions of a given number of draws are, and the conditions on
 * that. */
#ifndef XB_DESIGN_QUALITY_H
#define XB_DESIGN_QUALITY_H

#include "base/ctx.h"
#include "vi/model.h"

enum { XB_QUALITIES = 3, XB_CONDITIONS_MOST = 3 };

/* What is scored. Numbers: nll, square error, whether the 95 % interval has the target;
 * classes: nll, whether the class is right, Brier score. */
typedef struct xb_judge {
    int64_t n, outputs, classes;
    const double *y;  /* [n][outputs]; of classes [n], class numbers */
    const double *sd; /* [sds][n][outputs], numbers; read s has that of s mod sds */
    int64_t sds;
} xb_judge;

/* Doubles of room that scoring `reads` reads takes. */
int64_t xb_judge_room(const xb_judge *judge, int64_t reads);
/* What does not depend on how many draws a prediction has, from value
 * [reads][n][outputs], into room. */
void xb_judge_prepare(const xb_judge *judge, double *room, const double *value,
                      int64_t reads);
/* (X71) row [XB_QUALITIES][n]: means over the predictions of `draws` draws in a row that
 * `reads` reads hold, 1 <= draws <= reads. After xb_judge_prepare. */
void xb_judge_rows(const xb_judge *judge, double *row, double *room, const double *value,
                   int64_t reads, int64_t draws);
/* From rows to the score, and what one row contributes to it. */
double xb_judge_score(const xb_judge *judge, const double *row, int quality);

/* The name of a score, -1 for one there is not; 1: larger is better. */
const char *xb_quality_name(const xb_judge *judge, int quality);
int xb_quality_find(const xb_judge *judge, const char *name);

/* keep.c */

typedef enum xb_limit_kind {
    XB_LIMIT_VALUE,
    XB_LIMIT_MORE,
    XB_LIMIT_SHARE
} xb_limit_kind;

typedef struct xb_condition {
    int quality;
    int sign; /* 1: at most, -1: at least */
    xb_limit_kind kind;
    double number;
    double limit; /* once the digital score is known */
} xb_condition;

xb_status xb_conditions_parse(xb_ctx *ctx, xb_condition out[XB_CONDITIONS_MOST],
                              int *count, const char *text, const xb_judge *judge);
/* (X70) Its limit, the digital model's score known. */
void xb_condition_settle(xb_condition *condition, double digital);

#endif
