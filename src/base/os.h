/* os.h: everything that the project needs from the operating system: files, folders,
 * maps, threads, clocks, other programs. No other file includes a system header
 * (tests/test_layers.c); os_posix*.c and os_windows*.c are the two implementations,
 * os_program.h is what only the program needs. The layer is linked into each library and
 * exported by none, so the studies and the program use it without it becoming a part of
 * the ABI.
 *
 * A function that fails returns false, NULL or -1 with the reason in errno, as those of
 * POSIX do. Paths are UTF-8, their folders separated by '/'. */
#ifndef XB_BASE_OS_H
#define XB_BASE_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- what is at a path */

typedef enum xb_os_kind { XB_OS_NONE, XB_OS_FILE, XB_OS_FOLDER, XB_OS_OTHER } xb_os_kind;

typedef struct xb_os_info {
    xb_os_kind kind;
    uint64_t device, number; /* identify a file, whatever its names */
    int64_t links, size;
    int64_t changed_ns; /* since 1970 */
} xb_os_info;

bool xb_os_look(xb_os_info *out, const char *path);
bool xb_os_look_link(xb_os_info *out,
                     const char *path); /* describes a link itself, not its target */
bool xb_os_look_stream(xb_os_info *out, FILE *stream);
bool xb_os_exists(const char *path);
bool xb_os_can_write(const char *folder); /* whether new files can be created in it */
static inline bool xb_os_same(const xb_os_info *a, const xb_os_info *b)
{
    return a->device == b->device && a->number == b->number;
}

/* ---- files */

FILE *xb_os_open(const char *path, const char *mode); /* as fopen() */
/* Creates a file to read and write; EEXIST if there is one. */
FILE *xb_os_create(const char *path);
/* Creates a file in the folder for temporary files that disappears once it is closed and
 * unmapped; path[] receives the name that it had, for messages. */
FILE *xb_os_nameless(char *path, size_t size);
/* Reads the first `size` bytes of a file, or all of them if it is shorter, and returns
 * their number, which is 0 for a folder or a pipe. Allocates nothing and never blocks.
 * info->kind is XB_OS_NONE if the file cannot be opened. */
int64_t xb_os_read_head(xb_os_info *info, void *to, size_t size, const char *path);

/* The next read is of the byte `at`, counted from the start. */
bool xb_os_seek(FILE *stream, int64_t at);

/* Flush to the disk. On file systems that cannot flush a folder, that is not a failure.
 */
bool xb_os_flush(FILE *stream);
bool xb_os_flush_file(const char *path);
bool xb_os_flush_folder(const char *folder);

bool xb_os_rename(const char *from, const char *to); /* replaces `to` atomically */
bool xb_os_unlink(const char *path);                 /* not for folders */
bool xb_os_touch(const char *path);                  /* sets the time of change to now */

/* ---- folders */

bool xb_os_make_folder(const char *path);
bool xb_os_make_private_folder(const char *path); /* readable by its owner only */
bool xb_os_make_new_folder(
    char *path); /* XXXXXX at its end is replaced to make the name unique */
bool xb_os_remove_folder(const char *path); /* removes an empty folder */

/* Names in a folder, in any order, without "." and "..". */
typedef struct xb_os_folder xb_os_folder;
xb_os_folder *xb_os_folder_open(const char *path);
const char *xb_os_folder_next(
    xb_os_folder *folder); /* valid until the next call; NULL: no more */
void xb_os_folder_close(xb_os_folder *folder);

/* Lists all names, sorted by their bytes. Returns their number. */
int64_t xb_os_list(char ***names, const char *path);
void xb_os_list_free(char **names, int64_t n);

/* Whether a name matches a shell pattern; a leading dot must be in the pattern. */
bool xb_os_name_fits(const char *pattern, const char *name);

/* The path from the root, without links. */
enum { XB_OS_PATH_MAX = 4096 };
bool xb_os_full_path(char out[XB_OS_PATH_MAX], const char *path);
bool xb_os_is_absolute(const char *path);

/* ---- maps */

/* Reserves disk space for the whole file, so that a full disk does not cause a bus error
 * later. */
bool xb_os_reserve(FILE *stream, int64_t size);
/* Writes to the map go to the file. The map outlives the stream. */
void *xb_os_map(FILE *stream, size_t size);
/* Maps a whole file of at least that size for reading. NULL also for anything that is not
 * a file. */
void *xb_os_map_file(size_t *size, const char *path, size_t least);
void xb_os_map_protect(void *map, size_t size); /* read-only from now on */
void xb_os_map_rest(
    void *map,
    size_t size); /* its pages may leave memory; their contents stay in the file */
void xb_os_unmap(void *map, size_t size);

/* ---- memory */

void *xb_os_aligned(size_t alignment, size_t size); /* alignment must be a power of 2 */
void xb_os_aligned_free(void *block);
double xb_os_memory(void); /* memory of the machine in bytes */

/* ---- threads */

int xb_os_cores(void);         /* number of cores that this process may use */
int xb_os_machine_cores(void); /* and that the machine has */

/* The new thread starts with all signals blocked, because they are for the calling
 * thread. */
typedef struct xb_os_thread {
    void *handle;
} xb_os_thread;
bool xb_os_thread_start(xb_os_thread *out, void *(*work)(void *), void *arg);
void xb_os_thread_join(xb_os_thread *thread);

typedef union xb_os_lock {
    unsigned char room[64];
    void *pointer;
    uint64_t number;
} xb_os_lock;
void xb_os_lock_init(xb_os_lock *lock);
void xb_os_lock_take(xb_os_lock *lock);
void xb_os_lock_give(xb_os_lock *lock);
void xb_os_lock_destroy(xb_os_lock *lock);

/* ---- clocks and processes */

double xb_os_seconds(void);               /* monotonic, since an arbitrary moment */
int64_t xb_os_time_ns(void);              /* since 1970 */
int64_t xb_os_process(void);              /* the number of this process */
bool xb_os_process_lives(int64_t number); /* whether a process of this number exists on
                                             this machine */
/* A number that differs between machines and between their sets of process numbers. */
uint64_t xb_os_machine(void);

/* Runs a program, found as a shell finds it, with these arguments, an empty input and the
 * working folder `dir`. said[] receives the last part of what it writes to both outputs.
 * Returns -1 if it did not start, else its exit code, or 256 if it has none. */
int xb_os_run(char *said, size_t size, const char *dir, char *const argv[]);

/* ---- streams in memory */

/* Text written to the stream goes to `take`, which may fail; all of it has arrived when a
 * flush succeeds. */
typedef bool xb_os_take_fn(void *arg, const char *bytes, size_t n);
FILE *xb_os_sink_open(xb_os_take_fn *take, void *arg);
bool xb_os_sink_flush(FILE *sink, xb_os_take_fn *take, void *arg);

/* Text written to the stream is in room[] once it is closed, with a terminating 0; false
 * if it was too long or some was lost. */
FILE *xb_os_room_open(char *room, size_t size);
bool xb_os_room_close(FILE *stream, char *room, size_t size);

/* ---- texts */

/* Whether the first n bytes, or all bytes up to the end of both texts, are equal apart
 * from the case of ASCII letters. */
bool xb_os_same_text(const char *a, const char *b, size_t n);

#endif
