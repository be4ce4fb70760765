/* safetensors.c: reading a safetensors file; the format is described at
 * github.com/huggingface/safetensors.
 *
 * The whole header is read and checked before memory for the data is allocated: tensors
 * must cover the data without a hole or an overlap, each with exactly the bytes of its
 * shape. The file is read once, front to back; in memory every tensor starts at a
 * multiple of 8 bytes, wherever it was in the file. */
#include "crossbayes/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/os.h"
#include "data/json_parse.h"
#include "data/source.h"

enum { LENGTH_SIZE = 8, SHAPE_TEXT = 200, NAME_SHOWN = 80 };

static const char metadata_key[] = "__metadata__";

typedef struct placed {
    xb_stored view;
    int64_t begin, end; /* range of bytes in the data of the file */
} placed;

struct xb_safetensors {
    char *path;
    json_t *header; /* owns names and texts */
    placed *tensor; /* [count], in the order of their data */
    int64_t count;
    char *data;
};

typedef struct opening {
    xb_source source;
    xb_safetensors *file;
    int64_t data_size; /* bytes after the header */
} opening;

static xb_status fail_file(const opening *o, const char *what)
{
    return xb_fail(o->source.ctx, XB_E_INPUT, "%s: %s", o->source.name, what);
}

static xb_status fail_tensor(const opening *o, const char *name, const char *what)
{
    return xb_fail(o->source.ctx, XB_E_INPUT, "%s: tensor '%.*s': %s", o->source.name,
                   NAME_SHOWN, name, what);
}

static xb_status read_exactly(opening *o, void *to, int64_t want)
{
    int64_t got = 0;
    XB_TRY(xb_source_read(&o->source, to, want, &got));
    return got == want ? XB_OK : fail_file(o, "truncated safetensors file");
}

static xb_status header_size(int64_t *out, opening *o)
{
    unsigned char byte[LENGTH_SIZE];
    if (o->source.size == 0) return fail_file(o, "empty file");
    if (o->source.size < LENGTH_SIZE)
        return fail_file(o, "not a safetensors file: shorter than 8 bytes");
    XB_TRY(read_exactly(o, byte, LENGTH_SIZE));
    uint64_t size = 0;
    for (int k = LENGTH_SIZE - 1; k >= 0; k--) size = size << 8 | byte[k];
    if (size > XB_SAFETENSORS_HEADER_MAX)
        return fail_file(o, "not a safetensors file, or its header is beyond 16 MiB");
    if (size < 2 || (int64_t)size > o->source.size - LENGTH_SIZE)
        return xb_fail(o->source.ctx, XB_E_INPUT,
                       "%s: not a safetensors file: a header of %llu bytes in %lld",
                       o->source.name, (unsigned long long)size,
                       (long long)o->source.size);
    *out = (int64_t)size;
    return XB_OK;
}

static xb_status parse_header(opening *o, const char *text, int64_t size)
{
    json_error_t error;
    if (text[0] != '{')
        return fail_file(o, "not a safetensors file: its header is not a JSON object");
    const xb_status status = xb_json_parse(&o->file->header, text, size, &error);
    if (status == XB_OK) return XB_OK;
    if (status == XB_E_MEMORY)
        return xb_fail(o->source.ctx, status, "not enough memory for the header");
    return xb_fail(o->source.ctx, status, "%s: safetensors header: %s at byte %d",
                   o->source.name, error.text, LENGTH_SIZE + error.position);
}

static xb_status read_header(opening *o)
{
    int64_t size = 0;
    XB_TRY(header_size(&size, o));
    char *text = xb_new(o->source.ctx, size, 1);
    if (!text) return XB_E_MEMORY;
    xb_status status = read_exactly(o, text, size);
    if (status == XB_OK) status = parse_header(o, text, size);
    free(text);
    o->data_size = o->source.size - o->source.taken;
    return status;
}

static xb_status check_texts(const opening *o, const json_t *texts)
{
    json_t *all = (json_t *)(uintptr_t)texts; /* jansson's iteration needs a pointer that
                                                 is not const */
    if (!json_is_object(texts)) return fail_file(o, "'__metadata__' is not an object");
    for (void *i = json_object_iter(all); i; i = json_object_iter_next(all, i))
        if (!json_is_string(json_object_iter_value(i)))
            return xb_fail(o->source.ctx, XB_E_INPUT,
                           "%s: '%.*s' in '__metadata__' is not a text", o->source.name,
                           NAME_SHOWN, json_object_iter_key(i));
    return XB_OK;
}

static xb_status take_type(const opening *o, placed *t, const json_t *value)
{
    const char *name = json_string_value(value);
    if (!name) return fail_tensor(o, t->view.name, "no dtype");
    for (int k = XB_STORED_I64; k <= XB_STORED_U8; k++) {
        if (strcmp(name, xb_stored_type_name((xb_stored_type)k)) != 0) continue;
        t->view.type = (xb_stored_type)k;
        return XB_OK;
    }
    return xb_fail(o->source.ctx, XB_E_INPUT,
                   "%s: tensor '%.*s': dtype '%.16s', expected F32, F64, I64 or U8",
                   o->source.name, NAME_SHOWN, t->view.name, name);
}

/* Reads a list of counts, 0 or more; returns their number, -1 if it is anything else. */
static int take_counts(int64_t *out, int capacity, const json_t *list)
{
    if (!json_is_array(list) || json_array_size(list) > (size_t)capacity) return -1;
    int n = (int)json_array_size(list);
    for (int k = 0; k < n; k++) {
        const json_t *item = json_array_get(list, (size_t)k);
        if (!json_is_integer(item) || json_integer_value(item) < 0) return -1;
        out[k] = json_integer_value(item);
    }
    return n;
}

static xb_status take_tensor(const opening *o, placed *t, const char *name,
                             const json_t *entry)
{
    int64_t offset[2], bytes = 0;
    t->view.name = name;
    if (json_object_size(entry) != 3)
        return fail_tensor(o, name, "expected {dtype, shape, data_offsets}");
    XB_TRY(take_type(o, t, json_object_get(entry, "dtype")));
    t->view.ndim =
        take_counts(t->view.shape, XB_STORED_DIMENSIONS, json_object_get(entry, "shape"));
    if (t->view.ndim < 0)
        return fail_tensor(o, name, "shape is not a list of at most 8 counts");
    if (take_counts(offset, 2, json_object_get(entry, "data_offsets")) != 2)
        return fail_tensor(o, name, "data_offsets is not a pair of offsets");
    if (offset[0] > offset[1] || offset[1] > o->data_size)
        return fail_tensor(o, name, "data_offsets lie beyond the end of the file");
    if (!xb_stored_bytes(&bytes, &t->view) || bytes != offset[1] - offset[0])
        return fail_tensor(o, name, "data_offsets do not match its shape");
    t->begin = offset[0];
    t->end = offset[1];
    return XB_OK;
}

static xb_status take_entries(opening *o)
{
    xb_safetensors *f = o->file;
    f->tensor =
        xb_new(o->source.ctx, (int64_t)json_object_size(f->header), sizeof *f->tensor);
    if (!f->tensor) return XB_E_MEMORY;
    for (void *i = json_object_iter(f->header); i;
         i = json_object_iter_next(f->header, i)) {
        const char *name = json_object_iter_key(i);
        const json_t *entry = json_object_iter_value(i);
        if (strcmp(name, metadata_key) == 0)
            XB_TRY(check_texts(o, entry));
        else
            XB_TRY(take_tensor(o, &f->tensor[f->count++], name, entry));
    }
    return XB_OK;
}

static int by_place(const void *a, const void *b)
{
    const placed *p = a, *q = b;
    if (p->begin != q->begin) return p->begin < q->begin ? -1 : 1;
    if (p->end != q->end) return p->end < q->end ? -1 : 1; /* the empty tensor first */
    return strcmp(p->view.name, q->view.name);
}

/* Checks that each tensor starts where the previous one ends, and that the last ends the
 * file. */
static xb_status check_cover(const opening *o)
{
    const xb_safetensors *f = o->file;
    int64_t at = 0;
    for (int64_t i = 0; i < f->count; at = f->tensor[i++].end) {
        const placed *t = &f->tensor[i];
        if (t->begin != at)
            return fail_tensor(o, t->view.name,
                               t->begin < at ? "overlaps another tensor"
                                             : "there are unused bytes before it");
    }
    if (at == o->data_size) return XB_OK;
    return xb_fail(o->source.ctx, XB_E_INPUT,
                   "%s: %lld %s after the last tensor, expected none", o->source.name,
                   (long long)(o->data_size - at),
                   xb_plural((o->data_size - at), "byte", "bytes"));
}

static int64_t aligned(int64_t bytes)
{
    return (bytes + XB_STORED_ALIGNMENT - 1) & -(int64_t)XB_STORED_ALIGNMENT;
}

static xb_status read_data(opening *o)
{
    xb_safetensors *f = o->file;
    int64_t room = 0, at = 0;
    for (int64_t i = 0; i < f->count; i++)
        room += aligned(f->tensor[i].end - f->tensor[i].begin);
    f->data = xb_new(o->source.ctx, room, 1);
    if (!f->data) return XB_E_MEMORY;
    for (int64_t i = 0; i < f->count; i++) {
        int64_t bytes = f->tensor[i].end - f->tensor[i].begin;
        f->tensor[i].view.data = f->data + at;
        XB_TRY(read_exactly(o, f->data + at, bytes));
        at += aligned(bytes);
    }
    return XB_OK;
}

static xb_status read_file(opening *o)
{
    XB_TRY(read_header(o));
    XB_TRY(take_entries(o));
    qsort(o->file->tensor, (size_t)o->file->count, sizeof *o->file->tensor, by_place);
    XB_TRY(check_cover(o));
    return read_data(o);
}

/* Checks that the file's size is known before opening it, because opening a pipe may
 * block forever. */
static xb_status open_source(xb_ctx *ctx, xb_source *out, const char *path)
{
    static const char expected[] = "a pipe or device, expected a safetensors file";
    xb_os_info info;
    if (path && xb_os_look(&info, path) && info.kind == XB_OS_OTHER)
        return xb_fail(ctx, XB_E_INPUT, "%s: %s", path, expected);
    XB_TRY(xb_source_open(ctx, out, path));
    if (out->size >= 0) return XB_OK;
    xb_source_close(out);
    return xb_fail(ctx, XB_E_INPUT, "%s: %s", out->name, expected);
}

xb_status xb_safetensors_open(xb_ctx *ctx, xb_safetensors **out, const char *path)
{
    opening o = {.data_size = 0};
    XB_TRY(open_source(ctx, &o.source, path));
    o.file = xb_new(ctx, 1, sizeof *o.file);
    xb_status status = o.file ? XB_OK : XB_E_MEMORY;
    if (status == XB_OK && !(o.file->path = xb_strdup(ctx, o.source.name)))
        status = XB_E_MEMORY;
    if (status == XB_OK) status = read_file(&o);
    xb_source_close(&o.source);
    if (status == XB_OK) *out = o.file;
    if (status != XB_OK) xb_safetensors_destroy(o.file);
    return status;
}

void xb_safetensors_destroy(xb_safetensors *file)
{
    if (!file) return;
    json_decref(file->header);
    free(file->tensor);
    free(file->data);
    free(file->path);
    free(file);
}

int64_t xb_safetensors_count(const xb_safetensors *file) { return file->count; }

const xb_stored *xb_safetensors_at(const xb_safetensors *file, int64_t i)
{
    return &file->tensor[i].view;
}

int64_t xb_safetensors_find(const xb_safetensors *file, const char *name)
{
    for (int64_t i = 0; i < file->count; i++)
        if (strcmp(file->tensor[i].view.name, name) == 0) return i;
    return -1;
}

const char *xb_safetensors_text(const xb_safetensors *file, const char *key)
{
    return json_string_value(
        json_object_get(json_object_get(file->header, metadata_key), key));
}

static const char *shape_text(char out[SHAPE_TEXT], xb_stored_type type,
                              const int64_t *shape, int64_t ndim)
{
    int used = snprintf(out, SHAPE_TEXT, "%s [", xb_stored_type_name(type));
    for (int k = 0; k < ndim; k++)
        used += snprintf(out + used, (size_t)(SHAPE_TEXT - used), "%s%lld", k ? "," : "",
                         (long long)shape[k]);
    snprintf(out + used, (size_t)(SHAPE_TEXT - used), "]");
    return out;
}

xb_status xb_safetensors_get(xb_ctx *ctx, const xb_stored **out,
                             const xb_safetensors *file, const char *name,
                             xb_stored_type type, const int64_t *shape, int64_t ndim)
{
    int64_t found = xb_safetensors_find(file, name);
    if (found < 0)
        return xb_fail(ctx, XB_E_INPUT, "%s: no tensor '%.*s'", file->path, NAME_SHOWN,
                       name);
    const xb_stored *t = xb_safetensors_at(file, found);
    bool same = t->type == type && t->ndim == ndim &&
                memcmp(t->shape, shape, (size_t)ndim * sizeof *shape) == 0;
    char is[SHAPE_TEXT], wanted[SHAPE_TEXT];
    if (!same)
        return xb_fail(ctx, XB_E_INPUT, "%s: tensor '%.*s' is %s, expected %s",
                       file->path, NAME_SHOWN, name,
                       shape_text(is, t->type, t->shape, t->ndim),
                       shape_text(wanted, type, shape, ndim));
    *out = t;
    return XB_OK;
}

xb_status xb_safetensors_get_text(xb_ctx *ctx, const char **out,
                                  const xb_safetensors *file, const char *key)
{
    const char *text = xb_safetensors_text(file, key);
    if (!text)
        return xb_fail(ctx, XB_E_INPUT, "%s: '%.*s' is missing from its metadata",
                       file->path, NAME_SHOWN, key);
    *out = text;
    return XB_OK;
}
