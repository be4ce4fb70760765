/* device_memory.cu: the device, its memory, copies, and the first error. All
 * operations go through one stream, in the order of the calls, except the steps of
 * small nets (device_steps.cu) and copies beside it. */
#include <stdio.h>

#include "launch.cuh"

static char error[XBC_TEXT]; /* the first error; "": there was none */

bool xbc_good(cudaError_t status, const char *what)
{
    if (status == cudaSuccess) return error[0] == '\0';
    if (error[0] == '\0')
        snprintf(error, sizeof error, "%s: %s", what, cudaGetErrorString(status));
    return false;
}

void xbc_fail(const char *what)
{
    if (error[0] == '\0') snprintf(error, sizeof error, "%s", what);
}

bool xbc_sound(void) { return error[0] == '\0'; }
const char *xbc_error(void) { return error[0] == '\0' ? NULL : error; }

static int processors = 1, shared_bytes = 0, generation = 0;
int xbc_processors(void) { return processors; }
bool xbc_hopper(void) { return generation == 9; }
int64_t xbc_shared_bytes(void) { return shared_bytes; }

bool xbc_open(char why[XBC_TEXT])
{
    int count = 0, major = 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaSuccess && count > 0) status = cudaSetDevice(0);
    if (status == cudaSuccess && count > 0)
        status = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
    if (status == cudaSuccess && count > 0)
        status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    if (status == cudaSuccess && count > 0)
        status = cudaDeviceGetAttribute(&shared_bytes,
                                        cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    bool good = status == cudaSuccess && count > 0 && major >= 8;
    generation = major;
    if (status != cudaSuccess)
        snprintf(why, XBC_TEXT, "%s", cudaGetErrorString(status));
    else if (count == 0)
        snprintf(why, XBC_TEXT, "the driver finds no device");
    else if (major < 8)
        snprintf(why, XBC_TEXT, "the device is of generation %d, expected 8 or later",
                 major);
    return good;
}

/* ---- memory: released blocks are kept for the next request of their size, because
 * giving them back to the driver would wait for all work on the device */

enum { BLOCKS = 512 };
static const size_t LEAST = 512, KEPT_MOST = (size_t)64 << 20; /* bytes of a block */

struct memory_block {
    void *p; /* NULL: no block */
    size_t bytes;
    bool used;
};
static memory_block block[BLOCKS];

/* Rounded up to a power of two, so that a few sizes serve all requests; large sizes
 * are not rounded. */
static size_t block_bytes(size_t bytes)
{
    size_t size = LEAST;
    while (size < bytes) size *= 2;
    return size <= KEPT_MOST ? size : bytes;
}

/* The block at p. p NULL: the first of this size and use; bytes 0: an empty entry. */
static memory_block *find_block(const void *p, size_t bytes, bool used)
{
    for (int i = 0; i < BLOCKS; i++) {
        memory_block *b = &block[i];
        if (p ? b->p == p : !b->p == (bytes == 0) && !b->used == !used && b->bytes == bytes)
            return b;
    }
    return NULL;
}

static void give_back(memory_block *b)
{
    void *p = b->p;
    *b = {};
    xbc_good(cudaFree(p), "releasing memory");
}

static void *new_block(size_t bytes)
{
    void *p = NULL;
    cudaError_t status = cudaMalloc(&p, bytes);
    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError(); /* the caller learns of it from the NULL */
        return NULL;
    }
    return xbc_good(status, "taking memory") ? p : NULL;
}

static void give_back_unused(void)
{
    for (int i = 0; i < BLOCKS && xbc_sound(); i++)
        if (block[i].p && !block[i].used) give_back(&block[i]);
}

static void *found_or_new(size_t bytes)
{
    memory_block *b = find_block(NULL, bytes, false);
    if (b) {
        b->used = true;
        return b->p;
    }
    void *p = new_block(bytes);
    if (!p && xbc_sound()) {
        give_back_unused();
        p = new_block(bytes);
    }
    b = find_block(NULL, 0, false);
    if (p && b) *b = {p, bytes, true};
    return p;
}

void *xbc_take(size_t bytes)
{
    if (!xbc_sound()) return NULL;
    void *p = found_or_new(block_bytes(bytes));
    if (p) xbc_clear(p, bytes);
    return p;
}

void xbc_release(void *p)
{
    if (!p || !xbc_sound()) return;
    memory_block *b = find_block(p, 0, true);
    if (b && b->bytes <= KEPT_MOST)
        b->used = false;
    else if (b)
        give_back(b);
    else
        xbc_good(cudaFree(p), "releasing memory");
}

/* ---- copies */

static void move(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                 const char *what)
{
    if (bytes > 0 && xbc_sound()) xbc_good(cudaMemcpy(to, from, bytes, kind), what);
}

void xbc_put(void *to, const void *host, size_t bytes)
{
    move(to, host, bytes, cudaMemcpyHostToDevice, "copying to the device");
}

void xbc_get(void *host, const void *from, size_t bytes)
{
    move(host, from, bytes, cudaMemcpyDeviceToHost, "copying from the device");
}

void xbc_put_beside(void *to, const void *host, size_t bytes)
{
    static cudaStream_t beside;
    static bool made;
    const char *what = "copying to the device";
    if (bytes == 0 || !xbc_sound()) return;
    if (!made)
        made = xbc_good(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking), what);
    if (!made) return;
    if (xbc_good(cudaMemcpyAsync(to, host, bytes, cudaMemcpyHostToDevice, beside), what))
        xbc_good(cudaStreamSynchronize(beside), what);
}

void xbc_copy(void *to, const void *from, size_t bytes)
{
    move(to, from, bytes, cudaMemcpyDeviceToDevice, "copying on the device");
}

void xbc_clear(void *to, size_t bytes)
{
    if (bytes > 0 && xbc_sound()) xbc_good(cudaMemset(to, 0, bytes), "clearing memory");
}

void xbc_wait(void)
{
    if (xbc_sound()) xbc_good(cudaStreamSynchronize(0), "waiting for the device");
}

static __global__ void fill(float *to, float value, int64_t n)
{
    for
        EACH(i, n) to[i] = value;
}

void xbc_fill(float *to, float value, int64_t n)
{
    if (n > 0) XBC_LAUNCH("filling", fill, blocks_for(n), THREADS, to, value, n);
}

/* The level of a byte (V16), rounded to the nearest float. */
static __global__ void pixels(float *to, const uint8_t *from, const int32_t *row,
                              int64_t n, int h, int w, int c)
{
    const int64_t size = (int64_t)h * w * c;
    for
        EACH(i, n)
        {
            const int64_t at =
                n <= UINT32_MAX ? (int64_t)((uint32_t)i / (uint32_t)size) : i / size;
            int rest = (int)(i - at * size);
            int64_t r = row ? row[at] : at;
            if (r < 0) {
                const int line = rest / (w * c), place = rest % (w * c);
                rest = line * w * c + (w - 1 - place / c) * c + place % c;
                r = ~r;
            }
            to[i] = (float)from[r * size + rest] / 255;
        }
}

void xbc_pixels(float *to, const uint8_t *from, const int32_t *row, int64_t rows,
                int64_t h, int64_t w, int64_t c)
{
    int64_t n = rows * h * w * c;
    if (n > 0)
        XBC_LAUNCH("reading images", pixels, blocks_for(n), THREADS, to, from, row, n,
                   (int)h, (int)w, (int)c);
}

/* Copies in units of 4 bytes, or of 1 byte. */
template <class Unit>
static __global__ void gather(Unit *to, const Unit *from, const int32_t *row,
                              int64_t rows, int64_t units)
{
    for
        EACH(i, rows * units) to[i] = from[row[i / units] * units + i % units];
}

void xbc_gather(void *to, const void *from, const int32_t *row, int64_t rows,
                int64_t bytes)
{
    if (rows * bytes <= 0) return;
    if (bytes % 4 == 0 && (uintptr_t)to % 4 == 0 && (uintptr_t)from % 4 == 0)
        XBC_LAUNCH("gathering", gather<uint32_t>, blocks_for(rows * bytes / 4), THREADS,
                   (uint32_t *)to, (const uint32_t *)from, row, rows, bytes / 4);
    else
        XBC_LAUNCH("gathering", gather<char>, blocks_for(rows * bytes), THREADS,
                   (char *)to, (const char *)from, row, rows, bytes);
}
