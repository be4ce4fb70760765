/* recipe.c: the recipe itself: its columns, their properties, and the names of their
 * features. Its JSON is in recipe_json.c. */
#include "data/recipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/choice.h"
#include "base/memory.h"

static const char *const missing_names[] = {"impute", "refuse"};
static const char *const kind_names[] = {"numbers", "words", "dates"};

const char *xb_missing_name(xb_missing m)
{
    return (int)m >= 0 && (int)m < XB_COUNT(missing_names) ? missing_names[m] : "?";
}

xb_status xb_missing_parse(xb_ctx *ctx, xb_missing *out, const char *text)
{
    int found = 0;
    XB_TRY(xb_choice_parse(ctx, &found, "treatment of missing values", text,
                           missing_names, XB_COUNT(missing_names)));
    *out = (xb_missing)found;
    return XB_OK;
}

const char *xb_column_kind_name(xb_column_kind k)
{
    return (int)k >= 0 && (int)k < XB_COUNT(kind_names) ? kind_names[k] : "?";
}

xb_status xb_column_kind_parse(xb_ctx *ctx, xb_column_kind *out, const char *text)
{
    int found = 0;
    XB_TRY(xb_choice_parse(ctx, &found, "kind of column", text, kind_names,
                           XB_COUNT(kind_names)));
    *out = (xb_column_kind)found;
    return XB_OK;
}

/* ---- creating and destroying */

xb_status xb_recipe_new(xb_ctx *ctx, xb_recipe **out, int64_t columns)
{
    xb_recipe *r = xb_new(ctx, 1, sizeof *r);
    if (!r) return XB_E_MEMORY;
    r->column = xb_new(ctx, columns, sizeof *r->column);
    if (!r->column) {
        free(r);
        return XB_E_MEMORY;
    }
    r->columns = columns;
    *out = r;
    return XB_OK;
}

void xb_recipe_destroy(xb_recipe *r)
{
    if (!r) return;
    for (int64_t i = 0; i < r->columns; i++) {
        xb_recipe_column *c = &r->column[i];
        for (int64_t k = 0; c->word && k < c->words; k++) free(c->word[k]);
        free(c->word);
        free(c->name);
    }
    free(r->column);
    free(r->id);
    free(r);
}

static xb_status copy_column(xb_ctx *ctx, xb_recipe_column *to,
                             const xb_recipe_column *from)
{
    *to = *from;
    to->word = NULL;
    to->name = xb_strdup(ctx, from->name);
    if (from->words > 0) to->word = xb_new(ctx, from->words, sizeof *to->word);
    if (!to->name || (from->words > 0 && !to->word)) return XB_E_MEMORY;
    for (int64_t k = 0; k < from->words; k++) {
        to->word[k] = xb_strdup(ctx, from->word[k]);
        if (!to->word[k]) return XB_E_MEMORY;
    }
    return XB_OK;
}

xb_status xb_recipe_copy(xb_ctx *ctx, xb_recipe **out, const xb_recipe *from)
{
    xb_recipe *r = NULL;
    XB_TRY(xb_recipe_new(ctx, &r, from->columns));
    r->features = from->features;
    r->beside = from->beside;
    r->id = from->id ? xb_strdup(ctx, from->id) : NULL;
    xb_status status = from->id && !r->id ? XB_E_MEMORY : XB_OK;
    for (int64_t i = 0; i < from->columns && status == XB_OK; i++)
        status = copy_column(ctx, &r->column[i], &from->column[i]);
    if (status == XB_OK)
        *out = r;
    else
        xb_recipe_destroy(r);
    return status;
}

xb_status xb_recipe_plain(xb_ctx *ctx, xb_recipe **out, char *const *name,
                          const double *mean, int64_t columns)
{
    xb_recipe *r = NULL;
    XB_TRY(xb_recipe_new(ctx, &r, columns));
    for (int64_t i = 0; i < columns; i++) {
        r->column[i] = (xb_recipe_column){.place = i, .fill = mean[i]};
        r->column[i].name = xb_strdup(ctx, name[i]);
        if (!r->column[i].name) {
            xb_recipe_destroy(r);
            return XB_E_MEMORY;
        }
    }
    r->beside = columns;
    xb_recipe_number(r);
    *out = r;
    return XB_OK;
}

/* ---- features */

int64_t xb_recipe_width(const xb_recipe_column *c)
{
    return (c->kind == XB_COLUMN_WORDS ? c->words : 1) + c->flagged;
}

void xb_recipe_number(xb_recipe *r)
{
    r->features = 0;
    for (int64_t i = 0; i < r->columns; i++) {
        r->column[i].first = r->features;
        r->features += xb_recipe_width(&r->column[i]);
    }
}

bool xb_recipe_is_plain(const xb_recipe *r)
{
    for (int64_t i = 0; i < r->columns; i++)
        if (r->column[i].kind != XB_COLUMN_NUMBERS || r->column[i].flagged) return false;
    return r->columns == r->beside && !r->id;
}

char *xb_recipe_feature_name(xb_ctx *ctx, const xb_recipe_column *c, int64_t k)
{
    const char *between = "", *after = "";
    if (c->flagged && k == xb_recipe_width(c) - 1)
        after = " missing";
    else if (c->kind == XB_COLUMN_WORDS)
        between = "=", after = c->word[k];
    const size_t size = strlen(c->name) + strlen(between) + strlen(after) + 1;
    char *out = xb_new(ctx, (int64_t)size, 1);
    if (out) snprintf(out, size, "%s%s%s", c->name, between, after);
    return out;
}

/* ---- accessors */

int64_t xb_recipe_column_count(const xb_recipe *r) { return r->columns; }
int64_t xb_recipe_feature_count(const xb_recipe *r) { return r->features; }
const char *xb_recipe_id(const xb_recipe *r) { return r->id; }

const char *xb_recipe_column_name(const xb_recipe *r, int64_t i)
{
    return r->column[i].name;
}

int64_t xb_recipe_column_find(const xb_recipe *r, const char *name)
{
    for (int64_t i = 0; i < r->columns; i++)
        if (strcmp(r->column[i].name, name) == 0) return i;
    return -1;
}

xb_column_kind xb_recipe_column_kind(const xb_recipe *r, int64_t i)
{
    return r->column[i].kind;
}

double xb_recipe_column_fill(const xb_recipe *r, int64_t i) { return r->column[i].fill; }

bool xb_recipe_column_flagged(const xb_recipe *r, int64_t i)
{
    return r->column[i].flagged;
}

int64_t xb_recipe_word_count(const xb_recipe *r, int64_t i) { return r->column[i].words; }

const char *xb_recipe_word_name(const xb_recipe *r, int64_t i, int64_t k)
{
    return r->column[i].word[k];
}
