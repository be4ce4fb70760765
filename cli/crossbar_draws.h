/* crossbar_draws.h: how many reads the interval of each row needs on an array, and what
 * reading on until it is settled saves. */
#ifndef XB_CLI_CROSSBAR_DRAWS_H
#define XB_CLI_CROSSBAR_DRAWS_H

#include "crossbayes/crossbar.h"
#include "print.h"
#include "session.h"

/* Of a target of numbers; 32 reads of each member or more, else there is nothing. */
typedef struct cli_draws {
    xb_stopping *settled; /* NULL: nothing is known */
    double tolerance;
    double mean;                   /* reads that a row takes */
    double coverage, coverage_all; /* of intervals settled early, and of all reads */
} cli_draws;

/* x, y: [n] rows with targets, read `reads` times. */
xb_status cli_draws_find(xb_ctx *ctx, cli_draws *out, const xb_model *model,
                         const xb_analog *analog, const double *x, const double *y,
                         int64_t n, int64_t reads);
void cli_draws_free(cli_draws *draws);
void cli_show_draws(const cli_draws *draws, int64_t reads);
json_t *cli_draws_json(const cli_draws *draws);

#endif
