/* noise_posterior.h: the posterior of the noise net's weights while it learns; see
 * noise_posterior.c. */
#ifndef XB_VI_NOISE_POSTERIOR_H
#define XB_VI_NOISE_POSTERIOR_H

#include "crossbayes/train.h"
#include "vi/model.h"

typedef struct xb_noise_posterior {
    xb_net *net; /* the noise net with random kernels; NULL: it has no posterior */
    xb_law *law;
    xb_sampler *sampler;
    xb_estimator estimator;
    xb_key key;
    xb_kl **kl;   /* [tensors], NULL where fixed */
    int64_t rho;  /* position of its rho in theta */
    float *sigma; /* B [q], 0 where fixed */
} xb_noise_posterior;

/* Does nothing if the model has no noise net, is a model of images, or no prior is
 * wanted. */
xb_status xb_noise_posterior_make(xb_ctx *ctx, xb_noise_posterior *p, const xb_model *m,
                                  const xb_train_options *opt);
void xb_noise_posterior_free(xb_noise_posterior *p);

/* These take a trainer with a noise net, with or without a posterior. */
void xb_noise_posterior_fill(xb_trainer *t); /* sigma from rho */
xb_status xb_noise_posterior_forward(xb_trainer *t, int64_t batch);
xb_status xb_noise_posterior_backward(xb_trainer *t);
/* Both ways, with `inside`, a draw of the other net, in between: a small net's noise is
 * drawn once then (backend/chain.h). */
typedef xb_status (*xb_noise_inside)(xb_trainer *t, int64_t batch, int64_t draw,
                                     double scale, double *nll);
xb_status xb_noise_posterior_step(xb_trainer *t, int64_t batch, xb_noise_inside inside,
                                  double scale, double *nll);
double xb_noise_posterior_kl(xb_trainer *t);

/* How finely a target is resolved (V19). */
typedef struct xb_grain {
    double step; /* smallest distance of two values that differ; 0: there is one value */
    double
        share; /* share of the rows that have the most frequent value; 0: none repeats */
} xb_grain;

/* y: values `stride` apart. */
xb_status xb_target_grain(xb_ctx *ctx, xb_grain *out, const double *y, int64_t stride,
                          const int64_t *row, int64_t n);

#endif
