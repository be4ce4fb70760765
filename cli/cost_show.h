/* cost_show.h: `crossbar --costs model` as text and as JSON. */
#ifndef XB_CLI_COST_SHOW_H
#define XB_CLI_COST_SHOW_H

#include "print.h"

void cli_show_cost_model(const xb_cost_model *cost);
json_t *cli_cost_model_json(const xb_cost_model *cost);

#endif
