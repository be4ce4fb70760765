/* studytest.h: facts of a study by name; a test fails if it asks for one that does not
 * exist. */
#ifndef STUDYTEST_H
#define STUDYTEST_H

#include "xbtest.h"

#include "crossbayes/studies.h"

/* Its place; -1: none. */
static inline int fact_place(const xb_study *study, const char *name)
{
    for (int i = 0; i < xb_study_fact_count(study); i++)
        if (strcmp(xb_study_fact_at(study, i).name, name) == 0) return i;
    return -1;
}

static inline xb_fact fact_of(const xb_study *study, const char *name)
{
    int place = fact_place(study, name);
    if (place < 0) fail_msg("no fact '%s'", name);
    return xb_study_fact_at(study, place);
}

static inline double fact(const xb_study *study, const char *name)
{
    return fact_of(study, name).value;
}

/* sigma_a's standard deviation from face to face, in units of its mean. */
static inline double noise_varies_by(const xb_study *study)
{
    const xb_table *scores = xb_study_table(study, "scores");
    int mean = xb_table_column_find(scores, "aleatoric");
    return xb_table_get(scores, 0, mean + 1) * sqrt(fact(study, "test")) /
           xb_table_get(scores, 0, mean);
}

#endif
