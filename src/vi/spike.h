/* spike.h: what a scale mixture of two Gaussians adds to the log density of its
 * wider part: a spike kappa(x) at 0; its expectation under a law; maths V5, V6. */
#ifndef XB_VI_SPIKE_H
#define XB_VI_SPIKE_H

#include "rule/standard.h"
#include "crossbayes/vi.h"
#include "vi/meanabs.h"

enum { XB_SPIKE_NODES = 256 }; /* largest number of nodes of the rule across the spike */

typedef struct xb_spike {
    double wide, narrow;    /* the larger and the smaller scale */
    double log_wide_weight; /* log of the wide part's weight */
    double reach;           /* distance of the singularities from the real line */
    xb_curve_table curve;   /* kappa of |x| / narrow; 0 beyond it */
    xb_meanabs meanabs;     /* table of the law */
    xb_rule few, many;      /* Gauss rules of the law, standardised */
    double many_below;      /* sigma / (reach narrow) up to which `many` is used */
    int nodes;
    double y[XB_SPIKE_NODES]; /* across the spike */
    double c[XB_SPIKE_NODES]; /* weight times kappa''(y) / 2 */
} xb_spike;

xb_status xb_spike_make(xb_ctx *ctx, xb_spike *out, const xb_law *law,
                        const xb_prior *mixture);
void xb_spike_free(xb_spike *spike);
/* Fills `cross` with what xb_cross_spike() reads; borrowed from the spike. */
void xb_spike_lend(xb_cross *cross, const xb_spike *spike);

#endif
