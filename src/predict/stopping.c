/* stopping.c: how many draws the interval of a prediction needs, and when sequential
 * draws can stop (maths P30-P32). An interval dominated by data noise is settled after a
 * few draws, a purely epistemic one takes hundreds; so the number is found for each input
 * separately. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/extend.h"
#include "predict/predict.h"

static const double SQRT_2 = 1.41421356237309504880;
static const double INVERSE_SQRT_2_PI = 0.39894228040143267794;

void xb_stopping_options_init(xb_stopping_options *opt, size_t size)
{
    const xb_stopping_options standard = {
        .interval = 0.95, .tolerance = 0.1, .first = 32, .members = 1, .worth = 1};
    xb_options_fill(opt, size, &standard, sizeof standard);
}

/* (P30) From the cdf of each draw at the quantile. */
static double quantile_error(const double *cdf, int64_t draws, int64_t members,
                             double density)
{
    double between;
    const double error = xb_members_summarise(&between, cdf, draws, 1, members).error;
    return error == 0 ? 0 : error / density;
}

double xb_quantile_error(const double *mean, int64_t draws, const double *sd,
                         int64_t widths, int64_t members, double q, double *room)
{
    double density = 0;
    for (int64_t s = 0; s < draws; s++) {
        const double width = sd[s % widths], z = (q - mean[s]) / width;
        room[s] = 0.5 * erfc(-z / SQRT_2);
        density += INVERSE_SQRT_2_PI * exp(-0.5 * z * z) / (width * (double)draws);
    }
    return quantile_error(room, draws, members, density);
}

double xb_heavy_quantile_error(const double *mean, int64_t draws, const double *sd,
                               const xb_student_table *heavy, int64_t members, double q,
                               double *room)
{
    double density = 0;
    for (int64_t s = 0; s < draws; s++) {
        const xb_student_table *own = &heavy[s % members];
        const double scale = sd[s % members] * own->scale, t = (q - mean[s]) / scale;
        const xb_student_pair at = xb_student_above(own, fabs(t));
        room[s] = t > 0 ? 1 - at.above : at.above;
        density += at.pdf / (scale * (double)draws);
    }
    return quantile_error(room, draws, members, density);
}

/* (P31) */
double xb_draws_needed(double error, double sd, double tolerance, int64_t draws)
{
    const double ratio = error / (sd * tolerance);
    return error == 0 ? 1 : fmax(1, (double)draws * ratio * ratio);
}

/* (P32) */
int64_t xb_next_look(int64_t draws, int64_t members, int64_t most)
{
    int64_t next = draws + (draws + 1) / 2;
    next += (members - next % members) % members; /* each member as often */
    return next < most ? next : most;
}

/* ---- draws that are all there */

struct xb_stopping {
    int64_t n, draws;
    double *needed, *low, *high; /* [n] */
    int64_t *used;               /* [n] */
};

typedef struct settle_job {
    xb_stopping *out;
    const double *value, *sd;
    int64_t sds;
    xb_stopping_options opt;
    double level[2], z[2];
    int64_t pieces;             /* as many as threads: rows are cut among them */
    double *block;              /* [pieces][3][draws] */
    double *own, *width, *room; /* [draws] each, a row's, of one piece */
} settle_job;

/* Interval of row i from its first `draws` draws, and how many its ends need. */
static double look(const settle_job *job, double end[2], int64_t draws,
                   double mean_square, int64_t widths)
{
    const int64_t members = job->opt.members;
    double between, needed = 1;
    const xb_draw_summary s = xb_members_summarise(&between, job->own, draws, 1, members);
    const double sd = sqrt(s.sd * s.sd + mean_square);
    for (int k = 0; k < 2; k++) {
        end[k] = xb_predictive_quantile(job->own, draws, job->width, widths,
                                        job->level[k], job->z[k]);
        const double error = xb_quantile_error(job->own, draws, job->width, widths,
                                               members, end[k], job->room);
        needed = fmax(needed, xb_draws_needed(error, sd, job->opt.tolerance, draws) /
                                  job->opt.worth);
    }
    return needed;
}

static void settle_row(const settle_job *job, int64_t i)
{
    xb_stopping *out = job->out;
    const int64_t n = out->n, members = job->opt.members;
    const int64_t widths = job->sds < out->draws ? job->sds : out->draws;
    double square = 0, end[2];
    for (int64_t s = 0; s < out->draws; s++) job->own[s] = job->value[s * n + i];
    for (int64_t k = 0; k < widths; k++) {
        job->width[k] = job->sd[k * n + i];
        square += job->width[k] * job->width[k] / (double)widths;
    }
    int64_t draws = job->opt.first * members;
    if (draws > out->draws) draws = out->draws;
    for (;; draws = xb_next_look(draws, members, out->draws)) {
        const double needed =
            look(job, end, draws, square, widths < draws ? widths : draws);
        if (!(needed <= (double)draws) && draws < out->draws) continue;
        out->used[i] = draws;
        out->low[i] = end[0], out->high[i] = end[1];
        break;
    }
    out->needed[i] = look(job, end, out->draws, square, widths);
}

/* Rows are independent of each other. */
static void settle_piece(void *arg, int64_t piece)
{
    settle_job job = *(const settle_job *)arg;
    const int64_t n = job.out->n, draws = job.out->draws;
    job.own = job.block + 3 * piece * draws;
    job.width = job.own + draws;
    job.room = job.width + draws;
    for (int64_t i = piece * n / job.pieces; i < (piece + 1) * n / job.pieces; i++)
        settle_row(&job, i);
}

static xb_status check(xb_ctx *ctx, int64_t draws, int64_t n, int64_t sds,
                       const xb_stopping_options *opt)
{
    if (!(opt->interval > 0 && opt->interval < 1) || !(opt->tolerance > 0) ||
        !(opt->worth > 0 && opt->worth <= 1))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "interval %g, tolerance %g, worth %g: expected in (0, 1), above 0,"
                       " in (0, 1]",
                       opt->interval, opt->tolerance, opt->worth);
    if (opt->members < 1 || opt->first < 4 || sds < 1 || n < 0 ||
        draws < 4 * opt->members)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%lld draws of %lld members, the first look after %lld of each:"
                       " expected 4 or more for each member",
                       (long long)draws, (long long)opt->members, (long long)opt->first);
    return XB_OK;
}

static xb_stopping *new_settled(xb_ctx *ctx, int64_t n, int64_t draws)
{
    xb_stopping *out = xb_new(ctx, 1, sizeof *out);
    if (!out) return NULL;
    out->n = n, out->draws = draws;
    out->needed = xb_new(ctx, n, sizeof *out->needed);
    out->low = xb_new(ctx, n, sizeof *out->low);
    out->high = xb_new(ctx, n, sizeof *out->high);
    out->used = xb_new(ctx, n, sizeof *out->used);
    if (out->needed && out->low && out->high && out->used) return out;
    xb_stopping_destroy(out);
    return NULL;
}

xb_status xb_stopping_find(xb_ctx *ctx, xb_stopping **out, const double *value,
                           const double *sd, int64_t draws, int64_t n, int64_t sds,
                           const xb_stopping_options *opt)
{
    settle_job job = {.value = value, .sd = sd, .sds = sds};
    XB_TRY(XB_OPTIONS_READ(ctx, stopping, &job.opt, opt, worth));
    XB_TRY(check(ctx, draws, n, sds, &job.opt));
    for (int k = 0; k < 2; k++) {
        job.level[k] = 0.5 * (1 + (k ? 1 : -1) * job.opt.interval);
        job.z[k] = xb_normal_quantile(job.level[k]);
    }
    job.pieces = xb_ctx_threads(ctx);
    job.block = xb_new(ctx, 3 * job.pieces * draws, sizeof *job.block);
    job.out = job.block ? new_settled(ctx, n, draws) : NULL;
    if (job.out) {
        xb_parallel_for(ctx, job.pieces, settle_piece, &job);
        *out = job.out;
    }
    free(job.block);
    return job.out ? XB_OK : XB_E_MEMORY;
}

void xb_stopping_destroy(xb_stopping *s)
{
    if (!s) return;
    free(s->needed);
    free(s->low);
    free(s->high);
    free(s->used);
    free(s);
}

int64_t xb_stopping_count(const xb_stopping *s) { return s->n; }
const double *xb_stopping_draws_needed(const xb_stopping *s) { return s->needed; }
const int64_t *xb_stopping_draws_used(const xb_stopping *s) { return s->used; }
const double *xb_stopping_low(const xb_stopping *s) { return s->low; }
const double *xb_stopping_high(const xb_stopping *s) { return s->high; }
