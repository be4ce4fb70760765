/* jackknife.c: see jackknife.h. Signs that are balanced between all pairs of groups are
 * those of Walsh's functions (McCarthy 1969 on half samples). */
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

/* In place: x[r] becomes the sum over g of x[g] times -1 to the number of ones in g & r.
 */
static void walsh(double x[XB_WALSH])
{
    for (int step = 1; step < XB_WALSH; step *= 2)
        for (int i = 0; i < XB_WALSH; i += 2 * step)
            for (int j = i; j < i + step; j++) {
                double a = x[j], b = x[j + step];
                x[j] = a + b, x[j + step] = a - b;
            }
}

void xb_jackknife_shake(double shaken[XB_SHAKES], const double *version,
                        const xb_jackknife *g)
{
    double x[XB_WALSH] = {0}, scale = sqrt((g->count - 1.0) / g->count);
    for (int v = 1; v < g->versions; v++) x[v] = scale * (version[v] - version[0]);
    walsh(x); /* (C20) */
    for (int r = 0; r < XB_WALSH; r++) {
        shaken[r] = version[0] + x[r];
        shaken[XB_WALSH + r] = version[0] - x[r];
    }
}

double xb_jackknife_shake_error(const double score[XB_SHAKES], const xb_jackknife *g)
{
    double mean = 0, square = 0;
    for (int r = 0; r < XB_SHAKES; r++) mean += score[r] / XB_SHAKES;
    for (int r = 0; r < XB_SHAKES; r++) square += (score[r] - mean) * (score[r] - mean);
    return g->versions > 1 ? sqrt(square / XB_SHAKES) : NAN;
}
