/* shim.c: a library to preload (LD_PRELOAD) that makes one call of the program fail.
 *
 *   XB_FAULT=alloc:7           the 7th allocation gives NULL
 *   XB_FAULT=alloc:7:on        so do all after it
 *   XB_FAULT=buffer:2          the 2nd allocation of a stream for its buffer
 *   XB_FAULT=write:3:ENOSPC    the 3rd write fails; EIO, EINTR, short (half is written)
 *   XB_FAULT=print:1           so too a write to stdout
 *   XB_FAULT=space:5000        the disk is full once 5000 bytes were written
 *   XB_FAULT=sync:1            so too dirsync (fsync of a folder), open, close, rename,
 *                              mkdir, truncate (EIO or as given)
 *   XB_FAULT=rename:2:kill     SIGKILL before the 2nd; int: SIGINT, and the call is made
 *   XB_FAULT=thread:2          the 2nd thread cannot be started; thread:2:on, nor others
 *   XB_FAULT_REPORT=FILE       at the end, "kind count" of each kind, a line each, and
 * for each place in the code that allocates "stack first last": the first and the last
 * allocation made there
 *   XB_FAULT_FORK=...          many faults in one run (fork.c)
 *
 * Calls are counted from main() on, in all libraries, by all threads. Writes of stdio
 * never leave the C library, where nothing can stand in their way; so streams for
 * writing, and stdout, are replaced by fopencookie() streams whose writes are ours.
 * stderr is left as it is: what the program says must be seen. Programs it starts are
 * left alone. */
#define _GNU_SOURCE
#include "fault.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const kind_names[KINDS] = {
    "alloc",  "buffer", "open",  "write",    "print",  "sync", "dirsync",
    "rename", "close",  "mkdir", "truncate", "thread", "space"};

static atomic_bool armed;
static atomic_long counts[KINDS];
static fault due = {.kind = NO_KIND};
static atomic_int helpers; /* programs it started and has not waited for */
static char report_path[4096];

/* ---- where allocations are made: a table of call stacks, by their hash */

enum { STACKS = 1 << 14, FRAMES = 24 };

typedef struct stack_use {
    uint64_t hash; /* 0: free */
    long first, last;
} stack_use;

static stack_use stacks[STACKS];
static atomic_flag stacks_busy = ATOMIC_FLAG_INIT;

static uint64_t stack_hash(void)
{
    void *frame[FRAMES];
    int n = backtrace(frame, FRAMES);
    uint64_t h = UINT64_C(14695981039346656037);
    for (int i = 0; i < n; i++) h = (h ^ (uintptr_t)frame[i]) * UINT64_C(1099511628211);
    return h | 1;
}

static void note_stack(long count)
{
    static _Thread_local bool inside; /* the unwinder may allocate */
    if (inside) return;
    inside = true;
    uint64_t h = stack_hash();
    while (atomic_flag_test_and_set(&stacks_busy)) continue;
    size_t at = (size_t)(h >> 20) % STACKS;
    for (int tries = 0; tries < STACKS && stacks[at].hash && stacks[at].hash != h;
         tries++)
        at = (at + 1) % STACKS;
    if (!stacks[at].hash) stacks[at] = (stack_use){h, count, count};
    if (stacks[at].hash == h) stacks[at].last = count;
    atomic_flag_clear(&stacks_busy);
    inside = false;
}

/* ---- which call fails */

/* The turn of faults that are tried in copies of the process: in a copy, its own is due.
 */
static void try_copies(int kind, long reached)
{
    int before = errno;
    bool alone = atomic_load(&helpers) == 0;
    atomic_store(&armed, false); /* what this needs is not the program's */
    const fault *mine = fork_at(kind, reached, alone);
    if (mine) due = *mine;
    atomic_store(&armed, true);
    errno = before;
}

static bool is_due(int kind, long count)
{
    if (kind == BUFFER && due.kind == ALLOC) /* all memory has run out */
        return due.stays && atomic_load(&counts[ALLOC]) >= due.at;
    return kind == due.kind && (count == due.at || (due.stays && count > due.at));
}

/* Counts a call; true: it is to fail, and errno says why. */
static bool fails(int kind)
{
    if (!atomic_load(&armed)) return false;
    long count = atomic_fetch_add(&counts[kind], 1) + 1;
    if (kind == ALLOC && *report_path) note_stack(count);
    if (fork_is_due(kind, count)) try_copies(kind, count);
    if (!is_due(kind, count)) return false;
    if (due.error == KILLED) raise(SIGKILL);
    if (due.error == INTERRUPTED) return raise(SIGINT) != 0;
    errno = kind == ALLOC || kind == BUFFER ? ENOMEM : due.error;
    return true;
}

/* How many of `size` bytes a full disk still takes. */
static size_t room_for(size_t size)
{
    if (!atomic_load(&armed)) return size;
    long before = atomic_fetch_add(&counts[SPACE], (long)size);
    long last = before + (long)size - 1;
    if (fork_is_due(SPACE, last)) try_copies(SPACE, last);
    if (due.kind != SPACE || last < due.at) return size;
    return before >= due.at ? 0 : (size_t)(due.at - before);
}

/* ---- memory. What is asked for before main(), by sanitizers even before this library
 * can call another, comes from an arena and stays there. */

static char arena[1 << 26] __attribute__((aligned(4096)));
static atomic_size_t arena_used;

static void *arena_take(size_t alignment, size_t size)
{
    size_t whole = (size + alignment + 63) / 64 * 64;
    size_t at = atomic_fetch_add(&arena_used, whole);
    at = (at + alignment - 1) / alignment * alignment;
    return at + size <= sizeof arena ? arena + at : NULL;
}

static bool in_arena(const void *block)
{
    return (const char *)block >= arena && (const char *)block < arena + sizeof arena;
}

/* The function of this name that the program would have called. */
#define NEXT(type, name)                                                                 \
    static type get_##name(void)                                                         \
    {                                                                                    \
        static _Atomic(type) next;                                                       \
        type known = atomic_load(&next);                                                 \
        if (known) return known;                                                         \
        void *found = dlsym(RTLD_NEXT, #name);                                           \
        memcpy(&known, &found, sizeof found);                                            \
        atomic_store(&next, known);                                                      \
        return known;                                                                    \
    }

typedef void *(*malloc_fn)(size_t);
typedef void *(*calloc_fn)(size_t, size_t);
typedef void *(*realloc_fn)(void *, size_t);
typedef void (*free_fn)(void *);
typedef int (*posix_memalign_fn)(void **, size_t, size_t);
NEXT(malloc_fn, malloc)
NEXT(calloc_fn, calloc)
NEXT(realloc_fn, realloc)
NEXT(free_fn, free)
NEXT(calloc_fn, aligned_alloc)
NEXT(calloc_fn, memalign)
NEXT(posix_memalign_fn, posix_memalign)

static bool is_early(void) { return !atomic_load(&armed); }

/* What streams do without: told by who calls, the C library's own function. */
typedef int (*doallocate_fn)(FILE *);
NEXT(doallocate_fn, _IO_file_doallocate)

static bool is_for_stream(const void *caller)
{
    enum { LENGTH = 512 }; /* bytes of that function, and a little more */
    doallocate_fn function = get__IO_file_doallocate();
    const char *begin;
    memcpy(&begin, &function, sizeof begin);
    return begin && (const char *)caller >= begin &&
           (const char *)caller < begin + LENGTH;
}

enum { ALIGNMENT = 64 };

void *malloc(size_t size)
{
    if (is_early()) return arena_take(ALIGNMENT, size);
    bool stream = is_for_stream(__builtin_return_address(0));
    return fails(stream ? BUFFER : ALLOC) ? NULL : get_malloc()(size);
}

void *calloc(size_t count, size_t size)
{
    if (is_early()) return arena_take(ALIGNMENT, count * size);
    return fails(ALLOC) ? NULL : get_calloc()(count, size);
}

/* A block in the arena moves out with whatever stands behind it there. */
void *realloc(void *block, size_t size)
{
    if (!is_early() && !in_arena(block))
        return fails(ALLOC) ? NULL : get_realloc()(block, size);
    void *moved = malloc(size);
    size_t behind = block ? (size_t)(arena + sizeof arena - (char *)block) : 0;
    if (moved && block) memcpy(moved, block, size < behind ? size : behind);
    return moved;
}

void free(void *block)
{
    if (block && !in_arena(block)) get_free()(block);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    if (is_early()) return arena_take(alignment, size);
    return fails(ALLOC) ? NULL : get_aligned_alloc()(alignment, size);
}

void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size)
{
    if (is_early()) return arena_take(alignment, size);
    return fails(ALLOC) ? NULL : get_memalign()(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (!is_early())
        return fails(ALLOC) ? ENOMEM : get_posix_memalign()(out, alignment, size);
    *out = arena_take(alignment, size);
    return *out ? 0 : ENOMEM;
}

/* ---- threads */

typedef int (*pthread_create_fn)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                                 void *);
NEXT(pthread_create_fn, pthread_create)
int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
                   void *arg)
{
    return fails(THREAD) ? EAGAIN : get_pthread_create()(thread, how, run, arg);
}

/* ---- programs it starts */

typedef int (*spawn_fn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                        const posix_spawnattr_t *, char *const *, char *const *);
NEXT(spawn_fn, posix_spawnp)
int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *how, char *const *argv, char *const *env)
{
    int failed = get_posix_spawnp()(pid, file, actions, how, argv, env);
    if (!failed) atomic_fetch_add(&helpers, 1);
    return failed;
}

typedef pid_t (*waitpid_fn)(pid_t, int *, int);
NEXT(waitpid_fn, waitpid)
pid_t waitpid(pid_t pid, int *status, int how)
{
    pid_t ended = get_waitpid()(pid, status, how);
    if (ended > 0 && !is_early()) atomic_fetch_sub(&helpers, 1);
    return ended;
}

/* ---- files */

/* Descriptors open for writing: their close() counts. */
enum { DESCRIPTORS = 1024 };
static atomic_bool writing[DESCRIPTORS];

static int note_writing(int fd)
{
    if (fd >= 0 && fd < DESCRIPTORS) atomic_store(&writing[fd], true);
    return fd;
}

typedef int (*open_fn)(const char *, int, ...);
NEXT(open_fn, open)

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    bool writes = (flags & O_ACCMODE) != O_RDONLY;
    if (writes && fails(OPEN)) return -1;
    int fd = get_open()(path, flags, mode);
    return writes ? note_writing(fd) : fd;
}

typedef int (*mkstemp_fn)(char *);
NEXT(mkstemp_fn, mkstemp)
int mkstemp(char *path) { return fails(OPEN) ? -1 : note_writing(get_mkstemp()(path)); }

typedef char *(*mkdtemp_fn)(char *);
NEXT(mkdtemp_fn, mkdtemp)
char *mkdtemp(char *path) { return fails(MKDIR) ? NULL : get_mkdtemp()(path); }

typedef int (*mkdir_fn)(const char *, mode_t);
NEXT(mkdir_fn, mkdir)
int mkdir(const char *path, mode_t mode)
{
    return fails(MKDIR) ? -1 : get_mkdir()(path, mode);
}

typedef int (*rename_fn)(const char *, const char *);
NEXT(rename_fn, rename)
int rename(const char *from, const char *to)
{
    return fails(RENAME) ? -1 : get_rename()(from, to);
}

typedef int (*fd_fn)(int);
NEXT(fd_fn, fsync)
int fsync(int fd)
{
    struct stat info;
    bool folder = fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
    return fails(folder ? DIRSYNC : SYNC) ? -1 : get_fsync()(fd);
}

NEXT(fd_fn, close)
/* A close that fails has closed, as on Linux. */
int close(int fd)
{
    bool counted = fd >= 0 && fd < DESCRIPTORS && atomic_exchange(&writing[fd], false);
    bool failed = counted && fails(CLOSE);
    int reason = errno, result = get_close()(fd);
    if (!failed) return result;
    errno = reason;
    return -1;
}

typedef int (*ftruncate_fn)(int, off_t);
NEXT(ftruncate_fn, ftruncate)
int ftruncate(int fd, off_t size)
{
    return fails(TRUNCATE) ? -1 : get_ftruncate()(fd, size);
}

typedef int (*fallocate_fn)(int, off_t, off_t);
NEXT(fallocate_fn, posix_fallocate)
int posix_fallocate(int fd, off_t offset, off_t size)
{
    if (fails(TRUNCATE)) return errno;
    if (room_for((size_t)size) < (size_t)size) return ENOSPC;
    return get_posix_fallocate()(fd, offset, size);
}

typedef ssize_t (*write_fn)(int, const void *, size_t);
NEXT(write_fn, write)
ssize_t write(int fd, const void *bytes, size_t size)
{
    if (fd == STDERR_FILENO) return get_write()(fd, bytes, size);
    if (fails(fd == STDOUT_FILENO ? PRINT : WRITE)) {
        if (due.error != SHORT) return -1;
        size = (size + 1) / 2;
    }
    size_t room = room_for(size);
    if (room > 0 || size == 0) return get_write()(fd, bytes, room);
    errno = ENOSPC;
    return -1;
}

/* ---- streams */

typedef struct stream {
    FILE *file;
    int fd;
} stream;

enum { STREAMS = 64 };
static stream streams[STREAMS];

/* As the C library's own: goes on after a short write, gives up after any error. */
static ssize_t stream_write(void *cookie, const char *bytes, size_t size)
{
    const stream *s = cookie;
    size_t done = 0;
    while (done < size) {
        ssize_t n = write(s->fd, bytes + done, size - done);
        if (n < 0) break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

static ssize_t stream_read(void *cookie, char *bytes, size_t size)
{
    return read(((const stream *)cookie)->fd, bytes, size);
}

static int stream_seek(void *cookie, off64_t *at, int whence)
{
    off64_t place = lseek64(((const stream *)cookie)->fd, *at, whence);
    if (place < 0) return -1;
    *at = place;
    return 0;
}

static int stream_close(void *cookie)
{
    stream *s = cookie;
    s->file = NULL;
    return close(s->fd);
}

static stream *free_stream(void)
{
    for (int i = 0; i < STREAMS; i++)
        if (!streams[i].file) return &streams[i];
    return NULL;
}

static FILE *stream_open(int fd, const char *mode)
{
    static const cookie_io_functions_t functions = {stream_read, stream_write,
                                                    stream_seek, stream_close};
    stream *s = free_stream();
    if (!s) return NULL;
    s->fd = fd;
    s->file = fopencookie(s, mode, functions);
    return s->file;
}

typedef FILE *(*fdopen_fn)(int, const char *);
NEXT(fdopen_fn, fdopen)
FILE *fdopen(int fd, const char *mode)
{
    return strpbrk(mode, "wa+") ? stream_open(fd, mode) : get_fdopen()(fd, mode);
}

typedef FILE *(*fopen_fn)(const char *, const char *);
NEXT(fopen_fn, fopen)
FILE *fopen(const char *path, const char *mode)
{
    if (mode[0] != 'w') return get_fopen()(path, mode);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0) return NULL;
    FILE *file = stream_open(fd, mode);
    int reason = errno;
    if (!file) close(fd);
    errno = reason;
    return file;
}

typedef int (*fileno_fn)(FILE *);
NEXT(fileno_fn, fileno)
int fileno(FILE *file)
{
    for (int i = 0; i < STREAMS; i++)
        if (file && streams[i].file == file) return streams[i].fd;
    return get_fileno()(file);
}

/* ---- beginning and end */

static int error_of(const char *how)
{
    static const struct {
        const char *name;
        int error;
    } known[] = {{"ENOSPC", ENOSPC}, {"EINTR", EINTR}, {"EINVAL", EINVAL},
                 {"short", SHORT},   {"kill", KILLED}, {"int", INTERRUPTED}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, how) == 0) return known[i].error;
    return EIO;
}

fault fault_read(const char *text)
{
    char name[16] = "", how[16] = "";
    fault f = {.kind = NO_KIND};
    if (!text || sscanf(text, "%15[a-z]:%ld:%15s", name, &f.at, how) < 2) return f;
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kind_names[i], name) == 0) f.kind = i;
    f.stays = strcmp(how, "on") == 0;
    f.error = error_of(how);
    return f;
}

/* Preloaded libraries are the last to begin before the program itself does. */
__attribute__((constructor)) static void begin(void)
{
    const char *report = getenv("XB_FAULT_REPORT");
    snprintf(report_path, sizeof report_path, "%s", report ? report : "");
    due = fault_read(getenv("XB_FAULT"));
    fork_begin(getenv("XB_FAULT_FORK"));
    unsetenv("LD_PRELOAD");
    (void)stack_hash(); /* the unwinder loads itself at the first call */
    FILE *out = stream_open(STDOUT_FILENO, "w");
    if (out) stdout = out;
    atomic_store(&armed, true);
}

static void write_report(void)
{
    FILE *out = get_fopen()(report_path, "w");
    if (!out) return;
    for (int i = 0; i < KINDS; i++) fprintf(out, "%s %ld\n", kind_names[i], counts[i]);
    for (int i = 0; i < STACKS; i++)
        if (stacks[i].hash)
            fprintf(out, "stack %ld %ld\n", stacks[i].first, stacks[i].last);
    fclose(out);
}

__attribute__((destructor)) static void end(void)
{
    due.kind = NO_KIND;
    fflush(stdout);
    if (*report_path) write_report();
}
