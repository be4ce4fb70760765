/* rule_handle.c: rules as opaque objects for users. */
#include <stdlib.h>

#include "base/choice.h"
#include "base/memory.h"
#include "rule/standard.h"

/* Takes ownership of the nodes of `rule`, even on failure. */
static xb_status keep(xb_ctx *ctx, xb_rule **out, xb_status status, xb_rule rule)
{
    if (status != XB_OK) return status;
    xb_rule *kept = xb_new(ctx, 1, sizeof *kept);
    if (!kept) {
        xb_rule_free(&rule);
        return XB_E_MEMORY;
    }
    *kept = rule;
    *out = kept;
    return XB_OK;
}

xb_status xb_rule_legendre(xb_ctx *ctx, xb_rule **out, int64_t n)
{
    xb_rule rule = {0};
    xb_status status = xb_rule_fill_legendre(ctx, &rule, n);
    return keep(ctx, out, status, rule);
}

xb_status xb_rule_lobatto(xb_ctx *ctx, xb_rule **out, int64_t n)
{
    xb_rule rule = {0};
    xb_status status = xb_rule_fill_lobatto(ctx, &rule, n);
    return keep(ctx, out, status, rule);
}

xb_status xb_rule_laguerre(xb_ctx *ctx, xb_rule **out, int64_t n)
{
    xb_rule rule = {0};
    xb_status status = xb_rule_fill_laguerre(ctx, &rule, n);
    return keep(ctx, out, status, rule);
}

xb_status xb_rule_hermite(xb_ctx *ctx, xb_rule **out, int64_t n)
{
    xb_rule rule = {0};
    xb_status status = xb_rule_fill_hermite(ctx, &rule, n);
    return keep(ctx, out, status, rule);
}

xb_status xb_rule_gauss(xb_ctx *ctx, xb_rule **out, const xb_law *law, int64_t n,
                        xb_recurrence_method method)
{
    xb_rule rule = {0};
    xb_status status = xb_rule_fill_gauss(ctx, &rule, law, n, method);
    return keep(ctx, out, status, rule);
}

xb_status xb_rule_composite(xb_ctx *ctx, xb_rule **out, const xb_law *law, int64_t n,
                            xb_composite kind, const xb_composite_options *opt)
{
    xb_rule rule = {0};
    xb_status status = xb_rule_fill_composite(ctx, &rule, law, n, kind, opt);
    return keep(ctx, out, status, rule);
}

void xb_rule_destroy(xb_rule *rule)
{
    if (!rule) return;
    xb_rule_free(rule);
    free(rule);
}

int64_t xb_rule_count(const xb_rule *rule) { return rule->n; }
const double *xb_rule_nodes(const xb_rule *rule) { return rule->nodes; }
const double *xb_rule_weights(const xb_rule *rule) { return rule->weights; }

/* ---- names */

static const char *const methods[] = {
    [XB_RECURRENCE_STABLE] = "stable", [XB_RECURRENCE_WHEELER] = "wheeler"};
static const char *const composites[] = {
    [XB_COMPOSITE_SPLIT] = "split",       [XB_COMPOSITE_LAGUERRE] = "laguerre",
    [XB_COMPOSITE_LEGENDRE] = "legendre", [XB_COMPOSITE_HERMITE] = "hermite",
    [XB_COMPOSITE_MODES] = "modes",       [XB_COMPOSITE_TRAPEZOID] = "trapezoid",
    [XB_COMPOSITE_SMOOTH] = "smooth",
};

const char *xb_recurrence_method_name(xb_recurrence_method method)
{
    return methods[method];
}

xb_status xb_recurrence_method_parse(xb_ctx *ctx, xb_recurrence_method *out,
                                     const char *text)
{
    int found;
    XB_TRY(xb_choice_parse(ctx, &found, "recurrence method", text, methods,
                           XB_COUNT(methods)));
    *out = (xb_recurrence_method)found;
    return XB_OK;
}

const char *xb_composite_name(xb_composite kind) { return composites[kind]; }

xb_status xb_composite_parse(xb_ctx *ctx, xb_composite *out, const char *text)
{
    int found;
    XB_TRY(xb_choice_parse(ctx, &found, "composite rule", text, composites,
                           XB_COUNT(composites)));
    *out = (xb_composite)found;
    return XB_OK;
}
