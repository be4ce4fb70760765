/* os_windows_threads.c: maps, memory, threads, clocks and streams on Windows; see os.h.
 */
#include "base/os_windows.h"

#include <errno.h>
#include <io.h>
#include <malloc.h>
#include <process.h>
#include <stdlib.h>

/* ---- maps */

bool xb_os_reserve(FILE *stream, int64_t size)
{
    const int reason = _chsize_s(_fileno(stream), size);
    if (reason) errno = reason;
    return reason == 0;
}

static void *map(HANDLE file, DWORD protection, DWORD access)
{
    HANDLE mapping = CreateFileMappingW(file, NULL, protection, 0, 0, NULL);
    void *at = mapping ? MapViewOfFile(mapping, access, 0, 0, 0) : NULL;
    if (!at) (void)xb_os_failed();
    if (mapping) CloseHandle(mapping); /* the view stays */
    return at;
}

void *xb_os_map(FILE *stream, size_t size)
{
    (void)size; /* the whole view */
    return map((HANDLE)_get_osfhandle(_fileno(stream)), PAGE_READWRITE, FILE_MAP_WRITE);
}

void *xb_os_map_file(size_t *size, const char *path, size_t least)
{
    xb_os_info info;
    void *at = NULL;
    if (!xb_os_look(&info, path) || info.kind != XB_OS_FILE) return NULL;
    FILE *stream = xb_os_open(path, "rb");
    if (stream && xb_os_look_stream(&info, stream) && info.size >= (int64_t)least) {
        *size = (size_t)info.size;
        at = map((HANDLE)_get_osfhandle(_fileno(stream)), PAGE_READONLY, FILE_MAP_READ);
    }
    if (stream) fclose(stream);
    return at;
}

void xb_os_map_protect(void *at, size_t size)
{
    DWORD before;
    (void)VirtualProtect(at, size, PAGE_READONLY, &before);
}

void xb_os_map_rest(void *at, size_t size)
{
    (void)VirtualUnlock(at, size); /* unlocking pages that are not locked removes them
                                      from the working set */
}

void xb_os_unmap(void *at, size_t size)
{
    (void)size;
    UnmapViewOfFile(at);
}

/* ---- memory */

void *xb_os_aligned(size_t alignment, size_t size)
{
    return _aligned_malloc(size, alignment);
}

void xb_os_aligned_free(void *block) { _aligned_free(block); }

double xb_os_memory(void)
{
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    return GlobalMemoryStatusEx(&status) ? (double)status.ullTotalPhys : 0;
}

/* ---- threads */

int xb_os_cores(void)
{
    DWORD_PTR mine = 0, all = 0;
    if (!GetProcessAffinityMask(GetCurrentProcess(), &mine, &all) || mine == 0) return 1;
    return __builtin_popcountll((unsigned long long)mine);
}

int xb_os_machine_cores(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwNumberOfProcessors > 0 ? (int)info.dwNumberOfProcessors : 1;
}

typedef struct beginning {
    void *(*work)(void *);
    void *arg;
} beginning;

/* New threads on Windows start with an x87 unit that rounds to 53 bits, while the
 * program's first thread has 64, and the C library computes with it. Setting it here
 * gives the same bytes in every thread. */
static unsigned __stdcall begin(void *arg)
{
    __asm__ volatile("fninit");
    const beginning b = *(beginning *)arg;
    free(arg);
    (void)b.work(b.arg);
    return 0;
}

bool xb_os_thread_start(xb_os_thread *out, void *(*work)(void *), void *arg)
{
    beginning *b = malloc(sizeof *b);
    if (!b) return false;
    *b = (beginning){work, arg};
    out->handle = (void *)_beginthreadex(NULL, 0, begin, b, 0, NULL);
    if (!out->handle) free(b);
    return out->handle != NULL;
}

void xb_os_thread_join(xb_os_thread *thread)
{
    WaitForSingleObject(thread->handle, INFINITE);
    CloseHandle(thread->handle);
}

_Static_assert(sizeof(SRWLOCK) <= sizeof(xb_os_lock), "a lock has room");

static SRWLOCK *lock_of(xb_os_lock *lock) { return (SRWLOCK *)lock; }

void xb_os_lock_init(xb_os_lock *lock) { InitializeSRWLock(lock_of(lock)); }
void xb_os_lock_take(xb_os_lock *lock) { AcquireSRWLockExclusive(lock_of(lock)); }
void xb_os_lock_give(xb_os_lock *lock) { ReleaseSRWLockExclusive(lock_of(lock)); }
void xb_os_lock_destroy(xb_os_lock *lock) { (void)lock; }

/* ---- clocks and processes */

double xb_os_seconds(void)
{
    LARGE_INTEGER now, each;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&each);
    return (double)now.QuadPart / (double)each.QuadPart;
}

int64_t xb_os_time_ns(void)
{
    FILETIME t;
    GetSystemTimeAsFileTime(&t);
    const int64_t ticks = (int64_t)((uint64_t)t.dwHighDateTime << 32 | t.dwLowDateTime);
    return (ticks - INT64_C(116444736000000000)) * 100;
}

int64_t xb_os_process(void) { return (int64_t)GetCurrentProcessId(); }

bool xb_os_process_lives(int64_t number)
{
    HANDLE process = OpenProcess(SYNCHRONIZE, FALSE, (DWORD)number);
    if (!process) return GetLastError() == ERROR_ACCESS_DENIED;
    const bool lives = WaitForSingleObject(process, 0) == WAIT_TIMEOUT;
    CloseHandle(process);
    return lives;
}

uint64_t xb_os_machine(void) { return 0; } /* all ranks are on one machine on Windows */

/* ---- streams in memory: Windows has none, so a hidden file replaces them */

FILE *xb_os_sink_open(xb_os_take_fn *take, void *arg)
{
    char path[XB_OS_PATH_MAX];
    (void)take, (void)arg;
    return xb_os_nameless(path, sizeof path);
}

/* Passes on what was written since the last flush; the file is empty afterwards. */
bool xb_os_sink_flush(FILE *stream, xb_os_take_fn *take, void *arg)
{
    char piece[4096];
    bool good = fflush(stream) == 0 && !ferror(stream);
    rewind(stream);
    for (size_t got; good && (got = fread(piece, 1, sizeof piece, stream)) > 0;)
        good = take(arg, piece, got);
    good = good && !ferror(stream);
    rewind(stream);
    return good && _chsize_s(_fileno(stream), 0) == 0;
}

FILE *xb_os_room_open(char *room, size_t size)
{
    if (size > 0) room[0] = '\0';
    return xb_os_sink_open(NULL, NULL);
}

typedef struct filling {
    char *room;
    size_t size, used;
} filling;

static bool fill(void *arg, const char *bytes, size_t n)
{
    filling *f = arg;
    for (size_t i = 0; i < n && f->used + 1 < f->size; i++) f->room[f->used++] = bytes[i];
    f->room[f->used] = '\0';
    return f->used + 1 < f->size;
}

bool xb_os_room_close(FILE *stream, char *room, size_t size)
{
    filling f = {room, size, 0};
    const bool good = xb_os_sink_flush(stream, fill, &f);
    return fclose(stream) == 0 && good;
}
