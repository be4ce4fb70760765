/* glue_pools.h: max pooling for crossbayes.torch, of images with their channels last and
 * windows side by side, in float32. As in PyTorch's, of equal values the first wins, and
 * NaN wins. An output keeps the place in its window in a byte, so that the gradient reads
 * an eighth of what places in the image would be. Addresses are integers, as PyTorch
 * gives them. */
#ifndef CROSSBAYES_GLUE_POOLS_H
#define CROSSBAYES_GLUE_POOLS_H

/* GCC would write a loop of so few steps out before it could become vectors. */
#if defined(__GNUC__) && !defined(__clang__)
#define XB_PY_VECTOR _Pragma("GCC unroll 1")
#else
#define XB_PY_VECTOR
#endif

typedef struct xb_py_pool {
    float *y; /* [n][h / high][w / wide][c], written forward; backward: its gradient */
    uint8_t *place; /* of the same shape: which element of its window an output is */
    float *x;       /* [n][h][w][c], read forward; backward: its gradient, written */
    int64_t n, h, w, c, high, wide; /* the last two: of a window */
} xb_py_pool;

/* XB_PY_LANES channels of an output; `down` from a line of the image to the next. */
static inline void xb_py_pool_lanes(float *restrict y, uint8_t *restrict place,
                                    const float *restrict x, int64_t c, int64_t down,
                                    int64_t high, int64_t wide)
{
    float best[XB_PY_LANES];
    int32_t at[XB_PY_LANES], k = 0;
    XB_PY_VECTOR
    for (int i = 0; i < XB_PY_LANES; i++) best[i] = x[i], at[i] = 0;
    for (int64_t line = 0; line < high; line++)
        for (int64_t column = 0; column < wide; column++, k++) {
            const float *from = x + line * down + column * c;
            XB_PY_VECTOR
            for (int i = 0; i < XB_PY_LANES; i++) {
                const int wins = (from[i] > best[i]) | (from[i] != from[i]);
                best[i] = wins ? from[i] : best[i];
                at[i] = wins ? k : at[i];
            }
        }
    XB_PY_VECTOR
    for (int i = 0; i < XB_PY_LANES; i++) y[i] = best[i], place[i] = (uint8_t)at[i];
}

/* One channel. */
static inline void xb_py_pool_one(float *y, uint8_t *place, const float *x, int64_t c,
                                  int64_t down, int64_t high, int64_t wide)
{
    float best = x[0];
    uint8_t at = 0;
    for (int64_t k = 0; k < high * wide; k++) {
        const float value = x[k / wide * down + k % wide * c];
        if (value > best || value != value) best = value, at = (uint8_t)k;
    }
    *y = best, *place = at;
}

/* The gradient by the window of XB_PY_LANES channels of an output. */
static inline void xb_py_pool_spread(float *restrict dx, const float *restrict dy,
                                     const uint8_t *restrict place, int64_t c,
                                     int64_t down, int64_t high, int64_t wide)
{
    int32_t at[XB_PY_LANES], d[XB_PY_LANES], here[XB_PY_LANES], k = 0;
    memcpy(d, dy, sizeof d);
    XB_PY_VECTOR
    for (int i = 0; i < XB_PY_LANES; i++) at[i] = place[i];
    for (int64_t line = 0; line < high; line++)
        for (int64_t column = 0; column < wide; column++, k++) {
            XB_PY_VECTOR
            for (int i = 0; i < XB_PY_LANES; i++) here[i] = at[i] == k ? d[i] : 0;
            memcpy(dx + line * down + column * c, here, sizeof here);
        }
}

/* A line of outputs. */
XB_PY_WIDE static void xb_py_pool_line(float *y, uint8_t *place, const float *x,
                                       const xb_py_pool *p)
{
    const int64_t down = p->w * p->c, c = p->c, high = p->high, wide = p->wide;
    for (int64_t column = 0; column < p->w / wide; column++) {
        int64_t i = 0;
        for (; i + XB_PY_LANES <= c; i += XB_PY_LANES)
            xb_py_pool_lanes(y + i, place + i, x + i, c, down, high, wide);
        for (; i < c; i++) xb_py_pool_one(y + i, place + i, x + i, c, down, high, wide);
        y += c, place += c, x += wide * c;
    }
}

XB_PY_WIDE static void xb_py_pool_line_back(float *dx, const float *dy,
                                            const uint8_t *place, const xb_py_pool *p)
{
    const int64_t down = p->w * p->c, c = p->c, high = p->high, wide = p->wide;
    for (int64_t column = 0; column < p->w / wide; column++) {
        int64_t i = 0;
        for (; i + XB_PY_LANES <= c; i += XB_PY_LANES)
            xb_py_pool_spread(dx + i, dy + i, place + i, c, down, high, wide);
        for (; i < c; i++)
            for (int64_t k = 0; k < high * wide; k++)
                dx[k / wide * down + k % wide * c + i] = place[i] == k ? dy[i] : 0;
        dx += wide * c, dy += c, place += c;
    }
}

static void xb_py_pool_image(void *arg, int64_t image)
{
    const xb_py_pool *p = arg;
    const int64_t lines = p->h / p->high, line = p->w / p->wide * p->c;
    const float *x = p->x + image * p->h * p->w * p->c;
    for (int64_t i = 0; i < lines; i++) {
        const int64_t at = (image * lines + i) * line;
        xb_py_pool_line(p->y + at, p->place + at, x + i * p->high * p->w * p->c, p);
    }
}

/* Lines and columns that no window has, at the lower and the right edge, have no
 * gradient. */
static void xb_py_pool_edges(const xb_py_pool *p, float *dx)
{
    const int64_t down = p->w * p->c, lines = p->h / p->high * p->high;
    const int64_t wide = p->w / p->wide * p->wide * p->c;
    for (int64_t line = 0; line < lines && wide < down; line++)
        memset(dx + line * down + wide, 0, (size_t)(down - wide) * sizeof *dx);
    memset(dx + lines * down, 0, (size_t)((p->h - lines) * down) * sizeof *dx);
}

static void xb_py_pool_image_back(void *arg, int64_t image)
{
    const xb_py_pool *p = arg;
    const int64_t lines = p->h / p->high, line = p->w / p->wide * p->c;
    float *dx = p->x + image * p->h * p->w * p->c;
    for (int64_t i = 0; i < lines; i++) {
        const int64_t at = (image * lines + i) * line;
        xb_py_pool_line_back(dx + i * p->high * p->w * p->c, p->y + at, p->place + at, p);
    }
    xb_py_pool_edges(p, dx);
}

/* sides: images, height, width, channels; window: its height and width, at most 16 each.
 */
static void xb_py_pool_forward(const xb_ctx *ctx, uintptr_t y, uintptr_t place,
                               uintptr_t x, const int64_t sides[4],
                               const int64_t window[2])
{
    xb_py_pool p = {.y = (float *)y,
                    .place = (uint8_t *)place,
                    .x = (float *)x,
                    .n = sides[0],
                    .h = sides[1],
                    .w = sides[2],
                    .c = sides[3],
                    .high = window[0],
                    .wide = window[1]};
    xb_parallel_for(ctx, p.n, xb_py_pool_image, &p);
}

static void xb_py_pool_backward(const xb_ctx *ctx, uintptr_t dx, uintptr_t dy,
                                uintptr_t place, const int64_t sides[4],
                                const int64_t window[2])
{
    xb_py_pool p = {.y = (float *)dy,
                    .place = (uint8_t *)place,
                    .x = (float *)dx,
                    .n = sides[0],
                    .h = sides[1],
                    .w = sides[2],
                    .c = sides[3],
                    .high = window[0],
                    .wide = window[1]};
    xb_parallel_for(ctx, p.n, xb_py_pool_image_back, &p);
}

#endif
