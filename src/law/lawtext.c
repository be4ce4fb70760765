/* lawtext.c: LAW as people write it: "mtj:B=0.15,w=0.5", or the path of a law
 * file. What is not a family's name must be a file that is there. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "law/device.h"
#include "law/family.h"

typedef struct law_reading {
    xb_ctx *ctx;
    const char *text; /* the whole, for messages */
    const xb_family *family;
    double value[XB_LAW_PARAMS];
    bool given[XB_LAW_PARAMS];
    double a, c; /* NAN: not given */
} law_reading;

static int param_index(const xb_family *family, const char *name)
{
    for (int i = 0; i < family->n_param; i++)
        if (strcmp(family->param[i].name, name) == 0) return i;
    return -1;
}

static xb_status no_such_param(const law_reading *r, const char *name)
{
    char known[64] = "none";
    for (int j = 0, used = 0; j < r->family->n_param; j++)
        used += snprintf(known + used, sizeof known - (size_t)used, "%s%s", j ? ", " : "",
                         r->family->param[j].name);
    return xb_fail(r->ctx, XB_E_INPUT, "law '%s': no parameter '%s' (%s has: %s)",
                   r->text, name, r->family->name, known);
}

/* Where the value of this name goes: a parameter, A or C; NULL: nowhere. `given` says
 * whether one is there already, and is set. */
static double *find_slot(law_reading *r, const char *name, bool *given)
{
    int i = param_index(r->family, name);
    double *slot = i >= 0 ? &r->value[i] : NULL;
    if (!slot && r->family->peak && strcmp(name, "A") == 0) slot = &r->a;
    if (!slot && r->family->peak && strcmp(name, "C") == 0) slot = &r->c;
    *given = i >= 0 ? r->given[i] : slot && !isnan(*slot);
    if (i >= 0) r->given[i] = true;
    return slot;
}

/* One "name=value", cut out of the text. */
static xb_status read_setting(law_reading *r, char *setting)
{
    char *equals = strchr(setting, '=');
    if (!equals)
        return xb_fail(r->ctx, XB_E_INPUT, "law '%s': '%s' is not NAME=VALUE", r->text,
                       setting);
    *equals = '\0';
    char *end = NULL;
    double value = strtod(equals + 1, &end);
    if (end == equals + 1 || *end || !isfinite(value))
        return xb_fail(r->ctx, XB_E_INPUT, "law '%s': %s is not a number: '%s'", r->text,
                       setting, equals + 1);
    bool given = false;
    double *slot = find_slot(r, setting, &given);
    if (!slot) return no_such_param(r, setting);
    if (given)
        return xb_fail(r->ctx, XB_E_INPUT, "law '%s': %s is given twice", r->text,
                       setting);
    *slot = value;
    return XB_OK;
}

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

static xb_status finish_reading(law_reading *r, xb_law **out)
{
    for (int i = 0; i < r->family->n_param; i++)
        if (!r->given[i]) r->value[i] = r->family->param[i].standard;
    char what[160];
    snprintf(what, sizeof what, "law '%.120s'", r->text);
    if (!isnan(r->a) && isnan(r->c) && !r->given[XB_DEVICE_W])
        return xb_fail(r->ctx, XB_E_INPUT, "%s: A goes with C (or give w instead)", what);
    if (!isnan(r->c)) {
        double w;
        XB_TRY(xb_device_w_from_ac(r->ctx, &w, what, isnan(r->a) ? 0 : r->a, r->c));
        if (r->given[XB_DEVICE_W] && fabs(w - r->value[XB_DEVICE_W]) > 1e-9)
            return xb_fail(r->ctx, XB_E_INPUT, "%s: C and w do not agree", what);
        r->value[XB_DEVICE_W] = w;
    }
    xb_law *law = NULL;
    XB_TRY(xb_law_create(r->ctx, &law, r->family->name, r->value, r->family->n_param));
    if (!isnan(r->a)) {
        xb_status status = xb_device_check_a(r->ctx, law, what, r->a);
        if (status != XB_OK) {
            xb_law_destroy(law);
            return status;
        }
    }
    *out = law;
    return XB_OK;
}

static xb_status read_settings(law_reading *r, char *settings)
{
    char *rest = settings;
    for (char *one = strsep(&rest, ","); one; one = strsep(&rest, ","))
        XB_TRY(read_setting(r, one));
    return XB_OK;
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
        return xb_fail(ctx, XB_E_INPUT, "%s: there is no such law file", text);
    if (near >= 0)
        return xb_fail(ctx, XB_E_INPUT, "no law '%s', did you mean '%s'?", text,
                       names[near]);
    return xb_fail(ctx, XB_E_INPUT,
                   "'%s' is neither a law (gaussian, mtj:B=0.15,w=0.5,"
                   " ecram:B=0.1,w=0.6, bimodal:m=0.9) nor a law file that is there",
                   text);
}

xb_status xb_law_parse(xb_ctx *ctx, xb_law **out, const char *text)
{
    size_t length = strcspn(text, ":");
    char name[32] = "";
    if (length < sizeof name) memcpy(name, text, length);
    const xb_family *family = xb_family_find(name);
    if (!family) {
        if (access(text, F_OK) == 0) return xb_law_load(ctx, out, text);
        return no_such_law(ctx, text, name);
    }
    if (family->from_data)
        return xb_fail(ctx, XB_E_INPUT,
                       "law '%s': '%s' is made from samples: give the law file"
                       " that `crossbayes fit` wrote",
                       text, family->name);
    law_reading r = {.ctx = ctx, .text = text, .family = family, .a = NAN, .c = NAN};
    if (text[length] == ':' && text[length + 1]) {
        char *settings = strdup(text + length + 1);
        if (!settings) return xb_fail(ctx, XB_E_MEMORY, "not enough memory");
        xb_status status = read_settings(&r, settings);
        free(settings);
        XB_TRY(status);
    }
    return finish_reading(&r, out);
}
