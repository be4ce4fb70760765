/* claims_scalar.c: Fig. 5: a noisy sine, learnt with Gaussian weights and evaluated under
 * three laws. What the paper calls nearly identical is measured here in units of sigma_e,
 * the spread over weights; scores are means over the study's seeds. */
#include <math.h>
#include <string.h>

#include "crossbayes/extend.h"
#include "reproduce/claims.h"

static const double IDENTICAL = 0.01; /* in units of sigma_e, as in the study (C17) */

/* Judges the larger of the two differences, that of means and that of sigma_e. */
static void judge_gap(xb_judgement *j, const xb_evidence *e, const char *law)
{
    char name[2][64];
    xb_say(name[0], sizeof name[0], "gap_mean_%s_rms", law);
    xb_say(name[1], sizeof name[1], "gap_sd_%s_rms", law);
    xb_estimate mean = xb_evidence_fact(e, name[0]), sd = xb_evidence_fact(e, name[1]);
    bool by_sd = sd.value + 2 * sd.std_error > mean.value + 2 * mean.std_error;
    xb_judge_at_most(j, by_sd ? sd : mean, IDENTICAL);
    xb_say(j->number, sizeof j->number, "means differ by %s epistemic sds, sds by %s",
           xb_show_estimate(mean).text, xb_show_estimate(sd).text);
    xb_say(j->why, sizeof j->why,
           "These are root mean squares over x in [-1.5, 1.5], and include the Monte "
           "Carlo noise given beside them; draws are paired, so that every law uses the "
           "same random words. We read \"nearly identical\" as within %g epistemic sds.",
           IDENTICAL);
}

static void judge_device(xb_judgement *j, const xb_evidence *e)
{
    judge_gap(j, e, "device");
}

static void judge_bimodal(xb_judgement *j, const xb_evidence *e)
{
    judge_gap(j, e, "bimodal");
}

/* The ratio of two facts whose errors, if they have any, are of similar size. */
static xb_estimate ratio_of(xb_estimate a, xb_estimate b)
{
    double r = a.value / b.value;
    return (xb_estimate){r,
                         fabs(r) * hypot(a.std_error / a.value, b.std_error / b.value)};
}

static void judge_trained(xb_judgement *j, const xb_evidence *e)
{
    const double as_good = 1.1;
    xb_estimate own = xb_evidence_fact(e, "rmse_trained"),
                gaussian = xb_evidence_fact(e, "rmse");
    xb_estimate ratio = ratio_of(own, gaussian);
    xb_judge_at_most(j, ratio, as_good);
    xb_say(j->number, sizeof j->number, "RMSE %s, with Gaussian weights %s",
           xb_show_estimate(own).text, xb_show_estimate(gaussian).text);
    xb_say(j->why, sizeof j->why,
           "The net was trained with the device's draws and its rule of two points for "
           "the prior, and evaluated under the device's law: it has %s times the "
           "Gaussian's RMSE (up to %g counts as working).",
           xb_show_estimate(ratio).text, as_good);
}

static void judge_literal(xb_judgement *j, const xb_evidence *e)
{
    const double useful = 1.5;
    xb_estimate literal = xb_evidence_fact(e, "rmse_literal"),
                ideal = xb_evidence_fact(e, "rmse_ideal");
    xb_estimate ratio = ratio_of(literal, ideal);
    xb_judge_at_most(j, ratio, useful);
    xb_say(j->number, sizeof j->number, "RMSE %s; oracle RMSE %s",
           xb_show_estimate(literal).text, xb_show_estimate(ideal).text);
    xb_say(j->why, sizeof j->why,
           "The paper does not give the initial sigma of the weights. From 0.05, a usual "
           "choice, 1000 steps of 1e-3 move it to %.4f: the epistemic sd stays at %.2g. "
           "More than %g "
           "times the oracle RMSE counts as not trained. Starting at 0.005, with log "
           "sigma as the parameter and draws for each example, reaches RMSE %.4g.",
           xb_evidence_fact(e, "sigma_median_literal").value,
           xb_evidence_fact(e, "sigma_e_literal").value, useful,
           xb_evidence_fact(e, "rmse").value);
}

/* The formula as it is printed; the study takes the absolute value. */
static double printed_sd(double x) { return 0.1 * (1 + fmin(0, x - 1)); }

static void judge_formula(xb_judgement *j, const xb_evidence *e)
{
    const xb_table *t = xb_evidence_table(e, "bands", "x,true_sd");
    double all = 0, below = 0, off = 0;
    if (!t) return;
    for (int64_t r = 0; r < xb_table_row_count(t); r++) {
        double x = xb_table_at(t, r, "x");
        if (fabs(x) > 1) continue;
        all++;
        below += printed_sd(x) < 0;
        off = fmax(off, fabs(fabs(printed_sd(x)) - xb_table_at(t, r, "true_sd")));
    }
    xb_judge_at_most(j, (xb_estimate){all > 0 ? below / all : NAN, 0}, 0);
    xb_say(j->number, sizeof j->number,
           "the printed sd is negative at %.0f of %.0f points in [-1, 1]", below, all);
    xb_say(j->why, sizeof j->why,
           "0.1(1 + min(0, x-1)) is 0.1 x for x up to 1, and a standard deviation cannot "
           "be negative. We take its absolute value (the points drawn agree with it to "
           "%.1g); "
           "the study's noise scale 'max' is the other possible reading.",
           off);
}

static void judge_aleatoric(xb_judgement *j, const xb_evidence *e)
{
    const double found = 0.2;
    const xb_table *t = xb_evidence_table(e, "bands", "x,true_sd");
    double n = 0, sum = 0;
    if (!t) return;
    for (int64_t r = 0; r < xb_table_row_count(t); r++)
        if (fabs(xb_table_at(t, r, "x")) <= 1) sum += xb_table_at(t, r, "true_sd"), n++;
    xb_estimate error = xb_evidence_fact(e, "sigma_a_error");
    error.value /= sum / n, error.std_error /= sum / n;
    xb_judge_at_most(j, error, found);
    xb_say(j->number, sizeof j->number, "mean error of the aleatoric sd: %s of the noise",
           xb_show_estimate(error).text);
    xb_say(
        j->why, sizeof j->why,
        "It is relative to the mean true standard deviation, %.3g in the training range; "
        "up to %g counts as predicted.",
        sum / n, found);
}

static void judge_outside(xb_judgement *j, const xb_evidence *e)
{
    const double nominal = 0.9;
    xb_estimate inside = xb_evidence_fact(e, "coverage95"),
                outside = xb_evidence_fact(e, "coverage95_out");
    xb_judge_at_least(j, outside, nominal);
    xb_say(j->number, sizeof j->number,
           "95 %% intervals hold %s of the data outside, %s inside",
           xb_show_estimate(outside).text, xb_show_estimate(inside).text);
    xb_say(j->why, sizeof j->why,
           "Beyond |x| = 1, the epistemic sd grows from %.2g to %.2g and the error to "
           "%.2g. A "
           "coverage of at least %g counts as captured.%s",
           xb_evidence_fact(e, "sigma_e").value, xb_evidence_fact(e, "sigma_e_out").value,
           xb_evidence_fact(e, "rmse_out").value, nominal,
           j->finding == XB_FINDING_DIFFERS
               ? " Independent weights are overconfident there."
               : "");
}

static const xb_claim_kind kinds[] = {
    {5, "device-same",
     "Device weights give nearly the same predictive distribution as Gaussian weights.",
     "curves, and in words", judge_device},
    {5, "bimodal-same", "So do weights with the mixture law.", "curves, and in words",
     judge_bimodal},
    {5, "device-training", "Networks can be trained with the device's own noise.",
     "the method of its section 3", judge_trained},
    {5, "literal-training",
     "Ten epochs of Adam at its standard rate, after maximum likelihood, train the "
     "kernels.",
     "Appendix C", judge_literal},
    {5, "aleatoric", "The second net predicts the noise of the data.", "curves",
     judge_aleatoric},
    {5, "noise-formula",
     "The data's noise has the standard deviation printed in the text.",
     "formula in the text", judge_formula},
    {5, "outside-range",
     "A Bayesian net captures the uncertainty far from its training data.",
     "introduction, of such nets in general", judge_outside},
};

const xb_claim_list xb_claims_scalar = {kinds, XB_COUNT(kinds)};
