/* law.c: the public functions of a law; start reading here. Every call looks up the
 * family's row (families.c) and does the part that is the same for all families.
 * lawtext.c makes laws from text, lawfile.c from files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/number.h"
#include "law/family.h"
#include "law/grid.h"

int64_t xb_law_family_count(void) { return xb_families_count; }
const char *xb_law_family_name(int64_t i) { return xb_families[i]->name; }
const char *xb_law_family_about(int64_t i) { return xb_families[i]->about; }

int64_t xb_law_family_find(const char *name)
{
    for (int i = 0; i < xb_families_count; i++)
        if (strcmp(xb_families[i]->name, name) == 0) return i;
    return -1;
}

const xb_family *xb_family_find(const char *name)
{
    int64_t i = xb_law_family_find(name);
    return i < 0 ? NULL : xb_families[i];
}

static void write_text(xb_law *law)
{
    if (law->family->write_text) {
        law->family->write_text(law, law->text, sizeof law->text);
        return;
    }
    size_t used = (size_t)snprintf(law->text, sizeof law->text, "%s", law->family->name);
    for (int i = 0; i < law->family->n_param && used < sizeof law->text; i++) {
        char number[XB_NUMBER_TEXT_MAX];
        xb_number_digits(number, law->param[i], XB_LAW_TEXT_DIGITS);
        used += (size_t)snprintf(law->text + used, sizeof law->text - used, "%c%s=%s",
                                 i ? ',' : ':', law->family->param[i].name, number);
    }
}

xb_status xb_law_finish(xb_ctx *ctx, xb_law **out, xb_law *law)
{
    if (law->place.scale == 0) law->place.scale = 1;
    xb_status status = law->family->setup(ctx, law);
    if (status == XB_OK) status = xb_law_integrals(ctx, law);
    if (status != XB_OK) {
        xb_law_destroy(law);
        return status;
    }
    write_text(law);
    *out = law;
    return XB_OK;
}

xb_status xb_law_create(xb_ctx *ctx, xb_law **out, const char *family,
                        const double *values, int64_t count)
{
    const xb_family *row = xb_family_find(family);
    if (!row || row->from_data)
        return xb_fail(ctx, XB_E_ARGUMENT, "'%s' is not a family made from parameters",
                       family);
    if (row->create) return row->create(ctx, out, values, count);
    if (count != row->n_param)
        return xb_fail(ctx, XB_E_ARGUMENT, "%s takes %d %s, got %lld", family,
                       row->n_param, xb_plural(row->n_param, "parameter", "parameters"),
                       (long long)count);
    for (int i = 0; i < count; i++) {
        const xb_param_info *info = &row->param[i];
        if (!(values[i] >= info->min && values[i] <= info->max))
            return xb_fail(ctx, XB_E_INPUT, "%s: %s = %g, expected %g to %g", family,
                           info->name, values[i], info->min, info->max);
    }
    xb_law *law = xb_new(ctx, 1, sizeof *law);
    if (!law) return XB_E_MEMORY;
    law->family = row;
    for (int i = 0; i < count; i++) law->param[i] = values[i];
    return xb_law_finish(ctx, out, law);
}

xb_law *xb_law_share(const xb_law *law)
{
    xb_law *shared = (xb_law *)(uintptr_t)law; /* only the number of owners changes */
    atomic_fetch_add(&shared->extra_owners, 1);
    return shared;
}

void xb_law_destroy(xb_law *law)
{
    if (!law || atomic_fetch_sub(&law->extra_owners, 1) > 0) return;
    if (law->family->release) law->family->release(law);
    free(law->data);
    free(law);
}

const char *xb_law_text(const xb_law *law) { return law->text; }
const char *xb_law_family(const xb_law *law) { return law->family->name; }
int64_t xb_law_param_count(const xb_law *law) { return law->family->n_param; }
const char *xb_law_param_name(const xb_law *law, int64_t i)
{
    return law->family->param[i].name;
}
double xb_law_param_value(const xb_law *law, int64_t i) { return law->param[i]; }

int64_t xb_law_param_find(const xb_law *law, const char *name)
{
    for (int i = 0; i < law->family->n_param; i++)
        if (strcmp(law->family->param[i].name, name) == 0) return i;
    return -1;
}

double xb_law_number(const xb_law *law, const char *name)
{
    int64_t i = xb_law_param_find(law, name);
    if (i >= 0) return law->param[i];
    return law->family->named ? law->family->named(law, name) : NAN;
}

double xb_law_pdf(const xb_law *law, double x) { return law->family->pdf(law, x); }
double xb_law_log_pdf(const xb_law *law, double x)
{
    return law->family->log_pdf(law, x);
}
double xb_law_cdf(const xb_law *law, double x)
{
    return law->family->tail(law, x, false);
}
double xb_law_survival(const xb_law *law, double x)
{
    return law->family->tail(law, x, true);
}

/* Any mass in [0, 1] on one side, as the tail mass of the nearer side. */
static xb_tail_point point_at(const xb_law *law, double mass, bool upper)
{
    if (!(mass >= 0 && mass <= 1)) return (xb_tail_point){NAN, NAN};
    if (mass > 0.5) {
        mass = 1 - mass; /* exact */
        upper = !upper;
    }
    if (mass == 0) {
        double edge = upper ? law->upper : law->lower;
        return (xb_tail_point){edge, isfinite(edge) ? 0 : INFINITY};
    }
    return law->family->tail_quantile(law, mass, upper);
}

double xb_law_quantile(const xb_law *law, double u) { return point_at(law, u, false).x; }
double xb_law_isf(const xb_law *law, double v) { return point_at(law, v, true).x; }

static double edge_distance(const xb_law *law, double mass, bool upper)
{
    if (!(mass >= 0 && mass <= 1)) return NAN;
    xb_tail_point p = point_at(law, mass, upper);
    if (mass <= 0.5) return p.from_edge;
    return upper ? law->upper - p.x : p.x - law->lower; /* the far edge */
}

double xb_law_quantile_from_edge(const xb_law *law, double v)
{
    return edge_distance(law, v, false);
}
double xb_law_isf_from_edge(const xb_law *law, double v)
{
    return edge_distance(law, v, true);
}

xb_moments xb_law_moments(const xb_law *law) { return law->moments; }
double xb_law_mean(const xb_law *law) { return law->moments.mean; }
double xb_law_sd(const xb_law *law) { return law->sd; }
double xb_law_entropy(const xb_law *law) { return law->entropy; }

double xb_law_kl_gaussian(const xb_law *law)
{
    const double rounding = 4e-15; /* of two numbers of size 1 to 10 */
    double kl =
        0.5 * (1 + log(2 * M_PI * law->moments.variance)) - law->entropy; /* (L11) */
    return fabs(kl) < rounding ? 0 : kl;
}

double xb_law_lower(const xb_law *law) { return law->lower; }
double xb_law_upper(const xb_law *law) { return law->upper; }
bool xb_law_is_gaussian(const xb_law *law) { return law->family->normal; }
bool xb_law_is_symmetric(const xb_law *law) { return law->symmetric; }

int64_t xb_law_panels(const xb_law *law, double *out, int64_t capacity)
{
    return law->family->panels(law, out, capacity);
}

int64_t xb_panel_add(double *out, int64_t capacity, int64_t count, double x)
{
    if (count < capacity) out[count] = x;
    return count + 1;
}

xb_law_place xb_law_placement(const xb_law *law) { return law->place; }

void xb_law_set_place(xb_law *law, double offset, double scale, const char *unit)
{
    law->place.offset = offset;
    law->place.scale = scale;
    snprintf(law->place.unit, sizeof law->place.unit, "%s", unit ? unit : "");
}
