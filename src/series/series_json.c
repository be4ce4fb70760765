/* series_json.c: a series as JSON, as law files keep it under "series". */
#include <math.h>
#include <stdio.h>

#include "crossbayes/json.h"
#include "series/series.h"

static void set(json_t **object, const char *key, double value)
{
    xb_json_set(object, key, xb_json_real(value));
}

static void count(json_t **object, const char *key, int64_t value)
{
    xb_json_set(object, key, json_integer(value));
}

static json_t *jumps_json(const xb_series *s)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < s->jumps; i++) {
        json_t *jump = json_object();
        count(&jump, "sample", s->jump[i].sample);
        set(&jump, "size", s->jump[i].size);
        set(&jump, "p", s->jump[i].p);
        xb_json_add(&list, jump);
    }
    return list;
}

static json_t *segment_json(const xb_segment *part)
{
    json_t *object = json_object();
    count(&object, "first", part->first);
    count(&object, "count", part->count);
    set(&object, "mean", part->mean);
    set(&object, "sd", part->sd);
    return object;
}

static json_t *segments_json(const xb_series *s)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < s->segments; i++)
        xb_json_add(&list, segment_json(&s->segment[i]));
    return list;
}

static json_t *trend_json(const xb_trend *t)
{
    json_t *object = json_object();
    set(&object, "slope", t->slope);
    set(&object, "error", t->error);
    set(&object, "p", t->p);
    return object;
}

static json_t *lines_json(const xb_series *s)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < s->lines; i++) {
        json_t *line = json_object();
        set(&line, "frequency", s->line[i].frequency);
        set(&line, "amplitude", s->line[i].amplitude);
        set(&line, "amplitude_error", s->line[i].amplitude_error);
        set(&line, "p", s->line[i].p);
        xb_json_add(&list, line);
    }
    return list;
}

static json_t *spectrum_json(const xb_power_law *law)
{
    json_t *object = json_object();
    set(&object, "exponent", law->exponent);
    set(&object, "exponent_error", law->exponent_error);
    set(&object, "power", law->power);
    set(&object, "floor", law->floor);
    set(&object, "corner", law->corner);
    set(&object, "low", law->low);
    set(&object, "high", law->high);
    return object;
}

static json_t *levels_json(const xb_series *s)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < s->levels; i++) {
        const xb_trace_level *l = &s->level[i];
        json_t *level = json_object();
        set(&level, "value", l->value);
        set(&level, "sd", l->sd);
        set(&level, "occupation", l->occupation);
        set(&level, "dwell", l->dwell);
        set(&level, "dwell_error", l->dwell_error);
        count(&level, "visits", l->visits);
        set(&level, "exponential_p", l->exponential_p);
        xb_json_add(&list, level);
    }
    return list;
}

static json_t *burst_json(const xb_series *s, double interval, int64_t reads)
{
    xb_burst b = xb_series_burst(s, interval, reads);
    json_t *object = json_object();
    set(&object, "read_interval", interval);
    count(&object, "reads", reads);
    set(&object, "sd_draw", b.sd_draw);
    set(&object, "sd_mean", b.sd_mean);
    set(&object, "independent", b.independent);
    set(&object, "error", b.error);
    xb_json_set(&object, "extrapolated", json_boolean(b.extrapolated));
    return object;
}

/* The reads that were asked about, then a grid of intervals and numbers of reads. */
static json_t *bursts_json(const xb_series *s)
{
    json_t *list = json_array();
    xb_json_add(&list, burst_json(s, s->read_interval, s->reads));
    for (int64_t reads = 10; reads <= 1000; reads *= 10)
        for (double step = 1; step * 4 <= (double)s->count; step *= 10)
            xb_json_add(&list, burst_json(s, step * s->interval, reads));
    return list;
}

static json_t *findings_json(const xb_series *s)
{
    json_t *object = json_object();
    for (int64_t i = 0; i < s->findings; i++) {
        char key[sizeof s->finding[i].name];
        snprintf(key, sizeof key, "%s", s->finding[i].name);
        for (char *p = key; *p; p++)
            if (*p == ' ') *p = '_';
        xb_json_set(&object, key, xb_json_string(s->finding[i].text));
    }
    return object;
}

/* The correlation at lags of 1, 2, 4, ... samples, as far as it is known. */
static json_t *correlation_json(const xb_series *s)
{
    enum { LAGS = 31 };
    json_t *list = json_array();
    for (int i = 0; i < LAGS; i++) {
        const double rho = xb_series_autocorrelation(s, INT64_C(1) << i);
        if (!isfinite(rho)) break;
        xb_json_add(&list, xb_json_real(rho));
    }
    return list;
}

json_t *xb_series_to_json(const xb_series *s)
{
    json_t *root = json_object();
    set(&root, "interval_s", s->timed ? s->interval : NAN);
    count(&root, "samples", s->total);
    count(&root, "settling", s->settling);
    xb_json_set(&root, "jumps", jumps_json(s));
    xb_json_set(&root, "segments", segments_json(s));
    count(&root, "segment", s->chosen + 1);
    xb_json_set(&root, "detrend", xb_json_string(xb_detrend_name(s->detrend)));
    xb_json_set(&root, "difference", json_boolean(s->difference));
    xb_json_set(&root, "trend", trend_json(&s->trend));
    xb_json_set(&root, "lines", lines_json(s));
    xb_json_set(&root, "lines_removed", json_boolean(s->lines_removed));
    xb_json_set(&root, "spectrum", spectrum_json(&s->law));
    xb_json_set(&root, "levels", levels_json(s));
    set(&root, "correlation_time", s->tau);
    xb_json_set(&root, "correlation", correlation_json(s));
    set(&root, "independent_samples", s->independent);
    xb_json_set(&root, "bursts", bursts_json(s));
    xb_json_set(&root, "usable", xb_json_string(xb_usable_name(s->usable)));
    set(&root, "usable_from", s->usable_from);
    xb_json_set(&root, "findings", findings_json(s));
    return root;
}

xb_status xb_series_json(xb_ctx *ctx, char **out, const xb_series *s)
{
    json_t *root = xb_series_to_json(s);
    xb_status status = xb_json_text(ctx, out, root);
    json_decref(root);
    return status;
}
