/* cpu_block.h: the kernels of blocks (block.h), on machines with AVX-512; elsewhere
 * there are none, and the layers run one by one. */
#ifndef XB_NET_CPU_BLOCK_H
#define XB_NET_CPU_BLOCK_H

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
#include "net/cpu_block_backward.h"

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
