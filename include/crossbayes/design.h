/* crossbayes/design.h: searches for the cheapest array that keeps a model's quality, and
 * for the Pareto fronts of energy and time against quality.
 *
 *     xb_design_space *space = NULL;
 *     xb_design_space_create(ctx, &space, array);
 *     xb_design_space_add(ctx, space, "adc_bits", (double[]){6, 8, 10}, 3);
 *     xb_design_space_complete(ctx, space);             // how many draws, by default
 *     xb_design *design = NULL;
 *     if (xb_design_find(ctx, &design, model, x, y, n, space, "nll<=+2%", NULL) != XB_OK)
 *         ...
 *     if (xb_design_chosen(design) >= 0)
 *         xb_design_array(ctx, &best, design, xb_design_chosen(design));
 *
 * A design is an array and the number of draws per prediction. Each array is simulated on
 * several chips, with the same chips and the same random words for all arrays, so that
 * designs are compared in pairs; arrays that others beat in energy, time and quality are
 * dropped after a few chips (maths X70-X76). Results have the same bytes for any number
 * of threads.
 */
#ifndef CROSSBAYES_DESIGN_H
#define CROSSBAYES_DESIGN_H

#include "crossbayes/crossbar.h"
#include "crossbayes/train.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the space of designs */

/* Axes of values; every combination of values is a design. */
typedef struct xb_design_space xb_design_space;

/* A space without axes holds one array, unchanged. */
XB_API xb_status xb_design_space_create(xb_ctx *ctx, xb_design_space **out,
                                        const xb_array *array);
XB_API void xb_design_space_destroy(xb_design_space *space); /* NULL is fine */
/* Adds an axis: a number of the array (xb_array_field_at), "tile" (rows and columns
 * together) or "draws" (per prediction), with 1 to 64 distinct values. A key that already
 * has an axis is refused. Models that are trained again (xb_design_options.retrain) also
 * have the axes "width" (units of the hidden dense layers), "n_eff_penalty" (as in
 * xb_train_options) and "for_array" (1: trained as the array would run them, 0: not). */
XB_API xb_status xb_design_space_add(xb_ctx *ctx, xb_design_space *space, const char *key,
                                     const double *value, int64_t n);
/* Leaves a number of the array unchanged: the default search does not include it. */
XB_API xb_status xb_design_space_fix(xb_ctx *ctx, xb_design_space *space,
                                     const char *key);
/* Adds the axis "draws" (10, 20, 50, 100, 200) if it is missing. If the space has no
 * other axis either, adds those of the default search that are not fixed: bits of both
 * converters, tiles, and, if reads of a device are correlated, the time between reads. */
XB_API xb_status xb_design_space_complete(xb_ctx *ctx, xb_design_space *space);

XB_API int64_t xb_design_space_axis_count(const xb_design_space *space);
XB_API const char *xb_design_space_axis_name(const xb_design_space *space, int64_t i);
XB_API int64_t xb_design_space_axis_find(const xb_design_space *space, const char *key);
XB_API int64_t xb_design_space_axis_size(const xb_design_space *space, int64_t i);
XB_API double xb_design_space_axis_value(const xb_design_space *space, int64_t i,
                                         int64_t k);

/* ---- the search */

typedef struct xb_design_options {
    size_t struct_size;
    int64_t chips;      /* 16, at least 4: number of chips on which the arrays of the last
                           round are read; the choice is then confirmed on as many other
                           chips */
    double deadline_ns; /* longest time of a prediction; 0: no limit */
    bool fastest;       /* minimise time, not energy */
    double yield;    /* 0.9, in (0, 1]: scores are averages over this share of the chips;
                        the worst chips are left out */
    bool exhaustive; /* no array is dropped before the last chip */
    const double *calibration; /* [calibration_n][features]; NULL: the inputs scored */
    int64_t calibration_n;
    const xb_analog_options *analog; /* NULL: the defaults; `seed` and `chip` are the
                                        first ones used */
    const xb_train_data *retrain; /* rows that models are trained again on; NULL: no model
                                     is trained again */
    const xb_train_options *train; /* options of that training; NULL: the defaults. Net,
                                      likelihood, law, prior and members are always the
                                      model's */
} xb_design_options;

XB_OPTIONS(design);

typedef struct xb_design xb_design;

/* x [n][features], y [n] (class numbers for classes); at most 512 rows are scored, evenly
 * spread. `keep` has one to three conditions, "nll<=+2%, coverage95>=0.9": a score, <= or
 * >=, and a limit: a number, or with a sign how much more or less than the digital model,
 * also in per cent of it. Scores of numbers: nll, rmse, coverage95; of classes: nll,
 * accuracy, brier; of several targets: nll. The first one is the quality of the front.
 *
 * If no design keeps the conditions, that is a result, and xb_design_chosen() is -1.
 * Fails if no design meets the deadline. */
XB_API xb_status xb_design_find(xb_ctx *ctx, xb_design **out, const xb_model *model,
                                const double *x, const double *y, int64_t n,
                                const xb_design_space *space, const char *keep,
                                const xb_design_options *opt);
XB_API void xb_design_destroy(xb_design *design); /* NULL is fine */

/* ---- results */

typedef enum xb_kept {
    XB_KEPT_YES = 0, /* the score keeps the condition beyond its error, one-sided at 95
                        % */
    XB_KEPT_NO,
    XB_KEPT_UNRESOLVED
} xb_kept;

XB_API const char *xb_kept_name(xb_kept kept); /* "keeps", "fails", "cannot tell" */
XB_API xb_status xb_kept_parse(xb_ctx *ctx, xb_kept *out, const char *text);

/* One design. A frozen value. */
typedef struct xb_design_point {
    int64_t array; /* index of the array; designs that differ only in draws share it */
    int64_t draws; /* draws per prediction */
    int64_t chips; /* number of chips behind these numbers */
    xb_band energy_pj; /* per prediction */
    double time_ns;    /* per prediction */
    double score;      /* score of the first condition, mean over chips */
    double loss;       /* how much worse the score is than the digital model's */
    double error;      /* standard error of both, over chips and reads */
    double row_error;  /* standard error of the loss over rows, which all designs share */
    double yield;      /* share of its chips that keep all conditions */
    xb_kept kept;      /* whether all conditions are kept */
    bool refuted;      /* it keeps them on its chips, but not on as many other chips */
    bool finalist;     /* simulated on all chips, not dropped before */
    bool energy_front; /* no finalist is cheaper and better */
    bool time_front;   /* no finalist is faster and better */
    bool tie;          /* on the energy front: its quality is not significantly better
                          than that of a cheaper design of the front */
} xb_design_point;

XB_API int64_t xb_design_count(const xb_design *design);
XB_API xb_design_point xb_design_at(const xb_design *design, int64_t i);
/* The value of design i on an axis of the space. */
XB_API double xb_design_value(const xb_design *design, int64_t i, int64_t axis);
XB_API const xb_design_space *xb_design_axes(const xb_design *design); /* borrowed */
/* The array of design i; its number of draws is in xb_design_at. */
XB_API xb_status xb_design_array(xb_ctx *ctx, xb_array **out, const xb_design *design,
                                 int64_t i);

/* The model that was trained again for design i, borrowed; NULL: it uses the given one.
 * And the number of models trained again. */
XB_API const xb_model *xb_design_model(const xb_design *design, int64_t i);
XB_API int64_t xb_design_model_count(const xb_design *design);

/* The cheapest design (with `fastest`, the fastest) that keeps the conditions; -1: none.
 * Energies are bands: the first function compares their geometric means, the others their
 * low ends and their high ends. */
XB_API int64_t xb_design_chosen(const xb_design *design);
XB_API int64_t xb_design_chosen_low(const xb_design *design);
XB_API int64_t xb_design_chosen_high(const xb_design *design);
/* The chosen design with the numbers of all chips that it was confirmed on; all numbers
 * are NAN or 0 if no design was chosen. */
XB_API xb_design_point xb_design_confirmed(const xb_design *design);
/* The finalist with the best quality, that is with the smallest loss. */
XB_API int64_t xb_design_best(const xb_design *design);
/* The number of finalists that cost less than the choice and may keep the conditions as
 * well. */
XB_API int64_t xb_design_undecided(const xb_design *design);

XB_API const char *xb_design_score_name(const xb_design *design); /* "nll" */
XB_API double xb_design_digital(const xb_design *design); /* score without an array */
XB_API double xb_design_limit(const xb_design *design);   /* limit of the first
                                                             condition */
XB_API int64_t xb_design_rows(const xb_design *design);   /* number of rows that were
                                                             scored */
XB_API int64_t xb_design_chips(const xb_design *design);
XB_API int64_t xb_design_reads(const xb_design *design); /* number of reads on each
                                                            chip */
/* The numbers of arrays simulated at all, of arrays simulated on all chips, and of
 * combinations left out because their values contradict each other. */
XB_API int64_t xb_design_array_count(const xb_design *design);
XB_API int64_t xb_design_finalist_count(const xb_design *design);
XB_API int64_t xb_design_left_out(const xb_design *design);

#ifdef __cplusplus
}
#endif
#endif
