/* array_facts.h: numbers that the study of arrays derives from its tables and reads. */
#ifndef XB_STUDY_ARRAY_FACTS_H
#define XB_STUDY_ARRAY_FACTS_H

#include "crossbayes/data.h"

/* The last setting (column 0), coming from the harmless end, up to which `column` stays
 * within the limit; small settings are the harmless ones if `fewer`. NAN: none. */
double xb_array_tolerated(const xb_table *table, int column, bool fewer, double limit);

/* The quantile of n ascending numbers, linear between them (X24). */
double xb_array_quantile(const double *x, int64_t n, double level);

/* (X18) for predictives of a few reads each: value [blocks][few][n] against the means and
 * standard deviations [n] of the digital model. */
double xb_array_moved(const double *value, int64_t blocks, int64_t few,
                      const double *mean, const double *sd, int64_t n);

#endif
