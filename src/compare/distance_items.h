/* distance_items.h: the contents of xb_distances. */
#ifndef XB_COMPARE_DISTANCE_ITEMS_H
#define XB_COMPARE_DISTANCE_ITEMS_H

#include "crossbayes/compare.h"

typedef enum xb_distance_item {
    XB_DISTANCE_KL,
    XB_DISTANCE_ENERGY,
    XB_DISTANCE_WASSERSTEIN,
    XB_DISTANCE_KS,
    XB_DISTANCES
} xb_distance_item;

typedef enum xb_gap_item { XB_GAP_MEAN, XB_GAP_SD, XB_GAP_WHOLE, XB_GAPS } xb_gap_item;

struct xb_distances {
    int64_t n, draws_a, draws_b, neighbours, kl_points;
    xb_distance distance[XB_DISTANCES];
    xb_gap gap[XB_GAPS];
    xb_verdict verdict;
};

#endif
