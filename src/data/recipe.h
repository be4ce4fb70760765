/* recipe.h: the contents of a recipe; see crossbayes/recipe.h. features.h makes one from
 * a table, and apply.h uses it to turn the cells of another table into features. */
#ifndef XB_DATA_RECIPE_H
#define XB_DATA_RECIPE_H

#include <jansson.h>

#include "base/ctx.h"
#include "crossbayes/recipe.h"

typedef struct xb_recipe_column {
    char *name;
    int64_t place; /* position among the table's columns besides the target, from 0 */
    xb_column_kind kind;
    double fill;  /* NUMBERS and DATES */
    bool flagged; /* whether a last feature marks where it is missing */
    int64_t words;
    char **word;   /* [words], ascending by bytes */
    int64_t first; /* index of its first feature; xb_recipe_number sets it */
} xb_recipe_column;

struct xb_recipe {
    int64_t columns;
    xb_recipe_column *column;
    int64_t features;
    int64_t beside; /* number of columns of its table, without the target */
    char *id;       /* NULL: none */
};

/* Makes a recipe with memory for `columns` columns; fill it, then call
 * xb_recipe_number. */
xb_status xb_recipe_new(xb_ctx *ctx, xb_recipe **out, int64_t columns);
void xb_recipe_destroy(xb_recipe *recipe); /* NULL is fine */
xb_status xb_recipe_copy(xb_ctx *ctx, xb_recipe **out, const xb_recipe *recipe);

/* Numbers the features. */
void xb_recipe_number(xb_recipe *recipe);
int64_t xb_recipe_width(const xb_recipe_column *column); /* number of features of one
                                                            column */

/* Whether every column besides the target is one feature, unchanged, so that the names
 * describe it completely. */
bool xb_recipe_is_plain(const xb_recipe *recipe);
/* Makes such a recipe, with columns of these names and means. */
xb_status xb_recipe_plain(xb_ctx *ctx, xb_recipe **out, char *const *name,
                          const double *mean, int64_t columns);

/* "NAME", "NAME=WORD" or "NAME missing"; free() it. */
char *xb_recipe_feature_name(xb_ctx *ctx, const xb_recipe_column *column, int64_t k);

/* The recipe in a model file (docs/formats.md). Reading trusts nothing; `path` is for
 * messages. */
json_t *xb_recipe_to_json(const xb_recipe *recipe);
xb_status xb_recipe_from_json(xb_ctx *ctx, xb_recipe **out, const json_t *root,
                              const char *path);

#endif
