/* crossbar_draws.h: finds how many reads the interval of each row needs on an array, and
 * how much is saved by reading only until the interval is settled. */
#ifndef XB_CLI_CROSSBAR_DRAWS_H
#define XB_CLI_CROSSBAR_DRAWS_H

#include "crossbayes/crossbar.h"
#include "print.h"
#include "session.h"

/* Exists for targets that are numbers, with 32 or more reads of each member. */
typedef struct cli_draws {
    xb_stopping *settled; /* NULL: unknown */
    double tolerance;
    double mean;                   /* mean number of reads of a row */
    double coverage, coverage_all; /* of the intervals settled early, and of those of all
                                      reads */
} cli_draws;

/* x and y are [n] rows with targets, each read `reads` times. */
xb_status cli_draws_find(xb_ctx *ctx, cli_draws *out, const xb_model *model,
                         const xb_analog *analog, const double *x, const double *y,
                         int64_t n, int64_t reads);
void cli_draws_free(cli_draws *draws);
void cli_show_draws(const cli_draws *draws, int64_t reads);
json_t *cli_draws_json(const cli_draws *draws);

#endif
