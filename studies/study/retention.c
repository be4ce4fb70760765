/* retention.c: the study "retention": predictions of a model on an array whose
 * conductances relax as a device file says, from 10 ms to 1e6 s after programming, on
 * several chips. It compares three ways to use the device's states (WAYS below). The
 * table is the user's or Friedman's function (array_task.h); nothing but relaxation
 * disturbs the array.
 *
 * Tables:
 *
 * - scores: age_s, extrapolated (1: later than was measured), then for each way nll, loss
 * (nll minus that right after programming), coverage95 and rmse, each with its error over
 * chips
 * - chips: way, chip, age_s, nll, coverage95, rmse
 * - refresh: way, loss, seconds after which the mean loss exceeds it, low and high (one
 * standard error), half (seconds by which half of the chips have exceeded it); empty: not
 * within the ages
 * - states: conductance_us, spread_us at the last time, quiet (1: in the quiet range)
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "crossbayes/work.h"
#include "crossbayes/extend.h"
#include "study/array_task.h"
#include "study/findings.h"
#include "study/retention_facts.h"
#include "study/study.h"

enum { ALL, RANGE, PAIRS, WAYS };
enum { NLL, COVERAGE, RMSE, SCORES };
enum { AGES_MOST = 32, FRESH = 0 };

static const char *const way_names[WAYS] = {"all", "range", "pairs"};
static const char *const way_words[WAYS] = {
    "all states, one device of a pair in its lowest state",
    "quiet states only",
    "all states, each weight in its quietest pair",
};
static const char *const score_keys[SCORES] = {"nll", "coverage", "rmse"};
static const char *const score_names[SCORES] = {"nll", "coverage95", "rmse"};
static const char *const score_words[SCORES] = {
    "NLL", "share of rows in their 95 % interval", "RMSE"};

static const xb_array_sizes full_sizes = {.reads = 1000}, quick_sizes = {.reads = 100};
static const double FIRST_AGE = 0.01, LAST_AGE = 1e6, LOSS = 0.1;
enum { CHIPS = 24, QUICK_CHIPS = 4 };

typedef struct job {
    xb_ctx *ctx;
    xb_study *study;
    const xb_study_options *opt;
    const xb_array_sizes *sizes;
    xb_device *device;
    double us; /* uS in a unit of the device */
    xb_state_range range[WAYS];
    xb_array_task task;
    double age[AGES_MOST]; /* [ages], the first of them 0: right after programming */
    int ages, chips;
    double *score;       /* [WAYS][chips][ages][SCORES] */
    int64_t done, total; /* arrays read */
} job;

static double *score_at(const job *j, int way, int chip, int age)
{
    return j->score + (((int64_t)way * j->chips + chip) * j->ages + age) * SCORES;
}

static double last_time(const job *j)
{
    return xb_device_time_at(j->device, xb_device_time_count(j->device) - 1);
}

/* ---- the device */

static xb_status read_device(job *j)
{
    if (!j->opt->device)
        return xb_fail(j->ctx, XB_E_INPUT, "the study retention needs a device file");
    XB_TRY(xb_device_load(j->ctx, &j->device, j->opt->device));
    XB_TRY(xb_device_microsiemens(j->ctx, &j->us, j->device));
    const int64_t n = xb_device_state_count(j->device);
    if (n < 2)
        return xb_fail(
            j->ctx, XB_E_INPUT,
            "%s: the device file has the relaxation of %lld %s, expected 2 or more: make"
            " it from readings over time of cells in several states",
            j->opt->device, (long long)n, xb_plural(n, "state", "states"));
    const xb_state_range whole = {xb_device_state_at(j->device, 0).conductance,
                                  xb_device_state_at(j->device, n - 1).conductance, 0};
    j->range[ALL] = j->range[PAIRS] = whole;
    j->range[RANGE] = xb_quiet_range(j->device);
    return XB_OK;
}

static xb_status states_table(job *j)
{
    static const char *const names[] = {"conductance_us", "spread_us", "quiet"};
    const int64_t n = xb_device_state_count(j->device);
    const int64_t last = xb_device_time_count(j->device) - 1;
    xb_table *table = NULL;
    XB_TRY(xb_study_new_table(j->ctx, j->study, &table, "states", n, XB_COUNT(names),
                              names));
    for (int64_t i = 0; i < n; i++) {
        const double g = xb_device_state_at(j->device, i).conductance;
        xb_table_set(table, i, 0, j->us * g);
        xb_table_set(table, i, 1, j->us * xb_device_move_at(j->device, i, last).spread);
        xb_table_set(table, i, 2, g >= j->range[RANGE].low && g <= j->range[RANGE].high);
    }
    return XB_OK;
}

/* ---- arrays */

static xb_status make_array(const job *j, xb_array **out, int way, double age)
{
    xb_array *a = NULL;
    xb_ctx *ctx = j->ctx;
    XB_TRY(xb_array_preset(ctx, &a, "ideal"));
    xb_status status = xb_array_set(ctx, a, "g_min_us", j->us * j->range[way].low);
    if (status == XB_OK)
        status = xb_array_set(ctx, a, "g_max_us", j->us * j->range[way].high);
    if (status == XB_OK) status = xb_array_set_device(ctx, a, j->opt->device);
    if (status == XB_OK) status = xb_array_set(ctx, a, "age_s", age);
    if (status == XB_OK) status = xb_array_set(ctx, a, "quiet_pairs", way == PAIRS);
    if (status == XB_OK)
        *out = a;
    else
        xb_array_destroy(a);
    return status;
}

/* Scores predictions as an assay does, for any noise of the model. */
static xb_status read_array(job *j, xb_assay *assay, int way, int chip, int age)
{
    xb_array *array = NULL;
    xb_assay_result *result = NULL;
    XB_TRY(xb_progress_tell(j->ctx, "reading arrays", j->done++, j->total));
    XB_TRY(make_array(j, &array, way, j->age[age]));
    xb_status status = xb_assay_run(j->ctx, &result, assay, array);
    for (int k = 0; k < SCORES && status == XB_OK; k++)
        score_at(j, way, chip, age)[k] =
            xb_scores_get(xb_assay_result_scores(result), score_keys[k]).value;
    xb_assay_result_destroy(result);
    xb_array_destroy(array);
    return status;
}

static xb_status read_chip(job *j, int chip)
{
    const xb_array_task *t = &j->task;
    xb_assay *assay = NULL;
    xb_analog_options analog = xb_analog_options_default();
    xb_assay_options opt = xb_assay_options_default();
    analog.seed = j->opt->seed;
    analog.chip = j->opt->seed + (uint64_t)chip;
    opt.analog = &analog;
    opt.reads = j->sizes->reads;
    XB_TRY(
        xb_assay_create(j->ctx, &assay, t->model, t->test_x, t->test_y, t->n_test, &opt));
    xb_status status = XB_OK;
    for (int way = 0; way < WAYS; way++)
        for (int age = 0; age < j->ages && status == XB_OK; age++)
            status = read_array(j, assay, way, chip, age);
    xb_assay_destroy(assay);
    return status;
}

/* ---- each chip is an item of the work, with its scores [WAYS][ages][SCORES] */

static int64_t chip_scores(const job *j) { return (int64_t)WAYS * j->ages * SCORES; }

static void copy_scores(job *j, double *scores, int chip, bool take)
{
    for (int way = 0; way < WAYS; way++)
        for (int age = 0; age < j->ages; age++, scores += SCORES) {
            double *at = score_at(j, way, chip, age);
            memcpy(take ? at : scores, take ? scores : at, SCORES * sizeof *at);
        }
}

static xb_status deal_chips(job *j, xb_work *work, double *room)
{
    const int64_t bytes = chip_scores(j) * (int64_t)sizeof *room;
    int64_t chip;
    while (xb_work_next(work, &chip)) {
        XB_TRY(read_chip(j, (int)chip));
        copy_scores(j, room, (int)chip, false);
        XB_TRY(xb_work_put(j->ctx, work, chip, room, bytes));
    }
    XB_TRY(xb_work_collect(j->ctx, work));
    for (chip = 0; chip < j->chips; chip++) {
        XB_TRY(xb_work_copy(j->ctx, work, chip, room, bytes));
        copy_scores(j, room, (int)chip, true);
    }
    return XB_OK;
}

static xb_status read_arrays(job *j)
{
    xb_work *work = NULL;
    double *room = xb_new(j->ctx, chip_scores(j), sizeof *room);
    xb_status status = room ? XB_OK : XB_E_MEMORY;
    if (status == XB_OK) status = xb_work_open(j->ctx, &work, "chips", j->chips);
    if (status == XB_OK) status = deal_chips(j, work, room);
    xb_work_close(work);
    xb_free(room);
    return status;
}

/* ---- over chips */

typedef struct estimate {
    double mean, error;
} estimate;

/* A score at one age, or how much it has grown since programming. */
static estimate over_chips(const job *j, int way, int age, int score, bool grown)
{
    const double n = j->chips;
    double mean = 0, square = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int c = 0; c < j->chips; c++) {
            double x = score_at(j, way, c, age)[score];
            if (grown) x -= score_at(j, way, c, FRESH)[score];
            if (pass)
                square += (x - mean) * (x - mean);
            else
                mean += x / n;
        }
    return (estimate){mean, j->chips > 1 ? sqrt(square / (n - 1) / n) : NAN};
}

enum { PAIR = 2, EACH = PAIR * (SCORES + 1), LEAD = 2, COLUMNS = LEAD + WAYS * EACH };

static xb_status scores_table(job *j)
{
    static const char *const kinds[] = {"nll", "loss", "coverage95", "rmse"};
    static const int score_of[] = {NLL, NLL, COVERAGE, RMSE};
    char text[COLUMNS][48];
    const char *names[COLUMNS] = {"age_s", "extrapolated"};
    for (int c = LEAD; c < COLUMNS; c++) {
        const int way = (c - LEAD) / EACH, kind = (c - LEAD) % EACH / PAIR;
        snprintf(text[c], sizeof text[c], "%s_%s%s", kinds[kind],
                 (c - LEAD) % PAIR ? "error_" : "", way_names[way]);
        names[c] = text[c];
    }
    xb_table *table = NULL;
    XB_TRY(xb_study_new_table(j->ctx, j->study, &table, "scores", j->ages - 1, COLUMNS,
                              names));
    for (int age = 1; age < j->ages; age++) {
        xb_table_set(table, age - 1, 0, j->age[age]);
        xb_table_set(table, age - 1, 1, j->age[age] > last_time(j) * (1 + 1e-9));
        for (int c = LEAD; c < COLUMNS; c += PAIR) {
            const int way = (c - LEAD) / EACH, kind = (c - LEAD) % EACH / PAIR;
            const estimate e = over_chips(j, way, age, score_of[kind], kind == 1);
            xb_table_set(table, age - 1, c, e.mean);
            xb_table_set(table, age - 1, c + 1, e.error);
        }
    }
    return XB_OK;
}

static xb_status chips_table(job *j)
{
    static const char *const names[] = {"way", "chip",       "age_s",
                                        "nll", "coverage95", "rmse"};
    xb_table *table = NULL;
    int64_t row = 0;
    XB_TRY(xb_study_new_table(j->ctx, j->study, &table, "chips",
                              (int64_t)WAYS * j->chips * j->ages, XB_COUNT(names),
                              names));
    for (int way = 0; way < WAYS; way++)
        for (int c = 0; c < j->chips; c++)
            for (int age = 0; age < j->ages; age++, row++) {
                xb_table_set(table, row, 0, way);
                xb_table_set(table, row, 1, c);
                xb_table_set(table, row, 2, j->age[age]);
                for (int k = 0; k < SCORES; k++)
                    xb_table_set(table, row, 3 + k, score_at(j, way, c, age)[k]);
            }
    return XB_OK;
}

/* ---- facts */

static xb_status losses(const job *j, double **out, int way)
{
    double *loss = xb_new(j->ctx, (int64_t)j->chips * (j->ages - 1), sizeof *loss);
    if (!loss) return XB_E_MEMORY;
    for (int c = 0; c < j->chips; c++)
        for (int age = 1; age < j->ages; age++)
            loss[c * (j->ages - 1) + age - 1] =
                score_at(j, way, c, age)[NLL] - score_at(j, way, c, FRESH)[NLL];
    *out = loss;
    return XB_OK;
}

static xb_status refresh_fact(job *j, int way, double limit, const xb_refresh *r)
{
    char name[64], bound[64] = "";
    const bool known = r->seconds > 0 && isfinite(r->seconds);
    snprintf(name, sizeof name, "refresh_%s", way_names[way]);
    if (r->seconds == 0)
        snprintf(bound, sizeof bound, ": reached before %g s", j->age[1]);
    else if (!known)
        snprintf(bound, sizeof bound, ": not reached within %g s", j->age[j->ages - 1]);
    else if (isfinite(r->low))
        snprintf(bound, sizeof bound, ": %g to %g s within one error",
                 xb_two_digits(r->low), xb_two_digits(r->high));
    XB_TRY(xb_study_add_fact(j->ctx, j->study, name, known ? r->seconds : NAN, NAN,
                             "seconds until the NLL has grown by %g nats, %s%s", limit,
                             way_words[way], bound));
    snprintf(name, sizeof name, "half_%s", way_names[way]);
    const bool half = r->half > 0 && isfinite(r->half);
    return xb_study_add_fact(j->ctx, j->study, name, half ? r->half : NAN, NAN,
                             "seconds until the NLL of half of the chips has grown by "
                             "that much, %s%s",
                             way_words[way],
                             half           ? ""
                             : r->half == 0 ? ": before the first age"
                                            : ": not within the ages");
}

static xb_status refresh_table(job *j)
{
    static const char *const names[] = {"way", "loss", "seconds", "low", "high", "half"};
    const double limit = j->opt->loss > 0 ? j->opt->loss : LOSS;
    xb_table *table = NULL;
    XB_TRY(xb_study_new_table(j->ctx, j->study, &table, "refresh", WAYS, XB_COUNT(names),
                              names));
    for (int way = 0; way < WAYS; way++) {
        double *loss = NULL;
        XB_TRY(losses(j, &loss, way));
        const xb_refresh r =
            xb_refresh_find(loss, j->age + 1, j->chips, j->ages - 1, limit);
        xb_free(loss);
        const bool known = r.seconds > 0 && isfinite(r.seconds);
        const bool half = r.half > 0 && isfinite(r.half);
        const double row[] = {way,   limit,  known ? r.seconds : NAN,
                              r.low, r.high, half ? r.half : NAN};
        for (int c = 0; c < XB_COUNT(row); c++) xb_table_set(table, way, c, row[c]);
        XB_TRY(refresh_fact(j, way, limit, &r));
    }
    return xb_study_add_fact(j->ctx, j->study, "loss", limit, NAN,
                             "nats: growth of the NLL at which a refresh is due");
}

/* The scores of a way right after programming, and the loss at the last age that was
 * measured. */
static xb_status way_facts(job *j, int way)
{
    char name[64];
    int age = 1;
    while (age + 1 < j->ages && j->age[age + 1] <= last_time(j) * (1 + 1e-9)) age++;
    const estimate loss = over_chips(j, way, age, NLL, true);
    const estimate coverage = over_chips(j, way, age, COVERAGE, false);
    snprintf(name, sizeof name, "loss_%s", way_names[way]);
    XB_TRY(xb_study_add_fact(j->ctx, j->study, name, loss.mean, loss.error,
                             "nats by which the NLL has grown %g s after programming, %s",
                             j->age[age], way_words[way]));
    snprintf(name, sizeof name, "coverage_%s", way_names[way]);
    return xb_study_add_fact(j->ctx, j->study, name, coverage.mean, coverage.error,
                             "share of test rows in their 95 %% interval %g s after"
                             " programming, %s",
                             j->age[age], way_words[way]);
}

static xb_status add_facts(job *j)
{
    const xb_scores *digital = xb_assay_result_scores(xb_assay_digital(j->task.assay));
    for (int k = 0; k < SCORES; k++) {
        char name[64];
        const xb_score s = xb_scores_get(digital, score_keys[k]);
        snprintf(name, sizeof name, "%s_digital", score_names[k]);
        XB_TRY(xb_study_add_fact(j->ctx, j->study, name, s.value, s.std_error,
                                 "%s of the digital model on %lld test rows",
                                 score_words[k], (long long)j->task.n_test));
    }
    XB_TRY(xb_study_add_fact(j->ctx, j->study, "chips", j->chips, NAN,
                             "chips that errors are taken over"));
    XB_TRY(
        xb_study_add_fact(j->ctx, j->study, "measured_s", last_time(j), NAN,
                          "seconds after programming over which the device was measured; "
                          "later ages are extrapolated in the logarithm of time"));
    const xb_state_range *q = &j->range[RANGE];
    XB_TRY(xb_study_add_fact(
        j->ctx, j->study, "quiet_low", j->us * q->low, NAN,
        "µS, lowest of the quiet states, which spread by at most %.3g µS",
        j->us * q->limit));
    XB_TRY(xb_study_add_fact(j->ctx, j->study, "quiet_high", j->us * q->high, NAN,
                             "µS, highest of the quiet states"));
    for (int way = 0; way < WAYS; way++) XB_TRY(way_facts(j, way));
    return refresh_table(j);
}

/* ---- the study */

static void choose_ages(job *j)
{
    const double step = j->opt->quick ? 100 : sqrt(10);
    j->age[j->ages++] = 0;
    for (int i = 0; FIRST_AGE * pow(step, i) <= LAST_AGE * (1 + 1e-9); i++)
        j->age[j->ages++] = FIRST_AGE * pow(step, i);
    for (int i = 1; i < j->ages; i++) { /* so that whole decades are exact */
        const double decade = rint(log10(j->age[i]) * 2) / 2;
        j->age[i] = decade == rint(decade) ? pow(10, decade) : j->age[i];
    }
}

static xb_status run_job(job *j)
{
    XB_TRY(read_device(j));
    choose_ages(j);
    XB_TRY(xb_array_task_table(j->ctx, &j->task, j->opt, j->sizes));
    j->score =
        xb_new(j->ctx, (int64_t)WAYS * j->chips * j->ages * SCORES, sizeof *j->score);
    if (!j->score) return XB_E_MEMORY;
    j->total = (int64_t)WAYS * j->chips * j->ages;
    XB_TRY(read_arrays(j));
    XB_TRY(scores_table(j));
    XB_TRY(chips_table(j));
    XB_TRY(states_table(j));
    return add_facts(j);
}

static xb_status run(xb_ctx *ctx, xb_study *study, const xb_law *law,
                     const xb_study_options *opt)
{
    (void)law;
    job j = {.ctx = ctx, .study = study, .opt = opt};
    j.sizes = opt->quick ? &quick_sizes : &full_sizes;
    j.chips = opt->chips > 0 ? opt->chips : opt->quick ? QUICK_CHIPS : CHIPS;
    xb_status status = run_job(&j);
    xb_array_task_free(&j.task);
    xb_device_destroy(j.device);
    xb_free(j.score);
    return status;
}

const xb_study_kind xb_study_retention = {
    .name = "retention",
    .about = "predictions on an array whose conductances relax, by its age",
    .run = run,
    .find = xb_find_retention,
    .device_file = true,
};
