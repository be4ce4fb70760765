/* fit.h: the contents of a fit, which fit.c fills, fit_choice.c judges and fit_json.c
 * writes. */
#ifndef XB_FIT_FIT_H
#define XB_FIT_FIT_H

#include <jansson.h>

#include "fit/fit_results.h"

enum { XB_VERDICT_MAX = 960 };

struct xb_fit {
    xb_fit_sample sample;
    xb_criterion criterion;
    double level;
    uint64_t seed;
    bool asked; /* one family was requested */
    char *source;
    json_t *series, *whole; /* NULL: none was given */
    int count;
    xb_fit_family family[XB_FIT_FAMILY_MAX];
    xb_law *law[XB_FIT_FAMILY_MAX]; /* owned, with their place */
    int chosen;
    xb_fit_outcome outcome;
    char verdict[XB_VERDICT_MAX];
};

/* Sets `fits` of every family, `chosen`, `outcome` and `verdict`. */
void xb_fit_choose(xb_fit *fit);

/* The part of the fit of the whole trace that a law file keeps; NULL: memory has run out.
 */
json_t *xb_fit_short_json(const xb_fit *fit);
/* The contents of the law file, which the caller owns. */
json_t *xb_fit_to_json(const xb_ctx *ctx, const xb_fit *fit);

/* The number of separate peaks of the density. */
int xb_law_peaks(const xb_law *law);

#endif
