/* count_grid.h: the predictive of counts at one input, a mixture over draws of Poisson or
 * negative binomial laws: its cdf on a grid of whole numbers (maths P20). */
#ifndef XB_PREDICT_COUNT_GRID_H
#define XB_PREDICT_COUNT_GRID_H

#include <stdbool.h>
#include <stdint.h>

/* Draw s has the size of number s mod members (base/count_mass.h). */
typedef struct xb_count_draws {
    const double *rate; /* [draws] */
    int64_t draws;
    const double *size; /* [members] */
    int64_t members;
} xb_count_draws;

enum { XB_COUNT_NODES = 2048 };

/* Room for the grids of many inputs, one after the other. */
typedef struct xb_count_grid {
    int count;
    double *at;                  /* [nodes] whole numbers, ascending */
    double *mass, *rise, *ratio; /* [nodes] the parts of log mass, of its slope, and of
                                    the ratio to the mass before, that all draws of a
                                    member share */
    double *below; /* [groups][nodes] sums of P(K <= at) over the draws of each group */
    double *self;  /* [groups] and of E|K - K'|, where a y was given */
    int groups;
} xb_count_grid;

/* The number of doubles that a grid needs, and the grid in such memory. */
int64_t xb_count_grid_room(int groups);
xb_count_grid xb_count_grid_in(double *room, int groups);

/* Group g has the draws start[g] <= s < start[g + 1]. y and the number before it become
 * nodes; NAN: no such node is needed. */
void xb_count_grid_make(xb_count_grid *grid, const xb_count_draws *draws,
                        const int64_t *start, double y);

/* The sums below node j over all groups but `without` (-1: none). */
double xb_count_grid_below(const xb_count_grid *grid, int j, int without);
/* The smallest whole number at which the cdf, summed over the draws, reaches `want`. */
double xb_count_grid_quantile(const xb_count_grid *grid, double want, int without);

/* Sums over the whole numbers in (a, b], h of them, of F and of F (n - F), where F is
 * linear from `from` to `to`. */
double xb_count_sum(double from, double to, double h);
double xb_count_pairs(double from, double to, double h, double n);

#endif
