/* maxpool_kernel.h: the largest of each window, and its gradient to the first place
 * that holds it; maths N3. One source for all backends: the compiler makes vectors of
 * the loop over channels. A NaN in a window is passed on. */
#ifndef XB_KERNEL_MAXPOOL_KERNEL_H
#define XB_KERNEL_MAXPOOL_KERNEL_H

#include <string.h>

#include "kernel/kernels.h"
#include "net/window.h"

/* The largest so far is kept on ties; a NaN always wins. */
static inline bool stays(xb_real best, xb_real other)
{
    return (other <= best) | (best != best);
}

static inline void maxpool_pixel(xb_real *restrict y, const xb_real *x,
                                 const xb_window *g, window_place p)
{
    memcpy(y, x + (p.y0 * g->w + p.x0) * g->c, (size_t)g->c * sizeof *y);
    for (int64_t ky = 0; ky < p.ky1; ky++)
        for (int64_t kx = 0; kx < p.kx1; kx++) {
            const xb_real *from = x + ((p.y0 + ky) * g->w + p.x0 + kx) * g->c;
            for (int64_t i = 0; i < g->c; i++)
                y[i] = stays(y[i], from[i]) ? y[i] : from[i];
        }
}

static inline void maxpool_forward(xb_real *y, const xb_real *x, int64_t rows,
                                   const xb_window *g)
{
    for (int64_t r = 0; r < rows; r++, x += g->h * g->w * g->c)
        for (int64_t oy = 0; oy < g->oh; oy++)
            for (int64_t ox = 0; ox < g->ow; ox++, y += g->oc)
                maxpool_pixel(y, x, g, window_at(g, oy, ox));
}

/* Channels [from, from + n) of one window, n <= POOL_CHANNELS: first where the largest
 * is, then dy to there; both passes go along the channels. */
enum { POOL_CHANNELS = 64 };

static inline void maxpool_channels_backward(xb_real *restrict dx, const xb_real *dy,
                                             const xb_real *x, const xb_window *g,
                                             window_place p, int64_t from, int64_t n)
{
    xb_real best[POOL_CHANNELS];
    int32_t place[POOL_CHANNELS] = {0}, number = 0;
    int64_t corner = (p.y0 * g->w + p.x0) * g->c + from;
    memcpy(best, x + corner, (size_t)n * sizeof *best);
    for (int64_t ky = 0; ky < p.ky1; ky++)
        for (int64_t kx = 0; kx < p.kx1; kx++, number++) {
            const xb_real *at = x + corner + (ky * g->w + kx) * g->c;
            for (int64_t i = 0; i < n; i++) {
                bool stay = stays(best[i], at[i]);
                best[i] = stay ? best[i] : at[i];
                place[i] = stay ? place[i] : number;
            }
        }
    number = 0;
    for (int64_t ky = 0; ky < p.ky1; ky++)
        for (int64_t kx = 0; kx < p.kx1; kx++, number++) {
            xb_real *to = dx + corner + (ky * g->w + kx) * g->c;
            for (int64_t i = 0; i < n; i++) to[i] += place[i] == number ? dy[i] : 0;
        }
}

static inline void maxpool_pixel_backward(xb_real *dx, const xb_real *dy,
                                          const xb_real *x, const xb_window *g,
                                          window_place p)
{
    for (int64_t i = 0; i < g->c; i += POOL_CHANNELS)
        maxpool_channels_backward(dx, dy + i, x, g, p, i,
                                  g->c - i < POOL_CHANNELS ? g->c - i : POOL_CHANNELS);
}

static inline void maxpool_backward(xb_real *dx, const xb_real *dy, const xb_real *x,
                                    int64_t rows, const xb_window *g)
{
    int64_t image = g->h * g->w * g->c;
    memset(dx, 0, (size_t)(rows * image) * sizeof *dx);
    for (int64_t r = 0; r < rows; r++, x += image, dx += image)
        for (int64_t oy = 0; oy < g->oh; oy++)
            for (int64_t ox = 0; ox < g->ow; ox++, dy += g->oc)
                maxpool_pixel_backward(dx, dy, x, g, window_at(g, oy, ox));
}

#endif
