/* lawfile.h: laws as JSON; the fit adds its findings to the same object. */
#ifndef XB_LAW_LAWFILE_H
#define XB_LAW_LAWFILE_H

#include "crossbayes/json.h"
#include "law/family.h"

/* {"crossbayes": "law", "family", parameters, "offset", "scale", "unit"}; NULL
 * when memory has run out. The caller owns it. */
json_t *xb_law_to_json(const xb_law *law);

/* The law such an object describes, checked as a file is; `path` names it in
 * messages. */
xb_status xb_law_from_json(xb_ctx *ctx, xb_law **out, const json_t *root,
                           const char *path);

/* Sends a notice on what users should know about the trace behind the law: few
 * independent samples, reads that cannot serve as draws. `path` names what the law came
 * from. */
void xb_law_warn(xb_ctx *ctx, const xb_law *law, const char *path);

/* Units are printed beside numbers and kept in law files, so they must be short, without
 * line breaks and control characters. */
bool xb_law_unit_valid(const char *unit);

/* {"version", "command"}, which every result file has. */
json_t *xb_provenance(const xb_ctx *ctx);

#endif
