/* analog.h: a model on its arrays, and a reader that runs them. */
#ifndef XB_CROSSBAR_ANALOG_H
#define XB_CROSSBAR_ANALOG_H

#include "crossbar/cells.h"
#include "crossbar/columns.h"
#include "net/layer.h"
#include "backend/array_ops.h"
#include "backend/host.h"

/* held.c: (X19) noise that is held for blocks of 2^l operations, level by level. */
enum { XB_HELD_LEVELS = 32 };

typedef struct xb_held {
    int top;                      /* the highest level in use */
    double share[XB_HELD_LEVELS]; /* share of the devices at each level */
    uint32_t below[XB_HELD_LEVELS][XB_HELD_LEVELS];
} xb_held;

/* Both take the correlation of reads 1, 2, 4, ... apart, fewer than XB_HELD_LEVELS of
 * them; a correlation that is not convex is replaced by the largest convex curve below
 * it. free() what xb_held_make() made. */
void xb_held_fill(xb_held *out, const double *correlation, int lags);
xb_status xb_held_make(xb_ctx *ctx, xb_held **out, const double *correlation, int lags);
double xb_held_correlation(const xb_held *held, double lag);
double xb_held_time(const xb_held *held); /* integrated autocorrelation time in reads */
/* The sum of (1 - |k|/n) r(k) over lags |k| < n: n reads are worth n over this (T12). */
double xb_held_sum(const xb_held *held, int64_t reads);

/* planes.c: a slice of a layer's weights, which has its own tiles (X60-X62). Its values
 * are in the layer's units, multiplied by the value of its digit. */
typedef struct xb_plane {
    double us_per_weight; /* uS for a weight of 1; 0: all weights are 0 */
    double conductance_us;
    float *mean;      /* [in][out]; NULL for the first slice, whose means are in
                         analog->mu */
    float *reference; /* [in][column tiles] references of offset columns; NULL: pairs */
    xb_converter adc;
} xb_plane;

/* One dense or conv layer on its tiles. */
typedef struct xb_analog_layer {
    const xb_layer *layer;
    int index;             /* index of the layer in the net */
    int tensor;            /* index of the kernel; the bias follows */
    int64_t offset, n;     /* position and size of kernel and bias in every block */
    int64_t size;          /* size of the kernel: in * out */
    int64_t in, out;       /* size of the matrix */
    int64_t operations;    /* operations for one input */
    int64_t rows, columns; /* size of a tile */
    double weight_top, sigma_top;
    double conductance_us; /* sum over all pairs, as programmed and wired */
    xb_conduction conduction;
    double wire_loss;
    bool random; /* whether any of its tensors is random */
    xb_converter dac, adc;
    xb_correction correction; /* corrections of its columns (X50, X51); empty: none */
    int64_t known;            /* number of inputs that gains and offsets were fitted to */
    xb_plane *plane;          /* [planes]; NULL: pairs of whole weights, whole inputs */
    int64_t planes;
    float *plane_memory;
} xb_analog_layer;

struct xb_analog {
    const xb_model *model; /* borrowed */
    xb_array array;
    xb_sampler *sampler;        /* sampler of the noise devices' law */
    xb_sampler *normal;         /* sampler of the noise of sums (X56-X58); NULL: no such
                                   noise */
    const xb_backend *backend;  /* backend that reads the arrays if
                                   xb_backend_reads_suit() */
    const xb_kernels *kernels;  /* kernels of the host, which programs, calibrates and
                                   reads */
    xb_key reads, forget, chip; /* keys of the noise, of forgetting, and of the devices */
    uint64_t seed, chip_number; /* the numbers that the keys are made of */
    int64_t calibration_inputs; /* number of inputs read */
    double rho;                 /* (X10) */
    xb_held *held;              /* (X19); NULL: devices forget at one rate, or at once */
    float *mu, *sigma;          /* [params] as they are on the arrays */
    float *bend;                /* [3][params] coefficients of (X8); NULL: all devices
                                   have the law's shape */
    xb_device *device;          /* device of array.device; NULL: none */
    xb_aged aged;               /* the same, for (X21) and (X22) */
    xb_quiet quiet;             /* its n is 0 if one device of each pair is at its lowest
                                   (X1) */
    xb_analog_layer *layer;     /* [n_layer], in the order of the net */
    int n_layer;
    const xb_model *whole; /* the model, or the ensemble that it is a member of */
    uint32_t place;    /* number of the ensemble member that is on these tiles, from 0 */
    xb_analog **other; /* [others], the other members' tiles; NULL: one posterior */
    int64_t others;
};

/* ---- write_arrays.c: the devices */

/* Cells with room for the analog model's largest layer. */
typedef struct xb_workbench {
    xb_cells cells; /* pointers only */
    double *block;  /* memory of plus, minus, width and tile */
    double *tile;   /* memory of a pair of tiles */
    float *draws;
    xb_sampler *normal;
} xb_workbench;

xb_status xb_workbench_make(xb_ctx *ctx, xb_workbench *out, const xb_analog *analog);
void xb_workbench_free(xb_workbench *bench);
/* The conductances to program: targets of one slice, rounded to the available states. */
void xb_workbench_target(xb_workbench *bench, xb_cells *out, const xb_analog *analog,
                         const xb_analog_layer *layer, int64_t slice);
/* Programs all layers: analog->mu, sigma, bend. */
xb_status xb_analog_programme(xb_ctx *ctx, xb_analog *analog);

/* tied_layer.c: (X30) programs a layer whose weights are made of cells with their own
 * noise, into analog->mu, sigma and bend. */
xb_status xb_tied_programme(xb_ctx *ctx, xb_analog *analog, const xb_chip *chip,
                            xb_analog_layer *layer);
/* Checks that the device file and the model's cells fit together. */
xb_status xb_tied_suits(xb_ctx *ctx, const xb_analog *analog);

/* shape.c: (X8) computes analog->bend for a layer's devices, whose mu and sigma are
 * known. */
xb_status xb_shape_make(xb_ctx *ctx, xb_analog *analog, const xb_chip *chip,
                        const xb_analog_layer *layer);
/* The curves of parameters from `at` on. */
xb_curve xb_shape_curve(const xb_analog *analog, int64_t at);

/* ---- analog_members.c: an ensemble, whose members have their own tiles */

/* Model and array are set; `place` says whose tiles they are. */
xb_status xb_analog_make(xb_ctx *ctx, xb_analog **out, const xb_model *model,
                         const xb_array *array, const double *x, int64_t n,
                         const xb_analog_options *opt, uint32_t place);
/* Makes the tiles of all members except the first, which is `analog`. */
xb_status xb_analog_make_others(xb_ctx *ctx, xb_analog *analog, const xb_model *ensemble,
                                const double *x, int64_t n, const xb_analog_options *opt);
void xb_analog_free_others(xb_analog *analog);
/* xb_analog_draws without its checks, for one posterior and for an ensemble (P7). */
xb_status xb_analog_read(xb_ctx *ctx, double *value, const xb_analog *analog,
                         const double *x, int64_t n, int64_t first, int64_t count);
xb_status xb_analog_read_members(xb_ctx *ctx, double *value, const xb_analog *analog,
                                 const double *x, int64_t n, int64_t first,
                                 int64_t count);

/* The analog layer of the net's i-th layer; NULL: it is not on tiles. */
const xb_analog_layer *xb_analog_layer_of(const xb_analog *analog, int i);

/* ---- backend_reads.c: reads in the memory of another backend */

bool xb_backend_reads_suit(const xb_analog *analog);
/* Writes value [count][n][outputs] of the reads from `first` on; x [n][features] is
 * scaled as the net needs it. */
xb_status xb_backend_reads(xb_ctx *ctx, double *value, const xb_analog *analog,
                           const float *x, int64_t n, int64_t first, int64_t count);

/* ---- reads.c: progress of long reads */

/* The number of reads of so many rows between two progress events. */
int64_t xb_reads_between(const xb_analog *analog, int64_t rows);
xb_status xb_reads_tell(xb_ctx *ctx, int64_t done, int64_t total);

/* ---- forget.c: noise of successive reads */

/* Operation q in an input's sequence of operations: it belongs to read q / each and is
 * operation q mod each of it; `first` is the number of the input's first operation in a
 * read. */
typedef struct xb_moment {
    int64_t first, each, q;
} xb_moment;

/* Devices [from, to) of a tensor that has n of them. */
typedef struct xb_devices {
    int tensor;
    int64_t n, from, to;
} xb_devices;

/* Fills z [to - from]: with fresh draws if rho is 0, else with the values of the previous
 * operation, except for the devices that have forgotten. `known`: z holds operation q -
 * 1. */
void xb_forget_draw(const xb_analog *analog, float *z, const xb_devices *devices,
                    xb_moment when, bool known);
/* The same if analog->held is set; level [to - from] belongs to z. */
void xb_held_draw(const xb_analog *analog, float *z, int32_t *level,
                  const xb_devices *devices, xb_moment when, bool known);

/* ---- tile.c: products */

/* What calibration observes in a layer's tile sums: before and after conversion. Each may
 * be NULL. */
typedef struct xb_watch {
    xb_spectrum *sum;
    xb_spectrum *planes; /* [planes], used instead if the layer has planes */
    xb_column_groups *groups;
    xb_column_fit *fit;
} xb_watch;

/* y [rows][out] = x [rows][in] w + b, tile by tile through the ADC (X13, X14). `slice`
 * has rows * tile rows floats, `part` has rows * out; for layers with planes `sum` has
 * rows * out and `reference` rows * column tiles. `seen` NULL: nothing is observed. */
typedef struct xb_tile_room {
    float *slice, *part, *sum, *reference;
} xb_tile_room;

/* sum_noise.c: (X56-X58) standard deviations of a sum's noise: for an input of 1, in
 * total, and in steps of the converter. */
typedef struct xb_sum_noise {
    double input, fixed, step;
} xb_sum_noise;

bool xb_array_noisy_sums(const xb_array *array);
xb_sum_noise xb_sum_noise_of(const xb_array *array, const xb_analog_layer *layer);
xb_sum_noise xb_plane_noise_of(const xb_array *array, const xb_analog_layer *layer,
                               int64_t plane);

/* The address of the noise of a product's sums: the number of its first row among all
 * inputs' operations, and the read. */
typedef struct xb_noisy_product {
    const xb_analog *analog;
    const xb_analog_layer *layer;
    xb_sum_noise noise;
    int64_t first, read;
    float *draws; /* [out], memory for draws */
} xb_noisy_product;

/* Adds the noise to sums [rows][out] of a tile, whose inputs are x [rows][width]. */
void xb_sum_noise_add(const xb_noisy_product *k, float *sums, const float *x,
                      int64_t rows, int64_t width, int64_t tile);

/* The same for one conversion of planes: conversion number `conversion` of a sum of
 * `columns` columns. */
void xb_plane_noise_add(const xb_noisy_product *k, float *sums, int64_t columns,
                        const float *x, int64_t rows, int64_t width, int64_t tile,
                        int64_t conversion);

/* If `noisy` is NULL, sums have no noise. */
void xb_tile_product(const xb_analog *analog, const xb_analog_layer *layer, float *y,
                     const float *x, const float *w, const float *b, int64_t rows,
                     xb_tile_room room, const xb_watch *seen,
                     const xb_noisy_product *noisy);
/* The same in the form that a backend takes; w, b and the corrections are in host memory.
 */
xb_tile_block xb_tile_block_of(const xb_analog_layer *layer, const float *w,
                               const float *b, int64_t rows);
/* Whether tiles make a difference: their sums are converted, corrected or noisy. */
bool xb_tile_matters(const xb_analog *analog, const xb_analog_layer *layer);
int64_t xb_row_tiles(const xb_analog_layer *layer);

/* ---- planes.c: weights in slices, inputs in pulses, offset columns (X60-X62) */

/* Allocates a layer's planes if the array has any. */
xb_status xb_planes_make(xb_ctx *ctx, xb_analog_layer *layer, const xb_array *array);
void xb_planes_free(xb_analog_layer *layer);
/* Takes slice k of the weights as programmed: its means and references. */
void xb_plane_take(xb_analog_layer *layer, int64_t k, const xb_cells *cells,
                   const xb_array *array);
/* (X61) The number of pulses of an input; 1 until the range of inputs is known. */
int64_t xb_plane_pulses(const xb_array *array, const xb_analog_layer *layer);
/* The value of an input at the full read voltage, in the layer's units. */
double xb_plane_input(const xb_array *array, const xb_analog_layer *layer);
/* The largest sum that a column can carry for one slice. */
double xb_plane_most(const xb_array *array, const xb_analog_layer *layer, int64_t k);
/* xb_tile_product() for a layer with planes; w are the weights of its first slice. */
void xb_plane_product(const xb_analog *analog, const xb_analog_layer *layer, float *y,
                      const float *x, const float *w, const float *b, int64_t rows,
                      xb_tile_room room, const xb_watch *seen,
                      const xb_noisy_product *noisy);

/* ---- reader.c: a pass through the net */

/* What calibration observes: inputs and tile sums of each analog layer. */
typedef struct xb_sightings {
    xb_spectrum **in;     /* [n_layer], each may be NULL */
    const xb_watch **sum; /* the same */
} xb_sightings;

typedef struct xb_reader {
    const xb_analog *analog;
    xb_ctx *ctx;
    int64_t batch;          /* largest number of inputs at once */
    int layers;             /* number of layers of the net that are run: all, except in
                               calibration */
    float *memory;          /* one block for everything below */
    float *activation[2];   /* [batch][widest] */
    float *input, *columns; /* converted inputs; windows of some lines */
    float *theta, *z;       /* weights of one draw; draws z of every tensor */
    int32_t *level;         /* level of every z if devices hold theirs (X19); else NULL */
    float *room, *keep;     /* memory for the backend's conv; for batchnorm */
    float *draws;           /* draws of the sums' noise for one row */
    xb_tile_room tile;
    xb_sightings seen; /* both NULL: not calibrating */
} xb_reader;

xb_status xb_reader_make(xb_ctx *ctx, xb_reader *out, const xb_analog *analog);
void xb_reader_free(xb_reader *r);
/* The number of inputs read at once: all that fit if they share a draw, else one. */
int64_t xb_reader_batch(const xb_analog *analog);
/* The numbers of its widest activation. */
int64_t xb_reader_widest(const xb_net *net);
/* The number of rows of a layer's matrix product that are made at once for `inputs`. */
int64_t xb_reader_rows(const xb_analog_layer *layer, int64_t inputs);
/* Returns out [rows][outputs] of read s for inputs first .. first + rows - 1, x
 * [rows][input]. `known`: the last call was read s - 1 of the same inputs. */
const float *xb_reader_run(xb_reader *r, const float *x, int64_t first, int64_t rows,
                           int64_t s, bool known);

/* ---- weights.c: the weights of one read */

/* Draws the kernel, then the bias; without noise both are the means. */
const float *xb_weights_draw(xb_reader *r, const xb_analog_layer *p, xb_moment when,
                             bool known);
/* Whether a product with `rows` inputs can be computed without the whole kernel in
 * memory, and that product, which equals xb_tile_product() of what xb_weights_draw()
 * gives. */
bool xb_weights_pass(const xb_reader *r, const xb_analog_layer *p, int64_t rows);
void xb_weights_product(xb_reader *r, const xb_analog_layer *p, float *y, const float *x,
                        int64_t rows, xb_moment when, bool known);

/* calibrate.c: finds the ranges of the converters (X12) from x [n][features], scaled as
 * the net needs it. */
xb_status xb_analog_calibrate(xb_ctx *ctx, xb_analog *analog, const float *x, int64_t n);

#endif
