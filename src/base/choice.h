/* choice.h: parses one of a few names, as texts write the values of an enum. */
#ifndef XB_BASE_CHOICE_H
#define XB_BASE_CHOICE_H

#include "base/ctx.h"

/* Finds the index of `text` among the names. If it is not among them, fails with
 * XB_E_INPUT and a sentence that says what was given, what is valid and what was probably
 * meant: "unknown estimator 'locl': expected shared, example, flipout or local; did you
 * mean 'local'?". `what` is the word for the enum. */
xb_status xb_choice_parse(xb_ctx *ctx, int *out, const char *what, const char *text,
                          const char *const *names, int count);

#endif
