/* cpu_panel.h: a dense product with a panel of weights, see panel.h; maths N1. */
#ifndef XB_KERNEL_CPU_PANEL_H
#define XB_KERNEL_CPU_PANEL_H

#include "draw/kernel.h"
#include "kernel/cpu_linear.h"

static int64_t panel_strip(int64_t depth) { return (depth + 1) * XB_PANEL_STRIP; }

static void cpu_panel_row(float *panel, const float *mu, const float *sigma,
                          const float *z, int64_t depth, int64_t width)
{
    for (int64_t j = 0; j < width; j += XB_PANEL_STRIP, panel += panel_strip(depth)) {
        int64_t some = width - j < XB_PANEL_STRIP ? width - j : XB_PANEL_STRIP;
        if (!sigma)
            memcpy(panel, mu + j, (size_t)some * sizeof *panel);
        else if (some == XB_PANEL_STRIP)
            theta(panel, mu + j, sigma + j, z + j, XB_PANEL_STRIP);
        else
            theta(panel, mu + j, sigma + j, z + j, some);
    }
}

/* `vectors` of outputs of one row, the last of them `last` wide, j places on; square
 * NULL: weights are straight in their noise (N7). */
LANE_INLINE void panel_add_strip(float *y, const float *x, const xb_curve *c,
                                 const float *z, const xb_panel *p, int64_t j,
                                 int vectors, int64_t last)
{
    vec sum[4];
    y += j, z += j;
    for (int v = 0; v < vectors; v++) sum[v] = column_load(y, v, vectors, last);
    for (int64_t k = 0, at = j; k < p->depth; k++, at += p->w_row, z += p->width) {
        vec input = vec_set(x[k]);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            vec noise = column_load(z, v, vectors, last);
            vec s = column_load(c->slope + at, v, vectors, last);
            if (c->square) s = s + column_load(c->square + at, v, vectors, last) * noise;
            vec w = column_load(c->level + at, v, vectors, last) + s * noise;
            sum[v] = vec_fma(input, w, sum[v]);
        }
    }
    for (int v = 0; v < vectors; v++) column_store(y, sum[v], v, vectors, last);
}

LANE_INLINE void panel_add_rows(float *y, const float *x, const xb_curve *c,
                                const float *z, const xb_panel *p)
{
    for (int64_t r = 0; r < p->rows; r++, y += p->y_row, x += p->x_row) {
        int64_t j = 0;
        for (; j + 4 * LANES <= p->width; j += 4 * LANES)
            panel_add_strip(y, x, c, z, p, j, 4, LANES);
        for (; j < p->width; j += LANES)
            panel_add_strip(y, x, c, z, p, j, 1,
                            p->width - j < LANES ? p->width - j : LANES);
    }
}

static void cpu_panel_add(float *y, const float *x, const float *mu, const float *sigma,
                          const float *z, const xb_panel *p)
{
    panel_add_rows(y, x, &(xb_curve){.level = mu, .slope = sigma}, z, p);
}

static void cpu_panel_bend_add(float *y, const float *x, const xb_curve *curve,
                               const float *z, const xb_panel *p)
{
    panel_add_rows(y, x, curve, z, p);
}

static void cpu_panel_draw_add(float *y, const float *x, const float *mu,
                               const float *sigma, const xb_panel *p,
                               const xb_sampler *sampler, const xb_stream *where,
                               int64_t first)
{
    xb_draw_product job = {.y = y,
                           .x = x,
                           .mu = mu,
                           .sigma = sigma,
                           .rows = p->rows,
                           .depth = p->depth,
                           .width = p->width,
                           .x_row = p->x_row,
                           .y_row = p->y_row,
                           .w_row = p->w_row};
    xb_sampler_multiply(sampler, xb_kernel_best(), &job, where, first);
}

/* Activations that the product does not know are run over what is finished. */
static void panel_activation(float *y, const xb_panel *p, xb_act f)
{
    for (int64_t r = 0; p->last && r < p->rows; r++)
        finish_activation(y + r * p->y_row, p->width, f);
}

static void cpu_dense_panel(float *y, const float *x, const float *w, const float *b,
                            const xb_panel *p, xb_act f)
{
    for (int64_t j = 0; j < p->width; j += XB_PANEL_STRIP, w += panel_strip(p->depth))
        gemm(&(gemm_args){.c = y + j,
                          .end = p->last ? end_of(f, false) : END_PLAIN,
                          .a = x,
                          .b = w,
                          .bias = b ? b + j : NULL,
                          .c_row = p->y_row,
                          .a_row = p->x_row,
                          .a_step = 1,
                          .b_row = XB_PANEL_STRIP,
                          .m = p->rows,
                          .n = p->width - j < XB_PANEL_STRIP ? p->width - j
                                                             : XB_PANEL_STRIP,
                          .k = p->depth,
                          .add = p->add});
    panel_activation(y, p, f);
}

#endif
