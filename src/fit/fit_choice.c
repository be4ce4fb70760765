/* fit_choice.c: chooses the family and writes the verdict; maths F5, F12. The criterion
 * decides among the parametric families that fit. If none fits, `empirical` is chosen,
 * and the verdict says why, and whether that fits. The outcome is decided once; the
 * verdict, the file and the page use it. A trace that is almost entirely drift has so few
 * independent values that no test can reject anything: then no law can be tested, and the
 * empirical law, which assumes no shape, is chosen. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "law/family.h"
#include "fit/fit.h"

/* With fewer independent samples the tests have no power ... */
static const double FEW_EFFECTIVE = 50;
/* ... if each of them stands for at least this many values. */
static const double MANY_EACH = 20;

static bool is_empirical(const xb_fit *fit, int i)
{
    return xb_family_find(fit->family[i].family)->from_data;
}

static bool too_correlated(const xb_fit *fit)
{
    const xb_fit_sample *s = &fit->sample;
    return s->n_effective < FEW_EFFECTIVE && (double)s->n >= MANY_EACH * s->n_effective;
}

/* (F12) One rule for all families, including the empirical law. */
static xb_fit_decision decide(const xb_fit *fit, const xb_fit_family *f)
{
    double least = fmin(fmin(f->ks_p, f->ad_p), fmin(f->skewness_p, f->kurtosis_p));
    if (!(least > fit->level)) return XB_FIT_NO;
    return too_correlated(fit) ? XB_FIT_CANNOT_TELL : XB_FIT_YES;
}

const char *xb_fit_decision_name(xb_fit_decision decision)
{
    static const char *const name[] = {
        [XB_FIT_NO] = "no", [XB_FIT_YES] = "yes", [XB_FIT_CANNOT_TELL] = "cannot tell"};
    return name[decision];
}

static double criterion(const xb_fit *fit, int i)
{
    const xb_fit_family *f = &fit->family[i];
    return fit->criterion == XB_CRITERION_BIC ? f->bic : f->aic;
}

/* One level is the Gaussian, and a student of many degrees of freedom is nearly one.
 * Among laws that are equal up to rounding, the first is taken. */
static int best_parametric(const xb_fit *fit, bool must_fit)
{
    const double rounding = 1e-6;
    int best = -1;
    for (int i = 0; i < fit->count; i++) {
        if (is_empirical(fit, i) || !fit->family[i].converged) continue;
        if (must_fit && !fit->family[i].fits) continue;
        if (best < 0 || criterion(fit, i) < criterion(fit, best) - rounding) best = i;
    }
    return best;
}

static void say(xb_fit *fit, const char *format, ...) XB_PRINTF(2, 3);

static void say(xb_fit *fit, const char *format, ...)
{
    size_t used = strlen(fit->verdict);
    va_list args;
    va_start(args, format);
    vsnprintf(fit->verdict + used, sizeof fit->verdict - used, format, args);
    va_end(args);
}

/* Counts peaks. A maximum counts if the density falls below half of it before it rises to
 * twice the valley; maxima below a twentieth of the highest do not count. */
int xb_law_peaks(const xb_law *law)
{
    enum { POINTS = 512 };
    const double small = 0.05;
    double density[POINTS], highest = 0;
    double from = xb_law_quantile(law, 0.002), to = xb_law_isf(law, 0.002);
    for (int i = 0; i < POINTS; i++) {
        density[i] = xb_law_pdf(law, from + (to - from) * i / (POINTS - 1));
        highest = fmax(highest, density[i]);
    }
    int peaks = 1;
    double top = density[0], valley = density[0];
    for (int i = 1; i < POINTS; i++) {
        bool counts = top >= small * highest;
        valley = fmin(valley, density[i]);
        if (counts && valley < 0.5 * top &&
            density[i] > fmax(2 * valley, small * highest)) {
            peaks++;
            top = valley = density[i];
        } else if (!counts || density[i] >= top) { /* the density is still rising */
            top = valley = density[i];
        }
    }
    return peaks;
}

/* The number of peaks of the empirical law; 1 if it was not fitted. */
static int count_peaks(const xb_fit *fit)
{
    for (int i = 0; i < fit->count; i++)
        if (is_empirical(fit, i)) return xb_law_peaks(fit->law[i]);
    return 1;
}

/* The features of the shape that rule out symmetric laws with one peak. */
static void say_shape(xb_fit *fit)
{
    const double skewed = 0.3;
    const xb_fit_sample *s = &fit->sample;
    int peaks = count_peaks(fit);
    if (fabs(s->skewness) > skewed)
        say(fit, "; the sample is skewed (%.2g)", s->skewness);
    if (peaks > 1) say(fit, "; its distribution has %d separate peaks", peaks);
    say(fit, ". ");
}

/* The numbers by which decide() accepts or rejects a family. */
static void say_numbers(xb_fit *fit, const xb_fit_family *f)
{
    say(fit,
        "KS p = %.2g, Anderson-Darling p = %.2g, skewness p = %.2g, kurtosis p = %.2g",
        f->ks_p, f->ad_p, f->skewness_p, f->kurtosis_p);
}

static void say_untested(xb_fit *fit)
{
    const xb_fit_sample *s = &fit->sample;
    say(fit,
        "%lld samples are worth only %.1f independent ones: too few to test any law. ",
        (long long)s->n, s->n_effective);
    if (fit->asked)
        say(fit, "Using the family '%s' as requested. ", fit->family[fit->chosen].family);
    else
        say(fit, "Using the empirical law, which assumes no shape. ");
    int peaks = count_peaks(fit);
    if (peaks > 1) say(fit, "The distribution has %d separate peaks. ", peaks);
}

static void say_correlated(xb_fit *fit)
{
    const xb_fit_sample *s = &fit->sample;
    const double worth_saying = 1.2;
    if (s->tau > worth_saying && !too_correlated(fit))
        say(fit,
            "The samples are correlated (%lld are worth %.0f independent ones): p-values"
            " and standard errors allow for it, approximately. ",
            (long long)s->n, s->n_effective);
    if (too_correlated(fit))
        say(fit, "The trace drifts more than it scatters: a longer or detrended trace "
                 "would say more. ");
}

enum { FEW_SAMPLES = 30 };

static void say_few(xb_fit *fit)
{
    if (fit->sample.n < FEW_SAMPLES)
        say(fit,
            "%lld samples are few: the tests have little power, and the shape is mostly "
            "assumed. ",
            (long long)fit->sample.n);
}

const char *xb_fit_outcome_name(xb_fit_outcome outcome)
{
    static const char *const text[] = {
        [XB_FIT_FITS] = "fits",
        [XB_FIT_EMPIRICAL] = "no family fits",
        [XB_FIT_NOTHING] = "nothing fits",
        [XB_FIT_REFUSED] = "does not fit",
        [XB_FIT_DIVERGED] = "did not converge",
        [XB_FIT_UNTESTED] = "cannot be tested",
    };
    return text[outcome];
}

static xb_fit_outcome outcome_of(const xb_fit *fit)
{
    const xb_fit_family *f = &fit->family[fit->chosen];
    if (!f->converged) return XB_FIT_DIVERGED;
    if (f->decision == XB_FIT_CANNOT_TELL) return XB_FIT_UNTESTED;
    if (fit->asked) return f->fits ? XB_FIT_FITS : XB_FIT_REFUSED;
    if (is_empirical(fit, fit->chosen))
        return f->fits ? XB_FIT_EMPIRICAL : XB_FIT_NOTHING;
    return XB_FIT_FITS; /* only those that fit are chosen */
}

/* The parametric family that fits and is best, or `empirical`. */
static int choose(const xb_fit *fit)
{
    int fitting = fit->asked ? 0 : best_parametric(fit, true);
    for (int i = 0; i < fit->count && fitting < 0; i++)
        if (is_empirical(fit, i)) return i;
    return fitting;
}

static const char *criterion_name(const xb_fit *fit)
{
    return fit->criterion == XB_CRITERION_BIC ? "BIC" : "AIC";
}

/* The best family by the criterion, and why it was not chosen. */
static void say_refused(xb_fit *fit, int best)
{
    const xb_fit_family *f = &fit->family[best];
    say(fit, "%s, best by %s, does not fit: ", f->family, criterion_name(fit));
    say_numbers(fit, f);
    if (is_empirical(fit, fit->chosen))
        say_shape(fit);
    else
        say(fit, ". ");
}

static void say_fits(xb_fit *fit, int best)
{
    const xb_fit_family *f = &fit->family[fit->chosen];
    bool alone = fit->asked || fit->chosen == best;
    say(fit, "The family '%s' fits", f->family);
    if (!fit->asked)
        say(fit, " and is best by %s%s", criterion_name(fit),
            alone ? "" : " of those that fit");
    say(fit, ": ");
    say_numbers(fit, f);
    say(fit, ". ");
    if (!alone) say_refused(fit, best);
}

static void say_empirical(xb_fit *fit, int best)
{
    if (fit->outcome == XB_FIT_NOTHING) {
        say(fit, "No family fits, and the empirical law does not either (");
        say_numbers(fit, &fit->family[fit->chosen]);
        say(fit, "): it is used nevertheless, because it assumes no shape. ");
    } else if (best < 0) {
        say(fit, "No parametric family converged; using the empirical law instead. ");
    } else {
        say(fit, "No parametric family fits; using the empirical law instead. ");
    }
    if (best >= 0) say_refused(fit, best);
}

static void say_asked_refused(xb_fit *fit)
{
    const xb_fit_family *f = &fit->family[fit->chosen];
    say(fit, "The requested family, '%s', does not fit: ", f->family);
    say_numbers(fit, f);
    say_shape(fit);
}

/* The sentence of the outcome. */
static void say_outcome(xb_fit *fit)
{
    int best = fit->asked ? -1 : best_parametric(fit, false);
    switch (fit->outcome) {
    case XB_FIT_FITS: say_fits(fit, best); break;
    case XB_FIT_EMPIRICAL:
    case XB_FIT_NOTHING: say_empirical(fit, best); break;
    case XB_FIT_REFUSED: say_asked_refused(fit); break;
    case XB_FIT_DIVERGED:
        say(fit, "%s did not converge: its parameters are unreliable. ",
            fit->family[fit->chosen].family);
        break;
    case XB_FIT_UNTESTED: say_untested(fit); break;
    }
}

void xb_fit_choose(xb_fit *fit)
{
    for (int i = 0; i < fit->count; i++) {
        xb_fit_family *f = &fit->family[i];
        f->decision = decide(fit, f);
        f->fits = f->decision == XB_FIT_YES;
    }
    fit->verdict[0] = '\0';
    fit->chosen = choose(fit);
    fit->outcome = outcome_of(fit);
    say_outcome(fit);
    say_correlated(fit);
    say_few(fit);
    size_t length = strlen(fit->verdict);
    while (length > 0 && fit->verdict[length - 1] == ' ') fit->verdict[--length] = '\0';
}
