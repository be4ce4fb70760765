/* shuffle.c: which rows a batch has. Each epoch has an order of its own, made from
 * Philox words by Fisher and Yates; it depends on the seed, the phase and the epoch
 * only, so a resumed run makes it again (maths V12). */
#include <string.h>

#include "vi/trainer.h"

void xb_shuffle(int32_t *order, int64_t n, xb_key key, uint32_t what, uint32_t epoch)
{
    const xb_stream where = {.key = key, .tensor = what, .step = epoch};
    for (int64_t i = 0; i < n; i++) order[i] = (int32_t)i;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = (int64_t)(xb_stream_uniform(&where, i) * (double)(i + 1));
        int32_t swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}

/* Batches differ by at most one row: a last one of few rows would weigh each of them
 * heavily. */
int64_t xb_trainer_gather(xb_trainer *t, int64_t k)
{
    int64_t first = k * t->n / t->batches, end = (k + 1) * t->n / t->batches;
    size_t bytes = (size_t)t->features * sizeof *t->bx;
    for (int64_t i = first; i < end; i++) {
        int64_t row = t->order[i], to = i - first;
        memcpy(t->bx + to * t->features, t->x + row * t->features, bytes);
        t->by[to] = t->y[row];
        t->blabel[to] = t->label[row];
    }
    return end - first;
}
