/* null_ad.c: Anderson-Darling's statistic when the law is right and its parameters
 * were fitted; maths F13. The model of the process is null_process.c's.
 *
 * In normalised Legendre polynomials of 2u - 1 the integral of the bridge is
 * sum_j xi_j^2 / (j (j + 1)), xi_j independent standard normal (Anderson & Darling
 * 1952). Fitting makes them dependent: the eigenvalues of their covariance, each over
 * the root of j (j + 1), are the weights of a sum of chi-squares. 24 terms and a
 * remainder of the right mean and variance. 5 % points: 2.492 (2.492), normal with fitted
 * mean and variance 0.752 (0.752). 0.1 ms. */
#include <math.h>
#include <string.h>

#include <lapacke.h>

#include "law/null_process.h"
#include "law/quadratic_form.h"

enum { TERMS = 24, NODES = XB_NULL_NODES, COLUMNS = XB_NULL_COLUMNS };

/* <L_j, v> for j = 1 .. TERMS, L_j = sqrt(2j + 1) P_j(2u - 1). */
static void project(double *out, const xb_null_model *m, const double *v)
{
    memset(out, 0, TERMS * sizeof *out);
    for (int i = 0; i < NODES; i++) {
        double x = 2 * m->nodes.u[i] - 1, before = 1, now = x;
        double weighted = m->nodes.mass[i] * v[i];
        for (int j = 1; j <= TERMS; j++) {
            out[j - 1] += weighted * now;
            double next = ((2 * j + 1) * x * now - j * before) / (j + 1);
            before = now, now = next;
        }
    }
    for (int j = 1; j <= TERMS; j++) out[j - 1] *= sqrt(2 * j + 1);
}

/* (F13) Covariance of the xi_j over the roots of j (j + 1). */
static void covariance(double *out, const xb_null_model *m)
{
    double column[COLUMNS][TERMS], dual[COLUMNS][TERMS], gram[COLUMNS][COLUMNS];
    for (int p = 1; p < m->n; p++) {
        project(column[p], m, m->column[p]);
        project(dual[p], m, m->dual[p]);
        for (int q = 1; q < m->n; q++)
            gram[p][q] = xb_null_inner(m, m->dual[p], m->dual[q]);
    }
    for (int i = 0; i < TERMS; i++)
        for (int j = 0; j <= i; j++) {
            double c = i == j;
            for (int p = 1; p < m->n; p++) {
                c -= column[p][i] * dual[p][j] + dual[p][i] * column[p][j];
                for (int q = 1; q < m->n; q++)
                    c += column[p][i] * gram[p][q] * column[q][j];
            }
            out[j * TERMS + i] = c / sqrt((i + 1.0) * (i + 2) * (j + 1.0) * (j + 2));
        }
}

xb_status xb_null_ad_p(xb_ctx *ctx, double *p, const xb_null_model *model, double limit)
{
    const double least = 1e-6; /* what the inversion can tell from 0, with a margin */
    double matrix[TERMS * TERMS], work[(64 + 2) * TERMS], weight[TERMS + 1];
    double freedom[TERMS + 1];
    covariance(matrix, model);
    if (LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'N', 'L', TERMS, matrix, TERMS, weight, work,
                           (lapack_int)XB_COUNT(work)) != 0)
        return xb_fail(ctx, XB_E_NUMERIC, "the null distribution has no eigenvalues");
    double mean = 1.0 / (TERMS + 1), variance = 0; /* of the terms left out */
    for (int j = TERMS + 1; j < 40 * TERMS; j++) variance += 2 / pow(j * (j + 1.0), 2);
    for (int j = 0; j < TERMS; j++) weight[j] = fmax(0, weight[j]), freedom[j] = 1;
    weight[TERMS] = variance / (2 * mean);
    freedom[TERMS] = mean / weight[TERMS];
    *p = fmax(least, xb_quadratic_tail(weight, freedom, TERMS + 1, limit));
    return XB_OK;
}
