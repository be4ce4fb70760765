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
/* XBC_START_EARLY starts a kernel, on Hopper GPUs alone, as soon as all blocks of the one
 * before it have called next_may_start() or ended, and leave room. The kernel calls
 * previous_done() before it reads what that one writes, or writes what that one reads. */
#define XBC_START_EARLY(kernel, blocks, threads, bytes, ...)                             \
    start_early(kernel, blocks, threads, bytes, __VA_ARGS__)
template <class... P, class... A>
static void start_early(void (*kernel)(P...), dim3 blocks, unsigned threads, size_t bytes,
                        const A &...given)
{
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t how = {};
    how.gridDim = blocks, how.blockDim = dim3(threads), how.dynamicSmemBytes = bytes;
    how.attrs = &early, how.numAttrs = 1;
    cudaLaunchKernelEx(&how, kernel, given...);
}
static __device__ __forceinline__ void next_may_start(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
static __device__ __forceinline__ void previous_done(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
#endif

#include "device.h"

/* The bytes of shared memory that a block can have on every GPU from compute capability
 * 8.0 on. */
enum { XBC_SHARED_MOST = 99 << 10 };

/* Keeps the first error; returns false if there is one. */
bool xbc_good(cudaError_t status, const char *what);
bool xbc_sound(void);

/* A launch by one of the macros above. */
#define XBC_LAUNCH_BY(start, name)                                                       \
    do {                                                                                 \
        if (!xbc_sound()) break;                                                         \
        start;                                                                           \
        xbc_good(cudaGetLastError(), name);                                              \
    } while (0)

#define XBC_LAUNCH(name, kernel, blocks, threads, ...)                                   \
    XBC_LAUNCH_BY(XBC_START(kernel, blocks, threads, __VA_ARGS__), name)

/* Lets a kernel have this much shared memory. */
#define XBC_ALLOW(name, kernel, bytes)                                                   \
    (void)(xbc_sound() &&                                                                \
           xbc_good(cudaFuncSetAttribute((const void *)kernel,                           \
                                         cudaFuncAttributeMaxDynamicSharedMemorySize,    \
                                         (int)(bytes)),                                  \
                    name))

/* The same with shared memory whose size the launch sets. */
#define XBC_LAUNCH_SHARED(name, kernel, blocks, threads, bytes, ...)                     \
    do {                                                                                 \
        XBC_ALLOW(name, kernel, bytes);                                                  \
        XBC_LAUNCH_BY(                                                                   \
            XBC_START_ON(kernel, blocks, threads, (size_t)(bytes), 0, __VA_ARGS__),      \
            name);                                                                       \
    } while (0)

/* The same, early; a kernel without such memory has 0 bytes of it. */
#define XBC_LAUNCH_EARLY(name, kernel, blocks, threads, bytes, ...)                      \
    do {                                                                                 \
        if ((bytes) > 0) XBC_ALLOW(name, kernel, bytes);                                 \
        XBC_LAUNCH_BY(                                                                   \
            XBC_START_EARLY(kernel, blocks, threads, (size_t)(bytes), __VA_ARGS__),      \
            name);                                                                       \
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

/* The number of the lowest bit that is 1; v is not 0. */
static __device__ __forceinline__ unsigned lowest_bit(unsigned v)
{
    return (unsigned)__ffs((int)v) - 1;
}

/* A number that no other thread of the block needs: it does not stay in the first-level
 * cache, where others are. */
static __device__ __forceinline__ float load_once(const float *p)
{
#if defined(__CUDA_ARCH__)
    float v;
    asm("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(v) : "l"(p));
    return v;
#else
    return *p;
#endif
}

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
