/* mixture.h: the predictive at one test point, a mixture over weight draws: its cdf,
 * density and quantiles, each also without every group of draws (jackknife.h). */
#ifndef XB_COMPARE_MIXTURE_H
#define XB_COMPARE_MIXTURE_H

#include "compare/jackknife.h"
#include "compare/normal_table.h"
#include "compare/tagged.h"
#include "crossbayes/compare.h"
#include "law/student_table.h"

/* The cdf on a grid, as sums over the draws of each group (C5). */
enum { XB_GRID_MAX = 1024 };

typedef struct xb_grid {
    int count;          /* 0: none was made */
    double start, step; /* equidistant, of normal components */
    double *at;         /* [XB_GRID_MAX] places of the nodes, of heavy ones (C45) */
    double *all;        /* [XB_GRID_MAX] */
    double *group;      /* [XB_JACKKNIFE_GROUPS][XB_GRID_MAX] */
} xb_grid;

/* Room for `draws` values in each array, made once and used for many points. */
typedef struct xb_point {
    const xb_jackknife *groups;
    const xb_normal_table *normal;
    int64_t draws;
    double *m, *a, *inverse; /* [draws] mean, sd (of heavy components their scale), and
                                its inverse (0 for a point mass) */
    const xb_student_table *heavy; /* [members] (P9) of draw s that of number s mod
                                      members; NULL: components are normal */
    int64_t members;
    double *plain;             /* [draws] spare memory */
    xb_tagged *sorted, *spare; /* [draws] means in order with their groups, if discrete */
    bool discrete;             /* every sd is 0: quantiles are order statistics */
    double a_min, a_max;
    double lower, upper; /* there is no mass beyond */
    xb_grid grid;
} xb_point;

static inline const xb_student_table *xb_heavy_of(const xb_student_table *heavy,
                                                  int64_t members, int64_t draw)
{
    return members == 1 ? heavy : heavy + draw % members;
}

/* Computes everything else after m and a are filled. */
void xb_point_prepare(xb_point *p);

/* (C6) The predictive cdf at y, counting half of the mass at y itself; all versions. */
void xb_mixture_pit(double *version, const xb_point *p, double y);

/* log of a sum of exponentials, as the largest and the sum relative to it. */
typedef struct xb_log_sum {
    double top, sum;
} xb_log_sum;

void xb_log_add(xb_log_sum *l, double top, double sum);
/* The log of the mean over draws, from the sums of groups, minus `constant`. */
void xb_log_means(double *version, const xb_log_sum group[XB_JACKKNIFE_GROUPS],
                  const xb_jackknife *groups, double constant);

/* (C3, P9) log density at y with the sds given ([draws]), or the scales of heavy
 * components; all versions. */
void xb_mixture_log_density(double *version, const xb_point *p, const double *sd,
                            double y);

/* (C30) Joint log density of y [targets] under points first, first + 1, ... of the
 * predictive, which has sds; all versions. heavy [members] as in xb_point. */
void xb_mixture_joint_density(double *version, const xb_mixture *predictive,
                              int64_t first, int64_t targets, const double *y,
                              const xb_jackknife *groups, const xb_student_table *heavy,
                              int64_t members);

/* (C7) The quantile of a level in (0, 1); all versions. */
void xb_mixture_quantile(double *version, const xb_point *p, double level);

/* (C4) Width of the kernel that turns plain samples into a density. */
double xb_mixture_kernel(const xb_point *p, double sd);

#endif
