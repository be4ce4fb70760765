/* npy.c: reads and writes NumPy's array files; the header is in npyhead.c.
 *
 * Reading takes floats and integers of any size, of either byte order, and booleans,
 * in C or Fortran order, and turns them into doubles in C order (integers beyond 2^53
 * are rounded). The
 * shape is checked against the size of the file before memory is asked for;
 * where the size is unknown (stdin) memory grows only as data arrive. */
#include "data/npy.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/outfile.h"
#include "crossbayes/data.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "values are read and written as they lie in memory");

enum { BLOCK = 1 << 20 }; /* bytes read or written at once, a multiple of 8 */

typedef struct element {
    const char *type; /* type without the byte order */
    int64_t size;
    void (*convert)(double *to, const unsigned char *from, int64_t n);
} element;

#define CONVERT(name, ctype)                                                             \
    static void convert_##name(double *to, const unsigned char *from, int64_t n)         \
    {                                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                \
            ctype value;                                                                 \
            memcpy(&value, from + i * (int64_t)sizeof value, sizeof value);              \
            to[i] = (double)value;                                                       \
        }                                                                                \
    }
CONVERT(f4, float)
CONVERT(f8, double)
CONVERT(i1, int8_t)
CONVERT(i2, int16_t)
CONVERT(i4, int32_t)
CONVERT(i8, int64_t)
CONVERT(u1, uint8_t)
CONVERT(u2, uint16_t)
CONVERT(u4, uint32_t)
CONVERT(u8, uint64_t)

static const element elements[] = {
    {"f4", 4, convert_f4}, {"f8", 8, convert_f8}, {"i1", 1, convert_i1},
    {"i2", 2, convert_i2}, {"i4", 4, convert_i4}, {"i8", 8, convert_i8},
    {"u1", 1, convert_u1}, {"u2", 2, convert_u2}, {"u4", 4, convert_u4},
    {"u8", 8, convert_u8}, {"b1", 1, convert_u1},
};

static xb_status fail_npy(const xb_source *s, const char *what)
{
    return xb_fail(s->ctx, XB_E_INPUT, "%s: %s", s->name, what);
}

static xb_status read_exactly(xb_source *s, void *to, int64_t want, const char *what)
{
    int64_t got = 0;
    XB_TRY(xb_source_read(s, to, want, &got));
    if (got == want) return XB_OK;
    return xb_fail(s->ctx, XB_E_INPUT, "%s: truncated NPY file: it ends within its %s",
                   s->name, what);
}

static xb_status header_size(int64_t *out, xb_source *s)
{
    unsigned char start[8], length[4] = {0};
    if (!xb_source_starts(s, XB_NPY_MAGIC, XB_NPY_MAGIC_SIZE))
        return fail_npy(s, "not an NPY file");
    XB_TRY(read_exactly(s, start, sizeof start, "header"));
    int version = start[XB_NPY_MAGIC_SIZE];
    if (version < 1 || version > 3)
        return xb_fail(s->ctx, XB_E_INPUT, "%s: NPY version %d, expected 1 to 3", s->name,
                       version);
    XB_TRY(read_exactly(s, length, version == 1 ? 2 : 4, "header"));
    *out = length[0] | length[1] << 8 | length[2] << 16 | (int64_t)length[3] << 24;
    if (*out > XB_NPY_HEADER_MAX || (s->size >= 0 && *out > s->size - s->taken))
        return xb_fail(s->ctx, XB_E_INPUT,
                       "%s: NPY header of %lld bytes, longer than the file or 64 KiB",
                       s->name, (long long)*out);
    return XB_OK;
}

static xb_status read_header(xb_npy_head *head, xb_source *s)
{
    int64_t size = 0;
    XB_TRY(header_size(&size, s));
    char *text = xb_new(s->ctx, size, 1);
    if (!text) return XB_E_MEMORY;
    xb_status status = read_exactly(s, text, size, "header");
    if (status == XB_OK) status = xb_npy_head_parse(s->ctx, head, s->name, text, size);
    free(text);
    return status;
}

static xb_status find_element(const element **out, const xb_npy_head *head, xb_source *s)
{
    const char *name = head->type[0] ? head->type + 1 : "";
    const element *e = NULL;
    for (int i = 0; i < XB_COUNT(elements); i++)
        if (strcmp(elements[i].type, name) == 0) e = &elements[i];
    if (!e)
        return xb_fail(s->ctx, XB_E_INPUT,
                       "%s: NPY elements of type '%s', expected floats, integers or "
                       "booleans",
                       s->name, head->type);
    if (!strchr("<|=>", head->type[0]))
        return xb_fail(s->ctx, XB_E_INPUT, "%s: NPY elements of unknown type '%s'",
                       s->name, head->type);
    *out = e;
    return XB_OK;
}

/* The number of elements; the file must have their bytes. */
static xb_status count_elements(int64_t *out, const xb_npy_head *head, const element *e,
                                const xb_source *s)
{
    int64_t n = 1, bytes = 0;
    bool overflow = false;
    for (int i = 0; i < head->ndim; i++)
        overflow |= __builtin_mul_overflow(n, head->shape[i], &n);
    overflow |= __builtin_mul_overflow(n, (int64_t)sizeof(double), &bytes);
    if (overflow) return fail_npy(s, "NPY shape is impossible: more than 2^63 bytes");
    int64_t there = s->size - s->taken, need = n * e->size;
    if (s->size >= 0 && there < need)
        return xb_fail(s->ctx, XB_E_INPUT,
                       "%s: truncated NPY file: %lld %s of data, its shape needs %lld",
                       s->name, (long long)there, xb_plural(there, "byte", "bytes"),
                       (long long)need);
    *out = n;
    return XB_OK;
}

static void swap_bytes(unsigned char *block, int64_t count, int64_t size)
{
    for (int64_t i = 0; i < count; i++, block += size)
        for (int64_t k = 0; k < size / 2; k++) {
            unsigned char byte = block[k];
            block[k] = block[size - 1 - k];
            block[size - 1 - k] = byte;
        }
}

/* Converts Fortran order, in which the first index varies fastest, to C order: `at`
 * counts in C order, and `from` follows it through Fortran order. */
static void to_c_order(double *to, const double *values, int64_t n,
                       const xb_npy_head *head)
{
    int64_t at[XB_NPY_DIMENSIONS] = {0}, stride[XB_NPY_DIMENSIONS], from = 0;
    for (int k = 0; k < head->ndim; k++)
        stride[k] = k == 0 ? 1 : stride[k - 1] * head->shape[k - 1];
    for (int64_t i = 0; i < n; i++) {
        to[i] = values[from];
        for (int k = head->ndim - 1; k >= 0; k--) {
            from += stride[k];
            if (++at[k] < head->shape[k]) break;
            from -= at[k] * stride[k];
            at[k] = 0;
        }
    }
}

static xb_status reorder(xb_ctx *ctx, double **values, int64_t n, const xb_npy_head *head)
{
    if (!head->fortran || head->ndim < 2 || n == 0) return XB_OK;
    double *to = xb_new(ctx, n, sizeof *to);
    if (!to) return XB_E_MEMORY;
    to_c_order(to, *values, n, head);
    free(*values);
    *values = to;
    return XB_OK;
}

xb_status xb_npy_layout_read(xb_npy_layout *out, xb_source *source)
{
    xb_npy_layout found = {0};
    const element *e = NULL;
    XB_TRY(read_header(&found.head, source));
    XB_TRY(find_element(&e, &found.head, source));
    XB_TRY(count_elements(&found.n, &found.head, e, source));
    found.each = e->size, found.convert = e->convert;
    found.swap = found.head.type[0] == '>';
    found.offset = source->taken;
    *out = found;
    return XB_OK;
}

void xb_npy_convert(double *to, unsigned char *from, int64_t count,
                    const xb_npy_layout *layout)
{
    if (layout->swap) swap_bytes(from, count, layout->each);
    layout->convert(to, from, count);
}

static xb_status check_end(xb_source *source)
{
    unsigned char byte;
    int64_t more = 0;
    XB_TRY(xb_source_read(source, &byte, 1, &more));
    return more ? fail_npy(source, "data after the NPY array, expected none") : XB_OK;
}

static xb_status read_values(double **values, const xb_npy_layout *l, xb_source *source,
                             unsigned char *block)
{
    int64_t n = l->n, capacity = 0, step = BLOCK / l->each;
    bool known = source->size >= 0; /* then the file is known to have them all */
    if (known || n == 0)
        XB_TRY(xb_grow(source->ctx, (void **)values, &capacity, n > 0 ? n : 1,
                       sizeof **values));
    for (int64_t i = 0; i < n; i += step) {
        int64_t count = n - i < step ? n - i : step;
        XB_TRY(read_exactly(source, block, count * l->each, "data"));
        XB_TRY(
            xb_grow(source->ctx, (void **)values, &capacity, i + count, sizeof **values));
        xb_npy_convert(*values + i, block, count, l);
    }
    return check_end(source);
}

/* All values, in C order. */
static xb_status read_all(double **out, const xb_npy_layout *l, xb_source *source)
{
    unsigned char *block = xb_new(source->ctx, BLOCK, 1);
    if (!block) return XB_E_MEMORY;
    double *values = NULL;
    xb_status status = read_values(&values, l, source, block);
    free(block);
    if (status == XB_OK) status = reorder(source->ctx, &values, l->n, &l->head);
    if (status == XB_OK)
        *out = values;
    else
        free(values);
    return status;
}

xb_status xb_npy_read_source(double **out, int64_t *n, xb_npy_head *head,
                             xb_source *source)
{
    xb_npy_layout l;
    XB_TRY(xb_npy_layout_read(&l, source));
    XB_TRY(read_all(out, &l, source));
    *n = l.n;
    *head = l.head;
    return XB_OK;
}

static xb_status take_blocks(xb_source *source, const xb_npy_layout *l, int64_t columns,
                             int64_t step, double *row, unsigned char *block,
                             xb_npy_take *take, void *arg)
{
    const int64_t rows = l->n / columns;
    for (int64_t i = 0; i < rows; i += step) {
        const int64_t count = rows - i < step ? rows - i : step, n = count * columns;
        XB_TRY(read_exactly(source, block, n * l->each, "data"));
        xb_npy_convert(row, block, n, l);
        XB_TRY(take(arg, row, count));
    }
    return check_end(source);
}

static xb_status take_all(xb_source *source, const xb_npy_layout *l, int64_t columns,
                          xb_npy_take *take, void *arg)
{
    double *values = NULL;
    XB_TRY(read_all(&values, l, source));
    const xb_status status = take(arg, values, l->n / columns);
    free(values);
    return status;
}

xb_status xb_npy_read_rows(xb_source *source, const xb_npy_layout *l, int64_t columns,
                           xb_npy_take *take, void *arg)
{
    const int64_t fit = BLOCK / l->each / columns, step = fit > 0 ? fit : 1;
    const bool doubtful = fit == 0 && source->size < 0; /* a row may never arrive */
    if (doubtful || (l->head.fortran && l->head.ndim > 1))
        return take_all(source, l, columns, take, arg);
    double *row = xb_new(source->ctx, step * columns, sizeof *row);
    unsigned char *block = xb_new(source->ctx, step * columns, (size_t)l->each);
    xb_status status = XB_E_MEMORY;
    if (row && block)
        status = take_blocks(source, l, columns, step, row, block, take, arg);
    free(row);
    free(block);
    return status;
}

xb_status xb_npy_read(xb_ctx *ctx, double **out, int64_t shape[8], int64_t *ndim,
                      const char *path)
{
    xb_source source;
    xb_npy_head head;
    int64_t n = 0;
    XB_TRY(xb_source_open(ctx, &source, path));
    xb_status status = xb_npy_read_source(out, &n, &head, &source);
    xb_source_close(&source);
    if (status != XB_OK) return xb_source_explain(&source, status, XB_KIND_NPY);
    memcpy(shape, head.shape, sizeof head.shape);
    *ndim = head.ndim;
    return XB_OK;
}

static xb_status check_shape(xb_ctx *ctx, int64_t *bytes, const int64_t *shape,
                             int64_t ndim, int64_t item)
{
    if (ndim < 0 || ndim > XB_NPY_DIMENSIONS)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld dimensions, expected 0 to %d",
                       (long long)ndim, XB_NPY_DIMENSIONS);
    *bytes = item;
    for (int i = 0; i < ndim; i++)
        if (shape[i] < 0 || __builtin_mul_overflow(*bytes, shape[i], bytes))
            return xb_fail(ctx, XB_E_ARGUMENT,
                           "dimension %d has the impossible length %lld", i,
                           (long long)shape[i]);
    return XB_OK;
}

static xb_status write_values(xb_ctx *ctx, FILE *stream, const char *path,
                              const char *values, int64_t bytes)
{
    char task[256];
    snprintf(task, sizeof task, "writing %s", path);
    for (int64_t at = 0; at < bytes; at += BLOCK) {
        int64_t count = bytes - at < BLOCK ? bytes - at : BLOCK;
        if (fwrite(values + at, 1, (size_t)count, stream) != (size_t)count) break;
        XB_TRY(xb_progress_tell(ctx, task, at + count, bytes));
    }
    return XB_OK; /* a failed write shows when the file is committed */
}

xb_status xb_npy_write(xb_ctx *ctx, const char *path, const void *values, xb_dtype type,
                       const int64_t *shape, int64_t ndim)
{
    int64_t bytes = 0;
    XB_TRY(check_shape(ctx, &bytes, shape, ndim, type == XB_F32 ? 4 : 8));
    xb_npy_head head = {.ndim = (int)ndim};
    memcpy(head.type, type == XB_F32 ? "<f4" : "<f8", sizeof "<f4");
    for (int i = 0; i < ndim; i++) head.shape[i] = shape[i];
    char text[512];
    int size = xb_npy_head_format(text, &head);
    xb_outfile *f = NULL;
    XB_TRY(xb_outfile_open(ctx, &f, path));
    fwrite(text, 1, (size_t)size, xb_outfile_stream(f));
    xb_status status = write_values(ctx, xb_outfile_stream(f), path, values, bytes);
    if (status == XB_OK) return xb_outfile_commit(ctx, f);
    xb_outfile_discard(f);
    return status;
}
