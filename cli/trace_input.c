/* trace_input.c: see trace_input.h. If no option names the time column, a column with
 * such a name or with regularly spaced values is used, and the output says so. */
#include "trace_input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inputs.h"
#include "base/os.h"
#include "print.h"

void cli_trace_free(cli_trace *trace)
{
    xb_free(trace->x);
    *trace = (cli_trace){0};
}

/* ---- the interval as given */

cli_exit cli_trace_interval(cli_session *s, double *interval)
{
    double rate = NAN;
    int ways = cli_flag(&s->args, "sample-interval") + cli_flag(&s->args, "sample-rate") +
               cli_flag(&s->args, "time");
    if (ways > 1)
        return cli_fail(s, CLI_USAGE,
                        "--sample-interval, --sample-rate and --time exclude each other");
    cli_exit code = cli_quantity(s, interval, "sample-interval", "s");
    if (code == CLI_DONE) code = cli_quantity(s, &rate, "sample-rate", "Hz");
    if (code == CLI_DONE && rate > 0) *interval = 1 / rate;
    return code;
}

/* ---- columns */

double cli_time_unit(const char *name)
{
    static const struct {
        const char *text;
        double seconds;
    } units[] = {{"ms", 1e-3},  {"us", 1e-6}, {"ns", 1e-9},
                 {"ps", 1e-12}, {"min", 60},  {"h", 3600}};
    size_t end = strlen(name), start;
    while (end > 0 && strchr("])} ", name[end - 1])) end--;
    for (start = end; start > 0 && !strchr("_[({ ", name[start - 1]);) start--;
    for (int i = 0; i < CLI_COUNT_OF(units) && start > 0; i++)
        if (strlen(units[i].text) == end - start &&
            strncmp(name + start, units[i].text, end - start) == 0)
            return units[i].seconds;
    return 1;
}

static bool called_time(const char *name)
{
    static const char *const names[] = {"time", "t", "timestamp", "seconds", "elapsed"};
    size_t size = strcspn(name, "_[({ ");
    for (int i = 0; i < CLI_COUNT_OF(names); i++)
        if (strlen(names[i]) == size && xb_os_same_text(names[i], name, size))
            return true;
    return false;
}

static cli_exit interval_of(cli_session *s, double *interval, const double *time,
                            int64_t n, const char *path, const char *name)
{
    if (xb_series_interval_of(s->ctx, interval, time, n) != XB_OK)
        return cli_fail(s, CLI_USAGE, "%s: column '%s': %s%s", path, name,
                        xb_ctx_message(s->ctx),
                        cli_flag(&s->args, "time")
                            ? ""
                            : "; to ignore this column, give --column and --sample-rate;"
                              " for readings of many cells, use crossbayes device");
    *interval *= cli_time_unit(name);
    return CLI_DONE;
}

static void copy_column(double *out, const xb_frame *frame, int64_t column)
{
    int64_t columns = xb_frame_feature_count(frame);
    for (int64_t i = 0; i < xb_frame_row_count(frame); i++)
        out[i] = xb_frame_values(frame)[i * columns + column];
}

/* The time column: one with such a name, else the only column with regular steps; -1:
 * none. */
static int64_t find_time(cli_session *s, const xb_frame *frame, double *room)
{
    int64_t columns = xb_frame_feature_count(frame), clock = -1;
    double interval = 0;
    for (int64_t c = 0; c < columns; c++)
        if (called_time(xb_frame_feature_name(frame, c))) return c;
    for (int64_t c = 0; c < columns; c++) {
        copy_column(room, frame, c);
        if (xb_series_interval_of(s->ctx, &interval, room, xb_frame_row_count(frame)) !=
            XB_OK)
            continue;
        if (clock >= 0) return -1;
        clock = c;
    }
    return clock;
}

/* Reads a table: its time, and the one other column, unless that is named. */
static cli_exit from_frame(cli_session *s, cli_trace *out, const xb_frame *frame,
                           const char *path, bool named)
{
    int64_t rows = xb_frame_row_count(frame), columns = xb_frame_feature_count(frame);
    double *room = malloc((size_t)rows * sizeof *room);
    if (!room) return cli_status(s, XB_E_MEMORY);
    int64_t time = find_time(s, frame, room);
    cli_exit code = CLI_DONE;
    if (time >= 0 && (named || columns == 2)) {
        const char *name = xb_frame_feature_name(frame, time);
        copy_column(room, frame, time);
        code = interval_of(s, &out->interval, room, rows, path, name);
        char shown[CLI_SHOWN];
        snprintf(out->found, sizeof out->found, "column '%.60s' is taken as the time",
                 cli_shown(shown, name));
    }
    if (code == CLI_DONE && !named && time >= 0 && columns == 2) {
        copy_column(room, frame, 1 - time);
        out->x = room, out->n = rows;
        return CLI_DONE;
    }
    free(room);
    return code;
}

/* If the time is not given, it is searched for in a table of more than one column. In a
 * table with text it cannot be found. */
static cli_exit look_for_time(cli_session *s, cli_trace *out, const char *path,
                              bool named)
{
    xb_frame *frame = NULL;
    if (strcmp(path, "-") == 0) return CLI_DONE;
    if (xb_frame_read(s->ctx, &frame, path, NULL) != XB_OK) return CLI_DONE;
    cli_exit code = CLI_DONE;
    if (xb_frame_feature_count(frame) > 1) code = from_frame(s, out, frame, path, named);
    xb_frame_destroy(frame);
    return code;
}

static cli_exit read_time(cli_session *s, cli_trace *out, const char *path,
                          const char *column)
{
    double *time = NULL;
    int64_t n = 0;
    xb_status status = xb_column_read(s->ctx, &time, &n, path, column);
    if (status != XB_OK) return cli_status(s, status);
    cli_exit code = interval_of(s, &out->interval, time, n, path, column);
    xb_free(time);
    return code;
}

/* If the time is named and there is one other column, that is the trace. */
static xb_status read_other(cli_session *s, cli_trace *out, const char *path,
                            const char *time)
{
    xb_frame *frame = NULL;
    char message[1024];
    snprintf(message, sizeof message, "%s", xb_ctx_message(s->ctx));
    xb_status status = xb_frame_read(s->ctx, &frame, path, NULL);
    const char *other = NULL;
    if (status == XB_OK && xb_frame_feature_count(frame) == 2)
        for (int c = 0; c < 2; c++)
            if (strcmp(xb_frame_feature_name(frame, c), time) == 0)
                other = xb_frame_feature_name(frame, 1 - c);
    status = other ? xb_column_read(s->ctx, &out->x, &out->n, path, other)
                   : xb_fail(s->ctx, XB_E_INPUT, "%s", message);
    xb_frame_destroy(frame);
    return status;
}

cli_exit cli_trace_read(cli_session *s, cli_trace *out, const char *path)
{
    const char *column = cli_text(&s->args, "column", NULL);
    const char *time = cli_text(&s->args, "time", NULL);
    cli_exit code = cli_trace_interval(s, &out->interval);
    if (code != CLI_DONE) return code;
    xb_status status = cli_column_read(s, &out->x, &out->n, path);
    bool known = out->interval > 0 || time;
    if (status == XB_E_INPUT && !column &&
        !time) { /* with several columns, one may be the time */
        char message[1024];
        snprintf(message, sizeof message, "%s", xb_ctx_message(s->ctx));
        double given = out->interval;
        code = look_for_time(s, out, path, false);
        if (given > 0) out->interval = given, out->found[0] = '\0';
        if (code != CLI_DONE || out->x) return code;
        return cli_fail(s, CLI_USAGE, "%s", message);
    }
    if (status == XB_E_INPUT && !column && time && strcmp(path, "-") != 0)
        status = read_other(s, out, path, time);
    if (status != XB_OK) return cli_status(s, status);
    if (time) return read_time(s, out, path, time);
    return known || !column ? CLI_DONE : look_for_time(s, out, path, true);
}

/* ---- the series that is asked for */

cli_exit cli_trace_rows(cli_session *s, int64_t *first, int64_t *end, int64_t n)
{
    const char *text = cli_text(&s->args, "sample-range", NULL);
    char *stop = NULL;
    if (!text) return CLI_DONE;
    long long from = *text == ':' ? 1 : strtoll(text, &stop, 10);
    const char *colon = *text == ':' ? text : stop;
    bool good = *colon == ':' && from >= 1;
    long long to = good && colon[1] ? strtoll(colon + 1, &stop, 10) : n;
    if (good && colon[1]) good = *stop == '\0';
    if (!good || to < from || to > n)
        return cli_fail(s, CLI_USAGE,
                        "--sample-range: '%s': expected A:B with"
                        " 1 <= A <= B <= %lld",
                        text, (long long)n);
    *first = from - 1;
    *end = to;
    return CLI_DONE;
}

static cli_exit read_rows(cli_session *s, xb_series_options *o, int64_t n)
{
    o->first = (int64_t)cli_count(&s->args, "skip", 0);
    if (o->first > 0 && cli_flag(&s->args, "sample-range"))
        return cli_fail(s, CLI_USAGE, "--skip and --sample-range exclude each other");
    if (o->first >= n)
        return cli_fail(s, CLI_USAGE, "--skip %lld leaves none of the %lld samples",
                        (long long)o->first, (long long)n);
    return cli_trace_rows(s, &o->first, &o->end, n);
}

static cli_exit read_detrend(cli_session *s, xb_series_options *o)
{
    const char *text = cli_text(&s->args, "detrend", NULL);
    if (!text) return CLI_DONE;
    char kind[32];
    snprintf(kind, sizeof kind, "%.*s", (int)strcspn(text, ":"), text);
    const char *window = strchr(text, ':');
    if (xb_detrend_parse(s->ctx, &o->detrend, kind) != XB_OK)
        return cli_fail(s, CLI_USAGE, "--detrend: %s", xb_ctx_message(s->ctx));
    if ((o->detrend == XB_DETREND_WINDOW) != (window != NULL))
        return cli_fail(s, CLI_USAGE,
                        "--detrend: '%s': expected none, linear or"
                        " window:TIME",
                        text);
    if (!window) return CLI_DONE;
    if (xb_quantity_parse(s->ctx, &o->detrend_window, window + 1, "s") != XB_OK)
        return cli_fail(s, CLI_USAGE, "--detrend: %s", xb_ctx_message(s->ctx));
    return CLI_DONE;
}

static cli_exit read_segment(cli_session *s, xb_series_options *o)
{
    const char *text = cli_text(&s->args, "segment", "longest");
    char *end = NULL;
    long long number = strtoll(text, &end, 10);
    o->whole = strcmp(text, "all") == 0;
    if (strcmp(text, "last") == 0) {
        o->segment = XB_SEGMENT_LAST;
    } else if (strcmp(text, "longest") != 0 && !o->whole) {
        if (end == text || *end || number < 1)
            return cli_fail(s, CLI_USAGE,
                            "--segment: '%s': expected longest, last, all or a number"
                            " from 1",
                            text);
        o->segment = number - 1;
    }
    return CLI_DONE;
}

/* A trace without an interval counts its times in samples, so a time in seconds has no
 * meaning for it. */
static cli_exit check_time(cli_session *s, const char *option, const char *time,
                           const cli_trace *trace)
{
    if (!time || trace->interval > 0 || !strchr(time, 's')) return CLI_DONE;
    return cli_fail(s, CLI_USAGE,
                    "--%s: '%s': the interval between samples is unknown: give"
                    " --sample-interval, --sample-rate or --time, or a number of samples",
                    option, time);
}

static cli_exit check_times(cli_session *s, const cli_trace *trace)
{
    const char *detrend = cli_text(&s->args, "detrend", NULL);
    const char *window = detrend ? strchr(detrend, ':') : NULL;
    cli_exit code =
        check_time(s, "read-interval", cli_text(&s->args, "read-interval", NULL), trace);
    if (code != CLI_DONE || !window) return code;
    return check_time(s, "detrend", window + 1, trace);
}

cli_exit cli_trace_options(cli_session *s, xb_series_options *out, const cli_trace *trace)
{
    const cli_args *args = &s->args;
    *out = xb_series_options_default();
    out->sample_interval = trace->interval;
    out->unit = cli_text(args, "unit", NULL);
    out->source = args->arg[0];
    out->seed = cli_seed(s);
    out->difference = cli_flag(args, "difference");
    out->remove_lines = cli_flag(args, "remove-lines");
    out->reads = (int64_t)cli_count(args, "reads", (uint64_t)out->reads);
    cli_exit code = cli_quantity(s, &out->read_interval, "read-interval", "s");
    if (code == CLI_DONE) code = read_rows(s, out, trace->n);
    if (code == CLI_DONE) code = read_detrend(s, out);
    if (code == CLI_DONE) code = read_segment(s, out);
    if (code == CLI_DONE) code = check_times(s, trace);
    return code;
}

xb_status cli_trace_fit(cli_session *s, xb_fit **fit, xb_fit **whole, const double *x,
                        int64_t n, const xb_series *series, xb_fit_options *options)
{
    if (xb_series_count(series) != n) XB_TRY(xb_fit_run(s->ctx, whole, x, n, options));
    options->series = series;
    options->whole = *whole;
    return xb_fit_run(s->ctx, fit, xb_series_values(series), xb_series_count(series),
                      options);
}
