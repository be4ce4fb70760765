/* density.h: what xb_densities holds: see density.c. */
#ifndef XB_PREDICT_DENSITY_H
#define XB_PREDICT_DENSITY_H

#include "base/ctx.h"
#include "crossbayes/density.h"

enum { XB_DENSITY_MOMENTS = 4 };

struct xb_densities {
    int laws, blocks;
    int64_t count;    /* grid points */
    double step;      /* between them */
    double centre;    /* that moments are about */
    double roughness; /* see xb_densities_roughness() */
    double *grid;     /* [count] */
    double *value;    /* [laws][count] */
    double *part;     /* [blocks][laws][count], the densities of the blocks */
    double *moment;   /* [blocks][laws][4], E (y - centre)^n, n = 1.. */
};

static inline double *xb_densities_part(const xb_densities *d, int block, int law)
{
    return d->part + ((int64_t)block * d->laws + law) * d->count;
}

static inline double *xb_densities_part_moment(const xb_densities *d, int block, int law)
{
    return d->moment + ((int64_t)block * d->laws + law) * XB_DENSITY_MOMENTS;
}

#endif
