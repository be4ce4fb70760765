/* cuda_emulated.cpp: see cuda_emulated.h. The environment says what is to go wrong:
 *   XB_EMULATED_DEVICES=N  how many devices there are (1)
 *   XB_EMULATED_MAJOR=N    of which generation (9)
 *   XB_EMULATED_SHARED=N   bytes of shared memory of a block (227 KiB)
 *   XB_EMULATED_MEMORY=N   bytes of memory (no limit)
 *   XB_EMULATED_FAIL=N     call number N of the driver fails, and all that follow */
#include "cuda_emulated.h"

#include <setjmp.h>
#include <stdlib.h>
#include <ucontext.h>

#include <memory>
#include <vector>

dim3 emulated_grid, emulated_block, emulated_threads, emulated_thread;

/* ---- threads of a block, each a context of its own that leaves off at a barrier */

namespace
{

enum { STACK = 1 << 16 };

struct fiber {
    jmp_buf place; /* where it left off */
    std::unique_ptr<char[]> stack{new char[STACK]};
    unsigned thread = 0;
    bool begun = false, done = true;
    bool within_warp = false; /* it waits for its warp alone */
};

std::vector<std::unique_ptr<fiber>> fibers;
jmp_buf scheduler;
fiber *current;
const std::function<void()> *kernel;

/* Contexts are slow, since they save the signals' mask: they only begin a fiber, which
 * then runs one thread after the other. */
void leave_off()
{
    if (_setjmp(current->place) == 0) _longjmp(scheduler, 1);
}

void run_fiber()
{
    for (;;) {
        (*kernel)();
        current->done = true;
        leave_off();
    }
}

void begin(fiber *f)
{
    static ucontext_t context, unused;
    f->begun = true;
    getcontext(&context);
    context.uc_stack.ss_sp = f->stack.get();
    context.uc_stack.ss_size = STACK;
    context.uc_link = nullptr;
    makecontext(&context, run_fiber, 0);
    swapcontext(&unused, &context);
}

void go_on(fiber *f)
{
    current = f;
    emulated_thread = dim3(f->thread, 0, 0);
    if (_setjmp(scheduler) != 0) return;
    if (f->begun) _longjmp(f->place, 1);
    begin(f);
}

void start(fiber *f, unsigned thread) { f->thread = thread, f->done = false; }

/* Those that wait for their warp, or for the whole block, go on; false: there are none. */
bool pass_barriers(size_t waiting, bool within_warp)
{
    std::vector<fiber *> ready;
    for (size_t i = 0; i < waiting; i++)
        if (!fibers[i]->done && fibers[i]->within_warp == within_warp)
            ready.push_back(fibers[i].get());
    for (fiber *f : ready) go_on(f);
    return !ready.empty();
}

/* All threads to their first barrier or end; then those that wait go on, round by round: a
 * block's barrier opens when no thread waits for its warp any more. */
void run_block(unsigned threads)
{
    size_t waiting = 0;
    for (unsigned t = 0; t < threads; t++) {
        if (fibers.size() == waiting) fibers.emplace_back(new fiber);
        start(fibers[waiting].get(), t);
        go_on(fibers[waiting].get());
        if (!fibers[waiting]->done) waiting++;
    }
    while (pass_barriers(waiting, true) || pass_barriers(waiting, false)) {}
}

} // namespace

static void wait_for(bool within_warp)
{
    current->within_warp = within_warp;
    leave_off();
}

void emulated_barrier(void) { wait_for(false); }

void emulated_yield(void) { wait_for(true); }

/* All 32 of a warp are there. */
void emulated_warp_barrier(void)
{
    static unsigned arrived[32], passed[32];
    const unsigned warp = emulated_thread.x / 32, before = passed[warp];
    if (++arrived[warp] == 32)
        arrived[warp] = 0, passed[warp]++;
    else
        while (passed[warp] == before) wait_for(true);
}

int emulated_any(int value)
{
    static int any;
    if (current->thread == 0) any = 0;
    wait_for(false);
    any |= value != 0;
    wait_for(false);
    const int all = any;
    wait_for(false); /* before the first asks again */
    return all;
}

float __shfl_xor_sync(unsigned, float value, int mask)
{
    static float shown[1024];
    shown[emulated_thread.x] = value;
    wait_for(true);
    const float other = shown[emulated_thread.x ^ (unsigned)mask];
    wait_for(true);
    return other;
}

unsigned __ballot_sync(unsigned, int value)
{
    static unsigned votes[32];
    const unsigned lane = emulated_thread.x % 32, warp = emulated_thread.x / 32;
    if (value)
        votes[warp] |= 1u << lane;
    else
        votes[warp] &= ~(1u << lane);
    wait_for(true);
    const unsigned all = votes[warp];
    wait_for(true);
    return all;
}

/* ---- a warp's product: each thread shows its share and reads the others' */

static float bf16_at(const uint32_t *pair, int place)
{
    uint32_t bits = place ? *pair & 0xffff0000u : *pair << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void emulated_mma(float c[4], const uint32_t a[4], const uint32_t b[2])
{
    static uint32_t left[1024][4], right[1024][2];
    const unsigned lane = emulated_thread.x % 32, warp = emulated_thread.x - lane;
    memcpy(left[emulated_thread.x], a, sizeof left[0]);
    memcpy(right[emulated_thread.x], b, sizeof right[0]);
    wait_for(true);
    for (unsigned i = 0; i < 4; i++) {
        unsigned row = lane / 4, upper = i / 2, column = lane % 4 * 2 + i % 2;
        for (unsigned k = 0; k < 16; k++) {
            unsigned pair = k % 8 / 2, half = k / 8;
            c[i] += bf16_at(&left[warp + row * 4 + pair][upper + 2 * half], k % 2) *
                    bf16_at(&right[warp + column * 4 + pair][half], k % 2);
        }
    }
    wait_for(true);
}

static float tf32_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits &= 0xffffe000u;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void emulated_mma_tf32(float c[4], const float a[4], const float b[2])
{
    static float left[1024][4], right[1024][2];
    const unsigned lane = emulated_thread.x % 32, warp = emulated_thread.x - lane;
    memcpy(left[emulated_thread.x], a, sizeof left[0]);
    memcpy(right[emulated_thread.x], b, sizeof right[0]);
    wait_for(true);
    for (unsigned i = 0; i < 4; i++) {
        unsigned row = lane / 4, lower = i / 2, column = lane % 4 * 2 + i % 2;
        for (unsigned k = 0; k < 8; k++)
            c[i] += tf32_of(left[warp + row * 4 + k % 4][lower + k / 4 * 2]) *
                    tf32_of(right[warp + column * 4 + k % 4][k / 4]);
    }
    wait_for(true);
}

/* ---- the driver's calls */

static long long setting(const char *name, long long standard)
{
    const char *text = getenv(name);
    return text ? atoll(text) : standard;
}

static long long calls, taken;
static bool broken;

/* Every call counts. */
static cudaError_t call(void)
{
    long long fail = setting("XB_EMULATED_FAIL", 0);
    if (fail > 0 && ++calls >= fail) broken = true;
    return broken ? cudaErrorLaunchFailure : cudaSuccess;
}

void emulated_launch(dim3 blocks, unsigned threads, const std::function<void()> &body)
{
    if (call() != cudaSuccess) return;
    kernel = &body;
    emulated_grid = blocks, emulated_threads = dim3(threads);
    for (unsigned z = 0; z < blocks.z; z++)
        for (unsigned y = 0; y < blocks.y; y++)
            for (unsigned x = 0; x < blocks.x; x++) {
                emulated_block = dim3(x, y, z);
                run_block(threads);
            }
}

enum { HEAD = 64 }; /* bytes before a block: its size */

cudaError_t cudaMalloc(void **out, size_t bytes)
{
    if (call() != cudaSuccess) return cudaErrorLaunchFailure;
    long long limit = setting("XB_EMULATED_MEMORY", -1), size = (long long)bytes;
    if (limit >= 0 && size > limit - taken) return cudaErrorMemoryAllocation;
    char *p = (char *)aligned_alloc(HEAD, (bytes / HEAD + 2) * HEAD);
    if (!p) return cudaErrorMemoryAllocation;
    taken += size;
    memcpy(p, &size, sizeof size);
    memset(p + HEAD, 0xff, bytes); /* NaN, until something is put there */
    *out = p + HEAD;
    return cudaSuccess;
}

cudaError_t cudaFree(void *p)
{
    if (call() != cudaSuccess) return cudaErrorLaunchFailure;
    long long size = 0;
    memcpy(&size, (char *)p - HEAD, sizeof size);
    taken -= size;
    free((char *)p - HEAD);
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    (void)kind;
    if (call() != cudaSuccess) return cudaErrorLaunchFailure;
    memmove(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t)
{
    return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    if (call() != cudaSuccess) return cudaErrorLaunchFailure;
    memset(to, value, bytes);
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    return broken ? cudaErrorLaunchFailure : cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t) { return call(); }
cudaError_t cudaStreamQuery(cudaStream_t) { return call(); }
cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int) { return call(); }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned)
{
    *out = nullptr;
    return call();
}
cudaError_t cudaSetDevice(int) { return call(); }

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = (int)setting("XB_EMULATED_DEVICES", 1);
    return *count < 0 ? cudaErrorNoDevice : call();
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
    *value = attribute == cudaDevAttrComputeCapabilityMajor
                 ? (int)setting("XB_EMULATED_MAJOR", 9)
             : attribute == cudaDevAttrMultiProcessorCount ? 2
                 : (int)setting("XB_EMULATED_SHARED", EMULATED_SHARED);
    return call();
}

const char *cudaGetErrorString(cudaError_t status)
{
    switch (status) {
    case cudaSuccess: return "no error";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    case cudaErrorNotReady:
    case cudaErrorLaunchFailure: break;
    }
    return "unspecified launch failure";
}
