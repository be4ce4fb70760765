/* paired.h: one model under several laws, draw by draw from the same random words:
 * means and standard deviations of its outputs, and the differences between laws with
 * their errors (maths S2). Draws are not stored, so there may be many. */
#ifndef XB_STUDY_PAIRED_H
#define XB_STUDY_PAIRED_H

#include "crossbayes/extend.h"
#include "crossbayes/predict.h"

enum { XB_PAIRED_BLOCKS = 50 };

typedef struct xb_paired {
    int64_t points;
    int laws;
    int64_t block;     /* draws in each block */
    double *centre;    /* [points] subtracted from every value, so that sums stay exact */
    double *sum;       /* [laws][points][XB_PAIRED_BLOCKS] */
    double *square;    /* [laws][points][XB_PAIRED_BLOCKS], like sum */
    double *aleatoric; /* [points] */
} xb_paired;

typedef struct xb_paired_gap {
    double value, error; /* jackknife over blocks */
} xb_paired_gap;

/* x: [points]; a model of one feature. `draws` is rounded up to whole blocks of even
 * size; opt->law and opt->draws are not read. Free with xb_paired_free, in any
 * case. */
xb_status xb_paired_run(xb_ctx *ctx, xb_paired *out, const xb_model *model,
                        const xb_law *const *law, int laws, const double *x,
                        int64_t points, int64_t draws, const xb_predict_options *opt);
void xb_paired_free(xb_paired *p);

double xb_paired_mean(const xb_paired *p, int law, int64_t point);
double xb_paired_sd(const xb_paired *p, int law, int64_t point);

/* The gaps between `law` and law 0: of means in units of law 0's standard deviation, and
 * the ratio of standard deviations minus 1. */
xb_paired_gap xb_paired_mean_gap(const xb_paired *p, int law, int64_t point);
xb_paired_gap xb_paired_sd_gap(const xb_paired *p, int law, int64_t point);

#endif
