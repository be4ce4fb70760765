/* outfile.c: write to a temporary name, flush, rename. See outfile.h. */
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

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
    return xb_fail(ctx, XB_E_IO, "%s: cannot write: %s", path, strerror(errno));
}

/* mkstemp makes files only the owner can read; give them what open() would. */
static void apply_umask(int fd)
{
    mode_t mask = umask(0);
    umask(mask);
    (void)fchmod(fd, 0666 & ~mask);
}

xb_status xb_outfile_open(xb_ctx *ctx, xb_outfile **out, const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return xb_fail(ctx, XB_E_IO, "%s: is a directory, expected a file name", path);
    xb_outfile *f = xb_new(ctx, 1, sizeof *f);
    if (!f) return XB_E_MEMORY;
    int64_t size = (int64_t)strlen(path) + 16;
    f->path = xb_strdup(ctx, path);
    f->temporary = xb_new(ctx, size, 1);
    if (!f->path || !f->temporary) {
        outfile_free(f);
        return XB_E_MEMORY;
    }
    snprintf(f->temporary, (size_t)size, "%s.tmp-XXXXXX", path);
    int fd = mkstemp(f->temporary);
    if (fd >= 0) {
        apply_umask(fd);
        f->stream = fdopen(fd, "wb");
    }
    if (!f->stream) {
        xb_status status = cannot_write(ctx, path);
        if (fd >= 0) {
            close(fd);
            unlink(f->temporary);
        }
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
    unlink(f->temporary);
    outfile_free(f);
}

xb_status xb_outfile_commit(xb_ctx *ctx, xb_outfile *f)
{
    bool ok =
        !ferror(f->stream) && fflush(f->stream) == 0 && fsync(fileno(f->stream)) == 0;
    int saved = errno;
    ok = (fclose(f->stream) == 0) && ok;
    f->stream = NULL;
    if (ok && rename(f->temporary, f->path) == 0) {
        outfile_free(f);
        return XB_OK;
    }
    if (!ok && saved) errno = saved;
    xb_status status = cannot_write(ctx, f->path);
    xb_outfile_discard(f);
    return status;
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
        (void)mkdir(partial, 0777);
        *p = '/';
    }
    free(partial);
    struct stat info;
    if (mkdir(path, 0777) == 0 || (stat(path, &info) == 0 && S_ISDIR(info.st_mode)))
        return XB_OK;
    return xb_fail(ctx, XB_E_IO, "%s: cannot make this directory: %s", path,
                   strerror(errno));
}
