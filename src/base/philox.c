/* philox.c: Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011), the scalar
 * reference, and the addressing of streams. maths R1-R3.
 *
 * The vector kernels in draw/ compute the same words; the tests compare all of
 * them with Random123's known answers. */
#include "base/philox.h"

#include <assert.h>

void xb_philox4x32(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < XB_PHILOX_ROUNDS; round++) { /* (R1) */
        uint64_t p0 = (uint64_t)XB_PHILOX_M0 * c0;
        uint64_t p1 = (uint64_t)XB_PHILOX_M1 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += XB_PHILOX_W0;
        k1 += XB_PHILOX_W1;
    }
    out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

xb_key xb_key_make(uint64_t seed, xb_purpose purpose)
{
    const uint32_t counter[4] = {(uint32_t)seed, (uint32_t)(seed >> 32),
                                 (uint32_t)purpose, 0};
    const uint32_t zero[2] = {0, 0};
    uint32_t word[4];
    xb_philox4x32(word, counter, zero);
    return (xb_key){{word[0], word[1]}};
}

uint32_t xb_stream_word(const xb_stream *stream, int64_t element)
{
    assert(element >= 0 && element < XB_STREAM_MAX);
    uint64_t i = (uint64_t)element; /* (R2) */
    const uint32_t counter[4] = {(uint32_t)((i >> 6) * 16 + (i & 15)), stream->tensor,
                                 stream->sample, stream->step};
    uint32_t word[4];
    xb_philox4x32(word, counter, stream->key.word);
    return word[(i >> 4) & 3];
}

double xb_stream_uniform(const xb_stream *stream, int64_t element)
{
    uint64_t high = xb_stream_word(stream, 2 * element);
    uint64_t low = xb_stream_word(stream, 2 * element + 1);
    uint64_t k = (high << 32 | low) >> 12;
    return ((double)k + 0.5) * 0x1p-52; /* (R3), exact */
}
