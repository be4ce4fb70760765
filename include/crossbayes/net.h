/* crossbayes/net.h: networks from a line of text, and passes through them.
 *
 *     xb_net *net = NULL;
 *     xb_net_parse(ctx, &net, "dense 16, elu, dense 1", (xb_shape){1, 1, 8}, NULL);
 *
 * A net describes shapes and holds no numbers: parameters are in blocks that the caller
 * owns, one per kind (means, standard deviations, gradients), laid out by the net's table
 * of tensors. A pass owns the workspace of one batch: forward, then backward.
 *
 *     xb_pass_options opt = xb_pass_options_default();
 *     xb_pass *pass = NULL;
 *     xb_pass_create(ctx, &pass, net, &opt);
 *     xb_weights weights = {mu, sigma, state, state};
 *     xb_noise noise = {.sampler = sampler, .key = key, .step = k, .sample = s};
 *     xb_pass_forward(ctx, pass, y, x, batch, &weights, &noise, XB_MODE_TRAIN);
 *     ... dy from a likelihood ...
 *     xb_gradient gradient = {d_mu, d_sigma, NULL};
 *     xb_pass_backward(ctx, pass, &gradient, dy);
 *
 * Noise is never stored: the backward pass makes the same draws again. A net never
 * changes while passes use it, so threads may share it, each with a pass and a context of
 * its own.
 */
#ifndef CROSSBAYES_NET_H
#define CROSSBAYES_NET_H

#include "crossbayes/draw.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Activations and parameters are float32. (The tests compile the same sources with
 * double, for finite differences.) */
#if defined(XB_REAL_DOUBLE)
typedef double xb_real;
#else
typedef float xb_real;
#endif

/* One example: height, width, channels. A vector of features is 1 x 1 x c.
 * Activations are [batch][h][w][c], row-major. A frozen value. */
typedef struct xb_shape {
    int64_t h, w, c;
} xb_shape;

/* Which tensors are random: theta = mu + sigma z. Scale and shift of batchnorm are never
 * random. */
typedef enum xb_stochastic {
    XB_STOCHASTIC_KERNELS = 0, /* kernels; biases are fixed (the paper's nets) */
    XB_STOCHASTIC_ALL = 1,     /* kernels and biases (its energy study) */
    XB_STOCHASTIC_NONE = 2     /* a deterministic net */
} xb_stochastic;

/* "kernels", "all", "none". */
XB_API const char *xb_stochastic_name(xb_stochastic stochastic);
XB_API xb_status xb_stochastic_parse(xb_ctx *ctx, xb_stochastic *out, const char *text);

typedef struct xb_net_options {
    size_t struct_size;
    xb_stochastic stochastic; /* KERNELS */
} xb_net_options;

XB_OPTIONS(net);

typedef struct xb_net xb_net;

/* Layers, separated by commas:
 *   dense N [nobias]
 *   conv N [KxK] [stride S] [same|valid] [nobias]     3x3, stride 1, same
 *   maxpool K [stride S] [floor|ceil]                 stride K, floor
 *   batchnorm [momentum M] [epsilon E]                0.99, 0.001
 *   elu, relu, tanh, sigmoid, flatten
 * `same` pads as TensorFlow does; `ceil` keeps a last window that extends beyond the
 * edge. Shapes are inferred from `input`; an error quotes the text and names the layer,
 * counted from 1. opt NULL: kernels stochastic. */
XB_API xb_status xb_net_parse(xb_ctx *ctx, xb_net **out, const char *text, xb_shape input,
                              const xb_net_options *opt);
XB_API void xb_net_destroy(xb_net *net); /* NULL is fine */

/* The net in its shortest form, which parses to the same net. Borrowed. */
XB_API const char *xb_net_text(const xb_net *net);
XB_API xb_shape xb_net_input(const xb_net *net);
XB_API xb_shape xb_net_output(const xb_net *net);
XB_API int64_t xb_shape_size(xb_shape shape); /* h w c */

XB_API int64_t xb_net_layer_count(const xb_net *net);
XB_API const char *xb_net_layer_name(const xb_net *net, int64_t layer); /* "dense" */
XB_API xb_shape xb_net_layer_output(const xb_net *net, int64_t layer);

typedef enum xb_role {
    XB_ROLE_KERNEL, /* dense [in][out], conv [kh][kw][in][out] */
    XB_ROLE_BIAS,   /* [out] */
    XB_ROLE_SCALE,  /* [c], batchnorm */
    XB_ROLE_SHIFT   /* [c], batchnorm */
} xb_role;

XB_API const char *xb_role_name(xb_role role); /* "kernel", "bias", ... */

/* A parameter tensor: elements [offset, offset + size) of every parameter block. A frozen
 * value. */
typedef struct xb_tensor {
    char name[24]; /* "0.kernel": layer counted from 0, role */
    int64_t layer;
    xb_role role;
    int64_t offset, size;
    int64_t ndim;
    int64_t shape[4];
    bool stochastic;
} xb_tensor;

XB_API int64_t xb_net_tensor_count(const xb_net *net);
XB_API const xb_tensor *xb_net_tensor_at(const xb_net *net, int64_t i); /* borrowed */
XB_API int64_t xb_net_tensor_find(const xb_net *net, const char *name); /* -1: none */

/* Makes one tensor random or fixed; kernels and biases only. */
XB_API xb_status xb_net_set_stochastic(xb_ctx *ctx, xb_net *net, int64_t tensor,
                                       bool stochastic);

XB_API int64_t xb_net_param_count(const xb_net *net); /* elements of a parameter block */
XB_API int64_t xb_net_stochastic_count(const xb_net *net); /* random ones among them */
/* Running mean and variance of every batchnorm: state, not parameters. */
XB_API int64_t xb_net_state_count(const xb_net *net);

/* Initial values for training: kernels uniform within sqrt(6 / (fan in + fan out))
 * (Glorot & Bengio 2010; maths N17) by their place in the stream of `key`, biases of
 * hidden dense layers within the length of their unit's kernel, other biases and shifts
 * 0, scales 1.
 */
XB_API void xb_net_params_start(const xb_net *net, xb_real *mu, xb_key key);
/* Running means 0, variances 1. */
XB_API void xb_net_state_start(const xb_net *net, xb_real *state);

/* ---- passes */

/* How weight noise enters a batch (maths N8-N11). With each estimator, every example has
 * weights of the same law; the estimators differ in what examples share, and so in the
 * variance of gradients.
 *
 * - SHARED: one draw for the whole batch
 * - EXAMPLE: one draw for each `group` examples
 * - FLIPOUT: one draw with random signs for each example; for symmetric laws
 * - LOCAL: noise on the layer's outputs; for the gaussian law. It is exact for dense
 * layers; in a conv layer each output has the right law, but their dependence is lost */
typedef enum xb_estimator {
    XB_ESTIMATOR_SHARED = 0,
    XB_ESTIMATOR_EXAMPLE,
    XB_ESTIMATOR_FLIPOUT,
    XB_ESTIMATOR_LOCAL
} xb_estimator;

XB_API const char *xb_estimator_name(xb_estimator e); /* "shared", "example", ... */
XB_API xb_status xb_estimator_parse(xb_ctx *ctx, xb_estimator *out, const char *text);

typedef struct xb_pass_options {
    size_t struct_size;
    const char *backend; /* NULL: the context's; "cpu": the fastest; "ref": plain C;
                            "cuda": a GPU, through libcrossbayes-cuda.so; "auto": a GPU if
                            there is one and the net is large enough to run faster on it,
                            else the CPU */
    int64_t batch;       /* 100: largest number of examples */
    bool gradients; /* true (default): backward passes are possible; false: forward only,
                       in less memory */
    xb_estimator estimator; /* SHARED */
    int64_t group;          /* EXAMPLE: number of examples that share a draw, 1 */
    int64_t first_tensor;   /* 0: number of the net's first tensor in the stream of noise,
                               for a net that is a part of a larger one */
} xb_pass_options;

XB_OPTIONS(pass);

typedef struct xb_pass xb_pass;

/* `net` is borrowed and must outlive the pass. All memory is allocated here. */
XB_API xb_status xb_pass_create(xb_ctx *ctx, xb_pass **out, const xb_net *net,
                                const xb_pass_options *opt);
XB_API void xb_pass_destroy(xb_pass *pass);        /* NULL is fine */
XB_API int64_t xb_pass_bytes(const xb_pass *pass); /* size of the workspace in bytes */

/* The backends of this machine, fastest first: "cpu-v4", "cpu-v3", "cpu-v2" (x86-64
 * levels) and "ref"; "cpu" is the first of them. 0 <= i < xb_backend_count(). */
XB_API int64_t xb_backend_count(void);
XB_API const char *xb_backend_name(int64_t i);

/* Draws of elements first, first + 1, ... (crossbayes/draw.h) made by a backend (NULL:
 * the context's), with the bytes of xb_sampler_fill. Fails if a device fails. */
XB_API xb_status xb_sampler_fill_on(xb_ctx *ctx, const char *backend, const xb_sampler *s,
                                    float *z, int64_t n, const xb_stream *where,
                                    int64_t first);

/* Blocks in the net's layout, borrowed; only new_state is written. A frozen value,
 * as are the noise and the gradient below. */
typedef struct xb_weights {
    const xb_real *mu; /* [param_count] */
    const xb_real *
        sigma; /* [param_count], read for stochastic tensors; may be NULL without noise */
    const xb_real *state; /* [state_count]; NULL if that is 0 */
    xb_real *new_state; /* [state_count]: the state after the batch, written in mode TRAIN
                           and required there if state_count > 0; may be the same block as
                           `state` */
} xb_weights;

/* The place of a pass in the stream of noise: element i of tensor t is the draw at {key,
 * tensor first_tensor + t, sample, step} (maths N7). */
typedef struct xb_noise {
    const xb_sampler *sampler; /* a standardised law */
    xb_key key;
    uint32_t step, sample;
    bool antithetic; /* an odd sample is the even one before it with -z; symmetric laws */
    int64_t first;   /* number of the batch's first example, so that a batch processed in
                        parts gets the noise of the whole */
} xb_noise;

/* TRAIN: batchnorm uses the batch's statistics and moves the running ones towards
 * them; PREDICT: it uses the running ones. */
typedef enum xb_mode { XB_MODE_PREDICT = 0, XB_MODE_TRAIN = 1 } xb_mode;

/* y [batch][output] from x [batch][input]; noise NULL: theta = mu. 0 <= batch <= the
 * largest. If a backward pass follows, x and the weights must stay unchanged until then.
 * Fails with XB_E_ARGUMENT if the estimator does not allow the law. */
XB_API xb_status xb_pass_forward(xb_ctx *ctx, xb_pass *pass, xb_real *y, const xb_real *x,
                                 int64_t batch, const xb_weights *weights,
                                 const xb_noise *noise, xb_mode mode);

/* A frozen value. */
typedef struct xb_gradient {
    xb_real *mu;    /* [param_count], added to */
    xb_real *sigma; /* [param_count], added to for stochastic tensors; may be NULL without
                       noise */
    xb_real *x;     /* [batch][input], written; NULL: not wanted */
} xb_gradient;

/* The gradient of a function whose gradient with respect to the outputs of the last
 * forward pass is dy. */
XB_API xb_status xb_pass_backward(xb_ctx *ctx, xb_pass *pass, const xb_gradient *gradient,
                                  const xb_real *dy);

/* Writes dy [batch][output] from y: the gradient of a loss, whose value the caller keeps.
 * Returning false stops: the step then fails with XB_E_CANCELLED, and the gradients are
 * invalid. */
typedef bool (*xb_loss_fn)(void *arg, xb_real *dy, const xb_real *y, int64_t batch);

/* A step of training: xb_pass_forward in mode TRAIN, the loss, and xb_pass_backward in
 * one call, which is faster for small nets. No backward pass is possible after it.
 * `fresh`: the gradients of mu and sigma are set, not added to. */
XB_API xb_status xb_pass_step(xb_ctx *ctx, xb_pass *pass, const xb_gradient *gradient,
                              bool fresh, const xb_real *x, int64_t batch,
                              const xb_weights *weights, const xb_noise *noise,
                              xb_loss_fn loss, void *arg);

/* ---- likelihoods: the negative log likelihood of a batch, summed in double, and its
 * gradient with respect to the net's outputs (maths N13-N16, N20, V40, V41). Gradients
 * are set, not added to, and may be NULL. Nothing fails; NaN propagates. */

/* Sum of (y - target)^2, n values. */
XB_API double xb_nll_square(xb_real *dy, const xb_real *y, const xb_real *target,
                            int64_t n);

/* Normal with one standard deviation exp(log_sd) for all n values. */
XB_API double xb_nll_gaussian(xb_real *dy, double *d_log_sd, const xb_real *y,
                              const xb_real *target, double log_sd, int64_t n);

/* Student's t with nu = 2 + exp(shape) degrees of freedom and the standard deviation
 * exp(log_sd), n values, `stride` apart in y, target and dy. */
XB_API double xb_student_degrees(double shape);
XB_API double xb_nll_student(xb_real *dy, double *d_log_sd, double *d_shape,
                             const xb_real *y, const xb_real *target, double log_sd,
                             double shape, int64_t n, int64_t stride);

/* Counts, n values, `stride` apart in y, count and dy: a Poisson law with the rate
 * exp(centre + unit y), or a negative binomial law with that mean and the variance rate +
 * exp(log_dispersion) rate^2. count: whole numbers, 0 or more. */
XB_API double xb_nll_poisson(xb_real *dy, const xb_real *y, const xb_real *count,
                             double centre, double unit, int64_t n, int64_t stride);
XB_API double xb_nll_negative_binomial(xb_real *dy, double *d_log_dispersion,
                                       const xb_real *y, const xb_real *count,
                                       double centre, double unit, double log_dispersion,
                                       int64_t n, int64_t stride);

/* Normal with a standard deviation for each value: least + exp(raw), or least +
 * log(1 + exp(raw)). */
typedef enum xb_sd_link { XB_SD_EXP = 0, XB_SD_SOFTPLUS = 1 } xb_sd_link;

XB_API double xb_sd_of(xb_sd_link link, double least, double raw);

/* mean and raw are [rows][d] with rows `stride` apart: d if they come from two nets, 2 d
 * if one net gives [rows][2 d] with the means first, so that raw = mean + d. The
 * gradients have the same layout. target [rows][d]. least >= 0. */
XB_API double xb_nll_heteroscedastic(xb_real *d_mean, xb_real *d_raw, const xb_real *mean,
                                     const xb_real *raw, const xb_real *target,
                                     int64_t rows, int64_t d, int64_t stride,
                                     xb_sd_link link, double least);

/* Cross entropy of softmax(y), y [rows][classes]. label [rows] in [0, classes); if one is
 * not, NAN is returned and nothing is written. */
XB_API double xb_nll_softmax(xb_real *dy, const xb_real *y, const int32_t *label,
                             int64_t rows, int64_t classes);

#ifdef __cplusplus
}
#endif
#endif
