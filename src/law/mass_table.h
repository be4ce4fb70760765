/* mass_table.h: a density that is known at points alone, as cells on which Gauss-Legendre
 * integrates it, with the masses below and above each cell; maths L40, L41. */
#ifndef XB_LAW_MASS_TABLE_H
#define XB_LAW_MASS_TABLE_H

#include "base/ctx.h"

enum { XB_MASS_POINTS = 16 };

typedef struct xb_density_at {
    double (*pdf)(void *arg, double x);
    void *arg;
} xb_density_at;

typedef struct xb_mass_table {
    xb_density_at density;
    double node[XB_MASS_POINTS], weight[XB_MASS_POINTS]; /* on [-1, 1] */
    int64_t cells, capacity;
    double *edge;  /* [cells + 1] ascending */
    double *mass;  /* [cells] */
    double *below; /* [cells + 1] mass below each edge, summed from the left */
    double *above; /* [cells + 1] mass above each edge, summed from the right */
} xb_mass_table;

/* Divides the support (an end may be infinite) at the points, which are ascending and
 * inside it, and further until every cell is accurate. XB_E_INPUT, with a message about
 * `name`, if the density is negative or not finite somewhere, or too rough. */
xb_status xb_mass_table_make(xb_ctx *ctx, xb_mass_table *out, const char *name,
                             xb_density_at density, double lower, double upper,
                             const double *points, int64_t count);
void xb_mass_table_free(xb_mass_table *table);

/* Mass below or above x. */
double xb_mass_table_tail(const xb_mass_table *table, double x, bool upper);
/* The edges of the cell where the mass below (above) passes v. */
void xb_mass_table_bracket(const xb_mass_table *table, double v, bool upper, double *from,
                           double *to);
/* The integral of (x - centre)^k times the density, and the share of the first and the
 * last cell (those that `open` selects) in the integral of its absolute value. */
double xb_mass_table_moment(const xb_mass_table *table, double centre, int k,
                            const bool open[2], double *outer);

#endif
