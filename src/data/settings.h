/* settings.h: "NAME=VALUE,NAME=VALUE" as laws, priors and schedules are written; the same
 * in every locale. */
#ifndef XB_DATA_SETTINGS_H
#define XB_DATA_SETTINGS_H

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

/* Reads `rest` into the n settings, at most XB_SETTINGS_MAX; each at most once. `text` is
 * the whole, "KIND:...", for messages; `what` as above. */
enum { XB_SETTINGS_MAX = 8 };
xb_status xb_settings_read(xb_ctx *ctx, const char *what, const char *text,
                           const char *rest, const xb_setting *settings, int n);

/* The same with lists, "NAME=VALUE/VALUE/..": 1 to `most` finite values each. */
typedef struct xb_setting_list {
    const char *name;
    double *value; /* [most], kept where the text says nothing */
    int most;
    int *count; /* 0: the text says nothing */
} xb_setting_list;

xb_status xb_settings_lists(xb_ctx *ctx, const char *what, const char *text,
                            const char *rest, const xb_setting_list *lists, int n);

#endif
