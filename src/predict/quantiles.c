/* quantiles.c: quantiles of the predictive, a mixture of normals or of Student's t, of
 * one width for each member (maths P4, P9), by Newton's method kept inside a bracket. The
 * quantile lies between those of the lowest and of the highest component. Accurate to
 * 1e-9 of the mixture's width; about five evaluations of the cdf. */
#include <float.h>
#include <math.h>

#include "predict/predict.h"

static const double SQRT_2 = 1.41421356237309504880;
static const double INVERSE_SQRT_2_PI = 0.39894228040143267794;

enum { STEPS_MAX = 100 };

typedef struct curve {
    double cdf, pdf;
} curve;

/* Draws dealt over members that have a width each. */
typedef struct mixture {
    const double *mean; /* [draws] */
    int64_t draws, members;
    const double *sd;              /* [members] */
    const xb_student_table *heavy; /* [members] (P9); NULL: normal */
} mixture;

/* A width that rounding can still see: 0 would be a step. */
static double width_of(const mixture *m, int64_t member, double least)
{
    return fmax(m->heavy ? m->sd[member] * m->heavy[member].scale : m->sd[member], least);
}

/* (P9) Adds the draws of one member. */
static void add_heavy(curve *c, const mixture *m, int64_t member, double least, double x)
{
    const xb_student_table *heavy = &m->heavy[member];
    const double scale = width_of(m, member, least);
    for (int64_t s = member; s < m->draws; s += m->members) {
        const double t = (x - m->mean[s]) / scale;
        const xb_student_pair at = xb_student_above(heavy, fabs(t));
        c->cdf += t > 0 ? 1 - at.above : at.above;
        c->pdf += at.pdf / (scale * (double)m->draws);
    }
}

static curve mixture_at(const mixture *m, double least, double x)
{
    curve c = {0, 0};
    for (int64_t member = 0; m->heavy && member < m->members; member++)
        add_heavy(&c, m, member, least, x);
    for (int64_t member = 0; !m->heavy && member < m->members; member++) {
        const double sd = width_of(m, member, least);
        double pdf = 0;
        for (int64_t s = member; s < m->draws; s += m->members) {
            double z = (x - m->mean[s]) / sd;
            c.cdf += 0.5 * erfc(-z / SQRT_2);
            pdf += exp(-0.5 * z * z);
        }
        c.pdf += pdf * (INVERSE_SQRT_2_PI / (sd * (double)m->draws));
    }
    c.cdf /= (double)m->draws;
    return c;
}

/* Where the cdf reaches `level`, known to lie in [low, high], from x on. */
static double solve(const mixture *m, double least, double level, double low, double high,
                    double x)
{
    const double tolerance = 1e-9 * (high - low + width_of(m, 0, least));
    for (int i = 0; i < STEPS_MAX && high - low > tolerance; i++) {
        curve c = mixture_at(m, least, x);
        if (c.cdf < level)
            low = x;
        else
            high = x;
        double next = c.pdf > 0 ? x - (c.cdf - level) / c.pdf : low;
        if (!(next > low && next < high)) next = low + 0.5 * (high - low);
        if (fabs(next - x) <= tolerance) return next;
        x = next;
    }
    return x;
}

/* Where the quantile must lie, between those of the lowest and the highest component, and
 * a guess by the first two moments. */
static void bracket(const mixture *m, double least, double level, double z, double *low,
                    double *high, double *guess)
{
    double sum = 0, square = 0, noise = 0, away = z;
    *low = INFINITY, *high = -INFINITY;
    for (int64_t s = 0; s < m->draws; s++) sum += m->mean[s] / (double)m->draws;
    for (int64_t i = 0; i < m->members; i++) {
        const double sd = width_of(m, i, least);
        const double own = m->heavy ? xb_student_quantile(&m->heavy[i], level) : z;
        noise += sd * sd / (double)m->members;
        away = own;
        for (int64_t s = i; s < m->draws; s += m->members) {
            *low = fmin(*low, m->mean[s] + sd * own);
            *high = fmax(*high, m->mean[s] + sd * own);
            square += (m->mean[s] - sum) * (m->mean[s] - sum) / (double)m->draws;
        }
    }
    *guess = fmin(fmax(sum + away * sqrt(square + noise), *low), *high);
}

static double quantile_of(const mixture *m, double level, double z)
{
    double largest = 0, low, high, guess;
    for (int64_t s = 0; s < m->draws; s++) largest = fmax(largest, fabs(m->mean[s]));
    const double least = 4 * DBL_EPSILON * largest + DBL_MIN;
    bracket(m, least, level, z, &low, &high, &guess);
    return solve(m, least, level, low, high, guess);
}

double xb_predictive_quantile(const double *mean, int64_t draws, const double *sd,
                              int64_t members, double level, double z)
{
    return quantile_of(&(mixture){mean, draws, members, sd, NULL}, level, z);
}

double xb_heavy_quantile(const double *mean, int64_t draws, const double *sd,
                         const xb_student_table *heavy, int64_t members, double level)
{
    return quantile_of(&(mixture){mean, draws, members, sd, heavy}, level, NAN);
}

double xb_normal_quantile(double level)
{
    const double zero = 0, one = 1, reach = 40; /* beyond it no double is left */
    return solve(&(mixture){&zero, 1, 1, &one, NULL}, 0, level, -reach, reach, 0);
}

enum { LANES = 8 }; /* partial sums side by side: none waits for the one before */

static double sum_lanes(const double part[LANES])
{
    double sum = 0;
    for (int l = 0; l < LANES; l++) sum += part[l];
    return sum;
}

/* Whole rounds of LANES, then the rest: the compiler makes vectors of the rounds where
 * the stride is 1. TERM is in s and goes to lane s mod LANES. */
#define ADD_LANES(PART, COUNT, TERM)                                                     \
    do {                                                                                 \
        int64_t round = 0;                                                               \
        for (; round + LANES <= (COUNT); round += LANES)                                 \
            _Pragma("omp simd") for (int l = 0; l < LANES; l++)                          \
            {                                                                            \
                const int64_t s = round + l;                                             \
                (PART)[l] += (TERM);                                                     \
            }                                                                            \
        for (int64_t s = round; s < (COUNT); s++) (PART)[s - round] += (TERM);           \
    } while (0)

static inline double squared(double x) { return x * x; }

static inline xb_draw_summary summarise(const double *value, int64_t draws,
                                        int64_t stride)
{
    double means[LANES] = {0}, squares[LANES] = {0}, pairs_of[LANES] = {0};
    const int64_t n_pairs = draws / 2;
    double n = (double)draws, half = (double)n_pairs, share = 1 / n;
    ADD_LANES(means, draws, value[s * stride] * share);
    double mean = sum_lanes(means);
    ADD_LANES(squares, draws, squared(value[s * stride] - mean));
    ADD_LANES(
        pairs_of, n_pairs,
        squared(0.5 * (value[2 * s * stride] + value[(2 * s + 1) * stride]) - mean));
    double square = sum_lanes(squares), pairs = sum_lanes(pairs_of);
    return (xb_draw_summary){.mean = mean,
                             .sd = draws > 1 ? sqrt(square / (n - 1)) : NAN, /* (P3) */
                             .error = draws > 3 ? sqrt(pairs / (half * (half - 1)))
                                                : NAN}; /* (P5) */
}

xb_draw_summary xb_draws_summarise(const double *value, int64_t draws, int64_t stride)
{
    return stride == 1 ? summarise(value, draws, 1) : summarise(value, draws, stride);
}
