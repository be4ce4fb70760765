/* conv_kernel.h: convolution in plain C, straight from its definition; maths N2.
 * For each output pixel, the part of the window that lies on the image. */
#ifndef XB_KERNEL_CONV_KERNEL_H
#define XB_KERNEL_CONV_KERNEL_H

#include <string.h>

#include "kernel/kernels.h"
#include "net/window.h"

static inline int64_t conv_room(const xb_window *g)
{
    (void)g;
    return 0;
}

static inline void conv_pixel(xb_real *restrict y, const xb_real *x, const xb_real *w,
                              const xb_window *g, window_place p)
{
    for (int64_t ky = p.ky0; ky < p.ky1; ky++)
        for (int64_t kx = p.kx0; kx < p.kx1; kx++) {
            const xb_real *from = x + ((p.y0 + ky) * g->w + p.x0 + kx) * g->c;
            const xb_real *k = w + (ky * g->kw + kx) * g->c * g->oc;
            for (int64_t i = 0; i < g->c; i++)
                for (int64_t o = 0; o < g->oc; o++) y[o] += from[i] * k[i * g->oc + o];
        }
}

static inline void conv_forward(xb_real *y, const xb_real *x, const xb_real *w,
                                const xb_real *b, int64_t rows, const xb_window *g,
                                xb_real *room)
{
    (void)room;
    for (int64_t r = 0; r < rows; r++, x += g->h * g->w * g->c)
        for (int64_t oy = 0; oy < g->oh; oy++)
            for (int64_t ox = 0; ox < g->ow; ox++, y += g->oc) {
                for (int64_t o = 0; o < g->oc; o++) y[o] = b ? b[o] : 0;
                conv_pixel(y, x, w, g, window_at(g, oy, ox));
            }
}

static inline void conv_pixel_input(xb_real *restrict dx, const xb_real *dy,
                                    const xb_real *w, const xb_window *g, window_place p)
{
    for (int64_t ky = p.ky0; ky < p.ky1; ky++)
        for (int64_t kx = p.kx0; kx < p.kx1; kx++) {
            xb_real *to = dx + ((p.y0 + ky) * g->w + p.x0 + kx) * g->c;
            const xb_real *k = w + (ky * g->kw + kx) * g->c * g->oc;
            for (int64_t i = 0; i < g->c; i++)
                for (int64_t o = 0; o < g->oc; o++) to[i] += dy[o] * k[i * g->oc + o];
        }
}

static inline void conv_backward_input(xb_real *dx, const xb_real *dy, const xb_real *w,
                                       int64_t rows, const xb_window *g, xb_real *room)
{
    (void)room;
    int64_t image = g->h * g->w * g->c;
    memset(dx, 0, (size_t)(rows * image) * sizeof *dx);
    for (int64_t r = 0; r < rows; r++, dx += image)
        for (int64_t oy = 0; oy < g->oh; oy++)
            for (int64_t ox = 0; ox < g->ow; ox++, dy += g->oc)
                conv_pixel_input(dx, dy, w, g, window_at(g, oy, ox));
}

static inline void conv_pixel_weight(xb_real *restrict dw, const xb_real *x,
                                     const xb_real *dy, const xb_window *g,
                                     window_place p)
{
    for (int64_t ky = p.ky0; ky < p.ky1; ky++)
        for (int64_t kx = p.kx0; kx < p.kx1; kx++) {
            const xb_real *from = x + ((p.y0 + ky) * g->w + p.x0 + kx) * g->c;
            xb_real *k = dw + (ky * g->kw + kx) * g->c * g->oc;
            for (int64_t i = 0; i < g->c; i++)
                for (int64_t o = 0; o < g->oc; o++) k[i * g->oc + o] += from[i] * dy[o];
        }
}

static inline void conv_backward_weight(xb_real *dw, const xb_real *x, const xb_real *dy,
                                        int64_t rows, const xb_window *g, xb_real *room)
{
    (void)room;
    memset(dw, 0, (size_t)(g->kh * g->kw * g->c * g->oc) * sizeof *dw);
    for (int64_t r = 0; r < rows; r++, x += g->h * g->w * g->c)
        for (int64_t oy = 0; oy < g->oh; oy++)
            for (int64_t ox = 0; ox < g->ow; ox++, dy += g->oc)
                conv_pixel_weight(dw, x, dy, g, window_at(g, oy, ox));
}

#endif
