/* bursts.c: how many independent draws the reads of a trace are worth; maths T12-T14.
 *
 * A burst is read S times at one interval. The differences between its reads are what a
 * network can use as draws; the error of its mean stays until the next burst. Both follow
 * from the autocovariance of the stationary part. Lags up to a quarter of that part are
 * measured (in a long trace the far ones at every stride-th sample); longer bursts follow
 * from the fitted power law, down to frequencies of a hundredth of a period per burst. */
#include <math.h>

#include "series/autocorrelation.h"
#include "series/series.h"

/* (T14) The share of the reads that must be worth a draw, by a margin of one standard
 * error. */
static const double ENOUGH = 0.5;

xb_status xb_bursts_prepare(xb_ctx *ctx, xb_series *s, const xb_signal *x)
{
    xb_memory m;
    XB_TRY(xb_memory_find(ctx, &m, x));
    s->rho = m.rho, s->lags = m.lags;
    s->coarse = m.coarse, s->coarse_lags = m.coarse_lags, s->stride = m.stride;
    s->tau = m.tau;
    s->independent = (double)s->count / fmax(1, s->tau);
    return XB_OK;
}

double xb_series_autocorrelation(const xb_series *s, int64_t lag)
{
    if (lag < 0) return NAN;
    if (lag < s->lags) return s->rho[lag];
    int64_t far = (lag + s->stride / 2) / s->stride;
    return s->coarse && far < s->coarse_lags ? s->coarse[far] : NAN;
}

/* (T12) The variance of the mean of `reads` reads, divided by that of one read. */
static double mean_share(const xb_series *s, int64_t step, int64_t reads)
{
    double sum = 1;
    for (int64_t k = 1; k < reads; k++)
        sum +=
            2 * (1 - (double)k / (double)reads) * xb_series_autocorrelation(s, k * step);
    return sum / (double)reads;
}

/* (T13) The share of the power at frequency f that is left in the mean of a burst. */
static double passed(double f, double interval, int64_t reads)
{
    double angle = M_PI * f * interval, below = sin(angle);
    if (fabs(below) < 1e-9) return 1;
    double gain = sin((double)reads * angle) / ((double)reads * below);
    return gain * gain;
}

/* (T13) Integrates the variances of a spectrum above `low`; beyond the first aliases the
 * mean keeps 1/reads of the power. */
static void integrate(double *draw, double *mean, const xb_power_law *law, double low,
                      double nyquist, double interval, int64_t reads)
{
    enum { FINE = 8, ALIASES = 4, COARSE = 2000 };
    double step = 1 / (FINE * (double)reads * interval), all = 0, through = 0, width;
    double resolved = fmin(nyquist, ALIASES / interval);
    for (double f = low; f < resolved; f += width) {
        /* Steps are small near 0, where power laws are steep. */
        width = fmin(fmin(step, 0.1 * f), resolved - f);
        const double at = f + 0.5 * width;
        double power = xb_power_law_at(law, at) * width;
        all += power;
        through += power * passed(at, interval, reads);
    }
    double ratio = log(nyquist / resolved) / COARSE;
    for (int i = 0; i < COARSE && ratio > 0; i++) {
        double at = resolved * exp(((double)i + 0.5) * ratio);
        double power = xb_power_law_at(law, at) * at * 2 * sinh(0.5 * ratio);
        all += power;
        through += power / (double)reads;
    }
    *draw = all - through;
    *mean = through;
}

/* The power law with another exponent, equal to the given one in the middle of its band.
 */
static xb_power_law turned(const xb_power_law *law, double by)
{
    xb_power_law t = *law;
    double middle = sqrt(law->low * law->high);
    t.exponent += by;
    t.power *= pow(middle, by);
    return t;
}

static double worth(double draw, double mean, int64_t reads)
{
    double most = (double)reads;
    return mean > 0 ? fmin(most, (draw + mean) / mean) : most;
}

/* (T13) Noise slower than a burst is an error of its mean. How slow the noise can be is
 * unknown, so the slowest part is varied along with the exponent. */
static xb_burst extrapolate(const xb_series *s, double interval, int64_t reads)
{
    /* numbers of bursts in the slowest period */
    static const double slowest[] = {10, 100, 1000};
    const double burst = interval * (double)reads, nyquist = 0.5 / s->interval;
    const double error = isfinite(s->law.exponent_error) ? s->law.exponent_error : 0;
    double independent[3], draw[3], mean[3];
    for (int i = 0; i < 3; i++) {
        xb_power_law law = turned(&s->law, (i - 1) * error);
        integrate(&draw[i], &mean[i], &law, 1 / (slowest[i] * burst), nyquist, interval,
                  reads);
        independent[i] = worth(draw[i], mean[i], reads);
    }
    return (xb_burst){sqrt(draw[1]), sqrt(mean[1]), independent[1],
                      0.5 * fabs(independent[2] - independent[0]), true};
}

xb_burst xb_series_burst(const xb_series *s, double interval, int64_t reads)
{
    int64_t step = (int64_t)fmin(fmax(1, round(interval / s->interval)), 1e15);
    if (reads < 1) reads = 1;
    if ((double)step * (double)reads > 0.25 * (double)s->count) {
        if (reads > 1 && s->spectrum.bins >= 4)
            return extrapolate(s, (double)step * s->interval, reads);
    }
    double share = mean_share(s, step, reads), variance = s->sd * s->sd;
    if (reads == 1 || isnan(share)) return (xb_burst){0, s->sd, 1, 0, reads > 1};
    share = fmin(1, fmax(share, 1e-9));
    double bursts = (double)s->count / ((double)step * (double)reads);
    double independent = fmin((double)reads, 1 / share);
    return (xb_burst){sqrt(variance * (1 - share)), sqrt(variance * share), independent,
                      independent * sqrt(2 / bursts), false};
}

double xb_series_in_turn(const xb_series *s, double interval, int64_t reads,
                         int64_t cells)
{
    int64_t each = (reads + cells - 1) / cells;
    xb_burst b = xb_series_burst(s, interval * (double)cells, each);
    return fmin((double)reads, b.independent * (double)cells);
}

/* (T14) The shortest interval of a grid that is sufficient by a margin of one standard
 * error and after which none is insufficient; NAN if the trace is too short to show one.
 */
static double measured_from(const xb_series *s)
{
    const double ratio = 1.3;
    double from = NAN, least = ENOUGH * (double)s->reads;
    for (double t = s->read_interval;; t = fmax(t * ratio, t + s->interval)) {
        t = fmax(1, round(t / s->interval)) * s->interval;
        xb_burst b = xb_series_burst(s, t, s->reads);
        if (b.extrapolated) return from;
        if (b.independent < least)
            from = NAN;
        else if (isnan(from) && b.independent - b.error >= least)
            from = t;
        if (s->reads == 1) return from;
    }
}

void xb_bursts_judge(xb_series *s)
{
    s->usable_from = measured_from(s);
    bool at_once = s->usable_from <= s->read_interval * (1 + 1e-9);
    s->usable = isnan(s->usable_from) ? XB_USABLE_LONGER
                : at_once             ? XB_USABLE
                                      : XB_USABLE_SLOWER;
}

const char *xb_usable_name(xb_usable usable)
{
    static const char *const name[] = {[XB_USABLE] = "usable",
                                       [XB_USABLE_SLOWER] = "not usable at this interval",
                                       [XB_USABLE_LONGER] = "measure longer"};
    return name[usable];
}
