/* claims.c: see claims.h. */
#include "reproduce/claims.h"

#include <math.h>

#include "crossbayes/extend.h"
#include "crossbayes/reproduce.h"

static const xb_claim_list *const lists[] = {
    &xb_claims_laws,   &xb_claims_quadrature, &xb_claims_quantile,
    &xb_claims_energy, &xb_claims_scalar,     &xb_claims_faces,
};

enum { LISTS = XB_COUNT(lists) };

int xb_claim_count(void)
{
    int count = 0;
    for (int i = 0; i < LISTS; i++) count += lists[i]->count;
    return count;
}

/* Each list holds the claims of one or two figures; the page orders them by figure. */
const xb_claim_kind *xb_claim_at(int i)
{
    for (int figure = 1; figure <= XB_PAPER_FIGURES; figure++)
        for (int l = 0; l < LISTS; l++)
            for (int k = 0; k < lists[l]->count; k++)
                if (lists[l]->kind[k].figure == figure && i-- == 0)
                    return &lists[l]->kind[k];
    return NULL;
}

void xb_claim_judge(xb_judgement *j, const xb_claim_kind *kind, const xb_evidence *e)
{
    *j = (xb_judgement){.value = NAN, .std_error = NAN, .finding = XB_FINDING_UNCLEAR};
    kind->judge(j, e);
    if (!isnan(j->value)) return;
    j->finding = XB_FINDING_UNCLEAR;
    xb_say(j->number, sizeof j->number, "none");
    xb_say(j->why, sizeof j->why, "The study lacks a number that this claim needs.");
}
