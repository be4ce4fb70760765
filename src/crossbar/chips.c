/* chips.c: an array built many times: scores, gaps and verdicts over chips (maths X24).
 * Everything is sorted when the chips are made, so that accessors cannot fail. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "crossbar/assay.h"
#include "crossbayes/work.h"

enum { GAPS = 3 };

struct xb_chips {
    int64_t n;
    xb_assay_result **chip; /* [n] */
    double *score;          /* [scores][n], ascending, as are the others */
    double *loss;           /* [scores][n] losses against the digital model */
    double *gap;            /* [GAPS][n] */
};

/* One number of each chip: its score or gap `which`. */
typedef double number_fn(const xb_assay_result *chip, const xb_assay_result *digital,
                         int64_t which);

static double score_of(const xb_assay_result *chip, const xb_assay_result *digital,
                       int64_t which)
{
    (void)digital;
    return xb_scores_at(xb_assay_result_scores(chip), which).value;
}

static double loss_of(const xb_assay_result *chip, const xb_assay_result *digital,
                      int64_t which)
{
    const int64_t better = xb_scores_better(xb_assay_result_scores(chip), which);
    const double more = score_of(chip, NULL, which) - score_of(digital, NULL, which);
    return better == 0 ? fabs(more) : better > 0 ? -more : more;
}

static double gap_of(const xb_assay_result *chip, const xb_assay_result *digital,
                     int64_t which)
{
    (void)digital;
    return xb_distances_gap_at(xb_assay_result_distance(chip), which).rms;
}

/* Collects each of `count` numbers over the chips in ascending order; all are NAN if one
 * chip has NAN. */
static xb_status gather(xb_ctx *ctx, double **out, const xb_chips *c,
                        const xb_assay_result *digital, int64_t count, number_fn *number)
{
    double *x = *out = xb_new(ctx, count * c->n, sizeof *x);
    if (!x) return XB_E_MEMORY;
    for (int64_t k = 0; k < count; k++, x += c->n) {
        bool known = true;
        for (int64_t i = 0; i < c->n; i++) {
            x[i] = number(c->chip[i], digital, k);
            known = known && !isnan(x[i]);
        }
        for (int64_t i = 0; i < c->n && !known; i++) x[i] = NAN;
        if (known) XB_TRY(xb_sort_doubles(ctx, x, c->n));
    }
    return XB_OK;
}

/* Sorts the numbers of all chips. */
static xb_status put_in_order(xb_ctx *ctx, xb_chips *c, const xb_assay_result *digital)
{
    const int64_t scores = xb_scores_count(xb_assay_result_scores(digital));
    XB_TRY(gather(ctx, &c->score, c, digital, scores, score_of));
    XB_TRY(gather(ctx, &c->loss, c, digital, scores, loss_of));
    return gather(ctx, &c->gap, c, digital, GAPS, gap_of);
}

/* ---- chips of several arrays; each chip is an item of the work */

typedef struct chip_job {
    xb_assay *assay;
    const xb_array *const *array; /* [arrays] */
    xb_chips **chips;             /* [arrays] */
    int64_t arrays, total;
    xb_work *work;
    unsigned char *packed; /* memory for a result of `bytes` bytes */
    int64_t bytes;
} chip_job;

/* The array and the chip of an item. */
static int64_t array_of(const chip_job *job, int64_t item, int64_t *chip)
{
    int64_t i = 0;
    for (; item >= job->chips[i]->n; i++) item -= job->chips[i]->n;
    *chip = item;
    return i;
}

static xb_status assay_item(xb_ctx *ctx, const chip_job *job, int64_t item)
{
    int64_t chip = 0;
    const int64_t i = array_of(job, item, &chip);
    xb_assay_result *r = NULL;
    if (job->total > 1)
        XB_TRY(xb_progress_tell(ctx, job->arrays > 1 ? "reading arrays" : "reading chips",
                                item, job->total));
    XB_TRY(xb_assay_chip(ctx, &r, job->assay, job->array[i], chip));
    xb_assay_result_pack(job->packed, r);
    xb_assay_result_destroy(r);
    return xb_work_put(ctx, job->work, item, job->packed, job->bytes);
}

static xb_status take_item(xb_ctx *ctx, const chip_job *job, int64_t item)
{
    int64_t chip = 0;
    const int64_t i = array_of(job, item, &chip);
    XB_TRY(xb_work_copy(ctx, job->work, item, job->packed, job->bytes));
    return xb_assay_result_unpack(ctx, &job->chips[i]->chip[chip], job->packed,
                                  xb_assay_digital(job->assay));
}

static xb_status run_deal(xb_ctx *ctx, chip_job *job)
{
    int64_t item;
    job->bytes = xb_assay_result_bytes(xb_assay_digital(job->assay));
    job->packed = xb_new(ctx, job->bytes, 1);
    if (!job->packed) return XB_E_MEMORY;
    XB_TRY(xb_work_open(ctx, &job->work, "chips", job->total));
    while (xb_work_next(job->work, &item)) XB_TRY(assay_item(ctx, job, item));
    XB_TRY(xb_work_collect(ctx, job->work));
    for (item = 0; item < job->total; item++) XB_TRY(take_item(ctx, job, item));
    for (int64_t i = 0; i < job->arrays; i++)
        XB_TRY(put_in_order(ctx, job->chips[i], xb_assay_digital(job->assay)));
    return XB_OK;
}

/* Allocates the chips of array i. */
static xb_status open_chips(xb_ctx *ctx, chip_job *job, int64_t i, int64_t count)
{
    if (count < 1)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld chips: expected 1 or more",
                       (long long)count);
    xb_chips *c = job->chips[i] = xb_new(ctx, 1, sizeof *c);
    if (!c) return XB_E_MEMORY;
    c->n = count;
    c->chip = xb_new(ctx, count, sizeof(xb_assay_result *));
    job->total += count;
    return c->chip ? XB_OK : XB_E_MEMORY;
}

xb_status xb_chips_create_all(xb_ctx *ctx, xb_chips **out, xb_assay *assay,
                              const xb_array *const *array, const int64_t *count,
                              int64_t n)
{
    chip_job job = {.assay = assay, .array = array, .arrays = n};
    job.chips = xb_new(ctx, n, sizeof *job.chips);
    xb_status status = job.chips ? XB_OK : XB_E_MEMORY;
    for (int64_t i = 0; i < n && status == XB_OK; i++)
        status = open_chips(ctx, &job, i, count[i]);
    if (status == XB_OK) status = run_deal(ctx, &job);
    for (int64_t i = 0; job.chips && i < n; i++) {
        if (status == XB_OK)
            out[i] = job.chips[i];
        else
            xb_chips_destroy(job.chips[i]);
    }
    xb_work_close(job.work);
    free(job.packed);
    free(job.chips);
    return status;
}

xb_status xb_chips_create(xb_ctx *ctx, xb_chips **out, xb_assay *assay,
                          const xb_array *array, int64_t count)
{
    return xb_chips_create_all(ctx, out, assay, &array, &count, 1);
}

void xb_chips_destroy(xb_chips *chips)
{
    if (!chips) return;
    for (int64_t i = 0; chips->chip && i < chips->n; i++)
        xb_assay_result_destroy(chips->chip[i]);
    free(chips->chip);
    free(chips->score);
    free(chips->loss);
    free(chips->gap);
    free(chips);
}

/* ---- accessors */

int64_t xb_chips_count(const xb_chips *chips) { return chips->n; }

const xb_assay_result *xb_chips_at(const xb_chips *chips, int64_t i)
{
    return i >= 0 && i < chips->n ? chips->chip[i] : NULL;
}

static double quantile(const double *x, int64_t n, double level)
{
    const double at = (double)(n - 1) * level;
    const int64_t k = (int64_t)at;
    if (k + 1 >= n || x[k] == x[k + 1]) return x[k]; /* also if they are infinite */
    return x[k] + (at - (double)k) * (x[k + 1] - x[k]);
}

/* (X24) */
static xb_chip_spread spread(const double *x, int64_t n)
{
    double mean = 0, square = 0;
    for (int64_t i = 0; i < n; i++) mean += x[i] / (double)n;
    /* The values are sorted, so all are equal and sd is 0. */
    if (n > 0 && x[0] == x[n - 1]) mean = x[0];
    for (int64_t i = 0; i < n; i++) square += (x[i] - mean) * (x[i] - mean);
    return (xb_chip_spread){.mean = mean,
                            .sd = n > 1 ? sqrt(square / (double)(n - 1)) : NAN,
                            .low = quantile(x, n, 0.05),
                            .median = quantile(x, n, 0.5),
                            .high = quantile(x, n, 0.95)};
}

static const xb_chip_spread nothing = {NAN, NAN, NAN, NAN, NAN};

static int64_t score_find(const xb_chips *chips, const char *name)
{
    return xb_scores_find(xb_assay_result_scores(chips->chip[0]), name);
}

xb_chip_spread xb_chips_score_get(const xb_chips *chips, const char *name)
{
    const int64_t k = score_find(chips, name);
    return k < 0 ? nothing : spread(chips->score + k * chips->n, chips->n);
}

xb_chip_spread xb_chips_gap_get(const xb_chips *chips, const char *name)
{
    const int64_t k =
        xb_distances_gap_find(xb_assay_result_distance(chips->chip[0]), name);
    return k < 0 ? nothing : spread(chips->gap + k * chips->n, chips->n);
}

double xb_chips_verdict_share(const xb_chips *chips, xb_verdict verdict)
{
    int64_t with = 0;
    for (int64_t i = 0; i < chips->n; i++)
        with += xb_distances_verdict(xb_assay_result_distance(chips->chip[i])) == verdict;
    return (double)with / (double)chips->n;
}

double xb_chips_yield(const xb_chips *chips, const char *name, double loss)
{
    const int64_t k = score_find(chips, name);
    int64_t kept = 0;
    if (k < 0 || isnan(chips->loss[k * chips->n])) return NAN;
    const double *x = chips->loss + k * chips->n;
    while (kept < chips->n && x[kept] <= loss) kept++;
    return (double)kept / (double)chips->n;
}

double xb_chips_loss(const xb_chips *chips, const char *name, double share)
{
    const int64_t k = score_find(chips, name);
    if (k < 0 || !(share > 0 && share <= 1)) return NAN;
    const double wanted = ceil(share * (double)chips->n * (1 - 1e-12)); /* (X24) */
    return chips->loss[k * chips->n + (int64_t)fmax(wanted, 1) - 1];
}
