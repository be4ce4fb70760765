/* cuda_emulated.h: enough of CUDA to compile the GPU module's sources for the CPU and run
 * them block by block, a thread after the other up to each barrier. So the module is
 * tested where there is no GPU: its kernels, its host's side, and what it does when a
 * call fails (see cuda_emulated.cpp for how to ask for that). */
#ifndef CUDA_EMULATED_H
#define CUDA_EMULATED_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <functional>

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
struct __attribute__((aligned(16))) float4 {
    float x, y, z, w;
};
struct __attribute__((aligned(16))) uint4 {
    unsigned x, y, z, w;
};

struct __attribute__((aligned(8))) float2 {
    float x, y;
};
struct __attribute__((aligned(16))) double2 {
    double x, y;
};
struct __attribute__((aligned(8))) uint2 {
    unsigned x, y;
};

/* The position of the running thread. */
extern dim3 emulated_grid, emulated_block, emulated_threads, emulated_thread;
#define gridDim emulated_grid
#define blockIdx emulated_block
#define blockDim emulated_threads
#define threadIdx emulated_thread

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __shared__ static
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __grid_constant__
#define __syncthreads() emulated_barrier()
#define __syncthreads_or(value) emulated_any(value)
#define __syncwarp() emulated_warp_barrier()
#define __threadfence() ((void)0)

/* Threads switch only at barriers, so these operations are atomic. */
static inline uint32_t atomicAdd(uint32_t *to, uint32_t value)
{
    uint32_t before = *to;
    *to += value;
    return before;
}

static inline int __popc(uint32_t v) { return __builtin_popcount(v); }
static inline int __ffs(int v) { return __builtin_ffs(v); }
template <class T> static inline T __ldg(const T *p) { return *p; }
static inline uint32_t __umulhi(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}

void emulated_barrier(void);
void emulated_warp_barrier(void);
void emulated_yield(void); /* others go on first */

/* A barrier in shared memory that counts arrivals and bytes, phase by phase. */
struct emulated_phases {
    unsigned count, waiting;
    int64_t bytes;
    unsigned phase;

    void init(unsigned n) { count = waiting = n, bytes = 0, phase = 0; }
    void arrive(unsigned expected)
    {
        bytes += expected, waiting--;
        complete();
    }
    void bytes_came(unsigned n)
    {
        bytes -= n;
        complete();
    }
    bool passed(unsigned parity) const { return (phase & 1) != parity; }

  private:
    void complete()
    {
        if (waiting == 0 && bytes == 0) waiting = count, phase++;
    }
};

/* The value of thread `lane ^ mask` of the warp, all of which call it. */
float __shfl_xor_sync(unsigned all, float value, int mask);

/* A bit for each thread of the warp, all of which call it. */
unsigned __ballot_sync(unsigned all, int value);

int emulated_any(int value); /* a barrier; whether it is not 0 for any thread */
/* c [16][8] += a [16][16] b [16][8] of bf16 by a warp. */
void emulated_mma(float c[4], const uint32_t a[4], const uint32_t b[2]);
/* c [16][8] += a [16][8] b [8][8] of tf32 by a warp. */
void emulated_mma_tf32(float c[4], const float a[4], const float b[2]);
void emulated_launch(dim3 blocks, unsigned threads, const std::function<void()> &body);
#define XBC_START(kernel, blocks, threads, ...)                                          \
    emulated_launch(blocks, threads, [&] { kernel(__VA_ARGS__); })
/* Streams run at once; shared memory of a launch is as large as any. */
#define XBC_START_ON(kernel, blocks, threads, bytes, stream, ...)                        \
    ((void)(bytes), (void)(stream), XBC_START(kernel, blocks, threads, __VA_ARGS__))
#define XBC_START_EARLY(kernel, blocks, threads, bytes, ...)                             \
    XBC_START_ON(kernel, blocks, threads, bytes, 0, __VA_ARGS__)
static inline void next_may_start(void) {}
static inline void previous_done(void) {}
enum { EMULATED_SHARED = 227 << 10 };
#define XBC_ALIGNED(name, bytes)                                                         \
    static __align__(bytes) float name[EMULATED_SHARED / sizeof(float)]
#define XBC_DYNAMIC(name) XBC_ALIGNED(name, 16)

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorMemoryAllocation = 2,
    cudaErrorNoDevice = 100,
    cudaErrorNotReady = 600,
    cudaErrorLaunchFailure = 719
};
enum cudaMemcpyKind {
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice
};
enum cudaDeviceAttr {
    cudaDevAttrMultiProcessorCount,
    cudaDevAttrComputeCapabilityMajor,
    cudaDevAttrMaxSharedMemoryPerBlockOptin
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
enum { cudaStreamNonBlocking = 1 };
typedef struct emulated_stream *cudaStream_t;

cudaError_t cudaMalloc(void **out, size_t bytes);
cudaError_t cudaFree(void *p);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemset(void *to, int value, size_t bytes);
cudaError_t cudaGetLastError(void);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute,
                                 int value);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
const char *cudaGetErrorString(cudaError_t status);

#endif
