/* column_ranges.c: ADC ranges for groups of columns: those of a tile, or single columns
 * (maths X51). A first run finds the largest sum of each group, and a second one counts
 * sums relative to it, because a full spectrum (convert.h) for each column would take 256
 * kB. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "crossbar/columns.h"

xb_status xb_column_groups_make(xb_ctx *ctx, xb_column_groups *out, int64_t row_tiles,
                                int64_t outputs, int64_t wide)
{
    const int64_t each = (outputs + wide - 1) / wide;
    xb_column_groups g = {.columns = row_tiles * outputs, .n = row_tiles * each};
    g.group = xb_new(ctx, g.columns, sizeof *g.group);
    g.top = xb_new(ctx, g.n, sizeof *g.top);
    g.count = xb_new(ctx, g.n * XB_GROUP_BINS, sizeof *g.count);
    g.values = xb_new(ctx, g.n, sizeof *g.values);
    if (!g.group || !g.top || !g.count || !g.values) {
        xb_column_groups_free(&g);
        return XB_E_MEMORY;
    }
    for (int64_t i = 0; i < g.columns; i++)
        g.group[i] = i / outputs * each + i % outputs / wide;
    *out = g;
    return XB_OK;
}

void xb_column_groups_free(xb_column_groups *g)
{
    free(g->group);
    free(g->top);
    free(g->count);
    free(g->values);
}

void xb_column_groups_add(xb_column_groups *g, int64_t tile, const float *sums,
                          int64_t rows, int64_t outputs)
{
    const int64_t *group = g->group + tile * outputs;
    for (int64_t r = 0; r < rows; r++, sums += outputs)
        for (int64_t j = 0; j < outputs; j++) {
            const int64_t k = group[j];
            const float size = fabsf(sums[j]);
            if (!g->counting) {
                g->top[k] = fmaxf(g->top[k], size);
                continue;
            }
            if (!(g->top[k] > 0)) continue;
            const float part = size / g->top[k] * (float)XB_GROUP_BINS;
            const int bin = part < XB_GROUP_BINS ? (int)part : XB_GROUP_BINS - 1;
            g->count[k * XB_GROUP_BINS + bin]++;
            g->values[k]++;
        }
}

double xb_column_groups_range(const xb_column_groups *g, int64_t group, double share)
{
    const double wanted = share * (double)g->values[group];
    double seen = 0;
    for (int i = 0; i < XB_GROUP_BINS; i++) {
        seen += (double)g->count[group * XB_GROUP_BINS + i];
        if (seen >= wanted && seen > 0)
            return (double)g->top[group] * (i + 1) / XB_GROUP_BINS;
    }
    return (double)g->top[group];
}
