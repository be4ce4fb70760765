/* cpu_block.h: the kernels of blocks (block.h), on machines with AVX-512; elsewhere
 * there are none, and the layers run one by one. */
#ifndef XB_KERNEL_CPU_BLOCK_H
#define XB_KERNEL_CPU_BLOCK_H

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
#include "kernel/cpu_block_backward.h"
#include "kernel/cpu_block_winograd.h"

static int64_t block_packed(const xb_block *g)
{
    int64_t spots = winograd_suits(g) ? SPOTS : TAPS;
    int64_t forward = vectors_of(g->oc) * LANES * (g->c * spots + 1);
    int64_t backward = vectors_of(g->c) * LANES * g->oc * TAPS;
    return forward > backward ? forward : backward;
}

static int64_t block_room(const xb_block *g)
{
    int64_t back = back_room_of(g, NULL).reals, forward = winograd_room_of(g, NULL).reals;
    return back > forward ? back : forward;
}

static void block_pack_forward(float *packed, const float *w, const float *b,
                               const xb_block *g)
{
    if (winograd_suits(g))
        winograd_pack(packed, w, b, g);
    else
        direct_pack(packed, w, b, g);
}

static void block_forward(float *y, uint8_t *place, const float *x, const float *packed,
                          const xb_block_norm *norm, int64_t rows, const xb_block *g,
                          float *room)
{
    int64_t out = g->ph * g->pw * g->oc;
    winograd_room m = winograd_room_of(g, room);
    for (int64_t r = 0; r < rows; r++, x += g->h * g->w * g->c, y += out) {
        if (winograd_suits(g)) {
            image_around(m.image, x, g, norm);
            winograd_image(y, place, &m, packed, g);
        } else {
            planes_of(room, x, g, norm);
            direct_image(y, place, room, packed, g);
        }
        if (place) place += out;
    }
}

static const xb_block_kernel cpu_block = {
    .packed = block_packed,
    .room = block_room,
    .pack_forward = block_pack_forward,
    .pack_backward = block_pack_backward,
    .forward = block_forward,
    .backward = block_backward,
};
#define CPU_BLOCK &cpu_block
#else
#define CPU_BLOCK NULL
#endif

#endif
