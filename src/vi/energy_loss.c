/* energy_loss.c: the energy distance of exponent 3/2 from a sample to the standard
 * normal; maths G1. The distance of one value is in kernel/energy_kernel.h. Pairs are
 * taken in float, in which f comes: the root of a difference is as good as the
 * difference. */
#include <math.h>
#include <string.h>

#include "kernel/energy_kernel.h"

void xb_energy_table_fill(xb_energy_table *table)
{
    for (int i = 0; i < XB_ENERGY_NODES; i++)
        xb_energy_taylor(table->at[i], i * XB_ENERGY_SPACING);
}

double xb_energy_normal(double f, double *slope)
{
    xb_energy_table table;
    double unused;
    xb_energy_table_fill(&table);
    return xb_energy_mean_distance(&table, f, slope ? slope : &unused);
}

/* Number of partial sums, fixed so that the bytes do not depend on the compiler. */
enum { LANES = 4 };

typedef struct pair_sums {
    float mine[LANES], row[LANES];
} pair_sums;

static inline void add_pair(pair_sums *sums, int lane, float *pull, float d)
{
    float root = sqrtf(fabsf(d)), side = copysignf(root, d);
    sums->row[lane] += fabsf(d) * root;
    sums->mine[lane] += side;
    *pull -= side;
}

static inline float lanes_sum(const float lane[LANES])
{
    return ((lane[0] + lane[1]) + lane[2]) + lane[3];
}

/* Sum over i < j of |f_i - f_j|^1.5; pull [n]: sum over j of sign(d) sqrt|d|. */
static double pairs(float *restrict pull, const float *restrict f, int64_t n)
{
    double sum = 0;
    memset(pull, 0, (size_t)n * sizeof *pull);
    for (int64_t i = 0; i < n; i++) {
        pair_sums sums = {{0}, {0}};
        int64_t j = i + 1;
        for (; j + LANES <= n; j += LANES)
#pragma omp simd
            for (int l = 0; l < LANES; l++)
                add_pair(&sums, l, &pull[j + l], f[i] - f[j + l]);
        for (; j < n; j++) add_pair(&sums, 0, &pull[j], f[i] - f[j]);
        pull[i] += lanes_sum(sums.mine);
        sum += (double)lanes_sum(sums.row);
    }
    return sum;
}

double xb_energy_loss_by(const xb_energy_table *table, float *df, const float *f,
                         int64_t n)
{
    double apart = pairs(df, f, n), target = 0, count = (double)n;
    double per_pair = 2 / (count * (count - 1));
    for (int64_t i = 0; i < n; i++) {
        double slope;
        target += xb_energy_mean_distance(table, (double)f[i], &slope);
        df[i] =
            (float)(2 / count * slope - per_pair * XB_ENERGY_EXPONENT * (double)df[i]);
    }
    return 2 / count * target - per_pair * apart; /* (G1) */
}

double xb_energy_loss(float *df, const float *f, int64_t n)
{
    xb_energy_table table;
    xb_energy_table_fill(&table);
    return xb_energy_loss_by(&table, df, f, n);
}
