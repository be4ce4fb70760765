/* disagreement.h: the share of an ensemble's epistemic spread that lies between its
 * members, over rows that come in parts; maths P7. */
#ifndef XB_COMPARE_DISAGREEMENT_H
#define XB_COMPARE_DISAGREEMENT_H

#include "compare/jackknife.h"
#include "crossbayes/compare.h"
#include "crossbayes/model.h"

typedef struct xb_disagreement xb_disagreement;

/* n rows and `draws` draws, which belong to the members of the ensemble in turn. Several
 * targets have equal weight, each in units of its sd. */
xb_status xb_disagreement_create(xb_ctx *ctx, xb_disagreement **out, int64_t n,
                                 int64_t draws, const xb_model *ensemble);
/* Adds the next `rows` of them: value [draws][rows][classes, or targets]. */
void xb_disagreement_add(xb_disagreement *d, const double *value, int64_t rows);
/* Call this after all n rows. */
xb_score xb_disagreement_score(const xb_disagreement *d);
void xb_disagreement_destroy(xb_disagreement *d); /* NULL is fine */

#endif
