/* columns.h: calibration of single columns: each has its own converter range (maths X51),
 * and a gain and an offset that are fitted to known inputs (X50). A layer has row tiles x
 * outputs columns, numbered [row tile][output]. */
#ifndef XB_CROSSBAR_COLUMNS_H
#define XB_CROSSBAR_COLUMNS_H

#include "crossbar/convert.h"
#include "crossbayes/base.h"

/* A tile's sum s becomes post ADC(pre s) + shift; [row tiles][outputs] each. */
typedef struct xb_correction {
    float *pre, *post, *shift; /* one block, owned by pre; NULL: none */
} xb_correction;

xb_status xb_correction_make(xb_ctx *ctx, xb_correction *out, int64_t columns);
void xb_correction_free(xb_correction *c);

/* ---- column_ranges.c: ranges of groups of columns */

/* Counts |sum| relative to the largest of its group, once the largest ones are known. */
enum { XB_GROUP_BINS = 256 };

typedef struct xb_column_groups {
    int64_t columns; /* columns of the layer */
    int64_t n;       /* number of groups */
    int64_t *group;  /* [columns]: the group of a column */
    float *top;      /* [n] */
    uint32_t *count; /* [n][XB_GROUP_BINS] */
    int64_t *values; /* [n] */
    bool counting;   /* whether the largest values are known */
} xb_column_groups;

/* `wide` neighbouring columns share a group, at most the columns of one row tile. */
xb_status xb_column_groups_make(xb_ctx *ctx, xb_column_groups *out, int64_t row_tiles,
                                int64_t outputs, int64_t wide);
void xb_column_groups_free(xb_column_groups *g);
/* Adds sums [rows][outputs] of a row tile. */
void xb_column_groups_add(xb_column_groups *g, int64_t tile, const float *sums,
                          int64_t rows, int64_t outputs);
/* (X51) The range of a group that covers the share of its values; 0: it has none. */
double xb_column_groups_range(const xb_column_groups *g, int64_t group, double share);

/* ---- column_fit.c: gains and offsets */

/* Sums over t, the value that a column should have given, and m, the value it gave. */
typedef struct xb_column_sums {
    double n, t, m, tt, tm, mm;
} xb_column_sums;

typedef struct xb_column_fit {
    int64_t row_tiles, outputs;
    const float *mean; /* [in][outputs], weights of the digital model */
    int64_t operation; /* number of the operation of this read that is examined */
    int64_t *cursor;   /* [row_tiles], number of operations of this read seen so far */
    float *wanted;     /* [outputs], as is the next */
    float *given;
    xb_column_sums *sums; /* [row_tiles][outputs] */
    double *estimate;     /* [3][outputs], memory for estimates */
} xb_column_fit;

xb_status xb_column_fit_make(xb_ctx *ctx, xb_column_fit *out, int64_t row_tiles,
                             int64_t outputs);
void xb_column_fit_free(xb_column_fit *fit);
/* Starts a read; the input of its operation number `operation` is examined. */
void xb_column_fit_start(xb_column_fit *fit, int64_t operation);
/* `rows` operations of a tile follow: returns the index of the one to examine, or -1. */
int64_t xb_column_fit_row(xb_column_fit *fit, int64_t tile, int64_t rows);
/* Adds fit->given and fit->wanted of a tile. */
void xb_column_fit_add(xb_column_fit *fit, int64_t tile);
/* (X50) Writes the result to the layer's correction. */
void xb_column_fit_solve(const xb_column_fit *fit, const xb_correction *out);

#endif
