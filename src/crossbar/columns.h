/* columns.h: calibration of single columns: converter ranges of their own (maths X51) and
 * a gain and an offset that are fitted from known inputs (X50). A layer has row tiles x
 * outputs of them, numbered [row tile][output]. */
#ifndef XB_CROSSBAR_COLUMNS_H
#define XB_CROSSBAR_COLUMNS_H

#include "crossbar/convert.h"
#include "crossbayes/base.h"

/* A tile's sum s becomes post ADC(pre s) + shift; [row tiles][outputs] each. */
typedef struct xb_correction {
    float *pre, *post, *shift; /* in one piece, owned by pre; NULL: none */
} xb_correction;

xb_status xb_correction_make(xb_ctx *ctx, xb_correction *out, int64_t columns);
void xb_correction_free(xb_correction *c);

/* ---- column_ranges.c: ranges of groups of columns */

/* Counts |sum| in parts of the largest of its group, after those are known. */
enum { XB_GROUP_BINS = 256 };

typedef struct xb_column_groups {
    int64_t columns; /* of the layer */
    int64_t n;       /* groups */
    int64_t *group;  /* [columns]: whose group a column is in */
    float *top;      /* [n] */
    uint32_t *count; /* [n][XB_GROUP_BINS] */
    int64_t *values; /* [n] */
    bool counting;   /* tops are known */
} xb_column_groups;

/* `wide` columns next to each other share a group, at most those of one row tile. */
xb_status xb_column_groups_make(xb_ctx *ctx, xb_column_groups *out, int64_t row_tiles,
                                int64_t outputs, int64_t wide);
void xb_column_groups_free(xb_column_groups *g);
/* sums [rows][outputs] of a row tile. */
void xb_column_groups_add(xb_column_groups *g, int64_t tile, const float *sums,
                          int64_t rows, int64_t outputs);
/* (X51) The range of a group that covers the share of its values; 0: it has none. */
double xb_column_groups_range(const xb_column_groups *g, int64_t group, double share);

/* ---- column_fit.c: gains and offsets */

/* Of what one column should have given, t, and what it gave, m. */
typedef struct xb_column_sums {
    double n, t, m, tt, tm, mm;
} xb_column_sums;

typedef struct xb_column_fit {
    int64_t row_tiles, outputs;
    const float *mean; /* [in][outputs] of the digital model */
    int64_t operation; /* number of the operation of this read that is examined */
    int64_t *cursor;   /* [row_tiles] operations seen of this read */
    float *wanted;     /* [outputs], as is the next */
    float *given;
    xb_column_sums *sums; /* [row_tiles][outputs] */
    double *estimate;     /* [3][outputs] room */
} xb_column_fit;

xb_status xb_column_fit_make(xb_ctx *ctx, xb_column_fit *out, int64_t row_tiles,
                             int64_t outputs);
void xb_column_fit_free(xb_column_fit *fit);
/* A read starts: known is the input of its operation `operation`. */
void xb_column_fit_start(xb_column_fit *fit, int64_t operation);
/* `rows` operations of a tile follow: the one to look at among them, -1: none. */
int64_t xb_column_fit_row(xb_column_fit *fit, int64_t tile, int64_t rows);
/* fit->given and fit->wanted are those of a tile. */
void xb_column_fit_add(xb_column_fit *fit, int64_t tile);
/* (X50) Into the layer's correction. */
void xb_column_fit_solve(const xb_column_fit *fit, const xb_correction *out);

#endif
