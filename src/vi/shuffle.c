/* shuffle.c: chooses the rows of a batch. Each epoch has its own order, made from
 * Philox words by Fisher and Yates; it depends on the seed, the phase and the epoch
 * only, so a resumed run makes it again (maths V12). */
#include "draw/kernel.h"
#include "vi/trainer.h"
#include "kernel/update.h"

enum { BLOCKS = 8, UNIFORMS = BLOCKS * XB_BLOCK / 2 }; /* number made at a time */

void xb_shuffle(int32_t *order, int64_t n, xb_key key, uint32_t what, uint32_t epoch)
{
    const xb_stream where = {.key = key, .tensor = what, .step = epoch};
    const xb_kernel *kernel = xb_kernel_best();
    const xb_update *update = xb_update_best();
    uint32_t word[2 * UNIFORMS];
    int32_t place[UNIFORMS];
    for (int64_t i = 0; i < n; i++) order[i] = (int32_t)i;
    for (int64_t i = n - 1; i > 0;) {
        int64_t first = i / UNIFORMS * UNIFORMS;
        kernel->words(word, BLOCKS, &where, first / UNIFORMS * BLOCKS);
        update->places(place, word, (int32_t)first, (int32_t)(i + 1 - first));
        for (; i >= first && i > 0; i--) {
            int32_t j = place[i - first], swap = order[i];
            order[i] = order[j];
            order[j] = swap;
        }
    }
}

static int32_t *order_side(const xb_trainer *t)
{
    return xb_host_side(t->backend, t->order, t->room.order);
}

static int64_t bytes_of(int64_t n) { return n * (int64_t)sizeof(float); }

enum { MIRROR_STREAM = 1001 }; /* not used by the shuffles */

/* Whether this epoch flips a row left-right. */
static bool is_turned(const xb_trainer *t, int32_t row)
{
    const xb_stream where = {.key = t->data_key,
                             .tensor = MIRROR_STREAM,
                             .sample = (uint32_t)t->place.phase,
                             .step = (uint32_t)t->place.epoch};
    return t->opt.mirror && xb_stream_uniform(&where, row) < 0.5;
}

/* The order with its flipped rows marked, for backends that flip them. */
static void shuffle_pixels(xb_trainer *t)
{
    const int32_t *order = order_side(t);
    int32_t *turned = xb_host_side(t->backend, t->turned, t->room.turned);
    for (int64_t i = 0; i < t->n; i++)
        turned[i] = is_turned(t, order[i]) ? ~order[i] : order[i];
    xb_host_sent(t->backend, t->turned, t->room.turned, bytes_of(t->n));
}

void xb_trainer_shuffle(xb_trainer *t)
{
    xb_shuffle(order_side(t), t->n, t->data_key, (uint32_t)t->place.phase,
               (uint32_t)t->place.epoch);
    xb_host_sent(t->backend, t->order, t->room.order, bytes_of(t->n));
    if (t->pixels) shuffle_pixels(t);
}

static bool has_labels(const xb_trainer *t)
{
    return t->model->likelihood == XB_LIKELIHOOD_SOFTMAX;
}

/* Takes inputs that are not in the backend's memory: row[i], or first + i without
 * rows. */
static void take_inputs(xb_trainer *t, const int32_t *row, int64_t first, int64_t rows)
{
    float *to = xb_host_side(t->backend, t->bx, t->room.bx);
    int64_t begin, end;
    xb_trainer_rows(t, rows, &begin, &end);
    for (int64_t i = begin; i < end; i++)
        xb_model_take_rows(t->model, to + i * t->features, &t->rows,
                           row ? row[i] : first + i, 1);
    xb_host_sent(t->backend, t->bx, t->room.bx, bytes_of(rows * t->features));
}

void xb_trainer_take(xb_trainer *t, int64_t first, int64_t rows)
{
    const xb_backend *b = t->backend;
    if (t->x)
        b->copy(b, t->bx, t->x + first * t->features, bytes_of(rows * t->features));
    else if (t->pixels)
        b->pixels(b, t->bx, t->pixels + first * t->features, NULL, rows,
                  xb_net_input(t->model->net));
    else
        take_inputs(t, NULL, first, rows);
    if (has_labels(t))
        b->copy(b, t->blabel, t->label + first, bytes_of(rows));
    else
        b->copy(b, t->by, t->y + first * t->targets, bytes_of(rows * t->targets));
}

/* Batches differ by at most one row, because a short last batch would give its rows too
 * much weight. */
int64_t xb_trainer_gather(xb_trainer *t, int64_t k)
{
    const xb_backend *b = t->backend;
    int64_t first = k * t->n / t->batches, rows = (k + 1) * t->n / t->batches - first;
    if (t->x)
        b->gather(b, t->bx, t->x, t->order + first, rows, bytes_of(t->features));
    else if (t->pixels)
        b->pixels(b, t->bx, t->pixels, t->turned + first, rows,
                  xb_net_input(t->model->net));
    else
        take_inputs(t, order_side(t) + first, 0, rows);
    if (has_labels(t))
        b->gather(b, t->blabel, t->label, t->order + first, rows, bytes_of(1));
    else
        b->gather(b, t->by, t->y, t->order + first, rows, bytes_of(t->targets));
    return rows;
}

/* Flips one image [h][w][c] left-right. */
static void turn(float *x, xb_shape shape)
{
    for (int64_t i = 0; i < shape.h; i++, x += shape.w * shape.c)
        for (int64_t a = 0, b = shape.w - 1; a < b; a++, b--)
            for (int64_t k = 0; k < shape.c; k++) {
                float swap = x[a * shape.c + k];
                x[a * shape.c + k] = x[b * shape.c + k];
                x[b * shape.c + k] = swap;
            }
}

void xb_trainer_mirror(xb_trainer *t, int64_t k, int64_t batch)
{
    const xb_backend *b = t->backend;
    if (t->pixels) return; /* they were flipped already */
    int64_t bytes = bytes_of(batch * t->features);
    const int32_t *row = order_side(t) + k * t->n / t->batches;
    float *x = xb_host_side(b, t->bx, t->room.bx);
    if (!b->host) b->get(b, x, t->bx, bytes);
    int64_t begin, end;
    xb_trainer_rows(t, batch, &begin, &end);
    for (int64_t i = begin; i < end; i++)
        if (is_turned(t, row[i])) turn(x + i * t->features, xb_net_input(t->model->net));
    xb_host_sent(b, t->bx, x, bytes);
}
