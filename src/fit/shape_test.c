/* shape_test.c: skewness and kurtosis; maths F17, F18.
 *
 * Errors by influence functions, for any law with the moments: a Gaussian's sqrt(6/n)
 * would be half of what it is for an exponential law. Whether a law's skewness and
 * kurtosis agree with the sample's is judged by samples simulated from the law, because
 * kurtosis is far from Gaussian in samples of any practical size. */
#include "fit/shape_test.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "crossbayes/extend.h"
#include "crossbayes/random.h"

/* (F17) */
void xb_shape_errors(xb_fit_sample *info, const double *x, int64_t n)
{
    double skew = info->skewness, kurtosis = info->excess_kurtosis + 3;
    double sd = 0, third = 0, fourth = 0;
    for (int64_t i = 0; i < n; i++) {
        double z = (x[i] - info->mean) / info->sd, square = z * z;
        double a = square - 1;
        double b = z * (square - 3) - skew - 1.5 * skew * a;
        double c = square * square - kurtosis - 4 * skew * z - 2 * kurtosis * a;
        sd += a * a, third += b * b, fourth += c * c;
    }
    double count = (double)n * info->n_effective;
    info->sd_error = 0.5 * info->sd * sqrt(sd / count);
    info->skewness_error = sqrt(third / count);
    info->excess_kurtosis_error = sqrt(fourth / count);
}

enum { TABLE = 4096, SAMPLES = 200, SIZE_MAX_SIMULATED = 500, SIZE_LEAST = 8 };

typedef struct shape {
    double skewness, kurtosis;
} shape;

static shape shape_of(const double *x, int64_t n)
{
    double mean = 0, m2 = 0, m3 = 0, m4 = 0;
    for (int64_t i = 0; i < n; i++) mean += x[i] / (double)n;
    for (int64_t i = 0; i < n; i++) {
        double d = x[i] - mean, square = d * d;
        m2 += square, m3 += square * d, m4 += square * square;
    }
    double variance = m2 / (double)n;
    if (!(variance > 0)) return (shape){0, 0};
    return (shape){m3 / (double)n / (variance * sqrt(variance)),
                   m4 / (double)n / (variance * variance) - 3};
}

static void draw_sample(double *x, int64_t n, const double *table, uint64_t seed,
                        uint32_t number)
{
    xb_stream stream = {xb_key_make(seed, XB_PURPOSE_BOOTSTRAP), 1, number, 0};
    for (int64_t i = 0; i < n; i++) {
        double at = xb_stream_uniform(&stream, i) * TABLE - 0.5;
        double inside = fmin(fmax(at, 0), TABLE - 1.001);
        int64_t cell = (int64_t)inside;
        x[i] = table[cell] + (inside - (double)cell) * (table[cell + 1] - table[cell]);
    }
}

/* The largest share of a moment, and of the moment of twice the power, that may lie
 * outside the range of the simulated samples. */
#define SHARE 0.25
#define SHARE_TWICE 0.1

/* Whether a moment exists and lies within the range of the tabulated quantiles. For heavy
 * tails it lies beyond them, or does not exist, and no sample can show which. */
static bool testable(double exact, double seen)
{
    return isfinite(exact) && fabs(exact - seen) <= SHARE * (1 + fabs(exact));
}

/* Whether the moment of this power is within that range. Otherwise the moment of half the
 * power varies from sample to sample more than the simulated samples show, and not as 1 /
 * sqrt(n). Beyond the table's last cells the sum is over octaves of the probability. */
static bool scatter_is_seen(const xb_law *law, const double *table, int power)
{
    enum { OCTAVES = 40 };
    double mean = 0, variance = 0, seen = 0, beyond = 0;
    for (int i = 0; i < TABLE; i++) mean += table[i] / TABLE;
    for (int i = 0; i < TABLE; i++) variance += pow(table[i] - mean, 2) / TABLE;
    if (!(variance > 0)) return true;
    for (int i = 1; i < TABLE - 1; i++) seen += pow(table[i] - mean, power) / TABLE;
    const double ends =
        (pow(table[0] - mean, power) + pow(table[TABLE - 1] - mean, power)) / TABLE;
    for (int j = 0; j < OCTAVES; j++) {
        const double width = ldexp(0.5, -j) / TABLE, u = 1.5 * width;
        beyond += width * (pow(xb_law_quantile(law, u) - mean, power) +
                           pow(xb_law_isf(law, u) - mean, power));
    }
    return isfinite(beyond) && beyond - ends <= SHARE_TWICE * (seen + beyond);
}

/* (F18) Two-sided: the share of simulated samples that are as far from the law's value as
 * the sample. */
static void count_beyond(xb_fit_family *out, const double *table, double *room,
                         int64_t size, shape law, shape off, uint64_t seed)
{
    int skewness = 0, kurtosis = 0;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        draw_sample(room, size, table, seed, i);
        shape s = shape_of(room, size);
        skewness += fabs(s.skewness - law.skewness) >= off.skewness;
        kurtosis += fabs(s.kurtosis - law.kurtosis) >= off.kurtosis;
    }
    out->skewness_p = (1.0 + skewness) / (SAMPLES + 1);
    out->kurtosis_p = (1.0 + kurtosis) / (SAMPLES + 1);
}

xb_status xb_shape_test(xb_ctx *ctx, xb_fit_family *out, const xb_law *law,
                        const xb_fit_sample *info, uint64_t seed)
{
    double effective = fmax(SIZE_LEAST, info->n_effective);
    int64_t size = (int64_t)fmin(effective, SIZE_MAX_SIMULATED);
    double *table = xb_room(ctx, TABLE + SIZE_MAX_SIMULATED, sizeof *table);
    if (!table) return XB_E_MEMORY;
    for (int i = 0; i < TABLE; i++) table[i] = xb_law_quantile(law, (i + 0.5) / TABLE);
    xb_moments m = xb_law_moments(law);
    double scale = sqrt(effective / (double)size); /* errors shrink with the root of n */
    shape off = {scale * fabs(info->skewness - m.skewness),
                 scale * fabs(info->excess_kurtosis - m.excess_kurtosis)};
    shape seen = shape_of(table, TABLE);
    count_beyond(out, table, table + TABLE, size, seen, off, seed);
    if (!testable(m.skewness, seen.skewness) || !scatter_is_seen(law, table, 6))
        out->skewness_p = 1;
    if (!testable(m.excess_kurtosis, seen.kurtosis) || !scatter_is_seen(law, table, 8))
        out->kurtosis_p = 1;
    free(table);
    return XB_OK;
}
