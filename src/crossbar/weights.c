/* weights.c: the weights of one read, computed from the noise of the devices (maths X8,
 * X10). They are made a few thousand at a time, so that the noise stays in the
 * first-level caches. For one or two inputs the kernel is never stored as a whole: a few
 * rows of it are multiplied as soon as they are drawn, by the same sums in the same
 * order, so the bytes are those of the product with a whole kernel. */
#include <string.h>

#include "crossbar/analog.h"
#include "vi/model.h"

enum {
    STRETCH = 4096, /* number of devices at a time */
    FEW = 2         /* largest number of inputs for which the kernel is not stored as a
                       whole */
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Draws z of some devices, which stays in the reader for the next read. */
static const float *noise_of(xb_reader *r, const xb_devices *d, xb_moment when,
                             bool known)
{
    const int64_t at = r->analog->model->net->tensor[d->tensor].offset + d->from;
    if (r->level)
        xb_held_draw(r->analog, r->z + at, r->level + at, d, when, known);
    else
        xb_forget_draw(r->analog, r->z + at, d, when, known);
    return r->z + at;
}

/* Makes n weights of the parameters from `at` on; a bias is digital and not bent (X8). */
static void make_weights(const xb_analog *a, float *theta, const float *z, int64_t at,
                         int64_t n, bool device)
{
    if (device && a->bend) {
        const xb_curve curve = xb_shape_curve(a, at);
        a->kernels->bend(theta, &curve, z, n);
    } else {
        a->kernels->theta(theta, a->mu + at, a->sigma + at, z, n);
    }
}

static void draw_tensor(xb_reader *r, float *theta, int tensor, bool device,
                        xb_moment when, bool known)
{
    const xb_analog *a = r->analog;
    const xb_tensor *t = &a->model->net->tensor[tensor];
    if (!t->stochastic) {
        memcpy(theta, a->mu + t->offset, (size_t)t->size * sizeof *theta);
        return;
    }
    xb_devices d = {.tensor = tensor, .n = t->size};
    for (; d.from < d.n; d.from = d.to) {
        d.to = least(d.n, d.from + STRETCH);
        const float *z = noise_of(r, &d, when, known);
        make_weights(a, theta + d.from, z, t->offset + d.from, d.to - d.from, device);
    }
}

static const float *draw_bias(xb_reader *r, const xb_analog_layer *p, xb_moment when,
                              bool known)
{
    if (p->n == p->size) return NULL;
    draw_tensor(r, r->theta + p->size, p->tensor + 1, false, when, known);
    return r->theta + p->size;
}

const float *xb_weights_draw(xb_reader *r, const xb_analog_layer *p, xb_moment when,
                             bool known)
{
    if (!p->random) return r->analog->mu + p->offset;
    draw_tensor(r, r->theta, p->tensor, true, when, known);
    (void)draw_bias(r, p, when, known);
    return r->theta;
}

/* ---- without storing the whole kernel */

/* Narrow layers are summed in another order when the kernel is stored (one_row in
 * kernel/cpu_gemm.h), and without converters the backend's own layer is used. */
bool xb_weights_pass(const xb_reader *r, const xb_analog_layer *p, int64_t rows)
{
    return rows <= FEW && xb_tile_matters(r->analog, p) && !r->analog->normal &&
           !p->plane && !r->seen.sum && p->out > XB_PANEL_STRIP &&
           r->analog->kernels->panel_bend_add &&
           r->analog->model->net->tensor[p->tensor].stochastic;
}

static void add_rows(const xb_analog *a, float *sums, const float *x, const float *z,
                     int64_t at, const xb_panel *panel)
{
    if (a->bend) {
        const xb_curve curve = xb_shape_curve(a, at);
        a->kernels->panel_bend_add(sums, x, &curve, z, panel);
    } else {
        a->kernels->panel_add(sums, x, a->mu + at, a->sigma + at, z, panel);
    }
}

/* Adds to sums [rows][out] for the inputs [from, to), x [rows][in]. */
static void sum_tile(xb_reader *r, const xb_analog_layer *p, float *sums, const float *x,
                     int64_t rows, int64_t from, int64_t to, xb_moment when, bool known)
{
    int64_t out = p->out, some = STRETCH / out > 0 ? STRETCH / out : 1;
    xb_panel panel = {
        .rows = rows, .width = out, .x_row = p->in, .y_row = out, .w_row = out};
    memset(sums, 0, (size_t)(rows * out) * sizeof *sums);
    for (int64_t k = from; k < to; k += some) {
        panel.depth = least(some, to - k);
        xb_devices d = {p->tensor, p->size, k * out, (k + panel.depth) * out};
        const float *z = noise_of(r, &d, when, known);
        add_rows(r->analog, sums, x + k, z, p->offset + d.from, &panel);
    }
}

void xb_weights_product(xb_reader *r, const xb_analog_layer *p, float *y, const float *x,
                        int64_t rows, xb_moment when, bool known)
{
    const xb_tile_block t = xb_tile_block_of(p, NULL, draw_bias(r, p, when, known), rows);
    for (int64_t from = 0; from < p->in; from += p->rows) {
        float *sums = from == 0 ? y : r->tile.part;
        sum_tile(r, p, sums, x, rows, from, least(p->in, from + p->rows), when, known);
        xb_host_tile_convert(r->analog->kernels, &t, y, sums, from / p->rows);
    }
}
