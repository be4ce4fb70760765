/* gap.c: see gap.h; maths C17.
 *
 * A gap has an interval, [lower, upper], and the verdict follows from its position: below
 * the tolerance, above it, or across it. The intervals of all three gaps hold at once
 * with 95 %, whatever the dependence between points and gaps, so more draws move a
 * verdict from "cannot tell" to one side and not from one side to the other. */
#include "compare/gap.h"

#include <math.h>

#include "compare/jackknife.h"

void xb_gap_add(xb_gap_sums *gap, double value, double error, int64_t point)
{
    gap->square += value * value;
    gap->variance += error * error;
    if (point > 0 && fabs(value) <= fabs(gap->largest)) return;
    gap->largest = value;
    gap->largest_error = error;
    gap->largest_at = point;
}

double xb_gap_reach(int groups)
{
    const double z = 2.3939797998185104; /* normal quantile of 1 - 0.05 / 3 / 2 */
    double f = groups - 1, z2 = z * z;
    /* Student's quantile by Cornish and Fisher: 7e-4 off at 10 degrees, 6e-5 at 19. */
    return z * (1 + (z2 + 1) / (4 * f) + ((5 * z2 + 16) * z2 + 3) / (96 * f * f) +
                (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * f * f * f));
}

double xb_gap_draws_least(double memory)
{
    const double independent = 20, in_group = 5; /* numbers of draws; the second is
                                                    multiplied by the memory */
    return fmax(independent, ceil(XB_JACKKNIFE_GROUPS * in_group * (memory - 1)));
}

static xb_verdict verdict_of(const xb_gap *g, const xb_gap_case *c)
{
    if ((double)c->draws < c->least) return XB_VERDICT_UNRESOLVED;
    return g->upper <= c->tolerance  ? XB_VERDICT_SAME
           : g->lower > c->tolerance ? XB_VERDICT_DIFFERENT
                                     : XB_VERDICT_UNRESOLVED;
}

/* At least as many as were used; growth is the factor by which their number must
 * increase. */
static double draws_for(double growth, const xb_gap_case *c)
{
    if (isnan(growth)) return NAN;
    double draws = fmax(ceil((double)c->draws * fmax(1, growth)), c->least);
    return draws <= XB_DRAWS_MAX ? draws : INFINITY;
}

/* The noise q at which sqrt(excess^2 + q^2) is t q away from the tolerance. */
static double noise_needed(double excess, double tolerance, double t)
{
    double a = t * t - 1, b = t * tolerance,
           room = tolerance * tolerance - excess * excess;
    double root = sqrt(fmax(0, b * b - a * room));
    return room >= 0 ? room / (b + root) : -room / (b + root);
}

xb_gap xb_gap_of(const xb_gap_sums *sums, const xb_gap_case *c)
{
    double square = sums->square / (double)c->n, noise2 = sums->variance / (double)c->n;
    double reach = xb_gap_reach(c->groups);
    xb_gap g = {.rms = sqrt(square), .noise = sqrt(noise2)};
    g.excess = sqrt(fmax(0, square - noise2));
    g.upper = g.rms + reach * g.noise;
    g.lower = fmax(0, g.rms - reach * g.noise);
    g.largest = sums->largest;
    g.largest_error = sums->largest_error;
    g.largest_at = sums->largest_at;
    g.verdict = verdict_of(&g, c);
    double ratio = g.noise / noise_needed(g.excess, c->tolerance, reach);
    g.draws_needed = draws_for(
        g.verdict == XB_VERDICT_UNRESOLVED && g.noise != 0 ? ratio * ratio : 1, c);
    return g;
}

/* How far the true square may be above the fair one: its error, measured at a square
 * that came out `measured`, grows with the square itself. */
static double above(const xb_gap_square *q, double reach)
{
    double c = reach * q->error, half = 0.5 * c * c / (q->measured + q->unseen);
    return c > 0 ? half + sqrt(half * half + c * c)
                 : c; /* d = c sqrt(1 + d / measured) */
}

/* Errors of squares shrink like 1/S if there is no gap, and like 1/sqrt S if there is
 * one. */
static double square_growth(const xb_gap_square *q, double reach, double tolerance)
{
    double room = tolerance * tolerance - q->fair, limit = fabs(room);
    if (room > 0) limit /= sqrt(1 + room / (q->measured + q->unseen));
    double ratio = reach * q->error / limit;
    return q->fair > reach * q->error ? ratio * ratio : ratio;
}

static double root(double x) { return isnan(x) ? NAN : sqrt(fmax(0, x)); }

xb_gap xb_gap_of_square(const xb_gap_square *q, const xb_gap_sums *sums,
                        const xb_gap_case *c)
{
    double reach = xb_gap_reach(c->groups);
    xb_gap g = {.rms = root(q->measured), .excess = root(q->fair)};
    g.noise = root(q->measured + q->unseen - q->fair);
    g.upper = root(q->fair + above(q, reach));
    g.lower = root(q->fair - reach * q->error);
    g.largest = root(sums->largest);
    g.largest_error =
        g.largest > 0 ? sums->largest_error / (2 * g.largest) : root(sums->largest_error);
    g.largest_at = sums->largest_at;
    g.verdict = verdict_of(&g, c);
    bool open = g.verdict == XB_VERDICT_UNRESOLVED && q->error != 0;
    g.draws_needed = draws_for(open ? square_growth(q, reach, c->tolerance) : 1, c);
    return g;
}

xb_verdict xb_gap_joint(const xb_gap *gap, int count)
{
    bool same = true;
    for (int i = 0; i < count; i++) {
        if (gap[i].verdict == XB_VERDICT_DIFFERENT) return XB_VERDICT_DIFFERENT;
        same = same && gap[i].verdict == XB_VERDICT_SAME;
    }
    return same ? XB_VERDICT_SAME : XB_VERDICT_UNRESOLVED;
}

xb_gap xb_gap_none(void)
{
    return (xb_gap){.rms = NAN,
                    .noise = NAN,
                    .excess = NAN,
                    .lower = NAN,
                    .upper = NAN,
                    .largest = NAN,
                    .largest_error = NAN,
                    .largest_at = -1,
                    .draws_needed = NAN,
                    .verdict = XB_VERDICT_UNRESOLVED};
}
