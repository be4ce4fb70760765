/* os_posix_threads.c: threads, clocks, memory and streams on Linux, macOS and
 * WebAssembly; see os.h. */
#define _GNU_SOURCE /* sched_getaffinity, fopencookie */
#include "base/os.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#endif

/* ---- memory */

void *xb_os_aligned(size_t alignment, size_t size)
{
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void xb_os_aligned_free(void *block) { free(block); }

double xb_os_memory(void)
{
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

/* ---- threads */

/* Works on Linux machines with no more cores than a cpu_set_t holds. */
int xb_os_cores(void)
{
#ifdef __linux__
    cpu_set_t mine;
    if (sched_getaffinity(0, sizeof mine, &mine) == 0) return CPU_COUNT(&mine);
#endif
    return xb_os_machine_cores();
}

int xb_os_machine_cores(void)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

_Static_assert(sizeof(pthread_t) <= sizeof(void *), "a thread's handle is a word");

bool xb_os_thread_start(xb_os_thread *out, void *(*work)(void *), void *arg)
{
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(&thread, NULL, work, arg) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) memcpy(&out->handle, &thread, sizeof thread);
    return started;
}

void xb_os_thread_join(xb_os_thread *thread)
{
    pthread_t own;
    memcpy(&own, &thread->handle, sizeof own);
    pthread_join(own, NULL);
}

_Static_assert(sizeof(pthread_mutex_t) <= sizeof(xb_os_lock), "a lock has room");

static pthread_mutex_t *mutex_of(xb_os_lock *lock) { return (pthread_mutex_t *)lock; }

void xb_os_lock_init(xb_os_lock *lock) { pthread_mutex_init(mutex_of(lock), NULL); }
void xb_os_lock_take(xb_os_lock *lock) { pthread_mutex_lock(mutex_of(lock)); }
void xb_os_lock_give(xb_os_lock *lock) { pthread_mutex_unlock(mutex_of(lock)); }
void xb_os_lock_destroy(xb_os_lock *lock) { pthread_mutex_destroy(mutex_of(lock)); }

/* ---- clocks and processes */

double xb_os_seconds(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int64_t xb_os_time_ns(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * INT64_C(1000000000) + (int64_t)t.tv_nsec;
}

int64_t xb_os_process(void) { return (int64_t)getpid(); }

bool xb_os_process_lives(int64_t number)
{
    /* Asks only, without sending a signal. */
    return getpgid((pid_t)number) >= 0 || errno != ESRCH;
}

static uint64_t mix(uint64_t hash, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
    return hash;
}

/* The name of the machine and, on Linux, of the set of process numbers: each container
 * has its own. */
uint64_t xb_os_machine(void)
{
    char name[256] = "", numbers[64] = "";
    (void)gethostname(name, sizeof name - 1);
    const ssize_t n = readlink("/proc/self/ns/pid", numbers, sizeof numbers);
    const uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), name, strlen(name));
    return mix(hash, numbers, n > 0 ? (size_t)n : 0);
}

/* ---- streams in memory */

typedef struct sink {
    xb_os_take_fn *take;
    void *arg;
} sink;

static int sink_close(void *cookie)
{
    free(cookie);
    return 0;
}

#ifdef __APPLE__
static int sink_write(void *cookie, const char *bytes, int n)
{
    const sink *s = cookie;
    return s->take(s->arg, bytes, (size_t)n) ? n : -1;
}

static FILE *sink_stream(sink *s)
{
    return funopen(s, NULL, sink_write, NULL, sink_close);
}
#else
/* What fopencookie() takes for a failure: glibc forbids a negative number; musl (and with
 * it WebAssembly) takes 0 for a short write, after which ferror() is false and bytes are
 * lost. */
#ifdef __GLIBC__
enum { NOT_TAKEN = 0 };
#else
enum { NOT_TAKEN = -1 };
#endif

static ssize_t sink_write(void *cookie, const char *bytes, size_t n)
{
    const sink *s = cookie;
    return s->take(s->arg, bytes, n) ? (ssize_t)n : NOT_TAKEN;
}

static FILE *sink_stream(sink *s)
{
    return fopencookie(s, "w",
                       (cookie_io_functions_t){.write = sink_write, .close = sink_close});
}
#endif

FILE *xb_os_sink_open(xb_os_take_fn *take, void *arg)
{
    sink *s = malloc(sizeof *s);
    if (!s) return NULL;
    *s = (sink){take, arg};
    FILE *stream = sink_stream(s);
    if (!stream) free(s);
    return stream;
}

bool xb_os_sink_flush(FILE *stream, xb_os_take_fn *take, void *arg)
{
    (void)take, (void)arg;
    return fflush(stream) == 0 && !ferror(stream);
}

FILE *xb_os_room_open(char *room, size_t size) { return fmemopen(room, size, "w"); }

bool xb_os_room_close(FILE *stream, char *room, size_t size)
{
    (void)room, (void)size;
    const bool good = fflush(stream) == 0 && !ferror(stream);
    return fclose(stream) == 0 && good;
}
