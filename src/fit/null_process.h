/* null_process.h: the distributions of KS and Anderson-Darling if the law is correct and
 * its parameters were fitted to the same sample; maths F7, F13. */
#ifndef XB_FIT_NULL_PROCESS_H
#define XB_FIT_NULL_PROCESS_H

#include "base/ctx.h"

enum {
    XB_NULL_CELLS = 64,   /* cells of the unit interval */
    XB_NULL_HALVINGS = 6, /* halvings of the first and the last cell, because scores may
                             grow without bound */
    XB_NULL_NODES = 2 * (XB_NULL_CELLS - 2) + 2 * (1 + 2 * XB_NULL_HALVINGS),
    XB_NULL_COLUMNS_FEW = 5, /* a constant and four parameters */
    XB_NULL_COLUMNS = 24,    /* eight levels */
};

/* The nodes at which scores are needed: u ascending and symmetric about 1/2, masses that
 * sum to one, and the cell that each node belongs to. */
typedef struct xb_null_nodes {
    double u[XB_NULL_NODES], mass[XB_NULL_NODES];
    int cell[XB_NULL_NODES];
} xb_null_nodes;

/* What fitting removes from the process: column p multiplied by <dual p, noise>. */
typedef struct xb_null_model {
    int n;
    xb_null_nodes nodes;
    double column[XB_NULL_COLUMNS][XB_NULL_NODES];
    double dual[XB_NULL_COLUMNS][XB_NULL_NODES];
} xb_null_model;

/* Starts with nothing fitted: the Brownian bridge. */
void xb_null_model_start(xb_null_model *model);
/* Adds a parameter fitted by maximum likelihood, by its score at the nodes (at the
 * quantiles of their u). A parameter that adds nothing is left out. */
void xb_null_model_add(xb_null_model *model, const double *score);
/* Adds a parameter that was fitted otherwise, with the influence that each value has on
 * it; its score must be orthogonal to the others. */
void xb_null_model_add_other(xb_null_model *model, const double *score,
                             const double *influence);

/* The mean of a b over the unit interval. */
double xb_null_inner(const xb_null_model *model, const double *a, const double *b);

/* The probability that max |W| exceeds `limit`, from 4096 runs; its standard error is
 * 0.003 at 0.05 and 0.007 at 0.5. The same value for any number of threads. */
xb_status xb_null_ks_p(xb_ctx *ctx, double *p, const xb_null_model *model, double limit,
                       uint64_t seed);

/* The probability that the integral of W^2 / (u (1 - u)) exceeds `limit`, computed from
 * its eigenvalues to 1e-3; never below 1e-6. */
xb_status xb_null_ad_p(xb_ctx *ctx, double *p, const xb_null_model *model, double limit);

#endif
