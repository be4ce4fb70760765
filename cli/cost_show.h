/* cost_show.h: `crossbar --costs model` as text and as JSON. */
#ifndef XB_CLI_COST_SHOW_H
#define XB_CLI_COST_SHOW_H

#include "crossbayes/crossbar.h"
#include "print.h"

void cli_show_cost_model(const xb_cost_model *cost);
json_t *cli_cost_model_json(const xb_cost_model *cost);

/* Write "0.21 to 1.71 nJ", or one number if the ends are equal, or "-" for nothing; and a
 * time. */
void cli_energy_text(char *out, size_t size, xb_band pj);
void cli_nanoseconds_text(char *out, size_t size, double ns);

/* Makes a table with one row for each design, layer and part: the numbers of design and
 * part as in the library, the layer's position in the net, and the energies of one draw.
 * The caller destroys it. */
xb_status cli_cost_table(xb_ctx *ctx, xb_table **out, const xb_cost_model *cost);

#endif
