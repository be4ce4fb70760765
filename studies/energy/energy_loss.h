/* energy_loss.h: the energy distance to the standard normal, with its table made
 * beforehand; maths G1-G3. */
#ifndef XB_ENERGY_LOSS_H
#define XB_ENERGY_LOSS_H

#include "crossbayes/energy.h"

enum { XB_ENERGY_NODES = 33, XB_ENERGY_DEGREE = 11 };

/* Taylor coefficients of g(f) = E|f - Y|^1.5 at f = 0, 1/4, ..., 8. */
typedef struct xb_energy_table {
    double at[XB_ENERGY_NODES][XB_ENERGY_DEGREE + 1];
} xb_energy_table;

void xb_energy_table_fill(xb_energy_table *table);

/* As xb_energy_loss. */
double xb_energy_loss_by(const xb_energy_table *table, float *df, const float *f,
                         int64_t n);

#endif
