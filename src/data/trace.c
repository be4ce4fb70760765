/* trace.c: a long trace whose samples are read from an NPY file when they are needed, by
 * byte ranges. Memory: two buffers of the largest range asked for. */
#include "data/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/os.h"
#include "crossbayes/extend.h"
#include "data/npy.h"

struct xb_trace {
    const double *values; /* [n] borrowed; NULL: in the file */
    int64_t n;
    xb_source source;
    xb_npy_layout layout;
    char *name;
    double *x; /* [room] */
    int64_t room;
    unsigned char *bytes;
    int64_t bytes_room;
};

static bool is_long_column(const xb_npy_layout *l)
{
    bool one = l->head.ndim == 1 || (l->head.ndim == 2 && l->head.shape[1] == 1);
    return one && l->n > XB_TRACE_LONG;
}

static xb_status check_end(const xb_trace *t)
{
    if (t->source.size == t->layout.offset + t->n * t->layout.each) return XB_OK;
    return xb_fail(t->source.ctx, XB_E_INPUT,
                   "%s: data after the NPY array, expected none", t->name);
}

static xb_status open_file(xb_ctx *ctx, xb_trace *t, bool *is_long, const char *path)
{
    t->name = xb_strdup(ctx, path);
    if (!t->name) return XB_E_MEMORY;
    XB_TRY(xb_source_open(ctx, &t->source, t->name));
    bool npy = xb_source_starts(&t->source, XB_NPY_MAGIC, XB_NPY_MAGIC_SIZE);
    if (!npy || t->source.size < 0) return XB_OK;
    xb_status status = xb_npy_layout_read(&t->layout, &t->source);
    if (status != XB_OK) return xb_source_explain(&t->source, status, XB_KIND_TABLE);
    t->n = t->layout.n;
    *is_long = is_long_column(&t->layout);
    return *is_long ? check_end(t) : XB_OK;
}

xb_status xb_trace_open(xb_ctx *ctx, xb_trace **out, const char *path)
{
    bool is_long = false;
    if (strcmp(path, "-") == 0) { /* stdin can be read only once */
        *out = NULL;
        return XB_OK;
    }
    xb_trace *t = xb_new(ctx, 1, sizeof *t);
    if (!t) return XB_E_MEMORY;
    xb_status status = open_file(ctx, t, &is_long, path);
    if (status == XB_OK && is_long) {
        *out = t;
        return XB_OK;
    }
    xb_trace_close(t);
    if (status == XB_OK) *out = NULL;
    return status;
}

xb_status xb_trace_of_values(xb_ctx *ctx, xb_trace **out, const double *x, int64_t n)
{
    xb_trace *t = xb_new(ctx, 1, sizeof *t);
    if (!t) return XB_E_MEMORY;
    t->values = x, t->n = n;
    *out = t;
    return XB_OK;
}

void xb_trace_close(xb_trace *t)
{
    if (!t) return;
    xb_source_close(&t->source);
    free(t->name);
    free(t->x);
    free(t->bytes);
    free(t);
}

int64_t xb_trace_count(const xb_trace *trace) { return trace->n; }

static xb_status read_bytes(xb_ctx *ctx, xb_trace *t, int64_t at, int64_t count)
{
    XB_TRY(xb_grow(ctx, (void **)&t->bytes, &t->bytes_room, count, 1));
    errno = 0;
    if (xb_os_seek(t->source.stream, at) &&
        fread(t->bytes, 1, (size_t)count, t->source.stream) == (size_t)count)
        return XB_OK;
    return xb_fail(ctx, XB_E_INPUT, "%s: cannot read: %s", t->name,
                   errno ? strerror(errno) : "the file has become shorter");
}

xb_status xb_trace_read(xb_ctx *ctx, xb_trace *t, const double **x, int64_t first,
                        int64_t count)
{
    if (t->values) {
        *x = t->values + first;
        return XB_OK;
    }
    const xb_npy_layout *l = &t->layout;
    XB_TRY(read_bytes(ctx, t, l->offset + first * l->each, count * l->each));
    XB_TRY(xb_grow(ctx, (void **)&t->x, &t->room, count, sizeof *t->x));
    xb_npy_convert(t->x, t->bytes, count, l);
    *x = t->x;
    return XB_OK;
}

xb_status xb_trace_fingerprint(xb_ctx *ctx, uint64_t *out, xb_trace *t)
{
    enum { ENDS = 1 << 16 };
    int64_t some = t->n < ENDS ? t->n : ENDS;
    const double *x = NULL;
    uint64_t hash = xb_hash_bytes((uint64_t)t->n, &t->n, sizeof t->n);
    for (int end = 0; end < 2; end++) {
        XB_TRY(xb_trace_read(ctx, t, &x, end ? t->n - some : 0, some));
        hash = xb_hash_bytes(hash, x, (size_t)some * sizeof *x);
    }
    *out = hash;
    return XB_OK;
}
