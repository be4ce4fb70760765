/* window.h: how far a sliding window gets; maths N2. */
#ifndef XB_NET_WINDOW_H
#define XB_NET_WINDOW_H

#include "net/layer.h"

/* Places of a window of k at steps of s over h, nothing beyond the edge. */
static inline int64_t xb_window_floor(int64_t h, int64_t k, int64_t s)
{
    return h < k ? 0 : (h - k) / s + 1;
}

/* The same with a last window that hangs over the edge, if it starts inside. */
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

#endif
