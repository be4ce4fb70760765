/* train_report.c: the report of a training run. Numbers are those of the epoch whose
 * weights were kept: the best on the rows held out, else the last. F and the log
 * likelihood of one epoch are noisy (few draws of the weights), so the report gives their
 * mean over the epochs just before it, with its standard error: a twentieth of the second
 * phase, during which little changes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/choice.h"
#include "base/memory.h"
#include "vi/trainer.h"

static const char *const columns[XB_TRACE_COLUMNS] = {
    [XB_HISTORY_PHASE] = "phase",
    [XB_HISTORY_EPOCH] = "epoch",
    [XB_HISTORY_STEP] = "step",
    [XB_HISTORY_LOG_LIKELIHOOD] = "log_likelihood",
    [XB_HISTORY_KL] = "kl",
    [XB_HISTORY_F] = "f",
    [XB_HISTORY_TEMPERATURE] = "temperature",
    [XB_HISTORY_SIGMA_MEDIAN] = "sigma_median",
    [XB_HISTORY_NOISE_SD] = "noise_sd",
    [XB_HISTORY_VALIDATION] = "validation",
};

enum { REASON_MAX = 256 };

struct xb_train_report {
    xb_table *trace;
    int64_t learnt, held;       /* numbers of training rows and of rows held out */
    int64_t copies;             /* rows left out (V22) */
    int64_t row, epoch, epochs; /* row of the trace that was kept; epochs of the second
                                   phase */
    xb_estimate f, log_likelihood;
    bool stopped;
    char *other_net;     /* NULL: none was tried */
    xb_estimate other_f; /* NAN: it was given up halfway */
    double other_score, other_behind;
    xb_tried_likelihood tried[XB_TRIED_MOST];
    int n_tried, kept; /* 0: only this likelihood was */
    char reason[REASON_MAX];
    char prior[REASON_MAX]; /* "": it was not fitted */
};

void xb_train_report_destroy(xb_train_report *r)
{
    if (!r) return;
    xb_table_destroy(r->trace);
    free(r->other_net);
    free(r);
}

static double cell(const xb_train_report *r, int64_t row, xb_history_column c)
{
    return row < 0 ? NAN : xb_table_get(r->trace, row, (int)c);
}

/* The row that was kept: the last one if none was scored; -1: there are no epochs. */
static int64_t kept_row(const xb_train_report *r)
{
    int64_t kept = xb_table_row_count(r->trace) - 1;
    double best = -INFINITY;
    for (int64_t i = 0; i < xb_table_row_count(r->trace); i++) {
        double score = cell(r, i, XB_HISTORY_VALIDATION);
        if (!(score > best)) continue;
        best = score;
        kept = i;
    }
    return kept;
}

/* Mean and standard error of a column over `n` rows, the last of them the one kept. */
static xb_estimate mean_before(const xb_train_report *r, xb_history_column c, int64_t n)
{
    double mean = 0, square = 0;
    for (int64_t i = 0; i < n; i++) mean += cell(r, r->row - i, c) / (double)n;
    for (int64_t i = 0; i < n; i++) {
        double d = cell(r, r->row - i, c) - mean;
        square += d * d;
    }
    return (xb_estimate){mean, n > 1 ? sqrt(square / (double)(n * (n - 1))) : NAN};
}

static void summarise(xb_train_report *r)
{
    enum { PART = 20, MOST = 20 };
    r->row = kept_row(r);
    for (int64_t i = 0; i < xb_table_row_count(r->trace); i++)
        r->epochs += cell(r, i, XB_HISTORY_PHASE) == 2;
    if (cell(r, r->row, XB_HISTORY_PHASE) == 2)
        r->epoch = (int64_t)cell(r, r->row, XB_HISTORY_EPOCH);
    int64_t n = r->epochs / PART;
    if (n > MOST) n = MOST;
    if (n > r->epoch) n = r->epoch;
    if (n < 1) n = 1;
    r->f = mean_before(r, XB_HISTORY_F, n);
    r->log_likelihood = mean_before(r, XB_HISTORY_LOG_LIKELIHOOD, n);
}

static xb_status make_trace(xb_table **out, const xb_trainer *t)
{
    const int64_t rows = t->place.rows;
    XB_TRY(xb_table_create(t->ctx, out, "trace", rows, XB_TRACE_COLUMNS, columns));
    for (int64_t i = 0; i < rows; i++)
        for (int j = 0; j < XB_TRACE_COLUMNS; j++)
            xb_table_set(*out, i, j, t->trace[i * XB_TRACE_COLUMNS + j]);
    return XB_OK;
}

xb_status xb_trainer_report(xb_ctx *ctx, xb_train_report **out, xb_trainer *t)
{
    t->ctx = ctx;
    xb_train_report *r = xb_new(ctx, 1, sizeof *r);
    if (!r) return XB_E_MEMORY;
    *r = (xb_train_report){.learnt = t->n,
                           .held = t->held,
                           .stopped = t->stopped,
                           .other_f = {NAN, NAN},
                           .other_score = NAN,
                           .other_behind = NAN};
    xb_status status = make_trace(&r->trace, t);
    if (status != XB_OK) {
        xb_train_report_destroy(r);
        return status;
    }
    summarise(r);
    *out = r;
    return XB_OK;
}

/* Mean F over the twentieth of `epochs` that ends at `part` of them; NAN: the run has not
 * come that far, or has too few. */
static double f_at(const xb_train_report *r, int64_t epochs, double part)
{
    const int64_t n = epochs / 20, end = (int64_t)(part * (double)epochs);
    const int64_t first = xb_table_row_count(r->trace) - r->epochs;
    double sum = 0;
    if (n < 1 || end < n || r->epochs < end) return NAN;
    for (int64_t i = end - n; i < end; i++) sum += cell(r, first + i, XB_HISTORY_F);
    return sum / (double)n;
}

/* (V18) */
double xb_train_report_behind(const xb_train_report *r, const xb_train_report *first)
{
    const double early = 0.3, half = 0.5;
    const int64_t epochs = first->epochs;
    const double gap = f_at(r, epochs, half) - f_at(first, epochs, half);
    const double before = f_at(r, epochs, early) - f_at(first, epochs, early);
    const bool hopeless = r->held == 0 && gap > 0 && gap > before - gap;
    return hopeless ? gap : NAN;
}

xb_status xb_train_report_left(xb_ctx *ctx, xb_train_report *r,
                               const xb_train_report *other, const char *net,
                               double behind)
{
    char *copy = xb_strdup(ctx, net);
    free(r->other_net);
    r->other_net = copy;
    r->other_f = isnan(behind) ? other->f : (xb_estimate){NAN, NAN};
    r->other_behind = behind;
    r->other_score = xb_train_report_value(other, XB_HISTORY_VALIDATION);
    return r->other_net ? XB_OK : XB_E_MEMORY;
}

/* "noise depends on the input", as in "...: F 604.0 ± 2.1, gaussian 633.3 ± 2.0" */
static const char *meaning(xb_likelihood l)
{
    switch (l) {
    case XB_LIKELIHOOD_HETEROSCEDASTIC: return "noise depends on the input";
    case XB_LIKELIHOOD_STUDENT: return "noise has heavy tails";
    case XB_LIKELIHOOD_POISSON: return "the counts' variance is their mean";
    case XB_LIKELIHOOD_NEGATIVE_BINOMIAL:
        return "the counts' variance is above their mean";
    default: return "noise is constant";
    }
}

/* The best of the rejected likelihoods. */
static int runner_up(const xb_train_report *r)
{
    int best = -1;
    for (int i = 0; i < r->n_tried; i++) {
        if (i == r->kept) continue;
        const bool higher = best >= 0 && r->tried[i].score > r->tried[best].score;
        const bool lower = best >= 0 && r->tried[i].f.value < r->tried[best].f.value;
        if (best < 0 || (isfinite(r->tried[i].score) ? higher : lower)) best = i;
    }
    return best;
}

/* Why a likelihood of a lower F was not taken (V20, V42). */
static const char *yet_left(const xb_tried_likelihood *kept,
                            const xb_tried_likelihood *other)
{
    if (!(other->f.value < kept->f.value)) return "";
    if (kept->likelihood == XB_LIKELIHOOD_POISSON &&
        other->likelihood == XB_LIKELIHOOD_NEGATIVE_BINOMIAL)
        return ", lower, but by less than twice the error and 0.05 nats per row";
    return ", lower, but by less than twice the error";
}

static void give_reason_by_f(xb_train_report *r, const xb_tried_likelihood *a,
                             const xb_tried_likelihood *b)
{
    char kept[64], other[64];
    xb_number_with_error(kept, sizeof kept, a->f.value, a->f.std_error);
    xb_number_with_error(other, sizeof other, b->f.value, b->f.std_error);
    snprintf(r->reason, sizeof r->reason, "%s: F %s, %s %s%s", meaning(a->likelihood),
             kept, xb_likelihood_name(b->likelihood), other, yet_left(a, b));
}

static void give_reason(xb_train_report *r)
{
    const int other = runner_up(r);
    if (other < 0) return;
    const xb_tried_likelihood *a = &r->tried[r->kept], *b = &r->tried[other];
    if (isfinite(a->score))
        snprintf(r->reason, sizeof r->reason,
                 "%s: log density per held-out row %.3f, %s %.3f", meaning(a->likelihood),
                 a->score, xb_likelihood_name(b->likelihood), b->score);
    else
        give_reason_by_f(r, a, b);
}

void xb_train_report_tried(xb_train_report *r, const xb_tried_likelihood *tried,
                           int count, int kept)
{
    memcpy(r->tried, tried, (size_t)count * sizeof *tried);
    r->n_tried = count;
    r->kept = kept;
    give_reason(r);
}

void xb_train_report_inherit(xb_train_report *to, xb_train_report *from)
{
    if (to->other_net) return;
    to->other_net = from->other_net;
    to->other_f = from->other_f;
    to->other_score = from->other_score;
    to->other_behind = from->other_behind;
    from->other_net = NULL;
}

void xb_train_report_repeat(xb_train_report *to, const xb_train_report *from)
{
    memcpy(to->tried, from->tried, sizeof to->tried);
    memcpy(to->reason, from->reason, sizeof to->reason);
    to->n_tried = from->n_tried;
    to->kept = from->kept;
}

void xb_train_report_prior(xb_train_report *r, const xb_fitted_prior *f)
{
    int used = snprintf(r->prior, sizeof r->prior,
                        "normal:sd=%g: log density %.3f per row in cross-validation",
                        f->sd, f->score);
    if (f->sd != f->standard_sd)
        snprintf(r->prior + used, sizeof r->prior - (size_t)used, ", %.3f with sd=%g",
                 f->standard_score, f->standard_sd);
}

const char *xb_train_report_prior_reason(const xb_train_report *r)
{
    return r->prior[0] ? r->prior : NULL;
}

int64_t xb_train_report_likelihood_count(const xb_train_report *r) { return r->n_tried; }

const char *xb_train_report_likelihood_name(const xb_train_report *r, int64_t i)
{
    if (i < 0 || i >= r->n_tried) return NULL;
    return xb_likelihood_name(r->tried[i].likelihood);
}

int64_t xb_train_report_likelihood_find(const xb_train_report *r, const char *name)
{
    for (int i = 0; i < r->n_tried; i++)
        if (strcmp(xb_likelihood_name(r->tried[i].likelihood), name) == 0) return i;
    return -1;
}

xb_estimate xb_train_report_likelihood_f(const xb_train_report *r, int64_t i)
{
    const bool known = i >= 0 && i < r->n_tried;
    return known ? r->tried[i].f : (xb_estimate){NAN, NAN};
}

double xb_train_report_likelihood_score(const xb_train_report *r, int64_t i)
{
    return i >= 0 && i < r->n_tried ? r->tried[i].score : NAN;
}

const char *xb_train_report_likelihood_reason(const xb_train_report *r)
{
    return r->n_tried > 1 ? r->reason : NULL;
}

const char *xb_history_column_name(xb_history_column c) { return columns[c]; }

xb_status xb_history_column_parse(xb_ctx *ctx, xb_history_column *out, const char *text)
{
    int found = 0;
    XB_TRY(xb_choice_parse(ctx, &found, "column of the trace", text, columns,
                           XB_TRACE_COLUMNS));
    *out = (xb_history_column)found;
    return XB_OK;
}

const xb_table *xb_train_report_history(const xb_train_report *r) { return r->trace; }
int64_t xb_train_report_copy_count(const xb_train_report *r) { return r->copies; }

void xb_train_report_copies(xb_train_report *r, int64_t count) { r->copies = count; }

int64_t xb_train_report_row_count(const xb_train_report *r) { return r->learnt; }
int64_t xb_train_report_held_count(const xb_train_report *r) { return r->held; }
int64_t xb_train_report_epoch_count(const xb_train_report *r) { return r->epochs; }
int64_t xb_train_report_epoch_kept(const xb_train_report *r) { return r->epoch; }
bool xb_train_report_stopped(const xb_train_report *r) { return r->stopped; }
xb_estimate xb_train_report_f(const xb_train_report *r) { return r->f; }
const char *xb_train_report_other_net(const xb_train_report *r) { return r->other_net; }
xb_estimate xb_train_report_other_f(const xb_train_report *r) { return r->other_f; }
double xb_train_report_other_score(const xb_train_report *r) { return r->other_score; }
double xb_train_report_other_behind(const xb_train_report *r) { return r->other_behind; }

xb_estimate xb_train_report_log_likelihood(const xb_train_report *r)
{
    return r->log_likelihood;
}

double xb_train_report_value(const xb_train_report *r, xb_history_column c)
{
    return cell(r, r->row, c);
}

const char *xb_train_report_criterion(const xb_train_report *r)
{
    if (!r->other_net) return NULL;
    return r->held > 0 ? "validation" : "F";
}
