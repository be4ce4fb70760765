/* utkface_model.h: nets, sizes and training settings of the study of faces. */
#ifndef XB_STUDY_UTKFACE_MODEL_H
#define XB_STUDY_UTKFACE_MODEL_H

#include "crossbayes/train.h"

#define XB_UTKFACE_AGE_MAX 116.0 /* years that correspond to an output of 1 */

enum { XB_UTKFACE_NET = 1024, XB_UTKFACE_NOISE_NET = 512 };

typedef struct xb_utkface_nets {
    char mean[XB_UTKFACE_NET];
    char noise[XB_UTKFACE_NOISE_NET]; /* the net of sigma_a */
} xb_utkface_nets;

/* Sizes of data, nets and runs. */
typedef struct xb_utkface_plan {
    int64_t size;              /* side of an image */
    int64_t faces;             /* number of faces drawn, synthetic faces only */
    int64_t train, held, test; /* largest numbers of images; 0: all */
    double momentum;           /* momentum of batchnorm: short runs need a short memory */
    int blocks, filters;       /* blocks of the net; filters of the first block */
    int64_t mle_epochs, epochs;
    double mle_rate, rate;
    bool mirror;   /* flips half of the faces, which helps in long runs */
    int64_t draws; /* weight draws for each law */
} xb_utkface_plan;

xb_utkface_plan xb_utkface_plan_for(bool synthetic, bool quick);

/* The mean is the paper's net: each block has conv, relu, pool and batchnorm twice,
 * filters double from block to block, and dense layers of 100, 10 and 1 with batchnorm
 * and a sigmoid follow. */
void xb_utkface_nets_for(xb_utkface_nets *out, const xb_utkface_plan *plan);

/* The two phases, one at a time: both are trained with heteroscedastic noise, age in
 * units of 116 years; the second starts from the model of the first. */
xb_train_options xb_utkface_mle(const xb_utkface_plan *plan, const xb_utkface_nets *nets,
                                uint64_t seed);
xb_train_options xb_utkface_vi(const xb_utkface_plan *plan, const xb_utkface_nets *nets,
                               uint64_t seed, const xb_law *law, const xb_model *start);

#endif
