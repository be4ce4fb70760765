/* model_file.h: what a model's file is, for model_write.c and model_file.c, which reads.
 *
 * Tensors: "0.kernel.mu" and, where random, "0.kernel.sigma" for each of the net's
 * tensors, "0.kernel.cells" [cells][size] where it is made of cells (metadata "cells");
 * "noise.0.kernel" for those of the noise net; "input.mean", "input.sd" [c],
 * "target.scale" [mean, sd], "noise.log_sd" [1] or "noise.least" [1] (1e-3 where it is
 * missing), "batchnorm.state". Of several targets (metadata "targets") there is a row of
 * target.scale and a noise.log_sd for each. Where inputs are pixels (metadata "inputs"),
 * they have neither names nor scales. A tensor without a sigma is a fixed one, so no list
 * of them is needed. Of an ensemble (metadata "members") all tensors but input.mean and
 * input.sd are there for each member, those of the second as "member.2.0.kernel.mu" and
 * so on. */
#ifndef XB_VI_MODEL_FILE_H
#define XB_VI_MODEL_FILE_H

#include <stdint.h>
#include <stdio.h>

#define MODEL_KIND "model"
#define MODEL_FORMAT "1"
#define ENSEMBLE_FORMAT "2" /* readers that do not know members refuse it */
/* One posterior or several on bent inputs: readers that do not know V21 refuse it. */
#define BENT_FORMAT "3"
#define PIXELS "pixels" /* byte / 255 */

enum { NAME_MAX_BYTES = 64, MEMBER_BYTES = 24 };

/* Writes the prefix of the names of member i's tensors. */
static inline void name_member(char out[MEMBER_BYTES], int64_t i)
{
    if (i == 0)
        out[0] = '\0';
    else
        snprintf(out, MEMBER_BYTES, "member.%d.", (int)i + 1);
}

#endif
