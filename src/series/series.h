/* series.h: the contents of a series. series.c fills it from the searches, which have one
 * file each (settling.c, jumps.c, lines, spectrum, levels, bursts), and series_words.c
 * puts it into words. */
#ifndef XB_SERIES_SERIES_H
#define XB_SERIES_SERIES_H

#include <jansson.h>

#include "base/ctx.h"
#include "crossbayes/series.h"
#include "series/signal.h"
#include "series/welch.h"

enum {
    XB_SERIES_MIN = 8,      /* least number of samples */
    XB_SERIES_SEARCH = 256, /* number of samples below which nothing is searched for */
    XB_JUMPS_MAX = 256,
    XB_LINES_MAX = 16,
    XB_LEVELS_MAX = 4,
    XB_FINDINGS_MAX = 8,
};

typedef struct xb_finding_text {
    char name[24], text[512];
} xb_finding_text;

struct xb_series {
    double interval;
    bool timed;           /* whether the interval is known */
    int64_t first, total; /* the samples that are analysed */
    int64_t given;        /* number of samples of the whole trace */
    int64_t settling;
    int64_t jumps;
    xb_jump jump[XB_JUMPS_MAX];
    int64_t segments, chosen;
    xb_segment segment[XB_JUMPS_MAX + 1];
    bool searched; /* whether the trace was long enough to search for jumps */
    double *value; /* [count] the stationary part; NULL: it is in a long trace */
    int64_t count;
    double mean, sd; /* mean and standard deviation of value */
    xb_trend trend;
    int64_t lines;
    xb_line line[XB_LINES_MAX];
    bool lines_removed;
    xb_log_spectrum spectrum; /* spectrum of value */
    xb_power_law law;
    int64_t levels;
    xb_trace_level level[XB_LEVELS_MAX];
    double *rho; /* [lags] autocorrelation of value */
    int64_t lags;
    double *coarse; /* [coarse_lags] the same at every stride-th lag; NULL: rho has all
                       lags */
    int64_t coarse_lags, stride;
    double tau, independent;
    int64_t reads;
    double read_interval;
    xb_usable usable;
    double usable_from;
    xb_detrend detrend;
    double detrend_window;
    bool difference, whole;
    double level_asked;
    char unit[32];
    int64_t findings;
    xb_finding_text finding[XB_FINDINGS_MAX];
};

/* (T1) Refuses data that is not noise: constant, monotone, or a counter. */
xb_status xb_trace_check(xb_ctx *ctx, const xb_signal *s);

/* (T3) The number of samples of a start-up transient. */
xb_status xb_settling_find(xb_ctx *ctx, int64_t *out, const double *x, int64_t n,
                           double level);

/* (T4-T6) Finds the jumps of s in order, counted from `first`, at most XB_JUMPS_MAX of
 * them, and the trend of all of s. If jump is NULL, only the trend is found. */
typedef struct xb_scan_options {
    double interval, level;
    uint64_t seed;
} xb_scan_options;

xb_status xb_jumps_find(xb_ctx *ctx, xb_jump *jump, int64_t *jumps, xb_trend *trend,
                        const xb_signal *s, int64_t first, const xb_scan_options *o);

/* (T7) The probability that a mean of `stretches` exponentials reaches `ratio` times its
 * expectation, if the expectation is estimated from the median of `count` others. 1
 * stands for all from 1/2 on. */
double xb_line_chance(double ratio, int64_t stretches, int64_t count);
/* Finds lines, the strongest first. */
xb_status xb_lines_find(xb_ctx *ctx, xb_line *line, int64_t *lines, const xb_signal *s,
                        double interval, double level);
/* Subtracts them from x. */
void xb_lines_remove(double *x, int64_t n, double interval, const xb_line *line,
                     int64_t lines);

/* (T10, T11) */
xb_status xb_levels_find(xb_ctx *ctx, xb_trace_level *level, int64_t *levels,
                         const double *x, int64_t n, double interval, double independent);

/* (T12-T14) Computes rho, coarse, tau and independent; then the verdict. */
xb_status xb_bursts_prepare(xb_ctx *ctx, xb_series *s, const xb_signal *x);
void xb_bursts_judge(xb_series *s);

/* Puts the findings into words. */
void xb_series_say(xb_series *s);

/* The object of xb_series_json(); NULL when memory has run out. */
json_t *xb_series_to_json(const xb_series *s);

#endif
