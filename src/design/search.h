/* search.h: what a search for a design holds. */
#ifndef XB_DESIGN_SEARCH_H
#define XB_DESIGN_SEARCH_H

#include "crossbayes/design.h"
#include "design/quality.h"
#include "design/space.h"

/* A model that designs have: the one that was given, or one that was trained again. */
typedef struct xb_variant {
    double width, penalty;  /* 0: those of the given model, and none */
    bool aware;             /* trained for an array: */
    xb_train_array written; /* what of it training knows */
    const xb_model *model;  /* `own`, or borrowed for the search alone */
    xb_model *own;
    xb_judge judge;
    double *sd;     /* of the data's noise */
    double *paired; /* [chips_room][XB_QUALITIES]: the digital model under each chip's
                       words, `reads` draws */
    double *digital_row; /* [XB_QUALITIES][n]: the digital model, many draws */
    double digital[XB_QUALITIES], offset[XB_QUALITIES]; /* (X72) */
} xb_variant;

/* An array with what is known of it. */
typedef struct xb_candidate {
    int64_t index; /* of its combination */
    xb_array array;
    int64_t variant;
    xb_band draw_pj;
    double draw_ns;
    bool alive;    /* not given up */
    int64_t chips; /* that it was read on */
    double *score; /* [chips_room][draws][XB_QUALITIES] */
    double *row;   /* [draws][n]: sums over chips of the first condition's rows */
} xb_candidate;

struct xb_design {
    xb_design_space space;
    xb_design_options opt;
    xb_analog_options analog;
    const xb_model *model; /* borrowed, for the search alone, as are x, y, calibration */
    const double *calibration;
    int64_t calibration_n;
    double *x, *y;  /* of the rows that are scored */
    xb_judge judge; /* without the data's noise, which each variant has its own of */
    xb_condition condition[XB_CONDITIONS_MOST];
    int conditions;
    char score_name[32];
    int64_t n_draws;     /* values of the axis */
    const double *draws; /* [n_draws], the space's own */
    int64_t reads;       /* the largest of them */
    int64_t chips_room;
    xb_candidate *candidate;
    int64_t candidates, left_out, finalists;
    xb_variant *variant; /* [variants], the given model first */
    int64_t variants;
    double *luck; /* [opt.chips][n_draws][XB_QUALITIES] (X73); NULL: not known yet */
    xb_design_point *point; /* [candidates][n_draws] */
    int64_t chosen, chosen_low, chosen_high, best, undecided;
};

/* retrain.c: (X77) which models the candidates need, each candidate with the number of
 * its own; trains them. */
xb_status xb_variants_make(xb_ctx *ctx, xb_design *d);
void xb_variants_free(xb_design *d);

/* trial.c: arrays on chips, and what they cost. Each is a function of the array and the
 * number of the chip, so they run side by side. */
xb_status xb_trial_costs(xb_ctx *ctx, xb_design *d);
/* Reads all that are alive on chips [.., chips), after those that they were read on. */
xb_status xb_trial_read(xb_ctx *ctx, xb_design *d, int64_t chips);
/* One of them. */
xb_status xb_trial_extend(xb_ctx *ctx, xb_design *d, int64_t candidate, int64_t chips);
xb_status xb_trial_digital(xb_ctx *ctx, xb_design *d);

/* front.c: from scores to points, and which of them are worth having. */
/* (X73) Gives up arrays whose designs others beat, about half of them. */
xb_status xb_front_cull(xb_ctx *ctx, xb_design *d);
xb_status xb_front_mark(xb_ctx *ctx, xb_design *d);
xb_status xb_front_choose(xb_ctx *ctx, xb_design *d);
/* (X74) The 0.95 quantile of Student's t. */
double xb_front_student(int64_t degrees);

#endif
