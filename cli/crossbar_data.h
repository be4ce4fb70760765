/* crossbar_data.h: the inputs that arrays are scored or calibrated on: a table, or images
 * converted to numbers. */
#ifndef XB_CLI_CROSSBAR_DATA_H
#define XB_CLI_CROSSBAR_DATA_H

#include "inputs.h"

typedef struct cli_array_data {
    cli_inputs in;
    double *own_x, *own_y; /* used if rows were selected or images were converted to
                              numbers */
    const double *x, *y;   /* [n][features], [n][targets]; y is NULL if there are no
                              targets */
    int64_t n;
} cli_array_data;

/* Reads at most `most` of the inputs, evenly spread; 0: all. */
cli_exit cli_array_data_read(cli_session *s, cli_array_data *out, const xb_model *model,
                             const char *path, bool target, int64_t most);
void cli_array_data_free(cli_array_data *data);

#endif
