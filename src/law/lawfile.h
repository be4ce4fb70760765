/* lawfile.h: laws as JSON; the fit adds what it found to the same object. */
#ifndef XB_LAW_LAWFILE_H
#define XB_LAW_LAWFILE_H

#include "data/json.h"
#include "law/family.h"

/* {"crossbayes": "law", "family", parameters, "offset", "scale", "unit"}; NULL
 * when memory is out. The caller owns it. */
json_t *xb_law_to_json(const xb_law *law);

/* {"version", "command"}: what every result file carries. */
json_t *xb_provenance(const xb_ctx *ctx);

#endif
