/* evaluation.c: access to an evaluation. */
#include "compare/evaluation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void xb_evaluation_destroy(xb_evaluation *e)
{
    if (!e) return;
    for (int64_t i = 0; i < e->laws; i++) {
        xb_evaluated_law *law = &e->law[i];
        xb_law_destroy(law->law);
        xb_scores_destroy(law->scores);
        xb_distances_destroy(law->outputs);
        xb_distances_destroy(law->predictive);
        for (int64_t k = 0; k < law->findings; k++) free(law->finding[k]);
        free(law->needed);
        free(law->name);
    }
    free(e->law);
    free(e);
}

/* The values for a law that was not evaluated. */
static const xb_evaluated_law *law_at(const xb_evaluation *e, int64_t i)
{
    static const xb_evaluated_law none = {
        .kl_at_least = NAN, .probability_gap = NAN, .nll_difference = {NAN, NAN, NAN}};
    return i >= 0 && i < e->laws ? &e->law[i] : &none;
}

int64_t xb_evaluation_rows(const xb_evaluation *e) { return e->n; }
int64_t xb_evaluation_draws(const xb_evaluation *e) { return e->draws; }
int64_t xb_evaluation_compared_rows(const xb_evaluation *e) { return e->compared_rows; }

int64_t xb_evaluation_law_count(const xb_evaluation *e) { return e->laws; }

const char *xb_evaluation_law_name(const xb_evaluation *e, int64_t i)
{
    return law_at(e, i)->name;
}

int64_t xb_evaluation_law_find(const xb_evaluation *e, const char *name)
{
    for (int64_t i = 0; name && i < e->laws; i++)
        if (strcmp(e->law[i].name, name) == 0) return i;
    return -1;
}

const xb_law *xb_evaluation_law_at(const xb_evaluation *e, int64_t i)
{
    return law_at(e, i)->law;
}

const xb_scores *xb_evaluation_scores(const xb_evaluation *e, int64_t law)
{
    return law_at(e, law)->scores;
}

const xb_distances *xb_evaluation_outputs(const xb_evaluation *e, int64_t law)
{
    return law_at(e, law)->outputs;
}

const xb_distances *xb_evaluation_predictive(const xb_evaluation *e, int64_t law)
{
    return law_at(e, law)->predictive;
}

double xb_evaluation_kl_at_least(const xb_evaluation *e, int64_t law)
{
    return law_at(e, law)->kl_at_least;
}

double xb_evaluation_probability_gap(const xb_evaluation *e, int64_t law)
{
    return law_at(e, law)->probability_gap;
}

xb_score xb_evaluation_nll_difference(const xb_evaluation *e, int64_t law)
{
    return law_at(e, law)->nll_difference;
}

int64_t xb_evaluation_finding_count(const xb_evaluation *e, int64_t law)
{
    return law_at(e, law)->findings;
}

const char *xb_evaluation_finding_at(const xb_evaluation *e, int64_t law, int64_t i)
{
    const xb_evaluated_law *of = law_at(e, law);
    return i >= 0 && i < of->findings ? of->finding[i] : NULL;
}

const char *xb_evaluation_needed(const xb_evaluation *e, int64_t law)
{
    return law_at(e, law)->needed;
}
