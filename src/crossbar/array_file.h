/* array_file.h: an array as JSON. */
#ifndef XB_CROSSBAR_ARRAY_FILE_H
#define XB_CROSSBAR_ARRAY_FILE_H

#include "crossbar/array.h"
#include "crossbayes/json.h"

/* Writes what xb_array_load reads; the caller owns it. */
json_t *xb_array_to_json(const xb_ctx *ctx, const xb_array *array);

#endif
