/* outfile.c: writes to a temporary name, flushes, renames, and flushes the folder; see
 * outfile.h. It reports the first error, not later ones from closing or removing the
 * file. */
#include "base/outfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "crossbayes/extend.h"
#include "base/memory.h"
#include "base/os.h"

struct xb_outfile {
    FILE *stream;
    char *path;
    char *temporary;
};

static void outfile_free(xb_outfile *f)
{
    if (!f) return;
    free(f->path);
    free(f->temporary);
    free(f);
}

static xb_status cannot_write(xb_ctx *ctx, const char *path)
{
    const xb_status status = errno == ENOMEM ? XB_E_MEMORY : XB_E_IO;
    return xb_fail(ctx, status, "%s: cannot write: %s", path, strerror(errno));
}

/* Creates a file beside `path`, with its name in `temporary`. Unlike mkstemp's, its
 * permissions follow the umask; reading the umask would mean changing it for a moment,
 * for other threads as well. */
static FILE *make_beside(char *temporary, size_t size, const char *path)
{
    enum { TRIES = 100 };
    FILE *stream = NULL;
    for (uint64_t k = 0; k < TRIES; k++) {
        const uint64_t mix[] = {(uint64_t)xb_os_time_ns(), (uint64_t)xb_os_process(),
                                (uint64_t)(uintptr_t)temporary, k};
        snprintf(temporary, size, "%s.tmp-%06x", path,
                 (unsigned)(xb_hash_bytes(0, mix, sizeof mix) & 0xFFFFFF));
        stream = xb_os_create(temporary);
        if (stream || errno != EEXIST) break;
    }
    return stream;
}

xb_status xb_outfile_open(xb_ctx *ctx, xb_outfile **out, const char *path)
{
    xb_os_info info;
    if (xb_os_look(&info, path) && info.kind == XB_OS_FOLDER)
        return xb_fail(ctx, XB_E_IO, "%s: is a directory, expected a file name", path);
    XB_TRY(xb_files_begin(ctx, path));
    xb_outfile *f = xb_new(ctx, 1, sizeof *f);
    if (!f) return XB_E_MEMORY;
    int64_t size = (int64_t)strlen(path) + 16;
    f->path = xb_strdup(ctx, path);
    f->temporary = xb_new(ctx, size, 1);
    if (!f->path || !f->temporary) {
        outfile_free(f);
        return XB_E_MEMORY;
    }
    f->stream = make_beside(f->temporary, (size_t)size, path);
    if (!f->stream) {
        xb_status status = cannot_write(ctx, path);
        outfile_free(f);
        return status;
    }
    *out = f;
    return XB_OK;
}

FILE *xb_outfile_stream(xb_outfile *f) { return f->stream; }

void xb_outfile_discard(xb_outfile *f)
{
    if (!f) return;
    if (f->stream) fclose(f->stream);
    (void)xb_os_unlink(f->temporary);
    outfile_free(f);
}

xb_status xb_folder_flush(xb_ctx *ctx, const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[XB_OS_PATH_MAX] = ".";
    if (slash) snprintf(folder, sizeof folder, "%.*s", (int)(slash + 1 - path), path);
    if (xb_os_flush_folder(folder)) return XB_OK;
    return xb_fail(ctx, XB_E_IO, "%s: written, but its folder cannot be flushed: %s",
                   path, strerror(errno));
}

static xb_status give_name(xb_ctx *ctx, const char *from, const char *to)
{
    if (!xb_files_rename(ctx, from, to)) return cannot_write(ctx, to);
    return xb_folder_flush(ctx, to);
}

xb_status xb_outfile_commit(xb_ctx *ctx, xb_outfile *f)
{
    bool whole = !ferror(f->stream) && fflush(f->stream) == 0 && xb_os_flush(f->stream);
    int reason = errno;
    bool closed = fclose(f->stream) == 0;
    f->stream = NULL;
    if (!whole && reason) errno = reason; /* not the error of closing */
    xb_status status = whole && closed ? give_name(ctx, f->temporary, f->path)
                                       : cannot_write(ctx, f->path);
    if (status != XB_OK) (void)xb_os_unlink(f->temporary);
    outfile_free(f);
    return status;
}

xb_status xb_outfile_place(xb_ctx *ctx, const char *from, const char *to)
{
    XB_TRY(xb_files_begin(ctx, to));
    return xb_os_flush_file(from) ? give_name(ctx, from, to) : cannot_write(ctx, to);
}

xb_status xb_outfile_text(xb_ctx *ctx, const char *path, const char *text)
{
    xb_outfile *f = NULL;
    XB_TRY(xb_outfile_open(ctx, &f, path));
    fputs(text, f->stream);
    return xb_outfile_commit(ctx, f);
}

xb_status xb_dir_make(xb_ctx *ctx, const char *path)
{
    char *partial = xb_strdup(ctx, path);
    if (!partial) return XB_E_MEMORY;
    for (char *p = partial + 1; *p; p++) {
        if (*p != '/') continue;
        *p = '\0';
        (void)xb_os_make_folder(partial);
        *p = '/';
    }
    free(partial);
    xb_os_info info;
    if (xb_os_make_folder(path) || (xb_os_look(&info, path) && info.kind == XB_OS_FOLDER))
        return XB_OK;
    return xb_fail(ctx, XB_E_IO, "%s: cannot create this directory: %s", path,
                   strerror(errno));
}
