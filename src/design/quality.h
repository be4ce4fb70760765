/* quality.h: the quality of predictions that have a given number of draws, and conditions
 * on this quality. */
#ifndef XB_DESIGN_QUALITY_H
#define XB_DESIGN_QUALITY_H

#include "base/ctx.h"
#include "law/student_table.h"
#include "vi/model.h"

enum { XB_QUALITIES = 3, XB_CONDITIONS_MOST = 3 };

/* The data that predictions are scored on. The scores are, for numbers: nll, squared
 * error, and whether the 95 % interval contains the target; for classes: nll, whether the
 * class is right, and the Brier score. */
typedef struct xb_judge {
    int64_t n, outputs, classes;
    const double *y;  /* [n][outputs]; for classes [n] class numbers */
    const double *sd; /* [sds][n][outputs], for numbers only; read s uses s mod sds */
    int64_t sds;
    const xb_student_table *heavy; /* [sds] the noise's law (P9); NULL: normal */
} xb_judge;

/* The number of doubles of memory that scoring `reads` reads needs. */
int64_t xb_judge_room(const xb_judge *judge, int64_t reads);
/* Computes from value [reads][n][outputs] everything that does not depend on the number
 * of draws of a prediction, and writes it to `room`. */
void xb_judge_prepare(const xb_judge *judge, double *room, const double *value,
                      int64_t reads);
/* (X71) Writes row [XB_QUALITIES][n]: means over the predictions of `draws` successive
 * draws into which `reads` reads are divided, 1 <= draws <= reads. Call xb_judge_prepare
 * first. */
void xb_judge_rows(const xb_judge *judge, double *row, double *room, const double *value,
                   int64_t reads, int64_t draws);
/* The score that follows from the rows. */
double xb_judge_score(const xb_judge *judge, const double *row, int quality);

/* The name of a score, and the score of a name: -1 if there is none of that name. */
const char *xb_quality_name(const xb_judge *judge, int quality);
int xb_quality_find(const xb_judge *judge, const char *name);

/* ---- keep.c */

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
    double limit; /* set once the digital model's score is known */
} xb_condition;

xb_status xb_conditions_parse(xb_ctx *ctx, xb_condition out[XB_CONDITIONS_MOST],
                              int *count, const char *text, const xb_judge *judge);
/* (X70) Computes the limit from the digital model's score. */
void xb_condition_settle(xb_condition *condition, double digital);

#endif
