/* empirical.c: a law from samples, as a mixture of cubic M-splines; maths
 * L20-L22. spline_fit.c makes it from samples.
 *
 * Inside, each cell between two knots holds its cubic density in Bernstein form,
 * and the masses of all cells below and above it. All coefficients are
 * non-negative, masses are sums from the nearer end, and a point in a cell is given by
 * its distance from the nearer end, so that density, both tails and both quantiles keep
 * their relative precision. Density twice continuously differentiable, support bounded,
 * density vanishing as t^3 at its ends (t^4 in mass). Weights of zero leave gaps: density
 * 0, log density -INFINITY there.
 *
 * Worst relative error (tests): pdf and tails 4e-15, down to 1e-12 of the ends of
 * the support; |cdf(quantile(u)) - u| about 1e-15. */
#include "law/empirical.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/json.h"
#include "law/mspline.h"
#include "law/solve.h"

typedef struct spline {
    int64_t cells;
    double *knot;    /* [cells + 1] */
    double *weight;  /* [cells - 3], sum one */
    double *density; /* [cells][4] Bernstein coefficients */
    double *below;   /* [cells + 1] mass below each knot, summed from the left */
    double *above;   /* [cells + 1] mass above each knot, summed from the right */
    double room[];
} spline;

static spline *spline_new(xb_ctx *ctx, int64_t cells)
{
    int64_t doubles = 3 * (cells + 1) + (cells - 3) + 4 * cells;
    int64_t head = (int64_t)(sizeof(spline) / sizeof(double));
    spline *s = xb_new(ctx, head + doubles, sizeof(double));
    if (!s) return NULL;
    s->cells = cells;
    s->knot = s->room;
    s->below = s->knot + cells + 1;
    s->above = s->below + cells + 1;
    s->density = s->above + cells + 1;
    s->weight = s->density + 4 * cells;
    return s;
}

xb_status xb_empirical_make(xb_ctx *ctx, xb_law **out, const double *knots,
                            const double *weights, int64_t n_knots)
{
    int64_t first = 0, last = n_knots - 5;
    while (first < last && weights[first] == 0) first++;
    while (last > first && weights[last] == 0) last--;
    xb_law *law = xb_new(ctx, 1, sizeof *law);
    if (!law) return XB_E_MEMORY;
    law->family = &xb_family_empirical;
    spline *s = spline_new(ctx, last - first + 4);
    law->data = s;
    if (!s) {
        xb_law_destroy(law);
        return XB_E_MEMORY;
    }
    double sum = 0;
    for (int64_t k = first; k <= last; k++) sum += weights[k];
    for (int64_t k = first; k <= last; k++) s->weight[k - first] = weights[k] / sum;
    memcpy(s->knot, knots + first, (size_t)(s->cells + 1) * sizeof *knots);
    return xb_law_finish(ctx, out, law);
}

static double cell_width(const spline *s, int64_t j)
{
    return s->knot[j + 1] - s->knot[j];
}

/* Mass of cell j within the fraction r of its width from the left end, or from
 * the right end. (L22) */
static double part_mass(const spline *s, int64_t j, double r, bool from_right)
{
    const double *b = s->density + 4 * j;
    double b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3];
    if (from_right) b0 = b[3], b1 = b[2], b2 = b[1], b3 = b[0];
    double q = 1 - r;
    double c1 = b0, c2 = b0 + b1, c3 = c2 + b2, c4 = c3 + b3;
    double sum = q * (q * (4 * q * c1 + 6 * r * c2) + 4 * r * r * c3) + r * r * r * c4;
    return 0.25 * cell_width(s, j) * r * sum;
}

static double cell_density(const spline *s, int64_t j, double left, double right)
{
    const double *b = s->density + 4 * j;
    double r = left / (left + right), q = right / (left + right);
    return q * (q * (q * b[0] + 3 * r * b[1]) + 3 * r * r * b[2]) + r * r * r * b[3];
}

static xb_status setup(xb_ctx *ctx, xb_law *law)
{
    (void)ctx;
    spline *s = law->data;
    for (int64_t j = 0; j < s->cells; j++)
        xb_mspline_bernstein(s->density + 4 * j, s->knot, s->weight, s->cells, j);
    for (int64_t j = 0; j < s->cells; j++)
        s->below[j + 1] = s->below[j] + part_mass(s, j, 1, false);
    for (int64_t j = s->cells - 1; j >= 0; j--)
        s->above[j] = s->above[j + 1] + part_mass(s, j, 1, true);
    law->lower = s->knot[0];
    law->upper = s->knot[s->cells];
    law->symmetric = false;
    return XB_OK;
}

static double pdf(const xb_law *law, double x)
{
    if (isnan(x)) return x;
    if (!(x > law->lower && x < law->upper)) return 0;
    const spline *s = law->data;
    int64_t j = xb_cell_find(s->knot, s->cells, x);
    return cell_density(s, j, x - s->knot[j], s->knot[j + 1] - x);
}

static double log_pdf(const xb_law *law, double x) { return log(pdf(law, x)); }

static double tail(const xb_law *law, double x, bool upper)
{
    if (isnan(x)) return x;
    if (x <= law->lower) return upper ? 1 : 0;
    if (x >= law->upper) return upper ? 0 : 1;
    const spline *s = law->data;
    int64_t j = xb_cell_find(s->knot, s->cells, x);
    double width = cell_width(s, j);
    double mass =
        upper ? s->above[j + 1] + part_mass(s, j, (s->knot[j + 1] - x) / width, true)
              : s->below[j] + part_mass(s, j, (x - s->knot[j]) / width, false);
    return mass < 1 ? mass : 1;
}

typedef struct spline_target {
    const spline *s;
    int64_t cell;
    double log_mass;
    bool from_right;
} spline_target;

/* log mass - log of the one wanted, as a function of log r: nearly a straight
 * line whatever power of r the mass begins with. */
static double cell_residual(const void *arg, double log_r, double *slope)
{
    const spline_target *at = arg;
    double r = exp(log_r), width = cell_width(at->s, at->cell);
    double mass = part_mass(at->s, at->cell, r, at->from_right);
    double near = width * r, far = width * (1 - r);
    double density = at->from_right ? cell_density(at->s, at->cell, far, near)
                                    : cell_density(at->s, at->cell, near, far);
    *slope = mass > 0 ? density * near / mass : INFINITY;
    return mass > 0 ? log(mass) - at->log_mass : -INFINITY;
}

/* The first cell from the left end after which the mass is v or more. */
static int64_t cell_below(const spline *s, double v)
{
    int64_t low = 0, high = s->cells - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (s->below[middle + 1] >= v)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static int64_t cell_above(const spline *s, double v)
{
    int64_t low = 0, high = s->cells - 1;
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if (s->above[middle] >= v)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static xb_tail_point tail_quantile(const xb_law *law, double v, bool upper)
{
    const double smallest = -300; /* log r: r^4 far below the smallest double */
    const spline *s = law->data;
    int64_t j = upper ? cell_above(s, v) : cell_below(s, v);
    double wanted = v - (upper ? s->above[j + 1] : s->below[j]); /* > 0 */
    double all = part_mass(s, j, 1, upper);
    double r = 1;
    if (wanted < all) {
        spline_target at = {s, j, log(wanted), upper};
        double guess = 0.25 * log(wanted / all);
        double slope;
        r = exp(xb_solve(cell_residual, &at, smallest, 0, guess));
        (void)cell_residual(&at, log(r), &slope);
        /* far out a logarithm is coarse, so one more step gives the last digits of r */
        double off = (part_mass(s, j, r, upper) - wanted) / wanted;
        if (slope > 0 && slope < INFINITY) r = fmin(1, r - r * off / slope);
    }
    double step = r * cell_width(s, j);
    if (upper)
        return (xb_tail_point){s->knot[j + 1] - step, law->upper - s->knot[j + 1] + step};
    return (xb_tail_point){s->knot[j] + step, s->knot[j] - law->lower + step};
}

static int64_t panels(const xb_law *law, double *out, int64_t capacity)
{
    const spline *s = law->data;
    int64_t n = 0;
    for (int64_t j = 0; j <= s->cells; j++)
        n = xb_panel_add(out, capacity, n, s->knot[j]);
    return n;
}

static json_t *array_of(const double *value, int64_t n)
{
    json_t *array = json_array();
    for (int64_t i = 0; i < n; i++) xb_json_add(&array, json_real(value[i]));
    return array;
}

static void write_data(const xb_law *law, json_t **root)
{
    const spline *s = law->data;
    xb_json_set(root, "knots", array_of(s->knot, s->cells + 1));
    xb_json_set(root, "weights", array_of(s->weight, s->cells - 3));
}

static xb_status read_numbers(xb_ctx *ctx, double *out, const json_t *root,
                              const char *path, const char *key, int64_t n)
{
    const json_t *array = json_object_get(root, key);
    if (!json_is_array(array) || (int64_t)json_array_size(array) != n)
        return xb_fail(ctx, XB_E_INPUT, "%s: '%s' is not a list of %lld numbers", path,
                       key, (long long)n);
    for (int64_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(array, (size_t)i);
        out[i] = json_is_number(item) ? json_number_value(item) : NAN;
        if (!isfinite(out[i]))
            return xb_fail(ctx, XB_E_INPUT, "%s: '%s' item %lld is not a finite number",
                           path, key, (long long)i + 1);
    }
    return XB_OK;
}

static xb_status check_spline(xb_ctx *ctx, const double *knot, const double *weight,
                              int64_t n_knots, const char *path)
{
    const double sum_tolerance = 1e-6; /* a file may have been rounded by hand */
    for (int64_t i = 0; i + 1 < n_knots; i++)
        if (!(knot[i + 1] > knot[i]) || !isfinite(4 / (knot[i + 1] - knot[i])))
            return xb_fail(ctx, XB_E_INPUT, "%s: 'knots' do not ascend at item %lld",
                           path, (long long)i + 2);
    if (!isfinite(knot[n_knots - 1] - knot[0]))
        return xb_fail(ctx, XB_E_INPUT, "%s: 'knots' lie too far apart", path);
    double sum = 0;
    for (int64_t k = 0; k < n_knots - 4; k++) {
        if (!(weight[k] >= 0))
            return xb_fail(ctx, XB_E_INPUT, "%s: 'weights' item %lld is negative", path,
                           (long long)k + 1);
        sum += weight[k];
    }
    if (!(fabs(sum - 1) <= sum_tolerance))
        return xb_fail(ctx, XB_E_INPUT, "%s: 'weights' sum to %.9g, expected 1", path,
                       sum);
    return XB_OK;
}

static xb_status read_data(xb_ctx *ctx, xb_law **out, const json_t *root,
                           const char *path)
{
    enum { FEWEST = 5 };
    int64_t n = (int64_t)json_array_size(json_object_get(root, "knots"));
    if (n < FEWEST || n > XB_EMPIRICAL_KNOTS_MAX)
        return xb_fail(ctx, XB_E_INPUT, "%s: 'knots' is not a list of %d to %d numbers",
                       path, FEWEST, XB_EMPIRICAL_KNOTS_MAX);
    double *knot = xb_new(ctx, 2 * n, sizeof *knot);
    if (!knot) return XB_E_MEMORY;
    double *weight = knot + n;
    xb_status status = read_numbers(ctx, knot, root, path, "knots", n);
    if (status == XB_OK) status = read_numbers(ctx, weight, root, path, "weights", n - 4);
    if (status == XB_OK) status = check_spline(ctx, knot, weight, n, path);
    if (status == XB_OK) status = xb_empirical_make(ctx, out, knot, weight, n);
    free(knot);
    return status;
}

static const char *const data_keys[] = {"knots", "weights", NULL};

const xb_family xb_family_empirical = {
    .name = "empirical",
    .about = "a smooth law of any sample: a mixture of cubic M-splines",
    .from_data = true,
    .setup = setup,
    .pdf = pdf,
    .log_pdf = log_pdf,
    .tail = tail,
    .tail_quantile = tail_quantile,
    .data_keys = data_keys,
    .write_data = write_data,
    .read_data = read_data,
    .panels = panels,
};
