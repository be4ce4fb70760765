/* apply.h: converts the cells of a table to features by the recipe of another table, and
 * counts missing values and words that the recipe does not know. */
#ifndef XB_DATA_APPLY_H
#define XB_DATA_APPLY_H

#include "data/features.h"

/* What was found in one column, over all rows so far. */
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

/* Converts column i of a row to its features in out [features]. False if the cell is not
 * valid (text among numbers, or not a date); *expected says what it should be. */
bool xb_applier_take(xb_applier *applier, double *out, int64_t i, const xb_cell *cell,
                     const char **expected);

/* Reports in words what was found. `rows`: number of rows of the table. */
xb_status xb_applier_tell(const xb_applier *applier, xb_notes *notes, int64_t rows);

#endif
