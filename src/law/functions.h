/* functions.h: laws made of a caller's functions. */
#ifndef XB_LAW_FUNCTIONS_H
#define XB_LAW_FUNCTIONS_H

#include "law/family.h"

/* XB_E_ARGUMENT, with the reason, for a law made of functions, which cannot be written to
 * a file.
 */
xb_status xb_law_check_file(xb_ctx *ctx, const xb_law *law);

#endif
