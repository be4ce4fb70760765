/* energy_packed.c: packs a finished cell into bytes for another process
 * (crossbayes/work.h): the sizes of its files, its numbers, then the files themselves, so
 * that the collecting process can put them where a single process would have. */
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "crossbayes/outfile.h"
#include "study/energy_cells.h"

enum { FILES = 2 };
static const char *const endings[FILES] = {"", "_numbers"};

typedef struct packed_file {
    void *bytes;
    size_t size; /* 0: there is none */
} packed_file;

static xb_status map_file(xb_ctx *ctx, packed_file *out, const xb_cell *cell,
                          const char *dir, const char *ending)
{
    char path[XB_CELL_PATH];
    XB_TRY(xb_cell_path(ctx, path, cell, dir, ending));
    out->bytes = xb_os_map_file(&out->size, path, 1);
    if (!out->bytes) out->size = 0;
    return XB_OK;
}

static void unmap(const packed_file file[FILES])
{
    for (int i = 0; i < FILES; i++)
        if (file[i].bytes) xb_os_unmap(file[i].bytes, file[i].size);
}

static int64_t head_bytes(const xb_cell_plan *plan)
{
    return FILES * (int64_t)sizeof(int64_t) +
           xb_cell_length(plan) * (int64_t)sizeof(double);
}

static xb_status pack(xb_ctx *ctx, unsigned char **out, int64_t *size,
                      const double *values, const xb_cell_plan *plan,
                      const packed_file file[FILES])
{
    int64_t sizes[FILES], at = head_bytes(plan);
    *size = at;
    for (int i = 0; i < FILES; i++) *size += sizes[i] = (int64_t)file[i].size;
    unsigned char *to = xb_new(ctx, *size, 1);
    if (!to) return XB_E_MEMORY;
    memcpy(to, sizes, sizeof sizes);
    memcpy(to + sizeof sizes, values, (size_t)at - sizeof sizes);
    for (int i = 0; i < FILES; at += sizes[i++])
        if (file[i].size > 0) memcpy(to + at, file[i].bytes, file[i].size);
    *out = to;
    return XB_OK;
}

xb_status xb_cell_pack(xb_ctx *ctx, unsigned char **out, int64_t *size,
                       const double *values, const xb_cell_plan *plan,
                       const xb_cell *cell, const char *dir)
{
    packed_file file[FILES] = {{0}};
    xb_status status = XB_OK;
    for (int i = 0; dir && i < FILES && status == XB_OK; i++)
        status = map_file(ctx, &file[i], cell, dir, endings[i]);
    if (status == XB_OK) status = pack(ctx, out, size, values, plan, file);
    unmap(file);
    return status;
}

/* Writes a file unless it already has these bytes. */
static xb_status restore(xb_ctx *ctx, const xb_cell *cell, const char *dir,
                         const char *ending, const unsigned char *bytes, size_t size)
{
    char path[XB_CELL_PATH];
    packed_file old = {0};
    xb_outfile *f = NULL;
    XB_TRY(map_file(ctx, &old, cell, dir, ending));
    const bool same = old.size == size && memcmp(old.bytes, bytes, size) == 0;
    if (old.bytes) xb_os_unmap(old.bytes, old.size);
    if (same) return XB_OK;
    XB_TRY(xb_cell_path(ctx, path, cell, dir, ending));
    XB_TRY(xb_outfile_open(ctx, &f, path));
    fwrite(bytes, 1, size, xb_outfile_stream(f));
    return xb_outfile_commit(ctx, f);
}

xb_status xb_cell_unpack(xb_ctx *ctx, double *values, const unsigned char *from,
                         int64_t size, const xb_cell_plan *plan, const xb_cell *cell,
                         const char *dir)
{
    int64_t sizes[FILES], at = head_bytes(plan), left = size - at;
    bool whole = left >= 0;
    if (whole) memcpy(sizes, from, sizeof sizes);
    for (int i = 0; i < FILES && whole; i++) {
        whole = sizes[i] >= 0 && sizes[i] <= left;
        if (whole) left -= sizes[i];
    }
    if (!whole || left != 0)
        return xb_fail(ctx, XB_E_INPUT, "width %lld, depth %lld: not a valid result",
                       (long long)cell->width, (long long)cell->depth);
    memcpy(values, from + sizeof sizes, (size_t)at - sizeof sizes);
    for (int i = 0; i < FILES; at += sizes[i++])
        if (dir && sizes[i] > 0)
            XB_TRY(restore(ctx, cell, dir, endings[i], from + at, (size_t)sizes[i]));
    return XB_OK;
}
