/* os_posix.c: files, folders and maps on Linux, macOS and WebAssembly; see os.h. */
#define _GNU_SOURCE /* mkdtemp, utimensat */
#include "base/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what is at a path */

static void tell(xb_os_info *out, const struct stat *s)
{
#ifdef __APPLE__
    const struct timespec changed = s->st_mtimespec;
#else
    const struct timespec changed = s->st_mtim;
#endif
    *out = (xb_os_info){.kind = S_ISREG(s->st_mode)   ? XB_OS_FILE
                                : S_ISDIR(s->st_mode) ? XB_OS_FOLDER
                                                      : XB_OS_OTHER,
                        .device = (uint64_t)s->st_dev,
                        .number = (uint64_t)s->st_ino,
                        .links = (int64_t)s->st_nlink,
                        .size = (int64_t)s->st_size,
                        .changed_ns = (int64_t)changed.tv_sec * INT64_C(1000000000) +
                                      (int64_t)changed.tv_nsec};
}

bool xb_os_look(xb_os_info *out, const char *path)
{
    struct stat s;
    if (stat(path, &s) != 0) return false;
    tell(out, &s);
    return true;
}

bool xb_os_look_link(xb_os_info *out, const char *path)
{
    struct stat s;
    if (lstat(path, &s) != 0) return false;
    tell(out, &s);
    return true;
}

static bool look_open(xb_os_info *out, int file)
{
    struct stat s;
    if (fstat(file, &s) != 0) return false;
    tell(out, &s);
    return true;
}

bool xb_os_look_stream(xb_os_info *out, FILE *stream)
{
    return look_open(out, fileno(stream));
}

bool xb_os_seek(FILE *stream, int64_t at)
{
    return fseeko(stream, (off_t)at, SEEK_SET) == 0;
}

bool xb_os_exists(const char *path) { return access(path, F_OK) == 0; }
bool xb_os_can_write(const char *folder) { return access(folder, W_OK | X_OK) == 0; }

/* ---- files */

/* Closes the file after a failure; errno stays that of the failure. */
static void close_quietly(int file)
{
    const int reason = errno;
    if (file >= 0) close(file);
    errno = reason;
}

FILE *xb_os_open(const char *path, const char *mode) { return fopen(path, mode); }

FILE *xb_os_create(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *stream = file >= 0 ? fdopen(file, "wb") : NULL;
    if (stream || file < 0) return stream;
    const int reason = errno;
    close(file);
    unlink(path);
    errno = reason;
    return NULL;
}

FILE *xb_os_nameless(char *path, size_t size)
{
    const char *set = getenv("TMPDIR");
    snprintf(path, size, "%s/crossbayes-XXXXXX", set && *set ? set : "/tmp");
    int file = mkstemp(path);
    FILE *stream = file >= 0 ? fdopen(file, "w+b") : NULL;
    const int reason = errno;
    if (file >= 0) unlink(path);
    if (file >= 0 && !stream) close(file);
    errno = reason;
    return stream;
}

static int64_t read_all(int file, char *to, size_t size)
{
    size_t have = 0;
    while (have < size) {
        ssize_t got = read(file, to + have, size - have);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        have += (size_t)got;
    }
    return (int64_t)have;
}

int64_t xb_os_read_head(xb_os_info *info, void *to, size_t size, const char *path)
{
    *info = (xb_os_info){.kind = XB_OS_NONE};
    int file =
        open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* opening a pipe might block */
    int64_t got = -1;
    if (file >= 0 && look_open(info, file))
        got = info->kind == XB_OS_FILE ? read_all(file, to, size) : 0;
    close_quietly(file);
    return got;
}

static bool flush_open(int file)
{
#ifdef F_FULLFSYNC /* on macOS fsync() does not flush the disk's own cache */
    if (fcntl(file, F_FULLFSYNC) == 0) return true;
#endif
    return fsync(file) == 0;
}

bool xb_os_flush(FILE *stream) { return flush_open(fileno(stream)); }

bool xb_os_flush_file(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    const bool flushed = file >= 0 && flush_open(file);
    close_quietly(file);
    return flushed;
}

/* The file system cannot flush folders, or the folder may be written to but not read:
 * nothing is lost, and nothing can be done about it. */
static bool is_impossible(int reason)
{
    return reason == EACCES || reason == EINVAL || reason == EROFS || reason == ENOTSUP ||
           reason == ENOSYS;
}

bool xb_os_flush_folder(const char *folder)
{
    int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool flushed = file >= 0 && flush_open(file);
    close_quietly(file);
    return flushed || is_impossible(errno);
}

bool xb_os_rename(const char *from, const char *to) { return rename(from, to) == 0; }
bool xb_os_unlink(const char *path) { return unlink(path) == 0; }
bool xb_os_touch(const char *path) { return utimensat(AT_FDCWD, path, NULL, 0) == 0; }

/* ---- folders */

bool xb_os_make_folder(const char *path) { return mkdir(path, 0777) == 0; }
bool xb_os_make_private_folder(const char *path) { return mkdir(path, 0700) == 0; }
bool xb_os_make_new_folder(char *path) { return mkdtemp(path) != NULL; }
bool xb_os_remove_folder(const char *path) { return rmdir(path) == 0; }

xb_os_folder *xb_os_folder_open(const char *path)
{
    return (xb_os_folder *)opendir(path);
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

const char *xb_os_folder_next(xb_os_folder *folder)
{
    const struct dirent *entry;
    do {
        entry = readdir((DIR *)folder);
    } while (entry && is_dots(entry->d_name));
    return entry ? entry->d_name : NULL;
}

void xb_os_folder_close(xb_os_folder *folder) { closedir((DIR *)folder); }

bool xb_os_name_fits(const char *pattern, const char *name)
{
    return fnmatch(pattern, name, FNM_PERIOD) == 0;
}

_Static_assert((int)XB_OS_PATH_MAX >= PATH_MAX, "realpath() writes that much");

bool xb_os_full_path(char out[XB_OS_PATH_MAX], const char *path)
{
    return realpath(path, out) != NULL;
}

bool xb_os_is_absolute(const char *path) { return path[0] == '/'; }

/* ---- maps */

#ifdef __APPLE__
static int reserve(int file, off_t size)
{
    fstore_t room = {
        .fst_flags = F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE, .fst_length = size};
    if (fcntl(file, F_PREALLOCATE, &room) != 0 && errno != ENOTSUP) return errno;
    return ftruncate(file, size) == 0 ? 0 : errno;
}
#else
static int reserve(int file, off_t size) { return posix_fallocate(file, 0, size); }
#endif

bool xb_os_reserve(FILE *stream, int64_t size)
{
    const int reason = reserve(fileno(stream), (off_t)size);
    if (reason) errno = reason;
    return reason == 0;
}

static void *map(int file, size_t size, int access)
{
    void *at = mmap(NULL, size, access, MAP_SHARED, file, 0);
    return at == MAP_FAILED ? NULL : at;
}

void *xb_os_map(FILE *stream, size_t size)
{
    return map(fileno(stream), size, PROT_READ | PROT_WRITE);
}

void *xb_os_map_file(size_t *size, const char *path, size_t least)
{
    xb_os_info info;
    void *at = NULL;
    int file =
        open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* opening a pipe might block */
    if (file >= 0 && look_open(&info, file) && info.kind == XB_OS_FILE &&
        info.size >= (int64_t)least) {
        *size = (size_t)info.size;
        at = map(file, *size, PROT_READ);
    }
    close_quietly(file);
    return at;
}

void xb_os_map_protect(void *at, size_t size) { (void)mprotect(at, size, PROT_READ); }
void xb_os_map_rest(void *at, size_t size) { (void)madvise(at, size, MADV_DONTNEED); }
void xb_os_unmap(void *at, size_t size) { munmap(at, size); }
