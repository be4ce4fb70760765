/* expect.c: expectations by a rule: sums, variance, KL to a Gaussian (L11). */
#include <math.h>

#include "rule/standard.h"

double xb_rule_expect(const xb_rule *rule, double (*f)(void *arg, double x), void *arg)
{
    double sum = 0;
    for (int64_t i = 0; i < rule->n; i++)
        sum += rule->weights[i] * f(arg, rule->nodes[i]);
    return sum;
}

double xb_rule_variance(const xb_rule *rule)
{
    double mean = 0, sum = 0;
    for (int64_t i = 0; i < rule->n; i++) mean += rule->weights[i] * rule->nodes[i];
    for (int64_t i = 0; i < rule->n; i++) {
        double d = rule->nodes[i] - mean;
        sum += rule->weights[i] * d * d;
    }
    return sum;
}

double xb_rule_kl_gaussian(const xb_rule *rule, const xb_law *law, double mean, double sd)
{
    double sum = 0, log_norm = log(sd * sqrt(2 * M_PI));
    for (int64_t i = 0; i < rule->n; i++) {
        if (rule->weights[i] == 0) continue; /* q log q is 0 where q is */
        double z = (rule->nodes[i] - mean) / sd;
        double log_ratio = xb_law_log_pdf(law, rule->nodes[i]) + 0.5 * z * z + log_norm;
        sum += rule->weights[i] * log_ratio;
    }
    return sum;
}
