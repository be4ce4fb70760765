/* device_file.c: devices as JSON. Nothing in a file is trusted. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "crossbayes/filekind.h"
#include "crossbayes/json.h"
#include "device/relaxation.h"
#include "law/lawfile.h"

/* ---- out */

static json_t *numbers_json(const double *x, int64_t n)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < n; i++) xb_json_add(&list, xb_json_real(x[i]));
    return list;
}

static json_t *node_json(const xb_device_node *node)
{
    json_t *o = json_object();
    const xb_device_move *m = &node->move;
    xb_json_set(&o, "cells", json_integer(m->cells));
    xb_json_set(&o, "shift", xb_json_real(m->shift));
    xb_json_set(&o, "shift_error", xb_json_real(m->shift_error));
    xb_json_set(&o, "spread", xb_json_real(m->spread));
    xb_json_set(&o, "spread_error", xb_json_real(m->spread_error));
    xb_json_set(&o, "skewness", xb_json_real(m->skewness));
    xb_json_set(&o, "shape", numbers_json(node->shape, XB_DEVICE_RANKS));
    return o;
}

static json_t *state_json(const xb_device *d, int64_t s)
{
    const xb_device_state *state = &d->state[s];
    json_t *o = json_object(), *moves = json_array();
    xb_json_set(&o, "label", xb_json_real(state->label));
    xb_json_set(&o, "conductance", xb_json_real(state->conductance));
    xb_json_set(&o, "program_error", xb_json_real(state->error));
    xb_json_set(&o, "cells", json_integer(state->cells));
    for (int64_t k = 0; k < d->times; k++)
        xb_json_add(&moves, node_json(xb_device_node_at(d, s, k)));
    xb_json_set(&o, "relaxation", moves);
    return o;
}

static json_t *record_json(const xb_state_record *r)
{
    json_t *o = json_object();
    xb_json_set(&o, "label", xb_json_real(r->trace.label));
    xb_json_set(&o, "conductance", xb_json_real(r->trace.conductance));
    xb_json_set(&o, "width", xb_json_real(r->trace.width));
    xb_json_set(&o, "width_error", xb_json_real(r->trace.width_error));
    xb_json_set(&o, "independent", xb_json_real(r->trace.independent));
    if (r->interval_s > 0) xb_json_set(&o, "interval_s", xb_json_real(r->interval_s));
    if (r->lags > 0)
        xb_json_set(&o, "correlation", numbers_json(r->correlation, r->lags));
    if (*r->law) xb_json_set(&o, "law", xb_json_string(r->law));
    if (*r->fits) xb_json_set(&o, "fits", xb_json_string(r->fits));
    return o;
}

static json_t *traces_json(const xb_device *d)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < d->traces; i++)
        xb_json_add(&list, record_json(&d->record[i]));
    return list;
}

static json_t *device_json(const xb_ctx *ctx, const xb_device *d)
{
    json_t *o = json_object(), *states = json_array(), *from = json_object();
    xb_json_set(&o, "crossbayes", json_string("device"));
    xb_json_set(&o, "unit", xb_json_string(d->unit));
    xb_json_set(&o, "times_s", numbers_json(d->time, d->times));
    xb_json_set(&o, "ranks", numbers_json(xb_device_rank, XB_DEVICE_RANKS));
    for (int64_t s = 0; s < d->states; s++) xb_json_add(&states, state_json(d, s));
    xb_json_set(&o, "states", states);
    if (d->traces > 0) xb_json_set(&o, "traces", traces_json(d));
    if (*d->shapes) xb_json_set(&o, "shapes", xb_json_string(d->shapes));
    if (isfinite(d->shapes_p)) xb_json_set(&o, "shapes_p", xb_json_real(d->shapes_p));
    if (d->law) xb_json_set(&o, "law", json_incref(d->law));
    xb_json_set(&o, "cells", json_integer(d->cells));
    xb_json_set(&o, "states_left_out", json_integer(d->states_left_out));
    xb_json_set(&o, "cells_left_out", json_integer(d->cells_left_out));
    xb_json_set(&from, "version", xb_json_string(xb_version()));
    xb_json_set(&from, "command", xb_json_string(xb_ctx_origin(ctx)));
    xb_json_set(&from, "source", xb_json_string(d->source));
    xb_json_set(&o, "provenance", from);
    return o;
}

xb_status xb_device_json(xb_ctx *ctx, char **out, const xb_device *device)
{
    json_t *root = device_json(ctx, device);
    xb_status status = xb_json_text(ctx, out, root);
    json_decref(root);
    return status;
}

xb_status xb_device_save(xb_ctx *ctx, const xb_device *device, const char *path)
{
    json_t *root = device_json(ctx, device);
    xb_status status = xb_json_save(ctx, root, path);
    json_decref(root);
    return status;
}

/* ---- in */

/* A list of `least` to `most` objects or numbers under `key`. */
static xb_status read_list(xb_ctx *ctx, const json_t **out, const json_t *object,
                           const char *path, const char *key, size_t least, size_t most)
{
    const json_t *list = json_object_get(object, key);
    if (!json_is_array(list) || json_array_size(list) < least ||
        json_array_size(list) > most)
        return xb_fail(ctx, XB_E_INPUT, "%s: '%s': expected a list of %zu to %zu entries",
                       path, key, least, most);
    *out = list;
    return XB_OK;
}

static xb_status read_numbers(xb_ctx *ctx, double *out, const json_t *object,
                              const char *path, const char *key, size_t n)
{
    const json_t *list = NULL;
    XB_TRY(read_list(ctx, &list, object, path, key, n, n));
    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_array_get(list, i);
        if (!json_is_number(value) || !isfinite(json_number_value(value)))
            return xb_fail(ctx, XB_E_INPUT, "%s: '%s': entry %zu is not a number", path,
                           key, i + 1);
        out[i] = json_number_value(value);
    }
    return XB_OK;
}

/* A whole number, 0 or more. */
static xb_status read_count(xb_ctx *ctx, int64_t *out, const json_t *object,
                            const char *path, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return xb_fail(ctx, XB_E_INPUT, "%s: '%s': expected a whole number, 0 or more",
                       path, key);
    *out = json_integer_value(value);
    return XB_OK;
}

static xb_status read_node(xb_ctx *ctx, xb_device_node *out, const json_t *o,
                           const char *path)
{
    static const char *const known[] = {
        "cells",        "shift",    "shift_error", "spread",
        "spread_error", "skewness", "shape",       NULL};
    xb_device_move *m = &out->move;
    if (!json_is_object(o))
        return xb_fail(ctx, XB_E_INPUT, "%s: 'relaxation': expected objects", path);
    XB_TRY(xb_json_known_keys(ctx, o, path, known));
    XB_TRY(read_count(ctx, &m->cells, o, path, "cells"));
    XB_TRY(xb_json_number(ctx, &m->shift, o, path, "shift"));
    XB_TRY(xb_json_number(ctx, &m->shift_error, o, path, "shift_error"));
    XB_TRY(xb_json_number(ctx, &m->spread, o, path, "spread"));
    XB_TRY(xb_json_number(ctx, &m->spread_error, o, path, "spread_error"));
    XB_TRY(xb_json_number(ctx, &m->skewness, o, path, "skewness"));
    XB_TRY(read_numbers(ctx, out->shape, o, path, "shape", XB_DEVICE_RANKS));
    if (!(m->spread > 0) || m->shift_error < 0 || m->spread_error < 0)
        return xb_fail(ctx, XB_E_INPUT, "%s: a spread of %g: expected more than 0", path,
                       m->spread);
    if (!xb_device_shape_scale(out->shape))
        return xb_fail(ctx, XB_E_INPUT, "%s: 'shape': expected ascending numbers", path);
    return XB_OK;
}

static xb_status read_state(xb_ctx *ctx, xb_device *d, int64_t s, const json_t *o,
                            const char *path)
{
    static const char *const known[] = {"label", "conductance", "program_error",
                                        "cells", "relaxation",  NULL};
    xb_device_state *state = &d->state[s];
    const json_t *moves = NULL;
    if (!json_is_object(o))
        return xb_fail(ctx, XB_E_INPUT, "%s: 'states': expected objects", path);
    XB_TRY(xb_json_known_keys(ctx, o, path, known));
    XB_TRY(xb_json_number(ctx, &state->label, o, path, "label"));
    XB_TRY(xb_json_number(ctx, &state->conductance, o, path, "conductance"));
    XB_TRY(xb_json_number(ctx, &state->error, o, path, "program_error"));
    XB_TRY(read_count(ctx, &state->cells, o, path, "cells"));
    if (state->conductance < 0 || state->error < 0 ||
        (s > 0 && state->conductance <= d->state[s - 1].conductance))
        return xb_fail(ctx, XB_E_INPUT,
                       "%s: state %lld has a conductance of %g: expected ascending "
                       "conductances, 0 or more",
                       path, (long long)s + 1, state->conductance);
    XB_TRY(read_list(ctx, &moves, o, path, "relaxation", (size_t)d->times,
                     (size_t)d->times));
    for (int64_t k = 0; k < d->times; k++)
        XB_TRY(read_node(ctx, xb_device_node_at(d, s, k),
                         json_array_get(moves, (size_t)k), path));
    return XB_OK;
}

static xb_status read_correlation(xb_ctx *ctx, xb_state_record *r, const json_t *o,
                                  const char *path)
{
    const json_t *list = NULL;
    if (!json_object_get(o, "correlation")) return XB_OK;
    XB_TRY(read_list(ctx, &list, o, path, "correlation", 1, XB_DEVICE_LAGS));
    r->lags = (int)json_array_size(list);
    XB_TRY(read_numbers(ctx, r->correlation, o, path, "correlation", (size_t)r->lags));
    for (int i = 0; i < r->lags; i++)
        if (!(fabs(r->correlation[i]) <= 1 + 1e-9))
            return xb_fail(ctx, XB_E_INPUT,
                           "%s: 'correlation': expected numbers from -1 to 1", path);
    return XB_OK;
}

/* A text shorter than `size`, if the key exists. */
static xb_status read_short(xb_ctx *ctx, char *out, size_t size, const json_t *o,
                            const char *path, const char *key)
{
    const json_t *text = json_object_get(o, key);
    if (!text) return XB_OK;
    if (!json_is_string(text) || json_string_length(text) >= size)
        return xb_fail(ctx, XB_E_INPUT, "%s: '%s': expected a short text", path, key);
    snprintf(out, size, "%s", json_string_value(text));
    return XB_OK;
}

/* The law of all states, checked as a law file is. */
static xb_status read_law(xb_ctx *ctx, xb_device *d, const json_t *root, const char *path)
{
    json_t *object = json_object_get(root, "law");
    xb_law *law = NULL;
    if (!object) return XB_OK;
    XB_TRY(xb_law_from_json(ctx, &law, object, path));
    xb_law_destroy(law);
    d->law = json_incref(object);
    return XB_OK;
}

static xb_status read_record(xb_ctx *ctx, xb_device *d, int64_t i, const json_t *o,
                             const char *path)
{
    static const char *const known[] = {
        "label",      "conductance", "width", "width_error", "independent",
        "interval_s", "correlation", "law",   "fits",        NULL};
    xb_state_record *r = &d->record[i];
    xb_device_trace *t = &r->trace;
    if (!json_is_object(o))
        return xb_fail(ctx, XB_E_INPUT, "%s: 'traces': expected objects", path);
    XB_TRY(xb_json_known_keys(ctx, o, path, known));
    XB_TRY(xb_json_number(ctx, &t->label, o, path, "label"));
    XB_TRY(xb_json_number(ctx, &t->conductance, o, path, "conductance"));
    XB_TRY(xb_json_number(ctx, &t->width, o, path, "width"));
    XB_TRY(xb_json_number(ctx, &t->width_error, o, path, "width_error"));
    XB_TRY(xb_json_number(ctx, &t->independent, o, path, "independent"));
    XB_TRY(xb_json_number_optional(ctx, &r->interval_s, o, path, "interval_s"));
    XB_TRY(read_correlation(ctx, r, o, path));
    XB_TRY(read_short(ctx, r->law, sizeof r->law, o, path, "law"));
    XB_TRY(read_short(ctx, r->fits, sizeof r->fits, o, path, "fits"));
    if (t->conductance < 0 ||
        (i > 0 && t->conductance <= d->record[i - 1].trace.conductance))
        return xb_fail(ctx, XB_E_INPUT,
                       "%s: trace %lld has a conductance of %g: expected ascending "
                       "conductances, 0 or more",
                       path, (long long)i + 1, t->conductance);
    if (!(t->width > 0) || t->width_error < 0 || t->independent < 0 || r->interval_s < 0)
        return xb_fail(ctx, XB_E_INPUT, "%s: a width of %g: expected more than 0", path,
                       t->width);
    return XB_OK;
}

static xb_status read_times(xb_ctx *ctx, xb_device *d, const json_t *root,
                            const char *path)
{
    XB_TRY(read_numbers(ctx, d->time, root, path, "times_s", (size_t)d->times));
    for (int64_t k = 0; k < d->times; k++)
        if (!(d->time[k] > (k ? d->time[k - 1] : 0)))
            return xb_fail(ctx, XB_E_INPUT,
                           "%s: 'times_s': expected ascending times above 0", path);
    double rank[XB_DEVICE_RANKS];
    XB_TRY(read_numbers(ctx, rank, root, path, "ranks", XB_DEVICE_RANKS));
    for (int i = 0; i < XB_DEVICE_RANKS; i++)
        if (fabs(rank[i] - xb_device_rank[i]) > 1e-12)
            return xb_fail(ctx, XB_E_INPUT, "%s: 'ranks' are not those of this version",
                           path);
    return XB_OK;
}

static xb_status read_texts(xb_ctx *ctx, xb_device *d, const json_t *root,
                            const char *path)
{
    const json_t *unit = json_object_get(root, "unit");
    const json_t *from = json_object_get(root, "provenance");
    const json_t *source = json_object_get(from, "source");
    if (!json_is_string(unit) || json_string_length(unit) >= sizeof d->unit)
        return xb_fail(ctx, XB_E_INPUT, "%s: 'unit': expected a short text", path);
    snprintf(d->unit, sizeof d->unit, "%s", json_string_value(unit));
    if (json_is_string(source))
        snprintf(d->source, sizeof d->source, "%.255s", json_string_value(source));
    return XB_OK;
}

static xb_status read_all(xb_ctx *ctx, xb_device *d, const json_t *root,
                          const json_t *states, const char *path)
{
    XB_TRY(read_texts(ctx, d, root, path));
    XB_TRY(read_times(ctx, d, root, path));
    const json_t *traces = json_object_get(root, "traces");
    for (int64_t i = 0; i < d->traces; i++)
        XB_TRY(read_record(ctx, d, i, json_array_get(traces, (size_t)i), path));
    XB_TRY(read_short(ctx, d->shapes, sizeof d->shapes, root, path, "shapes"));
    XB_TRY(xb_json_number_optional(ctx, &d->shapes_p, root, path, "shapes_p"));
    XB_TRY(read_law(ctx, d, root, path));
    XB_TRY(read_count(ctx, &d->cells, root, path, "cells"));
    XB_TRY(read_count(ctx, &d->states_left_out, root, path, "states_left_out"));
    XB_TRY(read_count(ctx, &d->cells_left_out, root, path, "cells_left_out"));
    for (int64_t s = 0; s < d->states; s++)
        XB_TRY(read_state(ctx, d, s, json_array_get(states, (size_t)s), path));
    return XB_OK;
}

static xb_status read_device(xb_ctx *ctx, xb_device **out, const json_t *root,
                             const char *path)
{
    static const char *const known[] = {
        "crossbayes", "unit",   "times_s",         "ranks",
        "states",     "cells",  "states_left_out", "cells_left_out",
        "provenance", "traces", "shapes",          "shapes_p",
        "law",        NULL};
    const json_t *kind = json_object_get(root, "crossbayes"), *states = NULL,
                 *times = NULL, *traces = json_object_get(root, "traces");
    if (!json_is_string(kind) || strcmp(json_string_value(kind), "device") != 0)
        return xb_fail(ctx, XB_E_INPUT,
                       "%s: not a device file (no \"crossbayes\": \"device\")", path);
    XB_TRY(xb_json_known_keys(ctx, root, path, known));
    if (traces)
        XB_TRY(read_list(ctx, &traces, root, path, "traces", 1, XB_DEVICE_STATES));
    const size_t least = traces ? 0 : 1; /* traces alone suffice */
    XB_TRY(read_list(ctx, &states, root, path, "states", least, XB_DEVICE_STATES));
    XB_TRY(read_list(ctx, &times, root, path, "times_s",
                     json_array_size(states) > 0 ? 1 : least, XB_DEVICE_TIMES));
    xb_device *d = NULL;
    XB_TRY(xb_device_new(ctx, &d, (int64_t)json_array_size(states),
                         (int64_t)json_array_size(times),
                         traces ? (int64_t)json_array_size(traces) : 0));
    xb_status status = read_all(ctx, d, root, states, path);
    if (status == XB_OK)
        *out = d;
    else
        xb_device_destroy(d);
    return status;
}

xb_status xb_device_load(xb_ctx *ctx, xb_device **out, const char *path)
{
    json_t *root = NULL;
    xb_status status = xb_json_load(ctx, &root, path);
    if (status == XB_OK) status = read_device(ctx, out, root, path);
    json_decref(root);
    return xb_filekind_explain(ctx, status, path, XB_KIND_DEVICE);
}
