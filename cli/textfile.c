/* textfile.c: see textfile.h. */
#include "textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static cli_exit cannot_write(cli_session *s, const char *path)
{
    (void)cli_fail(s, CLI_FAILED, "%s: cannot write: %s", path, strerror(errno));
    return CLI_FAILED; /* in sight of analysers */
}

/* mkstemp makes files only the owner can read; give them what open() would. */
static void apply_umask(int fd)
{
    mode_t mask = umask(0);
    umask(mask);
    (void)fchmod(fd, 0666 & ~mask);
}

cli_exit cli_textfile_open(cli_session *s, cli_textfile *f, const char *path)
{
    *f = (cli_textfile){.path = path};
    if (strcmp(path, "-") == 0) {
        f->stream = stdout;
        return CLI_DONE;
    }
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return cannot_write(s, path);
    }
    size_t size = strlen(path) + 16;
    f->temporary = malloc(size);
    if (!f->temporary) return cannot_write(s, path);
    snprintf(f->temporary, size, "%s.tmp-XXXXXX", path);
    int fd = mkstemp(f->temporary);
    if (fd >= 0) {
        apply_umask(fd);
        f->stream = fdopen(fd, "w");
    }
    if (f->stream) return CLI_DONE;
    cli_exit code = cannot_write(s, path);
    if (fd >= 0) unlink(f->temporary);
    free(f->temporary);
    return code;
}

/* The folder of a new file, so that its name outlives a loss of power; true where that is
 * done or cannot be: not every file system flushes folders, not every folder may be read.
 */
static bool flush_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX] = ".";
    if (slash) snprintf(folder, sizeof folder, "%.*s", (int)(slash + 1 - path), path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = fd >= 0 && fsync(fd) == 0;
    int reason = errno;
    if (fd >= 0) close(fd);
    errno = reason;
    return done || reason == EACCES || reason == EINVAL || reason == EROFS ||
           reason == ENOTSUP || reason == ENOSYS;
}

static cli_exit settle(cli_session *s, const char *path)
{
    if (flush_folder(path)) return CLI_DONE;
    return cli_fail(s, CLI_FAILED, "%s: written, but its folder cannot be flushed: %s",
                    path, strerror(errno));
}

cli_exit cli_textfile_close(cli_session *s, cli_textfile *f, bool keep)
{
    if (!f->temporary) return CLI_DONE; /* stdout: checked at the end of the program */
    bool whole = keep && fflush(f->stream) == 0 && !ferror(f->stream) &&
                 fsync(fileno(f->stream)) == 0;
    int reason = errno;
    bool closed = fclose(f->stream) == 0;
    bool placed = whole && closed && rename(f->temporary, f->path) == 0;
    if (whole) reason = errno;
    if (!placed) unlink(f->temporary);
    free(f->temporary);
    errno = reason;
    if (placed) return settle(s, f->path);
    return keep ? cannot_write(s, f->path) : CLI_DONE;
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    if (strcmp(a, b) == 0) return true;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

cli_exit cli_output_check(cli_session *s, const char *path, const char *const *others,
                          int n)
{
    cli_textfile f;
    if (strcmp(path, "-") == 0) return CLI_DONE;
    for (int i = 0; i < n; i++)
        if (others[i] && same_file(path, others[i]))
            return cli_fail(s, CLI_USAGE, "%s: the same file as %s, which would be lost",
                            path, others[i]);
    cli_exit code = cli_textfile_open(s, &f, path);
    return code == CLI_DONE ? cli_textfile_close(s, &f, false) : code;
}
