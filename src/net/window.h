/* window.h: the number of positions of a sliding window, and where each lies; maths N2.
 */
#ifndef XB_NET_WINDOW_H
#define XB_NET_WINDOW_H

#include "net/layer.h"

/* The number of positions of a window of size k, s apart, on h elements without padding.
 */
static inline int64_t xb_window_floor(int64_t h, int64_t k, int64_t s)
{
    return h < k ? 0 : (h - k) / s + 1;
}

/* The same with a last window that extends beyond the edge, if it starts inside. */
static inline int64_t xb_window_ceil(int64_t h, int64_t k, int64_t s)
{
    int64_t n = h <= k ? 1 : (h - k + s - 1) / s + 1;
    return (n - 1) * s >= h ? n - 1 : n;
}

static inline int64_t xb_window_same(int64_t h, int64_t s) { return (h + s - 1) / s; }

/* Padding before the first element, as TensorFlow's SAME. */
static inline int64_t xb_window_pad(int64_t h, int64_t k, int64_t s)
{
    int64_t all = (xb_window_same(h, s) - 1) * s + k - h;
    return all > 0 ? all / 2 : 0;
}

/* Where the window of output pixel (oy, ox) lies: input rows y0 + ky, ky in
 * [ky0, ky1), and columns likewise. */
typedef struct window_place {
    int64_t y0, x0, ky0, ky1, kx0, kx1;
} window_place;

static inline int64_t clip_low(int64_t start) { return start < 0 ? -start : 0; }
static inline int64_t clip_high(int64_t start, int64_t k, int64_t size)
{
    return start + k > size ? size - start : k;
}

static inline window_place window_at(const xb_window *g, int64_t oy, int64_t ox)
{
    int64_t y0 = oy * g->stride - g->top, x0 = ox * g->stride - g->left;
    return (window_place){y0,           x0,
                          clip_low(y0), clip_high(y0, g->kh, g->h),
                          clip_low(x0), clip_high(x0, g->kw, g->w)};
}

#endif
