/* goodness.c: Kolmogorov-Smirnov and Anderson-Darling for fitted laws; maths
 * F7, F10.
 *
 * The distribution function is evaluated at a few values and interpolated between by
 * Hermite cubics: a range of the sorted values is halved until its cubic is accurate, in
 * value and slope, at its middle value (then the cubics of its halves are used, accurate
 * to 2e-11 of the smaller tail); below 32 values the function is evaluated directly.
 * Anderson-Darling's logarithms are taken of products (fit_kernels_body.h). 1e5 values of
 * mtj: 700 evaluations, 0.2 ms. */
#include "fit/goodness.h"

#include <math.h>
#include <string.h>

#include "fit/device_likelihood.h"
#include "fit/fit_kernels.h"
#include "law/gaussian_levels.h"

enum { DIRECT = 32, LEAST_STRETCHES = 64 };

typedef struct placed {
    const xb_law *law;
    double offset, scale;
} placed;

static placed place_of(const xb_law *law)
{
    return (placed){law, law->place.offset, law->place.scale};
}

static double cdf_at(const placed *p, double x)
{
    return xb_law_cdf(p->law, (x - p->offset) / p->scale);
}

typedef struct scan {
    placed p;
    const double *x;
    int64_t n;
    const xb_fit_kernels *kernels;
    xb_misfit found;
} scan;

/* The distribution function and its slope at a value. */
typedef struct knot {
    int64_t i;
    double u, slope;
} knot;

static knot knot_at(const scan *s, int64_t i)
{
    double slope = xb_law_pdf(s->p.law, (s->x[i] - s->p.offset) / s->p.scale);
    return (knot){i, cdf_at(&s->p, s->x[i]), slope / s->p.scale};
}

/* (F10) Adds the part of one value. */
static void add_value(scan *s, int64_t i, double u)
{
    const double least = 1e-16; /* the law gives such a value probability 0 */
    double off = u - (double)i / (double)s->n;
    s->found.least = fmin(s->found.least, off);
    s->found.largest = fmax(s->found.largest, off);
    s->found.sum += (double)(2 * i + 1) * log(fmax(u, least)) +
                    (double)(2 * (s->n - i) - 1) * log(fmax(1 - u, least));
}

static void add_values(scan *s, const knot *from, int64_t to)
{
    double u = from->u;
    for (int64_t i = from->i; i < to; i++) {
        if (i > from->i && s->x[i] > s->x[i - 1]) u = cdf_at(&s->p, s->x[i]);
        add_value(s, i, u);
    }
}

/* The cubic with the knots' values and slopes. */
static xb_cubic hermite(const scan *s, const knot *a, const knot *b)
{
    double width = s->x[b->i] - s->x[a->i], rise = b->u - a->u;
    double s0 = a->slope * width, s1 = b->slope * width;
    return (xb_cubic){
        s->x[a->i], 1 / width, {a->u, s0, 3 * rise - 2 * s0 - s1, s0 + s1 - 2 * rise}};
}

static double cubic_at(const xb_cubic *h, double x)
{
    double r = (x - h->x0) * h->inverse;
    return h->c[0] + r * (h->c[1] + r * (h->c[2] + r * h->c[3]));
}

/* Whether the cubic is accurate at the middle knot, and no value is far from the knots.
 * The cubics of the halves are then 16 times as accurate. */
static bool good_enough(const scan *s, const knot *a, const knot *m, const knot *b)
{
    const double tolerance = 16 * 2e-11, of_slope = 8, factor = 1.9;
    double nearer = m->u < 0.5 ? m->u : 1 - m->u;
    xb_cubic h = hermite(s, a, b);
    double r = (s->x[m->i] - h.x0) * h.inverse;
    double slope = h.c[1] + r * (2 * h.c[2] + r * 3 * h.c[3]);
    return s->x[a->i] < s->x[m->i] && s->x[m->i] < s->x[b->i] && isfinite(h.inverse) &&
           fabs(cubic_at(&h, s->x[m->i]) - m->u) <= tolerance * nearer &&
           fabs(slope - m->slope / h.inverse) <= of_slope * tolerance * nearer &&
           b->u < factor * a->u && 1 - a->u < factor * (1 - b->u);
}

/* Adds the values from a up to b, without b, by the cubic. */
static void add_by_cubic(scan *s, const knot *a, const knot *b)
{
    xb_cubic cubic = hermite(s, a, b);
    int64_t size = b->i - a->i, whole = size - size % XB_MISFIT_UNIT;
    s->kernels->misfit(&s->found, &cubic, s->x + a->i, whole, a->i, s->n);
    for (int64_t i = a->i + whole; i < b->i; i++)
        add_value(s, i, cubic_at(&cubic, s->x[i]));
}

/* Adds the values from a up to b, without b. */
static void add_stretch(scan *s, const knot *a, const knot *b)
{
    int64_t size = b->i - a->i;
    if (size < DIRECT) {
        add_values(s, a, b->i);
        return;
    }
    knot middle = knot_at(s, a->i + size / 2);
    bool good = size <= s->n / LEAST_STRETCHES && good_enough(s, a, &middle, b);
    void (*add)(scan *, const knot *, const knot *) = good ? add_by_cubic : add_stretch;
    add(s, a, &middle);
    add(s, &middle, b);
}

void xb_goodness_statistics(xb_goodness *out, const xb_law *law, const double *sorted,
                            int64_t n)
{
    scan s = {place_of(law), sorted, n, xb_fit_kernels_best(), {INFINITY, -INFINITY, 0}};
    knot first = knot_at(&s, 0), last = knot_at(&s, n - 1);
    if (n > 1) add_stretch(&s, &first, &last);
    add_value(&s, n - 1, last.u);
    double count = (double)n;
    out->ks = fmax(s.found.largest, 1 / count - s.found.least);
    out->ad = fmax(0, -count - s.found.sum / count);
}

static bool fitted(const xb_fit_family *fit, const char *name)
{
    for (int i = 0; i < fit->n_named; i++)
        if (strcmp(fit->name[i], name) == 0) return isfinite(fit->std_error[i]);
    return false;
}

enum { NODES = XB_NULL_NODES };

/* The score of the law's own parameter i, by central differences. */
static xb_status own_score(xb_ctx *ctx, double *score, const xb_law *law, int i,
                           const double *x)
{
    const double relative = 1e-4;
    const xb_param_info *info = &law->family->param[i];
    double at = law->param[i], step = relative * at;
    if (at + step > info->max) step = info->max - at;
    double value[XB_LAW_PARAMS];
    xb_law *up = NULL, *down = NULL;
    memcpy(value, law->param, sizeof value);
    value[i] = at + step;
    XB_TRY(xb_law_create(ctx, &up, law->family->name, value, law->family->n_param));
    value[i] = at - step;
    xb_status status =
        xb_law_create(ctx, &down, law->family->name, value, law->family->n_param);
    for (int j = 0; j < NODES && status == XB_OK; j++)
        score[j] = (xb_law_log_pdf(up, x[j]) - xb_law_log_pdf(down, x[j])) / (2 * step);
    xb_law_destroy(up);
    xb_law_destroy(down);
    return status;
}

/* The scores of the log scale, and of the offset in units of the scale. */
static void scale_score(double *score, const xb_law *law, const double *x)
{
    const double step = 1e-5;
    for (int j = 0; j < NODES; j++)
        score[j] = (xb_law_log_pdf(law, x[j] * (1 - step)) -
                    xb_law_log_pdf(law, x[j] * (1 + step))) /
                       (2 * step) -
                   1;
}

static void offset_score(double *score, const xb_law *law, const double *x)
{
    double step = 1e-5 * law->sd;
    for (int j = 0; j < NODES; j++)
        score[j] = (xb_law_log_pdf(law, x[j] - step) - xb_law_log_pdf(law, x[j] + step)) /
                   (2 * step);
}

/* The scores of a family that can compute them, for the variables that it is fitted in.
 */
static void add_jets(xb_null_model *out, const xb_law *law, const xb_fit_family *fit,
                     const double *x)
{
    const xb_family *f = law->family;
    xb_log_jet jet[NODES];
    double v[XB_LAW_PARAMS], score[NODES];
    for (int i = 0; i < f->n_param; i++)
        v[i] = f->fit_by[i] == XB_FIT_LOG          ? log(law->param[i])
               : f->fit_by[i] == XB_FIT_RECIPROCAL ? 1 / law->param[i]
                                                   : law->param[i];
    f->jet(jet, v, x, NODES);
    for (int i = 0; i < f->n_param; i++) {
        if (!fitted(fit, f->param[i].name)) continue;
        for (int j = 0; j < NODES; j++) score[j] = jet[j].v[i];
        xb_null_model_add(out, score);
    }
}

/* The scores of the position, width and weight of every level; one of them is redundant.
 */
static void add_levels(xb_null_model *out, const xb_law *law, const xb_fit_family *fit,
                       const double *x)
{
    xb_law_mode mode[XB_LAW_MODES];
    int count = law->family->modes(law, mode);
    bool common = fit->n_param == 2 * count;
    double score[3][NODES], widths[NODES] = {0}, one[3];
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < NODES; j++) {
            xb_levels_scores(one, law, i, x[j]);
            for (int k = 0; k < 3; k++) score[k][j] = one[k];
            widths[j] += one[1];
        }
        xb_null_model_add(out, score[0]);
        if (!common) xb_null_model_add(out, score[1]);
        xb_null_model_add(out, score[2]);
    }
    if (common) xb_null_model_add(out, widths);
}

/* For families with every parameter fitted by maximum likelihood. */
static xb_status add_normal(xb_ctx *ctx, xb_null_model *out, const xb_law *law,
                            const xb_fit_family *fit, const double *x)
{
    double score[NODES];
    if (law->family->jet) add_jets(out, law, fit, x);
    for (int i = 0; i < law->family->n_param && !law->family->jet; i++) {
        if (!fitted(fit, law->family->param[i].name)) continue;
        XB_TRY(own_score(ctx, score, law, i, x));
        xb_null_model_add(out, score);
    }
    if (fitted(fit, "scale")) {
        scale_score(score, law, x);
        xb_null_model_add(out, score);
    }
    if (fitted(fit, "offset")) {
        offset_score(score, law, x);
        xb_null_model_add(out, score);
    }
    return XB_OK;
}

/* For the device families, whose offset is the sample's mean instead of its maximum
 * likelihood. */
static void add_device(xb_null_model *out, const xb_law *law, const xb_fit_family *fit,
                       const double *x)
{
    static const char *const name[XB_DEVICE_SCORES] = {"B", "w", "scale", "offset"};
    double score[XB_DEVICE_SCORES][NODES];
    double *at[XB_DEVICE_SCORES] = {score[0], score[1], score[2], score[3]};
    xb_device_scores(at, law, x, NODES);
    for (int i = 0; i < XB_SCORE_OFFSET; i++)
        if (fitted(fit, name[i])) xb_null_model_add(out, score[i]);
    if (fitted(fit, name[XB_SCORE_OFFSET]))
        xb_null_model_add_other(out, score[XB_SCORE_OFFSET], x);
}

xb_status xb_goodness_model(xb_ctx *ctx, xb_null_model *out, const xb_law *law,
                            const xb_fit_family *fit)
{
    double x[NODES];
    xb_null_model_start(out);
    if (!fit || law->family->from_data) return XB_OK;
    for (int j = 0; j < NODES; j++) {
        bool mirrored = law->symmetric && 2 * j >= NODES;
        x[j] = mirrored ? -x[NODES - 1 - j] : xb_law_quantile(law, out->nodes.u[j]);
    }
    if (law->family->levels) {
        add_levels(out, law, fit, x);
        return XB_OK;
    }
    if (!law->family->peak) return add_normal(ctx, out, law, fit, x);
    add_device(out, law, fit, x);
    return XB_OK;
}

xb_status xb_goodness_p(xb_ctx *ctx, xb_goodness *g, const xb_null_model *model, double n,
                        double n_effective, uint64_t seed)
{
    XB_TRY(xb_null_ks_p(ctx, &g->ks_p, model, g->ks * sqrt(n_effective), seed));
    return xb_null_ad_p(ctx, &g->ad_p, model, g->ad * n_effective / n);
}
