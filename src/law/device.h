/* device.h: what `mtj` and `ecram` share: the mixture on [-1, 1]
 *     q = w q1 + (1 - w) 3/4 (1 - x^2)                               (L1)
 * of a peak q1 that vanishes at the edges and a parabola. A family gives its peak as
 * functions of |x| and of t = 1 - |x|, the distance from the nearer edge, each used where
 * it is accurate. */
#ifndef XB_LAW_DEVICE_H
#define XB_LAW_DEVICE_H

#include "law/family.h"

typedef struct xb_device_peak {
    bool square; /* the peak falls with x^2, not with |x| */
    double (*density)(const xb_law *law, double ax, double t);     /* q1 */
    double (*log_density)(const xb_law *law, double ax, double t); /* log q1 */
    double (*edge_mass)(const xb_law *law, double ax, double t);   /* mass within t */
    double (*normaliser)(const xb_law *law);                       /* Z1 */
    double (*edge_slope)(const xb_law *law);                       /* q1'(-1) */
    double (*length)(double b);                                    /* width of the peak */
} xb_device_peak;

/* The positions of a device law's constants in law->k[]. */
enum {
    XB_DEVICE_NORM,  /* half the peak's integral, in the family's own scaling */
    XB_DEVICE_A,     /* w / Z1 */
    XB_DEVICE_C,     /* 3/4 (1 - w) */
    XB_DEVICE_SLOPE, /* K = q'(-1), (L6) */
};

enum { XB_DEVICE_B, XB_DEVICE_W }; /* order of the parameters */

/* The family's functions; they find the peak in law->family->peak. */
xb_status xb_device_setup(xb_law *law);
double xb_device_pdf(const xb_law *law, double x);
double xb_device_log_pdf(const xb_law *law, double x);
double xb_device_tail(const xb_law *law, double x, bool upper);
xb_tail_point xb_device_tail_quantile(const xb_law *law, double v, bool upper);
int64_t xb_device_panels(const xb_law *law, double *out, int64_t capacity);
double xb_device_named(const xb_law *law, const char *name);

/* The paper's (A, B, C) form: w from C, and whether A agrees (L2). `what` begins
 * the message: a file or a law's text. */
xb_status xb_device_w_from_ac(xb_ctx *ctx, double *w, const char *what, double a,
                              double c);
xb_status xb_device_check_a(xb_ctx *ctx, const xb_law *law, const char *what, double a);

#endif
