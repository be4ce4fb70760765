/* json.h: JSON files in and out, on jansson. Errors name file and line. */
#ifndef XB_DATA_JSON_H
#define XB_DATA_JSON_H

#include <jansson.h>

#include "base/ctx.h"

/* A larger file is refused: in memory it may take 45 times its bytes. */
enum { XB_JSON_BYTES_MAX = 8 << 20 };

/* The object in a file; json_decref() it. Duplicate keys are refused. */
xb_status xb_json_load(xb_ctx *ctx, json_t **out, const char *path);

/* Atomic; keys in the order they were set, numbers with 17 digits. Steals
 * nothing. */
xb_status xb_json_save(xb_ctx *ctx, const json_t *root, const char *path);
/* The text alone, free() it; `line`: as short as can be. NULL for root: memory is out. */
xb_status xb_json_text(xb_ctx *ctx, char **out, const json_t *root);
xb_status xb_json_line(xb_ctx *ctx, char **out, const json_t *root);

/* Fails unless every key of `object` is among the NULL-terminated `known`. */
xb_status xb_json_known_keys(xb_ctx *ctx, const json_t *object, const char *path,
                             const char *const *known);

/* A finite number under `key`. The optional form leaves *out alone and is XB_OK
 * when the key is missing or null. */
xb_status xb_json_number(xb_ctx *ctx, double *out, const json_t *object, const char *path,
                         const char *key);
xb_status xb_json_number_optional(xb_ctx *ctx, double *out, const json_t *object,
                                  const char *path, const char *key);

/* json_real, but null for NAN and infinities, which JSON cannot say. */
json_t *xb_json_real(double value);
/* json_string, but "?" for what is not UTF-8. NULL: memory is out. */
json_t *xb_json_string(const char *text);

/* Building. They take `value` over. Where memory is out (a NULL value says so too) the
 * whole is given up: *object or *list becomes NULL and stays it, through all that is put
 * into it and all that it is put into, and who writes it says so: nothing is left out in
 * silence. */
void xb_json_set(json_t **object, const char *key, json_t *value);
void xb_json_add(json_t **list, json_t *value);

#endif
