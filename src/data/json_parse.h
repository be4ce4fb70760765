/* json_parse.h: parses a JSON text with jansson, and distinguishes a lack of memory from
 * an error in the text. */
#ifndef XB_DATA_JSON_PARSE_H
#define XB_DATA_JSON_PARSE_H

#include <jansson.h>

#include "crossbayes/base.h"

/* Parses a text of `size` bytes; json_decref() the value. Duplicate keys are refused.
 * Sets no message: returns XB_E_MEMORY, or XB_E_INPUT with the place and the reason in
 * *error. */
xb_status xb_json_parse(json_t **out, const char *text, int64_t size,
                        json_error_t *error);

#endif
