/* folder.c: see folder.h. The list is sorted by the names' bytes, and folders are visited
 * in that order, so that it does not depend on the file system. Links are followed, but
 * no folder is entered twice, so that loops of links end and the cost is bounded by the
 * number of folders. */
#include "data/folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/os.h"

static bool ends_as(const char *name, const char *const *endings)
{
    size_t length = strlen(name);
    for (; *endings; endings++) {
        size_t tail = strlen(*endings);
        if (length > tail && xb_os_same_text(name + length - tail, *endings, tail))
            return true;
    }
    return false;
}

static xb_status add(xb_ctx *ctx, xb_folder *f, const char *name, const xb_os_info *info)
{
    XB_TRY(xb_grow(ctx, (void **)&f->file, &f->capacity, f->n + 1, sizeof *f->file));
    char *copy = xb_strdup(ctx, name);
    if (!copy) return XB_E_MEMORY;
    f->file[f->n++] = (xb_folder_file){copy, info->size, info->changed_ns};
    return XB_OK;
}

static xb_status join(xb_ctx *ctx, char out[XB_FOLDER_PATH], const char *a, const char *b)
{
    int length = *a ? snprintf(out, XB_FOLDER_PATH, "%s/%s", a, b)
                    : snprintf(out, XB_FOLDER_PATH, "%s", b);
    if (length < XB_FOLDER_PATH) return XB_OK;
    return xb_fail(ctx, XB_E_INPUT, "%s: the path is too long", a);
}

/* A walk through folders: which of them were entered. */
typedef struct tour {
    xb_ctx *ctx;
    xb_folder *folder;
    const char *const *endings;
    xb_os_info *seen;
    int64_t n, capacity;
} tour;

static xb_status walk(tour *t, const char *below, int depth);

static xb_status enter(tour *t, const char *name, const xb_os_info *info, int depth)
{
    if (depth > XB_FOLDER_DEPTH) return XB_OK;
    for (int64_t i = 0; i < t->n; i++)
        if (xb_os_same(&t->seen[i], info)) return XB_OK;
    XB_TRY(xb_grow(t->ctx, (void **)&t->seen, &t->capacity, t->n + 1, sizeof *t->seen));
    t->seen[t->n++] = *info;
    return walk(t, name, depth);
}

static xb_status visit(tour *t, const char *below, const char *entry, int depth)
{
    char name[XB_FOLDER_PATH], path[XB_FOLDER_PATH];
    xb_os_info info;
    xb_folder *f = t->folder;
    XB_TRY(join(t->ctx, name, below, entry));
    XB_TRY(join(t->ctx, path, f->path, name));
    if (!xb_os_look(&info, path)) return XB_OK; /* a link to nowhere, or to itself */
    if (info.kind == XB_OS_FOLDER) return enter(t, name, &info, depth + 1);
    if (info.kind != XB_OS_FILE || !ends_as(entry, t->endings)) {
        f->others++;
        return XB_OK;
    }
    XB_TRY(xb_files_note(t->ctx, &info, path));
    return add(t->ctx, f, name, &info);
}

static xb_status walk(tour *t, const char *below, int depth)
{
    char path[XB_FOLDER_PATH];
    const char *top = t->folder->path;
    char **entry = NULL;
    XB_TRY(*below ? join(t->ctx, path, top, below) : join(t->ctx, path, "", top));
    const int64_t n = xb_os_list(&entry, path);
    if (n < 0)
        return xb_fail(t->ctx, errno == ENOMEM ? XB_E_MEMORY : XB_E_INPUT,
                       "%s: cannot read: %s", path, strerror(errno));
    xb_status status = XB_OK;
    for (int64_t i = 0; i < n && status == XB_OK; i++)
        if (entry[i][0] != '.') status = visit(t, below, entry[i], depth);
    xb_os_list_free(entry, n);
    return status;
}

static xb_status walk_all(tour *t)
{
    xb_os_info info;
    if (!xb_os_look(&info, t->folder->path))
        return xb_fail(t->ctx, XB_E_INPUT, "%s: cannot read: %s", t->folder->path,
                       strerror(errno));
    xb_status status = enter(t, "", &info, 0);
    free(t->seen);
    return status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const xb_folder_file *)a)->name, ((const xb_folder_file *)b)->name);
}

xb_status xb_folder_list(xb_ctx *ctx, xb_folder *out, const char *path,
                         const char *const *endings)
{
    xb_folder f = {.path = xb_strdup(ctx, path)};
    if (!f.path) return XB_E_MEMORY;
    tour t = {.ctx = ctx, .folder = &f, .endings = endings};
    xb_status status = walk_all(&t);
    if (status == XB_OK && f.n == 0)
        status =
            xb_fail(ctx, XB_E_INPUT, "%s: no file that ends in %s", path, endings[0]);
    if (status != XB_OK) {
        xb_folder_free(&f);
        return status;
    }
    qsort(f.file, (size_t)f.n, sizeof *f.file, by_name);
    *out = f;
    return XB_OK;
}

void xb_folder_free(xb_folder *f)
{
    for (int64_t i = 0; i < f->n; i++) free(f->file[i].name);
    free(f->file);
    free(f->path);
    *f = (xb_folder){0};
}

xb_status xb_folder_read(xb_ctx *ctx, uint8_t **bytes, int64_t *capacity,
                         const xb_folder *f, int64_t i)
{
    char path[XB_FOLDER_PATH];
    const xb_folder_file *file = &f->file[i];
    XB_TRY(join(ctx, path, f->path, file->name));
    XB_TRY(xb_grow(ctx, (void **)bytes, capacity, file->size + 1, 1));
    FILE *stream = xb_os_open(path, "rb");
    if (!stream)
        return xb_fail(ctx, XB_E_INPUT, "%s: cannot read: %s", path, strerror(errno));
    size_t got = fread(*bytes, 1, (size_t)file->size, stream);
    bool whole = got == (size_t)file->size && !ferror(stream);
    fclose(stream);
    if (whole) return XB_OK;
    return xb_fail(ctx, XB_E_INPUT, "%s: changed while it was read", path);
}
