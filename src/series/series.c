/* series.c: the driver from a trace to its stationary part: checks the trace, runs the
 * searches in order, extracts the requested segment and prepares it. Maths T1-T14. */
#include "series/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/extend.h"

void xb_series_options_init(xb_series_options *opt, size_t size)
{
    const xb_series_options standard = {
        .segment = XB_SEGMENT_LONGEST, .reads = 100, .level = 0.01};
    xb_options_fill(opt, size, &standard, sizeof standard);
}

static const char *const detrend_names[] = {[XB_DETREND_NONE] = "none",
                                            [XB_DETREND_LINEAR] = "linear",
                                            [XB_DETREND_WINDOW] = "window"};

const char *xb_detrend_name(xb_detrend detrend) { return detrend_names[detrend]; }

xb_status xb_detrend_parse(xb_ctx *ctx, xb_detrend *out, const char *text)
{
    int count = XB_COUNT(detrend_names);
    for (int i = 0; i < count; i++)
        if (strcmp(text, detrend_names[i]) == 0) {
            *out = (xb_detrend)i;
            return XB_OK;
        }
    int near = xb_nearest(text, detrend_names, count);
    return xb_fail(ctx, XB_E_INPUT,
                   "unknown detrending '%s': expected none, linear or window:TIME%s%s%s",
                   text, near < 0 ? "" : ", did you mean '",
                   near < 0 ? "" : detrend_names[near], near < 0 ? "" : "'?");
}

static xb_status check_options(xb_ctx *ctx, const xb_series_options *o, int64_t n)
{
    if (!(o->sample_interval >= 0) || !isfinite(o->sample_interval))
        return xb_fail(ctx, XB_E_INPUT, "sample_interval is %g, expected 0 or more",
                       o->sample_interval);
    if (o->first < 0 || o->end < 0 || o->end > n || o->first >= (o->end ? o->end : n))
        return xb_fail(
            ctx, XB_E_INPUT, "samples %lld to %lld of %lld: expected a range within them",
            (long long)o->first + 1, (long long)(o->end ? o->end : n), (long long)n);
    if (o->detrend == XB_DETREND_WINDOW && !(o->detrend_window > 0))
        return xb_fail(ctx, XB_E_INPUT, "window %g: expected more than 0",
                       o->detrend_window);
    if (o->segment < XB_SEGMENT_LAST)
        return xb_fail(ctx, XB_E_INPUT, "no segment %lld: expected 1 or more",
                       (long long)o->segment + 1);
    if (o->reads < 1 || !(o->read_interval >= 0))
        return xb_fail(ctx, XB_E_INPUT, "%lld reads at %g: expected 1 or more",
                       (long long)o->reads, o->read_interval);
    if (!(o->level > 0 && o->level < 1))
        return xb_fail(ctx, XB_E_INPUT, "level %g: expected between 0 and 1", o->level);
    return XB_OK;
}

typedef struct sums {
    double sum, squares;
} sums;

typedef struct sums_job {
    double base;
    sums piece[XB_SIGNAL_PIECES];
} sums_job;

/* This is an xb_signal_fn. */
static void add_values(void *arg, int64_t p, const double *x, int64_t at, int64_t n)
{
    sums_job *j = arg;
    double sum = j->piece[p].sum, squares = j->piece[p].squares, base = j->base;
    (void)at;
    for (int64_t i = 0; i < n; i++) {
        sum += x[i] - base;
        squares += (x[i] - base) * (x[i] - base);
    }
    j->piece[p] = (sums){sum, squares};
}

/* Sums the values first .. first + count - 1. */
static xb_status sum_up(xb_ctx *ctx, xb_segment *out, const xb_signal *x, int64_t first,
                        int64_t count)
{
    const xb_signal part = xb_signal_part(x, first, count);
    const double *start = NULL;
    sums_job j = {0};
    XB_TRY(xb_signal_read(ctx, &part, &start, 0, 1));
    j.base = *start;
    XB_TRY(xb_signal_each(ctx, &part, add_values, &j));
    XB_TRY(xb_signal_sum(ctx, &part, j.piece, sizeof *j.piece, xb_signal_add_doubles));
    double mean = j.piece->sum / (double)count;
    double variance = j.piece->squares / (double)count - mean * mean;
    *out = (xb_segment){first, count, j.base + mean, sqrt(fmax(0, variance))};
    return XB_OK;
}

/* (T3-T5) */
static xb_status search(xb_ctx *ctx, xb_series *s, const xb_signal *x, int64_t end,
                        const xb_series_options *o)
{
    enum { START = 1 << 22 }; /* of a long trace, settling.c examines no more than this */
    int64_t first = s->first, n = end - first;
    const xb_scan_options scan = {s->interval, o->level, o->seed};
    const double *start = NULL;
    s->searched = n >= XB_SERIES_SEARCH && !o->whole;
    if (!s->searched) return XB_OK;
    const int64_t some = x->x || n < START ? n : START;
    XB_TRY(xb_signal_read(ctx, x, &start, first, some));
    XB_TRY(xb_settling_find(ctx, &s->settling, start, some, o->level));
    first += s->settling;
    if (end - first < XB_SERIES_SEARCH) return XB_OK;
    const xb_signal rest = xb_signal_part(x, first, end - first);
    return xb_jumps_find(ctx, s->jump, &s->jumps, &s->trend, &rest, first, &scan);
}

static xb_status cut(xb_ctx *ctx, xb_series *s, const xb_signal *x, int64_t end)
{
    int64_t from = s->first + s->settling;
    for (int64_t i = 0; i <= s->jumps; i++) {
        int64_t to = i < s->jumps ? s->jump[i].sample : end;
        if (to > from)
            XB_TRY(sum_up(ctx, &s->segment[s->segments++], x, from, to - from));
        from = to;
    }
    return XB_OK;
}

/* (T6) Finds the trend; if there is no jump, the search for jumps has found it. */
static xb_status find_trend(xb_ctx *ctx, xb_series *s, const xb_signal *x,
                            const xb_series_options *o)
{
    const xb_segment *part = &s->segment[s->chosen];
    const xb_scan_options scan = {s->interval, o->level, o->seed};
    const bool known = s->searched && s->jumps == 0;
    if (part->count < XB_SERIES_SEARCH || o->whole) {
        s->trend = (xb_trend){NAN, NAN, NAN};
        return XB_OK;
    }
    if (known) return XB_OK;
    const xb_signal segment = xb_signal_part(x, part->first, part->count);
    return xb_jumps_find(ctx, NULL, NULL, &s->trend, &segment, 0, &scan);
}

static xb_status choose(xb_ctx *ctx, xb_series *s, int64_t asked)
{
    if (asked >= s->segments)
        return xb_fail(ctx, XB_E_INPUT, "no segment %lld: the trace has %lld %s",
                       (long long)asked + 1, (long long)s->segments,
                       xb_plural(s->segments, "segment", "segments"));
    s->chosen = asked >= 0 ? asked : asked == XB_SEGMENT_LAST ? s->segments - 1 : 0;
    for (int64_t i = 0; i < s->segments && asked == XB_SEGMENT_LONGEST; i++)
        if (s->segment[i].count > s->segment[s->chosen].count) s->chosen = i;
    return XB_OK;
}

static void detrend_line(double *x, int64_t n)
{
    double centre = 0.5 * (double)(n - 1), sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        double t = (double)i - centre;
        sum += t * (x[i] - x[0]);
        squares += t * t;
    }
    for (int64_t i = 0; i < n; i++) x[i] -= sum / squares * ((double)i - centre);
}

/* Subtracts from each value the mean of the `window` values around it (fewer at the
 * ends), and adds the mean of all values, so that the level stays. */
static xb_status detrend_window(xb_ctx *ctx, double *x, int64_t n, int64_t window)
{
    if (window < 2 || window > n)
        return xb_fail(ctx, XB_E_INPUT,
                       "a window of %lld samples: expected 2 to the segment's %lld",
                       (long long)window, (long long)n);
    double *prefix = xb_room(ctx, n + 1, sizeof *prefix), base = x[0];
    if (!prefix) return XB_E_MEMORY;
    prefix[0] = 0;
    for (int64_t i = 0; i < n; i++) prefix[i + 1] = prefix[i] + (x[i] - base);
    double all = prefix[n] / (double)n;
    for (int64_t i = 0; i < n; i++) {
        int64_t from = i - window / 2, to = from + window;
        from = from < 0 ? 0 : from, to = to > n ? n : to;
        x[i] -= (prefix[to] - prefix[from]) / (double)(to - from) - all;
    }
    free(prefix);
    return XB_OK;
}

/* Makes the stationary part as the options ask for it: a copy, or the part itself if the
 * trace is long. */
static xb_status prepare(xb_ctx *ctx, xb_series *s, xb_signal *out, const xb_signal *x,
                         const xb_series_options *o)
{
    const xb_segment *part = &s->segment[s->chosen];
    s->count = part->count;
    *out = xb_signal_part(x, part->first, part->count);
    if (!x->x) return XB_OK;
    s->value = xb_room(ctx, s->count, sizeof *s->value);
    if (!s->value) return XB_E_MEMORY;
    memcpy(s->value, out->x, (size_t)s->count * sizeof *s->value);
    if (o->detrend == XB_DETREND_LINEAR) detrend_line(s->value, s->count);
    if (o->detrend == XB_DETREND_WINDOW)
        XB_TRY(
            detrend_window(ctx, s->value, s->count,
                           (int64_t)fmin(1e15, round(o->detrend_window / s->interval))));
    for (int64_t i = 1; i < s->count && o->difference; i++)
        s->value[i - 1] = s->value[i] - s->value[i - 1];
    s->count -= o->difference;
    *out = xb_signal_of(s->value, s->count);
    return XB_OK;
}

/* Refuses a segment that is too short or has only one value, and names it. */
static xb_status check_prepared(xb_ctx *ctx, const xb_series *s, const xb_signal *x)
{
    xb_segment all = {0};
    if (s->count > 0) XB_TRY(sum_up(ctx, &all, x, 0, s->count));
    if (s->count >= XB_SERIES_MIN && all.sd > 0) return XB_OK;
    return xb_fail(ctx, XB_E_INPUT, "segment %lld has %lld %s%s: too few for a law",
                   (long long)s->chosen + 1, (long long)s->count,
                   xb_plural(s->count, "sample", "samples"),
                   s->count >= XB_SERIES_MIN ? ", all of one value" : "");
}

/* (T10) The levels of the first samples of a long trace. */
static xb_status find_levels(xb_ctx *ctx, xb_series *s, const xb_signal *x)
{
    enum { START = 1 << 22 }; /* telegraph.c examines no more than this */
    const double *start = NULL;
    const int64_t some = x->x || x->n < START ? x->n : START;
    XB_TRY(xb_signal_read(ctx, x, &start, 0, some));
    const double share = some < x->n ? (double)some / (double)x->n : 1;
    return xb_levels_find(ctx, s->level, &s->levels, start, some, s->interval,
                          s->independent * share);
}

static xb_status analyse(xb_ctx *ctx, xb_series *s, const xb_signal *x,
                         const xb_series_options *o)
{
    xb_segment all;
    XB_TRY(check_prepared(ctx, s, x));
    XB_TRY(xb_lines_find(ctx, s->line, &s->lines, x, s->interval, o->level));
    s->lines_removed = o->remove_lines && s->lines > 0;
    if (s->lines_removed)
        xb_lines_remove(s->value, s->count, s->interval, s->line, s->lines);
    XB_TRY(sum_up(ctx, &all, x, 0, s->count));
    s->mean = all.mean, s->sd = all.sd;
    s->law = (xb_power_law){NAN, NAN, NAN, 0, NAN, NAN, NAN};
    if (s->count >= XB_SERIES_SEARCH) {
        XB_TRY(xb_welch_signal(ctx, &s->spectrum, x, s->interval, 8, XB_WELCH_MEAN));
        XB_TRY(xb_power_law_fit(ctx, &s->law, &s->spectrum, 0, INFINITY, true));
    }
    XB_TRY(xb_bursts_prepare(ctx, s, x));
    XB_TRY(find_levels(ctx, s, x));
    xb_bursts_judge(s);
    return XB_OK;
}

static xb_status run(xb_ctx *ctx, xb_series *s, const xb_signal *x,
                     const xb_series_options *o)
{
    int64_t end = o->end ? o->end : x->n;
    const xb_signal all = xb_signal_part(x, o->first, end - o->first);
    xb_signal part;
    XB_TRY(xb_trace_check(ctx, &all));
    XB_TRY(xb_progress_tell(ctx, "looking for jumps", 0, 2));
    XB_TRY(search(ctx, s, x, end, o));
    XB_TRY(cut(ctx, s, x, end));
    XB_TRY(choose(ctx, s, o->segment));
    XB_TRY(find_trend(ctx, s, x, o));
    XB_TRY(xb_progress_tell(ctx, "taking spectra", 1, 2));
    XB_TRY(prepare(ctx, s, &part, x, o));
    XB_TRY(analyse(ctx, s, &part, o));
    xb_series_say(s);
    return xb_progress_tell(ctx, "taking spectra", 2, 2);
}

static void keep_options(xb_series *s, const xb_series_options *o, int64_t n)
{
    s->timed = o->sample_interval > 0;
    s->interval = s->timed ? o->sample_interval : 1;
    s->first = o->first;
    s->given = n;
    s->total = (o->end ? o->end : n) - o->first;
    s->reads = o->reads;
    s->read_interval = o->read_interval > 0 ? o->read_interval : s->interval;
    s->detrend = o->detrend, s->detrend_window = o->detrend_window;
    s->difference = o->difference, s->whole = o->whole;
    s->level_asked = o->level;
    snprintf(s->unit, sizeof s->unit, "%s", o->unit ? o->unit : "");
}

static xb_status run_signal(xb_ctx *ctx, xb_series **out, const xb_signal *x,
                            const xb_series_options *o)
{
    xb_series *s = xb_new(ctx, 1, sizeof *s);
    if (!s) return XB_E_MEMORY;
    xb_status status = x->n > 0 ? check_options(ctx, o, x->n) : xb_trace_check(ctx, x);
    if (status == XB_OK) {
        keep_options(s, o, x->n);
        status = run(ctx, s, x, o);
    }
    if (status == XB_OK) {
        *out = s;
        return XB_OK;
    }
    xb_series_destroy(s);
    /* The message names the file of the samples. */
    if (status == XB_E_INPUT && o->source)
        return xb_fail(ctx, status, "%s: %s", o->source, xb_ctx_message(ctx));
    return status;
}

xb_status xb_series_run(xb_ctx *ctx, xb_series **out, const double *x, int64_t n,
                        const xb_series_options *opt)
{
    xb_series_options o;
    XB_TRY(XB_OPTIONS_READ(ctx, series, &o, opt, seed));
    const xb_signal signal = xb_signal_of(x, n);
    return run_signal(ctx, out, &signal, &o);
}

xb_status xb_series_run_trace(xb_ctx *ctx, xb_series **out, xb_trace *trace,
                              const xb_series_options *opt)
{
    xb_series_options o;
    XB_TRY(XB_OPTIONS_READ(ctx, series, &o, opt, seed));
    if (o.detrend != XB_DETREND_NONE || o.difference || o.remove_lines)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "a long trace is taken as it is: expected no detrending, no "
                       "differences and no removal of lines");
    XB_TRY(xb_signal_check_ranks(ctx, trace));
    const xb_signal signal = xb_signal_of_trace(trace, 0, xb_trace_count(trace));
    return run_signal(ctx, out, &signal, &o);
}

xb_status xb_trace_thin(xb_ctx *ctx, double **out, int64_t *n, int64_t *k,
                        xb_trace *trace, int64_t first, int64_t count)
{
    if (first < 0 || count < 1 || count > xb_trace_count(trace) - first)
        return xb_fail(ctx, XB_E_ARGUMENT, "samples %lld to %lld of %lld: not a range",
                       (long long)first + 1, (long long)(first + count),
                       (long long)xb_trace_count(trace));
    const xb_signal part = xb_signal_of_trace(trace, first, count);
    const int64_t stride = (count + XB_TRACE_LONG - 1) / XB_TRACE_LONG;
    double *x = xb_room(ctx, count / stride, sizeof *x);
    if (!x) return XB_E_MEMORY;
    xb_status status = xb_signal_every(ctx, &part, x, stride);
    if (status == XB_OK)
        *out = x, *n = count / stride, *k = stride;
    else
        free(x);
    return status;
}

void xb_series_destroy(xb_series *s)
{
    if (!s) return;
    free(s->value);
    free(s->rho);
    free(s->coarse);
    free(s);
}

xb_status xb_series_power_law_in(xb_ctx *ctx, xb_power_law *out, const xb_series *s,
                                 double low, double high, bool floor)
{
    return xb_power_law_fit(ctx, out, &s->spectrum, low, high, floor);
}

xb_spectrum_point xb_series_spectrum_at(const xb_series *s, int64_t i)
{
    const xb_log_spectrum *p = &s->spectrum;
    return (xb_spectrum_point){p->frequency[i], p->power[i],
                               p->power[i] / sqrt(p->weight[i]),
                               xb_power_law_at(&s->law, p->frequency[i])};
}

double xb_series_interval(const xb_series *s) { return s->interval; }
bool xb_series_has_interval(const xb_series *s) { return s->timed; }
int64_t xb_series_settling(const xb_series *s) { return s->settling; }
int64_t xb_series_jump_count(const xb_series *s) { return s->jumps; }
xb_jump xb_series_jump_at(const xb_series *s, int64_t i) { return s->jump[i]; }
int64_t xb_series_segment_count(const xb_series *s) { return s->segments; }
xb_segment xb_series_segment_at(const xb_series *s, int64_t i) { return s->segment[i]; }
int64_t xb_series_segment_chosen(const xb_series *s) { return s->chosen; }
const double *xb_series_values(const xb_series *s) { return s->value; }
int64_t xb_series_count(const xb_series *s) { return s->count; }
xb_trend xb_series_trend(const xb_series *s) { return s->trend; }
int64_t xb_series_line_count(const xb_series *s) { return s->lines; }
xb_line xb_series_line_at(const xb_series *s, int64_t i) { return s->line[i]; }
xb_power_law xb_series_power_law(const xb_series *s) { return s->law; }
int64_t xb_series_spectrum_count(const xb_series *s) { return s->spectrum.bins; }
int64_t xb_series_level_count(const xb_series *s) { return s->levels; }
xb_trace_level xb_series_level_at(const xb_series *s, int64_t i) { return s->level[i]; }
double xb_series_correlation_time(const xb_series *s) { return s->tau; }
double xb_series_independent(const xb_series *s) { return s->independent; }
xb_usable xb_series_usable(const xb_series *s) { return s->usable; }
double xb_series_usable_from(const xb_series *s) { return s->usable_from; }
int64_t xb_series_finding_count(const xb_series *s) { return s->findings; }
const char *xb_series_finding_name(const xb_series *s, int64_t i)
{
    return s->finding[i].name;
}
const char *xb_series_finding_text(const xb_series *s, int64_t i)
{
    return s->finding[i].text;
}
