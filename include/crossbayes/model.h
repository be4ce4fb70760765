/* crossbayes/model.h: a trained network: everything that prediction needs, in one file.
 *
 *     xb_model *model = NULL;
 *     if (xb_model_load(ctx, &model, "model.safetensors") != XB_OK) ...
 *     puts(xb_model_net_text(model));
 *     xb_model_destroy(model);
 *
 * A model is the net with a mean and a standard deviation for every random weight, the
 * law of its noise, the scaling of inputs and target, the likelihood, and its provenance.
 * It is made by crossbayes/train.h or from arrays and does not change afterwards, so
 * threads may share it; crossbayes/predict.h predicts from it. (xb_model_calibrate and
 * xb_model_add_process do change a model; call them before sharing it.) The file is
 * safetensors, so Python opens it in one line; texts are in its metadata.
 */
#ifndef CROSSBAYES_MODEL_H
#define CROSSBAYES_MODEL_H

#include "crossbayes/data.h"
#include "crossbayes/net.h"
#include "crossbayes/vi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The distribution of a target, given the net's outputs (maths V10). */
typedef enum xb_likelihood {
    XB_LIKELIHOOD_AUTO = 0,         /* classes: softmax; numbers: gaussian, unless
                                       xb_train chooses another (V20) */
    XB_LIKELIHOOD_GAUSSIAN,         /* one learnt standard deviation for all rows */
    XB_LIKELIHOOD_HETEROSCEDASTIC,  /* one for each input, from a second net */
    XB_LIKELIHOOD_SOFTMAX,          /* classes */
    XB_LIKELIHOOD_STUDENT,          /* one standard deviation and heavy tails */
    XB_LIKELIHOOD_POISSON,          /* counts, whose variance is their mean (V40) */
    XB_LIKELIHOOD_NEGATIVE_BINOMIAL /* counts with a larger variance (V41) */
} xb_likelihood;

XB_API const char *xb_likelihood_name(xb_likelihood l); /* "gaussian", ... */
XB_API xb_status xb_likelihood_parse(xb_ctx *ctx, xb_likelihood *out, const char *text);

typedef struct xb_model xb_model;

/* The parts of a model; all of them are copied. A frozen value. */
typedef struct xb_model_parts {
    const xb_net *net;
    xb_weights weights; /* mu, sigma > 0 for random tensors, batchnorm's state */
    const xb_law *law;
    xb_prior prior;
    xb_likelihood likelihood; /* not AUTO */
    double noise_sd;          /* GAUSSIAN, STUDENT: in the target's units;
                                 NEGATIVE_BINOMIAL: square root of the dispersion */
    const xb_net *noise_net;  /* HETEROSCEDASTIC: a deterministic net; else ignored */
    const float *noise_mu, *noise_state;
    bool pixels;                     /* inputs are byte / 255 and have no names */
    const char *const *feature_name; /* [inputs of the net] */
    const double *input_mean;        /* [inputs]; NULL: 0 */
    const double *input_sd;          /* [inputs]; NULL: 1 */
    const char *target_name;
    double target_mean, target_sd;     /* 0 and 1: not scaled; counts: of the logarithm of
                                          their rate */
    int64_t classes;                   /* SOFTMAX; else 0 */
    const char *const *class_name;     /* [classes] */
    const char *settings, *provenance; /* JSON; NULL: {} */
    double noise_degrees;              /* STUDENT: degrees of freedom, more than 2 */
} xb_model_parts;

/* Makes a model from arrays, e.g. one trained elsewhere. Parts that a model file could
 * not hold are refused with XB_E_ARGUMENT. */
XB_API xb_status xb_model_create(xb_ctx *ctx, xb_model **out,
                                 const xb_model_parts *parts);

/* One of several targets. A frozen value. */
typedef struct xb_model_target {
    const char *name;
    double mean, sd; /* 0 and 1: not scaled; counts: of the logarithm of their rate */
    double noise_sd; /* GAUSSIAN, STUDENT: in its units; NEGATIVE_BINOMIAL: square root of
                        the dispersion; NAN for the others */
} xb_model_target;

/* A model of several targets of numbers, one output of the net (and of the noise net) for
 * each: target [targets] instead of the parts' target_name, _mean, _sd and noise_sd. */
XB_API xb_status xb_model_create_targets(xb_ctx *ctx, xb_model **out,
                                         const xb_model_parts *parts,
                                         const xb_model_target *target, int64_t targets);

/* Saving replaces an old file only by a complete new one. Loading trusts nothing: tensors
 * of a wrong shape, values that are not finite and texts that do not parse are refused
 * with XB_E_INPUT. */
XB_API xb_status xb_model_save(xb_ctx *ctx, const xb_model *model, const char *path);
XB_API xb_status xb_model_load(xb_ctx *ctx, xb_model **out, const char *path);
XB_API void xb_model_destroy(xb_model *model); /* NULL is fine */

/* All borrowed from the model. */
XB_API const xb_net *xb_model_net(const xb_model *model);
XB_API const xb_net *xb_model_noise_net(const xb_model *model); /* NULL: none */
XB_API const char *xb_model_net_text(const xb_model *model);
XB_API const xb_law *xb_model_law(const xb_model *model);
XB_API xb_prior xb_model_prior(const xb_model *model);
XB_API xb_likelihood xb_model_likelihood(const xb_model *model);
XB_API const char *xb_model_settings(const xb_model *model);   /* JSON */
XB_API const char *xb_model_provenance(const xb_model *model); /* JSON */

/* The cells that random weights are made of (V31), NULL if their widths are free; and the
 * states of the cells of a random tensor, [cells][size] in the cells' own unit, else
 * NULL. mu and sigma follow from the states. */
XB_API const xb_weight_cells *xb_model_cells(const xb_model *model);
XB_API const float *xb_model_cell_states(const xb_model *model, int64_t tensor);

/* Blocks in the net's layout: mu, sigma (0 for fixed tensors), batchnorm's state. */
XB_API xb_weights xb_model_weights(const xb_model *model);
/* Those of the noise net: mu, no sigma, batchnorm's state; all NULL if there is none. */
XB_API xb_weights xb_model_noise_weights(const xb_model *model);

/* Whether inputs are pixels, byte / 255 each. Their columns have no names (""). */
XB_API bool xb_model_of_images(const xb_model *model);

/* Columns as they were named in the training data. */
XB_API int64_t xb_model_feature_count(const xb_model *model);
XB_API const char *xb_model_feature_name(const xb_model *model, int64_t i);
/* How the columns of a table become features; NULL for a model of images. */
XB_API const xb_recipe *xb_model_recipe(const xb_model *model);
/* The name of the target; with several targets all names, separated by commas. */
XB_API const char *xb_model_target_name(const xb_model *model);
XB_API int64_t xb_model_target_count(const xb_model *model); /* 1 or more */
/* Names are borrowed; beyond the last, NULL and NAN. */
XB_API xb_model_target xb_model_target_at(const xb_model *model, int64_t k);
XB_API int64_t xb_model_class_count(const xb_model *model); /* 0: a target of numbers */
XB_API const char *xb_model_class_name(const xb_model *model, int64_t k);

/* Reads a table for the model: its columns by name, or by their order if the table has no
 * names, are made into features by the model's recipe; with `target` its target and
 * classes are read as well. Only `id`, `missing` and `block` of the options are used. */
XB_API xb_status xb_model_frame_read(xb_ctx *ctx, xb_frame **out, const xb_model *model,
                                     const char *path, bool target,
                                     const xb_frame_options *opt); /* NULL: defaults */
XB_API xb_status xb_model_frame_create(xb_ctx *ctx, xb_frame **out, const xb_model *model,
                                       const xb_column *columns, int64_t n_columns,
                                       int64_t n_rows, bool target,
                                       const xb_frame_options *opt);

/* The net takes inputs as (x - mean) / sd; its output y means mean + sd y, and for counts
 * the exponential of that, their rate. With several targets these are the first one's. */
XB_API const double *xb_model_input_mean(const xb_model *model); /* [features] */
XB_API const double *xb_model_input_sd(const xb_model *model);   /* [features] */
/* (V21) Skewed columns may enter as a logarithm; mean and sd are then of that.
 * [features], 0 where a column enters as it is; NULL: all do. */
XB_API const double *xb_model_input_bend(const xb_model *model);
/* Value x of feature j as the net takes it, 0 <= j < features. */
XB_API double xb_model_scaled_input(const xb_model *model, int64_t j, double x);
XB_API double xb_model_target_mean(const xb_model *model);
XB_API double xb_model_target_sd(const xb_model *model);

/* (C27) If intervals were recalibrated on held-out rows (xb_model_calibrate): for each
 * level 0.01, 0.02, ..., 0.99 the level whose quantile xb_predict uses instead,
 * XB_CALIBRATION_LEVELS of them; NULL: they were not recalibrated. */
#ifndef XB_CALIBRATION_LEVELS
#define XB_CALIBRATION_LEVELS 99
#endif
XB_API const double *xb_model_calibration(const xb_model *model);

/* (V43) The length of the Gaussian process beside the net (xb_model_add_process); NAN:
 * there is none. */
XB_API double xb_model_process_length(const xb_model *model);

/* An ensemble consists of posteriors trained separately on the same rows
 * (xb_train_options.members), which predict together as an equal mixture. Member i, 0 <=
 * i < count, is a model of its own, borrowed from the ensemble; NULL beyond. A single
 * posterior has one member, itself. The functions above return the weights, noise weights
 * and settings of an ensemble's first member. */
enum { XB_MEMBERS_MAX = 1000 };
XB_API int64_t xb_model_member_count(const xb_model *model);
XB_API const xb_model *xb_model_member_at(const xb_model *model, int64_t i);

/* The standard deviation of the noise for the gaussian and student likelihoods, in the
 * (first) target's units; NEGATIVE_BINOMIAL: the square root of the dispersion; NAN for
 * the others. For an ensemble it is the root mean square over members. */
XB_API double xb_model_noise_sd(const xb_model *model);
/* The degrees of freedom of the student likelihood; NAN for the others. */
XB_API double xb_model_noise_degrees(const xb_model *model);
/* Whether the target is a count: likelihood POISSON or NEGATIVE_BINOMIAL. */
XB_API bool xb_model_of_counts(const xb_model *model);
/* The dispersion of target k for counts: a count of rate r has the variance r +
 * dispersion r^2, so it is 0 for POISSON. NAN for other likelihoods. For an ensemble it
 * is the mean over members.
 */
XB_API double xb_model_dispersion(const xb_model *model, int64_t k);

#ifdef __cplusplus
}
#endif
#endif
