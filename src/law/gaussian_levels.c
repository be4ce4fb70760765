/* gaussian_levels.c: a mixture of up to eight Gaussian levels; maths L31. The law of
 * telegraph noise: a cell that jumps between levels, each with a Gaussian width of its
 * own or one in common. `bimodal` is its symmetric case.
 *
 *     levels:x=-1/0.5,p=0.3/0.7,s=0.1
 *
 * Densities and masses are sums of positive terms, so nothing cancels. A quantile lies
 * between the least and the largest of the levels' own: Newton's method on the log mass
 * in that bracket. If levels are far apart, the mass is flat between them, and any x
 * there has the requested mass to rounding. */
#include "law/gaussian_levels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/json.h"
#include "data/number.h"
#include "data/settings.h"
#include "law/normal.h"
#include "law/solve.h"

enum { MOST = XB_LAW_MODES };

typedef struct levels {
    int n;
    bool common;          /* one width for all */
    xb_law_mode at[MOST]; /* ascending */
} levels;

static const levels *levels_of(const xb_law *law) { return law->data; }

static bool is_symmetric(const levels *l)
{
    for (int i = 0; i < l->n; i++) {
        const xb_law_mode *a = &l->at[i], *b = &l->at[l->n - 1 - i];
        if (a->mean != -b->mean || a->weight != b->weight || a->sd != b->sd) return false;
    }
    return true;
}

static xb_status setup(xb_ctx *ctx, xb_law *law)
{
    (void)ctx;
    law->lower = -INFINITY;
    law->upper = INFINITY;
    law->symmetric = is_symmetric(levels_of(law));
    return XB_OK;
}

static double pdf(const xb_law *law, double x)
{
    const levels *l = levels_of(law);
    double sum = 0;
    for (int i = 0; i < l->n; i++) {
        const xb_law_mode *m = &l->at[i];
        sum += m->weight * xb_normal_pdf((x - m->mean) / m->sd) / m->sd; /* (L31) */
    }
    return sum;
}

/* log(weight times density) of one level. */
static double log_part(const xb_law_mode *m, double x)
{
    return log(m->weight / m->sd) + xb_normal_log_pdf((x - m->mean) / m->sd);
}

static double log_pdf(const xb_law *law, double x)
{
    const levels *l = levels_of(law);
    double part[MOST], largest = -INFINITY, sum = 0;
    for (int i = 0; i < l->n; i++)
        largest = fmax(largest, part[i] = log_part(&l->at[i], x));
    if (!isfinite(largest)) return isnan(x) ? x : largest;
    for (int i = 0; i < l->n; i++) sum += exp(part[i] - largest);
    return largest + log(sum);
}

void xb_levels_scores(double score[3], const xb_law *law, int i, double x)
{
    const xb_law_mode *m = &levels_of(law)->at[i];
    double y = (x - m->mean) / m->sd, share = exp(log_part(m, x) - log_pdf(law, x));
    score[0] = share * y / m->sd;
    score[1] = share * (y * y - 1) / m->sd;
    score[2] = share / m->weight;
}

/* Mass below sign * t of the levels at sign * mean. */
static double mass_below(const levels *l, double sign, double t)
{
    double sum = 0;
    for (int i = 0; i < l->n; i++) {
        const xb_law_mode *m = &l->at[i];
        sum += m->weight * xb_normal_cdf((t - sign * m->mean) / m->sd);
    }
    return sum;
}

static double tail(const xb_law *law, double x, bool upper)
{
    return upper ? mass_below(levels_of(law), -1, -x) : mass_below(levels_of(law), 1, x);
}

typedef struct levels_target {
    const xb_law *law;
    double sign, log_v;
} levels_target;

static double residual(const void *arg, double t, double *slope)
{
    const levels_target *at = arg;
    double mass = mass_below(levels_of(at->law), at->sign, t);
    *slope = mass > 0 ? pdf(at->law, at->sign * t) / mass : INFINITY;
    return mass > 0 ? log(mass) - at->log_v : -INFINITY;
}

/* The standard normal's at any 0 < u < 1. */
static double normal_at(double u)
{
    return u <= 0.5 ? xb_normal_tail_quantile(u) : -xb_normal_tail_quantile(1 - u);
}

static xb_tail_point tail_quantile(const xb_law *law, double v, bool upper)
{
    const levels *l = levels_of(law);
    if (law->symmetric && v == 0.5) return (xb_tail_point){0, INFINITY};
    levels_target at = {law, upper ? -1 : 1, log(v)};
    double z = xb_normal_tail_quantile(v), low = INFINITY, high = -INFINITY,
           alone = INFINITY;
    for (int i = 0; i < l->n; i++) {
        const xb_law_mode *m = &l->at[i];
        double mean = at.sign * m->mean, one = mean + m->sd * z;
        low = fmin(low, one);
        high = fmax(high, one);
        /* where this level alone has the mass: no further than that */
        if (v < m->weight) alone = fmin(alone, mean + m->sd * normal_at(v / m->weight));
    }
    double room = 1e-14 * (fabs(low) + fabs(high)); /* the bounds are rounded */
    double x =
        xb_solve(residual, &at, low - room, fmin(high, alone) + room, fmin(high, alone));
    return (xb_tail_point){at.sign * x, INFINITY};
}

/* (L31) E x^k of each level by M_k = m M_{k-1} + (k - 1) s^2 M_{k-2}. */
static double raw_moment(const xb_law *law, int k)
{
    const levels *l = levels_of(law);
    double sum = 0;
    if (law->symmetric && k % 2) return 0;
    for (int i = 0; i < l->n; i++) {
        double m = l->at[i].mean, s = l->at[i].sd, older = 0, moment = 1;
        for (int j = 1; j <= k; j++) {
            double next = m * moment + (j - 1) * s * s * older;
            older = moment;
            moment = next;
        }
        sum += l->at[i].weight * moment;
    }
    return sum;
}

static void moments(const xb_law *law, xb_moments *out)
{
    const levels *l = levels_of(law);
    double mean = law->symmetric ? 0 : raw_moment(law, 1), c2 = 0, c3 = 0, c4 = 0;
    for (int i = 0; i < l->n; i++) {
        double d = l->at[i].mean - mean, s2 = l->at[i].sd * l->at[i].sd, dd = d * d;
        c2 += l->at[i].weight * (dd + s2);
        c3 += l->at[i].weight * d * (dd + 3 * s2);
        c4 += l->at[i].weight * (dd * dd + 6 * dd * s2 + 3 * s2 * s2);
    }
    *out = (xb_moments){mean, c2, law->symmetric ? 0 : c3 / (c2 * sqrt(c2)),
                        c4 / (c2 * c2) - 3};
}

static double named(const xb_law *law, const char *name)
{
    const levels *l = levels_of(law);
    int i = name[0] && name[1] >= '1' && name[1] <= '9' && !name[2] ? name[1] - '1' : -1;
    if (i < 0 || i >= l->n) return NAN;
    return name[0] == 'x'   ? l->at[i].mean
           : name[0] == 'p' ? l->at[i].weight
           : name[0] == 's' ? l->at[i].sd
                            : NAN;
}

static int modes(const xb_law *law, xb_law_mode *out)
{
    const levels *l = levels_of(law);
    memcpy(out, l->at, (size_t)l->n * sizeof *out);
    return l->n;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Steps of two widths about every level, all of them in order. */
static int64_t panels(const xb_law *law, double *out, int64_t capacity)
{
    enum { SIDE = 19 };
    const levels *l = levels_of(law);
    double edge[MOST * (2 * SIDE + 1)];
    int count = 0;
    for (int i = 0; i < l->n; i++)
        for (int k = -SIDE; k <= SIDE; k++)
            edge[count++] = l->at[i].mean + 2 * k * l->at[i].sd;
    qsort(edge, (size_t)count, sizeof *edge, ascending);
    int64_t n = 0;
    double last = -INFINITY;
    for (int i = 0; i < count; i++) {
        if (edge[i] <= last) continue;
        n = xb_panel_add(out, capacity, n, last = edge[i]);
    }
    return n;
}

/* ---- making one */

static int by_mean(const void *a, const void *b)
{
    const xb_law_mode *x = a, *y = b;
    return x->mean != y->mean ? (x->mean > y->mean) - (x->mean < y->mean)
                              : (x->sd > y->sd) - (x->sd < y->sd);
}

static xb_status check(xb_ctx *ctx, const char *what, const xb_law_mode *level, int n)
{
    const double tolerance = 1e-6, thin = 1e-5, far = 1e6;
    double sum = 0, widest = 0;
    if (n < 1 || n > MOST)
        return xb_fail(ctx, XB_E_INPUT, "%s: %d levels, expected 1 to %d", what, n, MOST);
    for (int i = 0; i < n; i++) {
        const xb_law_mode *m = &level[i];
        if (!(fabs(m->mean) <= far))
            return xb_fail(ctx, XB_E_INPUT, "%s: x = %g, expected %g to %g", what,
                           m->mean, -far, far);
        if (!(m->weight > 0 && m->weight <= 1 + tolerance))
            return xb_fail(ctx, XB_E_INPUT, "%s: p = %g, expected more than 0, up to 1",
                           what, m->weight);
        if (!(m->sd > 0 && m->sd <= far))
            return xb_fail(ctx, XB_E_INPUT, "%s: s = %g, expected more than 0, up to %g",
                           what, m->sd, far);
        sum += m->weight;
        widest = fmax(widest, fmax(fabs(m->mean - level[0].mean), m->sd));
    }
    if (!(fabs(sum - 1) <= tolerance))
        return xb_fail(ctx, XB_E_INPUT, "%s: the weights p sum to %.9g, expected 1", what,
                       sum);
    for (int i = 0; i < n; i++)
        if (level[i].sd < thin * widest)
            return xb_fail(ctx, XB_E_INPUT,
                           "%s: s = %g is below %g of the distance between levels", what,
                           level[i].sd, thin);
    return XB_OK;
}

/* `n` levels, 1 to XB_LAW_MODES, in any order: weights > 0 that sum to one within 1e-6
 * (they are then normalised), widths > 0. `what` begins messages. Place 0, 1. */
static xb_status make(xb_ctx *ctx, xb_law **out, const char *what,
                      const xb_law_mode *level, int n)
{
    XB_TRY(check(ctx, what, level, n));
    xb_law *law = xb_new(ctx, 1, sizeof *law);
    if (!law) return XB_E_MEMORY;
    law->family = &xb_family_levels;
    levels *l = law->data = xb_new(ctx, 1, sizeof *l);
    if (!l) {
        xb_law_destroy(law);
        return XB_E_MEMORY;
    }
    double sum = 0;
    *l = (levels){.n = n, .common = true};
    for (int i = 0; i < n; i++) sum += level[i].weight;
    for (int i = 0; i < n; i++) {
        /* weights that add up to one as written stay unchanged */
        double weight = fabs(sum - 1) < 1e-15 ? level[i].weight : level[i].weight / sum;
        l->at[i] = (xb_law_mode){weight, level[i].mean + 0.0, level[i].sd}; /* no -0 */
        l->common &= level[i].sd == level[0].sd;
    }
    qsort(l->at, (size_t)n, sizeof *l->at, by_mean);
    return xb_law_finish(ctx, out, law);
}

/* Positions, weights, widths, as many of each. */
static xb_status create(xb_ctx *ctx, xb_law **out, const double *values, int count)
{
    xb_law_mode level[MOST] = {{0}};
    int n = count / 3;
    if (count % 3 || n < 1 || n > MOST)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "levels takes positions, weights and widths of 1 to %d levels, got"
                       " %d values",
                       MOST, count);
    for (int i = 0; i < n; i++)
        level[i] = (xb_law_mode){values[n + i], values[i], values[2 * n + i]};
    return make(ctx, out, "levels", level, n);
}

typedef struct lists {
    double x[MOST], p[MOST], s[MOST];
    int xs, ps, ss; /* how many were given */
} lists;

/* The defaults are equal weights and a width of 0.1; a single width applies to all
 * levels. */
static xb_status from_lists(xb_ctx *ctx, xb_law **out, const char *what, lists *in)
{
    if (in->xs == 0) in->x[0] = -1, in->x[1] = 1, in->xs = 2;
    xb_law_mode level[MOST] = {{0}};
    if (in->ps > 0 && in->ps != in->xs)
        return xb_fail(
            ctx, XB_E_INPUT,
            "%s: %d of x (positions) and %d of p (weights), expected the same number",
            what, in->xs, in->ps);
    if (in->ss > 1 && in->ss != in->xs)
        return xb_fail(ctx, XB_E_INPUT,
                       "%s: %d of x (positions) and %d of s (widths), expected the same "
                       "number or one s",
                       what, in->xs, in->ss);
    for (int i = 0; i < in->xs; i++) {
        double width = in->ss == 0 ? 0.1 : in->s[in->ss > 1 ? i : 0];
        level[i] = (xb_law_mode){in->ps > 0 ? in->p[i] : 1.0 / in->xs, in->x[i], width};
    }
    return make(ctx, out, what, level, in->xs);
}

static xb_status read_text(xb_ctx *ctx, xb_law **out, const char *text,
                           const char *settings)
{
    lists in = {.xs = 0};
    const xb_setting_list all[] = {
        {"x", in.x, MOST, &in.xs}, {"p", in.p, MOST, &in.ps}, {"s", in.s, MOST, &in.ss}};
    char what[160];
    snprintf(what, sizeof what, "law '%.120s'", text);
    XB_TRY(xb_settings_lists(ctx, "law", text, settings, all, XB_COUNT(all)));
    return from_lists(ctx, out, what, &in);
}

static size_t append(char *out, size_t size, size_t used, const char *before,
                     double value)
{
    char number[XB_NUMBER_TEXT_MAX];
    xb_number_digits(number, value, XB_LAW_TEXT_DIGITS);
    if (used < size)
        used += (size_t)snprintf(out + used, size - used, "%s%s", before, number);
    return used;
}

static void write_text(const xb_law *law, char *out, size_t size)
{
    const levels *l = levels_of(law);
    size_t used = (size_t)snprintf(out, size, "%s", law->family->name);
    for (int i = 0; i < l->n; i++)
        used = append(out, size, used, i ? "/" : ":x=", l->at[i].mean);
    for (int i = 0; i < l->n; i++)
        used = append(out, size, used, i ? "/" : ",p=", l->at[i].weight);
    for (int i = 0; i < (l->common ? 1 : l->n); i++)
        used = append(out, size, used, i ? "/" : ",s=", l->at[i].sd);
}

/* ---- files */

static const char *const data_keys[] = {"x", "p", "s", NULL};

static void write_data(const xb_law *law, json_t **root)
{
    const levels *l = levels_of(law);
    json_t *x = json_array(), *p = json_array(), *s = json_array();
    for (int i = 0; i < l->n; i++) {
        xb_json_add(&x, json_real(l->at[i].mean));
        xb_json_add(&p, json_real(l->at[i].weight));
        xb_json_add(&s, json_real(l->at[i].sd));
    }
    xb_json_set(root, "x", x);
    xb_json_set(root, "p", p);
    xb_json_set(root, "s", s);
}

static xb_status read_list(xb_ctx *ctx, double *out, int *count, const json_t *root,
                           const char *path, const char *key)
{
    const json_t *list = json_object_get(root, key);
    size_t n = json_array_size(list);
    if (!json_is_array(list) || n < 1 || n > MOST)
        return xb_fail(ctx, XB_E_INPUT, "%s: '%s' is not a list of 1 to %d numbers", path,
                       key, MOST);
    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_array_get(list, i);
        out[i] = json_number_value(value);
        if (!json_is_number(value) || !isfinite(out[i]))
            return xb_fail(ctx, XB_E_INPUT,
                           "%s: '%s' has an element that is not a number", path, key);
    }
    *count = (int)n;
    return XB_OK;
}

static xb_status read_data(xb_ctx *ctx, xb_law **out, const json_t *root,
                           const char *path)
{
    lists in = {.xs = 0};
    XB_TRY(read_list(ctx, in.x, &in.xs, root, path, "x"));
    XB_TRY(read_list(ctx, in.p, &in.ps, root, path, "p"));
    XB_TRY(read_list(ctx, in.s, &in.ss, root, path, "s"));
    return from_lists(ctx, out, path, &in);
}

const xb_family xb_family_levels = {
    .name = "levels",
    .about = "1 to 8 Gaussian levels: x (positions), p (weights), s (widths)",
    .levels = true,
    .setup = setup,
    .pdf = pdf,
    .log_pdf = log_pdf,
    .tail = tail,
    .tail_quantile = tail_quantile,
    .raw_moment = raw_moment,
    .moments = moments,
    .named = named,
    .modes = modes,
    .create = create,
    .read_text = read_text,
    .write_text = write_text,
    .data_keys = data_keys,
    .write_data = write_data,
    .read_data = read_data,
    .panels = panels,
};
