/* crossbayes/vi.h: the parts of mean-field variational inference.
 *
 * A weight is theta = mu + sigma z, z a standardised law (mean 0, variance 1).
 * Training minimises F = -(expected log likelihood)/T + sum over weights of
 * KL(q || prior) (maths V1). Here are the priors, the KL of any law to them with its
 * gradient, the parametrisations of sigma > 0, schedules, and Adam's settings.
 *
 *     xb_prior prior;
 *     xb_prior_parse(ctx, &prior, "normal:sd=1");
 *     xb_kl *kl = NULL;
 *     xb_kl_create(ctx, &kl, law, &prior, 0);
 *     double sum = xb_kl_sum(ctx, kl, grad_mu, grad_sigma, mu, sigma, n, 1.0);
 *     xb_kl_destroy(kl);
 */
#ifndef CROSSBAYES_VI_H
#define CROSSBAYES_VI_H

#include "crossbayes/law.h"
#include "crossbayes/net.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- priors of a weight (V3-V5) */
typedef enum xb_prior_kind {
    XB_PRIOR_NORMAL,  /* N(mean, sd^2) */
    XB_PRIOR_LAPLACE, /* density exp(-|x| / scale) / (2 scale) */
    XB_PRIOR_MIXTURE  /* pi N(0, s1^2) + (1 - pi) N(0, s2^2) */
} xb_prior_kind;

/* Fields that do not belong to the kind are 0. A frozen value. */
typedef struct xb_prior {
    xb_prior_kind kind;
    double mean, sd;   /* normal */
    double scale;      /* laplace */
    double pi, s1, s2; /* mixture */
} xb_prior;

#define XB_PRIOR_TEXT 128
#define XB_SCHEDULE_TEXT 128

/* `normal:mean=0,sd=1`, `laplace:b=1`, `mixture:pi=0.5,s1=1,s2=0.01`; a parameter that is
 * left out has the value shown. Scales from 1e-10 to 1e10, pi inside (0, 1), s1 and s2
 * not the same. */
XB_API xb_status xb_prior_parse(xb_ctx *ctx, xb_prior *out, const char *text);
/* The text that parses to the same prior. */
XB_API void xb_prior_text(char out[XB_PRIOR_TEXT], const xb_prior *prior);

XB_API double xb_prior_log_density(const xb_prior *prior, double x);
/* Its derivative; 0 at the kink of `laplace`. */
XB_API double xb_prior_slope(const xb_prior *prior, double x);

/* ---- KL(q || prior) of weights with one law and one prior (V2) */
typedef struct xb_kl xb_kl;

/* With points = 0 the method suits the prior: a closed form for normal, exact for
 * laplace, within 1e-4 nats for mixture (V3-V6; the error is larger for peaks narrower
 * than 1/20 sd). With points = n >= 1 the n-point Gauss rule of the law is used for any
 * prior; 2 points are exact for normal. The law is only read here, and may be destroyed
 * before the xb_kl. */
XB_API xb_status xb_kl_create(xb_ctx *ctx, xb_kl **out, const xb_law *law,
                              const xb_prior *prior, int64_t points);
XB_API void xb_kl_destroy(xb_kl *kl); /* NULL is fine */

/* Returns the sum of KL over n weights, and adds `weight` times its gradient to
 * grad_mu and grad_sigma (both, or NULL for neither). sigma > 0; the sum is
 * INFINITY if one is 0. The same bytes for any number of threads; no allocation. */
XB_API double xb_kl_sum(const xb_ctx *ctx, const xb_kl *kl, float *grad_mu,
                        float *grad_sigma, const float *mu, const float *sigma, int64_t n,
                        double weight);

/* One weight, in double; a frozen value. */
typedef struct xb_kl_value {
    double kl;
    double d_mu;
    double d_sigma;
} xb_kl_value;

XB_API xb_kl_value xb_kl_one(const xb_kl *kl, double mu, double sigma);

/* ---- sigma = f(rho) > 0 (V8) */
typedef enum xb_sigma_transform {
    XB_SIGMA_TRANSFORM_EXP,     /* sigma = exp(rho) */
    XB_SIGMA_TRANSFORM_SOFTPLUS /* sigma = log(1 + exp(rho)) */
} xb_sigma_transform;

XB_API xb_status xb_sigma_transform_parse(xb_ctx *ctx, xb_sigma_transform *out,
                                          const char *text);
XB_API const char *xb_sigma_transform_name(xb_sigma_transform transform);
XB_API double xb_sigma_transform_apply(xb_sigma_transform transform, double rho);
XB_API double xb_sigma_transform_slope(xb_sigma_transform transform,
                                       double rho); /* d sigma / d rho */
XB_API double xb_sigma_transform_inverse(xb_sigma_transform transform,
                                         double sigma); /* inverse, sigma > 0 */

/* sigma[n] from rho[n]; never below FLT_MIN, so that log sigma and 1/sigma are
 * finite. */
XB_API void xb_sigma_transform_fill(const xb_ctx *ctx, xb_sigma_transform transform,
                                    float *sigma, const float *rho, int64_t n);
/* gradient[n] is with respect to sigma on entry and with respect to rho on return. */
XB_API void xb_sigma_transform_chain(const xb_ctx *ctx, xb_sigma_transform transform,
                                     float *gradient, const float *sigma, int64_t n);

/* ---- weights made of cells, whose noise is that of the cells themselves (V31)
 *
 * w = (sum over cells of sign g - offset) / scale, with the variance sigma^2 = (sum of
 * sigma(g)^2) / scale^2. Mean and width both follow from the states g, so the width is
 * not free. */
typedef struct xb_weight_cells xb_weight_cells;

/* `three` (three cells of Lin et al. 2023 and an offset) or `pair` (the difference of two
 * such cells), optionally with other numbers after a colon: `signs=1/-1`, `range=0.4/4`,
 * `offset=0`, `scale=7`, `width=A/B/C` (sigma(g) = A + B g + C g^2, up to 8
 * coefficients), or `at=G/G/...` with as many widths, which hold at these states and are
 * linear in between. 1 to 16 cells. The width must be above 0 in all of the range. */
XB_API xb_status xb_weight_cells_parse(xb_ctx *ctx, xb_weight_cells **out,
                                       const char *text);
/* `base` with measured widths of the cells: width [n] at 2 to 64 ascending states g [n],
 * from one end of the range to the other. Offset and scale are adapted to the new range,
 * so that weights span the same interval as before. */
XB_API xb_status xb_weight_cells_measured(xb_ctx *ctx, xb_weight_cells **out,
                                          const xb_weight_cells *base, const double *g,
                                          const double *width, int64_t n);
XB_API void xb_weight_cells_destroy(xb_weight_cells *cells); /* NULL is fine */

/* The complete text, which parses to the same cells. Borrowed. */
XB_API const char *xb_weight_cells_text(const xb_weight_cells *cells);
XB_API int64_t xb_weight_cells_count(const xb_weight_cells *cells); /* number of cells of
                                                                       a weight */
XB_API double xb_weight_cells_low(const xb_weight_cells *cells);    /* ends of the
                                                                       range */
XB_API double xb_weight_cells_high(const xb_weight_cells *cells);
XB_API double xb_weight_cells_width(const xb_weight_cells *cells, double g);
/* Mean and width of the weight whose cells are at g [count]. */
XB_API void xb_weight_cells_weight(const xb_weight_cells *cells, double *mu,
                                   double *sigma, const double *g);

/* ---- schedules: a factor at step i = 0, 1, ... of `total` (V9), for the
 * temperature and for learning rates */
typedef enum xb_schedule_kind {
    XB_SCHEDULE_CONSTANT,
    XB_SCHEDULE_EXP,
    XB_SCHEDULE_COSINE,
    XB_SCHEDULE_STEP
} xb_schedule_kind;

/* A frozen value. */
typedef struct xb_schedule {
    xb_schedule_kind kind;
    double value;  /* constant: itself; exp, step: the number of steps */
    double factor; /* step: what each step multiplies by */
    double floor;  /* lowest value */
} xb_schedule;

/* `constant:1`; `exp:1000` for exp(-i/1000); `cosine`, from 1 to the floor at the
 * last step; `step:1000`, times factor every 1000 steps. All but constant take
 * `floor=0`, step takes `factor=0.1`: `exp:1000,floor=0.1`. Never below 1e-12. */
XB_API xb_status xb_schedule_parse(xb_ctx *ctx, xb_schedule *out, const char *text);
XB_API void xb_schedule_text(char out[XB_SCHEDULE_TEXT], const xb_schedule *schedule);
XB_API double xb_schedule_at(const xb_schedule *schedule, int64_t step, int64_t total);

/* ---- Adam (V7), TensorFlow's form and defaults. It is a frozen value inside other
 * options: it never grows and has no size field. */
typedef struct xb_adam_options {
    double rate;    /* 1e-3 */
    double beta1;   /* 0.9 */
    double beta2;   /* 0.999 */
    double epsilon; /* 1e-7 */
} xb_adam_options;

XB_API xb_adam_options xb_adam_options_default(void);

/* One block of parameters with its gradient and moments, all [n]; moments start at
 * zero. A frozen value. */
typedef struct xb_adam_block {
    float *parameter;
    float *first;  /* moving mean of the gradient */
    float *second; /* moving mean of its square */
    const float *gradient;
    int64_t n;
    double rate;  /* factor on options->rate; 0 leaves the parameters unchanged */
    float *sigma; /* becomes exp(parameter) (V8); NULL: not wanted */
} xb_adam_block;

/* Step number `step` (1 is the first) on every block; `rate` multiplies the
 * learning rate (a schedule). Elements are independent, so the bytes are the same for any
 * number of threads. No allocation. */
XB_API void xb_adam_step(const xb_ctx *ctx, const xb_adam_options *options,
                         const xb_adam_block *blocks, int64_t n_blocks, int64_t step,
                         double rate);

/* ---- an output that is to be a standard normal (maths G1-G4) */

/* E|f - Y|^1.5 for a standard normal Y, and its derivative, accurate to 1e-14. */
XB_API double xb_energy_normal(double f, double *slope);

/* (G1) 2 E|f - Y|^1.5 - E|f - f'|^1.5 of a sample f [n], pairs i != j only: unbiased.
 * The gradient df [n] is set. n >= 2. NaN and infinities propagate. */
XB_API double xb_energy_loss(float *df, const float *f, int64_t n);

enum { XB_ENERGY_NODES = 33, XB_ENERGY_DEGREE = 11 };

/* Taylor coefficients of E|f - Y|^1.5 at f = 0, 1/4, ..., 8, for programs that compute
 * many losses. A frozen value. */
typedef struct xb_energy_table {
    double at[XB_ENERGY_NODES][XB_ENERGY_DEGREE + 1];
} xb_energy_table;

XB_API void xb_energy_table_fill(xb_energy_table *table);
/* The same as xb_energy_loss, with a table that xb_energy_table_fill() made. */
XB_API double xb_energy_loss_by(const xb_energy_table *table, float *df, const float *f,
                                int64_t n);

/* The arrays that steps of Adam change. mu, rho and sigma = exp(rho) have one number for
 * each parameter; first and second, Adam's moments, have those of mu and then those of
 * rho. sigma is 0 where a parameter is fixed. A frozen value. */
typedef struct xb_energy_state {
    float *mu, *rho, *sigma, *first, *second;
} xb_energy_state;

typedef struct xb_energy_steps_options {
    size_t struct_size;
    const char *backend; /* NULL: the context's */
    xb_key key;          /* key of the noise */
    int64_t draws;       /* 100: draws of the output in each step */
    double rate;         /* 1e-3: Adam's learning rate, which falls to 0 along a cosine */
    int64_t first;       /* 0: number of the first step */
    int64_t count;       /* 1: steps of this call, 1 to 1024 */
    int64_t total;       /* 10000: steps of the whole training, which the cosine spans */
} xb_energy_steps_options;

XB_OPTIONS(energy_steps);

/* Trains a net of dense layers so that its output at x = 0 becomes a standard normal,
 * with Gaussian weights and the estimator local; all steps are one call of the backend.
 * *done is the number of steps that were done. It is less than opt->count if the next
 * step is not finite (nothing was changed by that step), and 0 if the backend or the net
 * does not support this: use xb_pass_step for single steps. */
XB_API xb_status xb_energy_steps(xb_ctx *ctx, int64_t *done, const xb_energy_state *state,
                                 const xb_net *net, const xb_energy_steps_options *opt);

#ifdef __cplusplus
}
#endif
#endif
