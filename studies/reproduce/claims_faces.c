/* claims_faces.c: Fig. 6: ages of faces. Without UTKFace the study uses synthetic faces:
 * then every number is shown but no finding is made, because synthetic faces say nothing
 * about that data. */
#include <math.h>

#include "crossbayes/extend.h"
#include "reproduce/claims.h"

static const double IDENTICAL_RMSE = 0.1;   /* in percent of 116 years */
static const double IDENTICAL_SHARE = 0.02; /* share of the test faces, at any level */

static const char *drawn_words(const xb_evidence *e)
{
    return e->made_up ? " But these faces are synthetic: give the folder of UTKFace to "
                        "check the claim."
                      : "";
}

static void judge_rmse(xb_judgement *j, const xb_evidence *e)
{
    const double reported = 8, about = 1; /* percent */
    xb_estimate rmse = xb_evidence_fact(e, "rmse_gaussian");
    xb_judge_at_most(j, (xb_estimate){fabs(rmse.value - reported), rmse.std_error},
                     about);
    j->value = rmse.value;
    xb_judge_unclear_if_made_up(j, e);
    xb_say(j->number, sizeof j->number, "RMSE %s %% of 116 years",
           xb_show_estimate(rmse).text);
    xb_say(
        j->why, sizeof j->why,
        "%.0f test images of %.0f x %.0f pixels; always predicting the mean age gives "
        "%.1f %%. We read \"around 8 %%\" as 7 to 9; the error is over weight draws.%s",
        xb_evidence_fact(e, "test").value, xb_evidence_fact(e, "size").value,
        xb_evidence_fact(e, "size").value, xb_evidence_fact(e, "rmse_mean").value,
        drawn_words(e));
}

/* The largest difference of a net's RMSE from its RMSE under the law that it was trained
 * with. */
static xb_estimate swap_gap(const xb_evidence *e, const char *own,
                            const char *const other[2])
{
    xb_estimate first = xb_evidence_fact(e, own), gap = {-1, 0};
    for (int i = 0; i < 2; i++) {
        xb_estimate x = xb_evidence_fact(e, other[i]);
        double size = fabs(x.value - first.value);
        if (isnan(size)) return (xb_estimate){NAN, NAN};
        if (size > gap.value)
            gap = (xb_estimate){size, hypot(x.std_error, first.std_error)};
    }
    return gap;
}

static void say_swap(xb_judgement *j, const xb_evidence *e, xb_estimate gap,
                     const char *net)
{
    xb_judge_at_most(j, gap, IDENTICAL_RMSE);
    xb_judge_unclear_if_made_up(j, e);
    xb_say(j->number, sizeof j->number, "RMSE differs by %s %% of 116 years",
           xb_show_estimate(gap).text);
    xb_say(j->why, sizeof j->why,
           "This is the largest difference when a law is swapped into the net trained "
           "with %s weights; up to %g counts as identical.%s",
           net, IDENTICAL_RMSE, drawn_words(e));
}

static void judge_swap(xb_judgement *j, const xb_evidence *e)
{
    static const char *const other[2] = {"rmse_device", "rmse_bimodal"};
    say_swap(j, e, swap_gap(e, "rmse_gaussian", other), "Gaussian");
}

static void judge_swap_device(xb_judgement *j, const xb_evidence *e)
{
    static const char *const other[2] = {"rmse_dev_gaussian", "rmse_dev_bimodal"};
    say_swap(j, e, swap_gap(e, "rmse_dev_device", other), "device");
}

/* Largest distance between two calibration curves. */
static xb_estimate curve_gap(const xb_table *t, const char *one, const char *other)
{
    char noise[2][64];
    xb_estimate gap = {-1, 0};
    xb_say(noise[0], sizeof noise[0], "%s_mc", one);
    xb_say(noise[1], sizeof noise[1], "%s_mc", other);
    for (int64_t r = 0; r < xb_table_row_count(t); r++) {
        double size = fabs(xb_table_at(t, r, one) - xb_table_at(t, r, other));
        if (size > gap.value)
            gap = (xb_estimate){
                size, hypot(xb_table_at(t, r, noise[0]), xb_table_at(t, r, noise[1]))};
    }
    return gap;
}

static void judge_curves(xb_judgement *j, const xb_evidence *e)
{
    const xb_table *t = xb_evidence_table(
        e, "calibration", "gaussian,gaussian_mc,device,device_mc,bimodal,bimodal_mc");
    if (!t) return;
    xb_estimate device = curve_gap(t, "gaussian", "device"),
                bimodal = curve_gap(t, "gaussian", "bimodal");
    xb_judge_at_most(j, device.value > bimodal.value ? device : bimodal, IDENTICAL_SHARE);
    xb_judge_unclear_if_made_up(j, e);
    xb_say(j->number, sizeof j->number, "at most %s (device), %s (mixture) apart",
           xb_show_estimate(device).text, xb_show_estimate(bimodal).text);
    xb_say(j->why, sizeof j->why,
           "We compare the share of test ages in the central interval, at the level "
           "where the curves are furthest apart; up to %g counts as identical.%s",
           IDENTICAL_SHARE, drawn_words(e));
}

static const xb_claim_kind kinds[] = {
    {6, "rmse", "The age of a face is predicted with an RMSE of around 8 %.",
     "around 8 % in all cases", judge_rmse},
    {6, "swap", "It is the same under all three laws.", "around 8 % in all cases",
     judge_swap},
    {6, "calibration", "Calibration curves under the three laws coincide.", "curves",
     judge_curves},
    {6, "swap-device-trained", "That holds whichever law the net was trained with.",
     "in words", judge_swap_device},
};

const xb_claim_list xb_claims_faces = {kinds, XB_COUNT(kinds)};
