/* score_model.c: a model's scores on rows with targets. The draws of a few rows at a time
 * (predict/draws.c) are passed to a scorer (scorer.h). Draw s is the same for every row
 * (maths P1), so dividing the rows changes scores only by rounding. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compare/disagreement.h"
#include "compare/score_items.h"
#include "compare/target_scorer.h"
#include "crossbayes/score.h"
#include "data/rows.h"
#include "predict/predict.h"
#include "vi/model.h"

enum { VALUES_MAX = 1 << 22 }; /* largest number of drawn doubles at a time: 32 MB */

typedef struct work {
    const xb_model *model;
    const xb_predict_options *opt;
    int64_t n, outputs, chunk;
    double *value;  /* [draws][chunk][outputs] */
    double *size;   /* [members][targets] for counts, else NULL */
    double *noise;  /* [members][chunk][outputs] aleatoric sds, for numbers */
    double *sd;     /* [draws][chunk][outputs] the same for each draw; for one posterior
                       it is `noise` */
    int64_t *label; /* [chunk] */
    xb_student_table *heavy; /* [members] the noise's law (P9), NULL if it is normal */
    int64_t members;
    xb_disagreement *disagreement; /* for an ensemble */
    xb_target_scorer *numbers;
    xb_class_scorer *classes;
} work;

/* Whether draws have different standard deviations. */
static bool by_draw(const work *w)
{
    return !xb_model_of_counts(w->model) && w->members > 1;
}

/* Makes a scorer of numbers, or of counts. */
static xb_status make_scorer(xb_ctx *ctx, work *w)
{
    XB_TRY(xb_target_scorer_create(ctx, &w->numbers, w->n, w->chunk, w->opt->draws,
                                   w->outputs, NULL));
    XB_TRY(xb_noise_tables(ctx, &w->heavy, w->model));
    if (w->heavy) xb_target_scorer_student(w->numbers, w->heavy, w->members);
    if (!xb_model_of_counts(w->model)) return XB_OK;
    w->size = xb_new(ctx, w->members * w->outputs, sizeof *w->size);
    if (!w->size) return XB_E_MEMORY;
    xb_model_sizes(w->model, w->size);
    return xb_target_scorer_count(ctx, w->numbers, w->size, w->members);
}

static xb_status work_plan(xb_ctx *ctx, work *w)
{
    const int64_t draws = w->opt->draws, classes = w->model->classes;
    if (w->n < 1 || draws < 1)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "draws: %lld, rows: %lld; expected 1 or more of each",
                       (long long)draws, (long long)w->n);
    XB_TRY(xb_predict_check_draws(ctx, w->model, draws));
    int64_t chunk = VALUES_MAX / w->outputs / draws;
    w->chunk = chunk < 1 ? 1 : chunk > w->n ? w->n : chunk;
    w->value = xb_new(ctx, draws * w->chunk * w->outputs, sizeof *w->value);
    const bool many = w->members > 1;
    const int64_t wide = w->chunk * w->outputs;
    w->noise = xb_new(ctx, w->members * wide, sizeof *w->noise);
    w->sd = xb_new(ctx, by_draw(w) && classes == 0 ? draws * wide : 0, sizeof *w->sd);
    w->label = xb_new(ctx, w->chunk, sizeof *w->label);
    if (!w->value || !w->noise || !w->sd || !w->label) return XB_E_MEMORY;
    if (many)
        XB_TRY(xb_disagreement_create(ctx, &w->disagreement, w->n, draws, w->model));
    if (classes == 0) return make_scorer(ctx, w);
    return xb_class_scorer_create(ctx, &w->classes, w->n, draws, classes,
                                  xb_score_options_default().bins);
}

static void work_free(work *w)
{
    xb_target_scorer_destroy(w->numbers);
    xb_class_scorer_destroy(w->classes);
    xb_disagreement_destroy(w->disagreement);
    free(w->value);
    free(w->size);
    free(w->heavy);
    free(w->noise);
    free(w->sd);
    free(w->label);
}

/* (P7) A draw has the noise of the member that made it. */
static xb_status add_numbers(xb_ctx *ctx, work *w, const xb_rows *part,
                             const double *target)
{
    const int64_t draws = w->opt->draws, n = part->n * w->outputs;
    xb_mixture p = {w->value, w->noise, draws, n, .sd_shared = true};
    if (w->size) {
        p.sd = NULL; /* rates determine their noise */
        return xb_target_scorer_add(ctx, w->numbers, &p, target);
    }
    XB_TRY(xb_predict_noise_rows(ctx, w->noise, w->model, part, w->opt->backend));
    for (int64_t s = 0; by_draw(w) && s < draws; s++) {
        const double *noise = w->noise + xb_member_of(w->model, s) * n;
        for (int64_t i = 0; i < n; i++) w->sd[s * n + i] = noise[i];
    }
    if (by_draw(w)) p.sd = w->sd, p.sd_shared = false;
    return xb_target_scorer_add(ctx, w->numbers, &p, target);
}

static xb_status add_rows(xb_ctx *ctx, work *w, const xb_rows *part, const double *target)
{
    const int64_t draws = w->opt->draws, n = part->n;
    XB_TRY(xb_predict_draws_rows(ctx, w->value, NULL, w->model, part, 0, draws, w->opt));
    if (w->disagreement) xb_disagreement_add(w->disagreement, w->value, n);
    if (w->numbers) return add_numbers(ctx, w, part, target);
    for (int64_t i = 0; i < n; i++) w->label[i] = (int64_t)target[i];
    const xb_class_draws p = {w->value, draws, n, w->outputs};
    return xb_class_scorer_add(ctx, w->classes, &p, w->label);
}

static xb_status run(xb_ctx *ctx, work *w, const xb_rows *rows, const double *target)
{
    for (int64_t row = 0; row < w->n; row += w->chunk) {
        int64_t some = w->n - row < w->chunk ? w->n - row : w->chunk;
        const xb_rows part = xb_rows_part(rows, row, some);
        XB_TRY(xb_progress_tell(ctx, "scoring", row, w->n));
        XB_TRY(add_rows(ctx, w, &part, target + row * w->model->targets));
    }
    return XB_OK;
}

xb_status xb_score_model(xb_ctx *ctx, xb_scores **out, const xb_model *model,
                         const xb_rows *rows, const double *target,
                         const xb_predict_options *opt)
{
    xb_predict_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, predict, &chosen, opt, backend));
    work w = {.model = model, .opt = &chosen, .n = rows->n};
    w.outputs = xb_model_outputs(model);
    w.members = xb_model_member_count(model);
    xb_status status = work_plan(ctx, &w);
    if (status == XB_OK) status = run(ctx, &w, rows, target);
    if (status == XB_OK)
        status = w.numbers ? xb_target_scorer_sum(ctx, out, w.numbers)
                           : xb_class_scorer_sum(ctx, out, w.classes);
    if (status == XB_OK && w.disagreement)
        (*out)->score[w.numbers ? (int)XB_NUMBER_DISAGREEMENT
                                : (int)XB_CLASS_DISAGREEMENT] =
            xb_disagreement_score(w.disagreement);
    work_free(&w);
    if (status == XB_OK && model->targets > 1)
        status = xb_scores_name_targets(ctx, *out, model->target_each);
    return status;
}
