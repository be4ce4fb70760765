/* assay.h: the contents of an assay and its results, for code that assays several
 * chips. */
#ifndef XB_CROSSBAR_ASSAY_H
#define XB_CROSSBAR_ASSAY_H

#include "crossbayes/crossbar.h"

struct xb_assay_result {
    xb_scores *scores;
    xb_score nll_difference;
    xb_distances *distance; /* NULL for the digital model */
    double kl_at_least;
};

/* Works as xb_assay_run does, for the chip whose number is `after` above that of the
 * options. */
xb_status xb_assay_chip(xb_ctx *ctx, xb_assay_result **out, xb_assay *assay,
                        const xb_array *array, int64_t after);

/* result_bytes.c: a result as bytes; `like` is another result of the same assay. */
int64_t xb_assay_result_bytes(const xb_assay_result *like);
void xb_assay_result_pack(unsigned char *to, const xb_assay_result *r);
xb_status xb_assay_result_unpack(xb_ctx *ctx, xb_assay_result **out,
                                 const unsigned char *from, const xb_assay_result *like);

#endif
