/* weights.c: the weights of one read, from what the noise devices show (maths X8, X10).
 * They are made a stretch at a time, so that noise on its way to a weight stays in the
 * first caches. For one input or two even the kernel is never written down: some
 * rows of it are multiplied as soon as they are drawn, by the same sums in the same
 * order, so the bytes are those of the product with a kernel in one piece. */
#include <string.h>

#include "crossbar/analog.h"
#include "vi/model.h"

enum {
    STRETCH = 4096, /* devices */
    FEW = 2         /* inputs that go without the kernel in one piece */
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* z of some devices, bent where they are; lies in the reader until the next call. */
static const float *noise_of(xb_reader *r, const xb_devices *d, bool device,
                             xb_moment when, bool known)
{
    const xb_analog *a = r->analog;
    int64_t at = a->model->net->tensor[d->tensor].offset + d->from;
    float *z = r->z + at;
    xb_forget_draw(a, z, d, when, known);
    if (!device || !a->bend[0]) return z;
    a->backend->bend(r->bent, z, a->bend[0] + at, a->bend[1] + at, a->skewness,
                     d->to - d->from);
    return r->bent;
}

static void draw_tensor(xb_reader *r, float *theta, int tensor, bool device,
                        xb_moment when, bool known)
{
    const xb_analog *a = r->analog;
    const xb_tensor *t = &a->model->net->tensor[tensor];
    const float *mu = a->mu + t->offset, *sigma = a->sigma + t->offset;
    if (!t->stochastic) {
        memcpy(theta, mu, (size_t)t->size * sizeof *theta);
        return;
    }
    xb_devices d = {.tensor = tensor, .n = t->size};
    for (; d.from < d.n; d.from = d.to) {
        d.to = least(d.n, d.from + STRETCH);
        const float *z = noise_of(r, &d, device, when, known);
        a->backend->theta(theta + d.from, mu + d.from, sigma + d.from, z, d.to - d.from);
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

/* ---- without the kernel in one piece */

/* Narrow layers are summed otherwise in one piece (one_row in net/cpu_gemm.h), and
 * without converters the layer is the backend's own. */
bool xb_weights_pass(const xb_reader *r, const xb_analog_layer *p, int64_t rows)
{
    return rows <= FEW && p->adc.on && !r->seen.sum && p->out > XB_PANEL_STRIP &&
           r->analog->backend->panel_add &&
           r->analog->model->net->tensor[p->tensor].stochastic;
}

/* sums [rows][out] of the inputs [from, to), x [rows][in]. */
static void sum_tile(xb_reader *r, const xb_analog_layer *p, float *sums, const float *x,
                     int64_t rows, int64_t from, int64_t to, xb_moment when, bool known)
{
    const xb_analog *a = r->analog;
    int64_t out = p->out, some = STRETCH / out > 0 ? STRETCH / out : 1;
    memset(sums, 0, (size_t)(rows * out) * sizeof *sums);
    for (int64_t k = from; k < to; k += some) {
        int64_t depth = least(some, to - k), at = p->offset + k * out;
        xb_devices d = {p->tensor, p->size, k * out, (k + depth) * out};
        const float *z = noise_of(r, &d, true, when, known);
        a->backend->panel_add(sums, x + k, a->mu + at, a->sigma + at, z,
                              &(xb_panel){.rows = rows,
                                          .depth = depth,
                                          .width = out,
                                          .x_row = p->in,
                                          .y_row = out,
                                          .w_row = out});
    }
}

void xb_weights_product(xb_reader *r, const xb_analog_layer *p, float *y, const float *x,
                        int64_t rows, xb_moment when, bool known)
{
    const float *b = draw_bias(r, p, when, known);
    for (int64_t from = 0; from < p->in; from += p->rows) {
        float *sums = from == 0 ? y : r->tile.part;
        sum_tile(r, p, sums, x, rows, from, least(p->in, from + p->rows), when, known);
        xb_tile_convert(r->analog, p, y, sums, b, rows);
    }
}
