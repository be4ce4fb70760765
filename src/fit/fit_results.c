/* fit_results.c: the results of a fit, one number at a time. */
#include "fit/fit_results.h"

#include <string.h>

#include "base/choice.h"
#include "fit/fit.h"

static const char *const optimisers[] = {"newton", "adam"};
static const char *const criteria[] = {"aic", "bic"};

const char *xb_optimiser_name(xb_optimiser optimiser) { return optimisers[optimiser]; }

xb_status xb_optimiser_parse(xb_ctx *ctx, xb_optimiser *out, const char *text)
{
    int found;
    XB_TRY(xb_choice_parse(ctx, &found, "optimiser", text, optimisers,
                           XB_COUNT(optimisers)));
    *out = (xb_optimiser)found;
    return XB_OK;
}

const char *xb_criterion_name(xb_criterion criterion) { return criteria[criterion]; }

xb_status xb_criterion_parse(xb_ctx *ctx, xb_criterion *out, const char *text)
{
    int found;
    XB_TRY(xb_choice_parse(ctx, &found, "criterion", text, criteria, XB_COUNT(criteria)));
    *out = (xb_criterion)found;
    return XB_OK;
}

int64_t xb_fit_family_count(const xb_fit *fit) { return fit->count; }
const xb_fit_family *xb_fit_family_at(const xb_fit *fit, int64_t i)
{
    return &fit->family[i];
}
int64_t xb_fit_family_find(const xb_fit *fit, const char *name)
{
    for (int i = 0; i < fit->count; i++)
        if (strcmp(fit->family[i].family, name) == 0) return i;
    return -1;
}

/* ---- one family */

const char *xb_fit_family_name(const xb_fit_family *f) { return f->family; }
bool xb_fit_family_converged(const xb_fit_family *f) { return f->converged; }
int64_t xb_fit_family_iterations(const xb_fit_family *f) { return f->iterations; }
double xb_fit_family_gradient_norm(const xb_fit_family *f) { return f->gradient_norm; }

int64_t xb_fit_family_param_count(const xb_fit_family *f) { return f->n_named; }
const char *xb_fit_family_param_name(const xb_fit_family *f, int64_t i)
{
    return f->name[i];
}
double xb_fit_family_param_value(const xb_fit_family *f, int64_t i)
{
    return f->value[i];
}
double xb_fit_family_param_error(const xb_fit_family *f, int64_t i)
{
    return f->std_error[i];
}
int64_t xb_fit_family_param_find(const xb_fit_family *f, const char *name)
{
    for (int i = 0; i < f->n_named; i++)
        if (strcmp(f->name[i], name) == 0) return i;
    return -1;
}

double xb_fit_family_log_likelihood(const xb_fit_family *f) { return f->log_likelihood; }
int64_t xb_fit_family_free_count(const xb_fit_family *f) { return f->n_param; }
double xb_fit_family_aic(const xb_fit_family *f) { return f->aic; }
double xb_fit_family_bic(const xb_fit_family *f) { return f->bic; }
double xb_fit_family_ks(const xb_fit_family *f) { return f->ks; }
double xb_fit_family_ks_p(const xb_fit_family *f) { return f->ks_p; }
double xb_fit_family_ad(const xb_fit_family *f) { return f->ad; }
double xb_fit_family_ad_p(const xb_fit_family *f) { return f->ad_p; }
double xb_fit_family_skewness_p(const xb_fit_family *f) { return f->skewness_p; }
double xb_fit_family_kurtosis_p(const xb_fit_family *f) { return f->kurtosis_p; }
xb_fit_decision xb_fit_family_decision(const xb_fit_family *f) { return f->decision; }
bool xb_fit_family_fits(const xb_fit_family *f) { return f->fits; }

/* ---- the sample */

const xb_fit_sample *xb_fit_sample_info(const xb_fit *fit) { return &fit->sample; }
int64_t xb_fit_sample_count(const xb_fit_sample *s) { return s->n; }
double xb_fit_sample_tau(const xb_fit_sample *s) { return s->tau; }
double xb_fit_sample_effective(const xb_fit_sample *s) { return s->n_effective; }
double xb_fit_sample_lag1(const xb_fit_sample *s) { return s->lag1; }
double xb_fit_sample_min(const xb_fit_sample *s) { return s->min; }
double xb_fit_sample_max(const xb_fit_sample *s) { return s->max; }
double xb_fit_sample_mean(const xb_fit_sample *s) { return s->mean; }
double xb_fit_sample_sd(const xb_fit_sample *s) { return s->sd; }
double xb_fit_sample_skewness(const xb_fit_sample *s) { return s->skewness; }
double xb_fit_sample_sd_error(const xb_fit_sample *s) { return s->sd_error; }
double xb_fit_sample_skewness_error(const xb_fit_sample *s) { return s->skewness_error; }
double xb_fit_sample_excess_kurtosis_error(const xb_fit_sample *s)
{
    return s->excess_kurtosis_error;
}
double xb_fit_sample_excess_kurtosis(const xb_fit_sample *s)
{
    return s->excess_kurtosis;
}
int64_t xb_fit_sample_distinct(const xb_fit_sample *s) { return s->distinct; }
uint64_t xb_fit_sample_checksum(const xb_fit_sample *s) { return s->checksum; }
