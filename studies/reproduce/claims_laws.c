/* claims_laws.c: Fig. 1 (MTJ) and Fig. 7 (ECRAM): noise, the law fitted to it, and laws
 * of the same variance side by side. The paper's samples and its A, B and C are not
 * published: ours are drawn from a law of its family, so the method can be checked here
 * and the device cannot. */
#include <math.h>
#include <string.h>

#include "crossbayes/extend.h"
#include "reproduce/claims.h"

/* ---- the fit follows the samples */

static const double EXPECTED_LEAST = 10; /* smallest expected number of samples in a bin
                                            that counts */
static const double FITTED = 5; /* constraints: B, w, scale, offset, and the total */

typedef struct chi_square {
    double sum, freedom;
} chi_square;

/* (H2) The mean of the fit over bin k. It is exact even if the density has a corner in
 * the middle of a bin. */
static double fit_over_bin(const xb_table *t, int64_t k, int fit)
{
    return (xb_table_get(t, k - 1, fit) + 6 * xb_table_get(t, k, fit) +
            xb_table_get(t, k + 1, fit)) /
           8;
}

/* (H2) Pearson's statistic, over the bins with enough samples. */
static chi_square histogram_misfit(const xb_table *t, double n)
{
    int x = xb_table_column_find(t, "x"), density = xb_table_column_find(t, "density"),
        fit = xb_table_column_find(t, "fit");
    double width = xb_table_get(t, 1, x) - xb_table_get(t, 0, x);
    chi_square c = {0, -FITTED};
    for (int64_t k = 1; k + 1 < xb_table_row_count(t); k++) {
        double expected = fit_over_bin(t, k, fit) * n * width;
        double off = xb_table_get(t, k, density) * n * width - expected;
        if (expected < EXPECTED_LEAST) continue;
        c.sum += off * off / expected;
        c.freedom++;
    }
    return c;
}

static void judge_fit(xb_judgement *j, const xb_evidence *e)
{
    const xb_table *t = xb_evidence_table(e, "histogram", "x,density,fit");
    double n = xb_evidence_fact(e, "samples").value;
    if (!t || xb_table_row_count(t) < 3) return;
    chi_square c = histogram_misfit(t, n);
    if (!(c.freedom > 0)) return;
    const double spreads = 3;
    xb_estimate ratio = {c.sum / c.freedom, sqrt(2 / c.freedom)};
    xb_judge_at_most(j, (xb_estimate){ratio.value, 0}, 1 + spreads * ratio.std_error);
    j->std_error = ratio.std_error;
    bool follows = j->finding == XB_FINDING_AGREES;
    xb_judge_unclear_if_made_up(j, e);
    xb_say(j->number, sizeof j->number, "χ² per degree of freedom %s (expected 1)",
           xb_show_estimate(ratio).text);
    xb_say(
        j->why, sizeof j->why, "The fitted density %s the histogram of %.0f samples. %s",
        follows ? "follows" : "does not follow", n,
        e->made_up ? "But we drew these samples from a law of that family: the paper's "
                     "samples are not published, so the device itself is unchecked."
                   : "");
}

/* ---- maximum likelihood finds the law */

static double in_errors(xb_estimate found, double truth)
{
    return found.std_error > 0 ? fabs(found.value - truth) / found.std_error : NAN;
}

static void judge_parameters(xb_judgement *j, const xb_evidence *e)
{
    const double limit = 3; /* standard errors; two parameters: false alarm 0.5 % */
    xb_estimate b = xb_evidence_fact(e, "fit_B"), w = xb_evidence_fact(e, "fit_w");
    double true_b = xb_law_number(e->device, "B"), true_w = xb_law_number(e->device, "w");
    double off = fmax(in_errors(b, true_b), in_errors(w, true_w));
    if (isnan(b.value) || isnan(w.value)) off = NAN; /* another family was chosen */
    xb_judge_at_most(j, (xb_estimate){off, 0}, limit);
    xb_say(j->number, sizeof j->number, "B = %s, w = %s", xb_show_estimate(b).text,
           xb_show_estimate(w).text);
    xb_say(j->why, sizeof j->why,
           "The samples were drawn with B = %g and w = %g; the fit is off by at most "
           "%.1f standard errors. We fit B and the weight w by Newton's method, in a "
           "form whose integral is always 1 (A = w/Z, C = 3(1-w)/4); the paper maximises "
           "the same likelihood by Adam under a constraint.",
           true_b, true_w, off);
}

/* ---- how far from the Gaussian */

static const char *stand_in_words(const xb_evidence *e)
{
    return e->made_up ? " But the law is our stand-in: the device's A, B and C are not "
                        "published, so the claim about the device cannot be checked."
                      : "";
}

static void judge_not_gaussian(xb_judgement *j, const xb_evidence *e)
{
    const double sure = 10; /* nats of likelihood: one in 22,000 */
    double kl = xb_evidence_fact(e, "kl_device").value;
    double n = xb_evidence_fact(e, "effective_samples").value;
    xb_judge_at_least(j, (xb_estimate){kl, 0}, sure / n);
    xb_judge_unclear_if_made_up(j, e);
    xb_say(j->number, sizeof j->number,
           "KL from the Gaussian of the same variance %.3g nats", kl);
    xb_say(j->why, sizeof j->why,
           "%.0f samples give evidence of %.0f nats against the Gaussian; %.0f nats "
           "would be enough.%s",
           n, n * kl, sure, stand_in_words(e));
}

static void judge_bimodal_further(xb_judgement *j, const xb_evidence *e)
{
    const double much = 2;
    double device = xb_evidence_fact(e, "kl_device").value;
    double bimodal = xb_evidence_fact(e, "kl_bimodal").value;
    xb_judge_at_least(j, (xb_estimate){bimodal / device, 0}, much);
    xb_judge_unclear_if_made_up(j, e);
    xb_say(j->number, sizeof j->number, "KL %.3g (mixture), %.3g (device): %.1f times",
           bimodal, device, bimodal / device);
    xb_say(j->why, sizeof j->why,
           "The paper does not give the mixture's numbers; ours has its modes at ±0.9 "
           "standard deviations. We read \"much\" as %g times or more.%s",
           much, stand_in_words(e));
}

/* Standard deviation of a tabulated density, points equally far apart. */
static double sd_of(const xb_table *t, const char *column)
{
    int x = xb_table_column_find(t, "x"), c = xb_table_column_find(t, column);
    double mass = 0, first = 0, second = 0;
    for (int64_t r = 0; r < xb_table_row_count(t); r++) {
        double p = xb_table_get(t, r, c), at = xb_table_get(t, r, x);
        mass += p, first += p * at, second += p * at * at;
    }
    return sqrt(second / mass - first * first / (mass * mass));
}

static void judge_equal_spread(xb_judgement *j, const xb_evidence *e)
{
    const double limit = 1e-3; /* the Gaussian has a mass of 5e-4 beyond the table's 4
                                  sd */
    const xb_table *t = xb_evidence_table(e, "densities", "x,gaussian,device,bimodal");
    if (!t) return;
    double device = sd_of(t, "device"), off = 0;
    off = fmax(off, fabs(sd_of(t, "gaussian") / device - 1));
    off = fmax(off, fabs(sd_of(t, "bimodal") / device - 1));
    xb_judge_at_most(j, (xb_estimate){off, 0}, limit);
    xb_say(j->number, sizeof j->number, "standard deviations agree to %.2g", off);
    xb_say(j->why, sizeof j->why,
           "We integrate the curves drawn, which end at 4 standard deviations; every law "
           "is standardised before use, so that swapping laws changes the shape alone.");
}

/* (H3) */
static double variation(const xb_table *t, const char *one, const char *other)
{
    int x = xb_table_column_find(t, "x"), a = xb_table_column_find(t, one),
        b = xb_table_column_find(t, other);
    double step = xb_table_get(t, 1, x) - xb_table_get(t, 0, x), sum = 0;
    for (int64_t r = 0; r < xb_table_row_count(t); r++)
        sum += fabs(xb_table_get(t, r, a) - xb_table_get(t, r, b)) * step;
    return sum / 2;
}

static void judge_near_gaussian(xb_judgement *j, const xb_evidence *e)
{
    const double similar = 0.1;
    const xb_table *t = xb_evidence_table(e, "densities", "x,gaussian,device");
    if (!t || xb_table_row_count(t) < 2) return;
    double kl = xb_evidence_fact(e, "kl_device").value;
    double distance = variation(t, "device", "gaussian");
    xb_judge_at_most(j, (xb_estimate){distance, 0}, similar);
    xb_judge_unclear_if_made_up(j, e);
    xb_say(j->number, sizeof j->number, "total variation %.3g, KL %.3g nats", distance,
           kl);
    xb_say(j->why, sizeof j->why,
           "%.1f %% of the mass would have to move to make it Gaussian; we read "
           "\"similar\" as at most %.0f %%.%s",
           100 * distance, 100 * similar, stand_in_words(e));
}

static void judge_nearer_than_mtj(xb_judgement *j, const xb_evidence *e)
{
    double kl = xb_evidence_fact(e, "kl_device").value;
    double mtj = xb_law_kl_gaussian(e->mtj);
    xb_judge_at_most(j, (xb_estimate){kl / mtj, 0}, 1);
    xb_judge_unclear_if_made_up(j, e);
    xb_say(j->number, sizeof j->number, "KL %.3g nats, the MTJ's %.3g", kl, mtj);
    xb_say(j->why, sizeof j->why, "The ECRAM's KL is %.0f %% of the MTJ's (Fig. 1).%s",
           100 * kl / mtj, stand_in_words(e));
}

static const xb_claim_kind kinds[] = {
    {1, "fit", "A density with three parameters describes the MTJ's noise.",
     "fit over histogram, top", judge_fit},
    {1, "parameters",
     "Maximum likelihood with the integral held at 1 finds the parameters.",
     "values not given", judge_parameters},
    {1, "not-gaussian", "The device's noise is not quite Gaussian.", "in words",
     judge_not_gaussian},
    {1, "bimodal-further",
     "The mixture of two Gaussians is much further from a Gaussian than the device.",
     "in words, and curves, bottom", judge_bimodal_further},
    {1, "equal-spread", "All three laws have the same mean and standard deviation.",
     "by construction", judge_equal_spread},
    {7, "ecram-fit", "The density with a rounded peak describes the ECRAM's noise.",
     "fit over histogram, top", judge_fit},
    {7, "ecram-parameters", "Maximum likelihood finds its parameters.",
     "values not given", judge_parameters},
    {7, "ecram-near-gaussian", "The ECRAM's law itself is similar to the Gaussian.",
     "in words, and curves, bottom", judge_near_gaussian},
    {7, "ecram-nearer", "The ECRAM's law is closer to the Gaussian than the MTJ's.",
     "from the two figures", judge_nearer_than_mtj},
};

const xb_claim_list xb_claims_laws = {kinds, XB_COUNT(kinds)};
