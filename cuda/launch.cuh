/* launch.cuh: how kernels are started, and where errors go. The tests compile the same
 * sources for the CPU (tests/cuda_emulated.h). */
#ifndef XBC_LAUNCH_CUH
#define XBC_LAUNCH_CUH

#if defined(XB_EMULATED)
#include "cuda_emulated.h"
#else
#include <cuda_runtime.h>
#define XBC_START(kernel, blocks, threads, ...) kernel<<<blocks, threads>>>(__VA_ARGS__)
/* XBC_START_ON starts a kernel on a stream, with shared memory whose size the launch
 * sets; the kernel declares that memory by XBC_DYNAMIC. */
#define XBC_START_ON(kernel, blocks, threads, bytes, stream, ...)                        \
    kernel<<<blocks, threads, bytes, stream>>>(__VA_ARGS__)
#define XBC_ALIGNED(name, bytes)                                                         \
    extern __shared__ __align__(bytes)                                                   \
    float name[]
#define XBC_DYNAMIC(name) XBC_ALIGNED(name, 16)
#endif

#include "device.h"

/* The bytes of shared memory that a block can have on every GPU from compute capability
 * 8.0 on. */
enum { XBC_SHARED_MOST = 99 << 10 };

/* Keeps the first error; returns false if there is one. */
bool xbc_good(cudaError_t status, const char *what);
bool xbc_sound(void);

#define XBC_LAUNCH(name, kernel, blocks, threads, ...)                                   \
    do {                                                                                 \
        if (!xbc_sound()) break;                                                         \
        XBC_START(kernel, blocks, threads, __VA_ARGS__);                                 \
        xbc_good(cudaGetLastError(), name);                                              \
    } while (0)

/* The same with shared memory whose size the launch sets. */
#define XBC_LAUNCH_SHARED(name, kernel, blocks, threads, bytes, ...)                     \
    do {                                                                                 \
        const int most = (int)(bytes);                                                   \
        if (!xbc_sound() ||                                                              \
            !xbc_good(cudaFuncSetAttribute((const void *)kernel,                         \
                                           cudaFuncAttributeMaxDynamicSharedMemorySize,  \
                                           most),                                        \
                      name))                                                             \
            break;                                                                       \
        XBC_START_ON(kernel, blocks, threads, (size_t)most, 0, __VA_ARGS__);             \
        xbc_good(cudaGetLastError(), name);                                              \
    } while (0)

/* Unrolls a loop by four, so that four numbers are read at a time. */
#if defined(__CUDACC__)
#define XB_BY_FOUR _Pragma("unroll 4")
#else
#define XB_BY_FOUR
#endif

enum { THREADS = 256 };

/* The number of blocks for n elements; kernels take the rest in strides of the grid. */
static inline unsigned blocks_for(int64_t n)
{
    const int64_t most = 1 << 14, wanted = (n + THREADS - 1) / THREADS;
    return (unsigned)(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

#define EACH(i, n)                                                                       \
    (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (n);                \
     i += (int64_t)gridDim.x * blockDim.x)

/* i / n for i below 2^24, given n's divisor: 2^32 / n rounded up, or 0 if n is 1. */
static __device__ __forceinline__ int divided(int i, uint32_t by)
{
    return by ? (int)__umulhi((uint32_t)i, by) : i;
}

/* The sum over a block's threads, in a fixed order, returned to thread 0; `sum` is the
 * block's own array [THREADS]. */
static __device__ __forceinline__ double block_sum(double *sum, double value)
{
    sum[threadIdx.x] = value;
    for (unsigned w = THREADS / 2; w > 0; w /= 2) {
        __syncthreads();
        if (threadIdx.x < w) sum[threadIdx.x] += sum[threadIdx.x + w];
    }
    return sum[0];
}

#endif
