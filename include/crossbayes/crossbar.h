/* crossbayes/crossbar.h: a trained model on simulated analog arrays.
 *
 *     xb_array *array = NULL;
 *     xb_array_preset(ctx, &array, "mtj");
 *     xb_array_set(ctx, array, "adc_bits", 6);
 *     xb_analog *analog = NULL;
 *     if (xb_analog_create(ctx, &analog, model, array, x_train, n_train, NULL) != XB_OK)
 *         ...
 *     xb_analog_draws(ctx, value, sd, analog, x, n, 0, reads);   // [reads][n]
 *     xb_analog_destroy(analog);
 *     xb_array_destroy(array);
 *
 * Pairs of conductances hold the means, noise devices hold the standard deviations, and
 * one read of the arrays is one draw of all weights (maths X). Every effect of an array
 * has one switch; with all of them off the draws are those of xb_predict_draws. Reads
 * have the form of predictive draws, so crossbayes/compare.h scores them unchanged; an
 * xb_assay does that against the digital model. Results have the same bytes for any
 * number of threads.
 *
 * The kernels of dense and conv layers are on the arrays. Biases, batchnorm, activations,
 * pooling and the noise net are digital.
 */
#ifndef CROSSBAYES_CROSSBAR_H
#define CROSSBAYES_CROSSBAR_H

#include "crossbayes/compare.h"
#include "crossbayes/predict.h"
#include "crossbayes/series.h"
#include "crossbayes/train.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the description of an array */

/* When weights are redrawn. Mean-field inference assumes one draw for the whole pass of
 * an input: NETWORK and INPUT both do that, and give the same predictive for each input.
 * OPERATION differs if a kernel is used more than once for an input: each pixel of a conv
 * layer then has its own weights. */
typedef enum xb_redraw {
    XB_REDRAW_NETWORK = 0, /* once for each read of the network; all inputs share the
                              draw */
    XB_REDRAW_INPUT,       /* for each input */
    XB_REDRAW_OPERATION    /* for each array operation */
} xb_redraw;

XB_API const char *xb_redraw_name(xb_redraw redraw); /* "network", "input", ... */
XB_API xb_status xb_redraw_parse(xb_ctx *ctx, xb_redraw *out, const char *text);

/* An array has a name, numbers by key (0 turns an effect off), the law of its noise
 * devices and a rule for when they are redrawn. xb_array_field_at() lists the numbers
 * with their ranges. */
typedef struct xb_array xb_array;

/* The presets "ideal", "mtj", "ecram" and "rram": docs/arrays.md has each value with its
 * reason. */
XB_API int64_t xb_array_preset_count(void);
XB_API const char *xb_array_preset_name(int64_t i);
XB_API const char *xb_array_preset_about(int64_t i);
XB_API int64_t xb_array_preset_find(const char *name); /* -1: none */
XB_API xb_status xb_array_preset(xb_ctx *ctx, xb_array **out, const char *name);
XB_API xb_status xb_array_copy(xb_ctx *ctx, xb_array **out, const xb_array *array);
XB_API void xb_array_destroy(xb_array *array); /* NULL is fine */

/* JSON: {"crossbayes": "array", "base": PRESET, KEY: VALUE, ...}; keys that are left out
 * have the value of the base, "ideal" by default. Unknown keys and values out of range
 * are refused. "sample_interval_ns" in place of "correlation_time_ns" takes the time from
 * the law file, as xb_array_set_measured does. */
XB_API xb_status xb_array_load(xb_ctx *ctx, xb_array **out, const char *path);
XB_API xb_status xb_array_save(xb_ctx *ctx, const xb_array *array, const char *path);
/* A preset's name, or the path of a file. */
XB_API xb_status xb_array_parse(xb_ctx *ctx, xb_array **out, const char *text);

/* The texts of an array, borrowed, and when it redraws. Texts are copied; one that is too
 * long is XB_E_ARGUMENT. */
XB_API const char *xb_array_name(const xb_array *array);
XB_API xb_status xb_array_set_name(xb_ctx *ctx, xb_array *array, const char *name);
/* The law of the noise devices, as a LAW text or a file; "": the model's law. */
XB_API const char *xb_array_law(const xb_array *array);
XB_API xb_status xb_array_set_law(xb_ctx *ctx, xb_array *array, const char *law);
/* File of its mean devices (crossbayes/device.h): conductances have moved since they were
 * programmed, by "age_s" (X21), weights may be programmed to pairs of states that move
 * little, by "quiet_pairs" (X22), reads have the noise of their states, by "read_noise"
 * (X23), and writes miss by the error measured for each state, by "program_by_state"
 * (X26). The file is read when a model is put on the array; "": none. */
XB_API const char *xb_array_device(const xb_array *array);
XB_API xb_status xb_array_set_device(xb_ctx *ctx, xb_array *array, const char *path);
XB_API xb_redraw xb_array_redraw(const xb_array *array);
XB_API void xb_array_set_redraw(xb_array *array, xb_redraw redraw);

/* The numbers of an array by name, for sweeps and help texts. A frozen value; texts are
 * the library's own. */
typedef struct xb_array_field {
    const char *key; /* "adc_bits" */
    bool whole;      /* a whole number */
    double min, max;
    const char *about;
    const char *label; /* name for an axis: "wire resistance from cell to cell" */
    const char *unit;  /* unit of the number: "Ω"; "" for none */
} xb_array_field;

XB_API int64_t xb_array_field_count(void);
XB_API xb_array_field xb_array_field_at(int64_t i);
/* `key` may be written with underscores or dashes, here and below. -1: none. */
XB_API int64_t xb_array_field_find(const char *key);
XB_API xb_status xb_array_set(xb_ctx *ctx, xb_array *array, const char *key,
                              double value);
XB_API xb_status xb_array_get(xb_ctx *ctx, double *out, const xb_array *array,
                              const char *key);
/* Fails, with the reason, if the numbers contradict each other. */
XB_API xb_status xb_array_check(xb_ctx *ctx, const xb_array *array);

/* The effects of the array that a net can be trained with (xb_train_options.array):
 * converters, levels and errors of its weights, and its smallest width (maths V60, V61).
 */
XB_API void xb_array_training(const xb_array *array, xb_train_array *out);

/* The effects, each one switch: 0 <= i < xb_array_effect_count(). */
XB_API int64_t xb_array_effect_count(void);
XB_API const char *xb_array_effect_name(int64_t i); /* "adc" */
XB_API const char *xb_array_effect_about(int64_t i);
XB_API int64_t xb_array_effect_find(const char *name); /* -1: none */
XB_API bool xb_array_has_effect(const xb_array *array, int64_t effect);
/* A copy of the array with this effect alone. */
XB_API xb_status xb_array_only(xb_ctx *ctx, xb_array **out, const xb_array *array,
                               int64_t effect);

/* What an array does against its effects, each one number that is not 0: calibration of
 * columns, repair. 0 <= i < xb_array_remedy_count(). */
XB_API int64_t xb_array_remedy_count(void);
XB_API const char *xb_array_remedy_name(int64_t i); /* "column calibration" */
XB_API const char *xb_array_remedy_about(int64_t i);
XB_API int64_t xb_array_remedy_find(const char *name); /* -1: none */
XB_API bool xb_array_has_remedy(const xb_array *array, int64_t remedy);
/* A copy of the array without this remedy. */
XB_API xb_status xb_array_without(xb_ctx *ctx, xb_array **out, const xb_array *array,
                                  int64_t remedy);

/* The share of devices whose noise is not redrawn by the next read (X10). */
XB_API double xb_array_correlation(const xb_array *array);
/* The number of independent draws, 1 or more, that `reads` consecutive reads are worth
 * (T12). */
XB_API double xb_array_independent(const xb_array *array, int64_t reads);
/* Law and correlation time of a device as they were measured: `path` is a law file made
 * by a fit to a trace with samples every sample_interval_ns (X11); 0: the interval given
 * to the fit. If the file has the trace's correlation at each lag, reads follow it (X19,
 * X20) until a correlation time or another law is set. */
XB_API xb_status xb_array_set_measured(xb_ctx *ctx, xb_array *array, const char *path,
                                       double sample_interval_ns);

/* Whether reads of the device behind a law can serve as draws. A frozen value. */
typedef struct xb_draws_verdict {
    int64_t reads; /* number of reads in a burst; 0: the law does not come from a trace
                      with a time axis */
    double read_interval; /* in seconds */
    double independent;   /* draws that the reads are worth */
    double usable_from; /* shortest read interval, in seconds, at which half of the reads
                           are independent; NAN: unknown */
    xb_usable usable;   /* verdict at read_interval */
    char text[384];     /* the verdict in words */
} xb_draws_verdict;

/* (X41) Judges the reads of a law, which is given as a user writes it. For a law file
 * made from a trace, the verdict is for a read interval (in seconds; 0: the trace's own)
 * and a number of reads (0: 100); for other laws nothing is known. */
XB_API xb_status xb_draws_judge(xb_ctx *ctx, xb_draws_verdict *out, const char *law,
                                double read_interval, int64_t reads);

/* ---- a model on arrays */

typedef struct xb_analog_options {
    size_t struct_size;
    const xb_law *law;   /* NULL: the array's law, or else the model's */
    uint64_t seed;       /* 1: seed of the reads, as in xb_predict_options */
    uint64_t chip;       /* 1: seed of the differences between chips: errors, faults,
                            spreads */
    const char *backend; /* NULL: the context's */
} xb_analog_options;

XB_OPTIONS(analog);

typedef struct xb_analog xb_analog;

/* x [n][features]: inputs that converter ranges are calibrated on, preferably the
 * training data (at most 512 of them, evenly spread); n may be 0 if no converter needs
 * it. model is borrowed and must outlive the analog model. The members of an ensemble
 * have tiles, and a chip, of their own; reads belong to them in turn (P7), and
 * xb_analog_export refuses them. */
XB_API xb_status xb_analog_create(xb_ctx *ctx, xb_analog **out, const xb_model *model,
                                  const xb_array *array, const double *x, int64_t n,
                                  const xb_analog_options *opt);
XB_API void xb_analog_destroy(xb_analog *analog);                /* NULL is fine */
XB_API const xb_array *xb_analog_array(const xb_analog *analog); /* borrowed */

/* Reads [first, first + count), as xb_predict_draws gives draws. */
XB_API xb_status xb_analog_draws(xb_ctx *ctx, double *value, double *sd,
                                 const xb_analog *analog, const double *x, int64_t n,
                                 int64_t first, int64_t count);

/* How a layer is mapped to its arrays. A frozen value. */
typedef struct xb_analog_place {
    int64_t layer;           /* number of the layer in the net */
    int64_t inputs, outputs; /* size of the matrix; conv: taps of a window, filters */
    int64_t operations;      /* matrix-vector products for one input: 1, for conv one per
                                pixel */
    int64_t rows, columns;   /* size of a tile */
    int64_t row_tiles, column_tiles;
    double weight_top; /* weight that corresponds to the whole conductance range */
    double sigma_top;  /* sd that corresponds to sigma_max_us */
    double dac_range, adc_range; /* in the layer's units; NAN: no converter */
    bool dac_signed;
} xb_analog_place;

XB_API int64_t xb_analog_place_count(const xb_analog *analog);
XB_API xb_analog_place xb_analog_place_at(const xb_analog *analog, int64_t i);

/* The load on the circuits, over all layers (maths X55). A frozen value. */
typedef struct xb_analog_limits {
    double column_ua, row_ua; /* largest currents in µA of a column and of a row of a tile
                                 of mean devices, with every row at "read_v" */
    double wire_loss; /* largest first-order loss (X9) as a fraction of the read voltage;
                         from about 0.5 on, the model of wires is wrong by a few per
                         cent */
    double swing_low_us, swing_high_us; /* range of a noise device of the width
                                           sigma_max_us, in µS; NAN if there is none */
} xb_analog_limits;

XB_API xb_analog_limits xb_analog_limits_get(const xb_analog *analog);

/* Writes what a lab programs: for each tile G+, G- and the noise width in uS as NPY, and
 * array.json that says which is which; under crosssim/ each layer's matrix and CrossSim
 * parameters (docs/arrays.md says what maps). `dir` is created if it does not exist. */
XB_API xb_status xb_analog_export(xb_ctx *ctx, const xb_analog *analog, const char *dir);
/* Plans the files (crossbayes/files.h) that xb_analog_export may write. */
XB_API xb_status xb_analog_export_plan(xb_ctx *ctx, const char *dir, const char *label);

/* ---- what a prediction costs */

/* Counts for one input and `reads` reads; programming is counted once for all. A frozen
 * value. */
typedef struct xb_analog_counts {
    double devices;         /* mean and noise devices programmed */
    double tile_operations; /* matrix-vector products of a tile */
    double device_reads;    /* devices that conduct, over all operations */
    double dac_conversions, adc_conversions;
} xb_analog_counts;

XB_API xb_analog_counts xb_analog_count(const xb_analog *analog, int64_t reads);

/* Costs given by the user: {"crossbayes": "costs", "read_pj", "dac_pj", "adc_pj",
 * "write_pj", "operation_ns", "note"}; a key left out costs nothing. A frozen value, as
 * is the estimate. */
typedef struct xb_costs {
    double read_pj; /* one device in one operation */
    double dac_pj;  /* one conversion */
    double adc_pj;
    double write_pj;     /* programming of one device */
    double operation_ns; /* one tile operation; the tiles of a layer work in parallel */
    char note[128];      /* source of the numbers */
} xb_costs;

typedef struct xb_cost_estimate {
    double read_pj, dac_pj, adc_pj, total_pj; /* for one prediction */
    double write_pj;                          /* for programming, once */
    double time_ns;                           /* for one prediction */
} xb_cost_estimate;

XB_API xb_status xb_costs_load(xb_ctx *ctx, xb_costs *out, const char *path);
XB_API xb_cost_estimate xb_analog_cost(const xb_analog *analog, const xb_costs *costs,
                                       int64_t reads);

/* Energy and time by a model of the converters, cells and logic (maths X35-X39), from
 * the conductances that were written and the array's numbers ("read_v", "node_nm", ...):
 * docs/arrays.md has them with their sources. Three designs: the array itself, the same
 * net with digital sampling on a digital accelerator, and the array without noise. If
 * published numbers disagree, the result is a band. */
typedef struct xb_cost_model xb_cost_model;

/* The ends of a band; they are equal if there is only one source. A frozen value. */
typedef struct xb_band {
    double low, high;
} xb_band;

/* The costs are those of predictions of `draws` draws each. Fails if the array has no
 * converters, and for weights made of cells, whose conductances have their own unit. */
XB_API xb_status xb_cost_model_create(xb_ctx *ctx, xb_cost_model **out,
                                      const xb_analog *analog, int64_t draws);
XB_API void xb_cost_model_destroy(xb_cost_model *cost); /* NULL is fine */

XB_API int64_t xb_cost_model_design_count(void);
XB_API const char *xb_cost_model_design_name(int64_t i);    /* "array", "digital", ... */
XB_API int64_t xb_cost_model_design_find(const char *name); /* -1: none */
XB_API int64_t xb_cost_model_part_count(void);
XB_API const char *xb_cost_model_part_name(int64_t i);    /* "dac", "cells", "adc", ... */
XB_API int64_t xb_cost_model_part_find(const char *name); /* -1: none */

/* The layers on arrays, by their number in the net. */
XB_API int64_t xb_cost_model_layer_count(const xb_cost_model *cost);
XB_API int64_t xb_cost_model_layer_at(const xb_cost_model *cost, int64_t i);
/* The number of draws of a prediction; 1 if nothing is random. */
XB_API int64_t xb_cost_model_draws(const xb_cost_model *cost, int64_t design);
/* The energy of one draw in pJ; layer or part -1: all of them. */
XB_API xb_band xb_cost_model_energy_pj(const xb_cost_model *cost, int64_t design,
                                       int64_t layer, int64_t part);
/* Energy in pJ and time in ns of calibrating the columns of one chip, once (X54); 0
 * without "column_calibration". */
XB_API xb_band xb_cost_model_calibration_pj(const xb_cost_model *cost);
XB_API double xb_cost_model_calibration_ns(const xb_cost_model *cost);
/* The time of one draw, ns; layer -1: all layers, or "read_interval_ns" if that is
 * longer, since a device is not read sooner. For the digital accelerator only the time
 * for making the samples is known, which is a lower bound. */
XB_API double xb_cost_model_time_ns(const xb_cost_model *cost, int64_t design,
                                    int64_t layer);

/* ---- an array against the digital model */

typedef struct xb_assay_options {
    size_t struct_size;
    int64_t reads;             /* 1000: reads of the arrays, and draws of the digital
                                  model */
    double tolerance;          /* 0.1: tolerance of the verdict, in epistemic sds */
    const double *calibration; /* [calibration_n][features]; NULL: the inputs scored */
    int64_t calibration_n;
    const xb_analog_options *analog; /* NULL: the defaults */
} xb_assay_options;

XB_OPTIONS(assay);

typedef struct xb_assay_result xb_assay_result;
typedef struct xb_assay xb_assay;

/* Scores the digital model on x [n][features], y [n] (class numbers for classes). model,
 * x, y and what opt points to are borrowed and must outlive the assay; opt itself need
 * not. */
XB_API xb_status xb_assay_create(xb_ctx *ctx, xb_assay **out, const xb_model *model,
                                 const double *x, const double *y, int64_t n,
                                 const xb_assay_options *opt);
XB_API void xb_assay_destroy(xb_assay *assay); /* NULL is fine */
/* The scores of the digital model. It has no distances, and its difference is 0. Borrowed
 * from the assay. */
XB_API const xb_assay_result *xb_assay_digital(const xb_assay *assay);
XB_API xb_status xb_assay_run(xb_ctx *ctx, xb_assay_result **out, xb_assay *assay,
                              const xb_array *array);
XB_API void xb_assay_result_destroy(xb_assay_result *result); /* NULL is fine */

/* All pointers are borrowed from the result. */
XB_API const xb_scores *xb_assay_result_scores(const xb_assay_result *result);
/* NLL of the array minus that of the digital model, row by row, for targets that are
 * numbers. */
XB_API xb_score xb_assay_result_nll_difference(const xb_assay_result *result);
/* Distances of the predictives from the digital ones, without a KL; their verdict is the
 * verdict of the assay. NULL for the digital model itself. */
XB_API const xb_distances *xb_assay_result_distance(const xb_assay_result *result);
/* A lower bound of KL(array || digital) in nats, by xb_distance_kl_lower(). */
XB_API double xb_assay_result_kl_at_least(const xb_assay_result *result);

/* ---- an array built many times */

/* Whether something differs from chip to chip: programming errors, relaxation, stuck
 * devices, spreads (of temperature coefficients too). If not, one chip represents all. */
XB_API bool xb_array_differs(const xb_array *array);

/* The array assayed on several chips. */
typedef struct xb_chips xb_chips;

/* Assays `count` chips, 1 or more, as xb_assay_run does: the chip of the assay's options
 * (xb_analog_options.chip) and those with the next numbers. All chips have the same read
 * noise, so results differ only because the chips do. */
XB_API xb_status xb_chips_create(xb_ctx *ctx, xb_chips **out, xb_assay *assay,
                                 const xb_array *array, int64_t count);
/* Does the same for n arrays at once: out[i] are count[i] chips of array[i]. A chip is an
 * item of a piece of work (crossbayes/work.h), so several processes may do them
 * together. */
XB_API xb_status xb_chips_create_all(xb_ctx *ctx, xb_chips **out, xb_assay *assay,
                                     const xb_array *const *array, const int64_t *count,
                                     int64_t n);
XB_API void xb_chips_destroy(xb_chips *chips); /* NULL is fine */
XB_API int64_t xb_chips_count(const xb_chips *chips);
/* Chip i, 0 <= i < count, borrowed; beyond, NULL. */
XB_API const xb_assay_result *xb_chips_at(const xb_chips *chips, int64_t i);

/* A number over chips (X24). A frozen value. */
typedef struct xb_chip_spread {
    double mean;
    double sd;                /* standard deviation from chip to chip; NAN for one chip */
    double low, median, high; /* quantiles 0.05, 0.5 and 0.95 */
} xb_chip_spread;

/* The spread of a score, by the names of xb_scores, and of a gap's rms, by the names of
 * xb_distances' gaps: "mean", "sd", "whole". NAN for an unknown name. */
XB_API xb_chip_spread xb_chips_score_get(const xb_chips *chips, const char *name);
XB_API xb_chip_spread xb_chips_gap_get(const xb_chips *chips, const char *name);
/* Share of the chips with this verdict. */
XB_API double xb_chips_verdict_share(const xb_chips *chips, xb_verdict verdict);

/* The loss of a chip is how much worse its score is than the digital model's (negative if
 * it is better), or how far they differ if neither direction is better. xb_chips_yield is
 * the share of the chips that lose at most `loss`; xb_chips_loss is the smallest loss
 * that at least the share `share`, in (0, 1], of the chips do not exceed. NAN for an
 * unknown name. */
XB_API double xb_chips_yield(const xb_chips *chips, const char *name, double loss);
XB_API double xb_chips_loss(const xb_chips *chips, const char *name, double share);

#ifdef __cplusplus
}
#endif
#endif
