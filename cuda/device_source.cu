/* device_source.cu: brings a law's draws to the device, in one block of memory: the
 * source, its pieces, and for each half the neighbouring pieces that most slow draws
 * need. */
#include <stdlib.h>

#include "launch.cuh"

/* The share of a half's draws that are slow and in its piece p. */
static double slow_mass(const xb_draw_source *d, int half, const xb_piece *p)
{
    const xb_draw_table *t = &d->table;
    const int stored = t->columns == XB_COLUMNS_WIDE ? 1 : 2;
    double sum = 0;
    for (int c = 0; c < t->columns; c++) {
        const float first = t->row[(half * t->columns + c) * stored][0];
        if (first == first) continue;
        const double from = fmax(p->from, (double)c / (t->columns - 1)),
                     to = fmin(p->to, (double)(c + 1) / (t->columns - 1));
        if (from < to) sum += to * to - from * from;
    }
    return sum;
}

/* Where the run of XBC_NEAR pieces with the most slow draws begins. */
static int64_t near_first(const xb_draw_source *d, int half)
{
    const xb_pieces *h = &d->half[half];
    double mass = 0, most = 0;
    int64_t best = 0;
    for (int64_t i = 0; i < h->n; i++) {
        mass += slow_mass(d, half, &h->piece[i]);
        if (i >= XBC_NEAR) mass -= slow_mass(d, half, &h->piece[i - XBC_NEAR]);
        if (mass > most) most = mass, best = i < XBC_NEAR ? 0 : i + 1 - XBC_NEAR;
    }
    return best;
}

static void fill_near(xbc_near *to, const xb_draw_source *d, int half)
{
    const xb_pieces *h = &d->half[half];
    const int64_t first = near_first(d, half);
    memset(to, 0, sizeof *to);
    to->affine = d->affine;
    to->before = first > 0 ? h->piece[first - 1].to : 0;
    for (int i = 0; i < XBC_NEAR; i++) {
        const bool is = first + i < h->n;
        to->end[i] = is ? h->piece[first + i].to : 2; /* beyond every s */
        if (is) to->piece[i] = h->piece[first + i];
    }
}

static size_t in_lines(size_t bytes) { return (bytes + 15) / 16 * 16; }

bool xbc_source_bring(xbc_source *to, const xb_draw_source *from)
{
    const int halves = from->symmetric ? 1 : 2;
    size_t at[2], bytes = in_lines(sizeof *from);
    for (int h = 0; h < halves; h++)
        at[h] = bytes, bytes += in_lines(xb_pieces_bytes(from->half[h].n));
    const size_t near_at = bytes;
    bytes += (size_t)halves * sizeof(xbc_near);
    char *host = (char *)calloc(1, bytes), *there = host ? (char *)xbc_take(bytes) : NULL;
    if (there) {
        xb_draw_source *d = (xb_draw_source *)(void *)host;
        memcpy(d, from, sizeof *d);
        for (int h = 0; h < 2; h++) {
            const size_t mine = at[h < halves ? h : 0];
            memcpy(host + mine, from->half[h].piece, xb_pieces_bytes(from->half[h].n));
            d->half[h].piece = (xb_piece *)(void *)(there + mine);
        }
        for (int h = 0; h < halves; h++)
            fill_near((xbc_near *)(void *)(host + near_at) + h, from, h);
        xbc_put(there, host, bytes);
        const xb_draw_table *t = &from->table;
        *to = {(xb_draw_source *)(void *)there, t->columns, t->degree, t->halves,
               (xbc_near *)(void *)(there + near_at)};
    }
    free(host);
    return there != NULL;
}

void xbc_source_leave(xbc_source *source)
{
    xbc_release((void *)(uintptr_t)source->at);
    *source = {};
}
