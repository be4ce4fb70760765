/* composite.c: rules for expectations of functions that are not smooth, mainly q log q:
 * the paper's, the plain ones it compares with, and ours; maths Q8-Q11.
 *
 * All are Gauss or trapezoid rules for the Lebesgue measure with the density
 * multiplied into the weights, so a weight may be zero where the density is,
 * and the weights add up to 1 only as well as the rule integrates the density.
 *
 * Worst error of KL to the matched Gaussian over the golden sets: SMOOTH with
 * 256 points 3e-14, TRAPEZOID on bimodal m = 0.9 with 128 points 2e-15; the
 * paper's split rule (epsilon 0.01) 1.1e-2 with any number of points. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "law/family.h"
#include "rule/standard.h"

static const double TAIL = 1e-18; /* mass cut off where the support has no end */

void xb_composite_options_init(xb_composite_options *opt, size_t size)
{
    const xb_composite_options standard = {.epsilon = 0.01, .trapezoid_points = 2};
    xb_options_fill(opt, size, &standard, sizeof standard);
}

/* ---- pieces of a rule: a stretch of nodes and weights from `at` on */

/* Gauss-Legendre on [from, to]. */
static void put_legendre(xb_rule *rule, int64_t at, const xb_rule *legendre,
                         const xb_law *law, double from, double to)
{
    double half = 0.5 * (to - from);
    for (int64_t i = 0; i < legendre->n; i++) {
        double x = from + half * (1 + legendre->nodes[i]);
        rule->nodes[at + i] = x;
        rule->weights[at + i] = half * legendre->weights[i] * xb_law_pdf(law, x);
    }
}

/* (Q8) The same with x = edge -+ v^2, Gauss-Legendre in v. */
static void put_mapped(xb_rule *rule, int64_t at, const xb_rule *legendre,
                       const xb_law *law, double from, double to, bool upper)
{
    double length = to - from;
    for (int64_t i = 0; i < legendre->n; i++) {
        double r = 0.5 * (1 + legendre->nodes[i]);
        double v = upper ? 1 - r : r; /* of the way from the edge, in (0, 1) */
        double x = upper ? to - v * v * length : from + v * v * length;
        rule->nodes[at + i] = x;
        rule->weights[at + i] = legendre->weights[i] * v * length * xb_law_pdf(law, x);
    }
}

static void put_trapezoid(xb_rule *rule, int64_t at, int64_t points, const xb_law *law,
                          double from, double to)
{
    double step = (to - from) / (double)(points - 1);
    for (int64_t i = 0; i < points; i++) {
        double x = i + 1 < points ? from + step * (double)i : to;
        bool end = i == 0 || i + 1 == points;
        rule->nodes[at + i] = x;
        rule->weights[at + i] = (end ? 0.5 : 1) * step * xb_law_pdf(law, x);
    }
}

/* ---- the kinds */

typedef xb_status build_fn(xb_ctx *ctx, xb_rule *out, const xb_law *law, int64_t n,
                           const xb_composite_options *opt);

static xb_status split_check(xb_ctx *ctx, const xb_law *law, int64_t n,
                             const xb_composite_options *opt)
{
    double eps = opt->epsilon;
    if (!(eps > 0 && -eps > xb_law_lower(law) && eps < xb_law_upper(law)))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "epsilon is %g, expected 0 < epsilon within the support of %s",
                       eps, xb_law_text(law));
    if (opt->trapezoid_points < 2 || opt->trapezoid_points > n - 2)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%lld trapezoid points, expected 2 to %lld of %lld in all",
                       (long long)opt->trapezoid_points, (long long)n - 2, (long long)n);
    return XB_OK;
}

static xb_status paper_split(xb_ctx *ctx, xb_rule *out, const xb_law *law, int64_t n,
                             const xb_composite_options *opt) /* (Q9) */
{
    XB_TRY(split_check(ctx, law, n, opt));
    int64_t middle = opt->trapezoid_points, side = (n - middle) / 2;
    double eps = opt->epsilon;
    xb_rule legendre;
    XB_TRY(xb_rule_fill_legendre(ctx, &legendre, side));
    xb_status status = xb_rule_new(ctx, out, 2 * side + middle);
    if (status == XB_OK) {
        put_legendre(out, 0, &legendre, law, xb_law_lower(law), -eps);
        put_trapezoid(out, side, middle, law, -eps, eps);
        put_legendre(out, side + middle, &legendre, law, eps, xb_law_upper(law));
    }
    xb_rule_free(&legendre);
    return status;
}

static xb_status paper_laguerre(xb_ctx *ctx, xb_rule *out, const xb_law *law, int64_t n,
                                const xb_composite_options *opt) /* (Q10) */
{
    (void)opt;
    int64_t side = n / 2;
    xb_rule laguerre;
    XB_TRY(xb_standard_log_rule(ctx, &laguerre, XB_STANDARD_LAGUERRE, side));
    xb_status status = xb_rule_new(ctx, out, 2 * side);
    for (int64_t i = 0; status == XB_OK && i < side; i++) {
        double x = laguerre.nodes[i], log_w = laguerre.weights[i] + x;
        out->nodes[side - 1 - i] = -x;
        out->nodes[side + i] = x;
        out->weights[side - 1 - i] = exp(log_w + xb_law_log_pdf(law, -x));
        out->weights[side + i] = exp(log_w + xb_law_log_pdf(law, x));
    }
    xb_rule_free(&laguerre);
    return status;
}

static xb_status plain_legendre(xb_ctx *ctx, xb_rule *out, const xb_law *law, int64_t n,
                                const xb_composite_options *opt)
{
    (void)opt;
    xb_rule legendre;
    XB_TRY(xb_rule_fill_legendre(ctx, &legendre, n));
    xb_status status = xb_rule_new(ctx, out, n);
    if (status == XB_OK)
        put_legendre(out, 0, &legendre, law, xb_law_lower(law), xb_law_upper(law));
    xb_rule_free(&legendre);
    return status;
}

static xb_status plain_hermite(xb_ctx *ctx, xb_rule *out, const xb_law *law, int64_t n,
                               const xb_composite_options *opt)
{
    (void)opt;
    XB_TRY(xb_standard_log_rule(ctx, out, XB_STANDARD_HERMITE, n));
    for (int64_t i = 0; i < n; i++) {
        double x = out->nodes[i], log_normal = -0.5 * x * x - 0.5 * log(2 * M_PI);
        out->weights[i] = exp(out->weights[i] - log_normal + xb_law_log_pdf(law, x));
    }
    return XB_OK;
}

static xb_status modes(xb_ctx *ctx, xb_rule *out, const xb_law *law, int64_t n,
                       const xb_composite_options *opt) /* (Q11) */
{
    (void)opt;
    if (!law->family->modes)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "a rule around each mode needs a law that states its modes, as "
                       "bimodal does: %s does not",
                       xb_law_text(law));
    xb_law_mode mode[XB_LAW_MODES];
    int count = law->family->modes(law, mode);
    int64_t next[XB_LAW_MODES] = {0};
    xb_rule hermite;
    XB_TRY(xb_rule_fill_hermite(ctx, &hermite, n > count ? n / count : 1));
    xb_status status = xb_rule_new(ctx, out, count * hermite.n);
    for (int64_t i = 0; status == XB_OK && i < out->n; i++) { /* merge */
        int first = 0;
        double least = INFINITY;
        for (int k = 0; k < count; k++) {
            double x = next[k] < hermite.n
                           ? mode[k].mean + mode[k].sd * hermite.nodes[next[k]]
                           : INFINITY;
            if (x < least) least = x, first = k;
        }
        out->nodes[i] = least;
        out->weights[i] = mode[first].weight * hermite.weights[next[first]++];
    }
    xb_rule_free(&hermite);
    return status;
}

static xb_status trapezoid(xb_ctx *ctx, xb_rule *out, const xb_law *law, int64_t n,
                           const xb_composite_options *opt) /* (Q11) */
{
    (void)opt;
    double from = xb_law_lower(law), to = xb_law_upper(law);
    if (!isfinite(from)) from = xb_law_quantile(law, TAIL);
    if (!isfinite(to)) to = xb_law_isf(law, TAIL);
    XB_TRY(xb_rule_new(ctx, out, n));
    put_trapezoid(out, 0, n, law, from, to);
    return XB_OK;
}

/* ---- SMOOTH (Q8) */

/* The law's panels, without those beyond the mass TAIL where the support has no
 * end; at least two. */
static xb_status smooth_edges(xb_ctx *ctx, double **out, int64_t *count,
                              const xb_law *law)
{
    int64_t n = xb_law_panels(law, NULL, 0), first = 0;
    double *edge = xb_new(ctx, n + 1, sizeof *edge);
    if (!edge) return XB_E_MEMORY;
    xb_law_panels(law, edge, n);
    if (n == 2) { /* one panel cannot be mapped at both ends */
        edge[2] = edge[1];
        edge[1] = 0.5 * (edge[0] + edge[2]);
        n = 3;
    }
    while (n > 3 && xb_law_survival(law, edge[n - 2]) < TAIL) n--;
    while (n - first > 3 && xb_law_cdf(law, edge[first + 1]) < TAIL) first++;
    memmove(edge, edge + first, (size_t)(n - first) * sizeof *edge);
    *out = edge;
    *count = n - first;
    return XB_OK;
}

static void put_panels(xb_rule *rule, const xb_rule *legendre, const xb_law *law,
                       const double *edge, int64_t panels)
{
    for (int64_t j = 0; j < panels; j++) {
        int64_t at = j * legendre->n;
        if (edge[j] == xb_law_lower(law))
            put_mapped(rule, at, legendre, law, edge[j], edge[j + 1], false);
        else if (edge[j + 1] == xb_law_upper(law))
            put_mapped(rule, at, legendre, law, edge[j], edge[j + 1], true);
        else
            put_legendre(rule, at, legendre, law, edge[j], edge[j + 1]);
    }
}

static xb_status smooth(xb_ctx *ctx, xb_rule *out, const xb_law *law, int64_t n,
                        const xb_composite_options *opt)
{
    (void)opt;
    double *edge = NULL;
    int64_t edges = 0;
    XB_TRY(smooth_edges(ctx, &edge, &edges, law));
    int64_t panels = edges - 1, points = n > panels ? n / panels : 1;
    xb_rule legendre = {0, NULL, NULL};
    xb_status status = xb_rule_fill_legendre(ctx, &legendre, points);
    if (status == XB_OK) status = xb_rule_new(ctx, out, panels * points);
    if (status == XB_OK) put_panels(out, &legendre, law, edge, panels);
    xb_rule_free(&legendre);
    free(edge);
    return status;
}

/* ---- the table */

typedef enum support_kind { ANY, BOUNDED, LINE } support_kind;

static const struct {
    const char *name;
    build_fn *build;
    support_kind support;
    int64_t least;
} kinds[] = {
    [XB_COMPOSITE_SPLIT] = {"paper's split", paper_split, BOUNDED, 4},
    [XB_COMPOSITE_LAGUERRE] = {"two-sided Laguerre", paper_laguerre, LINE, 2},
    [XB_COMPOSITE_LEGENDRE] = {"Legendre", plain_legendre, BOUNDED, 1},
    [XB_COMPOSITE_HERMITE] = {"Hermite", plain_hermite, LINE, 1},
    [XB_COMPOSITE_MODES] = {"Hermite-by-mode", modes, LINE, 2},
    [XB_COMPOSITE_TRAPEZOID] = {"trapezoid", trapezoid, ANY, 2},
    [XB_COMPOSITE_SMOOTH] = {"smooth", smooth, ANY, 1},
};

static xb_status check_support(xb_ctx *ctx, const xb_law *law, xb_composite kind)
{
    bool bounded = isfinite(xb_law_lower(law)) && isfinite(xb_law_upper(law));
    bool line = isinf(xb_law_lower(law)) && isinf(xb_law_upper(law));
    support_kind need = kinds[kind].support;
    if (need == ANY || (need == BOUNDED ? bounded : line)) return XB_OK;
    return xb_fail(ctx, XB_E_ARGUMENT, "a %s rule is for laws on %s, not %s",
                   kinds[kind].name, need == BOUNDED ? "an interval" : "the real line",
                   xb_law_text(law));
}

xb_status xb_rule_fill_composite(xb_ctx *ctx, xb_rule *out, const xb_law *law, int64_t n,
                                 xb_composite kind, const xb_composite_options *opt)
{
    xb_composite_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, composite, &chosen, opt, trapezoid_points));
    if ((int)kind < 0 || (int)kind >= XB_COUNT(kinds))
        return xb_fail(ctx, XB_E_ARGUMENT, "unknown composite rule %d", (int)kind);
    XB_TRY(xb_rule_check_count(ctx, kinds[kind].name, n, kinds[kind].least));
    XB_TRY(check_support(ctx, law, kind));
    xb_rule rule = {0, NULL, NULL};
    XB_TRY(kinds[kind].build(ctx, &rule, law, n, &chosen));
    *out = rule;
    return XB_OK;
}
