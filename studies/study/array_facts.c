/* array_facts.c: see array_facts.h. */
#include "study/array_facts.h"

#include <math.h>

double xb_array_tolerated(const xb_table *table, int column, bool fewer, double limit)
{
    double last = NAN;
    int64_t rows = xb_table_row_count(table);
    for (int64_t k = 0; k < rows; k++) {
        int64_t row = fewer ? k : rows - 1 - k;
        if (!(xb_table_get(table, row, column) <= limit)) break;
        last = xb_table_get(table, row, 0);
    }
    return last;
}

double xb_array_quantile(const double *x, int64_t n, double level)
{
    const double at = (double)(n - 1) * level;
    const int64_t k = (int64_t)at;
    return k + 1 < n ? x[k] + (at - (double)k) * (x[k + 1] - x[k]) : x[k];
}

/* The squared change of mean and standard deviation at one point, whose values are n
 * apart. */
static double change_at(const double *value, int64_t few, double mean, double sd,
                        int64_t n)
{
    double seen = 0, square = 0;
    for (int64_t s = 0; s < few; s++) seen += value[s * n] / (double)few;
    for (int64_t s = 0; s < few; s++) square += pow(value[s * n] - seen, 2);
    double spread = sqrt(square / (double)(few - 1));
    return pow((seen - mean) / sd, 2) + pow(spread / sd - 1, 2);
}

double xb_array_moved(const double *value, int64_t blocks, int64_t few,
                      const double *mean, const double *sd, int64_t n)
{
    double sum = 0;
    for (int64_t b = 0; b < blocks; b++, value += few * n)
        for (int64_t i = 0; i < n; i++)
            sum += change_at(value + i, few, mean[i], sd[i], n);
    return sqrt(sum / (double)(blocks * n));
}
