/* measured.c: how long the noise of a device is correlated, from the law file of a fit to
 * its trace (maths X11). The fit keeps the integrated autocorrelation time tau in
 * samples, 1 for white noise; a device that forgets at a constant rate has the same
 * integrated time when its lag-1 correlation is (tau - 1) / (tau + 1). Real traces have
 * many rates at once: if the law file has the correlation at each lag, reads follow it
 * (X20).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "crossbar/analog.h"
#include "crossbayes/filekind.h"
#include "crossbayes/json.h"

double xb_array_correlation(const xb_array *array)
{
    if (!(array->correlation_time_ns > 0)) return 0;
    return exp(-array->read_interval_ns / array->correlation_time_ns); /* (X10) */
}

void xb_array_memory(const xb_array *array, double *correlation)
{
    const xb_trace_memory *m = &array->memory;
    for (int i = 0; i < XB_MEMORY_LAGS; i++) {
        const double lag =
            ldexp(array->read_interval_ns / m->interval_ns, i); /* in samples */
        int above = 0;
        while (above < m->lags && ldexp(1, above) < lag) above++;
        if (above == m->lags) { /* beyond the known lags there is no correlation */
            correlation[i] = 0;
            continue;
        }
        const double from = above ? ldexp(1, above - 1) : 0, to = ldexp(1, above);
        const double low = above ? m->correlation[above - 1] : 1;
        correlation[i] = low + (m->correlation[above] - low) * (lag - from) / (to - from);
    }
}

double xb_array_independent(const xb_array *array, int64_t reads)
{
    const double rho = xb_array_correlation(array), n = (double)reads;
    double correlation[XB_MEMORY_LAGS];
    xb_held held = {0};
    if (array->memory.lags == 0) /* (X10), (T12) */
        return n / ((1 + rho) / (1 - rho) -
                    2 * rho * (1 - pow(rho, n)) / (n * (1 - rho) * (1 - rho)));
    xb_array_memory(array, correlation);
    xb_held_fill(&held, correlation, XB_MEMORY_LAGS);
    return n / xb_held_sum(&held, reads);
}

/* Reads the correlation of the trace behind a law file, if the fit kept it. */
static xb_status read_memory(xb_ctx *ctx, xb_trace_memory *out, const json_t *series,
                             const char *path)
{
    const json_t *list = json_object_get(series, "correlation");
    double interval = NAN;
    *out = (xb_trace_memory){0};
    XB_TRY(xb_json_number_optional(ctx, &interval, series, path, "interval_s"));
    if (!json_is_array(list)) return XB_OK;
    for (size_t i = 0; i < json_array_size(list) && i < XB_MEMORY_LAGS; i++) {
        const double r = json_number_value(json_array_get(list, i));
        if (!json_is_number(json_array_get(list, i)) || !(fabs(r) <= 1 + 1e-9))
            return xb_fail(ctx, XB_E_INPUT,
                           "%s: 'correlation': expected numbers from -1 to 1", path);
        out->correlation[out->lags++] = r;
    }
    out->interval_ns = 1e9 * interval;
    return XB_OK;
}

typedef struct measured {
    double tau;
    xb_trace_memory memory;
} measured;

static xb_status read_measured(xb_ctx *ctx, measured *out, const char *path)
{
    json_t *root = NULL;
    xb_status status = xb_json_load(ctx, &root, path);
    const json_t *fit = json_object_get(root, "fit");
    if (status == XB_OK && json_is_object(fit))
        status = xb_json_number(ctx, &out->tau, fit, path, "tau");
    else if (status == XB_OK)
        status = xb_fail(ctx, XB_E_INPUT,
                         "%s: no 'fit': only a law made by crossbayes fit knows the"
                         " correlation of its trace",
                         path);
    if (status == XB_OK)
        status = read_memory(ctx, &out->memory, json_object_get(root, "series"), path);
    json_decref(root);
    return xb_filekind_explain(ctx, status, path, XB_KIND_LAW);
}

xb_status xb_array_set_measured(xb_ctx *ctx, xb_array *array, const char *path,
                                double sample_interval_ns)
{
    measured m = {.tau = NAN};
    if (!(sample_interval_ns >= 0 && isfinite(sample_interval_ns)))
        return xb_fail(ctx, XB_E_INPUT,
                       "a sample interval of %g ns: expected more than 0",
                       sample_interval_ns);
    if (strlen(path) >= sizeof array->law)
        return xb_fail(ctx, XB_E_INPUT, "%.60s...: the path is too long", path);
    XB_TRY(read_measured(ctx, &m, path));
    if (!(m.tau > 0))
        return xb_fail(ctx, XB_E_INPUT, "%s: tau is %g, expected more than 0", path,
                       m.tau);
    if (sample_interval_ns > 0) m.memory.interval_ns = sample_interval_ns;
    if (!(m.memory.interval_ns > 0))
        return xb_fail(ctx, XB_E_INPUT,
                       "%s: the interval between its samples is not known", path);
    double lag1 = (m.tau - 1) / (m.tau + 1); /* (X11) */
    if (path != array->law) snprintf(array->law, sizeof array->law, "%s", path);
    array->correlation_time_ns = lag1 > 0 ? -m.memory.interval_ns / log(lag1) : 0;
    array->memory = m.memory;
    if (array->correlation_time_ns == 0) array->memory.lags = 0; /* white noise */
    return XB_OK;
}
