/* crossbayes/recipe.h: how the columns of a table become features.
 *
 * A recipe is made from a training table (crossbayes/data.h, `prepare`) and kept in the
 * model, so that every later table is converted in the same way. Features are in the
 * order of the columns:
 *
 * - A column of numbers becomes one feature of the same name. If cells are missing, they
 * are replaced by the column's mean, and a second feature "NAME missing" is 1 there and 0
 * elsewhere.
 * - A column of words becomes a feature "NAME=WORD" for each word, ascending by bytes,
 * which is 1 where the cell has the word and 0 elsewhere; if cells are missing, there is
 * a feature "NAME missing" as well.
 * - A column of dates, where it is used at all, becomes days since 1970-01-01.
 *
 * Columns that would only mislead a net are left out unless the caller asks for them
 * (`use_anyway`): columns that never change or are empty; dates and times; row numbers
 * (distinct whole numbers in a column called id, index or similar); columns with a
 * different word in most rows, or with more than XB_WORDS_MAX different words; text that
 * is not UTF-8.
 */
#ifndef CROSSBAYES_RECIPE_H
#define CROSSBAYES_RECIPE_H

#include "crossbayes/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xb_recipe xb_recipe;

/* Treatment of missing cells, which are empty, NA, N/A, NaN, null or ?. */
typedef enum xb_missing {
    XB_MISSING_IMPUTE, /* as above; columns without gaps in training are filled with their
                          mean */
    XB_MISSING_REFUSE  /* an error with file and line */
} xb_missing;

XB_API const char *xb_missing_name(xb_missing m); /* "impute", "refuse" */
XB_API xb_status xb_missing_parse(xb_ctx *ctx, xb_missing *out, const char *text);

typedef enum xb_column_kind {
    XB_COLUMN_NUMBERS,
    XB_COLUMN_WORDS,
    XB_COLUMN_DATES
} xb_column_kind;

XB_API const char *xb_column_kind_name(xb_column_kind k); /* "numbers", ... */
XB_API xb_status xb_column_kind_parse(xb_ctx *ctx, xb_column_kind *out, const char *text);

/* The largest number of words of a column that become features; for a column that is
 * used anyway it is XB_CLASSES_MAX (crossbayes/data.h). */
#define XB_WORDS_MAX 256

/* The columns that features come from, in their order. */
XB_API int64_t xb_recipe_column_count(const xb_recipe *recipe);
XB_API const char *xb_recipe_column_name(const xb_recipe *recipe, int64_t i);
XB_API int64_t xb_recipe_column_find(const xb_recipe *recipe, const char *name);
XB_API xb_column_kind xb_recipe_column_kind(const xb_recipe *recipe, int64_t i);
/* The value that replaces missing numbers; 0 for words. */
XB_API double xb_recipe_column_fill(const xb_recipe *recipe, int64_t i);
/* Whether a further feature marks the missing cells. */
XB_API bool xb_recipe_column_flagged(const xb_recipe *recipe, int64_t i);
XB_API int64_t xb_recipe_word_count(const xb_recipe *recipe, int64_t i);
XB_API const char *xb_recipe_word_name(const xb_recipe *recipe, int64_t i, int64_t k);
XB_API int64_t xb_recipe_feature_count(const xb_recipe *recipe);
/* The column that names rows; NULL: none. */
XB_API const char *xb_recipe_id(const xb_recipe *recipe);

#ifdef __cplusplus
}
#endif
#endif
