/* lawtext.c: parses LAW as users write it: "mtj:B=0.15,w=0.5", or the path of a law file.
 * A text that is not a family's name must be an existing file. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/os.h"
#include "data/settings.h"
#include "law/device.h"
#include "law/family.h"

enum { A = XB_LAW_PARAMS, C, SLOTS }; /* after the family's own parameters */

typedef struct law_reading {
    xb_ctx *ctx;
    const char *text; /* the whole, for messages */
    const xb_family *family;
    double value[SLOTS]; /* NAN: not given */
} law_reading;

xb_status xb_device_w_from_ac(xb_ctx *ctx, double *w, const char *what, double a,
                              double c)
{
    /* (L2) C = 3/4 (1 - w); A only has to agree, which the caller checks. */
    if (a < 0) return xb_fail(ctx, XB_E_INPUT, "%s: A = %g, expected 0 or more", what, a);
    if (!(c >= 0 && c <= 0.75))
        return xb_fail(ctx, XB_E_INPUT, "%s: C = %g, expected 0 to 0.75", what, c);
    *w = 1 - c / 0.75;
    return XB_OK;
}

xb_status xb_device_check_a(xb_ctx *ctx, const xb_law *law, const char *what, double a)
{
    const double tolerance = 1e-6; /* A comes from a person or a printed table */
    double right = law->k[XB_DEVICE_A];
    if (fabs(a - right) <= tolerance * fmax(right, 1)) return XB_OK;
    return xb_fail(ctx, XB_E_INPUT,
                   "%s: A = %.9g does not make the density integrate to one"
                   " with these B and C (A = %.9g would)",
                   what, a, right);
}

/* w from C, if a text gives the paper's (A, B, C). */
static xb_status settle_w(law_reading *r, const char *what)
{
    double *w = &r->value[XB_DEVICE_W], a = r->value[A], c = r->value[C], by_c;
    if (!isnan(a) && isnan(c) && isnan(*w))
        return xb_fail(r->ctx, XB_E_INPUT, "%s: A needs C (or give w instead)", what);
    if (isnan(c)) return XB_OK;
    XB_TRY(xb_device_w_from_ac(r->ctx, &by_c, what, isnan(a) ? 0 : a, c));
    if (!isnan(*w) && fabs(by_c - *w) > 1e-9)
        return xb_fail(r->ctx, XB_E_INPUT, "%s: C and w do not agree", what);
    *w = by_c;
    return XB_OK;
}

static xb_status finish_reading(law_reading *r, xb_law **out)
{
    char what[160];
    snprintf(what, sizeof what, "law '%.120s'", r->text);
    if (r->family->peak) XB_TRY(settle_w(r, what));
    for (int i = 0; i < r->family->n_param; i++)
        if (isnan(r->value[i])) r->value[i] = r->family->param[i].standard;
    xb_law *law = NULL;
    XB_TRY(xb_law_create(r->ctx, &law, r->family->name, r->value, r->family->n_param));
    xb_status status =
        isnan(r->value[A]) ? XB_OK : xb_device_check_a(r->ctx, law, what, r->value[A]);
    if (status == XB_OK)
        *out = law;
    else
        xb_law_destroy(law);
    return status;
}

/* Ranges are checked when the law is made. */
static xb_status read_settings(law_reading *r, const char *settings)
{
    xb_setting all[SLOTS];
    int n = 0;
    for (int i = 0; i < SLOTS; i++) r->value[i] = NAN;
    for (int i = 0; i < r->family->n_param; i++)
        all[n++] =
            (xb_setting){r->family->param[i].name, &r->value[i], -INFINITY, INFINITY};
    if (r->family->peak) {
        all[n++] = (xb_setting){"A", &r->value[A], -INFINITY, INFINITY};
        all[n++] = (xb_setting){"C", &r->value[C], -INFINITY, INFINITY};
    }
    return xb_settings_read(r->ctx, "law", r->text, settings, all, n);
}

enum { FAMILIES_MAX = 16 };

static xb_status no_such_law(xb_ctx *ctx, const char *text, const char *name)
{
    const char *names[FAMILIES_MAX];
    int count = 0;
    for (; count < xb_law_family_count() && count < FAMILIES_MAX; count++)
        names[count] = xb_law_family_name(count);
    int near = xb_nearest(name, names, count);
    if (strpbrk(name, "./")) /* a path */
        return xb_fail(ctx, XB_E_INPUT, "%s: no such law file", text);
    if (near >= 0)
        return xb_fail(ctx, XB_E_INPUT, "unknown law '%s', did you mean '%s'?", text,
                       names[near]);
    return xb_fail(ctx, XB_E_INPUT,
                   "'%s' is neither a law (gaussian, mtj:B=0.15,w=0.5, bimodal:m=0.9, "
                   "student:nu=5, ...) nor an existing law file",
                   text);
}

xb_status xb_law_parse(xb_ctx *ctx, xb_law **out, const char *text)
{
    size_t length = strcspn(text, ":");
    char name[32] = "";
    if (length < sizeof name) memcpy(name, text, length);
    const xb_family *family = xb_family_find(name);
    if (!family) {
        if (xb_os_exists(text)) return xb_law_load(ctx, out, text);
        return no_such_law(ctx, text, name);
    }
    if (family->from_data)
        return xb_fail(ctx, XB_E_INPUT,
                       "law '%s': '%s' is made from samples: give the law file"
                       " that `crossbayes fit` wrote",
                       text, family->name);
    law_reading r = {.ctx = ctx, .text = text, .family = family};
    const char *settings = text[length] == ':' ? text + length + 1 : "";
    if (family->read_text) return family->read_text(ctx, out, text, settings);
    XB_TRY(read_settings(&r, settings));
    return finish_reading(&r, out);
}
