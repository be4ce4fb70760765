/* claims_quadrature.c: Fig. 2 and Appendix B: which rules converge, by the paper's own
 * measure (the squared change from one order to the next) and by the true error, which
 * that measure cannot see. Rules are compared over the largest quarter of the orders, by
 * the median, so that a single lucky order has no influence. */
#include <math.h>
#include <stdlib.h>

#include "crossbayes/extend.h"
#include "reproduce/claims.h"

enum { ORDERS_MOST = 256 };
static const double CLEARLY = 10; /* a factor that counts as a clear difference */

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Median of a rule's column over the last quarter of its orders. */
static double late_median(const xb_table *t, const char *rule)
{
    double value[ORDERS_MOST];
    int column = xb_table_column_find(t, rule), n = 0;
    int64_t rows = xb_table_row_count(t);
    for (int64_t r = rows - rows / 4; r < rows && n < ORDERS_MOST; r++)
        if (isfinite(xb_table_get(t, r, column))) value[n++] = xb_table_get(t, r, column);
    if (n == 0) return NAN;
    qsort(value, (size_t)n, sizeof *value, ascending);
    return value[n / 2];
}

/* How many times smaller the custom rule's number is than the standard one's. */
static double judge_ratio(xb_judgement *j, const xb_table *t)
{
    double standard = late_median(t, "legendre"), custom = late_median(t, "paper_split");
    double ratio = standard / fmax(custom, 1e-300); /* the change may be 0 */
    j->value = ratio;
    j->finding = ratio > CLEARLY       ? XB_FINDING_AGREES
                 : ratio < 1 / CLEARLY ? XB_FINDING_DIFFERS
                                       : XB_FINDING_UNCLEAR;
    if (isnan(custom)) j->value = NAN;
    return ratio;
}

static int last_order(const xb_table *t)
{
    return (int)xb_table_at(t, xb_table_row_count(t) - 1, "n");
}

static void judge_steps(xb_judgement *j, const xb_evidence *e, const char *table)
{
    const xb_table *t = xb_evidence_table(e, table, "n,legendre,paper_split");
    if (!t) return;
    double ratio = judge_ratio(j, t);
    xb_say(j->number, sizeof j->number, "squared change %.1g, Gauss-Legendre %.1g",
           late_median(t, "paper_split"), late_median(t, "legendre"));
    xb_say(j->why, sizeof j->why,
           "By the paper's own measure, at up to %d points, Gauss-Legendre still changes "
           "%.1g times as much as the split rule.",
           last_order(t), ratio);
}

static void judge_variance_steps(xb_judgement *j, const xb_evidence *e)
{
    judge_steps(j, e, "device_variance_step");
}

static void judge_kl_steps(xb_judgement *j, const xb_evidence *e)
{
    judge_steps(j, e, "device_kl_step");
}

/* The same comparison for the true errors. A rule that is no better once the other has
 * reached its floor does not converge faster. */
static void judge_errors(xb_judgement *j, const xb_evidence *e)
{
    const xb_table *v =
        xb_evidence_table(e, "device_variance_error", "n,legendre,paper_split");
    const xb_table *k = xb_evidence_table(e, "device_kl_error", "n,legendre,paper_split");
    if (!v || !k) return;
    double variance = late_median(v, "legendre") / late_median(v, "paper_split");
    double kl = late_median(k, "legendre") / late_median(k, "paper_split");
    /* the rule must be better for both */
    xb_judge_at_least(j, (xb_estimate){fmin(variance, kl), 0}, 1);
    xb_say(
        j->number, sizeof j->number,
        "true error: variance %.1g (Gauss-Legendre %.1g), KL %.1g (Gauss-Legendre %.1g)",
        late_median(v, "paper_split"), late_median(v, "legendre"),
        late_median(k, "paper_split"), late_median(k, "legendre"));
    xb_say(j->why, sizeof j->why,
           "The split rule agrees only if it is better for both. Its trapezoid around 0 "
           "leaves "
           "a floor, %.2g in the variance and %.2g in KL, "
           "which more points do not lower and which a change between orders does not "
           "show. The paper gives no half-width; these numbers are for 0.01. Our rule in "
           "sqrt(1-|x|) has an error of %.1g in KL with 128 points.",
           xb_evidence_fact(e, "paper_split_variance_floor").value,
           xb_evidence_fact(e, "paper_split_kl_floor").value,
           xb_evidence_fact(e, "smooth_kl_error").value);
}

static void judge_two_points(xb_judgement *j, const xb_evidence *e)
{
    const double rounding = 1e-14;
    xb_judge_at_most(j, xb_evidence_fact(e, "two_point_cross_entropy_error"), rounding);
    xb_say(j->number, sizeof j->number, "largest relative error %.2g", j->value);
    xb_say(j->why, sizeof j->why,
           "A Gaussian's log density is a polynomial of degree 2, and a rule of two "
           "points is exact up to degree 3. We tried three Gaussians.");
}

static void judge_wheeler(xb_judgement *j, const xb_evidence *e)
{
    const double about_ten = 15;
    xb_judge_at_most(j, xb_evidence_fact(e, "wheeler_breaks_at"), about_ten);
    xb_say(j->number, sizeof j->number, "breaks down at N = %.0f", j->value);
    xb_say(j->why, sizeof j->why,
           "%sFrom exact raw moments in double precision the first coefficient becomes "
           "negative at N = %.0f; we read \"about 10\" as up to %.0f. Our rules are made "
           "from the density, without moments, and have no such limit.",
           j->finding == XB_FINDING_DIFFERS ? "It is unstable, but later. " : "",
           j->value, about_ten);
}

/* The share of the orders at which two-sided Gauss-Laguerre is more accurate than
 * Gauss-Hermite. */
static void judge_laguerre(xb_judgement *j, const xb_evidence *e)
{
    const double nearly_all = 0.9;
    const xb_table *t =
        xb_evidence_table(e, "bimodal_kl_error", "n,hermite,paper_laguerre");
    if (!t) return;
    double better = 0, all = 0;
    for (int64_t r = 0; r < xb_table_row_count(t); r++) {
        double laguerre = xb_table_at(t, r, "paper_laguerre");
        double hermite = xb_table_at(t, r, "hermite");
        if (isnan(laguerre) || isnan(hermite)) continue;
        better += laguerre < hermite, all++;
    }
    double share = all > 0 ? better / all : NAN;
    j->value = share;
    j->finding = share >= nearly_all       ? XB_FINDING_AGREES
                 : share <= 1 - nearly_all ? XB_FINDING_DIFFERS
                                           : XB_FINDING_UNCLEAR;
    xb_say(j->number, sizeof j->number,
           "Gauss-Laguerre is more accurate in %.0f of %.0f orders", better, all);
    xb_say(j->why, sizeof j->why,
           "We compute the KL of our mixture with up to %d points. Which of the two is "
           "more accurate depends on the order and on the mixture's scale, which the "
           "paper does not give. Both are far less accurate than the trapezoid rule "
           "(error %.1g with 128 points).",
           last_order(t), xb_evidence_fact(e, "bimodal_trapezoid_kl_error").value);
}

static const xb_claim_kind kinds[] = {
    {2, "steps-variance",
     "For the variance the custom rule converges faster than Gauss-Legendre, by the "
     "change between orders.",
     "squared change between orders, top", judge_variance_steps},
    {2, "steps-kl",
     "For the KL to a Gaussian it converges faster, too, by the same measure.",
     "squared change between orders, bottom", judge_kl_steps},
    {2, "true-error", "The custom rule converges faster to the true variance and KL.",
     "in words", judge_errors},
    {2, "two-points",
     "Two points integrate any cross entropy with a Gaussian to machine precision.",
     "exact", judge_two_points},
    {2, "wheeler",
     "Wheeler's algorithm is unstable for rules of about 10 points or more.",
     "N about 10", judge_wheeler},
    {2, "laguerre",
     "For the mixture two-sided Gauss-Laguerre does better than Gauss-Hermite.",
     "in words", judge_laguerre},
};

const xb_claim_list xb_claims_quadrature = {kinds, XB_COUNT(kinds)};
