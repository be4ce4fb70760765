/* late.cuh: what threads put aside because some of its draws are slow. Made at once, a
 * slow draw would hold up the 31 other threads of its warp; so a thread notes a bit, and
 * later the block's threads share the work that all of them have noted. */
#ifndef XBC_LATE_CUH
#define XBC_LATE_CUH

#include "launch.cuh"

/* The emulation has room for one, so that tests cover lists that are full. */
#if defined(XB_EMULATED)
enum { LISTED = 1 };
#else
enum { LISTED = 1024 };
#endif

/* An item is the number of a bit among a thread's N words * THREADS + the thread. */
struct late_list {
    uint16_t item[LISTED];
    uint32_t count;
};

/* A thread's items lie side by side in the list, by their bits. */
struct late_items {
    uint32_t first, end; /* of the thread */
    uint32_t all;        /* the length of the list */
    bool more;           /* whether some thread has bits left */
};

/* Moves bits of all threads to the list, as many as it has room for. Everything that
 * threads wrote before is visible to all of them afterwards. Synchronise before the
 * next call. */
template <int N>
static __device__ __forceinline__ late_items list_late(late_list *list,
                                                       uint32_t (&bits)[N])
{
    static_assert(32 * N * THREADS <= 1 << 16, "items have 16 bits");
    if (threadIdx.x == 0) list->count = 0;
    __syncthreads();
    uint32_t n = 0;
    XB_UNROLLED
    for (int k = 0; k < N; k++) n += (uint32_t)__popc(bits[k]);
    const uint32_t first = n > 0 ? atomicAdd(&list->count, n) : 0;
    uint32_t at = first;
    XB_UNROLLED
    for (uint32_t k = 0; k < N; k++)
        for (; bits[k] != 0 && at < LISTED; bits[k] &= bits[k] - 1) {
            const uint32_t bit = 32 * k + (uint32_t)__ffs((int)bits[k]) - 1;
            list->item[at++] = (uint16_t)(bit * THREADS + threadIdx.x);
        }
    __syncthreads();
    const uint32_t all = list->count;
    return {first, at, all < LISTED ? all : (uint32_t)LISTED, all > LISTED};
}

#endif
