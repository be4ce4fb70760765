/* crossbayes/train.h: from a table of numbers to a model.
 *
 *     xb_train_options opt = xb_train_options_default();
 *     xb_train_data data = xb_train_data_of(frame);
 *     xb_model *model = NULL;
 *     if (xb_train(ctx, &model, NULL, &data, &opt) != XB_OK) ...
 *
 * First the net is trained as an ordinary one (mean square or cross entropy), which
 * gives the means a place to start; then F = -(N/b) sum log p / T + KL is minimised
 * over means and standard deviations (maths V1, V10-V13). Same data, options and seed:
 * the same bytes, for any number of threads, and whether or not the run was stopped and
 * resumed in between.
 *
 * Where no net is asked for, of a table, xb_train also tries a deeper one and keeps the
 * better of the two (V18). It is written with xb_trainer, which trains one net step by
 * step and lets a caller look and intervene between steps.
 */
#ifndef CROSSBAYES_TRAIN_H
#define CROSSBAYES_TRAIN_H

#include "crossbayes/data.h"
#include "crossbayes/density.h"
#include "crossbayes/images.h"
#include "crossbayes/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows to learn from, borrowed; a frozen value. Tables in memory, column by column,
 * become such rows through xb_frame_create and xb_train_data_of. Or set exactly one of x,
 * scaled and bytes, as in xb_rows: columns of x are brought to mean 0 and variance 1 in a
 * copy of float32, the others enter the net as they are (bytes as byte / 255) and are
 * read where they lie, batch by batch. */
typedef struct xb_train_data {
    const double *x;      /* [n][features], finite */
    const double *y;      /* [n], of several targets [n][targets]; class numbers
                             0 .. classes - 1 where classes > 0 */
    const float *scaled;  /* instead of x */
    const uint8_t *bytes; /* instead of x */
    const int64_t
        *select; /* [n]: example i is row select[i] of inputs and of y; NULL: i */
    int64_t n, features;
    int64_t held;            /* the number of trailing examples held out; 0: by the option
                                `validation` */
    int64_t classes;         /* 0: a target of numbers */
    const xb_frame *names;   /* of columns and classes; NULL: "1", "2", ... */
    const xb_images *images; /* the same of images */
} xb_train_data;

/* A frame with a target; borrowed, so keep it while training. */
XB_API xb_train_data xb_train_data_of(const xb_frame *frame);

/* Images with targets, n of them (select NULL: all); borrowed. */
XB_API xb_train_data xb_train_data_of_images(const xb_images *images,
                                             const int64_t *select, int64_t n);

#define XB_ESTIMATOR_AUTO (-1)

/* How much xb_train does where nothing else is said. */
typedef enum xb_train_effort {
    XB_TRAIN_EFFORT_STANDARD = 0, /* steps of V13, two nets, the likelihoods of V20 */
    XB_TRAIN_EFFORT_QUICK,        /* a third of the steps, one net, constant noise */
    XB_TRAIN_EFFORT_FULL          /* three times the steps */
} xb_train_effort;

XB_API const char *xb_train_effort_name(
    xb_train_effort e); /* "standard", "quick", "full" */
XB_API xb_status xb_train_effort_parse(xb_ctx *ctx, xb_train_effort *out,
                                       const char *text);

/* What an array does to a net, for training (maths V60, V61): converters around its
 * linear layers, kernels on few levels that are missed by an error, a smallest width. All
 * 0: nothing. xb_array_training() has that of an array. A frozen value. */
typedef struct xb_train_array {
    int64_t dac_bits, adc_bits; /* of inputs and sums; 0: none, else 2 to 20 */
    int64_t levels; /* steps from 0 to a kernel's largest weight; 0: any weight */
    double error;   /* sd of a written mean, in parts of the largest */
    double floor;   /* smallest sigma, in parts of the kernel's largest */
} xb_train_array;

/* A trainer between two steps, see below. */
typedef struct xb_trainer xb_trainer;

typedef struct xb_train_options {
    size_t struct_size;
    const char *net;       /* NULL: `dense 50, relu, dense K`, K outputs as needed; for
                              images two convolutions before it. Of a table with
                              temperature 1, xb_train also tries `dense 50, relu,
                              dense 50, relu, dense K` and keeps the better (V18) */
    const char *noise_net; /* HETEROSCEDASTIC, which it implies where the likelihood is
                              AUTO; NULL: as the net */
    xb_shape input; /* all 0: the shape of data.images, else a vector of features */
    xb_likelihood likelihood;
    xb_stochastic stochastic; /* kernels */
    bool freeze;              /* fixed tensors keep their values of the first phase */
    const xb_law *law;        /* NULL: gaussian */
    xb_prior prior;           /* normal of width 0: sd=1, sd=5 for classes (V14) */
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
    /* Called after every epoch, `trainer` to be read (xb_trainer_epoch_value, ...);
     * false stops training there. NULL: none */
    bool (*on_epoch)(void *arg, xb_trainer *trainer);
    void *on_epoch_arg;
    bool stop_keeps;    /* such a stop is early stopping, with the model reached so far as
                           its result; false: it fails with XB_E_CANCELLED */
    int64_t targets;    /* numbers of y a row, one output of the net for each (V30); 0: as
                           many as data.names has, or 1 */
    int64_t members;    /* of xb_train: more than 1 train an ensemble (V50), a start,
                           shuffles and draws each, in one model. The net is chosen for the
                           first,    whose numbers are those of a single model. Members are
                           trained    side by side, one after another where on_epoch is set;
                           the    report and the checkpoint are the first one's. 0:
                           XB_MEMBERS_DEFAULT; XB_MEMBERS_OPEN where the net is left to
                           the data and targets are numbers; XB_MEMBERS_FULL of full
                           effort */
    double noise_prior; /* scale of the prior of the noise net's kernels, 0.3; before the
                           factor of prior_by_fan, which they always have; 0: no prior,
                           maximum likelihood as in the paper. Of images it is 0 (V19) */
    bool choose_likelihood; /* AUTO: xb_train tries others than gaussian (V20) also for
                               a net that is given; without one it always does */
    xb_train_effort effort;
    const xb_weight_cells *cells; /* random tensors are made of them: what is learnt are
                                     their states; sigma, sigma_rate and spread are not
                                     read. NULL: widths are free */
    const xb_train_array *array;  /* the net is trained as this array would run it, with
                                     straight-through gradients; NULL: as it is */
    double n_eff_penalty; /* second phase: F/N minus this times log n_eff, so that many
                             weights share the output's variance (V62); 0: none */
} xb_train_options;

/* What xb_train takes where members is 0 (docs/ensembles.md has what they buy). */
enum { XB_MEMBERS_DEFAULT = 1, XB_MEMBERS_OPEN = 3, XB_MEMBERS_FULL = 5 };

XB_OPTIONS(train);

/* ---- presets: settings under a name, 0 <= i < xb_train_preset_count() */
XB_API int64_t xb_train_preset_count(void);
XB_API const char *xb_train_preset_name(int64_t i);    /* "paper" */
XB_API const char *xb_train_preset_sets(int64_t i);    /* what it sets, in words */
XB_API const char *xb_train_preset_source(int64_t i);  /* where its values come from */
XB_API int64_t xb_train_preset_find(const char *name); /* -1: none */
/* Sets the preset's fields in `opt` and leaves the others. */
XB_API xb_status xb_train_preset(xb_ctx *ctx, xb_train_options *opt, const char *name);

/* ---- what became of a run */

/* Columns of the trace, a row for each epoch. What does not apply is NAN. */
typedef enum xb_trace_column {
    XB_TRACE_PHASE = 0,      /* 1 or 2 */
    XB_TRACE_EPOCH,          /* of the phase, from 1 */
    XB_TRACE_STEP,           /* of the phase, at the end of the epoch */
    XB_TRACE_LOG_LIKELIHOOD, /* of all rows, under the draws used */
    XB_TRACE_KL,
    XB_TRACE_F, /* in phase 1 the mean loss */
    XB_TRACE_TEMPERATURE,
    XB_TRACE_SIGMA_MEDIAN,
    XB_TRACE_NOISE_SD,  /* standardised; of several targets the geometric mean */
    XB_TRACE_VALIDATION /* mean log predictive density of the rows held out */
} xb_trace_column;

XB_API const char *xb_trace_column_name(xb_trace_column c); /* "phase", ... */
XB_API xb_status xb_trace_column_parse(xb_ctx *ctx, xb_trace_column *out,
                                       const char *text);

typedef struct xb_train_report xb_train_report;

XB_API void xb_train_report_destroy(xb_train_report *report); /* NULL is fine */
XB_API const xb_table *xb_train_report_trace(const xb_train_report *report);
/* Rows learnt from, and held out. */
XB_API int64_t xb_train_report_row_count(const xb_train_report *report);
XB_API int64_t xb_train_report_held_count(const xb_train_report *report);
/* Epochs of the second phase, and the one whose weights were kept: the best by the rows
 * held out, else the last; 0: there were none. */
XB_API int64_t xb_train_report_epoch_count(const xb_train_report *report);
XB_API int64_t xb_train_report_epoch_kept(const xb_train_report *report);
/* on_epoch stopped it, and the model was kept. */
XB_API bool xb_train_report_stopped(const xb_train_report *report);
/* Of the epoch kept, as in the trace. */
XB_API double xb_train_report_value(const xb_train_report *report, xb_trace_column c);
/* Means over the last epochs up to the one kept, which are less noisy. */
XB_API xb_estimate xb_train_report_f(const xb_train_report *report);
XB_API xb_estimate xb_train_report_log_likelihood(const xb_train_report *report);
/* The net that was tried too and left, NULL: none was; its F and validation score; and
 * what decided, "F" or "validation". */
XB_API const char *xb_train_report_other_net(const xb_train_report *report);
XB_API xb_estimate xb_train_report_other_f(const xb_train_report *report);
XB_API double xb_train_report_other_score(const xb_train_report *report);
XB_API const char *xb_train_report_judge(const xb_train_report *report);
/* Likelihoods that were tried where that was left open (V20), the one of the model among
 * them; none: it was settled. F and validation score of each, and why the model's was
 * taken, in words (NULL: it was settled). */
XB_API int64_t xb_train_report_likelihood_count(const xb_train_report *report);
XB_API const char *xb_train_report_likelihood_name(const xb_train_report *report,
                                                   int64_t i);
XB_API int64_t xb_train_report_likelihood_find(const xb_train_report *report,
                                               const char *name); /* -1: none */
XB_API xb_estimate xb_train_report_likelihood_f(const xb_train_report *report, int64_t i);
XB_API double xb_train_report_likelihood_score(const xb_train_report *report, int64_t i);
XB_API const char *xb_train_report_likelihood_reason(const xb_train_report *report);

/* ---- all of it at once
 *
 * `report` may be NULL; destroy it otherwise.
 *
 * Stops with XB_E_NUMERIC, naming the step, where a number is not finite, and with
 * XB_E_CANCELLED where the progress listener or on_epoch asks to; then the last good
 * state is in the checkpoint, if one was asked for. One is left at the end too, from
 * which the same call with `resume` has its result at once: remove it once the model is
 * saved. */
XB_API xb_status xb_train(xb_ctx *ctx, xb_model **out, xb_train_report **report,
                          const xb_train_data *data, const xb_train_options *opt);

/* ---- step by step
 *
 *     xb_trainer *t = NULL;
 *     if (xb_trainer_create(ctx, &t, &data, &opt) != XB_OK) ...
 *     while (!xb_trainer_done(t))
 *         if (xb_trainer_epoch(ctx, t) != XB_OK) ...
 *     xb_trainer_best_model(ctx, &model, t);
 *     xb_trainer_destroy(t);
 *
 * trains one net to the bytes of xb_train with the same net. Data and whatever the
 * options point to are borrowed until it is destroyed. With opt.resume it starts from the
 * checkpoint, if there is one; checkpoints are written as in xb_train, but none is left
 * where a call fails: xb_trainer_save writes one at any time. A trainer belongs to one
 * thread at a time. */
XB_API xb_status xb_trainer_create(xb_ctx *ctx, xb_trainer **out,
                                   const xb_train_data *data,
                                   const xb_train_options *opt);
XB_API void xb_trainer_destroy(xb_trainer *trainer); /* NULL is fine */

/* One step, or all to the end of the epoch under way; nothing where training is done. A
 * step that fails with XB_E_NUMERIC has changed nothing; after XB_E_CANCELLED the next
 * call goes on. */
XB_API xb_status xb_trainer_step(xb_ctx *ctx, xb_trainer *trainer);
XB_API xb_status xb_trainer_epoch(xb_ctx *ctx, xb_trainer *trainer);
XB_API bool xb_trainer_done(const xb_trainer *trainer);

/* Where it stands: the phase, 1 or 2, its epochs and steps, done and planned, and the
 * learning rate of the next step. */
XB_API int64_t xb_trainer_phase(const xb_trainer *trainer);
XB_API int64_t xb_trainer_epochs_done(const xb_trainer *trainer);
XB_API int64_t xb_trainer_epoch_count(const xb_trainer *trainer);
XB_API int64_t xb_trainer_steps_done(const xb_trainer *trainer);
XB_API int64_t xb_trainer_step_count(const xb_trainer *trainer);
XB_API double xb_trainer_rate(const xb_trainer *trainer);
/* F and its parts, of the last step (an estimate from its batch) and as means over the
 * last whole epoch, as in the trace. */
XB_API double xb_trainer_step_value(const xb_trainer *trainer, xb_trace_column c);
XB_API double xb_trainer_epoch_value(const xb_trainer *trainer, xb_trace_column c);

/* Arrays of the state, 0 <= i < count: "mu", "sigma" and "rho" (sigma = f(rho), V8; rho
 * is what is learnt, setting sigma sets it), blocks of the net's layout; "noise", the
 * logarithm of each target's standard deviation or the noise net's weights; "state",
 * batchnorm's of both nets; and Adam's moments, "mu_first", ..., "noise_second". The
 * second phase starts its own sigma, rho, noise and moments. Setting copies; values must
 * be finite, sigma above 0 where a tensor is random. With opt.cells "cells" [cells][size
 * of "mu"] are the states, 0 at the low end of their range and 1 at the high one; mu and
 * sigma of random tensors follow from them, and sigma and rho cannot be set. */
XB_API int64_t xb_trainer_array_count(const xb_trainer *trainer);
XB_API const char *xb_trainer_array_name(const xb_trainer *trainer, int64_t i);
XB_API int64_t xb_trainer_array_find(const xb_trainer *trainer, const char *name);
XB_API int64_t xb_trainer_array_size(const xb_trainer *trainer, int64_t i);
XB_API xb_status xb_trainer_array_get(xb_ctx *ctx, float *out, const xb_trainer *trainer,
                                      int64_t i);
XB_API xb_status xb_trainer_array_set(xb_ctx *ctx, xb_trainer *trainer, int64_t i,
                                      const float *values);

/* F (V1) and its gradient at the present state, for rows of the caller's (1 to opt.batch
 * of them, in the data's units; NULL: the next batch), under the weight draws of number
 * `draw` (negative: those of the next step). d_mu and d_sigma have the size of "mu" (0
 * for sigma of fixed tensors), d_noise that of "noise"; NULL: not wanted. In phase 1, f
 * is the mean loss, and d_sigma is 0. Changes nothing. */
XB_API xb_status xb_trainer_gradient(xb_ctx *ctx, double *f, float *d_mu, float *d_sigma,
                                     float *d_noise, xb_trainer *trainer,
                                     const xb_train_data *rows, int64_t draw);

/* With opt.cells: the same by the states, d_cells of the size of "cells". */
XB_API xb_status xb_trainer_cell_gradient(xb_ctx *ctx, double *f, float *d_cells,
                                          xb_trainer *trainer, const xb_train_data *rows,
                                          int64_t draw);

/* The state on disk, and back into a trainer of the same data and options. */
XB_API xb_status xb_trainer_save(xb_ctx *ctx, xb_trainer *trainer, const char *path);
XB_API xb_status xb_trainer_resume(xb_ctx *ctx, xb_trainer *trainer, const char *path);

/* A model of the present state (in phase 1 as phase 2 would start from it), or of the
 * state that scored best on the rows held out so far, which is xb_train's; without such
 * rows both are the same. */
XB_API xb_status xb_trainer_model(xb_ctx *ctx, xb_model **out, xb_trainer *trainer);
XB_API xb_status xb_trainer_best_model(xb_ctx *ctx, xb_model **out, xb_trainer *trainer);
/* Of the epochs so far. */
XB_API xb_status xb_trainer_report(xb_ctx *ctx, xb_train_report **out,
                                   xb_trainer *trainer);

/* How noisy a step's gradient is, estimator by estimator, at the weights of a trained
 * model: the variance over weight draws of the gradient of F/N on one batch, summed over
 * the weights, times the draws a step takes, so that steps of equal cost are compared
 * (V15). */
typedef struct xb_gradient_noise xb_gradient_noise;

/* Under the estimators that the model's law and net allow, each with and without
 * antithetic pairs, `shared` first. `data` and `opt` as for training (opt->batch, ->seed,
 * ->spread are read); pairs >= 2 of gradients each, 100 give errors of some percent. */
XB_API xb_status xb_train_gradient_noise(xb_ctx *ctx, xb_gradient_noise **out,
                                         const xb_model *model, const xb_train_data *data,
                                         const xb_train_options *opt, int64_t pairs);
XB_API void xb_gradient_noise_destroy(xb_gradient_noise *noise); /* NULL is fine */
XB_API int64_t xb_gradient_noise_count(const xb_gradient_noise *noise);
XB_API xb_estimator xb_gradient_noise_estimator(const xb_gradient_noise *noise,
                                                int64_t i);
XB_API bool xb_gradient_noise_antithetic(const xb_gradient_noise *noise, int64_t i);
/* Of the gradient by the means, and by the parameters of the standard deviations. */
XB_API xb_estimate xb_gradient_noise_mean(const xb_gradient_noise *noise, int64_t i);
XB_API xb_estimate xb_gradient_noise_spread(const xb_gradient_noise *noise, int64_t i);

#ifdef __cplusplus
}
#endif
#endif
