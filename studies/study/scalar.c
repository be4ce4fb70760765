/* scalar.c: the study "scalar", the paper's Fig. 5: a net learns a noisy sine in [-1, 1]
 * with Gaussian weights and is evaluated in [-1.5, 1.5] under Gaussian, device and
 * bimodal weights of the same means and variances, with the same random words for each
 * draw; it is compared with a net trained with the device law and one with the paper's
 * literal setting. Everything is repeated over seeds fixed beforehand: seed, seed + 1,
 * ...
 *
 * Tables:
 *
 * - bands: x, truth, true_sd, aleatoric, mean and epistemic of each law (first seed)
 * - data: x, y of some of the training points (first seed)
 * - scores: seed, case (xb_scalar_case), and its scores inside and outside the training
 * range
 * - gaps: seed, x, differences from gaussian with their Monte Carlo errors: of means in
 * units of sigma_e, of sigma_e relative to it */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "crossbayes/extend.h"
#include "crossbayes/compare.h"
#include "study/paired.h"
#include "study/scalar_facts.h"
#include "study/scalar_model.h"
#include "study/study.h"

enum { GAUSSIAN, DEVICE, BIMODAL, LAWS };
enum { IN, OUT, REGIONS };
enum { TRAIN_POINTS = 10000, SHOWN_POINTS = 400, SEEDS_MOST = 5 };

/* The scores of a case: columns of `scores` after seed and case. */
enum {
    RMSE,
    NLL,
    COVERAGE,
    RMSE_OUT,
    NLL_OUT,
    COVERAGE_OUT,
    SIGMA_E,
    SIGMA_E_OUT,
    SIGMA_A_ERROR,
    SIGMA_MEDIAN,
    RMSE_ERROR, /* over test points, in the order of RMSE ... COVERAGE_OUT */
    FIELDS = RMSE_ERROR + SIGMA_E
};

/* Gap columns for each law but the first. */
enum { MEAN_GAP, MEAN_GAP_ERROR, SD_GAP, SD_GAP_ERROR, GAP_FIELDS };
enum { GAP_FIRST = 2, GAP_COLUMNS = GAP_FIRST + (LAWS - 1) * GAP_FIELDS };
enum { BAND_X, BAND_TRUTH, BAND_TRUE_SD, BAND_ALEATORIC, BAND_LAW };

typedef struct plan {
    int seeds;
    int64_t grid;          /* points in [-1.5, 1.5] */
    int64_t draws;         /* for differences between laws */
    int64_t score_draws;   /* draws for the scores */
    int64_t test[REGIONS]; /* numbers of points scored */
} plan;

static const plan full_plan = {SEEDS_MOST, 121, 200000, 1000, {4000, 2000}};
static const plan quick_plan = {1, 61, 10000, 200, {800, 400}};

typedef struct job {
    xb_ctx *ctx;
    xb_study *study;
    plan plan;
    uint64_t seed;
    xb_noise_scale scale;
    bool antithetic;
    const xb_law *law[LAWS];
    double *grid;                    /* [plan.grid] */
    double *x[REGIONS], *y[REGIONS]; /* [plan.test] */
    double *value;                   /* [score_draws][larger test set] */
    double *sd;                      /* [larger test set] */
    double train_x[TRAIN_POINTS], train_y[TRAIN_POINTS];
    xb_table *bands, *scores, *gaps;
    double result[XB_SCALAR_CASES][SEEDS_MOST][FIELDS];
} job;

/* ---- one seed */

static xb_predict_options predict_options(const job *s, uint64_t seed)
{
    xb_predict_options o = xb_predict_options_default();
    o.seed = seed;
    o.antithetic = s->antithetic;
    return o;
}

/* Computes rmse, nll and coverage inside and outside the training range. */
static xb_status score(job *s, double *result, const xb_model *model, const xb_law *law,
                       uint64_t seed)
{
    static const int first[REGIONS] = {RMSE, RMSE_OUT};
    static const char *const kept[] = {"rmse", "nll", "coverage"};
    xb_predict_options o = predict_options(s, seed);
    o.law = law;
    for (int r = 0; r < REGIONS; r++) {
        xb_scores *scores = NULL;
        xb_mixture p = {.mean = s->value,
                        .sd = s->sd,
                        .draws = s->plan.score_draws,
                        .n = s->plan.test[r],
                        .sd_shared = true};
        XB_TRY(xb_predict_draws(s->ctx, s->value, s->sd, model, s->x[r], p.n, 0, p.draws,
                                &o));
        XB_TRY(xb_score_regression(s->ctx, &scores, &p, s->y[r], NULL));
        for (int f = 0; f < XB_COUNT(kept); f++) {
            const xb_score of = xb_scores_get(scores, kept[f]);
            result[first[r] + f] = of.value;
            result[RMSE_ERROR + first[r] + f] = of.std_error;
        }
        xb_scores_destroy(scores);
    }
    return XB_OK;
}

/* The mean sigma_e over the grid inside and outside the training range, and the mean
 * error of sigma_a inside it. */
static void spread_fields(const job *s, double *result, const xb_paired *p, int law)
{
    double sum[REGIONS] = {0}, error = 0;
    int64_t count[REGIONS] = {0};
    for (int64_t i = 0; i < p->points; i++) {
        int r = fabs(s->grid[i]) <= XB_SCALAR_KNOWN ? IN : OUT;
        sum[r] += xb_paired_sd(p, law, i);
        count[r]++;
        if (r == IN)
            error += fabs(p->aleatoric[i] - xb_scalar_noise_sd(s->grid[i], s->scale));
    }
    result[SIGMA_E] = sum[IN] / (double)count[IN];
    result[SIGMA_E_OUT] = sum[OUT] / (double)count[OUT];
    result[SIGMA_A_ERROR] = error / (double)count[IN];
}

static void write_bands(const job *s, const xb_paired *p)
{
    for (int64_t i = 0; i < p->points; i++) {
        xb_table_set(s->bands, i, BAND_X, s->grid[i]);
        xb_table_set(s->bands, i, BAND_TRUTH, xb_scalar_truth(s->grid[i]));
        xb_table_set(s->bands, i, BAND_TRUE_SD, xb_scalar_noise_sd(s->grid[i], s->scale));
        xb_table_set(s->bands, i, BAND_ALEATORIC, p->aleatoric[i]);
        for (int l = 0; l < LAWS; l++) {
            xb_table_set(s->bands, i, BAND_LAW + 2 * l, xb_paired_mean(p, l, i));
            xb_table_set(s->bands, i, BAND_LAW + 2 * l + 1, xb_paired_sd(p, l, i));
        }
    }
}

static void write_gaps(const job *s, int k, const xb_paired *p)
{
    for (int64_t i = 0; i < p->points; i++) {
        int64_t row = k * p->points + i;
        xb_table_set(s->gaps, row, 0, (double)(s->seed + (uint64_t)k));
        xb_table_set(s->gaps, row, 1, s->grid[i]);
        for (int l = 1; l < LAWS; l++) {
            int column = GAP_FIRST + (l - 1) * GAP_FIELDS;
            xb_paired_gap mean = xb_paired_mean_gap(p, l, i);
            xb_paired_gap sd = xb_paired_sd_gap(p, l, i);
            xb_table_set(s->gaps, row, column + MEAN_GAP, mean.value);
            xb_table_set(s->gaps, row, column + MEAN_GAP_ERROR, mean.error);
            xb_table_set(s->gaps, row, column + SD_GAP, sd.value);
            xb_table_set(s->gaps, row, column + SD_GAP_ERROR, sd.error);
        }
    }
}

static double last_sigma(const xb_train_report *report)
{
    const xb_table *trace = xb_train_report_history(report);
    int column = xb_table_column_find(trace, "sigma_median");
    return xb_table_get(trace, xb_table_row_count(trace) - 1, column);
}

static xb_status train(job *s, xb_model **out, double *sigma, const xb_train_options *o)
{
    const xb_train_data data = {
        .x = s->train_x, .y = s->train_y, .n = TRAIN_POINTS, .features = 1};
    xb_train_report *report = NULL;
    XB_TRY(xb_train(s->ctx, out, &report, &data, o));
    *sigma = last_sigma(report);
    xb_train_report_destroy(report);
    return XB_OK;
}

/* Evaluates one model under several laws; with one law, `first` is its case. */
static xb_status ask(job *s, int k, int first, int laws, const xb_model *model,
                     const xb_law *const *law, int64_t draws, double sigma)
{
    uint64_t seed = s->seed + (uint64_t)k;
    xb_predict_options o = predict_options(s, seed);
    xb_paired p = {0};
    xb_status status =
        xb_paired_run(s->ctx, &p, model, law, laws, s->grid, s->plan.grid, draws, &o);
    for (int l = 0; l < laws && status == XB_OK; l++) {
        double *result = s->result[first + l][k];
        spread_fields(s, result, &p, l);
        result[SIGMA_MEDIAN] = sigma;
        status = score(s, result, model, law[l], seed);
    }
    if (status == XB_OK && laws == LAWS) write_gaps(s, k, &p);
    if (status == XB_OK && laws == LAWS && k == 0) write_bands(s, &p);
    xb_paired_free(&p);
    return status;
}

/* Trains one model and evaluates it. */
static xb_status run_case(job *s, int k, int first, int laws, const xb_law *const *law,
                          const xb_train_options *o)
{
    enum { FEWER = 10 }; /* number of draws if laws are not compared */
    int64_t draws = laws == LAWS ? s->plan.draws : s->plan.draws / FEWER;
    xb_model *model = NULL;
    double sigma = NAN;
    XB_TRY(train(s, &model, &sigma, o));
    xb_status status = ask(s, k, first, laws, model, law, draws, sigma);
    xb_model_destroy(model);
    return status;
}

/* Oracle scores on the same points, with the true mean and noise as the prediction. */
static void score_ideal(job *s, int k)
{
    double square = 0, fourth = 0, nll = 0, nll_square = 0, n = (double)s->plan.test[IN];
    for (int64_t i = 0; i < s->plan.test[IN]; i++) {
        double sd = xb_scalar_noise_sd(s->x[IN][i], s->scale);
        double error = s->y[IN][i] - xb_scalar_truth(s->x[IN][i]);
        double point = 0.5 * log(2 * M_PI) + log(sd) + 0.5 * error * error / (sd * sd);
        square += error * error / n;
        fourth += pow(error, 4) / n;
        nll += point / n;
        nll_square += point * point / n;
    }
    double *result = s->result[XB_SCALAR_IDEAL][k];
    for (int f = 0; f < FIELDS; f++) result[f] = NAN;
    result[RMSE] = sqrt(square);
    result[NLL] = nll;
    result[RMSE_ERROR + RMSE] = 0.5 * sqrt((fourth / square - square) / n); /* (C11) */
    result[RMSE_ERROR + NLL] = sqrt((nll_square - nll * nll) / n);
}

static xb_status run_seed(job *s, int k)
{
    uint64_t seed = s->seed + (uint64_t)k;
    const xb_law *gaussian = s->law[GAUSSIAN];
    xb_scalar_draw(s->train_x, s->train_y, TRAIN_POINTS, seed, XB_SCALAR_TRAIN, s->scale,
                   gaussian);
    xb_scalar_draw(s->x[IN], s->y[IN], s->plan.test[IN], seed, XB_SCALAR_TEST_IN,
                   s->scale, gaussian);
    xb_scalar_draw(s->x[OUT], s->y[OUT], s->plan.test[OUT], seed, XB_SCALAR_TEST_OUT,
                   s->scale, gaussian);
    score_ideal(s, k);
    xb_train_options o = xb_scalar_settled(NULL, seed);
    XB_TRY(run_case(s, k, XB_SCALAR_GAUSSIAN, LAWS, s->law, &o));
    o = xb_scalar_settled(s->law[DEVICE], seed);
    XB_TRY(run_case(s, k, XB_SCALAR_TRAINED, 1, &s->law[DEVICE], &o));
    o = xb_scalar_literal(seed);
    return run_case(s, k, XB_SCALAR_LITERAL, 1, &s->law[GAUSSIAN], &o);
}

/* ---- tables */

static xb_status make_tables(job *s)
{
    static const char *const band_names[] = {"x",
                                             "truth",
                                             "true_sd",
                                             "aleatoric",
                                             "mean_gaussian",
                                             "epistemic_gaussian",
                                             "mean_device",
                                             "epistemic_device",
                                             "mean_bimodal",
                                             "epistemic_bimodal"};
    static const char *const gap_names[GAP_COLUMNS] = {
        "seed",         "x",
        "mean_device",  "mean_device_error",
        "sd_device",    "sd_device_error",
        "mean_bimodal", "mean_bimodal_error",
        "sd_bimodal",   "sd_bimodal_error"};
    static const char *const score_names[2 + FIELDS] = {"seed",
                                                        "case",
                                                        "rmse",
                                                        "nll",
                                                        "coverage95",
                                                        "rmse_out",
                                                        "nll_out",
                                                        "coverage95_out",
                                                        "sigma_e",
                                                        "sigma_e_out",
                                                        "sigma_a_error",
                                                        "sigma_median",
                                                        "rmse_error",
                                                        "nll_error",
                                                        "coverage95_error",
                                                        "rmse_out_error",
                                                        "nll_out_error",
                                                        "coverage95_out_error"};
    int64_t seeds = s->plan.seeds;
    XB_TRY(xb_study_new_table(s->ctx, s->study, &s->bands, "bands", s->plan.grid,
                              XB_COUNT(band_names), band_names));
    XB_TRY(xb_study_new_table(s->ctx, s->study, &s->scores, "scores",
                              seeds * XB_SCALAR_CASES, XB_COUNT(score_names),
                              score_names));
    return xb_study_new_table(s->ctx, s->study, &s->gaps, "gaps", seeds * s->plan.grid,
                              GAP_COLUMNS, gap_names);
}

static xb_status data_table(job *s)
{
    static const char *const names[] = {"x", "y"};
    xb_table *table = NULL;
    XB_TRY(xb_study_new_table(s->ctx, s->study, &table, "data", SHOWN_POINTS, 2, names));
    xb_scalar_draw(s->train_x, s->train_y, SHOWN_POINTS, s->seed, XB_SCALAR_TRAIN,
                   s->scale, s->law[GAUSSIAN]);
    for (int64_t i = 0; i < SHOWN_POINTS; i++) {
        xb_table_set(table, i, 0, s->train_x[i]);
        xb_table_set(table, i, 1, s->train_y[i]);
    }
    return XB_OK;
}

static void score_table(const job *s)
{
    for (int k = 0; k < s->plan.seeds; k++)
        for (int c = 0; c < XB_SCALAR_CASES; c++) {
            int64_t row = (int64_t)k * XB_SCALAR_CASES + c;
            xb_table_set(s->scores, row, 0, (double)(s->seed + (uint64_t)k));
            xb_table_set(s->scores, row, 1, c);
            for (int f = 0; f < FIELDS; f++)
                xb_table_set(s->scores, row, 2 + f, s->result[c][k][f]);
        }
}

/* ---- the study */

static xb_status make_room(job *s)
{
    const plan *p = &s->plan;
    int64_t most = p->test[IN] > p->test[OUT] ? p->test[IN] : p->test[OUT];
    s->grid = xb_new(s->ctx, p->grid, sizeof *s->grid);
    s->value = xb_new(s->ctx, most * p->score_draws, sizeof *s->value);
    s->sd = xb_new(s->ctx, most, sizeof *s->sd);
    if (!s->grid || !s->value || !s->sd) return XB_E_MEMORY;
    for (int r = 0; r < REGIONS; r++) {
        s->x[r] = xb_new(s->ctx, p->test[r], sizeof *s->x[r]);
        s->y[r] = xb_new(s->ctx, p->test[r], sizeof *s->y[r]);
        if (!s->x[r] || !s->y[r]) return XB_E_MEMORY;
    }
    for (int64_t i = 0; i < p->grid; i++)
        s->grid[i] =
            XB_SCALAR_ASKED * (double)(2 * i - p->grid + 1) / (double)(p->grid - 1);
    return XB_OK;
}

static void free_room(job *s)
{
    xb_free(s->grid);
    xb_free(s->value);
    xb_free(s->sd);
    for (int r = 0; r < REGIONS; r++) {
        xb_free(s->x[r]);
        xb_free(s->y[r]);
    }
}

static xb_status run_job(job *s)
{
    XB_TRY(make_room(s));
    XB_TRY(make_tables(s));
    XB_TRY(data_table(s));
    for (int k = 0; k < s->plan.seeds; k++) XB_TRY(run_seed(s, k));
    score_table(s);
    return xb_scalar_facts(s->ctx, s->study);
}

static xb_status run_laws(xb_ctx *ctx, job *s)
{
    xb_law *gaussian = NULL, *bimodal = NULL;
    XB_TRY(xb_law_parse(ctx, &gaussian, "gaussian"));
    xb_status status = xb_law_parse(ctx, &bimodal, "bimodal");
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
    job *s = xb_new(ctx, 1, sizeof *s);
    if (!s) return XB_E_MEMORY;
    s->ctx = ctx;
    s->study = study;
    s->plan = opt->quick ? quick_plan : full_plan;
    s->seed = opt->seed;
    s->scale = opt->noise_scale;
    s->law[DEVICE] = device;
    s->antithetic = xb_law_is_symmetric(device);
    xb_status status = run_laws(ctx, s);
    free_room(s);
    xb_free(s);
    return status;
}

const xb_study_kind xb_study_scalar = {
    .name = "scalar",
    .about = "a noisy sine learnt once and evaluated under three laws (Fig. 5)",
    .run = run,
    .find = xb_find_scalar,
};
