/* utkface.c: the study "utkface", the paper's Fig. 6: a convolutional net predicts the
 * age of a face. It is first trained as an ordinary net and then, from the same start,
 * with Gaussian kernels and with the device's; each of these two nets is evaluated under
 * Gaussian, device and bimodal kernels. Images come from UTKFace as downloaded, or are
 * synthetic (faces.c); no image leaves the study. A case is the law of training and the
 * law of evaluation.
 *
 * Tables:
 *
 * - calibration: level, band (2 sd of the share of n test faces for a calibrated
 * predictive), then for each case the share of ages inside the central interval of that
 * level and its Monte Carlo error
 * - scores: a row for each case, in years, with errors over faces and over draws
 * - trace: stage (1 ordinary, 2 Gaussian, 3 device), epoch, f, validation, sigma */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "crossbayes/extend.h"
#include "crossbayes/outfile.h"
#include "crossbayes/compare.h"
#include "crossbayes/work.h"
#include "crossbayes/images.h"
#include "crossbayes/predict.h"
#include "study/study.h"
#include "study/utkface_facts.h"
#include "study/utkface_model.h"

enum { GAUSSIAN, DEVICE, BIMODAL, LAWS };
enum { TRAINED = 2, CASES = TRAINED * LAWS };
enum { GROUPS = 4 }; /* groups of draws, for the Monte Carlo error of a curve */
enum { STAGE_MLE, STAGE_GAUSSIAN, STAGE_DEVICE, STAGES };

typedef struct job {
    xb_ctx *ctx;
    xb_study *study;
    const xb_study_options *opt;
    xb_utkface_plan plan;
    xb_utkface_nets nets;
    const xb_law *law[LAWS];
    xb_images *images;
    int64_t *select; /* rows to train on, then the validation rows */
    int64_t n, held;
    int64_t *test;
    int64_t n_test;
    double *age;   /* [n_test] */
    double *value; /* [draws][n_test] */
    double *sd;    /* [n_test] */
    xb_train_report *report[STAGES];
    xb_table *calibration, *scores;
    xb_utkface_results results;
} job;

/* ---- data */

static bool is_synthetic(const xb_study_options *opt)
{
    return strcmp(opt->data, "synthetic") == 0;
}

static xb_status open_images(job *s)
{
    if (is_synthetic(s->opt))
        return xb_builtin_faces(s->ctx, &s->images, s->plan.faces, s->plan.size,
                                s->opt->seed);
    xb_image_options o = xb_image_options_default();
    o.size = s->plan.size;
    o.ages_in_names = true;
    o.skip_corrupt = true;
    o.cache = s->opt->cache;
    o.no_cache = s->opt->no_cache;
    return xb_images_open(s->ctx, &s->images, s->opt->data, &o);
}

/* Takes the rows of a part, or `most` of them spread evenly, because the names are in the
 * order of ages. */
static xb_status take_part(job *s, int64_t **rows, int64_t *n, xb_part part, int64_t most)
{
    XB_TRY(xb_images_select(s->ctx, rows, n, s->images, part, true));
    if (most == 0 || most >= *n) return XB_OK;
    for (int64_t i = 0; i < most; i++) (*rows)[i] = (*rows)[i * *n / most];
    *n = most;
    return XB_OK;
}

static xb_status take_rows(job *s)
{
    int64_t *train = NULL, *held = NULL, n = 0;
    xb_status status = take_part(s, &train, &n, XB_PART_TRAIN, s->plan.train);
    if (status == XB_OK)
        status = take_part(s, &held, &s->held, XB_PART_VALIDATION, s->plan.held);
    if (status == XB_OK)
        status = take_part(s, &s->test, &s->n_test, XB_PART_TEST, s->plan.test);
    s->n = n + s->held;
    if (status == XB_OK) s->select = xb_new(s->ctx, s->n, sizeof *s->select);
    if (status == XB_OK && s->select) {
        memcpy(s->select, train, (size_t)n * sizeof *train);
        memcpy(s->select + n, held, (size_t)s->held * sizeof *held);
    } else if (status == XB_OK) {
        status = XB_E_MEMORY;
    }
    xb_free(train);
    xb_free(held);
    return status;
}

static xb_status make_room(job *s)
{
    s->age = xb_new(s->ctx, s->n_test, sizeof *s->age);
    s->sd = xb_new(s->ctx, s->n_test, sizeof *s->sd);
    s->value = xb_new(s->ctx, s->n_test * s->plan.draws, sizeof *s->value);
    if (!s->age || !s->sd || !s->value) return XB_E_MEMORY;
    const double *age = xb_images_target(s->images);
    for (int64_t i = 0; i < s->n_test; i++) s->age[i] = age[s->test[i]];
    return XB_OK;
}

/* RMSE of one guess for each face, `stride` apart, with its error over faces (C11). */
static xb_utkface_rmse rmse_of(const job *s, const double *guess, int64_t stride)
{
    double square = 0, fourth = 0, n = (double)s->n_test;
    for (int64_t i = 0; i < s->n_test; i++) {
        double error = guess[i * stride] - s->age[i];
        square += error * error / n;
        fourth += pow(error, 4) / n;
    }
    return (xb_utkface_rmse){sqrt(square), 0.5 * sqrt((fourth / square - square) / n)};
}

/* The score of always predicting the mean age of the training set. */
static xb_utkface_rmse blind_rmse(const job *s)
{
    const double *age = xb_images_target(s->images);
    double mean = 0, n = (double)(s->n - s->held);
    for (int64_t i = 0; i < s->n - s->held; i++) mean += age[s->select[i]] / n;
    return rmse_of(s, &mean, 0);
}

/* ---- training */

static const char *const stage_names[STAGES] = {"mle", "gaussian", "device"};
static const char *const stage_tasks[STAGES] = {
    "1 of 3: ordinary training", "2 of 3: Gaussian weights", "3 of 3: device weights"};

static bool checkpoint_path(const job *s, char out[4096], int stage)
{
    if (!s->opt->work) return false;
    return snprintf(out, 4096, "%s/utkface_%s.checkpoint", s->opt->work,
                    stage_names[stage]) < 4096;
}

static xb_status train(job *s, xb_model **out, int stage, xb_train_options *o)
{
    char path[4096];
    xb_train_data data = xb_train_data_of_images(s->images, s->select, s->n);
    data.held = s->held;
    xb_images_shape(s->images, &o->input.h, &o->input.w, &o->input.c);
    o->task = stage_tasks[stage];
    if (checkpoint_path(s, path, stage)) {
        if (xb_ranks_first(s->ctx)) XB_TRY(xb_dir_make(s->ctx, s->opt->work));
        o->checkpoint = path;
        o->checkpoint_seconds = 120;
        o->resume = s->opt->resume;
    }
    return xb_train(s->ctx, out, &s->report[stage], &data, o);
}

/* Removes the checkpoints of an earlier run, or of this one at its end. */
static void remove_checkpoints(const job *s)
{
    char path[4096];
    if (!xb_ranks_first(s->ctx)) return;
    for (int stage = 0; stage < STAGES; stage++)
        if (checkpoint_path(s, path, stage)) (void)xb_os_unlink(path);
}

/* ---- evaluating */

static xb_status draw(job *s, const xb_model *model, const xb_law *law, int64_t draws)
{
    xb_predict_options o = xb_predict_options_default();
    const xb_rows rows = xb_images_rows(s->images, s->test, s->n_test);
    o.law = law;
    o.seed = s->opt->seed;
    return xb_predict_draws_rows(s->ctx, s->value, s->sd, model, &rows, 0, draws, &o);
}

static xb_mixture mixture(const job *s, int64_t first, int64_t draws)
{
    return (xb_mixture){.mean = s->value + first * s->n_test,
                        .sd = s->sd,
                        .draws = draws,
                        .n = s->n_test,
                        .sd_shared = true};
}

/* The standard deviation of each share over groups of draws, whose mean is the whole:
 * (C2) without the overlap. */
static xb_status curve_error(job *s, double *error)
{
    const int levels = XB_CALIBRATION_LEVELS;
    const int64_t part = s->plan.draws / GROUPS;
    double sum[XB_CALIBRATION_LEVELS] = {0}, square[XB_CALIBRATION_LEVELS] = {0};
    for (int g = 0; g < GROUPS; g++) {
        xb_scores *r = NULL;
        xb_mixture p = mixture(s, g * part, part);
        XB_TRY(xb_score_regression(s->ctx, &r, &p, s->age, NULL));
        const double *share = xb_scores_array_get(r, "share", NULL);
        for (int i = 0; i < levels; i++) {
            sum[i] += share[i];
            square[i] += share[i] * share[i];
        }
        xb_scores_destroy(r);
    }
    for (int i = 0; i < levels; i++) {
        double spread = (square[i] - sum[i] * sum[i] / GROUPS) / (GROUPS - 1);
        error[i] = sqrt(fmax(spread, 0) / GROUPS);
    }
    return XB_OK;
}

static xb_status write_curve(job *s, int which, const xb_scores *r)
{
    const double *level = xb_scores_array_get(r, "level", NULL);
    const double *share = xb_scores_array_get(r, "share", NULL);
    double error[XB_CALIBRATION_LEVELS], n = (double)xb_scores_points(r);
    XB_TRY(curve_error(s, error));
    for (int i = 0; i < XB_CALIBRATION_LEVELS; i++) {
        double p = level[i];
        xb_table_set(s->calibration, i, 0, p);
        xb_table_set(s->calibration, i, 1, 2 * sqrt(p * (1 - p) / n));
        xb_table_set(s->calibration, i, 2 + 2 * which, share[i]);
        xb_table_set(s->calibration, i, 3 + 2 * which, error[i]);
    }
    return XB_OK;
}

static void write_scores(job *s, int which, const xb_scores *r)
{
    static const char *const kept[] = {"rmse",      "mae",      "nll",
                                       "crps",      "coverage", "miscalibration_area",
                                       "epistemic", "aleatoric"};
    const int model = which / LAWS;
    int column = 0;
    xb_table_set(s->scores, which, column++, model);
    xb_table_set(s->scores, which, column++, which % LAWS);
    for (int i = 0; i < XB_COUNT(kept); i++) {
        const xb_score score = xb_scores_get(r, kept[i]);
        xb_table_set(s->scores, which, column++, score.value);
        xb_table_set(s->scores, which, column++, score.std_error);
        xb_table_set(s->scores, which, column++, score.mc_error);
    }
    xb_table_set(s->scores, which, column,
                 xb_scores_get(r, "miscalibration_floor").value);
}

static xb_status ask(job *s, int trained, const xb_model *model)
{
    for (int l = 0; l < LAWS; l++) {
        int which = trained * LAWS + l;
        xb_scores *r = NULL;
        XB_TRY(draw(s, model, s->law[l], s->plan.draws));
        xb_mixture p = mixture(s, 0, s->plan.draws);
        XB_TRY(xb_score_regression(s->ctx, &r, &p, s->age, NULL));
        write_scores(s, which, r);
        xb_status status = write_curve(s, which, r);
        xb_scores_destroy(r);
        if (status != XB_OK) return status;
    }
    return XB_OK;
}

/* The ordinary net, whose weights do not vary, so that one draw suffices. */
static xb_status ask_ordinary(job *s, const xb_model *model)
{
    XB_TRY(draw(s, model, s->law[GAUSSIAN], 1));
    s->results.mle = rmse_of(s, s->value, 1);
    return XB_OK;
}

/* ---- tables */

static xb_status make_tables(job *s)
{
    static const char *const curves[] = {
        "level",      "band",          "gaussian",    "gaussian_mc",   "device",
        "device_mc",  "bimodal",       "bimodal_mc",  "dev_gaussian",  "dev_gaussian_mc",
        "dev_device", "dev_device_mc", "dev_bimodal", "dev_bimodal_mc"};
    static const char *const scores[] = {"trained",
                                         "law",
                                         "rmse",
                                         "rmse_error",
                                         "rmse_mc",
                                         "mae",
                                         "mae_error",
                                         "mae_mc",
                                         "nll",
                                         "nll_error",
                                         "nll_mc",
                                         "crps",
                                         "crps_error",
                                         "crps_mc",
                                         "coverage95",
                                         "coverage95_error",
                                         "coverage95_mc",
                                         "miscalibration_area",
                                         "miscalibration_area_error",
                                         "miscalibration_area_mc",
                                         "epistemic",
                                         "epistemic_error",
                                         "epistemic_mc",
                                         "aleatoric",
                                         "aleatoric_error",
                                         "aleatoric_mc",
                                         "miscalibration_floor"};
    XB_TRY(xb_study_new_table(s->ctx, s->study, &s->calibration, "calibration",
                              XB_CALIBRATION_LEVELS, XB_COUNT(curves), curves));
    return xb_study_new_table(s->ctx, s->study, &s->scores, "scores", CASES,
                              XB_COUNT(scores), scores);
}

static const xb_table *trace_of(const job *s, int stage)
{
    return xb_train_report_history(s->report[stage]);
}

static xb_status trace_table(job *s)
{
    static const char *const names[] = {"stage", "epoch", "f", "validation",
                                        "sigma_median"};
    int64_t rows = 0, at = 0;
    xb_table *table = NULL;
    for (int stage = 0; stage < STAGES; stage++)
        rows += xb_table_row_count(trace_of(s, stage));
    XB_TRY(xb_study_new_table(s->ctx, s->study, &table, "trace", rows, XB_COUNT(names),
                              names));
    for (int stage = 0; stage < STAGES; stage++)
        for (int64_t i = 0; i < xb_table_row_count(trace_of(s, stage)); i++, at++) {
            xb_table_set(table, at, 0, stage + 1);
            for (int c = 1; c < XB_COUNT(names); c++) {
                int from = xb_table_column_find(trace_of(s, stage), names[c]);
                xb_table_set(table, at, c, xb_table_get(trace_of(s, stage), i, from));
            }
        }
    return XB_OK;
}

/* ---- the study */

static xb_status train_and_ask(job *s, const xb_model *mle)
{
    for (int trained = 0; trained < TRAINED; trained++) {
        xb_model *model = NULL;
        xb_train_options o = xb_utkface_vi(&s->plan, &s->nets, s->opt->seed,
                                           trained ? s->law[DEVICE] : NULL, mle);
        xb_status status = train(s, &model, STAGE_GAUSSIAN + trained, &o);
        if (status == XB_OK) status = ask(s, trained, model);
        xb_model_destroy(model);
        XB_TRY(status);
    }
    return XB_OK;
}

static xb_status run_job(job *s)
{
    xb_model *mle = NULL;
    XB_TRY(open_images(s));
    XB_TRY(take_rows(s));
    XB_TRY(make_room(s));
    XB_TRY(make_tables(s));
    xb_utkface_nets_for(&s->nets, &s->plan);
    if (!s->opt->resume) remove_checkpoints(s);
    xb_train_options o = xb_utkface_mle(&s->plan, &s->nets, s->opt->seed);
    xb_status status = train(s, &mle, STAGE_MLE, &o);
    if (status == XB_OK) status = ask_ordinary(s, mle);
    if (status == XB_OK) status = train_and_ask(s, mle);
    xb_model_destroy(mle);
    XB_TRY(status);
    XB_TRY(trace_table(s));
    s->results.report = xb_images_report(s->images);
    s->results.train = s->n - s->held;
    s->results.held = s->held;
    s->results.test = s->n_test;
    s->results.size = s->plan.size;
    s->results.blind = blind_rmse(s);
    XB_TRY(xb_utkface_facts(s->ctx, s->study, &s->results));
    remove_checkpoints(s);
    return XB_OK;
}

static void free_job(job *s)
{
    for (int stage = 0; stage < STAGES; stage++)
        xb_train_report_destroy(s->report[stage]);
    xb_images_destroy(s->images);
    void *const blocks[] = {s->select, s->test, s->age, s->value, s->sd};
    for (int i = 0; i < XB_COUNT(blocks); i++) xb_free(blocks[i]);
}

static xb_status run_laws(job *s)
{
    xb_law *gaussian = NULL, *bimodal = NULL;
    XB_TRY(xb_law_parse(s->ctx, &gaussian, "gaussian"));
    xb_status status = xb_law_parse(s->ctx, &bimodal, "bimodal");
    s->law[GAUSSIAN] = gaussian;
    s->law[BIMODAL] = bimodal;
    if (status == XB_OK) status = run_job(s);
    xb_law_destroy(gaussian);
    xb_law_destroy(bimodal);
    return status;
}

static xb_status run(xb_ctx *ctx, xb_study *study, const xb_law *device,
                     const xb_study_options *opt)
{
    if (!opt->data)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "the study 'utkface' needs the folder of UTKFace, or 'synthetic'");
    job *s = xb_new(ctx, 1, sizeof *s);
    if (!s) return XB_E_MEMORY;
    s->ctx = ctx;
    s->study = study;
    s->opt = opt;
    s->plan = xb_utkface_plan_for(is_synthetic(opt), opt->quick);
    if (opt->size > 0) s->plan.size = opt->size;
    s->law[DEVICE] = device;
    xb_status status = run_laws(s);
    free_job(s);
    xb_free(s);
    return status;
}

const xb_study_kind xb_study_utkface = {
    .name = "utkface",
    .about = "the age of a face by a convolutional net under three laws (Fig. 6)",
    .run = run,
    .find = xb_find_utkface,
};
