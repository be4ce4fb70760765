/* power_law.c: the exponent of 1/f^a noise; maths T9.
 *
 * Maximises Whittle's likelihood of the binned ordinates by Fisher scoring, with a step
 * that is halved until the likelihood grows. Errors follow from the information matrix;
 * if the model does not fit the spectrum, they are multiplied by the misfit. */
#include <math.h>
#include <string.h>

#include "series/welch.h"

enum { PARAMETERS = 3, ROUNDS = 200 };

typedef struct model {
    const xb_log_spectrum *s;
    int64_t from, to;
    double middle; /* frequency at which the power is given */
    int parameters;
    double theta[PARAMETERS]; /* log power at the middle, exponent, log floor */
} model;

/* (T9) A power law is not expected to be right to better than 1.6 % in a bin. Without
 * this limit the many ordinates at high frequencies would decide the fit alone. */
static double weight(const model *m, int64_t j)
{
    const double most = 4000;
    return m->s->weight[j] / (1 + m->s->weight[j] / most);
}

static double sloped(const model *m, const double *theta, double f)
{
    return exp(theta[0] - theta[1] * log(f / m->middle));
}

static double power_at(const model *m, const double *theta, double f)
{
    return sloped(m, theta, f) + (m->parameters > 2 ? exp(theta[2]) : 0);
}

/* (T9) Minus twice the log likelihood relative to a model that is right in every bin. */
static double deviance(const model *m, const double *theta)
{
    double sum = 0;
    for (int64_t j = m->from; j < m->to; j++) {
        double ratio = m->s->power[j] / power_at(m, theta, m->s->frequency[j]);
        sum += 2 * weight(m, j) * (ratio - 1 - log(fmax(ratio, 1e-300)));
    }
    return sum;
}

static void information(const model *m, double score[PARAMETERS],
                        double fisher[PARAMETERS][PARAMETERS])
{
    memset(score, 0, PARAMETERS * sizeof *score);
    memset(fisher, 0, PARAMETERS * sizeof *fisher);
    for (int64_t j = m->from; j < m->to; j++) {
        double f = m->s->frequency[j], whole = power_at(m, m->theta, f);
        double share = sloped(m, m->theta, f) / whole, w = weight(m, j);
        double g[PARAMETERS] = {share, -share * log(f / m->middle), 1 - share};
        for (int a = 0; a < m->parameters; a++) {
            score[a] += w * (m->s->power[j] / whole - 1) * g[a];
            for (int b = 0; b < m->parameters; b++) fisher[a][b] += w * g[a] * g[b];
        }
    }
}

/* Solves a x = b in place by elimination; false: singular. */
static bool solve(double a[PARAMETERS][PARAMETERS], double *b, int n)
{
    for (int k = 0; k < n; k++) {
        if (!(fabs(a[k][k]) > 1e-12)) return false;
        for (int i = 0; i < n; i++) {
            double t = i == k ? 0 : a[i][k] / a[k][k];
            for (int j = k; j < n && t != 0; j++) a[i][j] -= t * a[k][j];
            b[i] -= t * b[k];
        }
    }
    for (int k = 0; k < n; k++) b[k] /= a[k][k];
    return true;
}

static void improve(model *m)
{
    double score[PARAMETERS], fisher[PARAMETERS][PARAMETERS], at = deviance(m, m->theta);
    for (int round = 0; round < ROUNDS; round++) {
        information(m, score, fisher);
        for (int a = 0; a < m->parameters; a++) fisher[a][a] *= 1 + 1e-9;
        if (!solve(fisher, score, m->parameters)) return;
        double step = 1, next = at, theta[PARAMETERS] = {0};
        for (; step > 1e-6; step *= 0.5) {
            for (int a = 0; a < m->parameters; a++)
                theta[a] = m->theta[a] + step * fmax(-2, fmin(2, score[a]));
            next = deviance(m, theta);
            if (next < at) break;
        }
        if (!(next < at)) return;
        memcpy(m->theta, theta, sizeof theta);
        bool done = at - next < 1e-10 * (1 + at);
        at = next;
        if (done) return;
    }
}

static double exponent_error(const model *m)
{
    double score[PARAMETERS], fisher[PARAMETERS][PARAMETERS];
    double unit[PARAMETERS] = {0, 1, 0};
    information(m, score, fisher);
    if (!solve(fisher, unit, m->parameters)) return NAN;
    double freedom = (double)(m->to - m->from - m->parameters);
    double misfit = freedom > 0 ? deviance(m, m->theta) / freedom : 1;
    return sqrt(unit[1] * fmax(1, misfit));
}

/* The floor is kept if it improves the fit significantly at the 1 % level. */
static void try_floor(model *m)
{
    const double needed = 6.635; /* 99 % point of chi^2 with one degree of freedom */
    model more = *m;
    more.parameters = 3;
    double least = INFINITY;
    for (int64_t j = m->from; j < m->to; j++) least = fmin(least, m->s->power[j]);
    more.theta[2] = log(0.5 * fmax(least, 1e-300));
    improve(&more);
    double freedom = (double)(m->to - m->from - 3);
    if (freedom < 1) return;
    double after = deviance(&more, more.theta);
    double gain = deviance(m, m->theta) - after;
    if (gain > needed * fmax(1, after / freedom) && more.theta[1] > 0) *m = more;
}

double xb_power_law_at(const xb_power_law *law, double f)
{
    return law->power * pow(f, -law->exponent) + law->floor;
}

xb_status xb_power_law_fit(xb_ctx *ctx, xb_power_law *out, const xb_log_spectrum *s,
                           double low, double high, bool floor)
{
    model m = {.s = s, .parameters = 2};
    while (m.from < s->bins && s->frequency[m.from] < low) m.from++;
    m.to = m.from;
    while (m.to < s->bins && s->frequency[m.to] <= high) m.to++;
    if (m.to - m.from < 4)
        return xb_fail(
            ctx, XB_E_INPUT,
            "the spectrum has %lld points from %g to %g: at least 4 are needed",
            (long long)(m.to - m.from), low, high);
    double from = s->frequency[m.from], to = s->frequency[m.to - 1], sum = 0;
    m.middle = sqrt(from * to);
    for (int64_t j = m.from; j < m.to; j++) sum += log(fmax(s->power[j], 1e-300));
    m.theta[0] = sum / (double)(m.to - m.from);
    m.theta[1] = 0.5;
    improve(&m);
    if (floor) try_floor(&m);
    xb_power_law law = {m.theta[1], exponent_error(&m), 0, 0, NAN, from, to};
    law.power = exp(m.theta[0] + m.theta[1] * log(m.middle));
    if (m.parameters > 2) {
        law.floor = exp(m.theta[2]);
        law.corner = m.middle * exp((m.theta[0] - m.theta[2]) / m.theta[1]);
    }
    *out = law;
    return XB_OK;
}
