/* shuffle.c: which rows a batch has. Each epoch has an order of its own, made from
 * Philox words by Fisher and Yates; it depends on the seed, the phase and the epoch
 * only, so a resumed run makes it again (maths V12). */
#include <string.h>

#include "draw/kernel.h"
#include "vi/trainer.h"
#include "kernel/update.h"

enum { BLOCKS = 8, UNIFORMS = BLOCKS * XB_BLOCK / 2 }; /* made at a time */

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

void xb_trainer_take(xb_trainer *t, int64_t to, int64_t i)
{
    float *x = t->bx + to * t->features;
    if (t->x)
        memcpy(x, t->x + i * t->features, (size_t)t->features * sizeof *x);
    else
        xb_model_take_rows(t->model, x, &t->rows, i, 1);
    t->by[to] = t->y[i];
    t->blabel[to] = t->label[i];
}

/* Rows of one number: what a small net has most time for. */
static void take_numbers(xb_trainer *t, const int32_t *row, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        t->bx[i] = t->x[row[i]];
        t->by[i] = t->y[row[i]];
    }
}

/* Batches differ by at most one row: a last one of few rows would weigh each of them
 * heavily. */
int64_t xb_trainer_gather(xb_trainer *t, int64_t k)
{
    int64_t first = k * t->n / t->batches, end = (k + 1) * t->n / t->batches;
    bool numbers = t->x && t->features == 1 && t->q > 0; /* no labels */
    if (numbers)
        take_numbers(t, t->order + first, end - first);
    else
        for (int64_t i = first; i < end; i++) xb_trainer_take(t, i - first, t->order[i]);
    return end - first;
}

enum { MIRROR_STREAM = 1001 }; /* beside those of the shuffles */

/* Left and right of one image [h][w][c]. */
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
    const xb_stream where = {.key = t->data_key,
                             .tensor = MIRROR_STREAM,
                             .sample = (uint32_t)t->place.phase,
                             .step = (uint32_t)t->place.epoch};
    int64_t first = k * t->n / t->batches;
    for (int64_t i = 0; i < batch; i++)
        if (xb_stream_uniform(&where, t->order[first + i]) < 0.5)
            turn(t->bx + i * t->features, xb_net_input(t->model->net));
}
