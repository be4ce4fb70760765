/* copies.h: rows that repeat another row. */
#ifndef XB_DATA_COPIES_H
#define XB_DATA_COPIES_H

#include "base/ctx.h"

/* Rows of a table: values [..][width] and targets [..][targets], row i at select[i], or
 * at i if select is NULL. */
typedef struct xb_copied_rows {
    const double *x, *y;
    const int64_t *select;
    int64_t width, targets, n;
} xb_copied_rows;

/* (V22) *first, [n]: the earliest row that row i is a copy of: with the same values, bit
 * by bit, and the same targets or nearly the same; i if it is the first. NULL if few rows
 * are copies, or if equal rows may be chance, because the targets have few values. Free
 * it. */
xb_status xb_copies_find(xb_ctx *ctx, int64_t **first, const xb_copied_rows *rows);

#endif
