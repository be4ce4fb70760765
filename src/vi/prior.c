/* prior.c: priors of a weight: text, log density and slope; maths V3-V5. The arithmetic,
 * and their expectation under a law: kernel/cross_kernel.h. */
#include <math.h>
#include <stdio.h>

#include "crossbayes/vi.h"
#include "data/number.h"
#include "data/settings.h"
#include "kernel/cross_kernel.h"

#define SCALE_MIN 1e-10 /* squares of scales and their inverses stay finite in float */
#define SCALE_MAX 1e10

static const char *const kinds[] = {
    [XB_PRIOR_NORMAL] = "normal",
    [XB_PRIOR_LAPLACE] = "laplace",
    [XB_PRIOR_MIXTURE] = "mixture",
    NULL,
};

static xb_status parse_normal(xb_ctx *ctx, xb_prior *p, const char *text,
                              const char *rest)
{
    const xb_setting settings[] = {
        {"mean", &p->mean, -SCALE_MAX, SCALE_MAX},
        {"sd", &p->sd, SCALE_MIN, SCALE_MAX},
    };
    p->mean = 0;
    p->sd = 1;
    return xb_settings_read(ctx, "prior", text, rest, settings, XB_COUNT(settings));
}

static xb_status parse_laplace(xb_ctx *ctx, xb_prior *p, const char *text,
                               const char *rest)
{
    const xb_setting settings[] = {{"b", &p->scale, SCALE_MIN, SCALE_MAX}};
    p->scale = 1;
    return xb_settings_read(ctx, "prior", text, rest, settings, XB_COUNT(settings));
}

static xb_status parse_mixture(xb_ctx *ctx, xb_prior *p, const char *text,
                               const char *rest)
{
    const xb_setting settings[] = {
        {"pi", &p->pi, 1e-6, 1 - 1e-6},
        {"s1", &p->s1, SCALE_MIN, SCALE_MAX},
        {"s2", &p->s2, SCALE_MIN, SCALE_MAX},
    };
    p->pi = 0.5;
    p->s1 = 1;
    p->s2 = 0.01;
    XB_TRY(xb_settings_read(ctx, "prior", text, rest, settings, XB_COUNT(settings)));
    const double least = 1.001; /* closer scales count as equal */
    if (fmax(p->s1 / p->s2, p->s2 / p->s1) < least)
        return xb_fail(ctx, XB_E_INPUT, "prior '%s': s1 and s2 are the same; use normal",
                       text);
    return XB_OK;
}

xb_status xb_prior_parse(xb_ctx *ctx, xb_prior *out, const char *text)
{
    static xb_status (*const parse[])(xb_ctx *, xb_prior *, const char *,
                                      const char *) = {
        [XB_PRIOR_NORMAL] = parse_normal,
        [XB_PRIOR_LAPLACE] = parse_laplace,
        [XB_PRIOR_MIXTURE] = parse_mixture,
    };
    xb_prior prior = {.mean = 0};
    const char *rest = NULL;
    int kind = 0;
    XB_TRY(xb_settings_kind(ctx, &kind, &rest, "prior", text, kinds));
    prior.kind = (xb_prior_kind)kind;
    XB_TRY(parse[kind](ctx, &prior, text, rest));
    *out = prior;
    return XB_OK;
}

void xb_prior_text(char out[XB_PRIOR_TEXT], const xb_prior *p)
{
    char a[XB_NUMBER_TEXT_MAX], b[XB_NUMBER_TEXT_MAX], c[XB_NUMBER_TEXT_MAX];
    switch (p->kind) {
    case XB_PRIOR_NORMAL:
        xb_number_format(a, p->mean);
        xb_number_format(b, p->sd);
        snprintf(out, XB_PRIOR_TEXT, "normal:mean=%s,sd=%s", a, b);
        break;
    case XB_PRIOR_LAPLACE:
        xb_number_format(a, p->scale);
        snprintf(out, XB_PRIOR_TEXT, "laplace:b=%s", a);
        break;
    case XB_PRIOR_MIXTURE:
        xb_number_format(a, p->pi);
        xb_number_format(b, p->s1);
        xb_number_format(c, p->s2);
        snprintf(out, XB_PRIOR_TEXT, "mixture:pi=%s,s1=%s,s2=%s", a, b, c);
        break;
    }
}

double xb_prior_log_density(const xb_prior *p, double x)
{
    return xb_cross_log_density(p, x);
}

double xb_prior_slope(const xb_prior *p, double x) { return xb_cross_slope(p, x); }
