/* crossbayes/json.h: JSON files in and out, on jansson. Errors name file and line.
 * crossbayes.h does not include this header: it needs jansson's own. */
#ifndef CROSSBAYES_JSON_H
#define CROSSBAYES_JSON_H

#include <jansson.h>

#include "crossbayes/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A larger file is refused: in memory it may take 45 times its bytes. */
enum { XB_JSON_BYTES_MAX = 8 << 20 };

/* The object in a file; json_decref() it. Duplicate keys are refused. */
XB_API xb_status xb_json_load(xb_ctx *ctx, json_t **out, const char *path);

/* Atomic; keys in the order they were set, numbers with 17 digits. Steals
 * nothing. */
XB_API xb_status xb_json_save(xb_ctx *ctx, const json_t *root, const char *path);
/* The text alone, xb_free() it; `line`: as short as can be. NULL for root: memory has run
 * out.
 */
XB_API xb_status xb_json_text(xb_ctx *ctx, char **out, const json_t *root);
XB_API xb_status xb_json_line(xb_ctx *ctx, char **out, const json_t *root);

/* Fails unless every key of `object` is among the NULL-terminated `known`. */
XB_API xb_status xb_json_known_keys(xb_ctx *ctx, const json_t *object, const char *path,
                                    const char *const *known);

/* A finite number under `key`. The optional form leaves *out alone and is XB_OK
 * when the key is missing or null. */
XB_API xb_status xb_json_number(xb_ctx *ctx, double *out, const json_t *object,
                                const char *path, const char *key);
XB_API xb_status xb_json_number_optional(xb_ctx *ctx, double *out, const json_t *object,
                                         const char *path, const char *key);

/* json_real, but null for NAN and infinities, which JSON cannot say. */
XB_API json_t *xb_json_real(double value);
/* json_string, but "?" for what is not UTF-8. NULL: memory has run out. */
XB_API json_t *xb_json_string(const char *text);

/* Building. They take `value` over. Where memory has run out (a NULL value says so too)
 * the whole is given up: *object or *list becomes NULL and stays it, through all that is
 * put into it and all that it is put into, and who writes it says so: nothing is left out
 * in silence. */
XB_API void xb_json_set(json_t **object, const char *key, json_t *value);
XB_API void xb_json_add(json_t **list, json_t *value);

#ifdef __cplusplus
}
#endif
#endif
