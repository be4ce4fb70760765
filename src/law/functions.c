/* functions.c: a law from a caller's functions: a family like any other, whose row calls
 * them; functions that are missing are replaced by numerical ones (mass_table.c). The
 * caller's statements about its law are checked once, here, and later stages trust them;
 * maths L40-L42. */
#include "law/functions.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "law/mass_table.h"
#include "law/solve.h"

enum { NAME_MAX_BYTES = 31, BREAKS_MAX = 1024 };
static const double AGREE =
    1e-9; /* of what is given with what follows from the density */

typedef struct functions {
    xb_law_functions_options of;
    char name[NAME_MAX_BYTES + 1];
    xb_mass_table table;
} functions;

static const functions *of(const xb_law *law) { return law->data; }

void xb_law_functions_options_init(xb_law_functions_options *opt, size_t size)
{
    const xb_law_functions_options standard = {.lower = -INFINITY, .upper = INFINITY};
    xb_options_fill(opt, size, &standard, sizeof standard);
}

/* ---- the family's row */

static double pdf(const xb_law *law, double x)
{
    if (!(x >= law->lower && x <= law->upper)) return 0;
    const xb_law_functions_options *f = &of(law)->of;
    return f->pdf(f->arg, x);
}

static double log_pdf(const xb_law *law, double x)
{
    const xb_law_functions_options *f = &of(law)->of;
    if (!(x >= law->lower && x <= law->upper)) return -INFINITY;
    return f->log_pdf ? f->log_pdf(f->arg, x) : log(f->pdf(f->arg, x));
}

static double tail(const xb_law *law, double x, bool upper)
{
    const xb_law_functions_options *f = &of(law)->of;
    if (x <= law->lower) return upper ? 1 : 0;
    if (x >= law->upper) return upper ? 0 : 1;
    double (*given)(void *, double) = upper ? f->survival : f->cdf;
    if (given) return given(f->arg, x);
    if (f->symmetric && (upper ? f->cdf : f->survival))
        return (upper ? f->cdf : f->survival)(f->arg, -x);
    return xb_mass_table_tail(&of(law)->table, x, upper);
}

typedef struct wanted {
    const xb_law *law;
    double v;
    bool upper;
} wanted;

static double excess(const void *arg, double x, double *slope)
{
    const wanted *w = arg;
    double mass = tail(w->law, x, w->upper) - w->v;
    *slope = pdf(w->law, x);
    return w->upper ? -mass : mass;
}

/* A given cdf may differ from the table by rounding, so the bracket is a little wider
 * than the cell. */
static double solved(const xb_law *law, double v, bool upper)
{
    const wanted w = {law, v, upper};
    double from, to;
    xb_mass_table_bracket(&of(law)->table, v, upper, &from, &to);
    double more = 0.01 * (to - from);
    return xb_solve(excess, &w, fmax(law->lower, from - more),
                    fmin(law->upper, to + more), 0.5 * (from + to));
}

static xb_tail_point tail_quantile(const xb_law *law, double v, bool upper)
{
    const xb_law_functions_options *f = &of(law)->of;
    double (*given)(void *, double) = upper ? f->isf : f->quantile;
    double (*other)(void *, double) = upper ? f->quantile : f->isf;
    double x = given                   ? given(f->arg, v)
               : f->symmetric && other ? -other(f->arg, v)
                                       : solved(law, v, upper);
    x = fmin(fmax(x, law->lower), law->upper);
    return (xb_tail_point){x, upper ? law->upper - x : x - law->lower};
}

static int64_t panels(const xb_law *law, double *out, int64_t capacity)
{
    const xb_mass_table *t = &of(law)->table;
    for (int64_t j = 0; j <= t->cells && j < capacity; j++) out[j] = t->edge[j];
    return t->cells + 1;
}

static xb_status setup(xb_ctx *ctx, xb_law *law)
{
    (void)ctx;
    law->lower = of(law)->of.lower;
    law->upper = of(law)->of.upper;
    law->symmetric = of(law)->of.symmetric;
    return XB_OK;
}

static void release(xb_law *law)
{
    functions *f = law->data;
    if (!f) return;
    xb_mass_table_free(&f->table);
    if (f->of.destroy) f->of.destroy(f->of.arg);
}

static const xb_family family_functions = {
    .name = "functions",
    .about = "a law of the caller's own functions",
    .from_data = true,
    .no_file = true,
    .noise = 2e-13,
    .setup = setup,
    .release = release,
    .pdf = pdf,
    .log_pdf = log_pdf,
    .tail = tail,
    .tail_quantile = tail_quantile,
    .panels = panels,
};

/* ---- what a law must satisfy (L42) */

static xb_status check_given(xb_ctx *ctx, const char *name,
                             const xb_law_functions_options *f)
{
    size_t length = strlen(name);
    bool plain = length >= 1 && length <= NAME_MAX_BYTES;
    for (const char *p = name; *p; p++)
        plain &= isalnum((unsigned char)*p) || *p == '_' || *p == '-';
    if (!plain || xb_family_find(name))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "'%.60s' cannot name a law: expected 1 to %d letters, digits, '_'"
                       " or '-', and not a built-in family",
                       name, NAME_MAX_BYTES);
    if (!f->pdf) return xb_fail(ctx, XB_E_ARGUMENT, "law '%s' has no density", name);
    if (!(f->lower < f->upper) || (f->symmetric && f->lower != -f->upper))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "law '%s': the support is %g to %g, expected %s", name, f->lower,
                       f->upper,
                       f->symmetric ? "one that is symmetric about 0"
                                    : "a lower end below an upper one");
    if (f->n_breaks < 0 || f->n_breaks > BREAKS_MAX || (f->n_breaks > 0 && !f->breaks))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "law '%s': %lld break points, expected 0 to %d", name,
                       (long long)f->n_breaks, BREAKS_MAX);
    for (int64_t i = 0; i < f->n_breaks; i++)
        if (!(isfinite(f->breaks[i]) && f->breaks[i] > f->lower &&
              f->breaks[i] < f->upper && (i == 0 || f->breaks[i] > f->breaks[i - 1])))
            return xb_fail(ctx, XB_E_ARGUMENT,
                           "law '%s': break point %lld is %g, expected ascending points"
                           " inside the support",
                           name, (long long)i + 1, f->breaks[i]);
    return XB_OK;
}

static xb_status check_mass(xb_ctx *ctx, const functions *f)
{
    double mass = f->table.below[f->table.cells];
    if (fabs(mass - 1) <= AGREE) return XB_OK;
    return xb_fail(ctx, XB_E_INPUT,
                   "law '%s': the density integrates to %.12g, expected 1 within %g; a"
                   " narrow density needs break points where its mass is",
                   f->name, mass, AGREE);
}

/* If the support is infinite, the fourth moment must come from its inner part. */
static xb_status check_moments(xb_ctx *ctx, const functions *f)
{
    const double much = 1e-6;
    const bool open[2] = {isinf(f->of.lower), isinf(f->of.upper)};
    double outer, mean = xb_mass_table_moment(&f->table, 0, 1, open, &outer);
    double fourth = xb_mass_table_moment(&f->table, mean, 4, open, &outer);
    if (isfinite(mean) && isfinite(fourth) && outer <= much) return XB_OK;
    return xb_fail(ctx, XB_E_INPUT,
                   "law '%s' has no finite fourth moment: expected mean, variance and"
                   " kurtosis that are finite",
                   f->name);
}

static const double probes[] = {1e-6, 1e-3, 0.01, 0.1, 0.25, 0.4, 0.5};

static xb_status check_symmetry(xb_ctx *ctx, const xb_law *law)
{
    const functions *f = of(law);
    for (int i = 0; f->of.symmetric && i < XB_COUNT(probes); i++) {
        double x = fabs(solved(law, 0.999 * probes[i], false));
        double right = pdf(law, x), left = pdf(law, -x);
        if (!(fabs(right - left) <= AGREE * fmax(right, left)))
            return xb_fail(ctx, XB_E_INPUT,
                           "law '%s' is said to be symmetric, but its density is %.9g at"
                           " %g and %.9g at %g",
                           f->name, left, -x, right, x);
    }
    return XB_OK;
}

/* Compares given tails with the integral of the density at every edge of the table. */
static xb_status check_tail(xb_ctx *ctx, const xb_law *law, bool upper)
{
    const functions *f = of(law);
    const xb_mass_table *t = &f->table;
    double (*given)(void *, double) = upper ? f->of.survival : f->of.cdf;
    double before = upper ? 1 : 0;
    for (int64_t j = 1; given && j < t->cells; j++) {
        double mass = given(f->of.arg, t->edge[j]);
        double right = upper ? t->above[j] : t->below[j];
        if (!(upper ? mass <= before : mass >= before))
            return xb_fail(ctx, XB_E_INPUT, "law '%s': the %s is not monotone near %g",
                           f->name, upper ? "survival function" : "cdf", t->edge[j]);
        if (!(fabs(mass - right) <= AGREE))
            return xb_fail(ctx, XB_E_INPUT,
                           "law '%s': the %s at %g is %.12g, but the density integrates"
                           " to %.12g there",
                           f->name, upper ? "survival function" : "cdf", t->edge[j], mass,
                           right);
        before = mass;
    }
    return XB_OK;
}

static xb_status check_quantile(xb_ctx *ctx, const xb_law *law, bool upper)
{
    const functions *f = of(law);
    double (*given)(void *, double) = upper ? f->of.isf : f->of.quantile;
    for (int i = 0; given && i < XB_COUNT(probes); i++) {
        double x = given(f->of.arg, probes[i]), back = tail(law, x, upper);
        if (!(fabs(back - probes[i]) <= AGREE))
            return xb_fail(ctx, XB_E_INPUT,
                           "law '%s': the %s of %g is %.12g, where the mass %s is %.12g",
                           f->name, upper ? "isf" : "quantile", probes[i], x,
                           upper ? "above" : "below", back);
    }
    return XB_OK;
}

static xb_status check_law(xb_ctx *ctx, const xb_law *law)
{
    XB_TRY(check_symmetry(ctx, law));
    for (int upper = 0; upper < 2; upper++) {
        XB_TRY(check_tail(ctx, law, upper));
        XB_TRY(check_quantile(ctx, law, upper));
    }
    return XB_OK;
}

/* ---- making one */

static xb_status make_data(xb_ctx *ctx, functions *f, const char *name,
                           const xb_law_functions_options *given)
{
    f->of = *given;
    f->of.destroy = NULL; /* owned by the caller until everything has succeeded */
    snprintf(f->name, sizeof f->name, "%s", name);
    const xb_density_at density = {given->pdf, given->arg};
    XB_TRY(xb_mass_table_make(ctx, &f->table, name, density, given->lower, given->upper,
                              given->breaks, given->n_breaks));
    f->of.breaks = NULL, f->of.n_breaks = 0; /* the table has them */
    XB_TRY(check_mass(ctx, f));
    return check_moments(ctx, f);
}

xb_status xb_law_from_functions(xb_ctx *ctx, xb_law **out, const char *name,
                                const xb_law_functions_options *given)
{
    xb_law_functions_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, law_functions, &chosen, given, destroy));
    XB_TRY(check_given(ctx, name, &chosen));
    xb_law *law = xb_new(ctx, 1, sizeof *law);
    functions *f = law ? xb_new(ctx, 1, sizeof *f) : NULL;
    if (!f) {
        free(law);
        return XB_E_MEMORY;
    }
    law->family = &family_functions;
    law->data = f;
    xb_status status = make_data(ctx, f, name, &chosen);
    if (status != XB_OK) {
        xb_law_destroy(law);
        return status;
    }
    XB_TRY(xb_law_finish(ctx, &law, law));
    status = check_law(ctx, law);
    if (status != XB_OK) {
        xb_law_destroy(law);
        return status;
    }
    snprintf(law->text, sizeof law->text, "%s", name);
    f->of.destroy = chosen.destroy;
    *out = law;
    return XB_OK;
}

xb_status xb_law_check_file(xb_ctx *ctx, const xb_law *law)
{
    if (!law->family->no_file) return XB_OK;
    return xb_fail(
        ctx, XB_E_ARGUMENT,
        "law '%s' is made of a program's functions and cannot be written to a file",
        law->text);
}
