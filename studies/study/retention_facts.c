/* retention_facts.c: see retention_facts.h (maths S5, S6). */
#include "study/retention_facts.h"

#include <math.h>

#include "crossbayes/extend.h"

/* ---- quiet states */

static double last_spread(const xb_device *d, int64_t state)
{
    return xb_device_move_at(d, state, xb_device_time_count(d) - 1).spread;
}

/* The widest run of states that spread by at most `limit`. */
static xb_state_range widest_run(const xb_device *d, double limit)
{
    const int64_t n = xb_device_state_count(d);
    xb_state_range best = {0, 0, limit};
    for (int64_t from = 0, to; from < n; from = to) {
        to = from;
        while (to < n && last_spread(d, to) <= limit) to++;
        if (to == from) {
            to++;
            continue;
        }
        const double low = xb_device_state_at(d, from).conductance;
        const double high = xb_device_state_at(d, to - 1).conductance;
        if (high - low > best.high - best.low) best.low = low, best.high = high;
    }
    return best;
}

xb_state_range xb_quiet_range(const xb_device *d)
{
    double least = INFINITY, most = 0;
    for (int64_t i = 0; i < xb_device_state_count(d); i++) {
        least = fmin(least, last_spread(d, i));
        most = fmax(most, last_spread(d, i));
    }
    xb_state_range run = {0};
    for (double limit = 2 * least; !(run.high > run.low); limit *= 2) { /* (S5) */
        run = widest_run(d, limit);
        if (limit >= most) break;
    }
    return run;
}

/* ---- refreshing */

/* The mean over chips at one age, without one of them (-1: with all). */
static double mean_loss(const double *loss, int64_t chips, int64_t ages, int64_t age,
                        int64_t without)
{
    double sum = 0;
    for (int64_t c = 0; c < chips; c++)
        if (c != without) sum += loss[c * ages + age];
    return sum / (double)(without < 0 ? chips : chips - 1);
}

/* The logarithm of the time at which the mean loss first exceeds the limit; -INFINITY or
 * INFINITY if that is outside the ages. */
static double crossing(const double *loss, const double *age, int64_t chips, int64_t ages,
                       double limit, int64_t without)
{
    double before = mean_loss(loss, chips, ages, 0, without);
    if (before > limit) return -INFINITY;
    for (int64_t k = 1; k < ages; k++) {
        const double after = mean_loss(loss, chips, ages, k, without);
        if (after > limit) {
            const double part = (limit - before) / (after - before);
            return log(age[k - 1]) + part * (log(age[k]) - log(age[k - 1]));
        }
        before = after;
    }
    return INFINITY;
}

/* The jackknife standard error; NAN if leaving out a chip moves the crossing outside the
 * ages. */
static double jackknife(const double *loss, const double *age, int64_t chips,
                        int64_t ages, double limit)
{
    const double n = (double)chips;
    double mean = 0, square = 0;
    if (chips < 2) return NAN;
    for (int64_t c = 0; c < chips; c++)
        mean += crossing(loss, age, chips, ages, limit, c) / n;
    for (int64_t c = 0; c < chips; c++)
        square += pow(crossing(loss, age, chips, ages, limit, c) - mean, 2);
    return isfinite(square) ? sqrt(square * (n - 1) / n) : NAN;
}

/* The number of chips that have exceeded the limit by the time at which this one does. */
static int64_t passed_by(const double *loss, const double *age, int64_t chips,
                         int64_t ages, double limit, double at)
{
    int64_t count = 0;
    for (int64_t c = 0; c < chips; c++)
        count += crossing(loss + c * ages, age, 1, ages, limit, -1) <= at;
    return count;
}

/* The earliest time by which half of the chips have exceeded the limit. */
static double half_passed(const double *loss, const double *age, int64_t chips,
                          int64_t ages, double limit)
{
    double best = INFINITY;
    for (int64_t c = 0; c < chips; c++) {
        const double at = crossing(loss + c * ages, age, 1, ages, limit, -1);
        if (at < best && 2 * passed_by(loss, age, chips, ages, limit, at) >= chips)
            best = at;
    }
    return best;
}

xb_refresh xb_refresh_find(const double *loss, const double *age, int64_t chips,
                           int64_t ages, double limit)
{
    const double at = crossing(loss, age, chips, ages, limit, -1); /* (S6) */
    const double half = exp(half_passed(loss, age, chips, ages, limit));
    if (!isfinite(at)) return (xb_refresh){exp(at), NAN, NAN, half};
    const double error = jackknife(loss, age, chips, ages, limit);
    return (xb_refresh){exp(at), exp(at - error), exp(at + error), half};
}
