/* claims_energy.c: Fig. 4 (MTJ and mixture) and Fig. 8 (ECRAM): nets trained to a
 * standard normal output with Gaussian weights and evaluated under other laws. Distances
 * are the KL of the output from that under Gaussian weights, each with its own error. */
#include <math.h>

#include "crossbayes/extend.h"
#include "reproduce/claims.h"

enum { DEVICE = 1, BIMODAL = 2 }; /* laws of the table `kl` */

/* (H3) By Pinsker's inequality two densities with this KL differ by at most 5 % of their
 * mass, which cannot be seen in their curves. */
static const double VISIBLE = 5e-3;
static const double RESOLVED = 3; /* number of standard errors beyond which a KL is
                                     significantly above 0 */

/* ---- cells of the table */

typedef struct kl_cell {
    double law, seed, depth, width, kl, error;
} kl_cell;

static const xb_table *kl_table(const xb_evidence *e)
{
    return xb_evidence_table(e, "kl", "law,seed,depth,width,kl,kl_error");
}

static kl_cell cell_at(const xb_table *t, int64_t row)
{
    return (kl_cell){xb_table_at(t, row, "law"),   xb_table_at(t, row, "seed"),
                     xb_table_at(t, row, "depth"), xb_table_at(t, row, "width"),
                     xb_table_at(t, row, "kl"),    xb_table_at(t, row, "kl_error")};
}

static bool same_line(const kl_cell *a, const kl_cell *b)
{
    return a->law == b->law && a->seed == b->seed && a->depth == b->depth;
}

/* The widest net of the cell's law, seed and depth. */
static kl_cell widest_of(const xb_table *t, const kl_cell *cell)
{
    kl_cell widest = *cell;
    for (int64_t r = 0; r < xb_table_row_count(t); r++) {
        kl_cell c = cell_at(t, r);
        if (same_line(&c, cell) && c.width > widest.width) widest = c;
    }
    return widest;
}

static double least_width(const xb_table *t)
{
    double least = INFINITY;
    for (int64_t r = 0; r < xb_table_row_count(t); r++)
        least = fmin(least, xb_table_at(t, r, "width"));
    return least;
}

/* ---- the laws come together with width */

typedef struct fall {
    int lines, fell, rose; /* lines of one law, seed and depth each: all, and those that
                              fell or rose beyond the errors */
    double log_factor;     /* sum over lines; a KL below its error counts as that error */
    double first, last;    /* largest KL of the narrowest and of the widest nets */
} fall;

static fall fall_of(const xb_table *t, int law)
{
    fall f = {0};
    double narrow = least_width(t);
    for (int64_t r = 0; r < xb_table_row_count(t); r++) {
        kl_cell a = cell_at(t, r);
        if (a.law != law || a.width != narrow) continue;
        kl_cell b = widest_of(t, &a);
        double error = 2 * hypot(a.error, b.error);
        f.lines++;
        f.fell += b.kl < a.kl - error;
        f.rose += b.kl > a.kl + error;
        f.log_factor += log(fmax(a.kl, 2 * a.error) / fmax(b.kl, 2 * b.error));
        f.first = fmax(f.first, a.kl);
        f.last = fmax(f.last, b.kl);
    }
    return f;
}

static void judge_fall(xb_judgement *j, const xb_evidence *e, int law)
{
    const xb_table *t = kl_table(e);
    if (!t) return;
    fall f = fall_of(t, law);
    if (f.lines == 0) return;
    j->value = exp(f.log_factor / f.lines);
    j->finding = f.rose > 0          ? XB_FINDING_DIFFERS
                 : f.fell == f.lines ? XB_FINDING_AGREES
                                     : XB_FINDING_UNCLEAR;
    xb_say(j->number, sizeof j->number,
           "largest KL %.1e in narrow nets, %.1e in wide nets", f.first, f.last);
    xb_say(j->why, sizeof j->why,
           "From the narrowest to the widest nets KL falls %.0f-fold (geometric mean), "
           "significantly so in %d of %d combinations of depth and seed%s.",
           j->value, f.fell, f.lines, f.rose > 0 ? "; in some of them it rises" : "");
}

static void judge_device_falls(xb_judgement *j, const xb_evidence *e)
{
    judge_fall(j, e, DEVICE);
}

static void judge_bimodal_falls(xb_judgement *j, const xb_evidence *e)
{
    judge_fall(j, e, BIMODAL);
}

/* ---- they approach the target */

/* (H3) Total variation between a law's output and the target in the net of one depth and
 * width. */
static double off_target(const xb_table *t, double depth, double width, const char *law)
{
    double sum = 0, before = NAN;
    for (int64_t r = 0; r < xb_table_row_count(t); r++) {
        if (xb_table_at(t, r, "depth") != depth) continue;
        if (xb_table_at(t, r, "width") != width) continue;
        double y = xb_table_at(t, r, "y");
        if (!isnan(before))
            sum +=
                fabs(xb_table_at(t, r, law) - xb_table_at(t, r, "target")) * (y - before);
        before = y;
    }
    return sum / 2;
}

static double worst_law(const xb_table *t, double depth, double width, bool bimodal)
{
    double worst = fmax(off_target(t, depth, width, "gaussian"),
                        off_target(t, depth, width, "device"));
    return bimodal ? fmax(worst, off_target(t, depth, width, "bimodal")) : worst;
}

/* The densities are those of the first and the last depth, narrowest net first. */
static void judge_target(xb_judgement *j, const xb_evidence *e, bool bimodal)
{
    const xb_table *t =
        xb_evidence_table(e, "densities", "depth,width,y,target,gaussian,device,bimodal");
    if (!t) return;
    int64_t last = xb_table_row_count(t) - 1;
    const double depth[] = {xb_table_at(t, 0, "depth"), xb_table_at(t, last, "depth")};
    double narrow = xb_table_at(t, 0, "width"), wide = xb_table_at(t, last, "width");
    double gain = INFINITY, first = 0, end = 0;
    for (int d = 0; d < XB_COUNT(depth); d++) {
        double a = worst_law(t, depth[d], narrow, bimodal),
               b = worst_law(t, depth[d], wide, bimodal);
        first = fmax(first, a), end = fmax(end, b), gain = fmin(gain, a - b);
    }
    /* (H3) the error: two runs with this KL between them differ by at most this */
    double noise = sqrt(xb_evidence_fact(e, "floor").value / 2);
    xb_judge_at_least(j, (xb_estimate){gain, noise / 2}, 0);
    j->value = end;
    j->std_error = noise / 2;
    xb_say(j->number, sizeof j->number,
           "%.1f %% of the mass is misplaced at width %.0f, %.1f %% at width %.0f",
           100 * end, wide, 100 * first, narrow);
    xb_say(
        j->why, sizeof j->why,
        "This is the total variation between the standard normal and the output under "
        "the law that is furthest from it, for %.0f and %.0f layers; at width %.0f it is "
        "%s, with the error taken from two separate runs.",
        depth[0], depth[1], wide, xb_show_estimate((xb_estimate){end, noise / 2}).text);
}

static void judge_all_to_target(xb_judgement *j, const xb_evidence *e)
{
    judge_target(j, e, true);
}

static void judge_device_to_target(xb_judgement *j, const xb_evidence *e)
{
    judge_target(j, e, false);
}

/* ---- how wide is wide enough */

/* The width from which KL is below VISIBLE in every net: significantly (sign +1), or
 * within the errors (sign -1). INFINITY: not even in the widest. */
static double enough_width(const xb_table *t, int law, int sign)
{
    double enough = least_width(t);
    for (int64_t r = 0; r < xb_table_row_count(t); r++) {
        kl_cell c = cell_at(t, r);
        if (c.law != law || c.kl + sign * 2 * c.error <= VISIBLE) continue;
        double next = INFINITY; /* the next width that was tried */
        for (int64_t k = 0; k < xb_table_row_count(t); k++) {
            double width = xb_table_at(t, k, "width");
            if (width > c.width) next = fmin(next, width);
        }
        enough = fmax(enough, next);
    }
    return enough;
}

static void judge_small_width(xb_judgement *j, const xb_evidence *e)
{
    const double small = 16; /* the width of the paper's own regression net */
    const xb_table *t = kl_table(e);
    if (!t) return;
    double device = enough_width(t, DEVICE, 1), bimodal = enough_width(t, BIMODAL, 1);
    double sure = fmax(device, bimodal);
    double perhaps = fmax(enough_width(t, DEVICE, -1), enough_width(t, BIMODAL, -1));
    j->value = sure;
    j->finding = sure <= small     ? XB_FINDING_AGREES
                 : perhaps > small ? XB_FINDING_DIFFERS
                                   : XB_FINDING_UNCLEAR;
    xb_say(j->number, sizeof j->number, "width %.0f (device), %.0f (mixture)", device,
           bimodal);
    xb_say(j->why, sizeof j->why,
           "From these widths on, among those tried, KL stays below %g at every depth: "
           "the curves differ by at most 5 %% of their mass. We read \"small\" as up to "
           "%.0f, the width of the regression net of Fig. 5. Tails need more width.",
           VISIBLE, small);
}

/* ---- is it the width? */

/* The number of steps to the next width (at least twice the last), and of those that
 * significantly failed to halve KL; by (G6) it would fall to a quarter if all weights
 * shared equally. */
static void count_steps(const xb_table *t, int *steps, int *stalled)
{
    for (int64_t r = 0; r + 1 < xb_table_row_count(t); r++) {
        kl_cell a = cell_at(t, r), b = cell_at(t, r + 1); /* rows are in the order of
                                                             width */
        if (!same_line(&a, &b) || b.width < 2 * a.width) continue;
        if (a.kl <= RESOLVED * a.error) continue;
        ++*steps;
        *stalled += b.kl - a.kl / 2 > 2 * hypot(a.error / 2, b.error);
    }
}

static void judge_width(xb_judgement *j, const xb_evidence *e)
{
    const int enough = 15; /* with 0 of 15 stalled, the true share is below 18 % with 95 %
                              confidence */
    const xb_table *t = kl_table(e);
    int steps = 0, stalled = 0;
    if (t) count_steps(t, &steps, &stalled);
    if (steps == 0) return;
    double share = (double)stalled / steps;
    xb_judge_at_most(j, (xb_estimate){share, sqrt(share * (1 - share) / steps)}, 0);
    if (steps < enough) j->finding = XB_FINDING_UNCLEAR;
    xb_say(j->number, sizeof j->number,
           "KL fell by less than half in %d of %d doublings of the width", stalled,
           steps);
    xb_say(
        j->why, sizeof j->why,
        "A doubling counts if its KL is above half by more than two standard errors; "
        "device and mixture and all depths are taken together%s. If all weights shared "
        "the output equally, KL would fall to a quarter. In the theory the relevant "
        "number is n_eff, the number of weights that share the output: the mixture's KL "
        "scatters by a factor of %.2g around a fitted power of n_eff, and of %.2g "
        "around a fitted power of the width.",
        steps < enough ? " (too few to decide)" : "",
        xb_evidence_fact(e, "bimodal_scatter_n_eff").value,
        xb_evidence_fact(e, "bimodal_scatter_width").value);
}

/* ---- Fig. 8 */

/* The device's largest KL among nets of one width, up to `depth` layers. */
static kl_cell worst_of_width(const xb_table *t, double width, double depth)
{
    kl_cell worst = {.kl = -INFINITY};
    for (int64_t r = 0; r < xb_table_row_count(t); r++) {
        kl_cell c = cell_at(t, r);
        bool asked = c.law == DEVICE && c.width == width && c.depth <= depth;
        if (asked && c.kl > worst.kl) worst = c;
    }
    return worst;
}

static void judge_narrow_match(xb_judgement *j, const xb_evidence *e)
{
    const xb_table *t = kl_table(e);
    if (!t) return;
    const double shallow = 1; /* number of hidden layers */
    kl_cell worst = worst_of_width(t, least_width(t), shallow);
    kl_cell deep = worst_of_width(t, least_width(t), INFINITY);
    if (!isfinite(worst.kl)) return;
    xb_estimate kl = {worst.kl, worst.error};
    xb_judge_at_most(j, kl, VISIBLE);
    xb_say(j->number, sizeof j->number, "KL %s at width %.0f, depth %.0f",
           xb_show_estimate(kl).text, worst.width, worst.depth);
    xb_say(j->why, sizeof j->why,
           "This is the worst of the narrowest nets of one layer; we read \"agree\" as "
           "KL below %g, at most 5 %% of the mass. The law itself has %.3g, narrow nets "
           "of any depth up to %.2g. The law's parameters are ours, since the paper's "
           "are not published.",
           VISIBLE, xb_law_kl_gaussian(e->device), deep.kl);
}

static const xb_claim_kind kinds[] = {
    {4, "to-target",
     "As the width grows, the output approaches the target under all three laws.",
     "curves, left", judge_all_to_target},
    {4, "device-falls",
     "The KL between the output under the device's law and under the Gaussian falls with "
     "the width.",
     "curves, right", judge_device_falls},
    {4, "bimodal-falls",
     "The KL between the output under the mixture and under the Gaussian falls, too.",
     "curves, right", judge_bimodal_falls},
    {4, "small-width", "The width needed for that is small.", "in the conclusions",
     judge_small_width},
    {4, "width-does-it",
     "It is the width that makes the laws agree, by the central limit theorem in each "
     "layer.",
     "in the conclusions", judge_width},
    {8, "ecram-narrow", "ECRAM and Gaussian weights agree even in shallow, narrow nets.",
     "in words, and curves", judge_narrow_match},
    {8, "ecram-falls", "Their outputs converge as nets become wider.", "in words",
     judge_device_falls},
    {8, "ecram-to-target", "Both approach the target.", "curves", judge_device_to_target},
};

const xb_claim_list xb_claims_energy = {kinds, XB_COUNT(kinds)};
