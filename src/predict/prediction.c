/* prediction.c: accessors of a prediction, and its destruction. */
#include <math.h>
#include <stdlib.h>

#include "predict/predict.h"

void xb_prediction_destroy(xb_prediction *p)
{
    if (!p) return;
    double *const blocks[] = {p->mean,    p->epistemic,   p->aleatoric,
                              p->sd,      p->quantile,    p->probability,
                              p->entropy, p->information, p->between};
    for (int i = 0; i < XB_COUNT(blocks); i++) free(blocks[i]);
    free(p->class);
    free(p->needed);
    free(p->error_of);
    free(p->used);
    free(p);
}

static const double *numbers(const xb_prediction *p, const double *block)
{
    return p->classes > 0 ? NULL : block;
}

static const double *classes(const xb_prediction *p, const double *block)
{
    return p->classes > 0 ? block : NULL;
}

int64_t xb_prediction_count(const xb_prediction *p) { return p->n; }
int64_t xb_prediction_draws(const xb_prediction *p) { return p->draws; }
int64_t xb_prediction_quantiles(const xb_prediction *p)
{
    return p->classes > 0 ? 0 : p->quantiles;
}
int64_t xb_prediction_classes(const xb_prediction *p) { return p->classes; }
int64_t xb_prediction_targets(const xb_prediction *p) { return p->targets; }
double xb_prediction_mc_error(const xb_prediction *p) { return p->error; }

const double *xb_prediction_mean(const xb_prediction *p) { return numbers(p, p->mean); }
const double *xb_prediction_epistemic(const xb_prediction *p)
{
    return numbers(p, p->epistemic);
}
const double *xb_prediction_aleatoric(const xb_prediction *p)
{
    return numbers(p, p->aleatoric);
}
const double *xb_prediction_disagreement(const xb_prediction *p) { return p->between; }
/* Of target k, or of the classes. */
static double share_between(const xb_prediction *p, int64_t k)
{
    double between = 0, whole = 0;
    for (int64_t i = k; i < p->n * p->targets; i += p->targets) {
        const double b = p->between[i];
        between += p->classes > 0 ? b : b * b;
        whole += p->classes > 0 ? p->information[i] : p->epistemic[i] * p->epistemic[i];
    }
    return whole > 0 ? between / whole : NAN;
}

double xb_prediction_disagreement_share(const xb_prediction *p)
{
    double sum = 0;
    if (!p->between) return NAN;
    for (int64_t k = 0; k < p->targets; k++)
        sum += share_between(p, k) / (double)p->targets;
    return sum;
}
const double *xb_prediction_sd(const xb_prediction *p) { return numbers(p, p->sd); }
const double *xb_prediction_quantile(const xb_prediction *p)
{
    return numbers(p, p->quantile);
}
const double *xb_prediction_probability(const xb_prediction *p)
{
    return classes(p, p->probability);
}
const int64_t *xb_prediction_class(const xb_prediction *p)
{
    return p->classes > 0 ? p->class : NULL;
}
const double *xb_prediction_entropy(const xb_prediction *p)
{
    return classes(p, p->entropy);
}
const double *xb_prediction_information(const xb_prediction *p)
{
    return classes(p, p->information);
}

const double *xb_prediction_draws_needed(const xb_prediction *p) { return p->needed; }
const int64_t *xb_prediction_draws_used(const xb_prediction *p) { return p->used; }
