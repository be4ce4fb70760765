/* family.h: the inside of a law, and the table row that each family fills.
 *
 * A new family is one file that defines an `xb_family` and one row in the table
 * of families.c. Functions take x anywhere on the real line and v in (0, 1/2]. */
#ifndef XB_LAW_FAMILY_H
#define XB_LAW_FAMILY_H

#include <stdatomic.h>

#include <jansson.h>

#include "base/ctx.h"
#include "crossbayes/law.h"

enum { XB_LAW_PARAMS = 2, XB_LAW_CONSTANTS = 8, XB_LAW_TEXT = 480 };
enum { XB_LAW_TEXT_DIGITS = 10 }; /* of a parameter in the text */
enum { XB_LAW_MODES = 8, XB_LAW_STARTS = 4 };

/* The variable that represents a parameter when all are fitted at once. */
typedef enum xb_fit_by { XB_FIT_ITSELF, XB_FIT_LOG, XB_FIT_RECIPROCAL } xb_fit_by;

typedef struct xb_param_info {
    const char *name;
    double standard; /* the value when left out */
    double min, max; /* inclusive */
} xb_param_info;

/* A quantile and its distance from the edge of the support on its side. */
typedef struct xb_tail_point {
    double x;
    double from_edge; /* INFINITY where there is no edge */
} xb_tail_point;

/* One Gaussian part of a law. */
typedef struct xb_law_mode {
    double weight, mean, sd;
} xb_law_mode;

/* The log density at x and its derivatives with respect to the fitted variables v and to
 * x. */
typedef struct xb_log_jet {
    double value, x, xx;
    double v[XB_LAW_PARAMS], vx[XB_LAW_PARAMS], vv[XB_LAW_PARAMS][XB_LAW_PARAMS];
} xb_log_jet;

typedef struct xb_family {
    const char *name;
    const char *about;
    int n_param;
    xb_param_info param[XB_LAW_PARAMS];
    bool from_data; /* cannot be made from parameters alone */
    bool no_file;   /* cannot be written to a file either */
    double noise; /* error of its masses beyond rounding, which no stage can improve on */

    /* Properties for which a stage knows a closed form or a better method. A family
     * without any is fitted, integrated and drawn by its density, tails and quantile
     * alone. */
    bool normal; /* the standard normal itself: fits, characteristic function, noise on
                    a layer's outputs */
    const struct xb_device_peak *peak; /* a peak and a parabola on [-1, 1]: device.h */
    bool two_sided; /* exp(-|x|) / 2 itself: fits by median, rules by Laguerre */
    bool levels;    /* any number of Gaussian levels: fits */
    /* a mixture of Gaussians, ascending by mean: rules about each; returns how many */
    int (*modes)(const xb_law *law, xb_law_mode *out);
    /* of the monic polynomials orthogonal under the law, beta[0] = 1 */
    void (*recurrence)(const xb_law *law, double *alpha, double *beta, int64_t n);
    /* the most points a Gauss rule may have, where moments end; NULL: any number */
    int64_t (*rule_most)(const xb_law *law);
    /* x as a smooth function of a standard normal number: rules by equal steps of it */
    double (*from_normal)(const xb_law *law, double y);
    /* fits of all parameters, scale and offset by Newton's method from these starts */
    void (*jet)(xb_log_jet *out, const double *v, const double *x, int64_t n);
    xb_fit_by fit_by[XB_LAW_PARAMS];
    int n_starts;
    double start[XB_LAW_STARTS][XB_LAW_PARAMS];

    /* Constants from param[]; sets lower, upper, symmetric. */
    xb_status (*setup)(xb_ctx *ctx, xb_law *law);
    void (*release)(xb_law *law); /* NULL: nothing to free but `data` */

    double (*pdf)(const xb_law *law, double x);
    double (*log_pdf)(const xb_law *law, double x);
    double (*tail)(const xb_law *law, double x, bool upper); /* mass below/above x */
    xb_tail_point (*tail_quantile)(const xb_law *law, double v, bool upper);

    /* Optional (NULL: by quadrature on the panels). */
    double (*raw_moment)(const xb_law *law, int k);
    void (*moments)(const xb_law *law, xb_moments *out);
    double (*entropy)(const xb_law *law);
    double (*named)(const xb_law *law, const char *name); /* derived parameters */

    /* Families with data beside parameters: to and from a law file, under these keys.
     * `read_data` makes the whole law. */
    const char *const *data_keys; /* NULL-terminated */
    void (*write_data)(const xb_law *law, json_t **root);
    xb_status (*read_data)(xb_ctx *ctx, xb_law **out, const json_t *root,
                           const char *path);
    /* For families that users can also write as text: from a list of values, from the
     * text after the colon, and back to text. */
    xb_status (*create)(xb_ctx *ctx, xb_law **out, const double *values, int count);
    xb_status (*read_text)(xb_ctx *ctx, xb_law **out, const char *text,
                           const char *settings);
    void (*write_text)(const xb_law *law, char *out, size_t size);

    int64_t (*panels)(const xb_law *law, double *out, int64_t capacity);
} xb_family;

/* What is known about the trace that a law was fitted to, so that users of the law can be
 * warned. */
typedef struct xb_law_trace {
    bool known;
    double independent; /* samples that it is worth */
    double memory;      /* its correlation time, samples */
    char usable[32];    /* the verdict on draws; "": none */
} xb_law_trace;

struct xb_law {
    atomic_int extra_owners; /* beside the first; see xb_law_share() */
    const xb_family *family;
    double param[XB_LAW_PARAMS];
    double k[XB_LAW_CONSTANTS]; /* the family's own constants */
    void *data;                 /* empirical: its spline */
    double lower, upper;
    bool symmetric;
    xb_moments moments;
    double sd;
    double entropy;
    xb_law_place place;
    xb_law_trace trace;
    char text[XB_LAW_TEXT];
};

extern const xb_family xb_family_gaussian;
extern const xb_family xb_family_mtj;
extern const xb_family xb_family_ecram;
extern const xb_family xb_family_bimodal;
extern const xb_family xb_family_laplace;
extern const xb_family xb_family_student;
extern const xb_family xb_family_sinh_arcsinh;
extern const xb_family xb_family_levels;
extern const xb_family xb_family_empirical;

extern const xb_family *const xb_families[];
extern const int xb_families_count;

const xb_family *xb_family_find(const char *name); /* NULL: no such family */

/* The last step, shared by all functions that make a law: takes family, param and data as
 * they are in `law` (which must come from xb_new), runs setup, fills moments,
 * entropy and text. Destroys `law` on failure. */
xb_status xb_law_finish(xb_ctx *ctx, xb_law **out, xb_law *law);

/* Adds an owner of the same law, which lives until every owner has destroyed it. */
xb_law *xb_law_share(const xb_law *law);

void xb_law_set_place(xb_law *law, double offset, double scale, const char *unit);

/* Inserts a point into the panels if there is room; returns the new count. */
int64_t xb_panel_add(double *out, int64_t capacity, int64_t count, double x);

#endif
