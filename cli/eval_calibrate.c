/* eval_calibrate.c: see eval_calibrate.h; maths C27. */
#include "eval_calibrate.h"

#include "print.h"

static const double share = 0.95;

static xb_status find(cli_session *s, cli_recalibration *r, xb_model *model,
                      const xb_scores *scores)
{
    r->there = true;
    r->coverage[0] = xb_scores_get(scores, "coverage");
    r->area[0] = xb_scores_get(scores, "miscalibration_area");
    return xb_score_calibrated(s->ctx, &r->coverage[1], &r->area[1], scores,
                               r->made ? NULL : model, share);
}

cli_exit cli_recalibrate(cli_session *s, cli_recalibration *r, xb_model *model,
                         const xb_scores *scores)
{
    const char *path = cli_text(&s->args, "save-calibrated", NULL);
    if (!path && !xb_model_calibration(model)) return CLI_DONE;
    if (path && cli_flag(&s->args, "law"))
        return cli_fail(s, CLI_USAGE,
                        "--save-calibrated uses the model's own law, so --law cannot be "
                        "given with it");
    r->made = path != NULL;
    xb_status status = find(s, r, model, scores);
    if (status == XB_OK && path) status = xb_model_calibrate(s->ctx, model, scores);
    if (status == XB_OK && path) status = xb_model_save(s->ctx, model, path);
    return cli_status(s, status);
}

static json_t *side_json(const cli_recalibration *r, int i)
{
    return json_pack("{s:o,s:o,s:o,s:o}", "coverage95",
                     cli_json_real(r->coverage[i].value), "coverage95_error",
                     cli_json_real(r->coverage[i].std_error), "miscalibration_area",
                     cli_json_real(r->area[i].value), "miscalibration_area_error",
                     cli_json_real(r->area[i].std_error));
}

void cli_recalibration_json(json_t *root, const cli_recalibration *r)
{
    if (!r->there) return;
    json_object_set_new(
        root, "recalibration",
        json_pack("{s:o,s:o}", "before", side_json(r, 0), "after", side_json(r, 1)));
}

static void print_side(const char *name, const xb_score side[2])
{
    char before[64], after[64];
    cli_format_error(before, sizeof before, side[0].value, side[0].std_error);
    cli_format_error(after, sizeof after, side[1].value, side[1].std_error);
    printf("    %-16s%s, recalibrated %s\n", name, before, after);
}

void cli_recalibration_print(const cli_recalibration *r)
{
    if (!r->there) return;
    printf("\n  Recalibrated intervals%s:\n",
           r->made
               ? ", each half of these rows scored with the other half's recalibration"
               : ", as stored in the model");
    print_side("coverage 95 %", r->coverage);
    print_side("miscalibration", r->area);
}
