/* energy_cell.h: one net of the energy studies, from training to numbers.
 *
 * A cell is a width, a depth and a seed. Its numbers are one vector of doubles, so that a
 * finished cell is written and read back unchanged (energy_cells.c). */
#ifndef XB_STUDY_ENERGY_CELL_H
#define XB_STUDY_ENERGY_CELL_H

#include "crossbayes/extend.h"
#include "crossbayes/energy.h"

/* Largest number of laws; number of points of a curve. */
enum { XB_CELL_LAWS = 8, XB_CELL_CURVE = 161 };

/* The settings that all cells of a study share. law[0] is the Gaussian, law[1] the
 * device. */
typedef struct xb_cell_plan {
    const xb_law *law[XB_CELL_LAWS];
    int laws;
    bool kernels_only;
    int64_t steps;
    double n_eff_penalty;
    int64_t hidden_draws; /* draws behind the densities; 0: chosen by their cost */
    int64_t output_draws; /* draws for the check by nearest neighbours; 0: no check */
    int64_t share_draws;  /* draws behind n_eff */
    const char *backend;  /* backend of training and draws; NULL: the CPU */
} xb_cell_plan;

typedef struct xb_cell {
    int64_t width, depth;
    uint64_t seed;
} xb_cell;

/* Numbers of a cell under Gaussian weights. */
typedef enum xb_cell_number {
    XB_CELL_N_EFF,     /* (G4) */
    XB_CELL_N_EFF_A1,  /* (A1) */
    XB_CELL_TOP_SHARE, /* largest share of a weight in the sum of fourth moments */
    XB_CELL_MEAN,
    XB_CELL_SD,
    XB_CELL_SKEWNESS,
    XB_CELL_KURTOSIS,
    XB_CELL_FLOOR,     /* KL between two Gaussian runs, from densities */
    XB_CELL_KNN_FLOOR, /* the same by nearest neighbours, which is their bias */
    XB_CELL_KNN_FLOOR_ERROR,
    XB_CELL_TAIL_2, /* mass beyond 2 and 3 standard deviations */
    XB_CELL_TAIL_3,
    XB_CELL_NUMBERS
} xb_cell_number;

/* Numbers under another law; an error (one standard error) follows its value. */
typedef enum xb_cell_law_number {
    XB_CELL_KL, /* KL of this law's output from the Gaussian's */
    XB_CELL_KL_ERROR,
    XB_CELL_KNN, /* the same by nearest neighbours, including their bias */
    XB_CELL_KNN_ERROR,
    XB_CELL_THEORY, /* (G6) */
    XB_CELL_MEAN_GAP,
    XB_CELL_MEAN_GAP_ERROR,
    XB_CELL_SD_GAP,
    XB_CELL_SD_GAP_ERROR,
    XB_CELL_SKEWNESS_GAP,
    XB_CELL_SKEWNESS_GAP_ERROR,
    XB_CELL_KURTOSIS_GAP,
    XB_CELL_KURTOSIS_GAP_ERROR,
    XB_CELL_TAIL_2_GAP,
    XB_CELL_TAIL_2_GAP_ERROR,
    XB_CELL_TAIL_3_GAP,
    XB_CELL_TAIL_3_GAP_ERROR,
    XB_CELL_LAW_NUMBERS
} xb_cell_law_number;

/* Length of the vector: the numbers, the numbers of laws 1 and up, the curves of laws 0
 * and up. */
int64_t xb_cell_length(const xb_cell_plan *plan);
double xb_cell_get(const double *values, xb_cell_number number);
double xb_cell_get_law(const double *values, int law, xb_cell_law_number number);
/* Density of a law at the points xb_cell_place(0 .. XB_CELL_CURVE - 1). */
const double *xb_cell_curve(const xb_cell_plan *plan, const double *values, int law);
double xb_cell_place(int point);

xb_energy_options xb_cell_training(const xb_cell_plan *plan, const xb_cell *cell);

/* Computes all numbers of a trained cell. Uses one thread if the context has one. */
xb_status xb_cell_measure(xb_ctx *ctx, double *values, const xb_cell_plan *plan,
                          const xb_cell *cell, const xb_model *model);

/* energy_slopes.c */
typedef struct xb_cell_slopes {
    double fourth;  /* sum over weights of E a^4 */
    double largest; /* the largest of them */
} xb_cell_slopes;

/* Finds a = sigma df/dtheta at draws of Gaussian weights, at x = 0. */
xb_status xb_cell_slopes_find(xb_ctx *ctx, xb_cell_slopes *out, const xb_model *model,
                              int64_t draws, uint64_t seed);

/* energy_outputs.c: y [draws] are outputs at x = 0 under `law` on `backend` (NULL: the
 * CPU); different values of `run` give independent draws. */
xb_status xb_cell_outputs(xb_ctx *ctx, double *y, const xb_model *model,
                          const xb_law *law, int64_t draws, uint64_t seed, uint32_t run,
                          const char *backend);

#endif
