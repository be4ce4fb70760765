/* scores.c: see scores.h. */
#include "scores.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static cli_score plain(const char *name, const char *key, xb_score score)
{
    return (cli_score){.name = name, .key = key, .score = score, .chance = NAN};
}

int cli_score_rows(cli_score out[CLI_SCORES_MAX], bool classes,
                   const xb_regression_scores *r, const xb_class_scores *c)
{
    const cli_score of_numbers[] = {plain("RMSE", "rmse", r->rmse),
                                    plain("MAE", "mae", r->mae),
                                    plain("NLL", "nll", r->nll),
                                    plain("CRPS", "crps", r->crps),
                                    plain("coverage 95 %", "coverage95", r->coverage),
                                    plain("interval width", "width95", r->width),
                                    {"miscalibration", "miscalibration_area",
                                     r->miscalibration_area, r->miscalibration_floor, 0},
                                    plain("sharpness", "sharpness", r->sharpness),
                                    plain("epistemic sd", "epistemic", r->epistemic)};
    const cli_score of_classes[] = {plain("accuracy", "accuracy", c->accuracy),
                                    plain("NLL", "nll", c->nll),
                                    plain("Brier", "brier", c->brier),
                                    {"ECE", "ece", c->ece, c->ece_floor, c->bins},
                                    plain("entropy", "entropy", c->entropy),
                                    plain("information", "information", c->information)};
    int count = classes ? CLI_COUNT_OF(of_classes) : CLI_COUNT_OF(of_numbers);
    memcpy(out, classes ? of_classes : of_numbers, (size_t)count * sizeof *out);
    return count;
}

void cli_scores_json(json_t *root, const cli_score *row, int rows)
{
    for (int k = 0; k < rows; k++) {
        char key[64];
        json_object_set_new(root, row[k].key, cli_json_real(row[k].score.value));
        snprintf(key, sizeof key, "%s_error", row[k].key);
        json_object_set_new(root, key, cli_json_real(row[k].score.std_error));
        snprintf(key, sizeof key, "%s_mc_error", row[k].key);
        json_object_set_new(root, key, cli_json_real(row[k].score.mc_error));
        snprintf(key, sizeof key, "%s_chance", row[k].key);
        if (!isnan(row[k].chance))
            json_object_set_new(root, key, cli_json_real(row[k].chance));
        snprintf(key, sizeof key, "%s_bins", row[k].key);
        if (row[k].bins > 0) json_object_set_new(root, key, json_integer(row[k].bins));
    }
}

json_t *cli_gap_json(const xb_gap *gap)
{
    return json_pack(
        "{s:o,s:o,s:o,s:o,s:o,s:o,s:s}", "rms", cli_json_real(gap->rms), "noise",
        cli_json_real(gap->noise), "excess", cli_json_real(gap->excess), "least",
        cli_json_real(gap->least), "bound", cli_json_real(gap->bound), "draws_needed",
        cli_json_real(gap->draws_needed), "verdict", xb_verdict_text(gap->verdict));
}
