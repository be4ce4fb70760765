/* apply.h: the cells of a table as features by the recipe of another, and what was met on
 * the way: missing values and words that the recipe does not know. */
#ifndef XB_DATA_APPLY_H
#define XB_DATA_APPLY_H

#include "data/features.h"

/* Of one column, over all rows so far. */
typedef struct xb_applied {
    int64_t missing, unknown;
    char first[44]; /* the first unknown word, cut short */
} xb_applied;

typedef struct xb_applier {
    xb_ctx *ctx;
    const xb_recipe *recipe; /* borrowed */
    xb_applied *column;      /* [columns] */
} xb_applier;

xb_status xb_applier_start(xb_ctx *ctx, xb_applier *out, const xb_recipe *recipe);
void xb_applier_free(xb_applier *applier);

/* Column i of a row into its features of out [features]. False where the cell cannot be:
 * text among numbers, or no date; *expected is what it should be. */
bool xb_applier_take(xb_applier *applier, double *out, int64_t i, const xb_cell *cell,
                     const char **expected);

/* What was met, in words. `rows`: of the table. */
xb_status xb_applier_tell(const xb_applier *applier, xb_notes *notes, int64_t rows);

#endif
