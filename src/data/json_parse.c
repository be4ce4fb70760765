/* json_parse.c: see json_parse.h. jansson 2.14 reports a failed allocation as an error of
 * the text or without a reason, and in a long string it skips the byte that had no room.
 * errno shows that memory ran out, unless a number was parsed later. */
#include "data/json_parse.h"

#include <errno.h>

xb_status xb_json_parse(json_t **out, const char *text, int64_t size, json_error_t *error)
{
    errno = 0;
    json_t *value = json_loadb(text, (size_t)size, JSON_REJECT_DUPLICATES, error);
    if (value && errno != ENOMEM) {
        *out = value;
        return XB_OK;
    }
    const bool no_memory = errno == ENOMEM || !*error->text;
    json_decref(value);
    return no_memory ? XB_E_MEMORY : XB_E_INPUT;
}
