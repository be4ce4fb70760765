/* scores.c: see scores.h. */
#include "scores.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A score of the library: its name in tables, its key in JSON, and the score that is its
 * mean under perfect calibration. */
typedef struct shown_score {
    const char *name, *item, *key, *floor;
} shown_score;

static const shown_score of_numbers[] = {
    {"RMSE", "rmse", "rmse", NULL},
    {"MAE", "mae", "mae", NULL},
    {"NLL", "nll", "nll", NULL},
    {"CRPS", "crps", "crps", NULL},
    {"coverage 95 %", "coverage", "coverage95", NULL},
    {"uncertain quarter", "coverage_uncertain", "coverage95_uncertain", NULL},
    {"interval width", "width", "width95", NULL},
    {"miscalibration", "miscalibration_area", "miscalibration_area",
     "miscalibration_floor"},
    {"sharpness", "sharpness", "sharpness", NULL},
    {"epistemic sd", "epistemic", "epistemic", NULL},
    {"disagreement share", "disagreement_share", "disagreement_share", NULL},
};
static const shown_score of_classes[] = {
    {"accuracy", "accuracy", "accuracy", NULL},
    {"NLL", "nll", "nll", NULL},
    {"Brier", "brier", "brier", NULL},
    {"ECE", "ece", "ece", "ece_floor"},
    {"entropy", "entropy", "entropy", NULL},
    {"information", "information", "information", NULL},
    {"disagreement share", "disagreement_share", "disagreement_share", NULL},
};

/* The last score is for ensembles only. */
int cli_score_count(const xb_scores *s)
{
    const int all =
        xb_scores_classes(s) > 0 ? CLI_COUNT_OF(of_classes) : CLI_COUNT_OF(of_numbers);
    return isnan(xb_scores_get(s, "disagreement_share").value) ? all - 1 : all;
}

cli_score cli_score_at(const xb_scores *s, int i)
{
    const shown_score *row = xb_scores_classes(s) > 0 ? &of_classes[i] : &of_numbers[i];
    cli_score out = {.name = row->name,
                     .item = row->item,
                     .key = row->key,
                     .score = xb_scores_get(s, row->item),
                     .chance = xb_scores_get(s, row->floor).value};
    if (row->floor) xb_scores_array_get(s, "bin_share", &out.bins);
    return out;
}

cli_score cli_score_get(const xb_scores *s, const char *key)
{
    int i = cli_score_count(s) - 1;
    while (i > 0 && strcmp(cli_score_at(s, i).key, key) != 0) i--;
    return cli_score_at(s, i);
}

static void set_real(json_t *root, const char *key, const char *suffix, double value)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", key, suffix);
    json_object_set_new(root, name, cli_json_real(value));
}

static void scores_json(json_t *root, const xb_scores *s)
{
    for (int k = 0; k < cli_score_count(s); k++) {
        const cli_score row = cli_score_at(s, k);
        const bool none = isnan(row.score.value) && xb_scores_target_count(s) > 1;
        if (none) continue; /* several targets together do not have this score */
        set_real(root, row.key, "", row.score.value);
        set_real(root, row.key, "_error", row.score.std_error);
        set_real(root, row.key, "_mc_error", row.score.mc_error);
        if (!isnan(row.chance)) set_real(root, row.key, "_chance", row.chance);
        if (row.bins > 0) json_object_set_new(root, "ece_bins", json_integer(row.bins));
    }
}

void cli_scores_json(json_t *root, const xb_scores *s)
{
    const int64_t targets = xb_scores_target_count(s);
    scores_json(root, s);
    if (targets == 1) return;
    json_t *each = json_array();
    for (int64_t k = 0; k < targets; k++) {
        json_t *one = json_pack("{s:s}", "target", xb_scores_target_name(s, k));
        scores_json(one, xb_scores_target_at(s, k));
        json_array_append_new(each, one);
    }
    json_object_set_new(root, "targets", each);
}

static json_t *gap_json(const xb_gap *gap)
{
    return json_pack(
        "{s:o,s:o,s:o,s:o,s:o,s:o,s:s}", "rms", cli_json_real(gap->rms), "noise",
        cli_json_real(gap->noise), "excess", cli_json_real(gap->excess), "lower",
        cli_json_real(gap->lower), "upper", cli_json_real(gap->upper), "draws_needed",
        cli_json_real(gap->draws_needed), "verdict", xb_verdict_name(gap->verdict));
}

void cli_gaps_json(json_t *root, const xb_distances *d)
{
    for (int64_t i = 0; i < xb_distances_gap_count(d); i++) {
        const xb_gap gap = xb_distances_gap_at(d, i);
        json_object_set_new(root, xb_distances_gap_name(d, i), gap_json(&gap));
    }
    json_object_set_new(root, "verdict",
                        json_string(xb_verdict_name(xb_distances_verdict(d))));
}

void cli_print_score_words(const xb_scores *s, const char *indent)
{
    const bool classes = xb_scores_classes(s) > 0;
    const int64_t n = xb_scores_points(s);
    for (int k = 0; k < cli_score_count(s); k++) {
        const cli_score row = cli_score_at(s, k);
        if (isnan(row.chance)) continue;
        printf("%schance: what a perfectly calibrated model would score on average on "
               "%lld %s",
               indent, (long long)n, xb_plural(n, "row", "rows"));
        if (row.bins > 0) printf(", %lld bins", (long long)row.bins);
        printf("\n");
    }
    if (!classes)
        printf("%suncertain quarter: coverage of the quarter of the rows with the largest"
               " epistemic sd\n",
               indent);
    else
        printf("%sentropy: of the predicted class, in nats; information: the part of it"
               " that comes from the weights\n",
               indent);
    if (!isnan(xb_scores_get(s, "disagreement_share").value))
        printf("%sdisagreement share: share of the epistemic %s that lies between the"
               " ensemble's members\n",
               indent, classes ? "information" : "variance");
}

void cli_print_doubts(const xb_scores *s)
{
    for (int64_t i = 0; i < xb_scores_doubt_count(s); i++)
        printf("\n  %s\n", xb_scores_doubt_at(s, i));
}
