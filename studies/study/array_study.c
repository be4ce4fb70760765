/* array_study.c: the study "array": how far a model's predictive moves on an imperfect
 * array, next to how far the shape of the noise moves it. Each imperfection is tried
 * alone, on an otherwise ideal array, for two tasks (array_task.h). The measure (maths
 * X18) is the root mean square over test points of the change of mean and of standard
 * deviation, in digital standard deviations; below 0.1 an uncertainty is as good as
 * before.
 *
 * Tables:
 *
 * - shape: task, law (0 device, 1 bimodal), moved, noise, nll, nll_error
 * - one for each imperfection, named by its key: its setting, then for both tasks
 * moved_TASK, noise_TASK (Monte Carlo), nll_TASK and nll_error_TASK (change of the mean
 * negative log density, with its error over points), low_TASK and high_TASK (quantiles 5
 * % and 95 % of moved over chips, if chips differ; all other columns are then means over
 * chips)
 * - correlation: the same for correlation times in read intervals and few reads; its
 * noise is the movement by chance with that number of independent reads */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crossbayes/work.h"
#include "crossbayes/extend.h"
#include "study/array_facts.h"
#include "study/array_task.h"
#include "study/study.h"

enum { SCALAR, TABLE, TASKS };
enum { MOVED, NOISE, NLL, NLL_ERROR, LOW, HIGH, FIELDS, COLUMNS = 1 + TASKS * FIELDS };
enum { SETTINGS_MOST = 12, FEW_READS = 100, CHIPS = 16, CHIPS_QUICK = 4 };

/* Changes of this size or larger, in standard deviations, are what a user would
 * notice. */
static const double TOLERATED = 0.1;

typedef struct imperfection {
    const char *key;  /* key in xb_array, which is also the table's name */
    const char *need; /* name of the fact: the setting from which on (or up to which) the
                         change is tolerated */
    bool fewer;       /* small settings are the harmless ones */
    double setting[SETTINGS_MOST];
} imperfection;

static const imperfection imperfections[] = {
    {"adc_bits", "ADC bits needed", false, {3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
    {"mean_levels",
     "states of a mean device needed",
     false,
     {4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096}},
    {"sigma_levels",
     "widths of a noise device needed",
     false,
     {2, 4, 8, 16, 32, 64, 128, 256}},
    {"sigma_min_us",
     "largest tolerable noise floor, as a share of the largest width",
     true,
     {0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5}},
    {"program_error",
     "largest tolerable programming error, as a share of the conductance range",
     true,
     {0.0001, 0.0003, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1}},
};

/* Correlation times in read intervals. */
static const double times[] = {0.1, 0.3, 0.5, 1, 2, 5, 10, 20, 50, 100};

static const char *const task_names[TASKS] = {"scalar", "table"};

static const xb_array_sizes full_sizes = {10000, 200, 100, 2000};
static const xb_array_sizes quick_sizes = {2000, 40, 20, 200};

typedef struct job {
    xb_ctx *ctx;
    xb_study *study;
    const xb_study_options *opt;
    const xb_array_sizes *sizes;
    const xb_law *device;
    xb_array_task task[TASKS];
    struct array_cell *cell; /* [total], in the order in which tables take them */
    struct change *change;   /* [total] */
    int64_t cells, taken;    /* number of cells listed, and of those already put into
                                tables */
    int64_t done, total;     /* arrays read, for the progress bar */
} job;

typedef struct change {
    double field[FIELDS];
} change;

/* One array to read, which is an item of the work: under a law, with a setting, or with
 * few reads. */
typedef struct array_cell {
    int task;
    const char *law; /* NULL: the array's own law */
    const char *key; /* NULL: no number is set */
    double value;    /* value of the key; with few reads, the correlation time */
    bool few;
} array_cell;

/* A quick study takes every second setting. */
static int stride_of(const job *j) { return j->opt->quick ? 2 : 1; }

static int settings_of(const job *j, const imperfection *p)
{
    int n = 0;
    while (n < SETTINGS_MOST && p->setting[n] > 0) n++;
    return (n + stride_of(j) - 1) / stride_of(j);
}

/* Makes the ideal array with an on/off ratio of 10; one of its numbers may be changed. */
static xb_status ideal_array(xb_ctx *ctx, xb_array **out, const char *key, double value)
{
    xb_array *array = NULL;
    XB_TRY(xb_array_preset(ctx, &array, "ideal"));
    xb_status status = xb_array_set(ctx, array, "g_min_us", 10);
    if (status == XB_OK) status = xb_array_set(ctx, array, "sigma_max_us", 1);
    if (status == XB_OK && key) status = xb_array_set(ctx, array, key, value);
    if (status == XB_OK)
        *out = array;
    else
        xb_array_destroy(array);
    return status;
}

/* ---- cells */

/* (X18) The change on one chip. */
static change change_of(const xb_assay_result *r)
{
    const xb_distances *d = xb_assay_result_distance(r);
    const xb_gap mean = xb_distances_gap_get(d, "mean");
    const xb_gap sd = xb_distances_gap_get(d, "sd");
    const xb_score nll = xb_assay_result_nll_difference(r);
    const double moved = hypot(mean.rms, sd.rms);
    return (change){
        {moved, hypot(mean.noise, sd.noise), nll.value, nll.std_error, moved, moved}};
}

/* Means over chips, with the quantiles of how far they moved (X24). */
static xb_status over_chips(xb_ctx *ctx, change *out, const xb_chips *chips)
{
    const int64_t n = xb_chips_count(chips);
    double moved[CHIPS];
    change all = {{0}};
    for (int64_t i = 0; i < n; i++) {
        const change one = change_of(xb_chips_at(chips, i));
        moved[i] = one.field[MOVED];
        for (int f = 0; f < LOW; f++) all.field[f] += one.field[f] / (double)n;
    }
    XB_TRY(xb_sort_doubles(ctx, moved, n));
    all.field[LOW] = xb_array_quantile(moved, n, 0.05);
    all.field[HIGH] = xb_array_quantile(moved, n, 0.95);
    *out = all;
    return XB_OK;
}

static xb_status measure(job *j, const array_cell *cell, change *out)
{
    xb_array *array = NULL;
    xb_chips *chips = NULL;
    const int64_t asked = j->opt->quick ? CHIPS_QUICK : CHIPS;
    XB_TRY(ideal_array(j->ctx, &array, cell->key, cell->value));
    xb_status status = cell->law ? xb_array_set_law(j->ctx, array, cell->law) : XB_OK;
    if (status == XB_OK)
        status = xb_chips_create(j->ctx, &chips, j->task[cell->task].assay, array,
                                 xb_array_differs(array) ? asked : 1);
    if (status == XB_OK) status = over_chips(j->ctx, out, chips);
    xb_chips_destroy(chips);
    xb_array_destroy(array);
    return status;
}

static xb_status read_few(job *j, const array_cell *cell, double *value, int64_t blocks)
{
    const xb_array_task *t = &j->task[cell->task];
    xb_array *array = NULL;
    xb_analog *analog = NULL;
    xb_analog_options opt = xb_analog_options_default();
    opt.seed = j->opt->seed + 1; /* different from the draws of the reference */
    XB_TRY(ideal_array(j->ctx, &array, "read_interval_ns", 1));
    xb_status status = xb_array_set(j->ctx, array, "correlation_time_ns", cell->value);
    if (status == XB_OK)
        status = xb_analog_create(j->ctx, &analog, t->model, array, NULL, 0, &opt);
    if (status == XB_OK)
        status = xb_analog_draws(j->ctx, value, NULL, analog, t->test_x, t->n_test, 0,
                                 blocks * FEW_READS);
    xb_array_destroy(array);
    xb_analog_destroy(analog);
    return status;
}

static xb_status measure_few(job *j, const array_cell *cell, change *out)
{
    const xb_array_task *t = &j->task[cell->task];
    const int64_t blocks = (j->sizes->reads + FEW_READS - 1) / FEW_READS;
    double *value = xb_new(j->ctx, blocks * FEW_READS * t->n_test, sizeof *value);
    if (!value) return XB_E_MEMORY;
    const xb_status status = read_few(j, cell, value, blocks);
    *out = (change){{NAN, NAN, NAN, NAN, NAN, NAN}};
    if (status == XB_OK)
        out->field[MOVED] =
            xb_array_moved(value, blocks, FEW_READS, t->mean, t->sd, t->n_test);
    xb_free(value);
    return status;
}

static void add_cell(job *j, array_cell cell) { j->cell[j->cells++] = cell; }

/* Lists the cells in the order in which run_shape, run_imperfection and run_correlation
 * take them. */
static void list_cells(job *j)
{
    const char *device = j->opt->device_law ? j->opt->device_law : xb_law_text(j->device);
    for (int t = 0; t < TASKS; t++) {
        add_cell(j, (array_cell){.task = t, .law = device});
        add_cell(j, (array_cell){.task = t, .law = "bimodal"});
    }
    for (int i = 0; i < XB_COUNT(imperfections); i++) {
        const imperfection *p = &imperfections[i];
        for (int k = 0; k < TASKS * settings_of(j, p); k++)
            add_cell(j, (array_cell){.task = k % TASKS,
                                     .key = p->key,
                                     .value = p->setting[k / TASKS * stride_of(j)]});
    }
    for (int t = 0; t < TASKS; t++) {
        add_cell(j, (array_cell){.task = t, .few = true}); /* without correlation */
        for (int k = 0; k < XB_COUNT(times); k++)
            add_cell(j, (array_cell){.task = t, .few = true, .value = times[k]});
    }
}

static xb_status deal_cells(job *j, xb_work *work)
{
    int64_t i;
    while (xb_work_next(work, &i)) {
        const array_cell *cell = &j->cell[i];
        change c;
        XB_TRY(xb_progress_tell(j->ctx, "reading arrays", j->done++, j->total));
        XB_TRY(cell->few ? measure_few(j, cell, &c) : measure(j, cell, &c));
        XB_TRY(xb_work_put(j->ctx, work, i, &c, sizeof c));
    }
    XB_TRY(xb_work_collect(j->ctx, work));
    for (i = 0; i < j->total; i++)
        XB_TRY(xb_work_copy(j->ctx, work, i, &j->change[i], sizeof j->change[i]));
    return XB_OK;
}

static xb_status run_cells(job *j)
{
    xb_work *work = NULL;
    j->cell = xb_new(j->ctx, j->total, sizeof *j->cell);
    j->change = xb_new(j->ctx, j->total, sizeof *j->change);
    if (!j->cell || !j->change) return XB_E_MEMORY;
    list_cells(j);
    XB_TRY(xb_work_open(j->ctx, &work, "arrays", j->total));
    const xb_status status = deal_cells(j, work);
    xb_work_close(work);
    return status;
}

/* ---- shape */

static xb_status shape_fact(job *j, const char *law, const char *text, int task,
                            const change *c)
{
    char name[64];
    snprintf(name, sizeof name, "shape_%s_%s", law, task_names[task]);
    return xb_study_add_fact(
        j->ctx, j->study, name, c->field[MOVED], c->field[NOISE],
        "how far the %s law moves the predictive, in its sds, %s task", text,
        task_names[task]);
}

/* The change of the next cell. */
static change take(job *j) { return j->change[j->taken++]; }

static xb_status run_shape(job *j)
{
    static const char *const names[] = {"task",  "law", "moved",
                                        "noise", "nll", "nll_error"};
    static const char *const laws[] = {"device", "bimodal"};
    const char *text[] = {xb_law_text(j->device), "bimodal"};
    xb_table *table = NULL;
    XB_TRY(xb_study_new_table(j->ctx, j->study, &table, "shape", TASKS * XB_COUNT(laws),
                              XB_COUNT(names), names));
    for (int t = 0; t < TASKS; t++)
        for (int l = 0; l < XB_COUNT(laws); l++) {
            int64_t row = (int64_t)t * XB_COUNT(laws) + l;
            const change c = take(j);
            xb_table_set(table, row, 0, t);
            xb_table_set(table, row, 1, l);
            for (int f = 0; f < LOW; f++) xb_table_set(table, row, 2 + f, c.field[f]);
            XB_TRY(shape_fact(j, laws[l], text[l], t, &c));
        }
    return XB_OK;
}

/* ---- imperfections */

static xb_status new_table(job *j, xb_table **out, const char *key, int64_t rows)
{
    static const char *const field[FIELDS] = {"moved",     "noise", "nll",
                                              "nll_error", "low",   "high"};
    char text[COLUMNS][32];
    const char *names[COLUMNS] = {key};
    for (int t = 0; t < TASKS; t++)
        for (int f = 0; f < FIELDS; f++) {
            int column = 1 + t * FIELDS + f;
            snprintf(text[column], sizeof text[column], "%s_%s", field[f], task_names[t]);
            names[column] = text[column];
        }
    return xb_study_new_table(j->ctx, j->study, out, key, rows, COLUMNS, names);
}

static void put_change(xb_table *table, int64_t row, int task, const change *c)
{
    for (int f = 0; f < FIELDS; f++)
        xb_table_set(table, row, 1 + task * FIELDS + f, c->field[f]);
}

static xb_status need_fact(job *j, const xb_table *table, int task, const char *need,
                           bool fewer, double limit)
{
    char name[96];
    snprintf(name, sizeof name, "%s_%s", xb_table_name(table), task_names[task]);
    return xb_study_add_fact(
        j->ctx, j->study, name,
        xb_array_tolerated(table, 1 + task * FIELDS + HIGH, fewer, limit), NAN,
        "%s, %s task (the predictive moves by at most %.2g sd on 95 %% of chips)", need,
        task_names[task], limit);
}

static xb_status run_imperfection(job *j, const imperfection *p)
{
    xb_table *table = NULL;
    int n = settings_of(j, p);
    XB_TRY(new_table(j, &table, p->key, n));
    for (int k = 0; k < n; k++) {
        xb_table_set(table, k, 0, p->setting[k * stride_of(j)]);
        for (int t = 0; t < TASKS; t++) {
            const change c = take(j);
            put_change(table, k, t, &c);
        }
    }
    for (int t = 0; t < TASKS; t++)
        XB_TRY(need_fact(j, table, t, p->need, p->fewer, TOLERATED));
    return XB_OK;
}

/* ---- correlation */

static xb_status correlation_rows(job *j, xb_table *table, int task)
{
    const double chance = take(j).field[MOVED];
    for (int k = 0; k < XB_COUNT(times); k++) {
        const double moved = take(j).field[MOVED];
        const change c = {{moved, chance, NAN, NAN, moved, moved}};
        xb_table_set(table, k, 0, times[k]);
        put_change(table, k, task, &c);
    }
    char need[128];
    snprintf(need, sizeof need,
             "largest tolerable correlation time, in read intervals, for predictives of "
             "%d reads",
             FEW_READS);
    /* 1.5 times the movement by chance with this few reads */
    return need_fact(j, table, task, need, true, 1.5 * chance);
}

static xb_status run_correlation(job *j)
{
    xb_table *table = NULL;
    XB_TRY(new_table(j, &table, "correlation", XB_COUNT(times)));
    for (int t = 0; t < TASKS; t++) XB_TRY(correlation_rows(j, table, t));
    return XB_OK;
}

/* ---- the study */

static xb_status data_facts(job *j)
{
    for (int t = 0; t < TASKS; t++) {
        char name[64];
        const char *what = t == SCALAR    ? "the noisy sine"
                           : j->opt->data ? j->opt->data
                                          : "the built-in table (Friedman's function)";
        const xb_assay_result *digital = xb_assay_digital(j->task[t].assay);
        const xb_score nll = xb_scores_get(xb_assay_result_scores(digital), "nll");
        snprintf(name, sizeof name, "nll_%s", task_names[t]);
        XB_TRY(xb_study_add_fact(j->ctx, j->study, name, nll.value, nll.std_error,
                                 "NLL of the digital model, %s "
                                 "task: %.80s, %lld training rows, %lld test rows",
                                 task_names[t], what, (long long)j->task[t].n_train,
                                 (long long)j->task[t].n_test));
    }
    return XB_OK;
}

static xb_status run_job(job *j)
{
    /* a user's table first, because it may be unusable */
    XB_TRY(xb_array_task_table(j->ctx, &j->task[TABLE], j->opt, j->sizes));
    XB_TRY(xb_array_task_scalar(j->ctx, &j->task[SCALAR], j->opt, j->sizes));
    XB_TRY(run_cells(j));
    XB_TRY(data_facts(j));
    XB_TRY(run_shape(j));
    for (int i = 0; i < XB_COUNT(imperfections); i++)
        XB_TRY(run_imperfection(j, &imperfections[i]));
    return run_correlation(j);
}

static xb_status run(xb_ctx *ctx, xb_study *study, const xb_law *device,
                     const xb_study_options *opt)
{
    job *j = xb_new(ctx, 1, sizeof *j);
    if (!j) return XB_E_MEMORY;
    j->ctx = ctx;
    j->study = study;
    j->opt = opt;
    j->device = device;
    j->sizes = opt->quick ? &quick_sizes : &full_sizes;
    j->total = 2 * TASKS + (int64_t)TASKS * (1 + XB_COUNT(times));
    for (int i = 0; i < XB_COUNT(imperfections); i++)
        j->total += (int64_t)TASKS * settings_of(j, &imperfections[i]);
    xb_status status = run_job(j);
    for (int t = 0; t < TASKS; t++) xb_array_task_free(&j->task[t]);
    xb_free(j->cell);
    xb_free(j->change);
    xb_free(j);
    return status;
}

const xb_study_kind xb_study_array = {
    .name = "array",
    .about = "the law's shape next to an array's other imperfections",
    .run = run,
    .find = xb_find_array,
};
