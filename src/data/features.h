/* features.h: the columns of a training table while it is read, whatever they hold;
 * afterwards the recipe and the features that they become (crossbayes/recipe.h).
 *
 *     xb_learner l;
 *     XB_TRY(xb_learner_start(ctx, &l, columns));
 *     for each row, each column: xb_learner_take(&l, values, row, k, &cell)
 *     XB_TRY(xb_learner_finish(&l, &recipe, &notes, &table));
 *     for each row: xb_learner_expand(&l, features, recipe, row)
 *
 * Until the end, values [rows][columns] holds for each cell its number, or the number of
 * its word in the order of first appearance, or NAN if it is missing. */
#ifndef XB_DATA_FEATURES_H
#define XB_DATA_FEATURES_H

#include "data/classes.h"
#include "data/notes.h"
#include "data/recipe.h"

/* A cell: a text, or a number if the text is NULL; NAN: it is missing. */
typedef struct xb_cell {
    double value;
    const char *text;
    int64_t line; /* line or row, for messages */
} xb_cell;

typedef struct xb_learner {
    xb_ctx *ctx;
    int64_t columns;
    struct xb_learnt_column *column; /* [columns] */
    bool texts;                      /* whether there was a text cell */
    int64_t *source;                 /* positions of the recipe's columns, once there is a
                                        recipe */
} xb_learner;

/* The table that was read. */
typedef struct xb_learnt_table {
    const char *file;        /* for messages */
    const char *const *name; /* [columns] */
    const int64_t *place;    /* [columns] position among the columns besides the target */
    const bool *keep;        /* [columns]: whether the caller named it */
    int64_t beside;
    bool named;          /* the names come from the table and are not column numbers */
    const double *value; /* [rows][columns] */
    int64_t rows;
    const bool *held; /* [rows]: true for rows held out of learning; NULL: none */
} xb_learnt_table;

xb_status xb_learner_start(xb_ctx *ctx, xb_learner *out, int64_t columns);
void xb_learner_free(xb_learner *learner);

/* Takes the cell of column k in row `row` into values[row * columns + k]; values of
 * earlier rows may change as well. */
xb_status xb_learner_take(xb_learner *learner, double *values, int64_t row, int64_t k,
                          const xb_cell *cell);

/* *recipe NULL: every column is a feature, unchanged. Fails if a column is neither
 * numbers nor words, or if no column is left. */
xb_status xb_learner_finish(xb_learner *learner, xb_recipe **recipe, xb_notes *notes,
                            const xb_learnt_table *table);

/* Writes row `row` as features [recipe->features]. */
void xb_learner_expand(const xb_learner *learner, double *out, const xb_recipe *recipe,
                       const double *row);

#endif
