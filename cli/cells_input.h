/* cells_input.h: reads the cells that weights are made of from options. */
#ifndef CELLS_INPUT_H
#define CELLS_INPUT_H

#include "session.h"

/* Parses CELLS; if `device` is not NULL, the range and read noise come from that file. */
cli_exit cli_cells_read(cli_session *s, xb_weight_cells **out, const char *text,
                        const char *device);
void cli_cells_help(FILE *out);

#endif
