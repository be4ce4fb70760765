/* measured.c: how long a device remembers, from the law file of a fit to its trace
 * (maths X11). The fit keeps the integrated autocorrelation time tau in samples, 1 for
 * white noise; a device that forgets at a constant rate has the same integrated time
 * when its lag-1 correlation is (tau - 1) / (tau + 1). Real traces forget at many rates
 * at once: this keeps the number of independent reads, not every lag. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "crossbar/array.h"
#include "crossbayes/filekind.h"
#include "crossbayes/json.h"

double xb_array_correlation(const xb_array *array)
{
    if (!(array->correlation_time_ns > 0)) return 0;
    return exp(-array->read_interval_ns / array->correlation_time_ns); /* (X10) */
}

static xb_status read_tau(xb_ctx *ctx, double *tau, const char *path)
{
    json_t *root = NULL;
    xb_status status = xb_json_load(ctx, &root, path);
    const json_t *fit = json_object_get(root, "fit");
    if (status == XB_OK && json_is_object(fit))
        status = xb_json_number(ctx, tau, fit, path, "tau");
    else if (status == XB_OK)
        status = xb_fail(ctx, XB_E_INPUT,
                         "%s: no 'fit': only a law made by crossbayes fit knows the"
                         " correlation of its trace",
                         path);
    json_decref(root);
    return xb_filekind_explain(ctx, status, path, XB_KIND_LAW);
}

xb_status xb_array_measured(xb_ctx *ctx, xb_array *array, const char *path,
                            double sample_interval_ns)
{
    double tau = NAN;
    if (!(sample_interval_ns > 0 && isfinite(sample_interval_ns)))
        return xb_fail(ctx, XB_E_INPUT,
                       "a sample interval of %g ns: expected more than 0",
                       sample_interval_ns);
    if (strlen(path) >= sizeof array->law)
        return xb_fail(ctx, XB_E_INPUT, "%.60s...: the path is too long", path);
    XB_TRY(read_tau(ctx, &tau, path));
    if (!(tau > 0))
        return xb_fail(ctx, XB_E_INPUT, "%s: tau is %g, expected more than 0", path, tau);
    double lag1 = (tau - 1) / (tau + 1); /* (X11) */
    if (path != array->law) snprintf(array->law, sizeof array->law, "%s", path);
    array->correlation_time_ns = lag1 > 0 ? -sample_interval_ns / log(lag1) : 0;
    return XB_OK;
}
