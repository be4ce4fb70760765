/* crossbayes/train.h: from a table of numbers to a model.
 *
 *     xb_train_options opt = xb_train_options_default();
 *     xb_train_data data = xb_train_data_of(frame);
 *     xb_model *model = NULL;
 *     xb_table *trace = NULL;
 *     if (xb_train(ctx, &model, &trace, &data, &opt) != XB_OK) ...
 *
 * First the net is trained as an ordinary one (mean square or cross entropy), which
 * gives the means a place to start; then F = -(N/b) sum log p / T + KL is minimised
 * over means and standard deviations (maths V1, V10-V13). Same data, options and seed:
 * the same bytes, for any number of threads, and whether or not the run was stopped and
 * resumed in between.
 */
#ifndef CROSSBAYES_TRAIN_H
#define CROSSBAYES_TRAIN_H

#include "crossbayes/data.h"
#include "crossbayes/images.h"
#include "crossbayes/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows to learn from, borrowed. One of x, scaled and bytes is not NULL, as in xb_rows:
 * columns of x are brought to mean 0 and variance 1 in a copy of float32, the others
 * enter the net as they are (bytes as byte / 255) and are read where they lie, batch by
 * batch. */
typedef struct xb_train_data {
    const double *x;      /* [n][features], finite */
    const double *y;      /* [n]; class numbers 0 .. classes - 1 where classes > 0 */
    const float *scaled;  /* instead of x */
    const uint8_t *bytes; /* instead of x */
    const int64_t
        *select; /* [n]: example i is row select[i] of inputs and of y; NULL: i */
    int64_t n, features;
    int64_t held;            /* the last so many examples are held out; 0: by the option
                                `validation` */
    int64_t classes;         /* 0: a target of numbers */
    const xb_frame *names;   /* of columns and classes; NULL: "1", "2", ... */
    const xb_images *images; /* the same of images */
} xb_train_data;

/* A frame with a target; borrowed, so keep it while training. */
XB_API xb_train_data xb_train_data_of(const xb_frame *frame);

/* Images with targets, n of them (select NULL: all); borrowed. Set opt.input to their
 * shape. */
XB_API xb_train_data xb_train_data_of_images(const xb_images *images,
                                             const int64_t *select, int64_t n);

#define XB_ESTIMATOR_AUTO (-1)

typedef struct xb_train_options {
    size_t struct_size;
    const char *net;       /* NULL: `dense 50, relu, dense K`, K outputs as needed; for
                              images two convolutions before it */
    const char *noise_net; /* HETEROSCEDASTIC; NULL: as the net */
    xb_shape input;        /* all 0: a vector of features */
    xb_likelihood likelihood;
    xb_stochastic stochastic; /* kernels */
    bool freeze;              /* fixed tensors keep their values of the first phase */
    const xb_law *law;        /* NULL: gaussian */
    xb_prior prior;           /* normal of width 0: sd=1, sd=2 for classes (V14) */
    bool prior_by_fan;        /* true: its scale is times sqrt(2 / inputs of a unit) for
                                 kernels (V14) */
    int estimator;      /* an xb_estimator; AUTO: shared for images, local for gaussian,
                           flipout for other symmetric laws and where a conv layer is
                           random (local is not exact there, and refused), example for
                           the rest */
    int64_t group;      /* of estimator `example`; 0: 1, or 10 where AUTO chose it */
    int64_t samples;    /* weight draws a step */
    bool antithetic;    /* draws in pairs; symmetric laws, an even number of samples */
    int64_t batch;      /* examples a step, at most */
    int64_t mle_epochs; /* of the first phase; negative: chosen (V13) */
    int64_t epochs;     /* of the second; negative: chosen (V13) */
    xb_adam_options adam;
    double sigma_rate;       /* learning rate of sigma's parameter, times adam.rate */
    xb_schedule rate;        /* factor on the learning rate, in each phase */
    xb_schedule temperature; /* T of the second phase, by step */
    xb_spread spread;
    double sigma;      /* every standard deviation at the start of the second phase */
    double validation; /* share of rows held out; 0: none. The state that scores best
                          on them is kept */
    int64_t validation_draws;      /* weight draws of that score, 16 */
    double target_mean, target_sd; /* the net learns (y - mean) / sd; sd 0: those of the
                                      data. For nets whose output is bounded */
    bool mirror; /* images: in each epoch every other one, at random, is seen in a
                    mirror (V17) */
    const xb_model *start; /* phase 1 starts from its means, same net; NULL: at random */
    int64_t patience;      /* epochs without a better score that end training; 0: never */
    uint64_t seed;
    const char *checkpoint;    /* file; NULL: none */
    double checkpoint_seconds; /* between two of them; 0: after every step */
    bool resume;               /* from the checkpoint, if it is there */
    const char *backend;       /* NULL: the fastest */
    const char *task;          /* what progress calls it; NULL: "training" */
} xb_train_options;

XB_OPTIONS(train);

/* `trace` may be NULL; else a table with a row for each epoch: phase (1 or 2), epoch,
 * step, log_likelihood (of all rows, under the draws used), kl, f (in phase 1 the mean
 * loss), temperature, sigma_median, noise_sd (standardised) and validation (mean log
 * predictive density). Cells that do not apply are empty.
 *
 * Stops with XB_E_NUMERIC, naming the step, where a number is not finite, and with
 * XB_E_CANCELLED where the progress listener asks to; in both cases the last good state
 * is in the checkpoint, if one was asked for. One is left at the end too, from which
 * the same call with `resume` has its result at once: remove it once the model is
 * saved. */
XB_API xb_status xb_train(xb_ctx *ctx, xb_model **out, xb_table **trace,
                          const xb_train_data *data, const xb_train_options *opt);

/* How noisy a step's gradient is, estimator by estimator, at the weights of a trained
 * model: the variance over weight draws of the gradient of F/N on one batch, summed over
 * the weights, times the draws a step takes, so that steps of equal cost are compared
 * (V15). */
typedef struct xb_gradient_variance {
    double value, std_error;
} xb_gradient_variance;

typedef struct xb_gradient_noise {
    xb_estimator estimator;
    bool antithetic;
    xb_gradient_variance mean;   /* of the gradient by the means */
    xb_gradient_variance spread; /* by the parameters of the standard deviations */
} xb_gradient_noise;

#define XB_GRADIENT_NOISE_MOST 8

/* The estimators that the model's law and net allow, each with and without antithetic
 * pairs: *count of them in out [XB_GRADIENT_NOISE_MOST], `shared` first. `data` and `opt`
 * as for training (opt->batch, ->seed, ->spread are read); pairs >= 2 of gradients each,
 * 100 give errors of some percent. */
XB_API xb_status xb_train_gradient_noise(xb_ctx *ctx, xb_gradient_noise *out, int *count,
                                         const xb_model *model, const xb_train_data *data,
                                         const xb_train_options *opt, int pairs);

#ifdef __cplusplus
}
#endif
#endif
