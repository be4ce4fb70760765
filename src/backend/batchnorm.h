/* batchnorm.h: batchnorm for those who apply it themselves; see batchnorm.c. */
#ifndef XB_BACKEND_BATCHNORM_H
#define XB_BACKEND_BATCHNORM_H

#include "backend/layers.h"
#include "kernel/block.h"

/* Statistics, to run->keep (and to the running ones in training): all of a forward pass
 * but its output. */
void xb_batchnorm_prepare(const xb_run *run, const xb_layer *layer, const xb_real *x);
/* What it does to x, after that. */
xb_block_norm xb_batchnorm_map(const xb_run *run, const xb_layer *layer);

#endif
