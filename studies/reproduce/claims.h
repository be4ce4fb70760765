/* claims.h: the claims of the paper, figure by figure, in our words, each with the
 * function that compares it with our number. Each kind of study has one file with a list;
 * claims.c joins them. The order in a list is the order on the page. */
#ifndef XB_REPRODUCE_CLAIMS_H
#define XB_REPRODUCE_CLAIMS_H

#include "reproduce/evidence.h"

typedef struct xb_claim_kind {
    int figure;        /* figure in the paper */
    const char *id;    /* for scripts: it stays the same if the words change */
    const char *claim; /* the claim in our words */
    const char *paper; /* the paper's number, a relation, or the place where it is
                          shown */
    xb_judge_fn *judge;
} xb_claim_kind;

typedef struct xb_claim_list {
    const xb_claim_kind *kind;
    int count;
} xb_claim_list;

extern const xb_claim_list xb_claims_laws;       /* Fig. 1 and 7 */
extern const xb_claim_list xb_claims_quadrature; /* Fig. 2 */
extern const xb_claim_list xb_claims_quantile;   /* Fig. 3 */
extern const xb_claim_list xb_claims_energy;     /* Fig. 4 and 8 */
extern const xb_claim_list xb_claims_scalar;     /* Fig. 5 */
extern const xb_claim_list xb_claims_faces;      /* Fig. 6 */

/* All of them, 0 <= i < xb_claim_count(), by figure. */
int xb_claim_count(void);
const xb_claim_kind *xb_claim_at(int i);

/* Judges a claim; a NAN never gives a finding. */
void xb_claim_judge(xb_judgement *j, const xb_claim_kind *kind, const xb_evidence *e);

#endif
