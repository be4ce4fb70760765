/* jackknife.c: see jackknife.h. */
#include "compare/jackknife.h"

#include <math.h>

xb_jackknife xb_jackknife_make(int64_t draws)
{
    xb_jackknife g = {.count =
                          draws < XB_JACKKNIFE_GROUPS ? (int)draws : XB_JACKKNIFE_GROUPS};
    g.versions = g.count > 1 ? g.count + 1 : 1;
    for (int i = 0; i <= g.count; i++) g.start[i] = draws * i / g.count;
    g.kept[0] = (double)draws;
    for (int i = 0; i + 1 < g.versions; i++)
        g.kept[1 + i] = (double)(draws - (g.start[i + 1] - g.start[i]));
    return g;
}

void xb_jackknife_fold(double *version, const double *group, const xb_jackknife *g)
{
    for (int v = 0; v < g->versions; v++) {
        double sum = 0;
        for (int i = 0; i < g->count; i++)
            if (i != v - 1) sum += group[i];
        version[v] = sum;
    }
}

double xb_jackknife_error(const double *without, int count)
{
    if (count < 2) return NAN;
    double mean = 0, sum = 0;
    for (int i = 0; i < count; i++) mean += without[i] / count;
    for (int i = 0; i < count; i++) sum += (without[i] - mean) * (without[i] - mean);
    return sqrt(sum * (count - 1) / count); /* (C2) */
}
