/* cost_show.h: `crossbar --costs model` as text and as JSON. */
#ifndef XB_CLI_COST_SHOW_H
#define XB_CLI_COST_SHOW_H

#include "crossbayes/crossbar.h"
#include "print.h"

void cli_show_cost_model(const xb_cost_model *cost);
json_t *cli_cost_model_json(const xb_cost_model *cost);

/* "0.21 to 1.71 nJ", one number where the ends are equal; "-" for nothing. And a time. */
void cli_energy_text(char *out, size_t size, xb_band pj);
void cli_nanoseconds_text(char *out, size_t size, double ns);

/* A row for each design, layer and part: numbers of the first two as in the library, the
 * layer's place in the net, energies of a draw; destroy it. */
xb_status cli_cost_table(xb_ctx *ctx, xb_table **out, const xb_cost_model *cost);

#endif
