/* late.cuh: slow draws of a block. Made at once, one would hold up the 31 other threads
 * of its warp; so a thread puts it aside and notes a bit, and later the block's threads
 * share the work that all of them have noted. The pieces that most of them need are in
 * shared memory, since each step of the way to a piece waits for the one before. */
#ifndef XBC_LATE_CUH
#define XBC_LATE_CUH

#include "table.cuh"

/* The pieces of each half that are kept near (device.h). */
template <class S> struct near_pieces {
    xbc_near half[S::halves];
};

/* Synchronise afterwards. */
template <class S>
static __device__ __forceinline__ void near_load(near_pieces<S> *to,
                                                 const xbc_source &source)
{
    static_assert(sizeof(xbc_near) % sizeof(double2) == 0, "some pairs of doubles");
    const double2 *from = (const double2 *)(const void *)source.near;
    double2 *at = (double2 *)(void *)to;
    for (unsigned i = threadIdx.x; i < sizeof *to / sizeof *at; i += blockDim.x)
        at[i] = __ldg(from + i);
}

/* As slow_value(). */
template <class S>
static __device__ __noinline__ float near_value(const near_pieces<S> *near,
                                                const xb_draw_source *d, uint32_t word)
{
    const double s = sqrt(2 * xb_word_mass(word));
    const xbc_near *n = &near->half[S::halves == 2 ? word >> 31 : 0];
    if (!(s > n->before && s <= n->end[XBC_NEAR - 1])) return slow_value(d, word);
    int i = 0; /* the number of ends below s */
    XB_UNROLLED
    for (int half = XBC_NEAR / 2; half > 0; half /= 2)
        i += n->end[i + half - 1] < s ? half : 0;
    const xb_piece *piece = &n->piece[i];
    const double x = piece->origin + xb_piece_value(piece, s);
    return (float)xb_affine_draw(&n->affine, x, S::halves == 1 && word >> 31);
}

/* The four values of a counter, slow ones too: slow(word) makes these. */
template <class S, class F>
static __device__ __forceinline__ void counter_values(float (&z)[4],
                                                      const own_copy<S> &own,
                                                      const stream_keys &keys,
                                                      uint32_t number, bool negate,
                                                      F slow)
{
    uint32_t word[4];
    counter_words(word, keys, number);
    fast_values<S>(z, own, word);
    each_slow(word, z, [&](uint32_t w, unsigned at) {
        const float v = slow(w);
        XB_UNROLLED
        for (unsigned j = 0; j < 4; j++)
            if (j == at) z[j] = negate ? -v : v;
    });
}

/* How many notes there is room for. The emulation has room for one, so that tests cover
 * those without room. */
#if defined(XB_EMULATED)
#define XBC_LATE(count) 1
#else
#define XBC_LATE(count) count
#endif
enum { LISTED = XBC_LATE(1024) };

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
            const uint32_t bit = 32 * k + lowest_bit(bits[k]);
            list->item[at++] = (uint16_t)(bit * THREADS + threadIdx.x);
        }
    __syncthreads();
    const uint32_t all = list->count;
    return {first, at, all < LISTED ? all : (uint32_t)LISTED, all > LISTED};
}

#endif
