/* assay.h: inside of an assay, for those that assay several chips. */
#ifndef XB_CROSSBAR_ASSAY_H
#define XB_CROSSBAR_ASSAY_H

#include "crossbayes/crossbar.h"

/* As xb_assay_run, of the chip so many numbers after that of the assay's options. */
xb_status xb_assay_chip(xb_ctx *ctx, xb_assay_result **out, xb_assay *assay,
                        const xb_array *array, int64_t after);

#endif
