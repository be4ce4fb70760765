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
    double share[XB_HELD_LEVELS]; /* of the devices, by level */
    uint32_t below[XB_HELD_LEVELS][XB_HELD_LEVELS];
} xb_held;

/* From the correlation of reads 1, 2, 4, ... apart, fewer than XB_HELD_LEVELS; what is
 * not convex in it is taken as the largest convex curve below. free() it. */
void xb_held_fill(xb_held *out, const double *correlation, int lags);
xb_status xb_held_make(xb_ctx *ctx, xb_held **out, const double *correlation, int lags);
double xb_held_correlation(const xb_held *held, double lag);
double xb_held_time(const xb_held *held); /* integrated autocorrelation time, reads */
/* The sum of (1 - |k|/n) r(k) over lags |k| < n: n reads are worth n over this (T12). */
double xb_held_sum(const xb_held *held, int64_t reads);

/* planes.c: a slice of a layer's weights on tiles of its own (X60-X62), in the layer's
 * units: its digit counts as much as it does in the weight. */
typedef struct xb_plane {
    double us_per_weight; /* uS that a weight of 1 takes; 0: all are 0 */
    double conductance_us;
    float *mean;      /* [in][out]; NULL: the first, which is in analog->mu */
    float *reference; /* [in][column tiles] of offset columns; NULL: pairs */
    xb_converter adc;
} xb_plane;

/* One dense or conv layer on its tiles. */
typedef struct xb_analog_layer {
    const xb_layer *layer;
    int index;             /* of the layer in the net */
    int tensor;            /* of the kernel; the bias follows */
    int64_t offset, n;     /* of kernel and bias in every block */
    int64_t size;          /* of the kernel: in * out */
    int64_t in, out;       /* of the matrix */
    int64_t operations;    /* for one input */
    int64_t rows, columns; /* of a tile */
    double weight_top, sigma_top;
    double conductance_us; /* of all pairs together, as written and wired */
    xb_conduction conduction;
    double wire_loss;
    bool random; /* any tensor of it */
    xb_converter dac, adc;
    xb_correction correction; /* of its columns (X50, X51); empty: none */
    int64_t known;            /* inputs that gains and offsets were fitted to */
    xb_plane *plane;          /* [planes]; NULL: pairs of whole weights, whole inputs */
    int64_t planes;
    float *plane_memory;
} xb_analog_layer;

struct xb_analog {
    const xb_model *model; /* borrowed */
    xb_array array;
    xb_sampler *sampler;        /* of the noise devices' law */
    xb_sampler *normal;         /* of the sums' noise (X56-X58); NULL: they have none */
    const xb_backend *backend;  /* which reads them, where xb_backend_reads_suit() */
    const xb_kernels *kernels;  /* of the host, which programs, calibrates and reads */
    xb_key reads, forget, chip; /* keys of noise, of forgetting, of the devices */
    uint64_t seed, chip_number; /* which they are made of */
    int64_t calibration_inputs; /* that were read */
    double rho;                 /* (X10) */
    xb_held *held;              /* (X19); NULL: devices forget at one rate, or at once */
    float *mu, *sigma;          /* [params] as they are on the arrays */
    float *bend;                /* [3][params] of (X8); NULL: all have the law's shape */
    xb_device *device;          /* of array.device; NULL: none */
    xb_aged aged;               /* the same, for (X21) and (X22) */
    xb_quiet quiet;             /* its n is 0 where a device is at its lowest (X1) */
    xb_analog_layer *layer;     /* [n_layer], in the order of the net */
    int n_layer;
    const xb_model *whole; /* the model, or the ensemble that it is a member of */
    uint32_t place;    /* of the member of an ensemble that is on these tiles, from 0 */
    xb_analog **other; /* [others], the other members' tiles; NULL: one posterior */
    int64_t others;
};

/* ---- write_arrays.c: the devices */

/* Cells with room for the analog model's largest layer. */
typedef struct xb_workbench {
    xb_cells cells; /* pointers alone */
    double *block;  /* of plus, minus, width and tile */
    double *tile;   /* a pair of tiles */
    float *draws;
    xb_sampler *normal;
} xb_workbench;

xb_status xb_workbench_make(xb_ctx *ctx, xb_workbench *out, const xb_analog *analog);
void xb_workbench_free(xb_workbench *bench);
/* What would be written: targets on the states there are, of one slice. */
void xb_workbench_target(xb_workbench *bench, xb_cells *out, const xb_analog *analog,
                         const xb_analog_layer *layer, int64_t slice);
/* All layers: analog->mu, sigma, bend. */
xb_status xb_analog_programme(xb_ctx *ctx, xb_analog *analog);

/* tied_layer.c: (X30) a layer whose weights are made of cells with the noise of their
 * own, into analog->mu, sigma and bend. */
xb_status xb_tied_programme(xb_ctx *ctx, xb_analog *analog, const xb_chip *chip,
                            xb_analog_layer *layer);
/* That the device file and the model's cells go together. */
xb_status xb_tied_suits(xb_ctx *ctx, const xb_analog *analog);

/* shape.c: (X8) a layer's devices, whose mu and sigma are known, into analog->bend. */
xb_status xb_shape_make(xb_ctx *ctx, xb_analog *analog, const xb_chip *chip,
                        const xb_analog_layer *layer);
/* The curves of parameters from `at` on. */
xb_curve xb_shape_curve(const xb_analog *analog, int64_t at);

/* ---- analog_members.c: an ensemble, whose members have tiles of their own */

/* Model and array are set; `place` says whose tiles they are. */
xb_status xb_analog_make(xb_ctx *ctx, xb_analog **out, const xb_model *model,
                         const xb_array *array, const double *x, int64_t n,
                         const xb_analog_options *opt, uint32_t place);
/* Tiles for all members but the first, which `analog` is. */
xb_status xb_analog_make_others(xb_ctx *ctx, xb_analog *analog, const xb_model *ensemble,
                                const double *x, int64_t n, const xb_analog_options *opt);
void xb_analog_free_others(xb_analog *analog);
/* xb_analog_draws without its checks: of one posterior, and of an ensemble (P7). */
xb_status xb_analog_read(xb_ctx *ctx, double *value, const xb_analog *analog,
                         const double *x, int64_t n, int64_t first, int64_t count);
xb_status xb_analog_read_members(xb_ctx *ctx, double *value, const xb_analog *analog,
                                 const double *x, int64_t n, int64_t first,
                                 int64_t count);

/* The layer of the net's i-th; NULL: it is not on tiles. */
const xb_analog_layer *xb_analog_layer_of(const xb_analog *analog, int i);

/* ---- backend_reads.c: reads in the memory of another backend */

bool xb_backend_reads_suit(const xb_analog *analog);
/* value [count][n][outputs] of reads first .., x [n][features] as the net wants it. */
xb_status xb_backend_reads(xb_ctx *ctx, double *value, const xb_analog *analog,
                           const float *x, int64_t n, int64_t first, int64_t count);

/* ---- forget.c: noise of successive reads */

/* Operation q of an input's row of operations: read q / each, its operation q mod each;
 * `first` is the number of the input's first operation in a read. */
typedef struct xb_moment {
    int64_t first, each, q;
} xb_moment;

/* Devices [from, to) of the n of a tensor. */
typedef struct xb_devices {
    int tensor;
    int64_t n, from, to;
} xb_devices;

/* z [to - from]: fresh draws where rho is 0; else what the last operation had, but for
 * the devices that have forgotten. `known`: z holds operation q - 1. */
void xb_forget_draw(const xb_analog *analog, float *z, const xb_devices *devices,
                    xb_moment when, bool known);
/* The same where analog->held is; level [to - from] belongs to z. */
void xb_held_draw(const xb_analog *analog, float *z, int32_t *level,
                  const xb_devices *devices, xb_moment when, bool known);

/* ---- tile.c: products */

/* What calibration looks at in a layer's tile sums: as they are, and converted. Each may
 * be NULL. */
typedef struct xb_watch {
    xb_spectrum *sum;
    xb_spectrum *planes; /* [planes] instead, where the layer has them */
    xb_column_groups *groups;
    xb_column_fit *fit;
} xb_watch;

/* y [rows][out] = x [rows][in] w + b, tile by tile through the ADC (X13, X14). `slice`
 * is rows * tile rows, `part` rows * out floats; of layers with planes `sum` rows * out
 * and `reference` rows * column tiles. `seen` NULL: nobody looks. */
typedef struct xb_tile_room {
    float *slice, *part, *sum, *reference;
} xb_tile_room;

/* sum_noise.c: (X56-X58) standard deviations of a sum's noise: for an input of 1, in all,
 * and in the converter's own units. */
typedef struct xb_sum_noise {
    double input, fixed, step;
} xb_sum_noise;

bool xb_array_noisy_sums(const xb_array *array);
xb_sum_noise xb_sum_noise_of(const xb_array *array, const xb_analog_layer *layer);
xb_sum_noise xb_plane_noise_of(const xb_array *array, const xb_analog_layer *layer,
                               int64_t plane);

/* Where the noise of a product's sums is: the number of its first row among all inputs'
 * operations, and the read. */
typedef struct xb_noisy_product {
    const xb_analog *analog;
    const xb_analog_layer *layer;
    xb_sum_noise noise;
    int64_t first, read;
    float *draws; /* [out] room */
} xb_noisy_product;

/* Onto sums [rows][out] of a tile, whose inputs are x [rows][width]. */
void xb_sum_noise_add(const xb_noisy_product *k, float *sums, const float *x,
                      int64_t rows, int64_t width, int64_t tile);

/* The same for one conversion of planes: number `conversion` of a sum, of `columns`
 * columns. */
void xb_plane_noise_add(const xb_noisy_product *k, float *sums, int64_t columns,
                        const float *x, int64_t rows, int64_t width, int64_t tile,
                        int64_t conversion);

/* noisy NULL: without noise of the sums. */
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

/* Room for a layer's planes, where the array has any. */
xb_status xb_planes_make(xb_ctx *ctx, xb_analog_layer *layer, const xb_array *array);
void xb_planes_free(xb_analog_layer *layer);
/* Slice k of the weights as written: its means and references. */
void xb_plane_take(xb_analog_layer *layer, int64_t k, const xb_cells *cells,
                   const xb_array *array);
/* (X61) Pulses of an input: 1 until the range of inputs is known. */
int64_t xb_plane_pulses(const xb_array *array, const xb_analog_layer *layer);
/* What an input at the full read voltage is in the layer's units. */
double xb_plane_input(const xb_array *array, const xb_analog_layer *layer);
/* The most that a column can carry of one slice. */
double xb_plane_most(const xb_array *array, const xb_analog_layer *layer, int64_t k);
/* xb_tile_product() of a layer with planes; w are the weights of its first. */
void xb_plane_product(const xb_analog *analog, const xb_analog_layer *layer, float *y,
                      const float *x, const float *w, const float *b, int64_t rows,
                      xb_tile_room room, const xb_watch *seen,
                      const xb_noisy_product *noisy);

/* ---- reader.c: a pass through the net */

/* What calibration sees, two for each analog layer: inputs and tile sums. */
typedef struct xb_sightings {
    xb_spectrum **in;     /* [n_layer], each may be NULL */
    const xb_watch **sum; /* the same */
} xb_sightings;

typedef struct xb_reader {
    const xb_analog *analog;
    xb_ctx *ctx;
    int64_t batch;          /* the most inputs at once */
    int layers;             /* of the net that are run: all, but for calibration */
    float *memory;          /* all of the below */
    float *activation[2];   /* [batch][widest] */
    float *input, *columns; /* converted inputs; windows of some lines */
    float *theta, *z;       /* weights of one draw; z of every tensor */
    int32_t *level;         /* of every z where devices hold theirs (X19); else NULL */
    float *room, *keep;     /* of the backend's conv; of batchnorm */
    float *draws;           /* of the sums' noise, for one row */
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
/* out [rows][outputs] of read s for inputs first .. first + rows - 1, x [rows][input].
 * `known`: the last call was read s - 1 of the same inputs. */
const float *xb_reader_run(xb_reader *r, const float *x, int64_t first, int64_t rows,
                           int64_t s, bool known);

/* ---- weights.c: those of one read */

/* Kernel, then bias: one draw, or the means as they are. */
const float *xb_weights_draw(xb_reader *r, const xb_analog_layer *p, xb_moment when,
                             bool known);
/* Whether a product with `rows` inputs can do without the kernel in one piece, and that
 * product: as xb_tile_product() of what xb_weights_draw() gives. */
bool xb_weights_pass(const xb_reader *r, const xb_analog_layer *p, int64_t rows);
void xb_weights_product(xb_reader *r, const xb_analog_layer *p, float *y, const float *x,
                        int64_t rows, xb_moment when, bool known);

/* calibrate.c: ranges of the converters (X12), from x [n][features] as the net wants
 * it. */
xb_status xb_analog_calibrate(xb_ctx *ctx, xb_analog *analog, const float *x, int64_t n);

#endif
