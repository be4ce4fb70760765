/* fit.c: the driver from samples to laws: checks and sorts the sample, measures its
 * autocorrelation, fits every requested family, measures how well each fits, and leaves
 * the choice to fit_choice.c. maths F1-F14. */
#include "fit/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "fit/fit_family.h"
#include "fit/goodness.h"
#include "law/lawfile.h"
#include "fit/shape_test.h"
#include "fit/spline_fit.h"
#include "series/series.h"

void xb_fit_options_init(xb_fit_options *opt, size_t size)
{
    const xb_fit_options standard = {.adam_rate = 1e-3, .level = 0.01};
    xb_options_fill(opt, size, &standard, sizeof standard);
}

void xb_fit_name(xb_fit_family *out, const char *name, double value, double std_error)
{
    int i = out->n_named++;
    snprintf(out->name[i], sizeof out->name[i], "%s", name);
    out->value[i] = value;
    out->std_error[i] = isfinite(std_error) && std_error > 0 ? std_error : NAN;
}

static xb_status check_options(xb_ctx *ctx, const xb_fit_options *opt)
{
    if (opt->family && !xb_family_find(opt->family)) {
        char known[128] = "";
        for (int i = 0; i < xb_law_family_count(); i++) {
            size_t used = strlen(known);
            snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                     xb_law_family_name(i));
        }
        return xb_fail(ctx, XB_E_INPUT, "unknown family '%s': expected one of %s",
                       opt->family, known);
    }
    if (!(opt->fixed_scale >= 0) || !isfinite(opt->fixed_scale))
        return xb_fail(ctx, XB_E_INPUT, "scale %g: expected more than 0",
                       opt->fixed_scale);
    if (opt->has_fixed_offset && !isfinite(opt->fixed_offset))
        return xb_fail(ctx, XB_E_INPUT, "offset %g: expected a finite number",
                       opt->fixed_offset);
    if (!(opt->level > 0 && opt->level < 1))
        return xb_fail(ctx, XB_E_INPUT, "level %g: expected between 0 and 1", opt->level);
    if (opt->optimiser == XB_OPTIMISER_ADAM &&
        !(opt->adam_rate > 0 && opt->adam_rate < 1))
        return xb_fail(ctx, XB_E_INPUT, "rate %g: expected between 0 and 1",
                       opt->adam_rate);
    if (opt->unit && !xb_law_unit_valid(opt->unit))
        return xb_fail(ctx, XB_E_INPUT, "the unit '%s' is too long, or not printable",
                       opt->unit);
    return XB_OK;
}

/* What all families of a fit share. */
typedef struct run {
    xb_ctx *ctx;
    xb_fit *fit;
    xb_fit_task task;
    double *spread; /* (F1) the sample that goodness of fit is tested with; NULL: the
                       sample itself */
} run;

static xb_status fit_empirical(run *r, xb_fit_family *out, xb_law **law,
                               double *judged_by)
{
    xb_spline_report report;
    XB_TRY(xb_spline_fit(r->ctx, law, &report, r->task.sample));
    xb_fit_name(out, "scale", (*law)->place.scale, NAN);
    xb_fit_name(out, "offset", (*law)->place.offset, NAN);
    out->n_param = (int)report.cells;
    out->converged = true;
    out->log_likelihood = report.log_likelihood;
    *judged_by = report.cross_validated;
    return XB_OK;
}

static xb_status fit_parametric(run *r, xb_fit_family *out, xb_law **law,
                                const xb_family *family)
{
    if (family->normal)
        XB_TRY(xb_fit_normal(r->ctx, out, &r->task));
    else if (family->two_sided)
        XB_TRY(xb_fit_two_sided(r->ctx, out, &r->task));
    else if (family->levels)
        XB_TRY(xb_fit_levels(r->ctx, out, &r->task));
    else if (family->modes)
        XB_TRY(xb_fit_modes(r->ctx, out, &r->task));
    else if (family->peak)
        XB_TRY(xb_fit_device(r->ctx, out, &r->task, family));
    else if (family->jet)
        XB_TRY(xb_fit_smooth(r->ctx, out, &r->task, family));
    else
        XB_TRY(xb_fit_any(r->ctx, out, &r->task, family));
    int own = out->n_named - 2, scale = own,
        offset = own + 1; /* the order of the names */
    XB_TRY(xb_law_create(r->ctx, law, family->name, out->value, own));
    xb_law_set_place(*law, out->value[offset], out->value[scale], NULL);
    return XB_OK;
}

/* (F5) */
static void set_criteria(xb_fit_family *f, const xb_fit_sample *s, double log_likelihood)
{
    double deviance = -2 * log_likelihood * s->n_effective / (double)s->n;
    f->aic = deviance + 2 * f->n_param;
    f->bic = deviance + f->n_param * log(s->n_effective);
}

static xb_status set_goodness(run *r, xb_fit_family *f, const xb_law *law)
{
    const xb_fit_sample *s = &r->task.sample->info;
    xb_goodness g = {0};
    xb_null_model *model = xb_new(r->ctx, 1, sizeof *model);
    if (!model) return XB_E_MEMORY;
    xb_goodness_statistics(&g, law, r->spread ? r->spread : r->task.sample->sorted, s->n);
    xb_status status = xb_goodness_model(r->ctx, model, law, f);
    if (status == XB_OK)
        status = xb_goodness_p(r->ctx, &g, model, (double)s->n, s->n_effective,
                               r->task.opt->seed);
    free(model);
    f->ks = g.ks, f->ks_p = g.ks_p, f->ad = g.ad, f->ad_p = g.ad_p;
    if (status == XB_OK) status = xb_shape_test(r->ctx, f, law, s, r->task.opt->seed);
    return status;
}

static xb_status fit_family(run *r, const xb_family *family)
{
    xb_fit *fit = r->fit;
    xb_fit_family *f = &fit->family[fit->count];
    xb_law **law = &fit->law[fit->count++];
    snprintf(f->family, sizeof f->family, "%s", family->name);
    double judged_by = NAN;
    if (family->from_data)
        XB_TRY(fit_empirical(r, f, law, &judged_by));
    else
        XB_TRY(fit_parametric(r, f, law, family));
    const char *unit = r->task.opt->unit;
    xb_law_set_place(*law, (*law)->place.offset, (*law)->place.scale, unit);
    set_criteria(f, &fit->sample, isnan(judged_by) ? f->log_likelihood : judged_by);
    return set_goodness(r, f, *law);
}

static xb_status fit_families(run *r)
{
    int total = xb_law_family_count();
    for (int i = 0; i < total; i++) {
        const char *name = xb_law_family_name(i), *asked = r->task.opt->family;
        if (asked && strcmp(asked, name) != 0) continue;
        XB_TRY(xb_progress_tell(r->ctx, "fitting", i, total));
        XB_TRY(fit_family(r, xb_family_find(name)));
    }
    xb_fit_choose(r->fit);
    return xb_progress_tell(r->ctx, "fitting", total, total);
}

static xb_status run_on(run *r)
{
    XB_TRY(xb_sample_spread(r->ctx, &r->spread, r->task.sample));
    return fit_families(r);
}

static xb_status fit_sample(xb_ctx *ctx, xb_fit **out, xb_sample *s,
                            const xb_fit_options *opt)
{
    XB_TRY(xb_sample_memory(ctx, s));
    xb_shape_errors(&s->info, s->x, s->n);
    xb_fit *fit = xb_new(ctx, 1, sizeof *fit);
    if (!fit) return XB_E_MEMORY;
    fit->sample = s->info;
    fit->criterion = opt->criterion, fit->level = opt->level, fit->seed = opt->seed;
    fit->asked = opt->family != NULL;
    fit->source = xb_strdup(ctx, opt->source ? opt->source : "");
    if (opt->series) fit->series = xb_series_to_json(opt->series);
    if (opt->whole) fit->whole = xb_fit_short_json(opt->whole);
    bool kept = fit->source && !fit->series == !opt->series && !fit->whole == !opt->whole;
    run r = {.ctx = ctx, .fit = fit};
    r.task =
        (xb_fit_task){s, opt, opt->has_fixed_offset ? opt->fixed_offset : s->info.mean,
                      sqrt((double)s->n / s->info.n_effective)};
    xb_status status = kept ? run_on(&r) : xb_fail(ctx, XB_E_MEMORY, "not enough memory");
    free(r.spread);
    if (status == XB_OK)
        *out = fit;
    else
        xb_fit_destroy(fit);
    return status;
}

xb_status xb_fit_run(xb_ctx *ctx, xb_fit **out, const double *x, int64_t n,
                     const xb_fit_options *opt)
{
    xb_fit_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, fit, &chosen, opt, seed));
    opt = &chosen;
    XB_TRY(check_options(ctx, opt));
    xb_sample sample;
    xb_status status = xb_sample_make(ctx, &sample, x, n);
    if (status == XB_E_INPUT && opt->source) /* name the file of the samples */
        return xb_fail(ctx, status, "%s: %s", opt->source, xb_ctx_message(ctx));
    XB_TRY(status);
    status = fit_sample(ctx, out, &sample, opt);
    xb_sample_free(&sample);
    return status;
}

void xb_fit_destroy(xb_fit *fit)
{
    if (!fit) return;
    for (int i = 0; i < fit->count; i++) xb_law_destroy(fit->law[i]);
    free(fit->source);
    json_decref(fit->series);
    json_decref(fit->whole);
    free(fit);
}

int64_t xb_fit_chosen(const xb_fit *fit) { return fit->chosen; }
const xb_law *xb_fit_law(const xb_fit *fit) { return fit->law[fit->chosen]; }
const xb_law *xb_fit_law_at(const xb_fit *fit, int64_t i) { return fit->law[i]; }
const char *xb_fit_verdict(const xb_fit *fit) { return fit->verdict; }
xb_fit_outcome xb_fit_outcome_of(const xb_fit *fit) { return fit->outcome; }
