/* trace_input.h: reads a trace with its time axis, and fits its law as `fit` does. */
#ifndef XB_CLI_TRACE_INPUT_H
#define XB_CLI_TRACE_INPUT_H

#include "session.h"

typedef struct cli_trace {
    double *x; /* [n] */
    int64_t n;
    double interval; /* seconds; 0: unknown */
    char found[128]; /* how the time was found automatically; "": it was given, or is
                        unknown */
} cli_trace;

/* The interval as given by options; unchanged if it is not. */
cli_exit cli_trace_interval(cli_session *s, double *interval);

/* Seconds of the unit in a column's name: "time_ms", "t [us]", "Time (s)"; 1 if none is
 * there. */
double cli_time_unit(const char *name);

/* Options of a command that reads a trace. */
#define CLI_TRACE_OPTIONS                                                                \
    {                                                                                    \
        "column",                                                                        \
        'c',                                                                             \
        CLI_TEXT,                                                                        \
        "COLUMN",                                                                        \
        "column of the samples, by name or number from 1",                               \
        0,                                                                               \
        0},                                                                              \
        {"sample-interval",                                                              \
         0,                                                                              \
         CLI_TEXT,                                                                       \
         "TIME",                                                                         \
         "time between samples, in s or e.g. 2.5ms",                                     \
         0,                                                                              \
         0},                                                                             \
        {"sample-rate", 0, CLI_TEXT, "RATE", "samples per second, e.g. 400Hz", 0, 0},    \
        {"time",                                                                         \
         0,                                                                              \
         CLI_TEXT,                                                                       \
         "COLUMN",                                                                       \
         "column of times, in s or as in time_ms [found by name]",                       \
         0,                                                                              \
         0},                                                                             \
        {"skip", 0,   CLI_COUNT, "N", "number of samples to leave out at the start [0]", \
         0,      1e15},                                                                  \
        {"sample-range",                                                                 \
         0,                                                                              \
         CLI_TEXT,                                                                       \
         "A:B",                                                                          \
         "use samples A to B only, counted from 1 [all]",                                \
         0,                                                                              \
         0},                                                                             \
        {"detrend",                                                                      \
         0,                                                                              \
         CLI_TEXT,                                                                       \
         "none|linear|window:TIME",                                                      \
         "trend to subtract from the stationary part [none]",                            \
         0,                                                                              \
         0},                                                                             \
        {"difference",                                                                   \
         0,                                                                              \
         CLI_FLAG,                                                                       \
         NULL,                                                                           \
         "use successive differences instead of values",                                 \
         0,                                                                              \
         0},                                                                             \
        {"remove-lines",                                                                 \
         0,                                                                              \
         CLI_FLAG,                                                                       \
         NULL,                                                                           \
         "subtract spectral lines, e.g. mains pickup",                                   \
         0,                                                                              \
         0},                                                                             \
        {"segment",                                                                      \
         0,                                                                              \
         CLI_TEXT,                                                                       \
         "longest|last|all|N",                                                           \
         "which part between jumps the law describes [longest]",                         \
         0,                                                                              \
         0},                                                                             \
        {"reads",                                                                        \
         0,                                                                              \
         CLI_COUNT,                                                                      \
         "S",                                                                            \
         "number of reads of a device per prediction; the line 'draws' says what they "  \
         "are worth [100]",                                                              \
         1,                                                                              \
         1e9},                                                                           \
    {                                                                                    \
        "read-interval", 0, CLI_TEXT, "TIME",                                            \
            "time between these reads [the sample interval]", 0, 0                       \
    }

cli_exit cli_trace_read(cli_session *s, cli_trace *out, const char *path);
void cli_trace_free(cli_trace *trace);

/* Samples first <= i < end of --sample-range A:B; without it both stay unchanged. */
cli_exit cli_trace_rows(cli_session *s, int64_t *first, int64_t *end, int64_t n);

/* The options of the series from the command line. */
cli_exit cli_trace_options(cli_session *s, xb_series_options *out,
                           const cli_trace *trace);

/* Fits the law of the stationary part, and that of all n samples x: *whole stays NULL if
 * they are the same. */
xb_status cli_trace_fit(cli_session *s, xb_fit **fit, xb_fit **whole, const double *x,
                        int64_t n, const xb_series *series, xb_fit_options *options);

#endif
