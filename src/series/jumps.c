/* jumps.c: jumps of the mean, and a trend of it; maths T4-T6.
 *
 * The trace is reduced to at most 1024 means of blocks. A jump is a difference between
 * the means of two neighbouring windows, compared at all widths, that is larger than any
 * difference in stationary noise with the trace's own spectrum. The spectrum is the
 * median over stretches, because a jump lies in one or two of them, and the noise is
 * simulated (surrogate.c). So 1/f noise, which wanders, is not mistaken for jumps. Among
 * overlapping differences the clearest is kept, and no window extends across a jump
 * already found. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/extend.h"
#include "series/series.h"
#include "series/surrogate.h"

enum {
    BLOCKS = 1024,
    BLOCK_LEAST = 8,   /* number of samples */
    WINDOW_LEAST = 64, /* number of samples from which on their mean is nearly Gaussian */
    WIDTHS = 12,
    LASTING = 32, /* what lasts for less than 1/32 of the trace is noise, not a state */
    PAIRS = 200,  /* pairs of simulated traces */
    PARTS = 16,   /* number of stretches of the robust spectrum */
};

/* The spectrum is estimated from the trace itself, so the full level would give more
 * false alarms than stated (tests). */
static const double OF_LEVEL = 0.5;

typedef struct scan {
    int64_t blocks, block; /* number of blocks; samples per block */
    double *prefix;        /* [blocks + 1] */
    double *mean;          /* [blocks] means of values clipped to the range of the bulk */
    double *plain;         /* [blocks] means of all values */
    int widths;
    int64_t width[WIDTHS]; /* in blocks */
    double sd[WIDTHS];     /* standard deviation of a difference in simulated noise */
    double *noise;         /* [2 PAIRS][blocks] simulated traces */
    double *worst;         /* [2 PAIRS] largest difference of a simulated trace, sorted */
    double *slope;         /* [2 PAIRS] slopes of simulated traces */
} scan;

static void scan_free(scan *s)
{
    free(s->prefix);
    free(s->mean);
    free(s->plain);
    free(s->noise);
    free(s->worst);
    free(s->slope);
}

static void choose_widths(scan *s)
{
    int64_t least = (WINDOW_LEAST + s->block - 1) / s->block;
    for (int64_t w = least; w <= s->blocks / 3 && s->widths < WIDTHS; w *= 2)
        s->width[s->widths++] = w;
}

static xb_status scan_make(xb_ctx *ctx, scan *s, int64_t n)
{
    s->block = (n + BLOCKS - 1) / BLOCKS;
    if (s->block < BLOCK_LEAST) s->block = BLOCK_LEAST;
    s->blocks = n / s->block;
    choose_widths(s);
    s->prefix = xb_new(ctx, s->blocks + 1, sizeof(double));
    s->mean = xb_new(ctx, s->blocks, sizeof(double));
    s->plain = xb_new(ctx, s->blocks, sizeof(double));
    s->noise = xb_new(ctx, 2 * PAIRS * s->blocks, sizeof(double));
    s->worst = xb_new(ctx, 2 * PAIRS, sizeof(double));
    s->slope = xb_new(ctx, 2 * PAIRS, sizeof(double));
    bool made = s->prefix && s->mean && s->plain && s->noise && s->worst && s->slope;
    return made ? XB_OK : XB_E_MEMORY;
}

/* Values far beyond the bulk are clipped to its edge, because a spike is not a jump. */
static xb_status clip_range(xb_ctx *ctx, double range[2], const xb_signal *x)
{
    enum { LOOK = 4096 };
    /* 6 standard deviations in units of the interquartile range */
    const double reach = 6 / 1.349;
    int64_t count = x->n < LOOK ? x->n : LOOK;
    double *some = xb_room(ctx, count, sizeof *some);
    if (!some) return XB_E_MEMORY;
    xb_status status = XB_OK;
    for (int64_t i = 0; i < count && status == XB_OK; i++) {
        const double *one = NULL;
        int64_t at = (int64_t)((double)i * (double)x->n / (double)count);
        status = xb_signal_read(ctx, x, &one, at, 1);
        if (status == XB_OK) some[i] = *one;
    }
    if (status == XB_OK) status = xb_sort_doubles(ctx, some, count);
    double low = some[count / 4], high = some[count - 1 - count / 4];
    bool levels = !(high > low); /* more than half of the samples are equal */
    range[0] = levels ? some[0] : low - reach * (high - low);
    range[1] = levels ? some[count - 1] : high + reach * (high - low);
    free(some);
    return status;
}

typedef struct sums_job {
    double range[2];
    int64_t blocks, block;
    double *slot; /* [pieces][2][blocks] sums of clipped and of all values */
} sums_job;

/* This is an xb_signal_fn: it adds up the values of each block. */
static void add_blocks(void *arg, int64_t p, const double *x, int64_t at, int64_t n)
{
    const sums_job *j = arg;
    double *clipped = j->slot + p * 2 * j->blocks, *plain = clipped + j->blocks;
    const int64_t end = at + n;
    for (int64_t i = at, b = at / j->block; b < j->blocks && i < end; b++) {
        const int64_t to = (b + 1) * j->block < end ? (b + 1) * j->block : end;
        for (; i < to; i++) {
            clipped[b] += fmin(fmax(x[i - at], j->range[0]), j->range[1]) - j->range[0];
            plain[b] += x[i - at];
        }
    }
}

static xb_status take_means(xb_ctx *ctx, scan *s, const xb_signal *x)
{
    sums_job job = {.blocks = s->blocks, .block = s->block};
    XB_TRY(clip_range(ctx, job.range, x));
    job.slot = xb_new(ctx, x->pieces * 2 * s->blocks, sizeof *job.slot);
    if (!job.slot) return XB_E_MEMORY;
    xb_status status = xb_signal_each(ctx, x, add_blocks, &job);
    if (status == XB_OK)
        status =
            xb_signal_sum(ctx, x, job.slot, 2 * s->blocks * (int64_t)sizeof *job.slot,
                          xb_signal_add_doubles);
    for (int64_t b = 0; b < s->blocks && status == XB_OK; b++) {
        s->mean[b] = job.slot[b] / (double)s->block;
        s->plain[b] = job.slot[s->blocks + b] / (double)s->block;
    }
    free(job.slot);
    return status;
}

static void set_prefix(scan *s, const double *mean)
{
    for (int64_t b = 0; b < s->blocks; b++) s->prefix[b + 1] = s->prefix[b] + mean[b];
}

/* (T4) */
static double difference(const scan *s, int64_t at, int64_t width)
{
    double after = s->prefix[at + width] - s->prefix[at];
    double before = s->prefix[at] - s->prefix[at - width];
    return (after - before) / (double)width;
}

/* Windows that are shorter than a state lasts are placed at the start only, to find a
 * transient. */
static int64_t last_place(const scan *s, int64_t width)
{
    return width * LASTING < s->blocks ? width : s->blocks - width;
}

static double slope_of(const double *y, int64_t n)
{
    double sum = 0, squares = 0, centre = 0.5 * (double)(n - 1);
    for (int64_t i = 0; i < n; i++) {
        double t = (double)i - centre;
        sum += t * y[i];
        squares += t * t;
    }
    return sum / squares;
}

/* Returns the largest difference at one width, and adds the mean of the squares to
 * *square. */
static double largest(const scan *s, int64_t width, double *square)
{
    int64_t last = last_place(s, width);
    double sum = 0, most = 0;
    for (int64_t at = width; at <= last; at++) {
        double d = difference(s, at, width);
        sum += d * d;
        most = fmax(most, fabs(d));
    }
    *square += sum / (double)(last - width + 1);
    return most;
}

/* Finds over all simulated traces the spread of the differences at each width, then the
 * largest difference of each trace in units of that spread. */
static void judge_noise(scan *s)
{
    double unused = 0, square[WIDTHS] = {0};
    for (int i = 0; i < 2 * PAIRS; i++) {
        set_prefix(s, s->noise + i * s->blocks);
        for (int k = 0; k < s->widths; k++) largest(s, s->width[k], &square[k]);
    }
    for (int k = 0; k < s->widths; k++) s->sd[k] = sqrt(square[k] / (2 * PAIRS));
    for (int i = 0; i < 2 * PAIRS; i++) {
        set_prefix(s, s->noise + i * s->blocks);
        for (int k = 0; k < s->widths; k++)
            s->worst[i] = fmax(s->worst[i], largest(s, s->width[k], &unused) / s->sd[k]);
        s->slope[i] = fabs(slope_of(s->noise + i * s->blocks, s->blocks));
    }
}

static xb_status calibrate(xb_ctx *ctx, scan *s, const xb_signal *x, uint64_t seed)
{
    xb_log_spectrum spectrum;
    xb_surrogate noise;
    XB_TRY(xb_welch_signal(ctx, &spectrum, x, 1, PARTS, XB_WELCH_MEDIAN));
    XB_TRY(xb_surrogate_make(ctx, &noise, &spectrum, s->blocks, s->block, 1, seed));
    for (int64_t pair = 0; pair < PAIRS; pair++) {
        double *first = s->noise + 2 * pair * s->blocks;
        xb_surrogate_pair(&noise, first, first + s->blocks, pair);
    }
    xb_surrogate_free(&noise);
    judge_noise(s);
    XB_TRY(xb_sort_doubles(ctx, s->worst, 2 * PAIRS));
    return xb_sort_doubles(ctx, s->slope, 2 * PAIRS);
}

/* The share of the simulated traces, with this one counted among them, that reach
 * `value`. */
static double share_beyond(const double *sorted, double value)
{
    int64_t below = 0;
    while (below < 2 * PAIRS && sorted[below] < value) below++;
    return (double)(2 * PAIRS - below + 1) / (2 * PAIRS + 1);
}

typedef struct candidate {
    int64_t at, width;
    double size, clear; /* `clear`: the size in units of its spread in noise */
} candidate;

/* The clearest difference whose windows keep a block away from the jumps found before. */
static candidate clearest(const scan *s, const int64_t *found, int64_t count)
{
    candidate best = {0, 0, 0, 0};
    for (int64_t j = 0; j <= count; j++) {
        int64_t from = j == 0 ? 0 : found[j - 1] + 1;
        int64_t to = j == count ? s->blocks : found[j] - 1;
        for (int k = 0; k < s->widths; k++) {
            int64_t w = s->width[k];
            int64_t last = last_place(s, w) < to - w ? last_place(s, w) : to - w;
            for (int64_t at = from + w; at <= last; at++) {
                double d = difference(s, at, w), clear = fabs(d) / s->sd[k];
                if (clear > best.clear) best = (candidate){at, w, d, clear};
            }
        }
    }
    return best;
}

/* The mean of blocks from .. to - 1. For a long trace the means of the blocks are
 * sufficient; for an array the values are used. */
static double mean_of(const scan *s, const xb_signal *x, int64_t from, int64_t to)
{
    double sum = 0;
    if (!x->x) {
        for (int64_t b = from; b < to; b++) sum += s->plain[b] - s->plain[from];
        return s->plain[from] + sum / (double)(to - from);
    }
    const double *value = x->x + from * s->block;
    const int64_t n = (to - from) * s->block;
    for (int64_t i = 0; i < n; i++) sum += value[i] - value[0];
    return value[0] + sum / (double)n;
}

/* Finds the sample near that place at which two levels explain the values best. */
static xb_status refine(xb_ctx *ctx, int64_t *best, const scan *s, const candidate *c,
                        const xb_signal *x)
{
    enum { READ = 1 << 18 };
    int64_t reach = c->width < 8 ? c->width : 8, block = s->block;
    int64_t from = (c->at - reach) * block, to = (c->at + reach) * block;
    double before = mean_of(s, x, c->at - c->width, c->at);
    double after = mean_of(s, x, c->at, c->at + c->width);
    double gain = 0, most = -INFINITY;
    *best = from;
    for (int64_t at = from; at < to; at += READ) {
        const double *value = NULL;
        const int64_t n = to - at < READ ? to - at : READ;
        XB_TRY(xb_signal_read(ctx, x, &value, at, n));
        for (int64_t i = 0; i < n; i++) {
            if (gain > most) most = gain, *best = at + i;
            gain -= (value[i] - 0.5 * (before + after)) * (after > before ? 1 : -1);
        }
    }
    return XB_OK;
}

static int64_t insert(int64_t *found, int64_t count, int64_t at)
{
    int64_t i = count;
    for (; i > 0 && found[i - 1] > at; i--) found[i] = found[i - 1];
    found[i] = at;
    return i;
}

static xb_status collect(xb_ctx *ctx, const scan *s, xb_jump *jump, int64_t *jumps,
                         const xb_signal *x, int64_t first, double level)
{
    int64_t found[XB_JUMPS_MAX], count = 0;
    while (count < XB_JUMPS_MAX) {
        candidate c = clearest(s, found, count);
        if (c.width == 0) break;
        double p = share_beyond(s->worst, c.clear);
        if (p > OF_LEVEL * level) break;
        int64_t sample = 0, i = insert(found, count, c.at);
        memmove(jump + i + 1, jump + i, (size_t)(count - i) * sizeof *jump);
        XB_TRY(refine(ctx, &sample, s, &c, x));
        jump[i] = (xb_jump){first + sample, c.size, p / OF_LEVEL};
        count++;
    }
    *jumps = count;
    return XB_OK;
}

/* (T6) */
static xb_trend trend_of(const scan *s, double interval)
{
    double slope = slope_of(s->mean, s->blocks), unit = (double)s->block * interval;
    double squares = 0;
    for (int i = 0; i < 2 * PAIRS; i++) squares += s->slope[i] * s->slope[i];
    return (xb_trend){slope / unit, sqrt(squares / (2 * PAIRS)) / unit,
                      fmin(1, share_beyond(s->slope, fabs(slope)) / OF_LEVEL)};
}

xb_status xb_jumps_find(xb_ctx *ctx, xb_jump *jump, int64_t *jumps, xb_trend *trend,
                        const xb_signal *x, int64_t first, const xb_scan_options *o)
{
    scan s = {0};
    xb_jump found[XB_JUMPS_MAX + 1];
    int64_t count = 0;
    xb_status status = scan_make(ctx, &s, x->n);
    if (status == XB_OK) status = calibrate(ctx, &s, x, o->seed);
    if (status == XB_OK) status = take_means(ctx, &s, x);
    if (status == XB_OK) {
        set_prefix(&s, s.mean);
        *trend = trend_of(&s, o->interval);
    }
    if (status == XB_OK && jump)
        status = collect(ctx, &s, found, &count, x, first, o->level);
    if (status == XB_OK && jump) {
        memcpy(jump, found, (size_t)count * sizeof *jump);
        *jumps = count;
    }
    scan_free(&s);
    return status;
}
