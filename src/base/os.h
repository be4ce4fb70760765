/* os.h: all that the project asks of the operating system: files, folders, maps, threads,
 * clocks, other programs. No other file includes a system header (tests/test_layers.c);
 * os_posix*.c and os_windows*.c are the two implementations, os_program.h is what only
 * the program needs. The layer is linked into each library and exported by none, so
 * the studies and the program use it without it becoming a part of the ABI.
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
    uint64_t device, number; /* tell files apart, whatever their names */
    int64_t links, size;
    int64_t changed_ns; /* since 1970 */
} xb_os_info;

bool xb_os_look(xb_os_info *out, const char *path);
bool xb_os_look_link(xb_os_info *out, const char *path); /* at a link, not behind it */
bool xb_os_look_stream(xb_os_info *out, FILE *stream);
bool xb_os_exists(const char *path);
bool xb_os_can_write(const char *folder); /* new names in it */
static inline bool xb_os_same(const xb_os_info *a, const xb_os_info *b)
{
    return a->device == b->device && a->number == b->number;
}

/* ---- files */

FILE *xb_os_open(const char *path, const char *mode); /* as fopen() */
/* A new file, to read and write; EEXIST where there is one. */
FILE *xb_os_create(const char *path);
/* A file that is gone once it is closed and unmapped, in the folder for temporary files;
 * path[] gets the name that it had, for messages. */
FILE *xb_os_nameless(char *path, size_t size);
/* The first `size` bytes of a file, or all there are: how many. A folder and a pipe have
 * 0. Needs no memory and waits for nobody. info->kind is XB_OS_NONE where it cannot be
 * opened. */
int64_t xb_os_read_head(xb_os_info *info, void *to, size_t size, const char *path);

/* To the disk. A folder that cannot be flushed, as on some file systems, is no failure.
 */
bool xb_os_flush(FILE *stream);
bool xb_os_flush_file(const char *path);
bool xb_os_flush_folder(const char *folder);

bool xb_os_rename(const char *from, const char *to); /* replaces `to`, at once */
bool xb_os_unlink(const char *path);                 /* no folder */
bool xb_os_touch(const char *path);                  /* changed now */

/* ---- folders */

bool xb_os_make_folder(const char *path);
bool xb_os_make_private_folder(const char *path); /* that nobody else may look into */
bool xb_os_make_new_folder(char *path);           /* XXXXXX at its end becomes its own */
bool xb_os_remove_folder(const char *path);       /* an empty one */

/* Names in a folder, in any order, without "." and "..". */
typedef struct xb_os_folder xb_os_folder;
xb_os_folder *xb_os_folder_open(const char *path);
const char *xb_os_folder_next(xb_os_folder *folder); /* to the next call; NULL: no more */
void xb_os_folder_close(xb_os_folder *folder);

/* All of them, sorted by their bytes: how many. */
int64_t xb_os_list(char ***names, const char *path);
void xb_os_list_free(char **names, int64_t n);

/* Whether a name fits a shell's pattern; a dot at its start must be in the pattern. */
bool xb_os_name_fits(const char *pattern, const char *name);

/* The path from the root, without links. */
enum { XB_OS_PATH_MAX = 4096 };
bool xb_os_full_path(char out[XB_OS_PATH_MAX], const char *path);
bool xb_os_is_absolute(const char *path);

/* ---- maps */

/* Room on the disk for the whole file: a full disk must not show as a bus error later. */
bool xb_os_reserve(FILE *stream, int64_t size);
/* What is written to the map is in the file. It outlives the stream. */
void *xb_os_map(FILE *stream, size_t size);
/* A whole file of at least that size, to read. NULL also for what is no file. */
void *xb_os_map_file(size_t *size, const char *path, size_t least);
void xb_os_map_protect(void *map, size_t size); /* only to be read from now on */
void xb_os_map_rest(void *map, size_t size); /* its pages may go; they stay in the file */
void xb_os_unmap(void *map, size_t size);

/* ---- memory */

void *xb_os_aligned(size_t alignment, size_t size); /* a power of 2 */
void xb_os_aligned_free(void *block);
double xb_os_memory(void); /* bytes of the machine */

/* ---- threads */

int xb_os_cores(void); /* that this process may use */

/* It begins with all signals blocked: they are for the thread that called. */
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

double xb_os_seconds(void);               /* since some moment; never goes back */
int64_t xb_os_time_ns(void);              /* since 1970 */
int64_t xb_os_process(void);              /* the number of this one */
bool xb_os_process_lives(int64_t number); /* a process of this machine */
/* Tells machines, and their sets of process numbers, apart. */
uint64_t xb_os_machine(void);

/* Runs a program that is found as a shell finds it: its arguments as they are, nothing as
 * its input, in the folder `dir`. said[] gets the last part of what it writes to either
 * output. -1 where it did not start, else its exit code; 256 where it has none. */
int xb_os_run(char *said, size_t size, const char *dir, char *const argv[]);

/* ---- streams in memory */

/* What is written to the stream goes to `take`, which may fail; all of it by the time of
 * a flush that succeeds. */
typedef bool xb_os_take_fn(void *arg, const char *bytes, size_t n);
FILE *xb_os_sink_open(xb_os_take_fn *take, void *arg);
bool xb_os_sink_flush(FILE *sink, xb_os_take_fn *take, void *arg);

/* What is written to the stream is in room[] once it is closed, with a 0 behind it; false
 * where it was too long or some was lost. */
FILE *xb_os_room_open(char *room, size_t size);
bool xb_os_room_close(FILE *stream, char *room, size_t size);

/* ---- texts */

/* Whether the first n bytes are the same but for the case of ASCII letters, or all up to
 * the end of both. */
bool xb_os_same_text(const char *a, const char *b, size_t n);

#endif
