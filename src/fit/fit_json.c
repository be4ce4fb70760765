/* fit_json.c: a fit as a law file: the chosen law, and under "fit" the evidence for and
 * against it. xb_law_load() reads it back as a law. */
#include <inttypes.h>
#include <stdio.h>

#include "fit/fit.h"
#include "law/lawfile.h"

static void set(json_t **object, const char *key, double value)
{
    xb_json_set(object, key, xb_json_real(value));
}

static json_t *values_json(const xb_fit_family *f, const double *value)
{
    json_t *object = json_object();
    for (int i = 0; i < f->n_named; i++) set(&object, f->name[i], value[i]);
    return object;
}

static json_t *family_json(const xb_fit_family *f)
{
    json_t *object = json_object();
    xb_json_set(&object, "family", xb_json_string(f->family));
    xb_json_set(&object, "values", values_json(f, f->value));
    xb_json_set(&object, "std_error", values_json(f, f->std_error));
    xb_json_set(&object, "n_param", json_integer(f->n_param));
    xb_json_set(&object, "converged", json_boolean(f->converged));
    xb_json_set(&object, "iterations", json_integer(f->iterations));
    set(&object, "gradient_norm", f->gradient_norm);
    set(&object, "log_likelihood", f->log_likelihood);
    set(&object, "aic", f->aic);
    set(&object, "bic", f->bic);
    set(&object, "ks", f->ks);
    set(&object, "ks_p", f->ks_p);
    set(&object, "ad", f->ad);
    set(&object, "ad_p", f->ad_p);
    set(&object, "skewness_p", f->skewness_p);
    set(&object, "kurtosis_p", f->kurtosis_p);
    xb_json_set(&object, "fits", json_boolean(f->fits));
    xb_json_set(&object, "decision", xb_json_string(xb_fit_decision_name(f->decision)));
    return object;
}

static json_t *sample_json(const xb_fit_sample *s)
{
    json_t *object = json_object();
    xb_json_set(&object, "n", json_integer(s->n));
    set(&object, "n_effective", s->n_effective);
    set(&object, "tau", s->tau);
    set(&object, "lag1", s->lag1);
    xb_json_set(&object, "distinct", json_integer(s->distinct));
    set(&object, "min", s->min);
    set(&object, "max", s->max);
    set(&object, "mean", s->mean);
    set(&object, "sd", s->sd);
    set(&object, "skewness", s->skewness);
    set(&object, "excess_kurtosis", s->excess_kurtosis);
    set(&object, "sd_error", s->sd_error);
    set(&object, "skewness_error", s->skewness_error);
    set(&object, "excess_kurtosis_error", s->excess_kurtosis_error);
    return object;
}

static json_t *fit_json(const xb_fit *fit)
{
    const xb_law *law = xb_fit_law(fit);
    xb_law_place place = xb_law_placement(law);
    json_t *object = sample_json(&fit->sample);
    set(&object, "physical_mean", place.offset + place.scale * xb_law_mean(law));
    set(&object, "physical_sd", place.scale * xb_law_sd(law));
    const char *by = fit->criterion == XB_CRITERION_BIC ? "bic" : "aic";
    xb_json_set(&object, "chosen_by", xb_json_string(fit->asked ? "user" : by));
    set(&object, "level", fit->level);
    const xb_fit_family *chosen = &fit->family[fit->chosen];
    xb_json_set(&object, "std_error", values_json(chosen, chosen->std_error));
    json_t *families = json_array();
    for (int i = 0; i < fit->count; i++)
        xb_json_add(&families, family_json(&fit->family[i]));
    xb_json_set(&object, "families", families);
    xb_json_set(&object, "outcome", xb_json_string(xb_fit_outcome_name(fit->outcome)));
    xb_json_set(&object, "verdict", xb_json_string(fit->verdict));
    return object;
}

json_t *xb_fit_short_json(const xb_fit *fit)
{
    json_t *object = family_json(&fit->family[fit->chosen]);
    xb_json_set(&object, "sample", sample_json(&fit->sample));
    xb_json_set(&object, "outcome", xb_json_string(xb_fit_outcome_name(fit->outcome)));
    xb_json_set(&object, "verdict", xb_json_string(fit->verdict));
    return object;
}

static json_t *provenance_json(const xb_ctx *ctx, const xb_fit *fit)
{
    json_t *object = xb_provenance(ctx);
    char text[32];
    xb_json_set(&object, "source", xb_json_string(fit->source));
    snprintf(text, sizeof text, "%016" PRIx64, fit->sample.checksum);
    xb_json_set(&object, "checksum", xb_json_string(text));
    snprintf(text, sizeof text, "%" PRIu64, fit->seed); /* JSON's integers are signed */
    xb_json_set(&object, "seed", xb_json_string(text));
    return object;
}

json_t *xb_fit_to_json(const xb_ctx *ctx, const xb_fit *fit)
{
    json_t *root = xb_law_to_json(xb_fit_law(fit));
    xb_json_set(&root, "fit", fit_json(fit));
    if (fit->series) xb_json_set(&root, "series", json_incref(fit->series));
    if (fit->whole) xb_json_set(&root, "whole", json_incref(fit->whole));
    xb_json_set(&root, "provenance", provenance_json(ctx, fit));
    return root;
}

xb_status xb_fit_json(xb_ctx *ctx, char **out, const xb_fit *fit)
{
    json_t *root = xb_fit_to_json(ctx, fit);
    xb_status status = xb_json_text(ctx, out, root); /* NULL: out of memory */
    json_decref(root);
    return status;
}

xb_status xb_fit_save(xb_ctx *ctx, const xb_fit *fit, const char *path)
{
    json_t *root = xb_fit_to_json(ctx, fit);
    xb_status status = xb_json_save(ctx, root, path);
    json_decref(root);
    return status;
}
