/* share.c: a process that does one share of a task and leaves its results in a file; see
 * crossbayes/work.h. Results stay in memory until the file is written, whole or not at
 * all. */
#include "work/share.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "crossbayes/json.h"
#include "crossbayes/safetensors.h"

const char *const xb_share_key[XB_SHARE_TEXTS] = {
    [XB_SHARE_BUILD] = "build", [XB_SHARE_WORDS] = "words",  [XB_SHARE_INPUTS] = "inputs",
    [XB_SHARE_WORK] = "work",   [XB_SHARE_NUMBER] = "share", [XB_SHARE_OF] = "of"};

typedef struct share_comm {
    xb_comm comm;
    json_t *work;      /* [[name, items], ..] */
    xb_stored *result; /* [results]; names and bytes are owned */
    int64_t results, capacity;
} share_comm;

void xb_share_item_name(char out[XB_SHARE_ITEM], int64_t work, int64_t item)
{
    snprintf(out, XB_SHARE_ITEM, "%" PRId64 "/%" PRId64, work, item);
}

/* ---- doing items */

static bool next(xb_comm *comm, xb_work *work, int64_t *item)
{
    return xb_work_next_here(work, item, comm->rank, comm->size);
}

/* Takes ownership of the work's result. */
static xb_status keep(xb_ctx *ctx, share_comm *s, int64_t work, int64_t i,
                      xb_work_item *item)
{
    char name[XB_SHARE_ITEM];
    void *block = s->result;
    XB_TRY(xb_grow(ctx, &block, &s->capacity, s->results + 1, sizeof *s->result));
    s->result = block;
    xb_share_item_name(name, work, i);
    char *copy = xb_strdup(ctx, name);
    if (!copy) return XB_E_MEMORY;
    s->result[s->results++] =
        (xb_stored){copy, XB_STORED_U8, 1, {item->size}, item->result};
    item->result = NULL;
    return XB_OK;
}

static xb_status collect(xb_ctx *ctx, xb_comm *comm, xb_work *work)
{
    share_comm *s = (share_comm *)comm;
    for (int64_t i = comm->rank; i < work->count; i += comm->size) {
        if (!work->item[i].result)
            return xb_fail(ctx, XB_E_ARGUMENT, "%s: item %lld has no result", work->name,
                           (long long)i);
        XB_TRY(keep(ctx, s, work->number, i, &work->item[i]));
    }
    xb_json_add(&s->work, json_pack("[s, I]", work->name, (json_int_t)work->count));
    if (!s->work) return xb_fail(ctx, XB_E_MEMORY, "not enough memory");
    return xb_fail(ctx, XB_E_ELSEWHERE,
                   "this is share %lld of %lld: the results come"
                   " together when all shares are merged",
                   (long long)comm->rank + 1, (long long)comm->size);
}

static void destroy(xb_comm *comm)
{
    share_comm *s = (share_comm *)comm;
    for (int64_t i = 0; i < s->results; i++) {
        xb_free((char *)(uintptr_t)s->result[i].name);
        xb_free((void *)(uintptr_t)s->result[i].data);
    }
    free(s->result);
    json_decref(s->work);
    free(s);
}

xb_status xb_share_begin(xb_ctx *ctx, int64_t share, int64_t of)
{
    if (of < 1 || of > XB_SHARES_MOST || share < 1 || share > of)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "share %lld of %lld: expected 1 to %lld of at most %d",
                       (long long)share, (long long)of, (long long)of, XB_SHARES_MOST);
    share_comm *s = xb_new(ctx, 1, sizeof *s);
    if (!s) return XB_E_MEMORY;
    s->work = json_array();
    s->comm = (xb_comm){.word = "shares",
                        .rank = share - 1,
                        .size = of,
                        .next = next,
                        .collect = collect,
                        .destroy = destroy};
    xb_comm_set(ctx, &s->comm);
    return XB_OK;
}

/* ---- the file */

xb_status xb_share_input(xb_ctx *ctx, json_t **out, const char *path)
{
    uint64_t hash = 0;
    int64_t bytes = 0;
    char text[32];
    XB_TRY(xb_file_hash(ctx, &hash, &bytes, path));
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    *out = json_pack("[o, s, I]", xb_json_string(path), text, (json_int_t)bytes);
    return *out ? XB_OK : xb_fail(ctx, XB_E_MEMORY, "not enough memory");
}

static xb_status inputs_json(xb_ctx *ctx, json_t **out)
{
    char **name = NULL;
    const int64_t n = xb_files_read_list(ctx, &name);
    if (n < 0) return XB_E_MEMORY;
    json_t *list = json_array();
    xb_status status = XB_OK;
    for (int64_t i = 0; i < n && status == XB_OK; i++) {
        json_t *one = NULL;
        status = xb_share_input(ctx, &one, name[i]);
        if (status == XB_OK) xb_json_add(&list, one);
    }
    xb_os_list_free(name, n);
    if (status == XB_OK)
        *out = list;
    else
        json_decref(list);
    return status;
}

static json_t *words_json(const char *const *words, int64_t n)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < n; i++) xb_json_add(&list, xb_json_string(words[i]));
    return list;
}

static xb_status write_file(xb_ctx *ctx, const share_comm *s, const char *path,
                            const json_t *words, const json_t *inputs)
{
    char number[24], of[24], *text[3] = {NULL};
    const json_t *const root[] = {words, inputs, s->work};
    xb_status status = XB_OK;
    snprintf(number, sizeof number, "%lld", (long long)s->comm.rank + 1);
    snprintf(of, sizeof of, "%lld", (long long)s->comm.size);
    for (int i = 0; i < 3 && status == XB_OK; i++)
        status = xb_json_line(ctx, &text[i], root[i]);
    const xb_stored_text texts[] = {{"crossbayes", XB_SHARE_KIND},
                                    {xb_share_key[XB_SHARE_BUILD], xb_build_id()},
                                    {xb_share_key[XB_SHARE_WORDS], text[0]},
                                    {xb_share_key[XB_SHARE_INPUTS], text[1]},
                                    {xb_share_key[XB_SHARE_WORK], text[2]},
                                    {xb_share_key[XB_SHARE_NUMBER], number},
                                    {xb_share_key[XB_SHARE_OF], of}};
    if (status == XB_OK)
        status = xb_safetensors_write(ctx, path, s->result, s->results, texts,
                                      XB_COUNT(texts));
    for (int i = 0; i < 3; i++) xb_free(text[i]);
    return status;
}

xb_status xb_share_write(xb_ctx *ctx, const char *path, const char *const *words,
                         int64_t n_words)
{
    if (!ctx->comm || ctx->comm->destroy != destroy)
        return xb_fail(ctx, XB_E_ARGUMENT, "%s: this context does no share", path);
    const share_comm *s = (const share_comm *)ctx->comm;
    json_t *inputs = NULL, *list = NULL;
    XB_TRY(inputs_json(ctx, &inputs));
    list = words_json(words, n_words);
    xb_status status = write_file(ctx, s, path, list, inputs);
    json_decref(list);
    json_decref(inputs);
    return status;
}
