/* claims_quantile.c: Fig. 3: polynomials for the inverse distribution, with and without
 * removing its square root at the edge first, and the effect of sampling with them on a
 * Monte Carlo KL. The study also computes the exact bias, which no number of draws shows.
 */
#include <math.h>

#include "crossbayes/extend.h"
#include "reproduce/claims.h"

enum { DEGREE = 10 }; /* degree of the polynomials in the figure */

/* The row of that degree; -1: none. */
static int64_t degree_row(const xb_table *t)
{
    for (int64_t r = 0; r < xb_table_row_count(t); r++)
        if (xb_table_at(t, r, "degree") == DEGREE) return r;
    return -1;
}

static void judge_whole(xb_judgement *j, const xb_evidence *e)
{
    const xb_table *t = xb_evidence_table(e, "u_error", "degree,direct,corrected");
    int64_t row = t ? degree_row(t) : -1;
    if (row < 0) return;
    double direct = xb_table_at(t, row, "direct");
    double corrected = xb_table_at(t, row, "corrected");
    xb_judge_at_least(j, (xb_estimate){direct / corrected, 0}, 1);
    xb_say(j->number, sizeof j->number, "largest error in u: corrected %.2g, direct %.2g",
           corrected, direct);
    xb_say(j->why, sizeof j->why,
           "At degree %d the corrected fit is %.0f times as accurate. A polynomial in "
           "sqrt(2u), in which the quantile is smooth, converges geometrically; the "
           "corrected fit converges as n⁻³.",
           DEGREE, direct / corrected);
}

static double largest_gap(const xb_table *t, const char *column)
{
    double largest = 0;
    for (int64_t r = 0; r < xb_table_row_count(t); r++)
        largest =
            fmax(largest, fabs(xb_table_at(t, r, column) - xb_table_at(t, r, "exact")));
    return largest;
}

static void judge_edge(xb_judgement *j, const xb_evidence *e)
{
    const xb_table *t = xb_evidence_table(e, "near_zero", "u,exact,direct,corrected");
    if (!t) return;
    double direct = largest_gap(t, "direct"), corrected = largest_gap(t, "corrected");
    xb_judge_at_least(j, (xb_estimate){direct / corrected, 0}, 1);
    xb_say(j->number, sizeof j->number, "largest error in x: corrected %.2g, direct %.2g",
           corrected, direct);
    xb_say(j->why, sizeof j->why,
           "The errors are those below u = 0.01, on a support of half-width 1. The "
           "correction fails "
           "for laws whose slope at the edge is tiny (no parabola, small B); this law is "
           "not one of them.");
}

/* The size of estimate - exact in standard errors, at the largest number of draws. */
static double off_in_noise(const xb_table *t, const char *fit)
{
    int64_t last = xb_table_row_count(t) - 1;
    return xb_table_at(t, last, fit) / xb_table_at(t, last, "std_error");
}

static void judge_direct_bias(xb_judgement *j, const xb_evidence *e)
{
    const double visible = 3;
    const xb_table *t = xb_evidence_table(e, "kl_error", "draws,direct,std_error");
    if (!t) return;
    double off = off_in_noise(t, "direct");
    xb_judge_at_least(j, (xb_estimate){off, 1}, visible);
    xb_say(j->number, sizeof j->number,
           "KL is off by %.1f standard errors; its exact bias is %.2g", off,
           xb_evidence_fact(e, "bias_direct").value);
    xb_say(j->why, sizeof j->why,
           "With %.2g draws the estimate from the direct fit differs from the KL of %.4g "
           "by %.2g.",
           xb_table_at(t, xb_table_row_count(t) - 1, "draws"),
           xb_evidence_fact(e, "kl_exact").value,
           xb_table_at(t, xb_table_row_count(t) - 1, "direct"));
}

static void judge_corrected_converges(xb_judgement *j, const xb_evidence *e)
{
    const double noise = 3;
    const xb_table *t = xb_evidence_table(e, "kl_error", "draws,corrected,std_error");
    if (!t) return;
    int64_t last = xb_table_row_count(t) - 1;
    double off = off_in_noise(t, "corrected");
    double draws = xb_table_at(t, last, "draws");
    double error = xb_table_at(t, last, "std_error");
    double bias = fabs(xb_evidence_fact(e, "bias_corrected").value);
    xb_judge_at_most(j, (xb_estimate){off, 0}, noise);
    xb_say(j->number, sizeof j->number,
           "KL is off by %.1f standard errors; its exact bias is %.1g", off, bias);
    xb_say(j->why, sizeof j->why,
           "%s its noise at %.2g draws (one standard error is %.1g). Its exact bias is "
           "not 0, but it takes %.1g draws to see it.",
           off <= noise ? "It is still within" : "It is beyond", draws, error,
           draws * (error / bias) * (error / bias));
}

/* q falls to 0 at -1 with the slope K = A e^(-1/B)/B + 2C (or 2A.. for the square);
 * the printed limit has 2C alone. */
static void judge_slope(xb_judgement *j, const xb_evidence *e)
{
    const double exact = 1e-6;
    double edge = 1e-7; /* distance from the edge, which is also about the relative error
                           of the slope */
    double slope = xb_law_pdf(e->device, xb_law_lower(e->device) + edge) / edge;
    double printed = 2 * xb_law_number(e->device, "C");
    xb_judge_at_most(j, (xb_estimate){slope / printed - 1, 0}, exact);
    xb_say(j->number, sizeof j->number, "slope of the density at the edge %.5g, not %.5g",
           slope, printed);
    xb_say(j->why, sizeof j->why,
           "The limit printed in the text keeps the parabola and drops the exponential, "
           "which is %.2g %% of the slope for this law and all of it if w = 1. The "
           "formula in Appendix A, which the method uses, has both terms and is correct.",
           100 * (1 - printed / slope));
}

static const xb_claim_kind kinds[] = {
    {3, "corrected-fit", "Removing the square root first gives a more accurate quantile.",
     "curves, left", judge_whole},
    {3, "near-zero", "The gain is largest near u = 0.", "curves, middle", judge_edge},
    {3, "direct-bias",
     "A KL by Monte Carlo with the direct fit converges to a wrong value.",
     "curve levels off, right", judge_direct_bias},
    {3, "corrected-converges", "With the corrected fit it continues to converge.",
     "curve continues to fall, right", judge_corrected_converges},
    {3, "edge-slope",
     "The quantile's slope at the edge is set by the parabola, 1/(C(1-x²)).",
     "formula in the text", judge_slope},
};

const xb_claim_list xb_claims_quantile = {kinds, XB_COUNT(kinds)};
