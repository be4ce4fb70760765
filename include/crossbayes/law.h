/* crossbayes/law.h: noise laws.
 *
 * A law is a probability distribution of one device's noise. It is made from
 * its text ("mtj:B=0.15,w=0.5"), from a law file, from samples (`empirical`, or
 * crossbayes/fit.h for the parametric families), and never changes afterwards:
 * all functions here are safe to call from many threads.
 *
 * A law lives on its own support: [-1, 1] for `mtj` and `ecram`, the sample's range
 * (a little widened) for `empirical`, the real line for the others. Networks use it
 * standardised: z = (x - mean) / sd.
 *
 * Both tails are first-class: functions that come in pairs (cdf/survival,
 * quantile/isf) keep their relative precision each in its own tail.
 */
#ifndef CROSSBAYES_LAW_H
#define CROSSBAYES_LAW_H

#include "crossbayes/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xb_law xb_law;

/* From a text, as on the command line: `gaussian`, `mtj:B=0.15,w=0.5`,
 * `ecram:B=0.1,w=0.6`, `bimodal:m=0.9`, `laplace`, `student:nu=5`,
 * `sinh-arcsinh:epsilon=0,delta=1`, `levels:x=-1/1,p=0.5/0.5,s=0.1` (positions,
 * weights, one width or one for each level; 1 to 8 levels), or the path of a law file.
 * Parameters left out take their defaults (those shown). A and C may stand in for w. */
XB_API xb_status xb_law_parse(xb_ctx *ctx, xb_law **out, const char *text);

/* `values` in the order of xb_law_param_name(); count must match the family. `levels`
 * takes all positions, then all weights, then all widths. */
XB_API xb_status xb_law_create(xb_ctx *ctx, xb_law **out, const char *family,
                               const double *values, int64_t count);

/* A smooth law from any sample: a mixture of cubic M-splines with non-negative
 * weights, so a twice continuously differentiable density (maths L20-L24).
 * `x` need not be sorted; keep its time order: the smoothing is chosen by
 * cross-validation over contiguous blocks. n >= 8 finite values, at least two
 * of them distinct. */
XB_API xb_status xb_law_from_samples(xb_ctx *ctx, xb_law **out, const double *x,
                                     int64_t n);

/* A law from the caller's own functions. It works in every stage, as the built-in
 * families do, but it cannot be written to a file: xb_law_save, xb_law_json and
 * xb_model_save refuse it.
 *
 *     static double density(void *arg, double x) { return 0.5 * exp(-fabs(x)); }
 *
 *     xb_law_functions_options f = xb_law_functions_options_default();
 *     const double corner = 0;
 *     f.pdf = density;
 *     f.breaks = &corner, f.n_breaks = 1;
 *     f.symmetric = true;
 *     if (xb_law_from_functions(ctx, &law, "own-laplace", &f) != XB_OK) ...
 *
 * Functions are called from many threads at once, so they must be pure: they always
 * return the same value for the same x, and change nothing. x is within the support, and
 * masses are in (0, 1/2]. Functions other than pdf may be NULL; they are then computed
 * from the density: masses to 1e-12 (a smooth density's tails to a relative 1e-12),
 * quantiles to the same accuracy in mass.
 *
 * The functions are checked, and the first fault is reported in one sentence
 * (XB_E_INPUT): the density must be finite, 0 or more, and integrate to 1 within 1e-9;
 * four moments must be finite; cdf and survival must be monotone and agree with the
 * density's integral, and quantiles with them, to 1e-9; and the density must be even if
 * `symmetric` is set. The mass below a draw differs from u by at most 1e-12 (instead of
 * 4e-15), or by the effect of rounding x. */
typedef struct xb_law_functions_options {
    size_t struct_size;
    void *arg;                              /* handed to every function */
    double (*pdf)(void *arg, double x);     /* required */
    double (*log_pdf)(void *arg, double x); /* useful where pdf underflows */
    double (*cdf)(void *arg, double x);     /* mass below and above x; each is used for */
    double (*survival)(void *arg, double x); /* its own tail */
    double (*quantile)(void *arg, double v); /* mass v below, mass v above */
    double (*isf)(void *arg, double v);
    double lower, upper;  /* the support, -INFINITY and INFINITY */
    const double *breaks; /* ascending points where the density has corners, jumps or a */
    int64_t n_breaks;     /* narrow peak; copied */
    bool symmetric;       /* about 0: pdf(-x) is pdf(x) */
    void (*destroy)(void *arg); /* called once, when the law is destroyed; NULL: nothing
                                   to do. Not called if creating the law fails */
} xb_law_functions_options;

XB_OPTIONS(law_functions);

/* `name` is the law's text: letters, digits, '_' and '-', not a built-in family's. */
XB_API xb_status xb_law_from_functions(xb_ctx *ctx, xb_law **out, const char *name,
                                       const xb_law_functions_options *functions);

/* A law file is JSON. Loading refuses unknown keys, impossible values and a wrong
 * normalisation. Saving is atomic. */
XB_API xb_status xb_law_load(xb_ctx *ctx, xb_law **out, const char *path);
XB_API xb_status xb_law_save(xb_ctx *ctx, const xb_law *law, const char *path);
/* The JSON text of the file, without provenance. Free it with xb_free(). */
XB_API xb_status xb_law_json(xb_ctx *ctx, char **out, const xb_law *law);
XB_API void xb_law_destroy(xb_law *law); /* NULL is fine */

/* The families, for help texts and loops: 0 <= i < xb_law_family_count(). */
XB_API int64_t xb_law_family_count(void);
XB_API const char *xb_law_family_name(int64_t i);
XB_API const char *xb_law_family_about(int64_t i);
XB_API int64_t xb_law_family_find(const char *name); /* -1: none */

/* "mtj:B=0.15,w=0.5"; "empirical" for a law from samples. Borrowed from the law. */
XB_API const char *xb_law_text(const xb_law *law);
XB_API const char *xb_law_family(const xb_law *law);

/* The parameters of the law, 0 <= i < xb_law_param_count(); an empirical law has
 * none. */
XB_API int64_t xb_law_param_count(const xb_law *law);
XB_API const char *xb_law_param_name(const xb_law *law, int64_t i);
XB_API double xb_law_param_value(const xb_law *law, int64_t i);
XB_API int64_t xb_law_param_find(const xb_law *law, const char *name); /* -1: none */

/* A number of the law by its name: a parameter, or one that follows from them. mtj and
 * ecram have A, C and K (the slope of the density at the edges) besides B and w, bimodal
 * has s besides m, and levels has x1, p1, s1, x2, ... NAN for a name that the law does
 * not have. */
XB_API double xb_law_number(const xb_law *law, const char *name);

/* Density, its logarithm (-INFINITY outside the support), mass below and above
 * x. Relative error <= 1e-13 (maths L1-L9 and the tests). */
XB_API double xb_law_pdf(const xb_law *law, double x);
XB_API double xb_law_log_pdf(const xb_law *law, double x);
XB_API double xb_law_cdf(const xb_law *law, double x);
XB_API double xb_law_survival(const xb_law *law, double x);

/* quantile(u): mass u below; isf(v): mass v above. NAN outside [0, 1]. */
XB_API double xb_law_quantile(const xb_law *law, double u);
XB_API double xb_law_isf(const xb_law *law, double v);

/* The distance of quantile(v) from the lower edge of the support, or of isf(v)
 * from the upper one, accurate where x itself cannot be: at v = 1e-30 of a law on
 * [-1, 1], x rounds to -1 while the distance is 1.6e-15. INFINITY where the
 * support has no edge on that side. */
XB_API double xb_law_quantile_from_edge(const xb_law *law, double v);
XB_API double xb_law_isf_from_edge(const xb_law *law, double v);

/* A frozen value. */
typedef struct xb_moments {
    double mean;
    double variance;
    double skewness;
    double excess_kurtosis;
} xb_moments;

XB_API xb_moments xb_law_moments(const xb_law *law);
XB_API double xb_law_mean(const xb_law *law);
XB_API double xb_law_sd(const xb_law *law);

/* Raw moment E[x^k], 0 <= k <= 128; NAN beyond. `student` has finite moments for k < nu
 * only; for larger k they are INFINITY if k is even and NAN if it is odd. */
XB_API double xb_law_raw_moment(const xb_law *law, int64_t k);

XB_API double xb_law_entropy(const xb_law *law); /* nats */

/* (L11) KL(law || the Gaussian of its mean and variance), nats. */
XB_API double xb_law_kl_gaussian(const xb_law *law);

/* Edges of the support; -INFINITY / INFINITY where there are none. */
XB_API double xb_law_lower(const xb_law *law);
XB_API double xb_law_upper(const xb_law *law);
XB_API bool xb_law_is_symmetric(const xb_law *law); /* about its mean */
XB_API bool xb_law_is_gaussian(const xb_law *law);  /* the standard normal: gaussian */

/* Panels: ascending points between which the density is smooth on the scale of
 * the panel, first and last at the (effective) ends of the support. Quadrature splits
 * there. Returns the number of points and writes at most `capacity` of them. For an
 * unbounded law the ends are where the mass beyond is below 1e-300. */
XB_API int64_t xb_law_panels(const xb_law *law, double *out, int64_t capacity);

/* How the law maps to the user's units: physical = offset + scale * x.
 * offset 0, scale 1, unit "" unless it came from a fit or a law file. A frozen value. */
typedef struct xb_law_place {
    double offset;
    double scale;
    char unit[32];
} xb_law_place;

XB_API xb_law_place xb_law_placement(const xb_law *law);

#ifdef __cplusplus
}
#endif
#endif
