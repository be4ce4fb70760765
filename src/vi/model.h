/* model.h: the contents of a model. */
#ifndef XB_VI_MODEL_H
#define XB_VI_MODEL_H

#include "base/ctx.h"
#include "crossbayes/data.h"
#include "crossbayes/model.h"
#include "data/recipe.h"
#include "vi/process.h"

/* Standard deviations of the second net are this, or more (noise_least), plus softplus
 * of its output, in units of the target's own: a noise that vanishes somewhere must not
 * make the likelihood infinite. */
#define XB_NOISE_LEAST 1e-3

/* A small model file may claim any number of pixels, so this is limited. */
enum { XB_MODEL_INPUTS_MAX = 1 << 24 };
/* The largest mean and spread of a target, and the inverse of the smallest: the square of
 * a squared error, which errors of scores need, stays finite. */
#define XB_TARGET_MOST 1e60

struct xb_model {
    xb_net *net;
    xb_net *noise_net; /* HETEROSCEDASTIC only; deterministic */
    xb_likelihood likelihood;
    bool pixels; /* inputs enter as they are and have no names */
    int64_t features;
    char **feature_name;    /* [features] */
    xb_recipe *recipe;      /* of a table: how its columns become features */
    double *x_mean, *x_sd;  /* [features]; of the logarithm where columns are bent */
    double *x_low, *x_bend; /* [features] (V21); bend 0: the column enters as it is */
    int64_t targets;        /* number of targets; 1 for classes */
    char *target_name;      /* of several, all with commas between them */
    char **target_each;     /* [targets] */
    double *y_mean, *y_sd;  /* [targets]; counts: of the logarithm of the rate */
    int64_t classes;
    char **class_name;         /* [classes] */
    float *mu, *sigma, *state; /* the net's blocks */
    float *noise_mu;           /* the noise net's block */
    float *noise_state;        /* state of its batchnorm */
    double *noise_log_sd;      /* [targets] GAUSSIAN, STUDENT, in units of y_sd;
                                  NEGATIVE_BINOMIAL: logarithm of the dispersion */
    double noise_degrees;      /* STUDENT (N20) */
    double noise_least;        /* HETEROSCEDASTIC, the same units (V19) */
    double *target_spread;     /* [targets] sd in units of y_sd; training only */
    xb_weight_cells *cells; /* random tensors are made of them; NULL: widths are free */
    float *cell;            /* [cells] times the net's blocks: the states of tensor t from
                               cells * t.offset on, [cells][t.size] */
    xb_law *law;
    xb_prior prior;
    char *settings, *provenance; /* JSON */
    double *calibration;         /* [XB_CALIBRATION_LEVELS] (C27); NULL: none */
    xb_process *process; /* (V43) beside the net, or beside all members; NULL: none */
    /* An ensemble: its members, each a model of its own; all of the above is then
     * borrowed from the first (ensemble.c). NULL: one posterior. */
    xb_model **member; /* [members] */
    int64_t members;
};

/* Copies the levels of a recalibration into the model, XB_CALIBRATION_LEVELS of them. */
xb_status xb_model_set_calibration(xb_ctx *ctx, xb_model *model, const double *level);
/* (C27) The level whose quantile replaces that of `level`. */
double xb_model_calibrated_level(const xb_model *model, double level);

/* Gives the process to the model, beside the net or all members, and replaces an earlier
 * one. */
void xb_model_set_process(xb_model *model, xb_process *process);

/* Makes an ensemble of models with the same columns, net and likelihood, and takes
 * ownership of them; on failure the caller keeps them. A single model is returned
 * unchanged. */
xb_status xb_model_join(xb_ctx *ctx, xb_model **out, xb_model **member, int64_t members);
void xb_model_part(xb_model *ensemble); /* frees it with its members */

/* (P7) Draws belong to the members in turn: the member of draw s, and the number of that
 * draw among its own. */
static inline int64_t xb_member_of(const xb_model *model, int64_t s)
{
    return model->member ? s % model->members : 0;
}
static inline int64_t xb_member_draw(const xb_model *model, int64_t s)
{
    return model->member ? s / model->members : s;
}

/* Makes an empty model; fill it, then call xb_model_blocks to allocate memory for the
 * nets. */
xb_status xb_model_new(xb_ctx *ctx, xb_model **out);
xb_status xb_model_blocks(xb_ctx *ctx, xb_model *model);

/* Allocates the names and scales of `features` columns, at most XB_MODEL_INPUTS_MAX. */
xb_status xb_model_columns(xb_ctx *ctx, xb_model *model, int64_t features,
                           int64_t classes);
/* Allocates this number of targets, each of mean 0 and sd 1; call it before anything
 * needs the outputs. */
xb_status xb_model_targets(xb_ctx *ctx, xb_model *model, int64_t targets);

/* GAUSSIAN or STUDENT: one standard deviation for each target. */
bool xb_model_has_one_noise(const xb_model *model);
/* Counts: one over the dispersion, size [members][targets]; INFINITY: Poisson. */
void xb_model_sizes(const xb_model *model, double *size);
/* Target k in the form that training uses: standardised, or an unchanged count. */
static inline float xb_model_scaled_target(const xb_model *m, int64_t k, double y)
{
    return (float)(xb_model_of_counts(m) ? y : (y - m->y_mean[k]) / m->y_sd[k]);
}
/* Copies the cells, and allocates the states of the net's tensors. */
xb_status xb_model_take_cells(xb_ctx *ctx, xb_model *model, const xb_weight_cells *cells);
/* A table whose columns are features as they are, once those have names and scales. */
xb_status xb_model_plain_recipe(xb_ctx *ctx, xb_model *model);
/* Copies another model's recipe; NULL: leaves it unchanged. */
xb_status xb_model_set_recipe(xb_ctx *ctx, xb_model *model, const xb_recipe *recipe);

/* Outputs the net must have: one for each target, or the number of classes. */
int64_t xb_model_outputs(const xb_model *model);
int64_t xb_model_noise_states(const xb_model *model); /* of the noise net's batchnorm */
xb_status xb_model_check_nets(xb_ctx *ctx, const xb_model *model);

/* Checks that rows are finite, and not too large once they are scaled. */
xb_status xb_model_check_rows(xb_ctx *ctx, const xb_model *model, const xb_rows *rows);

/* (V21) Bends the skewed columns of x, rows row[0 .. n - 1], and scales them anew. */
xb_status xb_model_bend(xb_ctx *ctx, xb_model *model, const double *x, const int64_t *row,
                        int64_t n);
/* Whether there are such columns. */
xb_status xb_columns_skewed(xb_ctx *ctx, bool *out, const double *x, int64_t columns,
                            const int64_t *row, int64_t n);
/* Scales x [n][features] as the net needs it. */
void xb_model_scale_inputs(const xb_model *model, float *out, const double *x, int64_t n);
/* The same for rows [first, first + count) of any kind. */
void xb_model_take_rows(const xb_model *model, float *out, const xb_rows *rows,
                        int64_t first, int64_t count);

#endif
