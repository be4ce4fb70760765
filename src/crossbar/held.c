/* held.c: noise that is correlated over many time scales, as 1/f noise is (maths X19).
 *
 * For each level l, time is divided into blocks of 2^l operations; the blocks are nested
 * and start at a phase that XB_BLOCK neighbouring devices share. A device is at one level
 * at a time and keeps one draw for the whole block of that level; at the end of the block
 * it draws again and takes a new level, among those whose blocks begin there. So every
 * read has exactly the law, and reads k apart share their draw with probability sum_l
 * share_l (1 - k / 2^l)+: any convex correlation, exact at lags that are powers of two.
 *
 * A value is a function of addresses: finding it from the coarsest block down to the one
 * that contains the operation takes at most one word per level, so reads can start
 * anywhere. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbar/moment.h"

/* ---- shares of the levels */

/* The lag of knot i: 0, 1, 2, 4, ... */
static double lag(int i) { return i == 0 ? 0 : ldexp(1, i - 1); }

/* Beyond the last of n knots r goes to 0 in a straight line, not steeper than before;
 * returns the number of knots. */
static int run_out(double *r, int n)
{
    const double last = r[n - 1], slope = (last - r[n - 2]) / (lag(n - 1) - lag(n - 2));
    int end = n;
    while (end < XB_HELD_LEVELS && -last / (lag(end) - lag(n - 1)) < slope) end++;
    for (int i = n; i <= end; i++)
        r[i] = last * (1 - (lag(i) - lag(n - 1)) / (lag(end) - lag(n - 1)));
    return end + 1;
}

/* Replaces r at the knots by the largest convex curve that is nowhere above it. */
static void make_convex(double *r, int n)
{
    int hull[XB_HELD_LEVELS + 1], used = 0;
    for (int i = 0; i < n; i++) {
        while (used >= 2) {
            int a = hull[used - 2], b = hull[used - 1];
            if ((r[b] - r[a]) * (lag(i) - lag(b)) <= (r[i] - r[b]) * (lag(b) - lag(a)))
                break;
            used--;
        }
        hull[used++] = i;
    }
    for (int h = 1; h < used; h++) {
        int a = hull[h - 1], b = hull[h];
        for (int i = a + 1; i < b; i++)
            r[i] = r[a] + (r[b] - r[a]) * (lag(i) - lag(a)) / (lag(b) - lag(a));
    }
}

/* (X19) Shares from the change of slope at each knot. */
static void find_shares(xb_held *held, const double *r, int knots)
{
    double before = r[1] - r[0]; /* slope */
    for (int l = 0; l + 1 < knots; l++) {
        double after = 0;
        if (l + 2 < knots) after = (r[l + 2] - r[l + 1]) / (lag(l + 2) - lag(l + 1));
        held->share[l] = fmax(lag(l + 1) * (after - before), 0);
        if (held->share[l] > 0) held->top = l;
        before = after;
    }
}

/* The thresholds of words: a device at which blocks of levels 0 .. c begin takes one of
 * the levels 0 .. j if its word is less than below[c][j]. */
static void find_words(xb_held *held)
{
    for (int c = 0; c <= held->top; c++) {
        double all = 0, some = 0;
        for (int j = 0; j <= c; j++) all += held->share[j];
        for (int j = 0; j < c; j++) {
            some += held->share[j];
            held->below[c][j] = all > 0 ? (uint32_t)(ldexp(some / all, 32) - 0.5) : 0;
        }
    }
}

void xb_held_fill(xb_held *held, const double *correlation, int lags)
{
    double r[XB_HELD_LEVELS + 1] = {1};
    for (int i = 0; i < lags; i++) r[i + 1] = fmin(fmax(correlation[i], 0), r[i]);
    const int knots = run_out(r, lags + 1);
    make_convex(r, knots);
    find_shares(held, r, knots);
    find_words(held);
}

xb_status xb_held_make(xb_ctx *ctx, xb_held **out, const double *correlation, int lags)
{
    if (lags < 1 || lags >= XB_HELD_LEVELS)
        return xb_fail(ctx, XB_E_ARGUMENT, "a correlation at %d lags: expected 1 to %d",
                       lags, XB_HELD_LEVELS - 1);
    for (int i = 0; i < lags; i++)
        if (!isfinite(correlation[i]))
            return xb_fail(ctx, XB_E_ARGUMENT, "a correlation of %g", correlation[i]);
    xb_held *held = xb_new(ctx, 1, sizeof *held);
    if (!held) return XB_E_MEMORY;
    xb_held_fill(held, correlation, lags);
    *out = held;
    return XB_OK;
}

double xb_held_correlation(const xb_held *held, double k)
{
    double sum = 0;
    for (int l = 0; l <= held->top; l++)
        sum += held->share[l] * fmax(1 - k / ldexp(1, l), 0);
    return sum;
}

double xb_held_time(const xb_held *held)
{
    double sum = 0; /* 1 + 2 sum_k (1 - k / 2^l) = 2^l */
    for (int l = 0; l <= held->top; l++) sum += ldexp(held->share[l], l);
    return sum;
}

double xb_held_sum(const xb_held *held, int64_t reads)
{
    double sum = 0;
    for (int l = 0; l <= held->top; l++) {
        const double m = ldexp(1, l), s = (double)reads, n = fmin(m, s) - 1;
        const double first = n * (n + 1) / 2, second = n * (n + 1) * (2 * n + 1) / 6;
        sum +=
            held->share[l] * (1 + 2 * (n - first * (1 / s + 1 / m) + second / (s * m)));
    }
    return sum;
}

/* ---- addresses */

static int64_t start_of(int64_t t, int level) { return t >> level << level; }

/* The coarsest level with a block that begins at t. */
static int level_at(const xb_held *held, int64_t t)
{
    int zeros = t ? __builtin_ctzll((unsigned long long)t) : held->top;
    return zeros < held->top ? zeros : held->top;
}

static int choose(const xb_held *held, int c, uint32_t word)
{
    int j = 0;
    while (j < c && word >= held->below[c][j]) j++;
    return j;
}

/* The words of a device group form one block. */
static int64_t block_of(const xb_devices *d, xb_moment when, int64_t q, int64_t i)
{
    const int64_t blocks = (d->n + XB_BLOCK - 1) / XB_BLOCK;
    return xb_moment_element(when, q, blocks) + i / XB_BLOCK;
}

/* The words of operation q of device i's group. */
static void look_at_words(const xb_analog *a, uint32_t *word, const xb_devices *d,
                          xb_moment when, int64_t q, int64_t i)
{
    const xb_stream where = xb_moment_words(a, d->tensor, xb_moment_read(when, q));
    xb_kernel_best()->words(word, 1, &where, block_of(d, when, q, i));
}

static void look_at_draws(const xb_analog *a, float *z, const xb_devices *d,
                          xb_moment when, int64_t q, int64_t from, int64_t to)
{
    const xb_stream where = xb_moment_draws(a, d->tensor, xb_moment_read(when, q));
    xb_sampler_fill(a->sampler, z, to - from, &where,
                    xb_moment_element(when, q, d->n) + from);
}

/* When the blocks of a group begin: one word for each input and group. */
typedef struct phases {
    uint32_t word[2 * XB_BLOCK];
    int64_t first; /* group of the first word */
} phases;

/* Looks up the phases of the groups of devices [from, to), at most one stretch. */
static void look_at_phases(const xb_analog *a, phases *p, const xb_devices *d,
                           xb_moment when, int64_t from, int64_t to)
{
    const xb_stream where = {a->forget, (uint32_t)d->tensor, XB_CHIP_PHASE, 0};
    const xb_moment input = {when.first / when.each, 1, 0};
    const int64_t before = block_of(d, input, 0, 0);
    const int64_t block = (before + from / XB_BLOCK) / XB_BLOCK;
    const int64_t last = (before + (to - 1) / XB_BLOCK) / XB_BLOCK;
    xb_kernel_best()->words(p->word, last - block + 1, &where, block);
    p->first = block * XB_BLOCK - before;
}

static int64_t phase_of(const phases *p, int64_t i)
{
    return p->word[i / XB_BLOCK - p->first];
}

/* The end of device i's group, at most `to`. */
static int64_t group_end(int64_t i, int64_t to)
{
    const int64_t end = (i / XB_BLOCK + 1) * XB_BLOCK;
    return end < to ? end : to;
}

/* ---- starting at any operation */

/* Finds the values of devices [from, to) of one group, from the coarsest block that
 * contains when.q downwards. */
static void find_group(const xb_analog *a, float *z, int32_t *level, const xb_devices *d,
                       xb_moment when, int64_t phase, int64_t from, int64_t to)
{
    const int64_t t = when.q + phase;
    const int skip = (int)(from % XB_BLOCK), n = (int)(to - from);
    uint32_t word[XB_BLOCK];
    float fresh[XB_BLOCK];
    bool found[XB_BLOCK] = {false};
    for (int c = a->held->top, left = n; left > 0; c--) {
        const int64_t start = start_of(t, c), q = start - phase;
        if (c < a->held->top && start == start_of(t, c + 1)) continue;
        look_at_words(a, word, d, when, q, from);
        bool drawn = false;
        for (int j = 0; j < n; j++) {
            int l = choose(a->held, c, word[skip + j]);
            if (found[j] || start_of(t, l) != start) continue;
            if (!drawn) look_at_draws(a, fresh, d, when, q, from, to);
            drawn = found[j] = true;
            z[j] = fresh[j];
            level[j] = l;
            left--;
        }
    }
}

/* Finds the values of each group of a stretch [from, to). */
static void find_stretch(const xb_analog *a, float *z, int32_t *level,
                         const xb_devices *d, xb_moment when, int64_t from, int64_t to)
{
    phases p;
    look_at_phases(a, &p, d, when, from, to);
    for (int64_t i = from, end; i < to; i = end) {
        end = group_end(i, to);
        find_group(a, z + i - from, level + i - from, d, when, phase_of(&p, i), i, end);
    }
}

/* ---- from one operation to the next */

static void step_stretch(const xb_analog *a, float *z, int32_t *level,
                         const xb_devices *d, xb_moment when, int64_t from, int64_t to)
{
    phases p;
    uint32_t word[XB_BLOCK] = {0};
    float fresh[XB_STRETCH];
    look_at_phases(a, &p, d, when, from, to);
    look_at_draws(a, fresh, d, when, when.q, from, to);
    for (int64_t i = from, end; i < to; i = end) {
        end = group_end(i, to);
        const int c = level_at(a->held, when.q + phase_of(&p, i));
        if (c > 0) look_at_words(a, word, d, when, when.q, i);
        a->kernels->hold_level(z + i - from, level + i - from, fresh + i - from,
                               word + i % XB_BLOCK, a->held->below[c], c, end - i);
    }
}

void xb_held_draw(const xb_analog *analog, float *z, int32_t *level, const xb_devices *d,
                  xb_moment when, bool known)
{
    for (int64_t from = d->from, to; from < d->to; from = to) {
        to = from + XB_STRETCH < d->to ? from + XB_STRETCH : d->to;
        const int64_t at = from - d->from;
        (known ? step_stretch : find_stretch)(analog, z + at, level + at, d, when, from,
                                              to);
    }
}
