/* lawfile.c: reading and writing law files. Nothing in a file is trusted: known keys
 * only, finite numbers in range, A agreeing with B and C, and (empirical) a spline that
 * integrates to one. */
#include "law/lawfile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/filekind.h"
#include "law/device.h"
#include "law/functions.h"

enum { KEYS_MAX = 64 };

static void add_keys(const char *known[KEYS_MAX], const char *const *more)
{
    int n = 0;
    while (known[n]) n++;
    while (more && *more && n + 1 < KEYS_MAX) known[n++] = *more++;
    known[n] = NULL;
}

/* Keys that any family of the table may have are accepted; those of other families are
 * ignored. */
static void find_keys(const char *known[KEYS_MAX])
{
    static const char *const all[] = {"crossbayes", "family", "offset",     "scale",
                                      "unit",       "fit",    "provenance", "series",
                                      "whole",      NULL};
    static const char *const device[] = {"A", "C", NULL};
    known[0] = NULL;
    add_keys(known, all);
    for (int i = 0; i < xb_families_count; i++) {
        const xb_family *f = xb_families[i];
        const char *own[XB_LAW_PARAMS + 1] = {NULL};
        for (int k = 0; k < f->n_param; k++) own[k] = f->param[k].name;
        add_keys(known, own);
        add_keys(known, f->data_keys);
        if (f->peak) add_keys(known, device);
    }
}

json_t *xb_provenance(const xb_ctx *ctx)
{
    json_t *p = json_object();
    xb_json_set(&p, "version", xb_json_string(xb_version()));
    xb_json_set(&p, "command", xb_json_string(xb_ctx_origin(ctx)));
    return p;
}

/* The part of a fit's "series" that goes wherever the law goes. */
static json_t *trace_json(const xb_law_trace *trace)
{
    json_t *series = json_object();
    if (isfinite(trace->independent))
        xb_json_set(&series, "independent_samples", json_real(trace->independent));
    xb_json_set(&series, "correlation_time", json_real(trace->memory));
    if (*trace->usable) xb_json_set(&series, "usable", xb_json_string(trace->usable));
    return series;
}

json_t *xb_law_to_json(const xb_law *law)
{
    json_t *root = json_object();
    xb_json_set(&root, "crossbayes", xb_json_string("law"));
    xb_json_set(&root, "family", xb_json_string(law->family->name));
    if (law->family->peak) {
        xb_json_set(&root, "A", json_real(law->k[XB_DEVICE_A]));
        xb_json_set(&root, "C", json_real(law->k[XB_DEVICE_C]));
    }
    for (int i = 0; i < law->family->n_param; i++)
        xb_json_set(&root, law->family->param[i].name, json_real(law->param[i]));
    if (law->family->write_data) law->family->write_data(law, &root);
    xb_json_set(&root, "offset", json_real(law->place.offset));
    xb_json_set(&root, "scale", json_real(law->place.scale));
    xb_json_set(&root, "unit", xb_json_string(law->place.unit));
    if (law->trace.known) xb_json_set(&root, "series", trace_json(&law->trace));
    return root;
}

xb_status xb_law_save(xb_ctx *ctx, const xb_law *law, const char *path)
{
    XB_TRY(xb_law_check_file(ctx, law));
    json_t *root = xb_law_to_json(law);
    xb_json_set(&root, "provenance", xb_provenance(ctx));
    xb_status status = xb_json_save(ctx, root, path);
    json_decref(root);
    return status;
}

xb_status xb_law_json(xb_ctx *ctx, char **out, const xb_law *law)
{
    XB_TRY(xb_law_check_file(ctx, law));
    json_t *root = xb_law_to_json(law);
    xb_status status = xb_json_text(ctx, out, root);
    json_decref(root);
    return status;
}

/* The error from making the law, with the file's name before it. */
static xb_status create_law(xb_ctx *ctx, xb_law **out, const xb_family *family,
                            const double *value, const char *path)
{
    xb_status status = xb_law_create(ctx, out, family->name, value, family->n_param);
    return status == XB_OK ? status
                           : xb_fail(ctx, status, "%s: %s", path, xb_ctx_message(ctx));
}

/* The device families may be written as (B, w) or as the paper's (A, B, C). */
static xb_status read_device(xb_ctx *ctx, xb_law **out, const xb_family *family,
                             const json_t *root, const char *path)
{
    double a = NAN, c = NAN, value[XB_LAW_PARAMS] = {NAN, NAN};
    XB_TRY(xb_json_number(ctx, &value[XB_DEVICE_B], root, path, "B"));
    XB_TRY(xb_json_number_optional(ctx, &value[XB_DEVICE_W], root, path, "w"));
    XB_TRY(xb_json_number_optional(ctx, &a, root, path, "A"));
    XB_TRY(xb_json_number_optional(ctx, &c, root, path, "C"));
    if (a < 0) return xb_fail(ctx, XB_E_INPUT, "%s: A = %g, expected 0 or more", path, a);
    if (isnan(value[XB_DEVICE_W])) {
        if (isnan(a) || isnan(c))
            return xb_fail(ctx, XB_E_INPUT, "%s: expected 'w', or both 'A' and 'C'",
                           path);
        XB_TRY(xb_device_w_from_ac(ctx, &value[XB_DEVICE_W], path, a, c));
    } else if (!isnan(c) && !(fabs(c - 0.75 * (1 - value[XB_DEVICE_W])) <= 1e-9)) {
        return xb_fail(ctx, XB_E_INPUT, "%s: C = %g and w = %g do not agree", path, c,
                       value[XB_DEVICE_W]);
    }
    xb_law *law = NULL;
    XB_TRY(create_law(ctx, &law, family, value, path));
    xb_status status = isnan(a) ? XB_OK : xb_device_check_a(ctx, law, path, a);
    if (status == XB_OK)
        *out = law;
    else
        xb_law_destroy(law);
    return status;
}

static xb_status read_parameters(xb_ctx *ctx, xb_law **out, const xb_family *family,
                                 const json_t *root, const char *path)
{
    if (family->peak) return read_device(ctx, out, family, root, path);
    if (family->read_data) return family->read_data(ctx, out, root, path);
    double value[XB_LAW_PARAMS] = {0};
    for (int i = 0; i < family->n_param; i++)
        XB_TRY(xb_json_number(ctx, &value[i], root, path, family->param[i].name));
    return create_law(ctx, out, family, value, path);
}

bool xb_law_unit_valid(const char *unit)
{
    if (strlen(unit) >= sizeof((xb_law_place *)NULL)->unit) return false;
    for (; *unit; unit++)
        if ((unsigned char)*unit < ' ' || *unit == 127) return false;
    return true;
}

static xb_status read_place(xb_ctx *ctx, xb_law *law, const json_t *root,
                            const char *path)
{
    double offset = 0, scale = 1;
    XB_TRY(xb_json_number_optional(ctx, &offset, root, path, "offset"));
    XB_TRY(xb_json_number_optional(ctx, &scale, root, path, "scale"));
    if (!(scale > 0))
        return xb_fail(ctx, XB_E_INPUT, "%s: scale = %g, expected more than 0", path,
                       scale);
    const json_t *given = json_object_get(root, "unit");
    const char *unit = given ? json_string_value(given) : ""; /* NULL: no text */
    if (!unit || !xb_law_unit_valid(unit))
        return xb_fail(ctx, XB_E_INPUT, "%s: 'unit' is not a short text", path);
    xb_law_set_place(law, offset, scale, unit);
    return XB_OK;
}

/* Reads what users of the law should know about the trace behind it. The rest of "series"
 * is for people and programs that read the file. */
static xb_status read_trace(xb_ctx *ctx, xb_law *law, const json_t *root,
                            const char *path)
{
    const json_t *series = json_object_get(root, "series");
    xb_law_trace t = {.known = true, .independent = INFINITY, .memory = 1};
    if (!series) return XB_OK;
    if (!json_is_object(series))
        return xb_fail(ctx, XB_E_INPUT, "%s: 'series' is not an object", path);
    XB_TRY(xb_json_number_optional(ctx, &t.independent, series, path,
                                   "independent_samples"));
    XB_TRY(xb_json_number_optional(ctx, &t.memory, series, path, "correlation_time"));
    const char *usable = json_string_value(json_object_get(series, "usable"));
    if (usable && xb_law_unit_valid(usable)) /* nothing that moves a cursor */
        snprintf(t.usable, sizeof t.usable, "%s", usable);
    law->trace = t;
    return XB_OK;
}

static xb_status unknown_family(xb_ctx *ctx, const char *path)
{
    char known[256] = "";
    size_t used = 0;
    for (int i = 0; i < xb_law_family_count() && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                 xb_law_family_name(i));
    return xb_fail(ctx, XB_E_INPUT, "%s: 'family' is not one of %s", path, known);
}

xb_status xb_law_from_json(xb_ctx *ctx, xb_law **out, const json_t *root,
                           const char *path)
{
    const json_t *kind = json_object_get(root, "crossbayes");
    if (!json_is_string(kind) || strcmp(json_string_value(kind), "law") != 0)
        return xb_fail(ctx, XB_E_INPUT, "%s: not a law file (no \"crossbayes\": \"law\")",
                       path);
    const char *known[KEYS_MAX];
    find_keys(known);
    XB_TRY(xb_json_known_keys(ctx, root, path, known));
    const json_t *name = json_object_get(root, "family");
    const xb_family *family =
        json_is_string(name) ? xb_family_find(json_string_value(name)) : NULL;
    if (!family) return unknown_family(ctx, path);
    xb_law *law = NULL;
    XB_TRY(read_parameters(ctx, &law, family, root, path));
    xb_status status = read_place(ctx, law, root, path);
    if (status == XB_OK) status = read_trace(ctx, law, root, path);
    if (status == XB_OK)
        *out = law;
    else
        xb_law_destroy(law);
    return status;
}

void xb_law_warn(xb_ctx *ctx, const xb_law *law, const char *path)
{
    const double few = 50, correlated = 2; /* samples */
    const xb_law_trace *t = &law->trace;
    if (!t->known || !(t->memory > correlated)) return;
    if (t->independent < few)
        xb_notice_tell(ctx,
                       "%s: this law is known from only %.1f independent samples: its"
                       " shape is uncertain",
                       path, t->independent);
    if (*t->usable && strcmp(t->usable, "usable") != 0)
        xb_notice_tell(ctx,
                       "%s: successive reads of this device are not independent draws"
                       " (%s)",
                       path, t->usable);
}

/* A device file contains the law of its read noise if its states agree on one. */
static xb_status law_inside(xb_ctx *ctx, const json_t **law, const json_t *root,
                            const char *path)
{
    const char *kind = json_string_value(json_object_get(root, "crossbayes"));
    *law = root;
    if (!kind || strcmp(kind, "device") != 0) return XB_OK;
    *law = json_object_get(root, "law");
    if (*law) return XB_OK;
    return xb_fail(
        ctx, XB_E_INPUT,
        "%s: this device file has no law of its read noise: it was made without"
        " traces, or its states have different laws",
        path);
}

xb_status xb_law_load(xb_ctx *ctx, xb_law **out, const char *path)
{
    json_t *root = NULL;
    const json_t *inside = NULL;
    xb_law *law = NULL;
    xb_status status = xb_json_load(ctx, &root, path);
    const bool bare = status == XB_OK && law_inside(ctx, &inside, root, path) != XB_OK;
    if (bare) { /* checked already: it is a device file, which is allowed */
        json_decref(root);
        return XB_E_INPUT;
    }
    if (status == XB_OK) status = xb_law_from_json(ctx, &law, inside, path);
    if (law) xb_law_warn(ctx, law, path);
    if (status == XB_OK)
        *out = law;
    else
        xb_law_destroy(law);
    json_decref(root);
    return xb_filekind_explain(ctx, status, path, XB_KIND_LAW);
}
