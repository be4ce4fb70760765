/* findings_tasks.c: findings of the studies of learnt tasks: whether the task was learnt,
 * whether swapping the law moves predictives, whether they are calibrated, and what an
 * array does to them. Each has one claim, judged at two standard errors. */
#include <math.h>
#include <stdio.h>

#include "study/findings.h"

static const double ERRORS = 2;
static const xb_finding_words same_words = {"same", "different"};

/* ---- scalar */

static const double GAP_MATTERS = 0.01; /* in units of sigma_e */
static const double RMSE_EXCESS = 0.1;  /* relative to the oracle's */
static const double COVERAGE_MEANT = 0.95, COVERAGE_TOO_SURE = 0.85;

static xb_shown percent(double share)
{
    xb_shown s = xb_show(share, 0);
    if (isfinite(share)) snprintf(s.text, sizeof s.text, "%.0f", 100 * share);
    return s;
}

static xb_shown percent_more(double excess)
{
    xb_shown s = xb_show(excess, 0);
    if (isfinite(excess)) snprintf(s.text, sizeof s.text, "%+.1f", 100 * excess);
    return s;
}

static xb_status find_learnt(xb_ctx *ctx, xb_study *study)
{
    xb_fact rmse = xb_study_fact(study, "rmse"),
            ideal = xb_study_fact(study, "rmse_ideal");
    double excess = rmse.value / ideal.value - 1;
    double above = excess < 0 ? 0 : excess; /* a better score than the oracle's is luck,
                                               not a fault; a NAN stays NAN */
    xb_finding_kind kind =
        xb_judge(above, rmse.std_error / ideal.value, RMSE_EXCESS, ERRORS);
    double outside = xb_study_fact(study, "coverage95_out").value;
    return xb_study_add_finding(
        ctx, study, kind,
        xb_finding_word(kind, (xb_finding_words){"learnt", "not learnt"}),
        "RMSE %s in the range of the training data, %s %% against the oracle RMSE: %s"
        " %g %%. 95 %% intervals contain %s %% of the test data there and %s %% "
        "outside%s.",
        xb_show(rmse.value, rmse.std_error).text, percent_more(excess).text,
        xb_finding_side(kind), 100 * RMSE_EXCESS,
        percent(xb_study_fact(study, "coverage95").value).text, percent(outside).text,
        outside < COVERAGE_TOO_SURE ? ", where the net is overconfident" : "");
}

static xb_status find_swapped(xb_ctx *ctx, xb_study *study)
{
    xb_fact mean = xb_study_fact(study, "gap_mean_device_rms");
    xb_fact sd = xb_study_fact(study, "gap_sd_device_rms");
    xb_finding_kind kind =
        xb_judge_both(xb_judge(mean.value, mean.std_error, GAP_MATTERS, ERRORS),
                      xb_judge(sd.value, sd.std_error, GAP_MATTERS, ERRORS));
    return xb_study_add_finding(
        ctx, study, kind, xb_finding_word(kind, same_words),
        "The device's noise in place of Gaussian noise moves means by %s and standard"
        " deviations by %s of the epistemic sd: %s %g.",
        xb_show(mean.value, mean.std_error).text, xb_show(sd.value, sd.std_error).text,
        xb_finding_side(kind), GAP_MATTERS);
}

xb_status xb_find_scalar(xb_ctx *ctx, xb_study *study)
{
    XB_TRY(find_learnt(ctx, study));
    return find_swapped(ctx, study);
}

/* ---- utkface */

static const double RMSE_GAP_MATTERS = 0.05; /* relative */

/* The word for a wrong coverage, and the words of the sentence. */
static const char *const confidence[] = {"calibrated", "overconfident", "underconfident",
                                         "cannot tell"};
static const char *const share_held[] = {
    "as many as they should", "too few", "too many",
    "which may or may not be as many as they should"};

static int confidence_of(xb_finding_kind kind, double coverage)
{
    if (kind == XB_FINDING_AGREES) return 0;
    return kind == XB_FINDING_UNCLEAR ? 3 : coverage < COVERAGE_MEANT ? 1 : 2;
}

static xb_status find_calibrated(xb_ctx *ctx, xb_study *study)
{
    const xb_table *t = xb_study_table(study, "scores");
    if (xb_table_length(t) == 0) return XB_OK;
    double coverage = xb_table_at(t, 0, "coverage95");
    double n = xb_study_fact(study, "test").value;
    /* the standard error of the share of a calibrated predictive: beyond two of them it
     * is not calibrated */
    double error = sqrt(COVERAGE_MEANT * (1 - COVERAGE_MEANT) / n);
    xb_finding_kind kind = xb_judge(coverage - COVERAGE_MEANT, 0, ERRORS * error, 0);
    int is = confidence_of(kind, coverage);
    return xb_study_add_finding(
        ctx, study, kind, confidence[is],
        "95 %% intervals contain %s %% of the ages of %s test faces, %s; the "
        "miscalibration area is %s, and %.2g by chance.",
        xb_show(100 * coverage, 100 * error).text, xb_show(n, 0).text, share_held[is],
        xb_show(xb_table_at(t, 0, "miscalibration_area"),
                xb_table_at(t, 0, "miscalibration_area_mc"))
            .text,
        xb_table_at(t, 0, "miscalibration_floor"));
}

static xb_status find_faces_swapped(xb_ctx *ctx, xb_study *study)
{
    xb_fact gap = xb_study_fact(study, "rmse_gap");
    double rmse = xb_study_fact(study, "rmse_gaussian").value;
    xb_finding_kind kind =
        xb_judge(gap.value, gap.std_error, RMSE_GAP_MATTERS * rmse, ERRORS);
    return xb_study_add_finding(
        ctx, study, kind, xb_finding_word(kind, same_words),
        "Swapping the law changes the RMSE, %s %% of the range of ages, by %s percentage "
        "points at most: %s %s points.",
        xb_show(rmse, 0).text, xb_show(gap.value, gap.std_error).text,
        xb_finding_side(kind), xb_show(RMSE_GAP_MATTERS * rmse, 0).text);
}

xb_status xb_find_utkface(xb_ctx *ctx, xb_study *study)
{
    XB_TRY(find_calibrated(ctx, study));
    return find_faces_swapped(ctx, study);
}

/* ---- array */

static const double MOVED_MATTERS = 0.1; /* standard deviations of a predictive */

/* Writes e.g. the ADC bits needed, for the more demanding of the two tasks. NAN: none of
 * those tried suffices. */
static void need_text(char *out, size_t size, const xb_study *study, const char *key,
                      const char *what)
{
    char name[2][64];
    snprintf(name[0], sizeof name[0], "%s_scalar", key);
    snprintf(name[1], sizeof name[1], "%s_table", key);
    double a = xb_study_fact(study, name[0]).value;
    double b = xb_study_fact(study, name[1]).value;
    if (isnan(a) || isnan(b))
        snprintf(out, size, "more %s than were tried", what);
    else
        snprintf(out, size, "%g %s", fmax(a, b), what);
}

xb_status xb_find_array(xb_ctx *ctx, xb_study *study)
{
    static const char *const says[] = {
        [XB_FINDING_AGREES] = "does not matter",
        [XB_FINDING_DIFFERS] = "matters",
        [XB_FINDING_UNCLEAR] = "may or may not matter",
    };
    xb_fact scalar = xb_study_fact(study, "shape_device_scalar");
    xb_fact table = xb_study_fact(study, "shape_device_table");
    xb_finding_kind kind =
        xb_judge_both(xb_judge(scalar.value, scalar.std_error, MOVED_MATTERS, ERRORS),
                      xb_judge(table.value, table.std_error, MOVED_MATTERS, ERRORS));
    xb_fact worse = !(fabs(scalar.value) <= fabs(table.value)) ? scalar : table;
    char bits[64], states[64];
    need_text(bits, sizeof bits, study, "adc_bits", "ADC bits");
    need_text(states, sizeof states, study, "mean_levels", "states of a mean device");
    return xb_study_add_finding(
        ctx, study, kind,
        xb_finding_word(kind,
                        (xb_finding_words){"shape does not matter", "shape matters"}),
        "On an array the shape of the noise %s: it moves predictives by %s sd (threshold"
        " %g). To stay within that, predictions need %s and %s.",
        says[kind], xb_show(worse.value, worse.std_error).text, MOVED_MATTERS, bits,
        states);
}
