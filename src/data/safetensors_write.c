/* safetensors_write.c: writes a safetensors file with exactly the bytes that the Python
 * package `safetensors` writes: compact JSON, tensors by type and then name, the header
 * padded with blanks to a multiple of 8. This holds for one text: the package writes
 * several in no fixed order, while here they keep theirs. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/memory.h"
#include "base/outfile.h"
#include "crossbayes/json.h"
#include "crossbayes/safetensors.h"
#include "crossbayes/extend.h"

enum { BLOCK = 1 << 20 }; /* number of bytes between two progress events */

static const char metadata_key[] = "__metadata__";

typedef struct writing {
    xb_ctx *ctx;
    const char *path;
    const xb_stored **order; /* [n] */
    int64_t n;
    int64_t bytes; /* size of all tensors */
} writing;

static int by_type_and_name(const void *a, const void *b)
{
    const xb_stored *p = *(const xb_stored *const *)a, *q = *(const xb_stored *const *)b;
    if (p->type != q->type) return p->type < q->type ? -1 : 1;
    return strcmp(p->name, q->name);
}

static xb_status check_utf8(const writing *w, const char *text)
{
    if (xb_utf8_valid(text)) return XB_OK;
    return xb_fail(w->ctx, XB_E_ARGUMENT, "%s: not UTF-8: '%.80s'", w->path, text);
}

static xb_status set(writing *w, json_t *object, const char *key, json_t *value)
{
    if (json_object_get(object, key)) {
        json_decref(value);
        return xb_fail(w->ctx, XB_E_ARGUMENT, "%s: two entries named '%s'", w->path, key);
    }
    if (json_object_set_new(object, key, value) == 0) return XB_OK;
    return xb_fail(w->ctx, XB_E_MEMORY, "not enough memory");
}

static xb_status add_texts(writing *w, json_t *header, const xb_stored_text *texts,
                           int64_t n)
{
    if (n == 0) return XB_OK;
    json_t *object = json_object();
    XB_TRY(set(w, header, metadata_key, object));
    for (int64_t i = 0; i < n; i++) {
        XB_TRY(check_utf8(w, texts[i].key));
        XB_TRY(check_utf8(w, texts[i].value));
        XB_TRY(set(w, object, texts[i].key, json_string(texts[i].value)));
    }
    return XB_OK;
}

static json_t *shape_list(const xb_stored *t)
{
    json_t *list = json_array();
    for (int k = 0; k < t->ndim; k++) xb_json_add(&list, json_integer(t->shape[k]));
    return list;
}

static xb_status add_tensor(writing *w, json_t *header, const xb_stored *t)
{
    int64_t bytes = 0, begin = w->bytes;
    XB_TRY(check_utf8(w, t->name));
    if (strcmp(t->name, metadata_key) == 0)
        return xb_fail(w->ctx, XB_E_ARGUMENT, "%s: a tensor named '%s'", w->path,
                       metadata_key);
    if (t->ndim < 0 || t->ndim > XB_STORED_DIMENSIONS || !xb_stored_bytes(&bytes, t) ||
        __builtin_add_overflow(w->bytes, bytes, &w->bytes))
        return xb_fail(w->ctx, XB_E_ARGUMENT, "%s: tensor '%s' has an impossible shape",
                       w->path, t->name);
    json_t *entry =
        json_pack("{s:s, s:o, s:[I,I]}", "dtype", xb_stored_type_name(t->type), "shape",
                  shape_list(t), "data_offsets", (json_int_t)begin, (json_int_t)w->bytes);
    return set(w, header, t->name, entry);
}

/* Writes the padded text of the header; free() it. */
static xb_status print_header(writing *w, char **out, int64_t *size, const json_t *header)
{
    size_t length = json_dumpb(header, NULL, 0, JSON_COMPACT);
    size_t padded = (length + XB_STORED_ALIGNMENT - 1) & -(size_t)XB_STORED_ALIGNMENT;
    if (length == 0) return xb_fail(w->ctx, XB_E_MEMORY, "not enough memory");
    if (padded > XB_SAFETENSORS_HEADER_MAX)
        return xb_fail(w->ctx, XB_E_ARGUMENT,
                       "%s: names and texts of %zu bytes, expected at most 16 MiB",
                       w->path, padded);
    char *text = xb_new(w->ctx, (int64_t)padded, 1);
    if (!text) return XB_E_MEMORY;
    if (json_dumpb(header, text, length, JSON_COMPACT) != length) {
        free(text);
        return xb_fail(w->ctx, XB_E_MEMORY, "not enough memory");
    }
    memset(text + length, ' ', padded - length);
    *out = text;
    *size = (int64_t)padded;
    return XB_OK;
}

static xb_status make_header(writing *w, char **out, int64_t *size,
                             const xb_stored_text *texts, int64_t n_texts)
{
    json_t *header = json_object();
    if (!header) return xb_fail(w->ctx, XB_E_MEMORY, "not enough memory");
    xb_status status = add_texts(w, header, texts, n_texts);
    for (int64_t i = 0; status == XB_OK && i < w->n; i++)
        status = add_tensor(w, header, w->order[i]);
    if (status == XB_OK) status = print_header(w, out, size, header);
    json_decref(header);
    return status;
}

/* A failed write shows when the file is committed. */
static xb_status put_data(const writing *w, FILE *to)
{
    int64_t done = 0;
    char task[256];
    snprintf(task, sizeof task, "writing %s", w->path);
    for (int64_t i = 0; i < w->n; i++) {
        int64_t bytes = 0;
        (void)xb_stored_bytes(&bytes, w->order[i]);
        for (int64_t at = 0; at < bytes; at += BLOCK) {
            int64_t count = bytes - at < BLOCK ? bytes - at : BLOCK;
            fwrite((const char *)w->order[i]->data + at, 1, (size_t)count, to);
            XB_TRY(xb_progress_tell(w->ctx, task, done += count, w->bytes));
        }
    }
    return XB_OK;
}

static xb_status put_file(const writing *w, const char *header, int64_t size)
{
    xb_outfile *f = NULL;
    XB_TRY(xb_outfile_open(w->ctx, &f, w->path));
    uint64_t length = (uint64_t)size; /* little-endian, as stored.c checks */
    fwrite(&length, 1, sizeof length, xb_outfile_stream(f));
    fwrite(header, 1, (size_t)size, xb_outfile_stream(f));
    xb_status status = put_data(w, xb_outfile_stream(f));
    if (status == XB_OK) return xb_outfile_commit(w->ctx, f);
    xb_outfile_discard(f);
    return status;
}

xb_status xb_safetensors_write(xb_ctx *ctx, const char *path, const xb_stored *tensors,
                               int64_t n_tensors, const xb_stored_text *texts,
                               int64_t n_texts)
{
    writing w = {.ctx = ctx, .path = path, .n = n_tensors};
    char *header = NULL;
    int64_t size = 0;
    w.order = xb_new(ctx, n_tensors, sizeof *w.order);
    if (!w.order) return XB_E_MEMORY;
    for (int64_t i = 0; i < n_tensors; i++) w.order[i] = &tensors[i];
    qsort(w.order, (size_t)n_tensors, sizeof *w.order, by_type_and_name);
    xb_status status = make_header(&w, &header, &size, texts, n_texts);
    if (status == XB_OK) status = put_file(&w, header, size);
    free(header);
    free(w.order);
    return status;
}
