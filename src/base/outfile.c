/* outfile.c: write to a temporary name, flush, rename, flush the folder; see outfile.h.
 * Told is what went wrong first, not what closing or removing says after it. */
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"
#include "crossbayes/extend.h"
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

/* A new file beside `path`, its name in `temporary`. Unlike mkstemp's it may be read by
 * whom the umask allows: to ask for the umask is to change it, for other threads too. */
static int make_beside(char *temporary, size_t size, const char *path)
{
    enum { TRIES = 100 };
    int fd = -1;
    for (uint64_t k = 0; k < TRIES; k++) {
        struct timespec now = {0};
        clock_gettime(CLOCK_REALTIME, &now);
        const uint64_t mix[] = {(uint64_t)now.tv_nsec, (uint64_t)now.tv_sec,
                                (uint64_t)getpid(), (uint64_t)(uintptr_t)temporary, k};
        snprintf(temporary, size, "%s.tmp-%06x", path,
                 (unsigned)(xb_hash_bytes(0, mix, sizeof mix) & 0xFFFFFF));
        fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) break;
    }
    return fd;
}

xb_status xb_outfile_open(xb_ctx *ctx, xb_outfile **out, const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
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
    int fd = make_beside(f->temporary, (size_t)size, path);
    if (fd >= 0) f->stream = fdopen(fd, "wb");
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

/* A file system that cannot flush folders, or a folder that may be written to but not
 * read: nothing is broken, and nothing can be done. */
static bool is_impossible(int reason)
{
    return reason == EACCES || reason == EINVAL || reason == EROFS || reason == ENOTSUP ||
           reason == ENOSYS;
}

/* The folder of `path`: a new name in it is on the disk after this. 0, or why not. */
static int flush_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX] = ".";
    if (slash) snprintf(folder, sizeof folder, "%.*s", (int)(slash + 1 - path), path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int reason = fd < 0 || fsync(fd) != 0 ? errno : 0;
    if (fd >= 0) close(fd);
    return is_impossible(reason) ? 0 : reason;
}

xb_status xb_folder_flush(xb_ctx *ctx, const char *path)
{
    int reason = flush_folder(path);
    if (reason == 0) return XB_OK;
    return xb_fail(ctx, XB_E_IO, "%s: written, but its folder cannot be flushed: %s",
                   path, strerror(reason));
}

static xb_status give_name(xb_ctx *ctx, const char *from, const char *to)
{
    if (xb_files_rename(ctx, from, to) != 0) return cannot_write(ctx, to);
    return xb_folder_flush(ctx, to);
}

xb_status xb_outfile_commit(xb_ctx *ctx, xb_outfile *f)
{
    bool whole =
        !ferror(f->stream) && fflush(f->stream) == 0 && fsync(fileno(f->stream)) == 0;
    int reason = errno;
    bool closed = fclose(f->stream) == 0;
    f->stream = NULL;
    if (!whole && reason) errno = reason; /* not that of closing */
    xb_status status = whole && closed ? give_name(ctx, f->temporary, f->path)
                                       : cannot_write(ctx, f->path);
    if (status != XB_OK) unlink(f->temporary);
    outfile_free(f);
    return status;
}

xb_status xb_outfile_place(xb_ctx *ctx, const char *from, const char *to)
{
    XB_TRY(xb_files_begin(ctx, to));
    int fd = open(from, O_RDONLY | O_CLOEXEC);
    bool flushed = fd >= 0 && fsync(fd) == 0;
    int reason = errno;
    if (fd >= 0) close(fd);
    errno = reason;
    return flushed ? give_name(ctx, from, to) : cannot_write(ctx, to);
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
