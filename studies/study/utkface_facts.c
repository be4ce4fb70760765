/* utkface_facts.c: counts, the RMSE of each case (in percent of 116 years, as in the
 * paper), and how far the laws are apart; the other scores are in their table. Errors are
 * Monte Carlo errors over weight draws, because all cases see the same faces; errors of
 * the two nets without draws are over faces. */
#include "study/utkface_facts.h"

#include <math.h>
#include <stdio.h>

#include "study/utkface_model.h"

enum { LAWS = 3 };

static const char *const laws[LAWS] = {"gaussian", "device", "bimodal"};

static double percent(double years) { return 100 * years / XB_UTKFACE_AGE_MAX; }

static xb_status count_facts(xb_ctx *ctx, xb_study *study, const xb_utkface_results *r)
{
    const struct {
        const char *name;
        int64_t count;
        const char *text;
    } counts[] = {
        {"images", xb_image_report_files(r->report), "images found"},
        {"corrupt", xb_image_report_corrupt(r->report), "broken files left out"},
        {"unlabelled", xb_image_report_unlabelled(r->report),
         "files left out because their names have no age"},
        {"odd_names", xb_image_report_odd(r->report),
         "files kept because their names have an age, although the names are unusual"},
        {"duplicates", xb_image_report_duplicates(r->report),
         "byte-identical copies left out"},
        {"conflicting", xb_image_report_conflicting(r->report),
         "images left out because byte-identical ones carry another age"},
        {"train", r->train, "images trained on"},
        {"validation", r->held, "validation images, which choose the best epoch"},
        {"test", r->test, "test images, whose contents are in no other part"},
        {"size", r->size, "side of an image in pixels"},
    };
    for (int i = 0; i < XB_COUNT(counts); i++)
        XB_TRY(xb_study_add_fact(ctx, study, counts[i].name, (double)counts[i].count, NAN,
                                 "%s", counts[i].text));
    return XB_OK;
}

/* RMSE of each case with its Monte Carlo error. */
static xb_status rmse_facts(xb_ctx *ctx, xb_study *study)
{
    const xb_table *t = xb_study_table(study, "scores");
    int at = xb_table_column_find(t, "rmse");
    for (int row = 0; row < (int)xb_table_row_count(t); row++) {
        int trained = row / LAWS, asked = row % LAWS;
        char name[64];
        snprintf(name, sizeof name, "rmse_%s%s", trained ? "dev_" : "", laws[asked]);
        XB_TRY(xb_study_add_fact(ctx, study, name, percent(xb_table_get(t, row, at)),
                                 percent(xb_table_get(t, row, at + 2)),
                                 "RMSE, in percent of 116 years, trained with the %s law "
                                 "and evaluated under the %s law (± over weight draws)",
                                 laws[trained], laws[asked]));
    }
    return XB_OK;
}

/* The largest difference of RMSE between laws of evaluation, over both nets. */
static xb_status gap_fact(xb_ctx *ctx, xb_study *study)
{
    const xb_table *t = xb_study_table(study, "scores");
    int at = xb_table_column_find(t, "rmse");
    double largest = 0, error = 0;
    for (int64_t row = 0; row < xb_table_row_count(t); row++) {
        int64_t first = row / LAWS * LAWS;
        double gap = xb_table_get(t, row, at) - xb_table_get(t, first, at);
        if (fabs(gap) <= fabs(largest)) continue;
        largest = gap;
        error = hypot(xb_table_get(t, row, at + 2), xb_table_get(t, first, at + 2));
    }
    return xb_study_add_fact(ctx, study, "rmse_gap", percent(largest), percent(error),
                             "largest difference of RMSE from the Gaussian law's when a"
                             " law is swapped, in percent of 116 years (± over"
                             " weight draws)");
}

xb_status xb_utkface_facts(xb_ctx *ctx, xb_study *study, const xb_utkface_results *r)
{
    XB_TRY(count_facts(ctx, study, r));
    XB_TRY(xb_study_add_fact(ctx, study, "rmse_mean", percent(r->blind.value),
                             percent(r->blind.error),
                             "RMSE, in percent of 116 years, of always predicting the "
                             "mean age (± over faces)"));
    XB_TRY(xb_study_add_fact(ctx, study, "rmse_mle", percent(r->mle.value),
                             percent(r->mle.error),
                             "RMSE, in percent of 116 years, of the net after ordinary "
                             "training (± over faces)"));
    XB_TRY(rmse_facts(ctx, study));
    return gap_fact(ctx, study);
}
