/* crossbayes/random.h: randomness as a pure function of where it is used.
 *
 * A random word is philox4x32-10(counter, key). The key comes from the seed and a
 * purpose; the counter says which element of which tensor, in which sample and step.
 * Nothing is stored, and nothing depends on the order of calls.
 *
 * How element i finds its word (maths R2): elements go in blocks of 64, a block
 * takes 16 consecutive counters, and word (i/16 mod 4) of counter
 * 16*(i/64) + (i mod 16) is element i's. So sixteen neighbouring elements are
 * the same word of sixteen neighbouring counters, which suits vector registers.
 */
#ifndef CROSSBAYES_RANDOM_H
#define CROSSBAYES_RANDOM_H

#include "crossbayes/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a number is drawn for. Keys of different purposes give independent streams. 6 is
 * reserved for tests; programs may use numbers from 1000 on. */
typedef enum xb_purpose {
    XB_PURPOSE_SAMPLE = 1,    /* draws that a user requests */
    XB_PURPOSE_WEIGHT = 2,    /* weight noise of a network */
    XB_PURPOSE_DATA = 3,      /* synthetic data, splits, shuffles */
    XB_PURPOSE_INIT = 4,      /* initial parameters */
    XB_PURPOSE_BOOTSTRAP = 5, /* simulated null distributions, resampling */
    XB_PURPOSE_ARRAY = 16     /* differences between devices, and the times at which their
                                 noise is redrawn */
} xb_purpose;

/* A frozen value. */
typedef struct xb_key {
    uint32_t word[2];
} xb_key;

/* The place of a tensor's noise in the random stream. Elements are numbered from 0; there
 * are at most 2^34 of them (XB_STREAM_MAX). A frozen value. */
typedef struct xb_stream {
    xb_key key;
    uint32_t tensor;
    uint32_t sample;
    uint32_t step;
} xb_stream;

#define XB_STREAM_MAX (INT64_C(1) << 34)

XB_API xb_key xb_key_make(uint64_t seed, xb_purpose purpose);

/* The raw 32-bit word of one element, 0 <= element < XB_STREAM_MAX. */
XB_API uint32_t xb_stream_word(const xb_stream *stream, int64_t element);

/* (R3) A uniform double in (0, 1), both ends open: (k + 1/2) 2^-52 with k the
 * top 52 bits of the word pair (2i, 2i+1), word 2i leading. 0 <= element < XB_STREAM_MAX
 * / 2. */
XB_API double xb_stream_uniform(const xb_stream *stream, int64_t element);

#ifdef __cplusplus
}
#endif
#endif
