/* null_ad.c: Anderson-Darling's statistic when the law is right and its parameters
 * were fitted; maths F13. The model of the process is null_process.c's.
 *
 * In normalised Legendre polynomials of 2u - 1 the integral of the bridge is
 * sum_j xi_j^2 / (j (j + 1)), xi_j independent standard normal (Anderson & Darling
 * 1952). Fitting makes them dependent: the eigenvalues of their covariance, each over
 * the root of j (j + 1), are the weights of a sum of chi-squares. 24 terms and a
 * remainder of the right mean and variance. 5 % points: 2.492 (2.492), normal with fitted
 * mean and variance 0.752 (0.752). */
#include <math.h>
#include <string.h>

#include "base/eigen.h"
#include "fit/null_process.h"
#include "fit/quadratic_form.h"

enum { TERMS = 24, NODES = XB_NULL_NODES, COLUMNS = XB_NULL_COLUMNS };

/* The model in terms of L_j = sqrt(2j + 1) P_j(2u - 1), j = 1 .. TERMS. */
typedef struct projections {
    double column[COLUMNS][TERMS], dual[COLUMNS][TERMS];
} projections;

static void project(projections *out, const xb_null_model *m)
{
    double up[TERMS + 1], down[TERMS + 1], size[TERMS + 1], value[TERMS];
    for (int j = 1; j <= TERMS; j++) {
        up[j] = (2 * j + 1) / (j + 1.0), down[j] = j / (j + 1.0);
        size[j] = sqrt(2 * j + 1);
    }
    memset(out, 0, sizeof *out);
    for (int i = 0; i < NODES; i++) {
        double x = 2 * m->nodes.u[i] - 1, before = 1, now = x, mass = m->nodes.mass[i];
        for (int j = 1; j <= TERMS; j++) {
            value[j - 1] = mass * size[j] * now;
            double next = up[j] * x * now - down[j] * before;
            before = now, now = next;
        }
        for (int p = 1; p < m->n; p++)
            for (int j = 0; j < TERMS; j++) {
                out->column[p][j] += value[j] * m->column[p][i];
                out->dual[p][j] += value[j] * m->dual[p][i];
            }
    }
}

/* (F13) The covariance of the xi_j, each divided by the root of j (j + 1). */
static void covariance(double *out, const xb_null_model *m)
{
    projections in;
    double gram[COLUMNS][COLUMNS];
    project(&in, m);
    for (int p = 1; p < m->n; p++)
        for (int q = 1; q < m->n; q++)
            gram[p][q] = xb_null_inner(m, m->dual[p], m->dual[q]);
    for (int i = 0; i < TERMS; i++)
        for (int j = 0; j <= i; j++) {
            double c = i == j;
            for (int p = 1; p < m->n; p++) {
                c -= in.column[p][i] * in.dual[p][j] + in.dual[p][i] * in.column[p][j];
                for (int q = 1; q < m->n; q++)
                    c += in.column[p][i] * gram[p][q] * in.column[q][j];
            }
            out[i * TERMS + j] = out[j * TERMS + i] =
                c / sqrt((i + 1.0) * (i + 2) * (j + 1.0) * (j + 2));
        }
}

xb_status xb_null_ad_p(xb_ctx *ctx, double *p, const xb_null_model *model, double limit)
{
    const double least = 1e-6; /* the inversion cannot distinguish smaller values from 0;
                                  there is a margin */
    double matrix[TERMS * TERMS], weight[TERMS];
    covariance(matrix, model);
    if (!xb_eigen_symmetric(weight, NULL, matrix, TERMS))
        return xb_fail(ctx, XB_E_NUMERIC, "the null distribution has no eigenvalues");
    for (int j = 0; j < TERMS; j++) weight[j] = fmax(0, weight[j]);
    xb_quadratic_form form = {weight, TERMS, 0, 0};
    /* Starts with the mean of the terms that are left out. */
    double mean = 1.0 / (TERMS + 1), half_variance = 0;
    for (int i = TERMS + 1; i < 16 * TERMS; i++) {
        double j = i;
        half_variance += 1 / (j * (j + 1) * j * (j + 1));
    }
    form.rest_weight = half_variance / mean;
    form.rest_freedom = mean / form.rest_weight;
    *p = fmax(least, xb_quadratic_tail(&form, limit));
    return XB_OK;
}
