/* choice.h: one of a few names, as enums are written in texts. */
#ifndef XB_BASE_CHOICE_H
#define XB_BASE_CHOICE_H

#include "base/ctx.h"

/* The place of `text` among the names. XB_E_INPUT with a sentence that says what was
 * given, what there is and what may have been meant: "no estimator 'locl': expected
 * shared, example, flipout or local; did you mean 'local'?". `what` is the enum's word. */
xb_status xb_choice_parse(xb_ctx *ctx, int *out, const char *what, const char *text,
                          const char *const *names, int count);

#endif
