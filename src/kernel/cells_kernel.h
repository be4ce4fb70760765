/* cells_kernel.h: one weight made of cells (maths V31): its mean and width from the
 * states of its cells, and the backward step of a gradient.
 *
 * A state is kept as its place u in the range, 0 at the low end and 1 at the high one:
 * g = low + span u. Arithmetic is in double, a few operations per cell. */
#ifndef XB_KERNEL_CELLS_KERNEL_H
#define XB_KERNEL_CELLS_KERNEL_H

#include <math.h>
#include <stdint.h>

enum { XB_CELLS_MOST = 16, XB_CELL_TERMS = 8, XB_CELL_POINTS = 64 };

/* The numbers that describe the cells. The width of a cell's noise at state g is a
 * polynomial or, if points are given, linear between them and constant outside. */
typedef struct xb_cell_curve {
    int n; /* number of cells of a weight */
    double sign[XB_CELLS_MOST];
    double low, span, offset, scale;
    int terms;
    double term[XB_CELL_TERMS]; /* ascending powers */
    int points;
    double at[XB_CELL_POINTS], width[XB_CELL_POINTS]; /* ascending */
} xb_cell_curve;

typedef struct xb_cell_width {
    double value, slope;
} xb_cell_width;

static inline xb_cell_width xb_cell_table_at(const xb_cell_curve *c, double g)
{
    int k = 0;
    if (g <= c->at[0]) return (xb_cell_width){c->width[0], 0};
    if (g >= c->at[c->points - 1]) return (xb_cell_width){c->width[c->points - 1], 0};
    while (g >= c->at[k + 1]) k++;
    const double slope = (c->width[k + 1] - c->width[k]) / (c->at[k + 1] - c->at[k]);
    return (xb_cell_width){c->width[k] + slope * (g - c->at[k]), slope};
}

static inline xb_cell_width xb_cell_width_at(const xb_cell_curve *c, double g)
{
    if (c->points > 0) return xb_cell_table_at(c, g);
    double value = 0, slope = 0;
    for (int i = c->terms - 1; i >= 0; i--) { /* Horner's scheme, twice */
        slope = slope * g + value;
        value = value * g + c->term[i];
    }
    return (xb_cell_width){value, slope};
}

/* (V31) state [n] `stride` apart: brought into the range, then mu and sigma from it. */
static inline void xb_cell_weight(const xb_cell_curve *c, float *state, int64_t stride,
                                  float *mu, float *sigma)
{
    double sum = -c->offset, square = 0;
    for (int k = 0; k < c->n; k++) {
        float *u = state + k * stride;
        *u = *u > 0 ? *u < 1 ? *u : 1 : 0;
        const double g = c->low + c->span * (double)*u;
        const double width = xb_cell_width_at(c, g).value;
        sum += c->sign[k] * g;
        square += width * width;
    }
    *mu = (float)(sum / c->scale);
    *sigma = (float)(sqrt(square) / c->scale);
}

/* (V31) d_state [n] from the gradients with respect to mu and sigma at the same states.
 */
static inline void xb_cell_gradient(const xb_cell_curve *c, float *d_state,
                                    const float *state, int64_t stride, double d_mu,
                                    double d_sigma)
{
    xb_cell_width width[XB_CELLS_MOST];
    double square = 0;
    for (int k = 0; k < c->n; k++) {
        width[k] = xb_cell_width_at(c, c->low + c->span * (double)state[k * stride]);
        square += width[k].value * width[k].value;
    }
    const double by_width = d_sigma / sqrt(square);
    for (int k = 0; k < c->n; k++)
        d_state[k * stride] =
            (float)(c->span / c->scale *
                    (c->sign[k] * d_mu + by_width * width[k].value * width[k].slope));
}

#endif
