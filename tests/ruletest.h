/* ruletest.h: helpers for the tests of rules: laws, fixtures, and functions that make a
 * rule or fail the test. */
#ifndef RULETEST_H
#define RULETEST_H

#include "xbtest.h"

#include <jansson.h>

#include "base/ctx.h"
#include "rule/standard.h"

static const double NODE_ERROR = 1e-14, WEIGHT_ERROR = 2e-12; /* what is promised */

/* Every family, usual and extreme. */
static const char *const LAWS[] = {
    "gaussian",           "mtj:B=0.15,w=0.5", "mtj:B=0.05,w=0.3",  "mtj:B=0.5,w=0.8",
    "mtj:B=0.15,w=1",     "mtj:B=0.15,w=0",   "mtj:B=0.001,w=0.5", "mtj:B=0.001,w=1",
    "mtj:B=0.001,w=0",    "mtj:B=1e6,w=0.5",  "mtj:B=1e6,w=1",     "ecram:B=0.1,w=0.6",
    "ecram:B=0.02,w=0.4", "ecram:B=1,w=0.7",  "ecram:B=0.001,w=1", "ecram:B=0.001,w=0.5",
    "ecram:B=1e6,w=1",    "bimodal:m=0",      "bimodal:m=0.5",     "bimodal:m=0.9",
    "bimodal:m=0.999",
};

static inline json_t *load(const char *path)
{
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    if (!root) fail_msg("%s:%d: %s", path, error.line, error.text);
    return root;
}

static inline double number(const json_t *value)
{
    assert_true(json_is_string(value));
    return strtod(json_string_value(value), NULL);
}

static inline xb_rule gauss(xb_ctx *ctx, const xb_law *law, int64_t n)
{
    xb_rule rule = {0, NULL, NULL};
    assert_ok(ctx, xb_rule_fill_gauss(ctx, &rule, law, n, XB_RECURRENCE_STABLE));
    assert_int_equal(rule.n, n);
    return rule;
}

static inline xb_rule composite(xb_ctx *ctx, const xb_law *law, int64_t n,
                                xb_composite kind)
{
    xb_rule rule = {0, NULL, NULL};
    assert_ok(ctx, xb_rule_fill_composite(ctx, &rule, law, n, kind, NULL));
    return rule;
}

static inline double total(const xb_rule *rule)
{
    double sum = 0;
    for (int64_t i = 0; i < rule->n; i++) sum += rule->weights[i];
    return sum;
}

static inline double raw_moment_by(const xb_rule *rule, int k)
{
    double sum = 0;
    for (int64_t i = 0; i < rule->n; i++)
        sum += rule->weights[i] * pow(rule->nodes[i], k);
    return sum;
}

#endif
