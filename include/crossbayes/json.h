/* crossbayes/json.h: JSON files in and out, on jansson. Errors name file and line.
 * crossbayes.h does not include this header: it needs jansson's own. */
#ifndef CROSSBAYES_JSON_H
#define CROSSBAYES_JSON_H

#include <jansson.h>

#include "crossbayes/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Larger files are refused, because a file may take 45 times its size in memory. */
enum { XB_JSON_BYTES_MAX = 8 << 20 };

/* The object in a file; json_decref() it. Duplicate keys are refused. */
XB_API xb_status xb_json_load(xb_ctx *ctx, json_t **out, const char *path);

/* Writes the file atomically, with keys in the order they were set and numbers with 17
 * digits. Takes no ownership. */
XB_API xb_status xb_json_save(xb_ctx *ctx, const json_t *root, const char *path);
/* The text alone, to be freed with xb_free(); xb_json_line writes it on one line without
 * blanks. A NULL root fails with XB_E_MEMORY.
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

/* As json_real, but null for NAN and infinities, which JSON cannot express. */
XB_API json_t *xb_json_real(double value);
/* As json_string, but with "?" for bytes that are not UTF-8. NULL if memory has run out.
 */
XB_API json_t *xb_json_string(const char *text);

/* Build objects and lists; both take ownership of `value`. If memory runs out, or if
 * `value` is NULL, which means the same, *object or *list becomes NULL and stays NULL
 * whatever is added to it, and so does every container it is added to. Writing it then
 * fails, so that nothing is left out silently. */
XB_API void xb_json_set(json_t **object, const char *key, json_t *value);
XB_API void xb_json_add(json_t **list, json_t *value);

#ifdef __cplusplus
}
#endif
#endif
