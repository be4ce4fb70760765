/* forget.c: noise from one operation to the next (maths X10). A device keeps its value
 * with probability rho and otherwise takes a new draw of its law. So every single read
 * has exactly the law, and reads k apart have the correlation rho^k.
 *
 * A device's value at operation q is its draw at the last operation at which it forgot.
 * That is a function of addresses, found by walking back, so reads can start anywhere and
 * give the same values. Operation 0 is always new. Walking back costs 1 / (1 - rho) words
 * per device, once at the start of a sequence of reads. */
#include <math.h>

#include "crossbar/moment.h"

static uint32_t keep_below(double rho) { return (uint32_t)(ldexp(rho, 32)); }

/* Device i's value at operation q, whatever its earlier values were. */
static float walk_back(const xb_analog *a, const xb_devices *d, xb_moment when, int64_t q,
                       int64_t i)
{
    const uint32_t below = keep_below(a->rho);
    for (; q > 0; q--) {
        xb_stream where = xb_moment_words(a, d->tensor, xb_moment_read(when, q));
        int64_t element = xb_moment_element(when, q, d->n) + i;
        if (xb_stream_word(&where, element) >= below) break;
    }
    return xb_moment_draw(a, d, when, q, i);
}

/* A group of consecutive devices at operation q: their words and their fresh draws. */
typedef struct stretch {
    uint32_t word[XB_STRETCH];
    float fresh[XB_STRETCH];
    int64_t skip, some; /* number of words before the first device; number of devices */
} stretch;

/* Takes devices from i on, as many as there is room for. */
static void look_at(const xb_analog *a, stretch *s, const xb_devices *d, xb_moment when,
                    int64_t i)
{
    const uint32_t read = xb_moment_read(when, when.q);
    xb_stream draws = xb_moment_draws(a, d->tensor, read);
    xb_stream words = xb_moment_words(a, d->tensor, read);
    const int64_t element = xb_moment_element(when, when.q, d->n) + i;
    s->skip = element % XB_BLOCK;
    s->some = XB_STRETCH - s->skip < d->to - i ? XB_STRETCH - s->skip : d->to - i;
    xb_kernel_best()->words(s->word, (s->skip + s->some + XB_BLOCK - 1) / XB_BLOCK,
                            &words, element / XB_BLOCK);
    xb_sampler_fill(a->sampler, s->fresh, s->some, &draws, element);
}

/* Devices that forget take the draw of this operation (X10); the others keep theirs,
 * which is computed if it is not known. */
static void step_on(const xb_analog *a, float *z, const xb_devices *d, xb_moment when,
                    bool known)
{
    const uint32_t below = keep_below(a->rho);
    stretch s;
    for (int64_t i = d->from; i < d->to; i += s.some, z += s.some) {
        look_at(a, &s, d, when, i);
        a->kernels->hold(z, s.fresh, s.word + s.skip, below, s.some);
        for (int64_t j = 0; j < s.some && !known; j++)
            if (s.word[s.skip + j] < below)
                z[j] = walk_back(a, d, when, when.q - 1, i + j);
    }
}

void xb_forget_draw(const xb_analog *analog, float *z, const xb_devices *d,
                    xb_moment when, bool known)
{
    if (analog->rho > 0 && when.q > 0) {
        step_on(analog, z, d, when, known);
        return;
    }
    xb_stream where = xb_moment_draws(analog, d->tensor, xb_moment_read(when, when.q));
    xb_sampler_fill(analog->sampler, z, d->to - d->from, &where,
                    xb_moment_element(when, when.q, d->n) + d->from);
}
