/* findings_laws.c: what the studies of a law alone found: is it Gaussian, are its rule
 * and its draws right? */
#include <float.h>
#include <math.h>

#include "study/findings.h"

static const double LEVEL = 0.01; /* of the p-value, as in a fit */
static const double FEW = 100;    /* independent samples: too few to agree */

/* A test that rejects needs no help; one that does not may have had too few samples: then
 * the fit says whether a Gaussian is close to them. */
static xb_finding_kind judge_gaussian(const xb_study *study)
{
    double p = xb_study_fact(study, "gaussian_p").value;
    if (p < LEVEL) return XB_FINDING_DIFFERS;
    bool close = xb_study_fact(study, "gaussian_fits").value > 0;
    bool many = xb_study_fact(study, "effective_samples").value >= FEW;
    return p >= LEVEL && close && many ? XB_FINDING_AGREES : XB_FINDING_UNCLEAR;
}

xb_status xb_find_laws(xb_ctx *ctx, xb_study *study)
{
    static const char *const meaning[] = {
        [XB_FINDING_AGREES] = "a Gaussian would do",
        [XB_FINDING_DIFFERS] = "no Gaussian made these samples",
        [XB_FINDING_UNCLEAR] = "but these samples cannot rule a Gaussian out",
    };
    xb_finding_kind kind = judge_gaussian(study);
    double p = xb_study_fact(study, "gaussian_p").value;
    return xb_study_add_finding(
        ctx, study, kind,
        xb_finding_word(kind, (xb_finding_words){"Gaussian", "not Gaussian"}),
        "KL %.3g nats from the Gaussian of its variance, excess kurtosis %+.2f: %s (p %s"
        " %.2g; worth %.0f independent ones).",
        xb_study_fact(study, "kl_device").value,
        xb_study_fact(study, "excess_kurtosis_device").value, meaning[kind],
        p < 0.001 ? "<" : "=", fmax(p, 0.001),
        xb_study_fact(study, "effective_samples").value);
}

/* Errors of rules are exact numbers: two limits instead of an error. */
static xb_finding_kind judge_error(double error, double good, double bad)
{
    if (error <= good) return XB_FINDING_AGREES;
    return error > bad ? XB_FINDING_DIFFERS : XB_FINDING_UNCLEAR;
}

xb_status xb_find_quadrature(xb_ctx *ctx, xb_study *study)
{
    double two = xb_study_fact(study, "two_point_cross_entropy_error").value;
    double kl = xb_study_fact(study, "smooth_kl_error").value;
    double whole = xb_study_fact(study, "device_kl").value;
    xb_finding_kind kind = xb_judge_both(judge_error(two, 1e-12, 1e-9),
                                         judge_error(kl, 1e-3 * whole, 1e-2 * whole));
    return xb_study_add_finding(
        ctx, study, kind,
        xb_finding_word(kind, (xb_finding_words){"accurate", "not accurate"}),
        "Two points of its Gauss rule give cross entropies with Gaussians to %.1g"
        " (relative); 128 of the smooth rule its KL of %.3g nats to %.1g.",
        fmax(two, DBL_EPSILON), whole, fmax(kl, DBL_EPSILON));
}

xb_status xb_find_quantile(xb_ctx *ctx, xb_study *study)
{
    const double single = 0x1p-22, twice = 1e-11; /* of mass */
    double f = xb_study_fact(study, "sampler_u_error_float").value;
    double d = xb_study_fact(study, "sampler_u_error_double").value;
    xb_finding_kind kind = xb_judge_both(judge_error(f, single, 100 * single),
                                         judge_error(d, twice, 100 * twice));
    return xb_study_add_finding(
        ctx, study, kind,
        xb_finding_word(kind, (xb_finding_words){"accurate", "not accurate"}),
        "The mass below a draw is right to %.1e in single precision, to %.1e in double.",
        f, d);
}
