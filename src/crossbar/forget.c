/* forget.c: noise from one operation to the next (maths X10). A device keeps its value
 * with probability rho and takes a new draw of its law otherwise. So the law of every
 * single read is exact whatever the law, and the correlation of reads k apart is rho^k.
 *
 * A device's value at operation q is its draw at the last operation it forgot at: a
 * function of addresses, found by walking back, so reads can start anywhere and come out
 * the same. Operation 0 is always new. Walking costs 1 / (1 - rho) words a device, once
 * where a row of reads starts. */
#include <math.h>

#include "crossbar/analog.h"
#include "draw/kernel.h"
#include "predict/predict.h"

enum { WORDS = 16 * XB_BLOCK }; /* at a time: 4 KiB */

/* Element 0 of the tensor at operation q, and the read it belongs to. */
static int64_t element_of(xb_moment when, int64_t q, int64_t n)
{
    return (when.first + q % when.each) * n;
}

static uint32_t read_of(xb_moment when, int64_t q) { return (uint32_t)(q / when.each); }

static xb_stream draws_at(const xb_analog *a, int tensor, uint32_t read)
{
    return (xb_stream){a->reads, (uint32_t)tensor, read, XB_PREDICT_STEP};
}

static xb_stream words_at(const xb_analog *a, int tensor, uint32_t read)
{
    return (xb_stream){a->forget, (uint32_t)tensor, XB_CHIP_FORGET, read};
}

static uint32_t keep_below(double rho) { return (uint32_t)(ldexp(rho, 32)); }

static float walk_back(const xb_analog *a, int64_t n, int tensor, xb_moment when,
                       int64_t i)
{
    const uint32_t below = keep_below(a->rho);
    int64_t q = when.q;
    for (; q > 0; q--) {
        xb_stream where = words_at(a, tensor, read_of(when, q));
        if (xb_stream_word(&where, element_of(when, q, n) + i) >= below) break;
    }
    xb_stream where = draws_at(a, tensor, read_of(when, q));
    return xb_sampler_value(a->sampler,
                            xb_stream_word(&where, element_of(when, q, n) + i));
}

/* Devices that forget take the draw of this operation. */
static void step_on(const xb_analog *a, float *z, int64_t n, int tensor, xb_moment when)
{
    const uint32_t below = keep_below(a->rho);
    xb_stream draws = draws_at(a, tensor, read_of(when, when.q));
    xb_stream words = words_at(a, tensor, read_of(when, when.q));
    int64_t element = element_of(when, when.q, n);
    const xb_kernel *kernel = xb_kernel_best();
    for (int64_t i = 0; i < n;) {
        uint32_t word[WORDS];
        float fresh[WORDS];
        int64_t skip = (element + i) % XB_BLOCK, some = WORDS - skip;
        if (some > n - i) some = n - i;
        kernel->words(word, (skip + some + XB_BLOCK - 1) / XB_BLOCK, &words,
                      (element + i) / XB_BLOCK);
        xb_sampler_fill(a->sampler, fresh, some, &draws, element + i);
        for (int64_t j = 0; j < some; j++)
            z[i + j] = word[skip + j] < below ? z[i + j] : fresh[j]; /* (X10) */
        i += some;
    }
}

void xb_forget_draw(const xb_analog *analog, float *z, int64_t n, int tensor,
                    xb_moment when, bool known)
{
    if (analog->rho > 0 && known && when.q > 0) {
        step_on(analog, z, n, tensor, when);
    } else if (analog->rho > 0 && when.q > 0) {
        for (int64_t i = 0; i < n; i++) z[i] = walk_back(analog, n, tensor, when, i);
    } else {
        xb_stream where = draws_at(analog, tensor, read_of(when, when.q));
        xb_sampler_fill(analog->sampler, z, n, &where, element_of(when, when.q, n));
    }
}
