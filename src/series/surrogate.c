/* surrogate.c: Gaussian noise of a given spectrum; maths T5.
 *
 * Independent normal coefficients are multiplied by the square root of the density and
 * transformed; the real and the imaginary part are two traces (Timmer & Koenig 1995).
 * They are made twice as long as needed, because a transform is periodic and a trace is
 * not. */
#include "series/surrogate.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

enum { ALIASES = 16 };

/* (T5) The density of block means, to which frequencies above their Nyquist frequency are
 * folded back. */
static double block_power(const xb_log_spectrum *s, double f, int64_t block,
                          double interval)
{
    double rate = 1 / ((double)block * interval), sum = 0;
    double nyquist = 0.5 / interval;
    for (int64_t j = -ALIASES; j <= ALIASES; j++) {
        double g = fabs(f + (double)j * rate);
        if (g > nyquist || (block == 1 && j != 0)) continue;
        double angle = M_PI * g * interval;
        double gain = sin((double)block * angle) / ((double)block * sin(angle));
        sum += xb_spectrum_at(s, g) * (block > 1 ? gain * gain : 1);
    }
    return sum;
}

xb_status xb_surrogate_make(xb_ctx *ctx, xb_surrogate *out, const xb_log_spectrum *s,
                            int64_t blocks, int64_t block, double interval, uint64_t seed)
{
    int64_t size = 2;
    while (size < 2 * blocks) size *= 2;
    xb_surrogate made = {.blocks = blocks,
                         .key = xb_key_make(seed, XB_PURPOSE_BOOTSTRAP)};
    xb_status status = xb_fft_make(ctx, &made.fft, size);
    made.amplitude = status == XB_OK ? xb_new(ctx, size, sizeof(double)) : NULL;
    made.z = status == XB_OK ? xb_new(ctx, size, sizeof *made.z) : NULL;
    if (!made.amplitude || !made.z) {
        xb_surrogate_free(&made);
        return XB_E_MEMORY;
    }
    double step = 1 / ((double)size * (double)block * interval);
    for (int64_t k = 1; k <= size / 2; k++) {
        double power = block_power(s, (double)k * step, block, interval);
        made.amplitude[k] = made.amplitude[size - k] = sqrt(0.5 * power * step);
    }
    *out = made;
    return XB_OK;
}

void xb_surrogate_free(xb_surrogate *s)
{
    xb_fft_free(&s->fft);
    free(s->amplitude);
    free(s->z);
}

void xb_surrogate_pair(xb_surrogate *s, double *a, double *b, int64_t pair)
{
    xb_stream stream = {s->key, 0, (uint32_t)pair, 0};
    for (int64_t k = 0; k < s->fft.n; k++) { /* Box & Muller */
        double radius = sqrt(-2 * log(xb_stream_uniform(&stream, 2 * k)));
        double angle = 2 * M_PI * xb_stream_uniform(&stream, 2 * k + 1);
        s->z[k] = xb_cmplx(s->amplitude[k] * radius * cos(angle),
                           s->amplitude[k] * radius * sin(angle));
    }
    xb_fft_forward(&s->fft, s->z);
    for (int64_t i = 0; i < s->blocks; i++) {
        a[i] = creal(s->z[i]);
        b[i] = cimag(s->z[i]);
    }
}
