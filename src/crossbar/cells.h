/* cells.h: one layer's devices while they are being programmed, in uS and double. Each
 * effect of programming is a function of its own that changes the cells in place; what
 * it draws is a function of (chip, tensor, element) alone. */
#ifndef XB_CROSSBAR_CELLS_H
#define XB_CROSSBAR_CELLS_H

#include "crossbar/array.h"
#include "crossbayes/device.h"
#include "crossbayes/draw.h"

typedef struct xb_cells {
    int64_t in, out;       /* rows and columns of the matrix */
    int64_t rows, columns; /* of a tile, at most in and out */
    double *plus, *minus;  /* [in][out] conductances of the pair */
    double *width;         /* [in][out] sd of the noise device; NULL: there is none */
    double weight_top;     /* what g_max - g_min is as a weight; 0: all are 0 */
    double sigma_top;      /* what width_max is as a standard deviation */
    double width_min, width_max;
    int32_t *spare; /* [row tiles][out]: the spare that a column is on, -1: none, which
                       NULL says of all */
} xb_cells;

/* Where a cell's randomness is: tensor and purpose. */
typedef struct xb_chip {
    xb_key key; /* of XB_PURPOSE_ARRAY */
    const xb_sampler *normal;
    uint32_t tensor;
    float *draws; /* [in * out] scratch */
} xb_chip;

/* Streams of a tensor, by `sample`. */
typedef enum xb_chip_stream {
    XB_CHIP_PLUS,
    XB_CHIP_MINUS,
    XB_CHIP_STUCK_PLUS,
    XB_CHIP_STUCK_MINUS,
    XB_CHIP_STUCK_WIDTH,
    XB_CHIP_WIDTH,
    XB_CHIP_SHAPE,
    XB_CHIP_FORGET, /* `step` the read */
    XB_CHIP_PHASE,
    XB_CHIP_RELAX_PLUS,
    XB_CHIP_RELAX_MINUS,
    XB_CHIP_SUMS = 400,        /* `step` the read */
    XB_CHIP_SPARE = 500,       /* and the stream of the device that a spare is for */
    XB_CHIP_TIED = 1000,       /* and on, one for each cell of a weight */
    XB_CHIP_TIED_STUCK = 2000, /* the same */
    XB_CHIP_TIED_RELAX = 3000  /* the same */
} xb_chip_stream;

xb_stream xb_chip_at(const xb_chip *chip, xb_chip_stream which);
/* n standard normal draws into chip->draws. */
void xb_chip_normal(const xb_chip *chip, xb_chip_stream which, int64_t n);

/* target.c: (X1, X2) a weight to its pair and its width. */
void xb_cells_target(xb_cells *c, const xb_array *a, const float *mu, const float *sigma);
/* levels.c: (X3, X4) to the states there are. */
void xb_cells_levels(xb_cells *c, const xb_array *a);
/* The nearest of `levels` values from low to high; any value inside if 0. */
double xb_level_nearest(double x, double low, double high, int64_t levels);
/* repair.c: (X52, X53) targets that make up for stuck devices, into c->plus, minus and
 * spare; `room` is `columns` doubles. */
void xb_cells_repair(xb_cells *c, const xb_array *a, const xb_chip *chip, double *room);
/* What the device file says of the mean devices. */
typedef struct xb_aged {
    const xb_device *device;
    double us; /* uS in one of its units */
} xb_aged;

/* write_error.c: (X5, X26) writing misses; `aged` counts where program_by_state does. */
void xb_cells_program(xb_cells *c, const xb_array *a, const xb_aged *aged,
                      const xb_chip *chip);
/* The standard deviation of a write at g_us, with flat_us whatever the state. */
double xb_program_error_us(const xb_array *a, const xb_aged *aged, double flat_us,
                           double g_us);
/* relax.c: (X21) conductances move with time. */
void xb_cells_relax(xb_cells *c, const xb_array *a, const xb_aged *aged,
                    const xb_chip *chip);
/* (X21) What a cell of rank u has become. */
double xb_relaxed_us(const xb_aged *aged, double g_us, double age_s, double u);
/* The array's range lies within what was measured; `what` begins the message. */
xb_status xb_range_check(xb_ctx *ctx, const xb_array *a, const char *what, double low_us,
                         double high_us);
xb_status xb_relax_check(xb_ctx *ctx, const xb_array *a, const xb_aged *aged);

/* pair_noise.c: (X23) read noise of the pair into sigma [in][out]. */
void xb_cells_read_noise(const xb_cells *c, const xb_array *a, const xb_aged *aged,
                         float *sigma);
xb_status xb_read_noise_check(xb_ctx *ctx, const xb_array *a, const xb_aged *aged);

/* quiet.c: (X22) weights as the quietest pairs of states. */
typedef struct xb_quiet {
    int64_t n;        /* states, evenly spaced */
    double low, step; /* uS */
    int32_t *first;   /* [n]: the lower state of the quietest pair k steps apart */
} xb_quiet;

/* free() first. */
xb_status xb_quiet_make(xb_ctx *ctx, xb_quiet *out, const xb_array *a,
                        const xb_aged *aged);
void xb_cells_quiet(xb_cells *c, const xb_quiet *quiet);

/* stuck.c: (X6) devices at an end of their range. */
void xb_cells_stuck(xb_cells *c, const xb_array *a, const xb_chip *chip);
/* Whether a device is stuck, and then where: device `at` of the stream `which`, or the
 * one in its row of a spare column, -1: none. */
bool xb_stuck_device(double *value, const xb_cells *c, const xb_array *a,
                     const xb_chip *chip, xb_chip_stream which, int64_t at,
                     int32_t spare);
/* widths.c: (X7) widths that differ. */
void xb_cells_spread(xb_cells *c, const xb_array *a, const xb_chip *chip);
/* lines.c: (X9) voltage lost on the wires; `room` is 2 rows columns doubles. The largest
 * loss of a mean device. */
double xb_cells_lines(xb_cells *c, const xb_array *a, double *room);
/* The same for one conductance a cell: what is left of each voltage into factor
 * [in][out].
 */
double xb_line_factors(double *factor, const double *g_us, const xb_cells *c,
                       const xb_array *a);

/* limits.c: (X55) the most that a column and a row of a tile conduct, uS. */
typedef struct xb_conduction {
    double column_us, row_us;
} xb_conduction;

xb_conduction xb_cells_conduction(const xb_cells *c);

/* target.c: back to weights, the inverse of (X1, X2); NULL: not wanted. */
void xb_cells_weights(const xb_cells *c, const xb_array *a, float *mu, float *sigma);

#endif
