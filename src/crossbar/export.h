/* export.h: the parts of an export. */
#ifndef XB_CROSSBAR_EXPORT_H
#define XB_CROSSBAR_EXPORT_H

#include "crossbar/analog.h"
#include "crossbayes/data.h"
#include "crossbayes/json.h"

enum { XB_EXPORT_PATH = 4096 };

/* Writes DIR/NAME; fails if the path is too long. */
xb_status xb_export_path(xb_ctx *ctx, char out[XB_EXPORT_PATH], const char *dir,
                         const char *name);

/* export_crosssim.c: writes one layer's matrix, widths and parameters to dir/crosssim. */
xb_status xb_export_crosssim(xb_ctx *ctx, const xb_analog *analog,
                             const xb_analog_layer *layer, const xb_cells *cells,
                             const char *dir);

/* export_digital.c: writes what the digital side needs for a layer to its JSON and
 * files. */
xb_status xb_export_digital(xb_ctx *ctx, json_t **root, const xb_analog *analog,
                            const xb_analog_layer *layer, const xb_cells *cells,
                            const char *dir);
/* Adds the model, the chip, the seed and the scales. */
void xb_export_origin(json_t **root, const xb_analog *analog);

#endif
