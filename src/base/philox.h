/* philox.h: Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011) and the addressing of
 * streams, word by word; maths R1, R2. This is the only source of both: the plain kernels
 * use it, the GPU's compiler reads it as well, and the vector kernels are compared with
 * it. */
#ifndef XB_BASE_PHILOX_H
#define XB_BASE_PHILOX_H

#include "base/both.h"
#include "crossbayes/random.h"

enum { XB_PHILOX_ROUNDS = 10 };

/* Multipliers and Weyl increments of Salmon et al. 2011, table 2. */
#define XB_PHILOX_M0 UINT32_C(0xD2511F53)
#define XB_PHILOX_M1 UINT32_C(0xCD9E8D57)
#define XB_PHILOX_W0 UINT32_C(0x9E3779B9)
#define XB_PHILOX_W1 UINT32_C(0xBB67AE85)

/* (R1) One round of counter words c under its round's key. */
XB_BOTH void xb_philox_round(uint32_t c[4], uint32_t k0, uint32_t k1)
{
    uint64_t p0 = (uint64_t)XB_PHILOX_M0 * c[0];
    uint64_t p1 = (uint64_t)XB_PHILOX_M1 * c[2];
    c[0] = (uint32_t)(p1 >> 32) ^ c[1] ^ k0;
    c[1] = (uint32_t)p1;
    c[2] = (uint32_t)(p0 >> 32) ^ c[3] ^ k1;
    c[3] = (uint32_t)p0;
}

/* (R1) Four words from a counter and a key: Random123's Philox4x32-10. */
XB_BOTH void xb_philox4x32(uint32_t out[4], const uint32_t counter[4],
                           const uint32_t key[2])
{
    uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]};
    uint32_t k0 = key[0], k1 = key[1];
    XB_UNROLLED
    for (int round = 0; round < XB_PHILOX_ROUNDS; round++) { /* (R1) */
        xb_philox_round(c, k0, k1);
        k0 += XB_PHILOX_W0;
        k1 += XB_PHILOX_W1;
    }
    out[0] = c[0], out[1] = c[1], out[2] = c[2], out[3] = c[3];
}

/* The four words of a stream's counter. */
XB_BOTH void xb_stream_counter_words(uint32_t word[4], const xb_stream *stream,
                                     uint32_t number)
{
    const uint32_t counter[4] = {number, stream->tensor, stream->sample, stream->step};
    xb_philox4x32(word, counter, stream->key.word);
}

/* (R2) The counter that an element's word comes from, and the index of that word. */
XB_BOTH uint32_t xb_element_counter(uint64_t i)
{
    return (uint32_t)((i >> 6) * 16 + (i & 15));
}
XB_BOTH int xb_element_place(uint64_t i) { return (int)(i >> 4 & 3); }

#endif
