/* null_process.c: the empirical process with fitted parameters (Durbin 1973): its
 * model, and the distribution of its maximum by simulation; maths F7. That of
 * Anderson-Darling's integral is in null_ad.c.
 *
 * The unit interval is cut into 64 cells. White noise on them, minus its projection on
 * the constant and on the scores of the fitted parameters, summed up, is exactly the
 * limiting process at the cells' ends, because the part of the noise within cells that
 * the scores see is drawn as well. Between two ends the process is a Brownian bridge
 * (apart from the curvature of the scores), and the probability that it passes a limit is
 * an exponential, so each run gives a probability, not a yes or no. Sixteen runs are
 * computed in parallel in single precision (fit_kernels_body.h).
 *
 * Of the bridge alone, against Kolmogorov's series: within two standard errors at all
 * limits (tests). 4096 runs: 0.4 ms. */
#include "fit/null_process.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/extend.h"
#include "law/normal.h"
#include "fit/fit_kernels.h"

enum { CELLS = XB_NULL_CELLS, NODES = XB_NULL_NODES, RUNS = 4096 };
enum { PIECES = RUNS / XB_NULL_LANES };

/* Adds the two Gauss points of (from, to). */
static int add_pair(xb_null_nodes *out, int n, double from, double to, int cell)
{
    const double place = 0.21132486540518711775; /* (1 - 1 / sqrt 3) / 2 */
    double width = to - from;
    out->u[n] = from + place * width;
    out->u[n + 1] = to - place * width;
    for (int i = n; i < n + 2; i++) out->mass[i] = 0.5 * width, out->cell[i] = cell;
    return n + 2;
}

static void make_nodes(xb_null_nodes *out)
{
    const double h = 1.0 / CELLS;
    const double first = ldexp(h, -XB_NULL_HALVINGS);
    int n = 0;
    out->u[n] = 0.5 * first, out->mass[n] = first, out->cell[n++] = 0;
    for (int k = XB_NULL_HALVINGS; k > 0; k--)
        n = add_pair(out, n, ldexp(h, -k), ldexp(h, 1 - k), 0);
    for (int c = 1; c < CELLS / 2; c++) n = add_pair(out, n, c * h, (c + 1) * h, c);
    for (int i = 0; i < n; i++) {
        int mirror = NODES - 1 - i;
        out->u[mirror] = 1 - out->u[i];
        out->mass[mirror] = out->mass[i];
        out->cell[mirror] = CELLS - 1 - out->cell[i];
    }
}

double xb_null_inner(const xb_null_model *m, const double *a, const double *b)
{
    double sum = 0;
    for (int j = 0; j < NODES; j++) sum += m->nodes.mass[j] * a[j] * b[j];
    return sum;
}

/* Removes the components along the first `n` columns, twice for accuracy. */
static void orthogonalise(double *v, const xb_null_model *m, int n)
{
    for (int pass = 0; pass < 2; pass++)
        for (int p = 0; p < n; p++) {
            double along = xb_null_inner(m, v, m->dual[p]) /
                           xb_null_inner(m, m->column[p], m->dual[p]);
            for (int j = 0; j < NODES; j++) v[j] -= along * m->column[p][j];
        }
}

void xb_null_model_start(xb_null_model *model)
{
    model->n = 1;
    make_nodes(&model->nodes);
    for (int j = 0; j < NODES; j++) model->column[0][j] = model->dual[0][j] = 1;
}

void xb_null_model_add(xb_null_model *m, const double *score)
{
    const double nothing = 1e-6; /* if less than this share of it is left, it is a
                                    combination of the others */
    if (m->n == XB_NULL_COLUMNS) return;
    double *v = m->column[m->n];
    memcpy(v, score, NODES * sizeof *v);
    double before = sqrt(xb_null_inner(m, v, v));
    orthogonalise(v, m, m->n);
    double norm = sqrt(xb_null_inner(m, v, v));
    if (!(norm > nothing * before)) return;
    for (int j = 0; j < NODES; j++) v[j] /= norm;
    memcpy(m->dual[m->n], v, NODES * sizeof *v);
    m->n++;
}

void xb_null_model_add_other(xb_null_model *m, const double *score,
                             const double *influence)
{
    if (m->n == XB_NULL_COLUMNS) return;
    double *v = m->column[m->n], *d = m->dual[m->n];
    memcpy(v, score, NODES * sizeof *v);
    memcpy(d, influence, NODES * sizeof *d);
    orthogonalise(v, m, m->n);
    orthogonalise(d, m, m->n);
    double size = xb_null_inner(m, v, d); /* 1 in the limit: a mean's influence is x */
    if (!(size > 0)) return;
    for (int j = 0; j < NODES; j++) v[j] /= size;
    m->n++;
}

/* Fills the table with normal quantiles at the midpoints of equal masses, scaled to
 * variance one, so that a draw is one look-up. It goes from the median outwards; each
 * quantile follows from the one before by three terms of Taylor's series in the mass and
 * a step of Newton's method. */
static void normal_table(float *table)
{
    enum { HALF = XB_NULL_TABLE / 2 };
    const double enough = 1e-8;
    double value[HALF], sum = 0, x = 0;
    for (int i = 0; i < HALF; i++) {
        double mass = (i + 0.5) / XB_NULL_TABLE; /* from the median */
        double d = (i == 0 ? 0.5 : 1) / XB_NULL_TABLE / xb_normal_pdf(x), step = 1;
        x += d * (1 + d * (x / 2 + d * (1 + 2 * x * x) / 6));
        while (fabs(step) > enough)
            x += step = (mass - 0.5 * erf(x * M_SQRT1_2)) / xb_normal_pdf(x);
        value[i] = x;
        sum += 2 * x * x;
    }
    double scale = sqrt(XB_NULL_TABLE / sum);
    for (int i = 0; i < HALF; i++) {
        table[HALF + i] = (float)(scale * value[i]);
        table[HALF - 1 - i] = -table[HALF + i];
    }
}

/* The lower triangle of a root of the k x k matrix; a direction without variance stays
 * zero. */
static void root_of(double root[][XB_NULL_COLUMNS], double matrix[][XB_NULL_COLUMNS],
                    int k)
{
    const double nothing = 1e-12;
    for (int q = 0; q < k; q++) {
        double left = matrix[q][q];
        for (int r = 0; r < q; r++) left -= root[q][r] * root[q][r];
        bool none = !(left > nothing);
        root[q][q] = none ? 0 : sqrt(left);
        for (int p = q + 1; p < k; p++) {
            double rest = matrix[p][q];
            for (int r = 0; r < q; r++) rest -= root[p][r] * root[q][r];
            root[p][q] = none ? 0 : rest / root[q][q];
        }
    }
}

/* (F7) Describes the model on cells: <dual, noise> is a sum over cells plus a part that
 * the cells do not contain; and the columns' integrals up to the end of each cell. */
static void set_path(xb_null_path *path, const xb_null_model *m)
{
    const double h = 1.0 / CELLS;
    double dual[XB_NULL_COLUMNS][CELLS] = {{0}}, column[XB_NULL_COLUMNS][CELLS] = {{0}};
    double rest[XB_NULL_COLUMNS][XB_NULL_COLUMNS] = {{0}},
           root[XB_NULL_COLUMNS][XB_NULL_COLUMNS] = {{0}};
    for (int p = 0; p < m->n; p++) {
        double sum = 0;
        for (int j = 0; j < NODES; j++) {
            dual[p][m->nodes.cell[j]] += m->nodes.mass[j] * m->dual[p][j] / sqrt(h);
            column[p][m->nodes.cell[j]] += m->nodes.mass[j] * m->column[p][j];
        }
        for (int c = 0; c < CELLS; c++) {
            path->dual[p][c] = (float)dual[p][c];
            path->column[p][c] = (float)(sum += column[p][c]);
        }
        for (int q = 0; q <= p; q++) {
            rest[p][q] = xb_null_inner(m, m->dual[p], m->dual[q]);
            for (int c = 0; c < CELLS; c++) rest[p][q] -= dual[p][c] * dual[q][c];
        }
    }
    path->columns = m->n;
    root_of(root, rest, m->n);
    for (int p = 0; p < m->n; p++)
        for (int q = 0; q < m->n; q++) path->unseen[p][q] = (float)root[p][q];
}

typedef struct run_task {
    xb_null_path path;
    const xb_fit_kernels *kernels;
    float chance[RUNS];
} run_task;

static void run_piece(void *arg, int64_t piece)
{
    run_task *t = arg;
    uint32_t first = (uint32_t)piece * XB_NULL_LANES;
    t->kernels->null_runs(t->chance + first, &t->path, first);
}

xb_status xb_null_ks_p(xb_ctx *ctx, double *p, const xb_null_model *model, double limit,
                       uint64_t seed)
{
    run_task *t = xb_new(ctx, 1, sizeof *t);
    if (!t) return XB_E_MEMORY;
    normal_table(t->path.table);
    set_path(&t->path, model);
    t->path.limit = (float)fmin(limit, 1e3); /* beyond any maximum */
    t->path.key = xb_key_make(seed, XB_PURPOSE_BOOTSTRAP);
    t->kernels = xb_fit_kernels_best();
    xb_parallel_for(ctx, PIECES, run_piece, t);
    double sum = 0;
    for (int i = 0; i < RUNS; i++) sum += (double)t->chance[i];
    *p = (sum + 1) / (RUNS + 1);
    free(t);
    return XB_OK;
}
