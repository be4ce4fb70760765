/* law_goodness.c: tests whether a law that was given, not fitted, fits a sample. The
 * statistics are those of goodness.c; with nothing fitted, the null process is the
 * Brownian bridge: Kolmogorov's series for KS, with Stephens' correction for few values
 * (F30), and null_ad.c for Anderson-Darling. Correlated values count as n_effective. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "fit/goodness.h"
#include "law/lawfile.h"

struct xb_goodness_result {
    xb_fit_sample sample;
    xb_goodness found;
    int64_t outside;
    double level;
    xb_law *law; /* another owner of it */
};

void xb_goodness_options_init(xb_goodness_options *opt, size_t size)
{
    const xb_goodness_options standard = {.level = 0.01};
    xb_options_fill(opt, size, &standard, sizeof standard);
}

/* (F30) Below 0.2 the series does not converge, and the tail has all of the mass. */
static double kolmogorov_p(double ks, double n)
{
    double root = sqrt(n), limit = ks * (root + 0.12 + 0.11 / root), p = 0;
    if (limit < 0.2) return 1;
    for (int k = 1; k <= 100; k++) {
        double term = 2 * exp(-2.0 * k * k * limit * limit);
        p += k % 2 ? term : -term;
        if (term < 1e-17) break;
    }
    return fmin(1, fmax(0, p));
}

static int64_t count_outside(const xb_law *law, const xb_sample *s)
{
    int64_t count = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double x = (s->sorted[i] - law->place.offset) / law->place.scale;
        count += x < law->lower || x > law->upper;
    }
    return count;
}

static xb_status judge(xb_ctx *ctx, xb_goodness_result *r, const xb_sample *s)
{
    double *spread = NULL;
    xb_null_model *model = xb_new(ctx, 1, sizeof *model);
    if (!model) return XB_E_MEMORY;
    xb_status status = xb_sample_spread(ctx, &spread, s);
    if (status == XB_OK) status = xb_goodness_model(ctx, model, r->law, NULL);
    if (status == XB_OK) {
        double n = (double)s->n, effective = s->info.n_effective;
        xb_goodness_statistics(&r->found, r->law, spread ? spread : s->sorted, s->n);
        r->found.ks_p = kolmogorov_p(r->found.ks, effective);
        status = xb_null_ad_p(ctx, &r->found.ad_p, model, r->found.ad * effective / n);
    }
    r->outside = count_outside(r->law, s);
    free(spread);
    free(model);
    return status;
}

static xb_status with_sample(xb_ctx *ctx, xb_goodness_result **out, const xb_law *law,
                             xb_sample *s, const xb_goodness_options *opt)
{
    if (!opt->independent) XB_TRY(xb_sample_memory(ctx, s));
    xb_goodness_result *r = xb_new(ctx, 1, sizeof *r);
    if (!r) return XB_E_MEMORY;
    r->sample = s->info;
    r->level = opt->level;
    r->law = xb_law_share(law);
    xb_status status = judge(ctx, r, s);
    if (status == XB_OK)
        *out = r;
    else
        xb_goodness_result_destroy(r);
    return status;
}

xb_status xb_law_goodness(xb_ctx *ctx, xb_goodness_result **out, const xb_law *law,
                          const double *x, int64_t n, const xb_goodness_options *opt)
{
    xb_goodness_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, goodness, &chosen, opt, independent));
    if (!(chosen.level > 0 && chosen.level < 1))
        return xb_fail(ctx, XB_E_ARGUMENT, "level %g: expected between 0 and 1",
                       chosen.level);
    xb_sample sample;
    XB_TRY(xb_sample_make(ctx, &sample, x, n));
    xb_status status = with_sample(ctx, out, law, &sample, &chosen);
    xb_sample_free(&sample);
    return status;
}

void xb_goodness_result_destroy(xb_goodness_result *r)
{
    if (!r) return;
    xb_law_destroy(r->law);
    free(r);
}

double xb_goodness_result_ks(const xb_goodness_result *r) { return r->found.ks; }
double xb_goodness_result_ks_p(const xb_goodness_result *r) { return r->found.ks_p; }
double xb_goodness_result_ad(const xb_goodness_result *r) { return r->found.ad; }
double xb_goodness_result_ad_p(const xb_goodness_result *r) { return r->found.ad_p; }
int64_t xb_goodness_result_outside(const xb_goodness_result *r) { return r->outside; }
const xb_fit_sample *xb_goodness_result_sample(const xb_goodness_result *r)
{
    return &r->sample;
}

bool xb_goodness_result_fits(const xb_goodness_result *r)
{
    return r->found.ks_p > r->level && r->found.ad_p > r->level;
}
