/* steps.h: many training steps of a small net of dense layers as one call, for backends
 * on which a call costs more than the arithmetic of a step. vi/train_leap.c and
 * vi/energy_steps.c make them; vi/train_step.c defines a step (maths V1-V8, N1, N7, N8,
 * N11, N13, N14, N16). */
#ifndef XB_BACKEND_STEPS_H
#define XB_BACKEND_STEPS_H

#include "backend/chain.h"

/* One step, on the host. */
typedef struct xb_one_step {
    int64_t first, rows; /* of the order: its batch */
    uint32_t number;     /* of its noise */
    bool keep;           /* its parameters are wanted: see `kept` below */
    double scale;        /* of the loss's gradients */
    double rate;         /* Adam's, bias corrections in it (V7) */
} xb_one_step;

/* What it came to: the loss of its batch, and the KL without constants. */
typedef struct xb_step_sums {
    double loss, kl;
} xb_step_sums;

/* Of a tensor of the net. */
typedef struct xb_step_tensor {
    bool moves;             /* Adam changes its means */
    bool random;            /* it is drawn, has a KL, and Adam changes its rho */
    double mean, precision; /* of its normal prior */
} xb_step_tensor;

/* Buffers, but for what is the host's. sigma is exp(rho); one draw a step. */
typedef struct xb_many_steps {
    const xb_chain *chain;        /* the host's */
    const xb_step_tensor *tensor; /* the host's, one for each of the net's */
    const xb_net *net;
    xb_estimator estimator;
    const xb_sampler *sampler; /* NULL: weights are their means */
    xb_key key;
    int64_t batch;        /* rows of a step, at most */
    const xb_real *x;     /* [all rows][inputs]; NULL: all 0, and no rows */
    const int32_t *order; /* rows of batches, one after the other; NULL without x */
    xb_loss loss;         /* of all rows; its scale is the step's */
    bool energy;          /* in the loss's place: the energy distance of outputs (G1) */
    /* [mu][rho from rho on][noise from noise on], and Adam's moments likewise */
    float *theta, *first, *second;
    float *sigma; /* of the net, 0 where fixed */
    int64_t rho, noise, noises;
    xb_adam_rates adam; /* the rate is the step's, times sigma_rate for rho */
    double sigma_rate, kl_weight;
    int64_t count;           /* of steps; of a room the most */
    const xb_one_step *step; /* the host's [count] */
    xb_step_sums *sums;      /* the host's [count], written */
    int64_t keeps;           /* steps that say `keep`; of a room the most */
    float *kept; /* the host's [keeps][noises + parameters]: noise, then sigma after it */
} xb_many_steps;

#endif
