/* draws_verdict.c: is the device behind a law file a source of draws at a read interval?
 * This gives the verdict of the fit (maths T14) at another interval. The number of draws
 * that the reads are worth comes from the trace's correlation, as arrays follow it (X20);
 * the interval from which on reads are good enough comes from the fit itself (X41). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/os.h"
#include "crossbar/array.h"
#include "crossbayes/crossbar.h"
#include "crossbayes/data.h"
#include "crossbayes/json.h"

enum { READS_OF_A_FIT = 100, QUANTITY = 48 };

/* (X41) */
static xb_usable judge(double read_interval, double usable_from)
{
    if (isnan(usable_from)) return XB_USABLE_LONGER;
    return usable_from <= read_interval * (1 + 1e-9) ? XB_USABLE : XB_USABLE_SLOWER;
}

static void say(xb_draws_verdict *v)
{
    char at[QUANTITY], from[QUANTITY], head[256];
    xb_quantity_text(at, sizeof at, v->read_interval, NAN, "s");
    xb_quantity_text(from, sizeof from, v->usable_from, NAN, "s");
    if (v->usable == XB_USABLE)
        snprintf(head, sizeof head,
                 "Usable as a source of draws at read intervals of %s or more.", from);
    else if (v->usable == XB_USABLE_SLOWER)
        snprintf(head, sizeof head,
                 "Not usable at a read interval of %s, usable at %s or more.", at, from);
    else
        snprintf(head, sizeof head,
                 "Measure longer: at every read interval that the trace is long enough to"
                 " judge, fewer than half of the reads are independent.");
    /* Such an interval is longer than the trace can judge. */
    const bool unsure =
        v->usable == XB_USABLE_LONGER && v->independent >= 0.5 * (double)v->reads;
    snprintf(v->text, sizeof v->text,
             "%s %lld %s, one every %s, %s worth %.3g independent %s%s.", head,
             (long long)v->reads, xb_plural(v->reads, "read", "reads"), at,
             v->reads == 1 ? "is" : "are", v->independent,
             v->independent < 1.005 ? "draw" : "draws",
             unsure ? " by the measured correlation, which the trace is too short to"
                      " confirm"
                    : "");
}

/* Reads what a law file says about the fit; *timed: the trace had a time axis. */
static xb_status read_series(xb_ctx *ctx, xb_draws_verdict *out, bool *known,
                             const char *path)
{
    json_t *root = NULL;
    double interval = NAN;
    XB_TRY(xb_json_load(ctx, &root, path));
    const json_t *series = json_object_get(root, "series");
    *known = json_is_object(json_object_get(root, "fit")) && json_is_object(series);
    out->usable_from = NAN;
    xb_status status = XB_OK;
    if (*known)
        status = xb_json_number_optional(ctx, &interval, series, path, "interval_s");
    if (*known && status == XB_OK)
        status =
            xb_json_number_optional(ctx, &out->usable_from, series, path, "usable_from");
    *known = *known && interval > 0;
    if (out->read_interval == 0) out->read_interval = interval;
    json_decref(root);
    return status;
}

static xb_status measure(xb_ctx *ctx, xb_draws_verdict *out, const char *path)
{
    xb_array *array = NULL;
    XB_TRY(xb_array_parse(ctx, &array, "ideal"));
    xb_status status =
        xb_array_set(ctx, array, "read_interval_ns", 1e9 * out->read_interval);
    if (status == XB_OK) status = xb_array_set_measured(ctx, array, path, 0);
    if (status == XB_OK) out->independent = xb_array_independent(array, out->reads);
    xb_array_destroy(array);
    return status;
}

xb_status xb_draws_judge(xb_ctx *ctx, xb_draws_verdict *out, const char *law,
                         double read_interval, int64_t reads)
{
    xb_draws_verdict v = {.read_interval = read_interval,
                          .reads = reads ? reads : READS_OF_A_FIT};
    bool known = false;
    if (!(read_interval >= 0 && isfinite(read_interval)) || v.reads < 1)
        return xb_fail(ctx, XB_E_INPUT,
                       "%lld reads at an interval of %g s: expected 1 or more, and a time"
                       " above 0",
                       (long long)v.reads, read_interval);
    if (xb_os_exists(law)) XB_TRY(read_series(ctx, &v, &known, law));
    if (!known) {
        *out = (xb_draws_verdict){.read_interval = NAN, .independent = NAN};
        return XB_OK;
    }
    XB_TRY(measure(ctx, &v, law));
    v.usable = judge(v.read_interval, v.usable_from);
    say(&v);
    *out = v;
    return XB_OK;
}
