/* cells.h: one layer's devices while they are being programmed, in uS and double. Each
 * effect of programming is a separate function that changes the cells in place; its draws
 * are functions of (chip, tensor, element) only. */
#ifndef XB_CROSSBAR_CELLS_H
#define XB_CROSSBAR_CELLS_H

#include "crossbar/array.h"
#include "crossbayes/device.h"
#include "crossbayes/draw.h"

typedef struct xb_cells {
    int64_t in, out;       /* rows and columns of the matrix */
    int64_t rows, columns; /* size of a tile, at most in and out */
    double *plus, *minus;  /* [in][out] conductances of the pair */
    double *width;         /* [in][out] sd of the noise device; NULL: there is none */
    double weight_top;     /* weight that corresponds to g_max - g_min; 0: all weights are
                              0 */
    double sigma_top;      /* standard deviation that corresponds to width_max */
    double width_min, width_max;
    int32_t *spare; /* [row tiles][out]: the spare column that replaces a column, -1:
                       none; NULL: no column is replaced */
    double scale;   /* uS for a weight of 1; 0: as in (X1) */
    bool offset;    /* (X62) not pairs: plus is the one device of a weight, minus
                       [in][across] are the references of the column tiles */
} xb_cells;

static inline int64_t xb_cells_across(const xb_cells *c)
{
    return (c->out + c->columns - 1) / c->columns;
}
/* The number of devices in `minus`. */
static inline int64_t xb_cells_minus_count(const xb_cells *c)
{
    return c->in * (c->offset ? xb_cells_across(c) : c->out);
}
/* uS for a weight of 1, and the inverse; 0: all weights are 0. */
double xb_cells_scale(const xb_cells *c, const xb_array *a);
double xb_cells_per_us(const xb_cells *c, const xb_array *a);

/* The address of a cell's random numbers: tensor and purpose. */
typedef struct xb_chip {
    xb_key key; /* key of XB_PURPOSE_ARRAY */
    const xb_sampler *normal;
    uint32_t tensor;
    float *draws;   /* [in * out] scratch */
    uint32_t slice; /* slice of the weights (X60), which has its own devices */
} xb_chip;

/* The streams of a tensor, numbered by `sample`. */
typedef enum xb_chip_stream {
    XB_CHIP_PLUS,
    XB_CHIP_MINUS,
    XB_CHIP_STUCK_PLUS,
    XB_CHIP_STUCK_MINUS,
    XB_CHIP_STUCK_WIDTH,
    XB_CHIP_WIDTH,
    XB_CHIP_SHAPE,
    XB_CHIP_FORGET, /* `step` is the read */
    XB_CHIP_PHASE,
    XB_CHIP_RELAX_PLUS,
    XB_CHIP_RELAX_MINUS,
    XB_CHIP_HEAT_PLUS,
    XB_CHIP_HEAT_MINUS,
    XB_CHIP_SUMS = 400,        /* `step` is the read */
    XB_CHIP_SPARE = 500,       /* added to the stream of the device that a spare
                                  replaces */
    XB_CHIP_TIED = 1000,       /* and following, one for each cell of a weight */
    XB_CHIP_TIED_STUCK = 2000, /* and following, likewise */
    XB_CHIP_TIED_RELAX = 3000, /* and following, likewise */
    XB_CHIP_SLICE = 10000      /* times the slice of the weights, plus the stream in it */
} xb_chip_stream;

xb_stream xb_chip_at(const xb_chip *chip, xb_chip_stream which);
/* Writes n standard normal draws to chip->draws. */
void xb_chip_normal(const xb_chip *chip, xb_chip_stream which, int64_t n);

/* target.c: (X1, X2) converts weights to pairs and widths. */
void xb_cells_target(xb_cells *c, const xb_array *a, const float *mu, const float *sigma);
/* slices.c: (X60, X62) sets the devices of one slice of the weights instead of (X1), most
 * significant digit first. */
void xb_cells_slice(xb_cells *c, const xb_array *a, const float *mu, int64_t slice);
/* levels.c: (X3, X4) rounds to the available states. */
void xb_cells_levels(xb_cells *c, const xb_array *a);
/* The nearest of `levels` values from low to high; any value inside if 0. */
double xb_level_nearest(double x, double low, double high, int64_t levels);
/* repair.c: (X52, X53) changes targets so that they compensate for stuck devices, in
 * c->plus, minus and spare; `room` is `columns` doubles. */
void xb_cells_repair(xb_cells *c, const xb_array *a, const xb_chip *chip, double *room);
/* The device file of the mean devices. */
typedef struct xb_aged {
    const xb_device *device;
    double us; /* uS in one unit of the device */
} xb_aged;

/* write_error.c: (X5, X26) adds the programming error; `aged` is used for
 * program_by_state. */
void xb_cells_program(xb_cells *c, const xb_array *a, const xb_aged *aged,
                      const xb_chip *chip);
/* The standard deviation of the programming error at g_us; flat_us is the part that is
 * the same for all states. */
double xb_program_error_us(const xb_array *a, const xb_aged *aged, double flat_us,
                           double g_us);
/* relax.c: (X21) moves conductances with time. */
void xb_cells_relax(xb_cells *c, const xb_array *a, const xb_aged *aged,
                    const xb_chip *chip);
/* (X21) The conductance of a cell of rank u after `age_s`. */
double xb_relaxed_us(const xb_aged *aged, double g_us, double age_s, double u);
/* Checks that the array's range lies within what was measured; `what` begins the
 * message. */
xb_status xb_range_check(xb_ctx *ctx, const xb_array *a, const char *what, double low_us,
                         double high_us);
xb_status xb_relax_check(xb_ctx *ctx, const xb_array *a, const xb_aged *aged);

/* pair_noise.c: (X23) adds the read noise of the pair to sigma [in][out]. */
/* sigma is NULL if the layer has no noise devices. */
void xb_cells_read_noise(const xb_cells *c, const xb_array *a, const xb_aged *aged,
                         float *sigma);
xb_status xb_read_noise_check(xb_ctx *ctx, const xb_array *a, const xb_aged *aged);

/* quiet.c: (X22) represents weights by the quietest pairs of states. */
typedef struct xb_quiet {
    int64_t n;        /* number of states, evenly spaced */
    double low, step; /* in uS */
    int32_t *first;   /* [n]: the lower state of the quietest pair k steps apart */
} xb_quiet;

/* free() `first`. */
xb_status xb_quiet_make(xb_ctx *ctx, xb_quiet *out, const xb_array *a,
                        const xb_aged *aged);
void xb_cells_quiet(xb_cells *c, const xb_quiet *quiet);

/* stuck.c: (X6) sets stuck devices to an end of their range. */
void xb_cells_stuck(xb_cells *c, const xb_array *a, const xb_chip *chip);
/* Whether a device is stuck, and at which value: device `at` of the stream `which`, or
 * the device in the same row of spare column `spare` (-1: none). */
bool xb_stuck_device(double *value, const xb_cells *c, const xb_array *a,
                     const xb_chip *chip, xb_chip_stream which, int64_t at,
                     int32_t spare);
/* widths.c: (X7) varies the widths from device to device. */
void xb_cells_spread(xb_cells *c, const xb_array *a, const xb_chip *chip);
/* lines.c: (X9) applies the voltage lost on the wires; `room` is rows * columns doubles.
 * Returns the largest loss of a mean device. */
double xb_cells_lines(xb_cells *c, const xb_array *a, double *room);
/* The same for cells of one conductance each: writes the remaining share of each voltage
 * to factor [in][out].
 */
double xb_line_factors(double *factor, const double *g_us, const xb_cells *c,
                       const xb_array *a);

/* heat.c: (X63) changes conductances to another temperature. */
void xb_cells_heat(xb_cells *c, const xb_array *a, const xb_chip *chip);

/* limits.c: (X55) the largest conductance of a column and of a row of a tile, uS. */
typedef struct xb_conduction {
    double column_us, row_us;
} xb_conduction;

xb_conduction xb_cells_conduction(const xb_cells *c);

/* target.c: converts back to weights, the inverse of (X1, X2); NULL: not wanted. */
void xb_cells_weights(const xb_cells *c, const xb_array *a, float *mu, float *sigma);

#endif
