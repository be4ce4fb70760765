/* findings_laws.c: findings of the studies of a law alone: whether it is Gaussian, and
 * whether its rule and its draws are accurate. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "study/findings.h"

static const double LEVEL = 0.01; /* threshold of the p-value, as in a fit */
static const double FEW = 100;    /* fewer independent samples than this are too few to
                                     agree */

/* A rejection is conclusive; a test that does not reject may have had too few samples,
 * and then the fit says whether a Gaussian is close to them. */
static xb_finding_kind judge_gaussian(const xb_study *study)
{
    double p = xb_study_fact(study, "gaussian_p").value;
    if (p < LEVEL) return XB_FINDING_DIFFERS;
    bool close = xb_study_fact(study, "gaussian_fits").value > 0;
    bool many = xb_study_fact(study, "effective_samples").value >= FEW;
    return p >= LEVEL && close && many ? XB_FINDING_AGREES : XB_FINDING_UNCLEAR;
}

/* "p = 0.53; 28 independent samples, at least 100 are needed". */
static void test_text(char *out, size_t size, const xb_study *study)
{
    double p = xb_study_fact(study, "gaussian_p").value;
    double n = xb_study_fact(study, "effective_samples").value;
    int used =
        snprintf(out, size, "p %s %s; %s independent samples", p < 0.001 ? "<" : "=",
                 xb_show(p < 0.001 ? 0.001 : p, 0).text, xb_show(n, 0).text);
    if (n < FEW && (size_t)used < size)
        snprintf(out + used, size - (size_t)used, ", at least %g are needed", FEW);
}

xb_status xb_find_laws(xb_ctx *ctx, xb_study *study)
{
    static const char *const says[] = {
        [XB_FINDING_AGREES] = "A Gaussian fits these samples",
        [XB_FINDING_DIFFERS] = "These samples are not Gaussian",
        [XB_FINDING_UNCLEAR] = "These samples neither confirm a Gaussian nor rule it out",
    };
    xb_finding_kind kind = judge_gaussian(study);
    const char *claim = says[kind];
    if (kind == XB_FINDING_UNCLEAR && xb_study_fact(study, "gaussian_fits").value == 0)
        claim = "The best Gaussian does not fit these samples, but they neither confirm a"
                " Gaussian nor rule it out";
    char test[128];
    test_text(test, sizeof test, study);
    return xb_study_add_finding(
        ctx, study, kind,
        xb_finding_word(kind, (xb_finding_words){"Gaussian", "not Gaussian"}),
        "%s (%s). The law fitted to them has a KL of %s nats from the Gaussian "
        "of the same variance, and an excess kurtosis of %+.2f.",
        claim, test,
        xb_show(xb_rounded_off(xb_study_fact(study, "kl_device").value), 0).text,
        xb_study_fact(study, "excess_kurtosis_device").value);
}

/* ---- exact errors of rules and samplers, each compared with a limit */

static const char *limits_text(xb_finding_kind kind)
{
    if (kind == XB_FINDING_AGREES) return " Both are within their limits.";
    return kind == XB_FINDING_DIFFERS ? " At least one is beyond its limit."
                                      : " One of them is unknown.";
}

/* Errors below the rounding of a double are set to that. */
static xb_shown error_text(double error)
{
    return xb_show(isnan(error) ? NAN : fmax(error, DBL_EPSILON), 0);
}

xb_status xb_find_quadrature(xb_ctx *ctx, xb_study *study)
{
    const double two_most = 1e-9, kl_part = 1e-3, kl_least = 1e-12;
    double two = xb_study_fact(study, "two_point_cross_entropy_error").value;
    double kl = xb_study_fact(study, "smooth_kl_error").value;
    double whole = xb_rounded_off(xb_study_fact(study, "device_kl").value);
    double kl_most =
        fmax(kl_part * whole, kl_least); /* a KL of 0 has no relative error */
    xb_finding_kind kind =
        xb_judge_both(xb_judge(two, 0, two_most, 1), xb_judge(kl, 0, kl_most, 1));
    return xb_study_add_finding(
        ctx, study, kind,
        xb_finding_word(kind, (xb_finding_words){"accurate", "not accurate"}),
        "The smooth rule of 128 points gives the law's KL of %s nats with an error of %s "
        "(limit %.1g). The Gauss rule of 2 points gives the law's cross entropies with "
        "Gaussians with a relative error of %s (limit %.1g).%s",
        xb_show(whole, 0).text, error_text(kl).text, kl_most, error_text(two).text,
        two_most, limits_text(kind));
}

xb_status xb_find_quantile(xb_ctx *ctx, xb_study *study)
{
    /* errors of mass: the single-precision table has 5e-7, or the rounding of a float if
     * the law is steep (D9); an error of 1e-5 would show in 1e10 draws */
    const double single_most = 1e-5, double_most = 1e-11;
    double f = xb_study_fact(study, "sampler_u_error_float").value;
    double d = xb_study_fact(study, "sampler_u_error_double").value;
    xb_finding_kind kind =
        xb_judge_both(xb_judge(f, 0, single_most, 1), xb_judge(d, 0, double_most, 1));
    return xb_study_add_finding(
        ctx, study, kind,
        xb_finding_word(kind, (xb_finding_words){"accurate", "not accurate"}),
        "The probability below a draw has an error of %s in single precision (limit "
        "%.1g) and of"
        " %s in double precision (limit %.1g).%s",
        xb_show(f, 0).text, single_most, xb_show(d, 0).text, double_most,
        limits_text(kind));
}
