/* settings.h: "NAME=VALUE,NAME=VALUE" as priors and schedules are written. */
#ifndef XB_VI_SETTINGS_H
#define XB_VI_SETTINGS_H

#include "base/ctx.h"

typedef struct xb_setting {
    const char *name; /* "" : a first value may stand without a name */
    double *value;    /* kept where the text says nothing */
    double min, max;  /* inclusive */
} xb_setting;

/* "KIND" or "KIND:..." : the index of KIND among the NULL-terminated `kinds`, and
 * what follows the colon in *rest ("" if nothing). `what` is the word for
 * messages: "prior". */
xb_status xb_settings_kind(xb_ctx *ctx, int *out, const char **rest, const char *what,
                           const char *text, const char *const *kinds);

/* Reads `rest` into the n settings; each at most once. `text` is the whole, for
 * messages. */
xb_status xb_settings_read(xb_ctx *ctx, const char *what, const char *text,
                           const char *rest, const xb_setting *settings, int n);

#endif
