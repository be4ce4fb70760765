/* merge.c: the shares of one task, and a context that takes the results of its work from
 * them; see crossbayes/work.h. The first share defines what all others must match; every
 * text and size is checked, because nothing in a file is trusted. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/filekind.h"
#include "crossbayes/json.h"
#include "crossbayes/safetensors.h"
#include "work/share.h"

typedef struct share_file {
    const char *path; /* owned */
    xb_safetensors *file;
} share_file;

struct xb_shares {
    int64_t n;
    share_file *share; /* [n]; once all shares are read, number i + 1 is at i */
    json_t *words, *work;
    const char **word; /* [words], borrowed from the list */
};

/* ---- reading one */

static const char *text_of(const share_file *f, int key)
{
    return xb_safetensors_text(f->file, xb_share_key[key]);
}

static xb_status read_count(xb_ctx *ctx, int64_t *out, const share_file *f, int key)
{
    const char *text = text_of(f, key);
    char *end = NULL;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < 1 || value > XB_SHARES_MOST)
        return xb_fail(ctx, XB_E_INPUT, "%s: '%s' is '%.40s', expected 1 to %d", f->path,
                       xb_share_key[key], text, XB_SHARES_MOST);
    *out = value;
    return XB_OK;
}

/* A file that is recognised, but cannot be a damaged share. */
static bool is_other(const char *path)
{
    const xb_filekind kind = xb_filekind_detect(path);
    return kind != XB_KIND_UNKNOWN && kind != XB_KIND_SAFETENSORS;
}

static xb_status refuse(xb_ctx *ctx, const char *path)
{
    return xb_fail(ctx, XB_E_INPUT, "%s: this is %s; a share was expected", path,
                   xb_filekind_words(xb_filekind_detect(path)));
}

static xb_status open_file(xb_ctx *ctx, share_file *f, const char *path)
{
    char *copy = xb_strdup(ctx, path);
    if (!copy) return XB_E_MEMORY;
    f->path = copy;
    const xb_status status = xb_safetensors_open(ctx, &f->file, path);
    if (status == XB_E_INPUT && is_other(path)) return refuse(ctx, path);
    if (status != XB_OK) return status;
    const char *kind = xb_safetensors_text(f->file, "crossbayes");
    if (!kind || strcmp(kind, XB_SHARE_KIND) != 0) return refuse(ctx, path);
    for (int k = 0; k < XB_SHARE_TEXTS; k++)
        if (!text_of(f, k))
            return xb_fail(ctx, XB_E_INPUT, "%s: not a share: '%s' is missing", path,
                           xb_share_key[k]);
    return XB_OK;
}

/* ---- all together */

/* The properties that all shares must have in common, and the words for a share that
 * differs. */
static const struct {
    int key;
    const char *words;
} alike[] = {
    {XB_SHARE_OF, "is one of another number of shares than"},
    {XB_SHARE_BUILD, "was made by another build of the program than"},
    {XB_SHARE_WORDS, "belongs to another command than"},
    {XB_SHARE_INPUTS, "was made from other data than"},
    {XB_SHARE_WORK, "has other work in it than"},
};

static xb_status compare(xb_ctx *ctx, const share_file *a, const share_file *b)
{
    for (int i = 0; i < XB_COUNT(alike); i++)
        if (strcmp(text_of(a, alike[i].key), text_of(b, alike[i].key)) != 0)
            return xb_fail(ctx, XB_E_INPUT, "%s %s %s", a->path, alike[i].words, b->path);
    return XB_OK;
}

static xb_status check_build(xb_ctx *ctx, const share_file *f)
{
    if (strcmp(text_of(f, XB_SHARE_BUILD), xb_build_id()) == 0) return XB_OK;
    return xb_fail(ctx, XB_E_INPUT,
                   "%s was made by another build of the program (%.60s) than this one"
                   " (%s)",
                   f->path, text_of(f, XB_SHARE_BUILD), xb_build_id());
}

/* Names the first few of the missing shares. */
static xb_status name_missing(xb_ctx *ctx, const xb_shares *s, int64_t of)
{
    char list[80] = "";
    size_t used = 0;
    int64_t missing = 0;
    for (int64_t i = 0; i < of; i++) {
        if (i < s->n && s->share[i].path) continue;
        if (missing++ < 6)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%lld",
                                     used ? ", " : "", (long long)i + 1);
    }
    if (missing == 0) return XB_OK;
    return xb_fail(ctx, XB_E_INPUT, "missing %s %s%s of %lld",
                   xb_plural(missing, "share", "shares"), list,
                   missing > 6 ? ", ..." : "", (long long)of);
}

/* Moves share number i + 1 to place i. */
static xb_status put_in_order(xb_ctx *ctx, xb_shares *s, int64_t of)
{
    share_file *ordered = xb_new(ctx, of, sizeof *ordered);
    if (!ordered) return XB_E_MEMORY;
    xb_status status = XB_OK;
    for (int64_t i = 0; i < s->n && status == XB_OK; i++) {
        int64_t number = 0;
        status = read_count(ctx, &number, &s->share[i], XB_SHARE_NUMBER);
        if (status == XB_OK && number > of)
            status = xb_fail(ctx, XB_E_INPUT, "%s: share %lld of %lld", s->share[i].path,
                             (long long)number, (long long)of);
        if (status == XB_OK && ordered[number - 1].path)
            status = xb_fail(ctx, XB_E_INPUT,
                             "share %lld of %lld is listed twice: %s"
                             " and %s",
                             (long long)number, (long long)of, ordered[number - 1].path,
                             s->share[i].path);
        if (status == XB_OK) ordered[number - 1] = s->share[i];
    }
    if (status != XB_OK) {
        free(ordered);
        return status;
    }
    free(s->share);
    s->share = ordered;
    s->n = of;
    return name_missing(ctx, s, of);
}

/* Checks that the files that the shares were made from are unchanged. */
static xb_status check_inputs(xb_ctx *ctx, const share_file *f)
{
    json_t *list = json_loads(text_of(f, XB_SHARE_INPUTS), 0, NULL);
    xb_status status = json_is_array(list)
                           ? XB_OK
                           : xb_fail(ctx, XB_E_INPUT, "%s: 'inputs' is no list", f->path);
    for (size_t i = 0; i < json_array_size(list) && status == XB_OK; i++) {
        json_t *then = json_array_get(list, i), *now = NULL;
        const char *path = json_string_value(json_array_get(then, 0));
        if (!path)
            status = xb_fail(ctx, XB_E_INPUT, "%s: an input has no name", f->path);
        else
            status = xb_share_input(ctx, &now, path);
        if (status == XB_OK && !json_equal(then, now))
            status = xb_fail(ctx, XB_E_INPUT, "%s is not as it was when %s was made",
                             path, f->path);
        json_decref(now);
    }
    json_decref(list);
    return status;
}

static xb_status take_words(xb_ctx *ctx, xb_shares *s)
{
    const share_file *f = &s->share[0];
    s->words = json_loads(text_of(f, XB_SHARE_WORDS), 0, NULL);
    s->work = json_loads(text_of(f, XB_SHARE_WORK), 0, NULL);
    const size_t n = json_array_size(s->words);
    if (n < 1 || !json_is_array(s->work))
        return xb_fail(ctx, XB_E_INPUT, "%s: '%s' is no list", f->path,
                       n < 1 ? "words" : "work");
    s->word = xb_new(ctx, (int64_t)n, sizeof *s->word);
    if (!s->word) return XB_E_MEMORY;
    for (size_t i = 0; i < n; i++)
        if (!(s->word[i] = json_string_value(json_array_get(s->words, i))))
            return xb_fail(ctx, XB_E_INPUT, "%s: word %zu of the command is no text",
                           f->path, i + 1);
    return XB_OK;
}

static xb_status fill(xb_ctx *ctx, xb_shares *s, const char *const *paths)
{
    int64_t of = 0;
    for (int64_t i = 0; i < s->n; i++) {
        XB_TRY(open_file(ctx, &s->share[i], paths[i]));
        if (i > 0) XB_TRY(compare(ctx, &s->share[i], &s->share[0]));
    }
    XB_TRY(check_build(ctx, &s->share[0]));
    XB_TRY(read_count(ctx, &of, &s->share[0], XB_SHARE_OF));
    XB_TRY(put_in_order(ctx, s, of));
    XB_TRY(check_inputs(ctx, &s->share[0]));
    return take_words(ctx, s);
}

xb_status xb_shares_open(xb_ctx *ctx, xb_shares **out, const char *const *paths,
                         int64_t n)
{
    if (n < 1) return xb_fail(ctx, XB_E_ARGUMENT, "no shares to merge");
    xb_shares *s = xb_new(ctx, 1, sizeof *s);
    if (!s) return XB_E_MEMORY;
    s->n = n;
    s->share = xb_new(ctx, n, sizeof *s->share);
    xb_status status = s->share ? fill(ctx, s, paths) : XB_E_MEMORY;
    if (status == XB_OK)
        *out = s;
    else
        xb_shares_destroy(s);
    return status;
}

void xb_shares_destroy(xb_shares *s)
{
    if (!s) return;
    for (int64_t i = 0; s->share && i < s->n; i++) {
        xb_free((char *)(uintptr_t)s->share[i].path);
        xb_safetensors_destroy(s->share[i].file);
    }
    free(s->share);
    free(s->word);
    json_decref(s->words);
    json_decref(s->work);
    free(s);
}

int64_t xb_shares_count(const xb_shares *s) { return s->n; }
int64_t xb_shares_word_count(const xb_shares *s)
{
    return (int64_t)json_array_size(s->words);
}
const char *xb_shares_word(const xb_shares *s, int64_t i) { return s->word[i]; }

/* ---- a context that takes results from them */

typedef struct merge_comm {
    xb_comm comm;
    const xb_shares *shares;
} merge_comm;

static bool next(xb_comm *comm, xb_work *work, int64_t *item)
{
    (void)comm, (void)work, (void)item;
    return false; /* all items are done already */
}

/* Checks that the present command needs the work that the shares contain. */
static xb_status check_work(xb_ctx *ctx, const xb_shares *s, const xb_work *work)
{
    json_t *then = json_array_get(s->work, (size_t)work->number);
    json_t *now = json_pack("[s, I]", work->name, (json_int_t)work->count);
    const bool same = then && now && json_equal(then, now);
    json_decref(now);
    if (same) return XB_OK;
    return xb_fail(ctx, XB_E_INPUT, "%s: has no results of this command's %s, %lld %s",
                   s->share[0].path, work->name, (long long)work->count,
                   xb_plural(work->count, "item", "items"));
}

static xb_status collect(xb_ctx *ctx, xb_comm *comm, xb_work *work)
{
    const xb_shares *s = ((const merge_comm *)comm)->shares;
    char name[XB_SHARE_ITEM];
    XB_TRY(check_work(ctx, s, work));
    for (int64_t i = 0; i < work->count; i++) {
        const share_file *f = &s->share[i % s->n];
        xb_share_item_name(name, work->number, i);
        const int64_t at = xb_safetensors_find(f->file, name);
        const xb_stored *found = at < 0 ? NULL : xb_safetensors_at(f->file, at);
        if (!found || found->type != XB_STORED_U8 || found->ndim != 1)
            return xb_fail(ctx, XB_E_INPUT, "%s: %s: the result of item %lld is missing",
                           f->path, work->name, (long long)i);
        XB_TRY(xb_work_put(ctx, work, i, found->data, found->shape[0]));
    }
    return XB_OK;
}

static void destroy(xb_comm *comm) { free(comm); }

xb_status xb_shares_use(xb_ctx *ctx, const xb_shares *shares)
{
    merge_comm *m = xb_new(ctx, 1, sizeof *m);
    if (!m) return XB_E_MEMORY;
    m->shares = shares;
    m->comm = (xb_comm){.word = "shares",
                        .size = shares->n,
                        .next = next,
                        .collect = collect,
                        .destroy = destroy};
    xb_comm_set(ctx, &m->comm);
    return XB_OK;
}
