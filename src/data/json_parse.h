/* json_parse.h: a JSON text by jansson, with running out of memory told from a bad text.
 */
#ifndef XB_DATA_JSON_PARSE_H
#define XB_DATA_JSON_PARSE_H

#include <jansson.h>

#include "crossbayes/base.h"

/* The value of a text of `size` bytes; json_decref() it. Duplicate keys are refused. Sets
 * no message: XB_E_MEMORY, or XB_E_INPUT with the place and the reason in *error. */
xb_status xb_json_parse(json_t **out, const char *text, int64_t size,
                        json_error_t *error);

#endif
