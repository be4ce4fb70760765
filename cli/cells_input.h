/* cells_input.h: cells that weights are made of, as options give them. */
#ifndef CELLS_INPUT_H
#define CELLS_INPUT_H

#include "session.h"

/* From CELLS, and where `device` is not NULL with its range and widths of read noise. */
cli_exit cli_cells_read(cli_session *s, xb_weight_cells **out, const char *text,
                        const char *device);
void cli_cells_help(FILE *out);

#endif
