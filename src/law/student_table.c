/* student_table.c: see student_table.h; maths L32, L33.
 *
 * Each cell has its series about its own middle. The mass above a cell's middle is summed
 * from the far end, where the law gives it: all terms are positive, so nothing cancels
 * and the error stays relative. A table takes about 0.2 ms. */
#include "law/student_table.h"

#include "law/normal.h"

/* A law without text and moments: density, masses and quantiles are all that is used. */
static void set_up(xb_law *law, double degrees)
{
    const double normal = 1e12; /* from here on t is normal to rounding */
    law->family = &xb_family_student;
    law->param[0] = fmin(degrees, normal);
    (void)law->family->setup(NULL, law); /* it cannot fail */
}

static double edge_below(int i)
{
    if (i < XB_STUDENT_NEAR) return (double)i / XB_STUDENT_STEPS;
    const int far = i - XB_STUDENT_NEAR, parts = 1 << XB_STUDENT_PARTS;
    return ldexp(1 + (double)(far % parts) / parts, XB_STUDENT_LEAST + far / parts);
}

/* (L32) The coefficients from the law's differential equation. */
static void expand(xb_student_node *at, const xb_law *law, double t)
{
    const double nu = law->param[0], square = nu + t * t;
    double before = 0, *c = at->density;
    at->t = t;
    c[0] = law->family->pdf(law, t);
    for (int k = 0; k + 1 < XB_STUDENT_TERMS; k++) {
        c[k + 1] =
            -((2 * k + nu + 1) * t * c[k] + (k + nu) * before) / (square * (k + 1));
        before = c[k];
    }
}

/* The mass between t and t + d. */
static double mass_beside(const xb_student_node *at, double d)
{
    double sum = 0;
    for (int k = XB_STUDENT_TERMS - 1; k >= 0; k--)
        sum = (sum + at->density[k] / (k + 1)) * d;
    return sum;
}

/* (L33) E|T - T'|, from the densities at 0 of nu and 2 nu - 1 degrees. */
static double spread_of(const xb_law *law)
{
    const double nu = law->param[0], centre = law->family->pdf(law, 0);
    xb_law other = {.lower = 0};
    set_up(&other, 2 * nu - 1);
    return 4 * sqrt(nu) / (nu - 1) * nu * centre * centre /
           (sqrt(2 * nu - 1) * other.family->pdf(&other, 0));
}

void xb_student_fill(xb_student_table *table, double degrees)
{
    xb_law *law = &table->law;
    set_up(law, degrees);
    const double nu = law->param[0];
    table->degrees = nu;
    table->scale = sqrt((nu - 2) / nu);
    table->variance = nu / (nu - 2);
    table->spread = spread_of(law);
    double upper = XB_STUDENT_END, above = law->family->tail(law, upper, true);
    const double little = 1e-10;
    for (int i = XB_STUDENT_NODES - 1; i >= 0; i--) {
        const double lower = edge_below(i), middle = 0.5 * (lower + upper);
        xb_student_node *at = &table->node[i];
        expand(at, law, middle);
        at->above = above + mass_beside(at, upper - middle);
        above = at->above - mass_beside(at, lower - middle);
        upper = lower;
    }
    table->size = xb_student_absolute(table, 0, 1);
    table->power = log(2) / log(table->spread / table->size);
    table->reach = 1;
    while (table->reach * xb_student_above(table, table->reach).above > little)
        table->reach *= 2;
}

double xb_student_absolute(const xb_student_table *table, double mean, double scale)
{
    const double far = 1e100, x = fabs(mean / scale), nu = table->degrees;
    if (!(x < far)) return fabs(mean); /* no scale, or none that shows */
    const xb_student_pair at = xb_student_above(table, x);
    return scale * (x * (1 - 2 * at.above) + 2 * at.pdf * (nu + x * x) / (nu - 1));
}

double xb_student_quantile(const xb_student_table *table, double level)
{
    const bool upper = level > 0.5;
    const double mass = upper ? 1 - level : level;
    return table->law.family->tail_quantile(&table->law, mass, upper).x;
}

/* The last node that has at least `above` above it. */
static int node_before(const xb_student_table *table, double above)
{
    int low = 0, high = XB_STUDENT_NODES;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        *(table->node[middle].above >= above ? &low : &high) = middle;
    }
    return low;
}

double xb_student_from_normal(const xb_student_table *table, double z)
{
    enum { STEPS = 4 };
    const double above = xb_normal_cdf(-fabs(z));
    double t = table->node[node_before(table, above)].t;
    if (!(t < 0.5 * XB_STUDENT_END))
        return copysign(xb_student_quantile(table, above), z);
    for (int i = 0; i < STEPS; i++) { /* Newton's method on a convex curve */
        const xb_student_pair at = xb_student_above(table, t);
        t = fmax(t + (at.above - above) / at.pdf, 0);
    }
    return copysign(t, z);
}
