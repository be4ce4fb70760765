/* recipe_json.c: writes a recipe as the text that a model file keeps, and reads it back.
 *
 *     {"beside": 4, "id": "name", "columns": [
 *         {"name": "age", "place": 0, "kind": "numbers", "fill": 29.7, "flagged": true},
 *         {"name": "town", "place": 2, "kind": "words", "words": ["Oslo", "Rome"]}]} */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/data.h"
#include "crossbayes/json.h"
#include "data/recipe.h"

static json_t *column_json(const xb_recipe_column *c)
{
    json_t *root = json_object();
    xb_json_set(&root, "name", xb_json_string(c->name));
    xb_json_set(&root, "place", json_integer(c->place));
    xb_json_set(&root, "kind", json_string(xb_column_kind_name(c->kind)));
    if (c->kind != XB_COLUMN_WORDS) xb_json_set(&root, "fill", xb_json_real(c->fill));
    if (c->flagged) xb_json_set(&root, "flagged", json_true());
    if (c->kind != XB_COLUMN_WORDS) return root;
    json_t *words = json_array();
    for (int64_t k = 0; k < c->words; k++)
        xb_json_add(&words, xb_json_string(c->word[k]));
    xb_json_set(&root, "words", words);
    return root;
}

json_t *xb_recipe_to_json(const xb_recipe *r)
{
    json_t *root = json_object(), *columns = json_array();
    xb_json_set(&root, "beside", json_integer(r->beside));
    if (r->id) xb_json_set(&root, "id", xb_json_string(r->id));
    for (int64_t i = 0; i < r->columns; i++)
        xb_json_add(&columns, column_json(&r->column[i]));
    xb_json_set(&root, "columns", columns);
    return root;
}

/* ---- reading */

static xb_status refuse(xb_ctx *ctx, const char *path, const char *what)
{
    return xb_fail(ctx, XB_E_INPUT, "%s: recipe of the table: %s", path, what);
}

static xb_status read_name(xb_ctx *ctx, char **out, const json_t *root, const char *key,
                           const char *path)
{
    const char *text = json_string_value(json_object_get(root, key));
    if (!text) return refuse(ctx, path, "a name is missing");
    *out = xb_strdup(ctx, text);
    return *out ? XB_OK : XB_E_MEMORY;
}

/* Words are found by binary search, so they must ascend. */
static xb_status read_words(xb_ctx *ctx, xb_recipe_column *c, const json_t *list,
                            const char *path)
{
    const int64_t n = (int64_t)json_array_size(list);
    if (n < 1 || n > XB_CLASSES_MAX)
        return refuse(ctx, path, "the words of a column are not a list, or are too many");
    c->word = xb_new(ctx, n, sizeof *c->word);
    if (!c->word) return XB_E_MEMORY;
    c->words = n;
    for (int64_t k = 0; k < n; k++) {
        const char *text = json_string_value(json_array_get(list, (size_t)k));
        if (!text || (k > 0 && strcmp(c->word[k - 1], text) >= 0))
            return refuse(ctx, path,
                          "the words of a column are not texts, or do not ascend");
        c->word[k] = xb_strdup(ctx, text);
        if (!c->word[k]) return XB_E_MEMORY;
    }
    return XB_OK;
}

static xb_status read_column(xb_ctx *ctx, xb_recipe_column *c, const json_t *root,
                             int64_t beside, const char *path)
{
    const json_t *place = json_object_get(root, "place");
    const char *kind = json_string_value(json_object_get(root, "kind"));
    XB_TRY(read_name(ctx, &c->name, root, "name", path));
    if (!kind || !json_is_integer(place))
        return refuse(ctx, path, "a column has no kind or no place");
    c->place = json_integer_value(place);
    if (c->place < 0 || c->place >= beside)
        return refuse(ctx, path, "the place of a column is outside the table");
    XB_TRY(xb_column_kind_parse(ctx, &c->kind, kind));
    c->flagged = json_is_true(json_object_get(root, "flagged"));
    if (c->kind == XB_COLUMN_WORDS)
        return read_words(ctx, c, json_object_get(root, "words"), path);
    return xb_json_number(ctx, &c->fill, root, path, "fill");
}

static xb_status read_columns(xb_ctx *ctx, xb_recipe *r, const json_t *list,
                              const char *path)
{
    for (int64_t i = 0; i < r->columns; i++)
        XB_TRY(read_column(ctx, &r->column[i], json_array_get(list, (size_t)i), r->beside,
                           path));
    xb_recipe_number(r);
    return XB_OK;
}

xb_status xb_recipe_from_json(xb_ctx *ctx, xb_recipe **out, const json_t *root,
                              const char *path)
{
    const json_t *list = json_object_get(root, "columns");
    const json_t *beside = json_object_get(root, "beside");
    const int64_t n = (int64_t)json_array_size(list);
    if (n < 1 || !json_is_integer(beside))
        return refuse(ctx, path, "its columns are missing");
    xb_recipe *r = NULL;
    XB_TRY(xb_recipe_new(ctx, &r, n));
    r->beside = json_integer_value(beside);
    xb_status status = XB_OK;
    if (json_object_get(root, "id")) status = read_name(ctx, &r->id, root, "id", path);
    if (status == XB_OK) status = read_columns(ctx, r, list, path);
    if (status == XB_OK)
        *out = r;
    else
        xb_recipe_destroy(r);
    return status;
}
