/* moment.h: the addresses of the random words for the noise of a device at one operation,
 * for devices whose noise is correlated (forget.c, held.c). */
#ifndef XB_CROSSBAR_MOMENT_H
#define XB_CROSSBAR_MOMENT_H

#include "crossbar/analog.h"
#include "draw/kernel.h"
#include "predict/predict.h"

/* The number of operation q within its read; q may lie before the first read. */
static inline int64_t xb_moment_part(xb_moment when, int64_t q)
{
    return (q % when.each + when.each) % when.each;
}

/* The read that operation q belongs to, and the address of element 0 of a tensor of n
 * elements in it. */
static inline uint32_t xb_moment_read(xb_moment when, int64_t q)
{
    return (uint32_t)((q - xb_moment_part(when, q)) / when.each);
}
static inline int64_t xb_moment_element(xb_moment when, int64_t q, int64_t n)
{
    return (when.first + xb_moment_part(when, q)) * n;
}

/* The streams of fresh draws, and of the words that decide whether devices keep or change
 * theirs. */
static inline xb_stream xb_moment_draws(const xb_analog *a, int tensor, uint32_t read)
{
    return (xb_stream){a->reads, (uint32_t)tensor, read, XB_PREDICT_STEP - a->place};
}
static inline xb_stream xb_moment_words(const xb_analog *a, int tensor, uint32_t read)
{
    return (xb_stream){a->forget, (uint32_t)tensor, XB_CHIP_FORGET, read};
}

/* Device i's fresh draw at operation q. */
static inline float xb_moment_draw(const xb_analog *a, const xb_devices *d,
                                   xb_moment when, int64_t q, int64_t i)
{
    xb_stream where = xb_moment_draws(a, d->tensor, xb_moment_read(when, q));
    return xb_sampler_value(a->sampler,
                            xb_stream_word(&where, xb_moment_element(when, q, d->n) + i));
}
enum { XB_STRETCH = 16 * XB_BLOCK }; /* number of devices at a time: 4 KiB of words */

#endif
