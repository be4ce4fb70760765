/* seriestest.h: simulated traces, made by methods other than the library's own: white
 * noise, sums of relaxations for 1/f, a switching level for telegraph noise. */
#ifndef SERIESTEST_H
#define SERIESTEST_H

#include "xbtest.h"

typedef enum noise_kind { WHITE, ONE_OVER_F, TELEGRAPH, NOISE_KINDS } noise_kind;

/* A generator of its own (xorshift). */
typedef struct dice {
    uint64_t state;
} dice;

static inline double dice_uniform(dice *d)
{
    d->state ^= d->state << 13;
    d->state ^= d->state >> 7;
    d->state ^= d->state << 17;
    return ((double)(d->state >> 11) + 0.5) / 9007199254740992.0;
}

static inline double dice_normal(dice *d)
{
    double radius = sqrt(-2 * log(dice_uniform(d)));
    return radius * cos(2 * M_PI * dice_uniform(d));
}

static inline dice dice_of(uint64_t seed)
{
    dice d = {0x9E3779B97F4A7C15u ^ (seed + 1) * 0xD1342543DE82EF95u};
    for (int i = 0; i < 20; i++) dice_uniform(&d);
    return d;
}

/* Relaxations with times of 1, 2, 4, ... samples up to beyond the trace, equal powers. */
static inline void make_one_over_f(double *x, int64_t n, dice *d)
{
    enum { TIMES = 20 };
    double state[TIMES], keep[TIMES];
    for (int k = 0; k < TIMES; k++) {
        state[k] = dice_normal(d);
        keep[k] = exp(-ldexp(1, -k));
    }
    for (int64_t i = 0; i < n; i++) {
        x[i] = 0;
        for (int k = 0; k < TIMES; k++) {
            double move = sqrt(1 - keep[k] * keep[k]);
            state[k] = keep[k] * state[k] + move * dice_normal(d);
            x[i] += state[k];
        }
    }
}

static inline void make_telegraph(double *x, int64_t n, double dwell, double distance,
                                  dice *d)
{
    bool up = dice_uniform(d) < 0.5;
    for (int64_t i = 0; i < n; i++) {
        if (dice_uniform(d) < 1 / dwell) up = !up;
        x[i] = (up ? distance : 0) + dice_normal(d);
    }
}

/* Lag-1 correlation `keep`, standard deviation 1. */
static inline void make_relaxation(double *x, int64_t n, double keep, dice *d)
{
    double state = dice_normal(d);
    for (int64_t i = 0; i < n; i++) {
        state = keep * state + sqrt(1 - keep * keep) * dice_normal(d);
        x[i] = state;
    }
}

static inline double *make_noise(noise_kind kind, int64_t n, uint64_t seed)
{
    double *x = malloc((size_t)n * sizeof *x);
    dice d = dice_of(seed);
    if (kind == ONE_OVER_F)
        make_one_over_f(x, n, &d);
    else if (kind == TELEGRAPH)
        make_telegraph(x, n, (double)n / 100, 4, &d);
    else
        make_relaxation(x, n, 0, &d);
    return x;
}

static inline xb_series *series_of(xb_ctx *ctx, const double *x, int64_t n,
                                   const xb_series_options *opt)
{
    xb_series *s = NULL;
    assert_ok(ctx, xb_series_run(ctx, &s, x, n, opt));
    return s;
}

static inline const char *finding(const xb_series *s, const char *name)
{
    for (int64_t i = 0; i < xb_series_finding_count(s); i++)
        if (strcmp(xb_series_finding_name(s, i), name) == 0)
            return xb_series_finding_text(s, i);
    fail_msg("no finding '%s'", name);
    return NULL;
}

#endif
