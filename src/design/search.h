/* search.h: the contents of a search for a design. */
#ifndef XB_DESIGN_SEARCH_H
#define XB_DESIGN_SEARCH_H

#include "crossbayes/design.h"
#include "design/quality.h"
#include "design/space.h"

/* A model of the search: the given one, or one that was trained again. */
typedef struct xb_variant {
    double width, penalty;  /* 0: the width of the given model; 0: no penalty */
    bool aware;             /* trained with the effects of an array, ... */
    xb_train_array written; /* ... as far as training knows them */
    const xb_model *model;  /* `own`, or borrowed during the search */
    xb_model *own;
    xb_judge judge;
    double *sd;              /* standard deviations of the data's noise */
    xb_student_table *heavy; /* its law (P9); NULL: normal */
    double *paired; /* [chips_room][XB_QUALITIES]: scores of the digital model with the
                       random words of each chip, `reads` draws */
    double *digital_row; /* [XB_QUALITIES][n]: the digital model with many draws */
    double digital[XB_QUALITIES], offset[XB_QUALITIES]; /* (X72) */
} xb_variant;

/* An array and what is known about it. */
typedef struct xb_candidate {
    int64_t index; /* index of its combination */
    xb_array array;
    int64_t variant;
    xb_band draw_pj;
    double draw_ns;
    bool alive;    /* not dropped yet */
    int64_t chips; /* number of chips that it was read on */
    double *score; /* [chips_room][draws][XB_QUALITIES] */
    double *row;   /* [draws][n]: sums over chips of the first condition's rows */
} xb_candidate;

struct xb_design {
    xb_design_space space;
    xb_design_options opt;
    xb_analog_options analog;
    const xb_model *model; /* borrowed during the search, like x, y and calibration */
    const double *calibration;
    int64_t calibration_n;
    double *x, *y;  /* the rows that are scored */
    xb_judge judge; /* without the data's noise, which differs between variants */
    xb_condition condition[XB_CONDITIONS_MOST];
    int conditions;
    char score_name[32];
    int64_t n_draws;     /* number of values of the axis */
    const double *draws; /* [n_draws], owned by the space */
    int64_t reads;       /* the largest number of draws */
    int64_t chips_room;
    xb_candidate *candidate;
    int64_t candidates, left_out, finalists;
    xb_variant *variant; /* [variants]; the given model is the first */
    int64_t variants;
    double *luck; /* [opt.chips][n_draws][XB_QUALITIES] (X73); NULL: not known yet */
    xb_design_point *point; /* [candidates][n_draws] */
    int64_t chosen, chosen_low, chosen_high, best, undecided;
};

/* retrain.c: (X77) finds which models the candidates need, sets each candidate's variant,
 * and trains the models. */
xb_status xb_variants_make(xb_ctx *ctx, xb_design *d);
void xb_variants_free(xb_design *d);

/* trial.c: reads arrays on chips, and computes their costs. A trial is a function of the
 * array and of the chip's number, so trials can run in parallel. */
xb_status xb_trial_costs(xb_ctx *ctx, xb_design *d);
/* Reads all arrays that are not dropped on further chips, up to number `chips`. */
xb_status xb_trial_read(xb_ctx *ctx, xb_design *d, int64_t chips);
/* The same for one array. */
xb_status xb_trial_extend(xb_ctx *ctx, xb_design *d, int64_t candidate, int64_t chips);
xb_status xb_trial_digital(xb_ctx *ctx, xb_design *d);

/* front.c: from scores to points, and which of them are worth having. */
/* (X73) Drops arrays whose designs are beaten by others, about half of the arrays. */
xb_status xb_front_cull(xb_ctx *ctx, xb_design *d);
xb_status xb_front_mark(xb_ctx *ctx, xb_design *d);
xb_status xb_front_choose(xb_ctx *ctx, xb_design *d);
/* (X74) The 0.95 quantile of Student's t. */
double xb_front_student(int64_t degrees);

#endif
