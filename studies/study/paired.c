/* paired.c: sums over blocks of draws, and the jackknife over them. All laws use the same
 * random words for a draw, so the error of a difference is far below the error of either
 * law alone; leaving out one block of all laws at a time (C2) gives the error of that
 * difference. Antithetic pairs stay within a block. */
#include "study/paired.h"

#include <math.h>
#include <stdlib.h>

#include "crossbayes/extend.h"

enum { ALL = -1, ROOM = 4 << 20 /* ROOM: number of values held at a time */ };

typedef struct moments {
    double mean, sd;
} moments;

/* The moments of all draws except those of block `but`. */
static moments moments_without(const xb_paired *p, int law, int64_t point, int but)
{
    int64_t at = (law * p->points + point) * XB_PAIRED_BLOCKS;
    double sum = 0, square = 0, n = (double)p->block * (XB_PAIRED_BLOCKS - (but >= 0));
    for (int b = 0; b < XB_PAIRED_BLOCKS; b++) {
        if (b == but) continue;
        sum += p->sum[at + b];
        square += p->square[at + b];
    }
    double variance = (square - sum * sum / n) / (n - 1);
    return (moments){p->centre[point] + sum / n, sqrt(fmax(variance, 0))};
}

double xb_paired_mean(const xb_paired *p, int law, int64_t point)
{
    return moments_without(p, law, point, ALL).mean;
}

double xb_paired_sd(const xb_paired *p, int law, int64_t point)
{
    return moments_without(p, law, point, ALL).sd;
}

/* (S2) */
static double mean_gap(moments a, moments b) { return (a.mean - b.mean) / b.sd; }
static double sd_gap(moments a, moments b) { return a.sd / b.sd - 1; }

static xb_paired_gap gap(const xb_paired *p, int law, int64_t point,
                         double (*of)(moments, moments))
{
    const int n = XB_PAIRED_BLOCKS;
    double part[XB_PAIRED_BLOCKS], mean = 0, square = 0;
    for (int b = 0; b < n; b++) {
        part[b] = of(moments_without(p, law, point, b), moments_without(p, 0, point, b));
        mean += part[b] / n;
    }
    for (int b = 0; b < n; b++) square += (part[b] - mean) * (part[b] - mean);
    double all =
        of(moments_without(p, law, point, ALL), moments_without(p, 0, point, ALL));
    return (xb_paired_gap){all, sqrt(square * (n - 1) / n)}; /* (C2) */
}

xb_paired_gap xb_paired_mean_gap(const xb_paired *p, int law, int64_t point)
{
    return gap(p, law, point, mean_gap);
}

xb_paired_gap xb_paired_sd_gap(const xb_paired *p, int law, int64_t point)
{
    return gap(p, law, point, sd_gap);
}

static void add_block(xb_paired *p, int law, int block, const double *value)
{
    for (int64_t i = 0; i < p->points; i++) {
        double sum = 0, square = 0;
        for (int64_t s = 0; s < p->block; s++) {
            double d = value[s * p->points + i] - p->centre[i];
            sum += d;
            square += d * d;
        }
        int64_t at = (law * p->points + i) * XB_PAIRED_BLOCKS + block;
        p->sum[at] = sum;
        p->square[at] = square;
    }
}

/* Each call of the predictor sets up its tables again, so several blocks go together,
 * as many as there is room for in `value`. */
static xb_status run_blocks(xb_ctx *ctx, xb_paired *p, double *value, int at_a_time,
                            const xb_model *model, const xb_law *const *law,
                            const double *x, const xb_predict_options *opt)
{
    xb_predict_options o = *opt;
    for (int b = 0; b < XB_PAIRED_BLOCKS; b += at_a_time) {
        int blocks = XB_PAIRED_BLOCKS - b < at_a_time ? XB_PAIRED_BLOCKS - b : at_a_time;
        XB_TRY(xb_progress_tell(ctx, "comparing laws", b, XB_PAIRED_BLOCKS));
        for (int l = 0; l < p->laws; l++) {
            o.law = law[l];
            XB_TRY(xb_predict_draws(ctx, value, p->aleatoric, model, x, p->points,
                                    b * p->block, blocks * p->block, &o));
            for (int64_t i = 0; i < p->points && b + l == 0; i++) p->centre[i] = value[i];
            for (int k = 0; k < blocks; k++)
                add_block(p, l, b + k, value + k * p->block * p->points);
        }
    }
    return XB_OK;
}

xb_status xb_paired_run(xb_ctx *ctx, xb_paired *out, const xb_model *model,
                        const xb_law *const *law, int laws, const double *x,
                        int64_t points, int64_t draws, const xb_predict_options *opt)
{
    int64_t pairs = (draws + 2 * XB_PAIRED_BLOCKS - 1) / (2 * XB_PAIRED_BLOCKS);
    int64_t cells = laws * points * XB_PAIRED_BLOCKS;
    int64_t room = ROOM / (2 * pairs * points), at_a_time = room < 1 ? 1 : room;
    if (at_a_time > XB_PAIRED_BLOCKS) at_a_time = XB_PAIRED_BLOCKS;
    *out = (xb_paired){.points = points, .laws = laws, .block = 2 * pairs};
    out->centre = xb_new(ctx, points, sizeof *out->centre);
    out->aleatoric = xb_new(ctx, points, sizeof *out->aleatoric);
    out->sum = xb_new(ctx, cells, sizeof *out->sum);
    out->square = xb_new(ctx, cells, sizeof *out->square);
    double *value = xb_new(ctx, at_a_time * out->block * points, sizeof *value);
    xb_status status = XB_E_MEMORY;
    if (out->centre && out->aleatoric && out->sum && out->square && value)
        status = run_blocks(ctx, out, value, (int)at_a_time, model, law, x, opt);
    xb_free(value);
    return status;
}

void xb_paired_free(xb_paired *p)
{
    xb_free(p->centre);
    xb_free(p->aleatoric);
    xb_free(p->sum);
    xb_free(p->square);
}
