/* crossbayes/train.h: training: from a table or images to a model.
 *
 *     xb_train_options opt = xb_train_options_default();
 *     xb_train_data data = xb_train_data_of(frame);
 *     xb_model *model = NULL;
 *     if (xb_train(ctx, &model, NULL, &data, &opt) != XB_OK) ...
 *
 * In the first phase the net is trained as an ordinary one (mean square or cross
 * entropy), which gives the means their initial values; in the second phase F = -(N/b)
 * sum log p / T + KL is minimised over means and standard deviations (maths V1, V10-V13).
 * The same data, options and seed give the same bytes for any number of threads, and
 * whether or not the run was stopped and resumed in between.
 *
 * If no net is given for a table, xb_train also tries a deeper one and keeps the better
 * of the two (V18). It uses xb_trainer, which trains one net step by step and lets a
 * caller inspect and change the state between steps.
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
 * read in place, batch by batch. */
typedef struct xb_train_data {
    const double *x; /* [n][features], finite */
    const double *y; /* [n], with several targets [n][targets]; class numbers 0 to classes
                        - 1 if classes > 0 */
    const float *scaled;  /* instead of x */
    const uint8_t *bytes; /* instead of x */
    const int64_t
        *select; /* [n]: example i is row select[i] of inputs and of y; NULL: i */
    int64_t n, features;
    int64_t held;            /* the number of trailing examples held out; 0: by the option
                                `validation` */
    int64_t classes;         /* 0: a target of numbers */
    const xb_frame *names;   /* names of columns and classes; NULL: "1", "2", ... */
    const xb_images *images; /* the same for images */
} xb_train_data;

/* A frame with a target; borrowed, so keep it while training. */
XB_API xb_train_data xb_train_data_of(const xb_frame *frame);

/* Images with targets, n of them (select NULL: all); borrowed. */
XB_API xb_train_data xb_train_data_of_images(const xb_images *images,
                                             const int64_t *select, int64_t n);

#define XB_ESTIMATOR_AUTO (-1)

/* How much work xb_train does by default. */
typedef enum xb_train_effort {
    XB_TRAIN_EFFORT_STANDARD = 0, /* steps of V13, two nets, the likelihoods of V20 */
    XB_TRAIN_EFFORT_QUICK,        /* a third of the steps, one net, constant noise */
    XB_TRAIN_EFFORT_FULL          /* three times the steps, five members */
} xb_train_effort;

XB_API const char *xb_train_effort_name(
    xb_train_effort e); /* "standard", "quick", "full" */
XB_API xb_status xb_train_effort_parse(xb_ctx *ctx, xb_train_effort *out,
                                       const char *text);

/* What becomes of columns whose values are skewed (V21). */
typedef enum xb_skewed {
    XB_SKEWED_AUTO = 0, /* xb_train without a net, for numbers: the better of the two by F
                           or validation; else as they are */
    XB_SKEWED_KEEP,     /* they enter as they are */
    XB_SKEWED_LOG       /* their logarithm enters */
} xb_skewed;

XB_API const char *xb_skewed_name(xb_skewed s); /* "auto", "keep", "log" */
XB_API xb_status xb_skewed_parse(xb_ctx *ctx, xb_skewed *out, const char *text);

/* How the scale of the prior is found if it is normal, adapted to the number of inputs,
 * and has no scale of its own (V23). */
typedef enum xb_prior_scale {
    XB_PRIOR_SCALE_AUTO = 0, /* xb_train without a net, for a table of 20 to 10,000 rows:
                                by cross-validation on two of four parts; kept at the
                                standard one without clear evidence. Else the standard
                                one */
    XB_PRIOR_SCALE_STANDARD, /* 1, for classes 5 */
    XB_PRIOR_SCALE_FITTED    /* xb_train, for any table and net: the scale that predicts
                                all four parts best */
} xb_prior_scale;

XB_API const char *xb_prior_scale_name(
    xb_prior_scale s); /* "auto", "standard", "fitted" */
XB_API xb_status xb_prior_scale_parse(xb_ctx *ctx, xb_prior_scale *out, const char *text);

/* What an array does to a net, for training (maths V60, V61): converters around its
 * linear layers, kernels on few levels with a programming error, a smallest width. All 0:
 * no effect. xb_array_training() fills it for an array. A frozen value. */
typedef struct xb_train_array {
    int64_t dac_bits, adc_bits; /* bits of the converters of inputs and sums; 0: no
                                   converter, else 2 to 20 */
    int64_t levels; /* steps from 0 to a kernel's largest weight; 0: any weight */
    double error;   /* sd of a programmed mean, as a fraction of the largest */
    double floor;   /* smallest sigma, as a fraction of the kernel's largest */
} xb_train_array;

/* A trainer between two steps, see below. */
typedef struct xb_trainer xb_trainer;

typedef struct xb_train_options {
    size_t struct_size;
    const char *net;       /* NULL: `dense 50, relu, dense K`, K outputs as needed; for
                              images two convolutions and `dense 64`. Of a table with
                              temperature 1, xb_train also tries `dense 50, relu,
                              dense 50, relu, dense K` and keeps the better (V18) */
    const char *noise_net; /* for HETEROSCEDASTIC, which it implies if the likelihood is
                              AUTO; NULL: `dense W, tanh, dense K`, W = sqrt(rows) / 10
                              from 3 to 50 (V19); for images, and without noise_prior,
                              the layers of the net */
    xb_shape input; /* all 0: the shape of data.images, else a vector of features */
    xb_likelihood likelihood; /* AUTO, see choose_likelihood */
    xb_stochastic stochastic; /* kernels */
    bool freeze;              /* fixed tensors keep their values from the first phase */
    const xb_law *law;        /* NULL: gaussian */
    xb_prior prior;           /* default: normal, with the scale of prior_scale (V14) */
    bool prior_by_fan;  /* true (default): for kernels its scale is multiplied by sqrt(2 /
                           inputs of a unit) (V14) */
    int estimator;      /* an xb_estimator; AUTO: shared for images, local for gaussian,
                           flipout for other symmetric laws and for random conv layers (where
                           local is not exact, and is refused), example otherwise */
    int64_t group;      /* group size of the estimator `example`; 0: 1, or 10 if AUTO
                           chose it */
    int64_t draws;      /* 1: weight draws per step */
    bool antithetic;    /* draws in pairs; symmetric laws, an even number of draws */
    int64_t batch;      /* 100: largest number of examples per step */
    int64_t mle_epochs; /* -1: epochs of the first phase; negative: chosen (V13) */
    int64_t epochs;     /* -1: epochs of the second phase; negative: chosen (V13) */
    xb_adam_options adam;    /* its defaults, but rate 3e-3 */
    double sigma_rate;       /* 1: learning rate of sigma's parameter, times adam.rate */
    xb_schedule rate;        /* cosine: factor on the learning rate, in each phase */
    xb_schedule temperature; /* constant:1: T of the second phase, by step */
    xb_sigma_transform sigma_transform; /* EXP */
    double sigma; /* 0.01: every standard deviation at the start of the second phase */
    double validation; /* share of rows held out; 0: none. The state with the best score
                          on them is kept */
    int64_t validation_draws;      /* weight draws of that score, 16 */
    double target_mean, target_sd; /* the net learns (y - mean) / sd; sd 0: those of the
                                      data. For nets whose output is bounded */
    bool mirror; /* images: each is flipped left-right with probability 1/2 in each epoch
                    (V17) */
    const xb_model *start; /* phase 1 starts from its means, for the same net; NULL:
                              random initial values */
    int64_t patience;      /* number of epochs without a better score after which training
                              stops; 0: never */
    uint64_t seed;         /* 1 */
    const char *checkpoint;    /* file of the checkpoint; NULL: none */
    double checkpoint_seconds; /* 60: seconds between checkpoints; 0: after every step */
    bool resume;               /* continue from the checkpoint if it exists */
    const char *backend;       /* NULL: the context's */
    const char *task;          /* name of the task in progress events; NULL: "training" */
    /* Called after every epoch; `trainer` may be read (xb_trainer_epoch_value, ...).
     * Returning false stops training there. NULL: none */
    bool (*on_epoch)(void *arg, xb_trainer *trainer);
    void *on_epoch_arg;
    bool stop_keeps; /* true: such a stop is early stopping, and the model reached so far
                        is the result; false: training fails with XB_E_CANCELLED */
    int64_t targets; /* number of targets per row, with one output of the net for each
                        (V30); 0: as many as data.names has, or 1 */
    int64_t members; /* xb_train only: with more than 1 it trains an ensemble (V50) in one
                        model; each member has its own initial values, shuffles and draws.
                        The net is chosen for the first member, which equals a single
                        model. Members are trained in parallel, or one after another if
                        on_epoch is set; the report and the checkpoint are the first
                        one's. 0: XB_MEMBERS_FULL with full effort, XB_MEMBERS_OPEN if
                        xb_train chooses the net and targets are numbers, else
                        XB_MEMBERS_DEFAULT */
    double
        noise_prior; /* scale of the prior of the noise net's kernels, 0.3, before the
                        factor of prior_by_fan, which always applies to them; 0: no prior,
                        maximum likelihood as in the paper. It is 0 for images (V19) */
    bool
        choose_likelihood; /* AUTO: xb_train also tries likelihoods other than gaussian
                              (V20) for a given net; without a given net it always does */
    xb_train_effort effort;
    const xb_weight_cells *cells; /* the cells that random tensors are made of: training
                                     learns their states; sigma, sigma_rate and
                                     sigma_transform are ignored. NULL: widths are free */
    const xb_train_array *array;  /* the net is trained as this array would run it, with
                                     straight-through gradients; NULL: as it is */
    double n_eff_penalty; /* second phase: F/N minus this times log n_eff, so that many
                             weights share the output's variance (V62); 0: none */
    xb_skewed skewed;
    bool keep_copies; /* xb_train: false: if more than a tenth of the rows of a table
                         repeat another row, in every column and, nearly, in a target
                         of many different values, only the first is learnt from (V22);
                         true: all of them */
    xb_prior_scale prior_scale;
} xb_train_options;

/* The numbers of members that xb_train uses if members is 0 (docs/ensembles.md shows
 * their effect). */
enum { XB_MEMBERS_DEFAULT = 1, XB_MEMBERS_OPEN = 3, XB_MEMBERS_FULL = 5 };

XB_OPTIONS(train);

/* ---- presets: named sets of settings, 0 <= i < xb_train_preset_count() */
XB_API int64_t xb_train_preset_count(void);
XB_API const char *xb_train_preset_name(int64_t i);    /* "paper" */
XB_API const char *xb_train_preset_sets(int64_t i);    /* its settings, in words */
XB_API const char *xb_train_preset_source(int64_t i);  /* where its values come from */
XB_API int64_t xb_train_preset_find(const char *name); /* -1: none */
/* Sets the preset's fields in `opt` and leaves the others. */
XB_API xb_status xb_train_preset(xb_ctx *ctx, xb_train_options *opt, const char *name);

/* ---- the report of a run */

/* Columns of the history, which has a row for each epoch. Values that do not apply are
 * NAN. */
typedef enum xb_history_column {
    XB_HISTORY_PHASE = 0,      /* 1 or 2 */
    XB_HISTORY_EPOCH,          /* number in the phase, from 1 */
    XB_HISTORY_STEP,           /* number in the phase, at the end of the epoch */
    XB_HISTORY_LOG_LIKELIHOOD, /* of all training rows, mean over the draws used */
    XB_HISTORY_KL,
    XB_HISTORY_F, /* in phase 1 the mean loss */
    XB_HISTORY_TEMPERATURE,
    XB_HISTORY_SIGMA_MEDIAN,
    XB_HISTORY_NOISE_SD,  /* standardised; the geometric mean with several targets */
    XB_HISTORY_VALIDATION /* mean log predictive density of the rows held out */
} xb_history_column;

XB_API const char *xb_history_column_name(xb_history_column c); /* "phase", ... */
XB_API xb_status xb_history_column_parse(xb_ctx *ctx, xb_history_column *out,
                                         const char *text);

typedef struct xb_train_report xb_train_report;

XB_API void xb_train_report_destroy(xb_train_report *report); /* NULL is fine */
XB_API const xb_table *xb_train_report_history(const xb_train_report *report);
/* Numbers of training rows and of rows held out. */
XB_API int64_t xb_train_report_row_count(const xb_train_report *report);
XB_API int64_t xb_train_report_held_count(const xb_train_report *report);
/* Number of rows that were left out because they repeat another row (V22). */
XB_API int64_t xb_train_report_copy_count(const xb_train_report *report);
/* The number of epochs of the second phase, and the epoch whose weights were kept: the
 * best on the rows held out, else the last; 0: there were none. */
XB_API int64_t xb_train_report_epoch_count(const xb_train_report *report);
XB_API int64_t xb_train_report_epoch_kept(const xb_train_report *report);
/* Whether on_epoch stopped training and the model was kept. */
XB_API bool xb_train_report_stopped(const xb_train_report *report);
/* A value of the kept epoch, as in the history. */
XB_API double xb_train_report_value(const xb_train_report *report, xb_history_column c);
/* Means over the last epochs up to the kept one, which are less noisy. */
XB_API xb_estimate xb_train_report_f(const xb_train_report *report);
XB_API xb_estimate xb_train_report_log_likelihood(const xb_train_report *report);
/* The net that was tried and rejected, NULL: none was; its F and validation score; how
 * far its F was behind halfway where it was given up there (V18; its F is then NAN), else
 * NAN; and the criterion that decided, "F" or "validation". */
XB_API const char *xb_train_report_other_net(const xb_train_report *report);
XB_API xb_estimate xb_train_report_other_f(const xb_train_report *report);
XB_API double xb_train_report_other_score(const xb_train_report *report);
XB_API double xb_train_report_other_behind(const xb_train_report *report);
XB_API const char *xb_train_report_criterion(const xb_train_report *report);
/* The likelihoods that were tried if none was given (V20), including the model's; none if
 * it was given. F and validation score of each, and the reason for the choice in words
 * (NULL: it was given). */
XB_API int64_t xb_train_report_likelihood_count(const xb_train_report *report);
XB_API const char *xb_train_report_likelihood_name(const xb_train_report *report,
                                                   int64_t i);
XB_API int64_t xb_train_report_likelihood_find(const xb_train_report *report,
                                               const char *name); /* -1: none */
XB_API xb_estimate xb_train_report_likelihood_f(const xb_train_report *report, int64_t i);
XB_API double xb_train_report_likelihood_score(const xb_train_report *report, int64_t i);
/* The scale that cross-validation found, "normal:sd=2: log density -0.31 per row in
 * cross-validation, -0.35 with sd=1"; NULL: the prior's scale was not fitted. */
XB_API const char *xb_train_report_prior_reason(const xb_train_report *report);
XB_API const char *xb_train_report_likelihood_reason(const xb_train_report *report);

/* ---- training in one call
 *
 * `report` may be NULL; destroy it otherwise.
 *
 * Fails with XB_E_NUMERIC, naming the step, if a number is not finite, and with
 * XB_E_CANCELLED if the progress function or on_epoch asks to stop; the last good state
 * is then in the checkpoint, if one was requested. A checkpoint is also left at the end,
 * from which the same call with `resume` returns its result at once: remove it after
 * saving the model. */
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
 * trains one net to the same bytes as xb_train with that net. Data and everything that
 * the options point to are borrowed until the trainer is destroyed. With opt.resume it
 * starts from the checkpoint, if there is one; checkpoints are written as in xb_train,
 * but a call that fails leaves none: xb_trainer_save writes one at any time. A trainer
 * belongs to one thread at a time. */
XB_API xb_status xb_trainer_create(xb_ctx *ctx, xb_trainer **out,
                                   const xb_train_data *data,
                                   const xb_train_options *opt);
XB_API void xb_trainer_destroy(xb_trainer *trainer); /* NULL is fine */

/* Runs one step, or all steps to the end of the current epoch; does nothing if training
 * is done. A step that fails with XB_E_NUMERIC has changed nothing; after XB_E_CANCELLED
 * the next call continues. */
XB_API xb_status xb_trainer_step(xb_ctx *ctx, xb_trainer *trainer);
XB_API xb_status xb_trainer_epoch(xb_ctx *ctx, xb_trainer *trainer);
XB_API bool xb_trainer_done(const xb_trainer *trainer);

/* The progress of training: the phase, 1 or 2; its epochs and steps, done and planned;
 * and the learning rate of the next step. */
XB_API int64_t xb_trainer_phase(const xb_trainer *trainer);
XB_API int64_t xb_trainer_epochs_done(const xb_trainer *trainer);
XB_API int64_t xb_trainer_epoch_count(const xb_trainer *trainer);
XB_API int64_t xb_trainer_steps_done(const xb_trainer *trainer);
XB_API int64_t xb_trainer_step_count(const xb_trainer *trainer);
XB_API double xb_trainer_rate(const xb_trainer *trainer);
/* F and its parts, of the last step (an estimate from its batch) and as means over the
 * last whole epoch, as in the history. */
XB_API double xb_trainer_step_value(const xb_trainer *trainer, xb_history_column c);
XB_API double xb_trainer_epoch_value(const xb_trainer *trainer, xb_history_column c);

/* Arrays of the state, 0 <= i < count: "mu", "sigma" and "rho" (sigma = f(rho), V8; rho
 * is the learnt parameter, and setting sigma sets it), blocks in the net's layout;
 * "noise", the logarithm of each target's standard deviation or the noise net's weights;
 * "state", batchnorm's state of both nets; and Adam's moments, "mu_first", ...,
 * "noise_second". The second phase initialises its own sigma, rho, noise and moments.
 * Setting copies the values, which must be finite, and above 0 for sigma of random
 * tensors. With opt.cells, "cells" [cells][size of "mu"] are the states, 0 at the low end
 * of their range and 1 at the high end; mu and sigma of random tensors follow from them,
 * and sigma and rho cannot be set. */
XB_API int64_t xb_trainer_array_count(const xb_trainer *trainer);
XB_API const char *xb_trainer_array_name(const xb_trainer *trainer, int64_t i);
XB_API int64_t xb_trainer_array_find(const xb_trainer *trainer, const char *name);
XB_API int64_t xb_trainer_array_size(const xb_trainer *trainer, int64_t i);
XB_API xb_status xb_trainer_array_get(xb_ctx *ctx, float *out, const xb_trainer *trainer,
                                      int64_t i);
XB_API xb_status xb_trainer_array_set(xb_ctx *ctx, xb_trainer *trainer, int64_t i,
                                      const float *values);

/* F (V1) and its gradient at the current state, for the caller's rows (1 to opt.batch of
 * them, in the data's units; NULL: the next batch), under weight draws number `draw`
 * (negative: those of the next step). d_mu and d_sigma have the size of "mu" (0 for sigma
 * of fixed tensors), d_noise that of "noise"; NULL: not wanted. In phase 1, f is the mean
 * loss and d_sigma is 0. Changes nothing. */
XB_API xb_status xb_trainer_gradient(xb_ctx *ctx, double *f, float *d_mu, float *d_sigma,
                                     float *d_noise, xb_trainer *trainer,
                                     const xb_train_data *rows, int64_t draw);

/* With opt.cells: the same with respect to the states; d_cells has the size of "cells".
 */
XB_API xb_status xb_trainer_cell_gradient(xb_ctx *ctx, double *f, float *d_cells,
                                          xb_trainer *trainer, const xb_train_data *rows,
                                          int64_t draw);

/* Saves the state to a file, and restores it into a trainer with the same data and
 * options. */
XB_API xb_status xb_trainer_save(xb_ctx *ctx, xb_trainer *trainer, const char *path);
XB_API xb_status xb_trainer_resume(xb_ctx *ctx, xb_trainer *trainer, const char *path);

/* A model of the current state (in phase 1, as phase 2 would start from it), or of the
 * state with the best score so far on the rows held out, which xb_train returns; without
 * such rows both are the same. */
XB_API xb_status xb_trainer_model(xb_ctx *ctx, xb_model **out, xb_trainer *trainer);
XB_API xb_status xb_trainer_best_model(xb_ctx *ctx, xb_model **out, xb_trainer *trainer);
/* The report of the epochs so far. */
XB_API xb_status xb_trainer_report(xb_ctx *ctx, xb_train_report **out,
                                   xb_trainer *trainer);

/* The noise of a step's gradient under each estimator, at the weights of a trained model:
 * the variance over weight draws of the gradient of F/N on one batch, summed over the
 * weights and multiplied by the number of draws per step, so that steps of equal cost are
 * compared (V15). */
typedef struct xb_gradient_noise xb_gradient_noise;

/* Under the estimators that the model's law and net allow, each with and without
 * antithetic pairs, `shared` first. `data` and `opt` as for training (only opt->batch,
 * ->seed and ->sigma_transform are used); pairs >= 2 is the number of pairs of gradients
 * for each, and 100 give errors of a few percent. */
XB_API xb_status xb_train_gradient_noise(xb_ctx *ctx, xb_gradient_noise **out,
                                         const xb_model *model, const xb_train_data *data,
                                         const xb_train_options *opt, int64_t pairs);
XB_API void xb_gradient_noise_destroy(xb_gradient_noise *noise); /* NULL is fine */
XB_API int64_t xb_gradient_noise_count(const xb_gradient_noise *noise);
XB_API xb_estimator xb_gradient_noise_estimator(const xb_gradient_noise *noise,
                                                int64_t i);
XB_API bool xb_gradient_noise_antithetic(const xb_gradient_noise *noise, int64_t i);
/* The variance of the gradient with respect to the means, and to the parameters of the
 * standard deviations. */
XB_API xb_estimate xb_gradient_noise_mean(const xb_gradient_noise *noise, int64_t i);
XB_API xb_estimate xb_gradient_noise_spread(const xb_gradient_noise *noise, int64_t i);

#ifdef __cplusplus
}
#endif
#endif
