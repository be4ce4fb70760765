/* slices.c: weights as whole numbers of several digits, a pair of devices for each digit
 * (maths X60), and weights that one device holds beside a reference (X62). Digit 0 is the
 * most significant one. */
#include <math.h>

#include "crossbar/cells.h"

/* How weights become numbers: `zero` is the number of the weight 0, zero + most that of
 * the largest. */
typedef struct coding {
    int64_t levels, slices;
    int64_t zero, most;
    int64_t place; /* the value of a unit of this digit: levels^(slices - 1 - digit) */
} coding;

static int64_t power(int64_t base, int64_t exponent)
{
    int64_t product = 1;
    while (exponent-- > 0) product *= base;
    return product;
}

static coding coding_of(const xb_array *a, int64_t slice)
{
    coding k = {.levels = a->mean_levels, .slices = xb_array_slices(a)};
    const int64_t states = power(k.levels, k.slices);
    k.zero = a->offset_columns ? states / 2 : 0;
    k.most = states - 1 - k.zero;
    k.place = power(k.levels, k.slices - 1 - slice);
    return k;
}

/* The conductance for the digit of a number. */
static double state_us(const xb_array *a, const coding *k, int64_t number)
{
    const double digit = (double)(number / k->place % k->levels);
    return a->g_min_us + (a->g_max_us - a->g_min_us) * digit / (double)(k->levels - 1);
}

static void fill(double *to, double value, int64_t n)
{
    for (int64_t i = 0; i < n; i++) to[i] = value;
}

/* (X60) Sets the digits of |mu| in one device of the pair; the other is at its lowest. */
static void slice_pairs(xb_cells *c, const xb_array *a, const coding *k, const float *mu)
{
    for (int64_t i = 0; i < c->in * c->out; i++) {
        const double part = c->weight_top > 0 ? (double)mu[i] / c->weight_top : 0;
        const double g = state_us(a, k, (int64_t)rint(fabs(part) * (double)k->most));
        c->plus[i] = part > 0 ? g : a->g_min_us;
        c->minus[i] = part > 0 ? a->g_min_us : g;
    }
}

/* (X62) Sets the digits of a number that is `zero` for the weight 0, as the reference
 * is. */
static void slice_offset(xb_cells *c, const xb_array *a, const coding *k, const float *mu)
{
    for (int64_t i = 0; i < c->in * c->out; i++) {
        const double part = c->weight_top > 0 ? (double)mu[i] / c->weight_top : 0;
        c->plus[i] = state_us(a, k, k->zero + (int64_t)rint(part * (double)k->most));
    }
    fill(c->minus, state_us(a, k, k->zero), xb_cells_minus_count(c));
}

/* (X62) Sets devices that can have any state; the reference is in the middle of the
 * range. */
static void offset_any(xb_cells *c, const xb_array *a, const float *mu)
{
    const double middle = 0.5 * (a->g_min_us + a->g_max_us);
    for (int64_t i = 0; i < c->in * c->out; i++)
        c->plus[i] = middle + c->scale * (double)mu[i];
    fill(c->minus, middle, xb_cells_minus_count(c));
}

void xb_cells_slice(xb_cells *c, const xb_array *a, const float *mu, int64_t slice)
{
    const double range = a->g_max_us - a->g_min_us;
    c->offset = a->offset_columns != 0;
    if (!c->offset && xb_array_slices(a) == 1) return;
    if (a->mean_levels == 0) {
        c->scale = c->weight_top > 0 ? 0.5 * range / c->weight_top : 0;
        offset_any(c, a, mu);
        return;
    }
    const coding k = coding_of(a, slice);
    if (c->weight_top > 0)
        c->scale = range / (double)(k.levels - 1) * (double)k.most /
                   (c->weight_top * (double)k.place);
    if (c->offset)
        slice_offset(c, a, &k, mu);
    else
        slice_pairs(c, a, &k, mu);
}
