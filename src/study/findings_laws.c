/* findings_laws.c: what the studies of a law alone found: is it Gaussian, are its rule
 * and its draws right? */
#include <math.h>

#include "study/findings.h"

static const double LEVEL = 0.01; /* of the p-value, as in a fit */

/* A test that rejects needs no help; one that does not may have had too few samples: then
 * the fit says whether a Gaussian is close to them. */
static xb_finding_kind judge_gaussian(const xb_study *study)
{
    double p = xb_study_fact(study, "gaussian_p").value;
    if (p < LEVEL) return XB_FINDING_DIFFERS;
    return p >= LEVEL && xb_study_fact(study, "gaussian_fits").value > 0
               ? XB_FINDING_AGREES
               : XB_FINDING_UNCLEAR;
}

static const char *p_relation(double p) { return p < 0.001 ? "<" : "="; }

xb_status xb_find_laws(xb_ctx *ctx, xb_study *study)
{
    xb_finding_kind kind = judge_gaussian(study);
    double p = xb_study_fact(study, "gaussian_p").value;
    double n = xb_study_fact(study, "effective_samples").value;
    static const char *const meaning[] = {
        [XB_FINDING_AGREES] = "a Gaussian would do",
        [XB_FINDING_DIFFERS] = "no Gaussian made these samples",
        [XB_FINDING_UNCLEAR] = "too few independent samples to say whether a Gaussian"
                               " could have made them",
    };
    return xb_study_add_finding(
        ctx, study, kind,
        xb_finding_word(kind, (xb_finding_words){"Gaussian", "not Gaussian"}),
        "The fitted law is %.3g nats (KL) from the Gaussian of its variance, excess"
        " kurtosis %+.2f: %s (p %s %.2g with %.0f independent samples).",
        xb_study_fact(study, "kl_device").value,
        xb_study_fact(study, "excess_kurtosis_device").value, meaning[kind],
        p_relation(p), fmax(p, 0.001), n);
}

/* Errors of rules are exact numbers: two limits instead of an error. */
static xb_finding_kind judge_exact(double error, double good, double bad)
{
    if (error <= good) return XB_FINDING_AGREES;
    return error > bad ? XB_FINDING_DIFFERS : XB_FINDING_UNCLEAR;
}

xb_status xb_find_quadrature(xb_ctx *ctx, xb_study *study)
{
    double two = xb_study_fact(study, "two_point_cross_entropy_error").value;
    double kl = xb_study_fact(study, "smooth_kl_error").value;
    xb_finding_kind kind =
        xb_judge_both(judge_exact(two, 1e-12, 1e-9), judge_exact(kl, 1e-9, 1e-6));
    return xb_study_add_finding(
        ctx, study, kind, xb_finding_word(kind, (xb_finding_words){"exact", "not exact"}),
        "Two points of the law's own Gauss rule give the cross entropy with a Gaussian"
        " prior to %.1e; its KL divergence comes to %.1e with 128 points of the smooth"
        " rule.",
        two, kl);
}

xb_status xb_find_quantile(xb_ctx *ctx, xb_study *study)
{
    const double single = 0x1p-22, twice = 1e-11; /* of mass */
    double f = xb_study_fact(study, "sampler_u_error_float").value;
    double d = xb_study_fact(study, "sampler_u_error_double").value;
    xb_finding_kind kind = xb_judge_both(judge_exact(f, single, 100 * single),
                                         judge_exact(d, twice, 100 * twice));
    return xb_study_add_finding(
        ctx, study, kind, xb_finding_word(kind, (xb_finding_words){"exact", "not exact"}),
        "Draws follow the law: the mass below a draw is off by at most %.1e in single"
        " precision and %.1e in double.",
        f, d);
}
