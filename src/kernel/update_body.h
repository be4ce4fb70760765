/* update_body.h: the kernels of update.h, included once per level: plain
 * loops that the compiler turns into the level's vectors. Sums are in a fixed number of
 * lanes and multiply-adds are fused where it says so: levels that have them give the same
 * bytes, the plain one differs by their roundings.
 *
 * exp(x) = 2^n (1 + r + r^2 p(r)), n = x / log 2 rounded, p in base/expseries.h:
 * 1 ulp against double over all of sigma's range. A sum of logarithms is the logarithm
 * of the product of the mantissas and a count of exponents: one call for up to BLOCK
 * sigmas, to 1e-15 of the sum's terms. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/expseries.h"
#include "kernel/update.h"

#if XB_LEVEL_FUSED
#define FUSED(a, b, c) __builtin_fmaf(a, b, c)
#else
#define FUSED(a, b, c) ((a) * (b) + (c))
#endif

enum {
    LOGS = 8,       /* side by side in normal_sums */
    MANTISSAS = 64, /* mantissas below 2 that a lane multiplies: all lanes, below 2^512 */
    BLOCK = LOGS * MANTISSAS,
    SUMS = 16, /* side by side in normal_exp */
    SWEEP = 16 * SUMS,
    BEHIND = 64, /* exponentials follow Adam by this many, so that none waits for its
                    division */
};

/* Largest floats whose exp is at most FLT_MIN, and at most FLT_MAX. */
static const float RHO_LEAST = -0x1.5d58a0p6f, RHO_MOST = 0x1.62e42ep6f;

/* RHO_LEAST < x <= RHO_MOST. The lowest bits of x / log 2 + XB_ROUND hold n: shifted to
 * the place of the exponent and added to the bits of 1 + r + r^2 p(r), it multiplies that
 * by 2^n. */
static inline float exp_of(float x)
{
    const float *c = XB_EXP_SERIES;
    float rounded = FUSED(x, XB_LOG2_E, XB_ROUND), n = rounded - XB_ROUND;
    float r = FUSED(n, -XB_LOG_2_LOW, FUSED(n, -XB_LOG_2_HIGH, x)), rr = r * r;
    float low = FUSED(c[1], r, c[0]), high = FUSED(c[3], r, c[2]);
    float p = FUSED(FUSED(c[4], rr, high), rr, low); /* two halves: half the wait */
    float y = 1 + FUSED(rr, p, r);
    uint32_t bits, power;
    memcpy(&bits, &y, sizeof bits);
    memcpy(&power, &rounded, sizeof power);
    bits += power << 23;
    memcpy(&y, &bits, sizeof y);
    return y;
}

static inline float sigma_of(float rho)
{
    float s = exp_of(rho);             /* used only where it is valid */
    s = rho > RHO_LEAST ? s : FLT_MIN; /* NaN too */
    return rho > RHO_MOST ? INFINITY : s;
}

static void sigma_exp(float *restrict sigma, const float *restrict rho, int64_t n)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) sigma[i] = sigma_of(rho[i]);
}

static void chain_exp(float *restrict gradient, const float *restrict sigma, int64_t n)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) gradient[i] *= sigma[i];
}

/* Sums of one block in lanes. */
typedef struct normal_lanes {
    double square[LOGS], product[LOGS], least[LOGS];
    int64_t exponent[LOGS];
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
    for (int l = 0; l < LOGS; l++) {
        lanes.square[l] = lanes.exponent[l] = 0;
        lanes.product[l] = lanes.least[l] = 1;
    }
    int64_t i = 0;
    for (; i + LOGS <= n; i += LOGS)
#pragma omp simd
        for (int l = 0; l < LOGS; l++) add_lane(&lanes, l, mu[i + l], sigma[i + l], mean);
    for (int l = 0; i < n; i++, l++) add_lane(&lanes, l, mu[i], sigma[i], mean);
    double product = 1, least = 1;
    int64_t exponent = -1023 * n;
    for (int l = 0; l < LOGS; l++) {
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

/* Sums of a chunk of normal_exp in lanes, in float: SWEEP / SUMS terms each, so they are
 * accurate to 1e-6 at worst and usually 1e-8; they are only reported and do not affect
 * training. */
typedef struct exp_lanes {
    float square[SUMS], logs[SUMS];
} exp_lanes;

static inline void exp_lane(exp_lanes *sum, int l, float *grad_mu, float *gradient,
                            float mu, float s, float rho, float mean, float scaled,
                            float weight)
{
    float d = mu - mean;
    sum->square[l] += FUSED(s, s, d * d);
    sum->logs[l] += rho > RHO_LEAST ? rho : RHO_LEAST;
    *grad_mu = FUSED(scaled, d, *grad_mu);
    *gradient = FUSED(FUSED(scaled, s, *gradient), s, -weight); /* (V3) and (V8) */
}

/* The lanes, in pairs. */
static inline double pairs_sum(float lane[SUMS])
{
    for (int w = SUMS / 2; w > 1; w /= 2)
        for (int l = 0; l < w; l++) lane[l] += lane[l + w];
    return (double)lane[0] + (double)lane[1];
}

/* n <= SWEEP */
static void exp_chunk(xb_normal_sums *sums, float *restrict grad_mu,
                      float *restrict gradient, const float *restrict mu,
                      const float *restrict sigma, const float *restrict rho, int64_t n,
                      float mean, float scaled, float weight)
{
    exp_lanes lanes = {{0}, {0}};
    int64_t i = 0;
    for (; i + SUMS <= n; i += SUMS)
#pragma omp simd
        for (int l = 0; l < SUMS; l++)
            exp_lane(&lanes, l, grad_mu + i + l, gradient + i + l, mu[i + l],
                     sigma[i + l], rho[i + l], mean, scaled, weight);
    for (int l = 0; i < n; i++, l++)
        exp_lane(&lanes, l, grad_mu + i, gradient + i, mu[i], sigma[i], rho[i], mean,
                 scaled, weight);
    sums->square += pairs_sum(lanes.square);
    sums->logs += pairs_sum(lanes.logs);
}

static xb_normal_sums normal_exp(float *grad_mu, float *gradient, const float *mu,
                                 const float *sigma, const float *rho, int64_t n,
                                 double mean, float scaled, float weight)
{
    xb_normal_sums sums = {0, 0};
    for (int64_t i = 0; i < n; i += SWEEP)
        exp_chunk(&sums, grad_mu + i, gradient + i, mu + i, sigma + i, rho + i,
                  n - i < SWEEP ? n - i : SWEEP, (float)mean, scaled, weight);
    return sums;
}

/* (V7) */
static inline float adam_one(float p, float *m, float *v, float g, const xb_adam_rates *a)
{
    *m = FUSED(a->beta1, *m, a->rest1 * g);
    *v = FUSED(a->beta2, *v, a->rest2 * (g * g));
    return p - a->rate * *m / (sqrtf(*v) + a->epsilon);
}

static void adam(float *restrict p, float *restrict m, float *restrict v,
                 const float *restrict g, int64_t n, const xb_adam_rates *rates)
{
    const xb_adam_rates a = *rates;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) p[i] = adam_one(p[i], m + i, v + i, g[i], &a);
}

static void adam_exp(float *restrict sigma, float *restrict rho, float *restrict m,
                     float *restrict v, const float *restrict g, int64_t n,
                     const xb_adam_rates *rates)
{
    const xb_adam_rates a = *rates;
    for (int64_t from = 0; from < n + BEHIND; from += BEHIND) {
        int64_t end = from + BEHIND < n ? from + BEHIND : n;
#pragma omp simd
        for (int64_t i = from; i < end; i++)
            rho[i] = adam_one(rho[i], m + i, v + i, g[i], &a);
        int64_t known = from < n ? from : n;
#pragma omp simd
        for (int64_t i = from > 0 ? from - BEHIND : 0; i < known; i++)
            sigma[i] = sigma_of(rho[i]);
    }
}

/* The bits without the sign grow with the number, and those of infinity and NaN are the
 * largest. A number that is too large leaves a difference below 0, and the signs are
 * combined. */
static bool squares_finite(const float *x, int64_t n)
{
    const int32_t most = 0x5f7fffff; /* below 2^64, whose square is infinite */
    int32_t signs = 0;
#pragma omp simd reduction(| : signs)
    for (int64_t i = 0; i < n; i++) {
        int32_t bits;
        memcpy(&bits, x + i, sizeof bits);
        signs |= most - (bits & INT32_MAX);
    }
    return signs >= 0;
}

static int32_t count_below(const int32_t *x, int32_t n, int32_t limit)
{
    int32_t count = 0;
#pragma omp simd reduction(+ : count)
    for (int32_t i = 0; i < n; i++) count += x[i] < limit;
    return count;
}

/* (V12) 52 bits under the exponent of 1 make 1 + k / 2^52: less 1 - 2^-53 it is the
 * uniform (k + 1/2) / 2^52, exactly. */
static void places(int32_t *restrict place, const uint32_t *restrict word, int32_t first,
                   int32_t n)
{
    const double nearly_1 = 1 - 0x1p-53;
#pragma omp simd
    for (int32_t i = 0; i < n; i++) {
        uint64_t bits = (uint64_t)word[2 * i] << 32 | word[2 * i + 1];
        bits = bits >> 12 | UINT64_C(1023) << 52;
        double u;
        memcpy(&u, &bits, sizeof u);
        place[i] = (int32_t)((u - nearly_1) * (1.0 + (double)first + (double)i));
    }
}

const xb_update XB_OF_LEVEL(xb_update) = {
    .level = XB_LEVEL_NAME,
    .fused = XB_LEVEL_FUSED,
    .sigma_exp = sigma_exp,
    .chain_exp = chain_exp,
    .normal_sums = normal_sums,
    .normal_gradient = normal_gradient,
    .normal_exp = normal_exp,
    .adam = adam,
    .adam_exp = adam_exp,
    .squares_finite = squares_finite,
    .count_below = count_below,
    .places = places,
};
