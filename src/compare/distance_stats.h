/* distance_stats.h: distances of two one-dimensional samples under one labelling. */
#ifndef XB_COMPARE_DISTANCE_STATS_H
#define XB_COMPARE_DISTANCE_STATS_H

#include "compare/jackknife.h"
#include "compare/tagged.h"

typedef enum xb_statistic {
    XB_STAT_KL,
    XB_STAT_ENERGY,
    XB_STAT_WASSERSTEIN,
    XB_STAT_KS,
    XB_STAT_MEAN,     /* mean a - mean b */
    XB_STAT_SD,       /* (sd a - sd b) / pooled sd */
    XB_STAT_WHOLE,    /* energy distance as the square of a shift of Gaussians */
    XB_STAT_MEASURED, /* the same from the empirical cdfs, noise included */
    XB_STATS
} xb_statistic;

/* Two samples in ascending order. */
typedef struct xb_two {
    const double *a, *b;
    const double *partner; /* [n] the value of b for the draw of each a; NULL: not
                              paired */
    int64_t n, m;
} xb_two;

/* The contribution to the energy distance of one block of a and its partner in b: 2
 * integral (A - B)^2, where A and B count the values below, and the number of draws of
 * either. */
typedef struct xb_block_own {
    double square, draws;
} xb_block_own;

/* All values in ascending order with their blocks, minus `centre`. */
typedef struct xb_pool {
    xb_tagged *item; /* [count] */
    const double
        *partner; /* [count] the other sample's value of the same draw, or NULL */
    int64_t count;
    double centre; /* subtracted from every value */
    double unit;   /* unit in which distances are given */
    double spread; /* pooled sd of the two samples */
    int owns;      /* blocks of a whose own pairs do not count (C14); 0: they do */
    xb_block_own own[XB_JACKKNIFE_GROUPS];
} xb_pool;

/* Splits the pool into a and b; room: [3 * count + 3]. */
xb_two xb_pool_split(double *room, const xb_pool *pool, const uint8_t *label);

double xb_pooled_sd(const xb_two *t);
/* Sets `own` of the first `blocks` blocks, which belong to a; those of b follow. */
void xb_pool_own(xb_pool *pool, int blocks);

/* (C14) with any exponent: sums over the pairs of two blocks, [blocks][blocks], each
 * unordered pair of values once; then the distance under a labelling. */
void xb_energy_blocks(double *sum, const xb_pool *pool, int blocks, double exponent);
double xb_energy_of_blocks(const double *sum, const uint8_t *label, int blocks,
                           const xb_two *t, double exponent);

/* Computes all statistics, the energy distance with exponent 1. */
void xb_distance_stats(double *stat, const xb_pool *pool, const uint8_t *label,
                       const xb_two *t, int64_t neighbours);

#endif
