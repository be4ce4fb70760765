/* weighted_sum.c: the characteristic function of a sum of independent scaled draws;
 * maths E4-E6.
 *
 * At frequency t the terms with a_k t within reach of the cumulant series share one
 * polynomial in t whose coefficients are power sums; the few larger ones are factors of
 * their own. Only the terms that will become large are sorted, power sums are built from
 * the smallest up, and frequencies are processed in runs between which one more term
 * becomes large. For a Gaussian law everything is one factor. Frequencies are equally
 * spaced, so the phase of the mean turns by a fixed angle: no sines in the loop. */
#include "predict/weighted_sum.h"

#include <math.h>
#include <string.h>

/* exp(-DECAY^2 / 2) = NOTHING: if a sum of standard deviation s has s t > DECAY, it is
 * below the rounding of a Fourier transform. */
static const double DECAY = 8, NOTHING = 1e-14;

/* ---- Gaussian: exp(i t mean - t^2 variance / 2), turning and shrinking from one t to
 * the next */

static void add_gaussian(double *re, double *im, const xb_sum_law *sum,
                         const xb_frequencies *f)
{
    double steps = DECAY / (sqrt(sum->variance) * f->dt), dt = f->dt;
    int64_t last = steps < (double)f->count ? (int64_t)steps : f->count;
    double turn_c = cos(dt * sum->mean), turn_s = sin(dt * sum->mean), c = 1, s = 0;
    double each = exp(-sum->variance * dt * dt), ratio = sqrt(each), size = 1;
    for (int64_t j = 0; j <= last; j++) {
        re[j] += size * c, im[j] += size * s;
        double next = c * turn_c - s * turn_s;
        s = s * turn_c + c * turn_s, c = next;
        size *= ratio, ratio *= each;
    }
}

/* ---- which terms are large */

/* Terms beyond `limit` to the front, largest first. */
static void sort_large(xb_sum_law *sum, int64_t n, double limit)
{
    for (int64_t k = sum->n_large; k < n; k++) {
        double a = sum->a[k], size = fabs(a);
        if (!(size > limit)) continue;
        int64_t at = sum->n_large++;
        sum->a[k] = sum->a[at];
        for (; at > 0 && fabs(sum->a[at - 1]) < size; at--) sum->a[at] = sum->a[at - 1];
        sum->a[at] = a;
    }
}

static void add_powers(double *power, double a, int stride)
{
    double factor = stride == 2 ? a * a : a, value = factor;
    for (int n = stride; n <= XB_CUMULANTS; n += stride, value *= factor)
        power[n] += value;
}

static void sum_powers(xb_sum_law *sum, int64_t n, int stride)
{
    double *rest = sum->power[sum->n_large];
    memset(rest, 0, sizeof sum->power[0]);
    for (int64_t k = n - 1; k >= sum->n_large; k--) add_powers(rest, sum->a[k], stride);
    for (int64_t k = sum->n_large - 1; k >= 0; k--) {
        memcpy(sum->power[k], sum->power[k + 1], sizeof sum->power[0]);
        add_powers(sum->power[k], sum->a[k], stride);
    }
}

/* ---- the factors */

static xb_complex times(xb_complex a, xb_complex b)
{
    return (xb_complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* (E4) coefficient[n] t^n, n even: the real part of the small terms' logarithm. */
static double even_part(const double *coefficient, double t)
{
    double tt = -t * t, value = 0;
    for (int n = XB_CUMULANTS; n >= 2; n -= 2) value = (value + coefficient[n]) * tt;
    return value;
}

static double odd_part(const double *coefficient, double t)
{
    double tt = -t * t, value = 0;
    for (int n = XB_CUMULANTS - 1; n >= 3; n -= 2) value = value * tt + coefficient[n];
    return value * tt * t;
}

static xb_complex large_factors(const double *a, int64_t k, const xb_charfn *law,
                                double t)
{
    xb_complex product = {1, 0};
    if (law->symmetric) {
        for (int64_t i = 0; i < k; i++) product.re *= xb_charfn_real(law, a[i] * t);
        return product;
    }
    for (int64_t i = 0; i < k; i++) product = times(product, xb_charfn_at(law, a[i] * t));
    return product;
}

/* An upper bound of the modulus from frequency j on, given that of the small terms. */
static double bound_from(const xb_sum_law *sum, int64_t k, const xb_charfn *law,
                         const xb_frequencies *f, int64_t j, double small)
{
    double bound = f->common ? small * f->common[j] : small;
    for (int64_t i = 0; i < k && bound > NOTHING; i++)
        bound *= xb_charfn_envelope(law, sum->a[i] * f->dt * (double)j);
    return bound;
}

enum { LOOK = 4 }; /* frequencies between two checks whether the sum has faded */

typedef struct cursor {
    int64_t j;
    xb_complex phase, turn; /* exp(i j dt mean), exp(i dt mean) */
    bool faded;
} cursor;

/* Frequencies up to `last` with the k first terms as factors of their own. */
static void add_run(double *re, double *im, cursor *at, const xb_sum_law *sum, int64_t k,
                    const xb_charfn *law, const xb_frequencies *f, int64_t last)
{
    double coefficient[XB_CUMULANTS + 1];
    for (int n = 2; n <= XB_CUMULANTS; n++)
        coefficient[n] = law->series[n] * sum->power[k][n];
    for (; at->j <= last; at->j++, at->phase = times(at->phase, at->turn)) {
        double t = f->dt * (double)at->j, size = exp(even_part(coefficient, t));
        if (at->j % LOOK == 0 && bound_from(sum, k, law, f, at->j, size) <= NOTHING) {
            at->faded = true;
            return;
        }
        xb_complex value = times(at->phase, large_factors(sum->a, k, law, t));
        if (!law->symmetric) {
            double angle = odd_part(coefficient, t);
            value = times(value, (xb_complex){cos(angle), sin(angle)});
        }
        re[at->j] += size * value.re, im[at->j] += size * value.im;
    }
}

/* The last frequency at which term k is still small; at most `last`. */
static int64_t small_until(const xb_sum_law *sum, int64_t k, const xb_charfn *law,
                           const xb_frequencies *f, int64_t last)
{
    if (k >= sum->n_large) return last;
    double steps = law->reach / (fabs(sum->a[k]) * f->dt);
    return steps < (double)last ? (int64_t)steps : last;
}

/* (E6) In stages: first as far as a Gaussian of this spread matters, then further, if the
 * sum's tail is heavier, until it fades or the frequencies end. */
static void add_general(double *re, double *im, xb_sum_law *sum, int64_t n,
                        const xb_charfn *law, const xb_frequencies *f)
{
    const double further = 1.5;
    cursor at = {.phase = {1, 0},
                 .turn = {cos(f->dt * sum->mean), sin(f->dt * sum->mean)}};
    double t_most = f->dt * (double)f->count;
    double t = fmin(t_most, DECAY / sqrt(sum->variance));
    for (int64_t k = 0;; t = fmin(t_most, t * further)) {
        int64_t last = t < t_most ? (int64_t)(t / f->dt) : f->count;
        sort_large(sum, n, law->reach / t);
        sum_powers(sum, n, law->symmetric ? 2 : 1);
        for (; at.j <= last && !at.faded; k += at.j <= last)
            add_run(re, im, &at, sum, k, law, f, small_until(sum, k, law, f, last));
        if (at.faded || last == f->count) return;
    }
}

static void sum_moments(xb_sum_law *sum, int64_t n)
{
    double second = 0, third = 0, fourth = 0;
    for (int64_t k = 0; k < n; k++) {
        double a = sum->a[k], square = a * a;
        second += square, third += square * a, fourth += square * square;
    }
    sum->variance = second, sum->cubes = third, sum->fourths = fourth;
}

void xb_sum_law_add(double *re, double *im, xb_sum_law *sum, int64_t n,
                    const xb_charfn *law, const xb_frequencies *f)
{
    sum_moments(sum, n);
    sum->n_large = 0;
    if (!isfinite(sum->mean) || !isfinite(sum->variance)) return;
    if (law->gaussian)
        add_gaussian(re, im, sum, f);
    else
        add_general(re, im, sum, n, law, f);
}
