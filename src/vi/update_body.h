/* update_body.h: the kernels of update.h, included by one update_*.c per level: plain
 * loops that the compiler turns into the level's vectors. No contraction, and sums in a
 * fixed number of lanes: every level gives the same bytes.
 *
 * exp(x) = 2^n (1 + r + r^2 p(r)), n = x / log 2 rounded, p in base/expseries.h:
 * 1 ulp against double over all of sigma's range. A sum of logarithms is the logarithm
 * of the product of the mantissas and a count of exponents: one call for up to BLOCK
 * sigmas, to 1e-15 of the sum's terms. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/expseries.h"
#include "vi/update.h"

enum {
    LANES = 8,
    DEPTH = 64, /* mantissas below 2 that a lane multiplies: all lanes, below 2^512 */
    BLOCK = LANES * DEPTH,
};

static const float EXP_LEAST = -88.0f, EXP_MOST = 89.0f; /* below FLT_MIN; infinite */

/* -126 <= n <= 127 */
static inline float power_of_two(int32_t n)
{
    int32_t bits = (n + 127) * (1 << 23);
    float power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

static inline float exp_of(float x)
{
    const float *c = XB_EXP_SERIES;
    x = x > EXP_LEAST ? x : EXP_LEAST; /* NaN too */
    x = x < EXP_MOST ? x : EXP_MOST;
    float n = (x * XB_LOG2_E + XB_ROUND) - XB_ROUND;
    float r = (x - n * XB_LOG_2_HIGH) - n * XB_LOG_2_LOW;
    float p = c[0] + r * (c[1] + r * (c[2] + r * (c[3] + r * c[4])));
    int32_t whole = (int32_t)n, half = whole / 2; /* 2^n alone may not be a float */
    return (1 + (r + r * r * p)) * power_of_two(half) * power_of_two(whole - half);
}

static void sigma_exp(float *restrict sigma, const float *restrict rho, int64_t n)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        float s = exp_of(rho[i]);
        sigma[i] = s > FLT_MIN ? s : FLT_MIN;
    }
}

static void chain_exp(float *restrict gradient, const float *restrict sigma, int64_t n)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) gradient[i] *= sigma[i];
}

/* Sums of one block in lanes. */
typedef struct normal_lanes {
    double square[LANES], product[LANES], least[LANES];
    int64_t exponent[LANES];
} normal_lanes;

static inline void add_lane(normal_lanes *sum, int l, float mu, float sigma, double mean)
{
    double s = sigma, m = mu - mean;
    int64_t bits, one = INT64_C(1023) << 52;
    memcpy(&bits, &s, sizeof bits);
    sum->exponent[l] += bits >> 52;
    bits = (bits & ((INT64_C(1) << 52) - 1)) | one;
    double mantissa;
    memcpy(&mantissa, &bits, sizeof mantissa);
    sum->product[l] *= mantissa;
    sum->least[l] = s < sum->least[l] ? s : sum->least[l];
    sum->square[l] += s * s + m * m;
}

/* n <= BLOCK */
static void normal_block(xb_normal_sums *sums, const float *mu, const float *sigma,
                         int64_t n, double mean)
{
    normal_lanes lanes;
    for (int l = 0; l < LANES; l++) {
        lanes.square[l] = lanes.exponent[l] = 0;
        lanes.product[l] = lanes.least[l] = 1;
    }
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
#pragma omp simd
        for (int l = 0; l < LANES; l++)
            add_lane(&lanes, l, mu[i + l], sigma[i + l], mean);
    for (int l = 0; i < n; i++, l++) add_lane(&lanes, l, mu[i], sigma[i], mean);
    double product = 1, least = 1;
    int64_t exponent = -1023 * n;
    for (int l = 0; l < LANES; l++) {
        sums->square += lanes.square[l];
        product *= lanes.product[l];
        least = lanes.least[l] < least ? lanes.least[l] : least;
        exponent += lanes.exponent[l];
    }
    /* sigma = 0 has no mantissa: minus infinity, NaN below */
    sums->logs += least > 0 ? log(product) + (double)exponent * M_LN2 : log(least);
}

static xb_normal_sums normal_sums(const float *mu, const float *sigma, int64_t n,
                                  double mean)
{
    xb_normal_sums sums = {0, 0};
    for (int64_t i = 0; i < n; i += BLOCK)
        normal_block(&sums, mu + i, sigma + i, n - i < BLOCK ? n - i : BLOCK, mean);
    return sums;
}

static void normal_gradient(float *restrict grad_mu, float *restrict grad_sigma,
                            const float *restrict mu, const float *restrict sigma,
                            int64_t n, float mean, float scaled, float weight)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        grad_mu[i] += scaled * (mu[i] - mean);
        grad_sigma[i] += scaled * sigma[i] - weight / sigma[i];
    }
}

static void adam(float *restrict p, float *restrict m, float *restrict v,
                 const float *restrict g, int64_t n, const xb_adam_rates *rates)
{
    const xb_adam_rates a = *rates;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) { /* (V7) */
        m[i] = a.beta1 * m[i] + a.rest1 * g[i];
        v[i] = a.beta2 * v[i] + a.rest2 * (g[i] * g[i]);
        p[i] -= a.rate * m[i] / (sqrtf(v[i]) + a.epsilon);
    }
}

/* A sum is finite only if all of its terms are, and cheap. */
static bool squares_finite(const float *x, int64_t n)
{
    float bad = 0;
#pragma omp simd reduction(+ : bad)
    for (int64_t i = 0; i < n; i++) bad += x[i] * x[i] * 0.0f;
    return bad == 0;
}

static int32_t count_below(const int32_t *x, int32_t n, int32_t limit)
{
    int32_t count = 0;
#pragma omp simd reduction(+ : count)
    for (int32_t i = 0; i < n; i++) count += x[i] < limit;
    return count;
}

const xb_update XB_UPDATE_NAME = {
    .level = XB_UPDATE_LEVEL,
    .sigma_exp = sigma_exp,
    .chain_exp = chain_exp,
    .normal_sums = normal_sums,
    .normal_gradient = normal_gradient,
    .adam = adam,
    .squares_finite = squares_finite,
    .count_below = count_below,
};
