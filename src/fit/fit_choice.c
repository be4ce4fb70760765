/* fit_choice.c: which family, and what to tell the user; maths F5, F12.
 *
 * Among the parametric families that fit the criterion decides. If none does,
 * `empirical` is taken, and the verdict says why. A trace that is nearly all
 * drift has so few independent values that no test can reject anything; then a
 * family must also look like the trace (KS distance), or it is not believed. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "law/family.h"
#include "fit/fit.h"

static const double FEW_EFFECTIVE = 50; /* below this the tests have no power ... */
static const double MANY_EACH = 20;     /* ... and each stands for this many values */
static const double FAR_OFF = 0.05;     /* KS distance one can see */

static bool is_empirical(const xb_fit *fit, int i)
{
    return strcmp(fit->family[i].family, xb_family_empirical.name) == 0;
}

static bool too_correlated(const xb_fit *fit)
{
    const xb_fit_sample *s = &fit->sample;
    return s->n_effective < FEW_EFFECTIVE && (double)s->n >= MANY_EACH * s->n_effective;
}

/* (F12) */
static bool fits(const xb_fit *fit, const xb_fit_family *f)
{
    bool accepted = f->ks_p > fit->level && f->ad_p > fit->level;
    return accepted && !(too_correlated(fit) && f->ks > FAR_OFF);
}

static double criterion(const xb_fit *fit, int i)
{
    const xb_fit_family *f = &fit->family[i];
    return fit->criterion == XB_CRITERION_BIC ? f->bic : f->aic;
}

static int best_parametric(const xb_fit *fit, bool must_fit)
{
    int best = -1;
    for (int i = 0; i < fit->count; i++) {
        if (is_empirical(fit, i) || !fit->family[i].converged) continue;
        if (must_fit && !fit->family[i].fits) continue;
        if (best < 0 || criterion(fit, i) < criterion(fit, best)) best = i;
    }
    return best;
}

static void say(xb_fit *fit, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(xb_fit *fit, const char *format, ...)
{
    size_t used = strlen(fit->verdict);
    va_list args;
    va_start(args, format);
    vsnprintf(fit->verdict + used, sizeof fit->verdict - used, format, args);
    va_end(args);
}

/* Peaks: a maximum counts when the density falls below half of it before it
 * rises to twice the valley; those under a twentieth of the highest do not. */
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
        } else if (!counts || density[i] >= top) { /* still on its way up */
            top = valley = density[i];
        }
    }
    return peaks;
}

/* What about the shape speaks against symmetric one-peaked laws. */
static void say_shape(xb_fit *fit)
{
    const double skewed = 0.3;
    const xb_fit_sample *s = &fit->sample;
    int peaks = 1;
    for (int i = 0; i < fit->count; i++)
        if (is_empirical(fit, i)) peaks = xb_law_peaks(fit->law[i]);
    if (fabs(s->skewness) > skewed)
        say(fit, "; the sample is skewed (%.2g)", s->skewness);
    if (peaks > 1) say(fit, "; it has %d separate levels", peaks);
    say(fit, ". ");
}

static void say_not_believed(xb_fit *fit, const xb_fit_family *f)
{
    const xb_fit_sample *s = &fit->sample;
    bool rejected = !(f->ks_p > fit->level && f->ad_p > fit->level);
    if (rejected) {
        say(fit, "KS p = %.2g, Anderson-Darling p = %.2g", f->ks_p, f->ad_p);
    } else {
        say(fit,
            "%lld samples are worth only %.0f independent ones, too few for a test, but"
            " its distribution is %.2f off the trace's",
            (long long)s->n, s->n_effective, f->ks);
    }
    say_shape(fit);
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
        say(fit, "The trace drifts more than it scatters: a longer or detrended one would"
                 " say more. ");
}

enum { FEW_SAMPLES = 30 };

static void say_few(xb_fit *fit)
{
    if (fit->sample.n < FEW_SAMPLES)
        say(fit,
            "%lld samples are few: tests reject little and the shape is mostly"
            " assumed. ",
            (long long)fit->sample.n);
}

static void judge_asked(xb_fit *fit)
{
    const xb_fit_family *f = &fit->family[0];
    fit->chosen = 0;
    if (is_empirical(fit, 0)) {
        say(fit, "The empirical law follows the sample, as asked. ");
    } else if (!f->converged) {
        say(fit, "%s, as asked, did not converge: its parameters are not to be trusted. ",
            f->family);
    } else if (f->fits) {
        say(fit, "%s fits: KS p = %.2g, Anderson-Darling p = %.2g. ", f->family, f->ks_p,
            f->ad_p);
    } else {
        say(fit, "%s, as asked, does not fit: ", f->family);
        say_not_believed(fit, f);
    }
}

static void judge_all(xb_fit *fit)
{
    int best = best_parametric(fit, false), fitting = best_parametric(fit, true);
    const char *by = fit->criterion == XB_CRITERION_BIC ? "BIC" : "AIC";
    for (int i = 0; i < fit->count; i++)
        if (is_empirical(fit, i)) fit->chosen = i;
    if (best < 0) {
        say(fit, "No parametric family converged: empirical is the honest choice. ");
    } else if (fitting < 0) {
        say(fit,
            "No parametric family fits; empirical is the honest choice. The best by"
            " %s, %s: ",
            by, fit->family[best].family);
        say_not_believed(fit, &fit->family[best]);
    } else {
        const xb_fit_family *f = &fit->family[fitting];
        fit->chosen = fitting;
        say(fit, "%s fits and is best by %s%s: KS p = %.2g, Anderson-Darling p = %.2g. ",
            f->family, by, fitting == best ? "" : " of those that fit", f->ks_p, f->ad_p);
    }
}

void xb_fit_choose(xb_fit *fit)
{
    for (int i = 0; i < fit->count; i++) fit->family[i].fits = fits(fit, &fit->family[i]);
    fit->verdict[0] = '\0';
    if (fit->asked)
        judge_asked(fit);
    else
        judge_all(fit);
    say_correlated(fit);
    say_few(fit);
    size_t length = strlen(fit->verdict);
    while (length > 0 && fit->verdict[length - 1] == ' ') fit->verdict[--length] = '\0';
}
