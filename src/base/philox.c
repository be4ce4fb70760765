/* philox.c: the keys of streams, and the word of one element; the arithmetic is in
 * philox.h. See maths R1-R3.
 *
 * The vector kernels in draw/ compute the same words; the tests compare all of
 * them with Random123's known answers. */
#include "base/philox.h"

#include <assert.h>

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
    uint32_t word[4];
    xb_stream_counter_words(word, stream, xb_element_counter((uint64_t)element));
    return word[xb_element_place((uint64_t)element)]; /* (R2) */
}

double xb_stream_uniform(const xb_stream *stream, int64_t element)
{
    uint64_t high = xb_stream_word(stream, 2 * element);
    uint64_t low = xb_stream_word(stream, 2 * element + 1);
    uint64_t k = (high << 32 | low) >> 12;
    return ((double)k + 0.5) * 0x1p-52; /* (R3), exact */
}
