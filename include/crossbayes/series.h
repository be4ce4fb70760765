/* crossbayes/series.h: analyses a trace as a time series: which part of it is stationary
 * noise, and how many independent draws its reads are worth.
 *
 *     xb_series_options opt = xb_series_options_default();
 *     opt.sample_interval = 2.5e-3;
 *     xb_series *series = NULL;
 *     if (xb_series_run(ctx, &series, x, n, &opt) == XB_OK) {
 *         xb_burst b = xb_series_burst(series, 2.5e-3, 100);
 *         printf("100 reads are worth %.1f draws\n", b.independent);
 *     }
 *     xb_series_destroy(series);
 *
 * The analysis searches for a start-up transient, jumps and a trend, each with a
 * false-alarm rate of at most `level` on stationary noise of the trace's own spectrum
 * (maths T3-T6). The parts between jumps are segments; one of them, by default the
 * longest, is the stationary part, from which spectrum, lines, levels and independent
 * draws are computed.
 *
 * Times are in seconds and frequencies in Hz; if the interval is unknown, it counts as 1,
 * so times are in samples and frequencies in cycles per sample. Samples are counted from
 * 0.
 *
 * The small structs that accessors return are values: they are frozen. */
#ifndef CROSSBAYES_SERIES_H
#define CROSSBAYES_SERIES_H

#include "crossbayes/base.h"
#include "crossbayes/data.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum xb_detrend {
    XB_DETREND_NONE = 0,
    XB_DETREND_LINEAR = 1, /* minus the straight line of least squares */
    XB_DETREND_WINDOW = 2  /* minus a moving mean over detrend_window */
} xb_detrend;

/* "none", "linear" or "window"; parse fails with XB_E_INPUT and lists the valid names. */
XB_API xb_status xb_detrend_parse(xb_ctx *ctx, xb_detrend *out, const char *text);
XB_API const char *xb_detrend_name(xb_detrend detrend);

#define XB_SEGMENT_LONGEST (-1)
#define XB_SEGMENT_LAST (-2)

typedef struct xb_series_options {
    size_t struct_size;
    double sample_interval; /* seconds between samples; 0: unknown */
    int64_t first, end;     /* samples first <= i < end are used; end 0: all */
    xb_detrend detrend;     /* trend subtracted from the stationary part */
    double detrend_window;  /* seconds; samples if the interval is unknown */
    bool difference;        /* successive differences instead of values */
    bool remove_lines;      /* subtract the lines that were found */
    bool whole;             /* take all samples as one segment, without any search */
    int64_t segment;        /* XB_SEGMENT_LONGEST, XB_SEGMENT_LAST, or an index */
    int64_t reads;          /* 100: number of reads of a burst, for the verdict */
    double read_interval;   /* seconds between them; 0: the trace's interval */
    double level;           /* 0.01: false-alarm rate of each search */
    const char *unit;       /* NULL or e.g. "S", for the sentences */
    const char *source;     /* NULL or the file's name, for messages */
    uint64_t seed;          /* 0: seed of the noise that the searches simulate */
} xb_series_options;

XB_OPTIONS(series);

typedef struct xb_series xb_series;

/* Fails with XB_E_INPUT and a reason for fewer than 8 samples, for values that are not
 * finite or all equal, for a strictly monotone column or a counter, and for a `segment`
 * or window that does not exist. x is borrowed for the call only. */
XB_API xb_status xb_series_run(xb_ctx *ctx, xb_series **out, const double *x, int64_t n,
                               const xb_series_options *opt); /* NULL: the defaults */
/* The same for a long trace, in bounded memory and on ranks that work together
 * (crossbayes/data.h); without detrending, differences and removal of lines. */
XB_API xb_status xb_series_run_trace(xb_ctx *ctx, xb_series **out, xb_trace *trace,
                                     const xb_series_options *opt);
/* Every k-th of the samples first .. first + count - 1 of a long trace, with the smallest
 * k that leaves at most XB_TRACE_LONG of them, to fit a law to. Free *out with xb_free().
 */
XB_API xb_status xb_trace_thin(xb_ctx *ctx, double **out, int64_t *n, int64_t *k,
                               xb_trace *trace, int64_t first, int64_t count);
XB_API void xb_series_destroy(xb_series *series); /* NULL is fine */

/* ---- the time axis */

/* Seconds between samples from a column of times: XB_E_INPUT where they do not increase
 * or are not regular (within 1 % of the interval, or the times' own rounding). */
XB_API xb_status xb_series_interval_of(xb_ctx *ctx, double *interval, const double *time,
                                       int64_t n);
XB_API double xb_series_interval(const xb_series *series); /* 1: unknown */
XB_API bool xb_series_has_interval(const xb_series *series);

/* ---- the parts of the trace */

typedef struct xb_segment {
    int64_t first, count;
    double mean, sd;
} xb_segment;

typedef struct xb_jump {
    int64_t sample; /* the first sample after the jump */
    double size;    /* mean after minus mean before */
    double p; /* share of simulated traces that have an equally clear jump anywhere */
} xb_jump;

/* Samples at the start that belong to a start-up transient; 0: none was found. */
XB_API int64_t xb_series_settling(const xb_series *series);
XB_API int64_t xb_series_jump_count(const xb_series *series);
XB_API xb_jump xb_series_jump_at(const xb_series *series, int64_t i);
XB_API int64_t xb_series_segment_count(const xb_series *series);
XB_API xb_segment xb_series_segment_at(const xb_series *series, int64_t i);
XB_API int64_t xb_series_segment_chosen(const xb_series *series);
/* The values of the chosen segment after the requested detrending, differencing and
 * removal of lines; NULL after xb_series_run_trace(). Borrowed. */
XB_API const double *xb_series_values(const xb_series *series);
XB_API int64_t xb_series_count(const xb_series *series);

/* Linear trend of the chosen segment before detrending, per second. */
typedef struct xb_trend {
    double slope, error; /* `error` is that for stationary noise of the same spectrum */
    double p;            /* NAN: not tested */
} xb_trend;

XB_API xb_trend xb_series_trend(const xb_series *series);

/* ---- the spectrum of the stationary part */

typedef struct xb_line {
    double frequency, amplitude, amplitude_error;
    double p; /* probability of an equally strong line anywhere in noise */
} xb_line;

XB_API int64_t xb_series_line_count(const xb_series *series); /* strongest first */
XB_API xb_line xb_series_line_at(const xb_series *series, int64_t i);

/* One-sided power spectral density, power f^-exponent + floor. */
typedef struct xb_power_law {
    double exponent, exponent_error;
    double power;     /* power at a frequency of 1 */
    double floor;     /* 0: none was found */
    double corner;    /* frequency where both are equal; NAN without a floor */
    double low, high; /* the band that was fitted */
} xb_power_law;

XB_API xb_power_law xb_series_power_law(const xb_series *series);
/* The same for any band; XB_E_INPUT if the band holds fewer than 4 frequencies of the
 * estimate. `floor`: also fit a white floor. */
XB_API xb_status xb_series_power_law_in(xb_ctx *ctx, xb_power_law *out,
                                        const xb_series *series, double low, double high,
                                        bool floor);
/* The estimate (Welch, in logarithmic bins). */
typedef struct xb_spectrum_point {
    double frequency, power, error, fitted;
} xb_spectrum_point;

XB_API int64_t xb_series_spectrum_count(const xb_series *series);
XB_API xb_spectrum_point xb_series_spectrum_at(const xb_series *series, int64_t i);

/* ---- telegraph levels of the stationary part */

typedef struct xb_trace_level {
    double value, sd, occupation; /* occupation: share of the samples */
    double dwell, dwell_error;    /* mean time at the level per visit */
    int64_t visits;               /* number of complete visits */
    double
        exponential_p; /* p-value of exponential dwell times; NAN: fewer than 20 visits */
} xb_trace_level;

XB_API int64_t xb_series_level_count(const xb_series *series); /* 1: no telegraph noise */
XB_API xb_trace_level xb_series_level_at(const xb_series *series, int64_t i);

/* ---- how many independent draws a burst of reads is worth (maths T12, T13) */

typedef struct xb_burst {
    double sd_draw;     /* standard deviation of the reads of one burst */
    double sd_mean;     /* standard deviation of the mean of a burst */
    double independent; /* draws that the reads are worth */
    double error;       /* standard error of `independent` */
    bool extrapolated;  /* computed from the fitted spectrum, because the burst is longer
                           than a quarter of the stationary part */
} xb_burst;

/* A burst of `reads` >= 1 reads at `interval`, which is rounded to a multiple of the
 * trace's interval, at least one. */
XB_API xb_burst xb_series_burst(const xb_series *series, double interval, int64_t reads);
/* The number of draws that the same reads are worth together when they are spread over
 * `cells` such cells read in turn, each once every interval * cells. */
XB_API double xb_series_in_turn(const xb_series *series, double interval, int64_t reads,
                                int64_t cells);
/* Autocorrelation of the stationary part at lag `samples`; NAN beyond a quarter of it. */
XB_API double xb_series_autocorrelation(const xb_series *series, int64_t samples);
/* (F9) The autocorrelation time of the stationary part, in samples, and its number of
 * independent samples. */
XB_API double xb_series_correlation_time(const xb_series *series);
XB_API double xb_series_independent(const xb_series *series);

typedef enum xb_usable {
    XB_USABLE,        /* at the requested read interval */
    XB_USABLE_SLOWER, /* only from the read interval xb_series_usable_from() on */
    XB_USABLE_LONGER  /* at no interval that the trace is long enough to judge: measure
                         longer */
} xb_usable;

/* (T14) The verdict on reads as draws. */
XB_API xb_usable xb_series_usable(const xb_series *series);
XB_API const char *xb_usable_name(xb_usable usable);          /* "usable", ... */
XB_API double xb_series_usable_from(const xb_series *series); /* NAN: unknown */

/* The findings, one sentence each: settling, jumps, drift, stationary part, lines,
 * spectrum, levels. The last one is the verdict on reads as draws. */
XB_API int64_t xb_series_finding_count(const xb_series *series);
XB_API const char *xb_series_finding_name(const xb_series *series, int64_t i);
XB_API const char *xb_series_finding_text(const xb_series *series, int64_t i);

/* All findings as JSON text, to be freed with xb_free(). */
XB_API xb_status xb_series_json(xb_ctx *ctx, char **out, const xb_series *series);

/* Autocorrelation at lags 0..lags-1 (lags <= n); 1 at lag 0. */
XB_API xb_status xb_autocorrelation(xb_ctx *ctx, double *rho, int64_t lags,
                                    const double *x, int64_t n);
/* (F9) Integrated autocorrelation time by Geyer's initial monotone sequence;
 * 1 for white noise. */
XB_API xb_status xb_autocorrelation_time(xb_ctx *ctx, double *tau, const double *x,
                                         int64_t n);

#ifdef __cplusplus
}
#endif
#endif
