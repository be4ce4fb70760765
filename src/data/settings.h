/* settings.h: parses "NAME=VALUE,NAME=VALUE", the form of laws, priors and schedules, in
 * the same way in every locale. */
#ifndef XB_DATA_SETTINGS_H
#define XB_DATA_SETTINGS_H

#include "base/ctx.h"

typedef struct xb_setting {
    const char *name; /* "": the first value may come without a name */
    double *value;    /* unchanged if the text does not set it */
    double min, max;  /* inclusive */
} xb_setting;

/* Reads "KIND" or "KIND:...": returns the index of KIND among the NULL-terminated
 * `kinds`, and the text after the colon in *rest ("" if there is none). `what` is the
 * word for messages: "prior". */
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
    double *value; /* [most], unchanged if the text does not set it */
    int most;
    int *count; /* 0: the text does not set it */
} xb_setting_list;

xb_status xb_settings_lists(xb_ctx *ctx, const char *what, const char *text,
                            const char *rest, const xb_setting_list *lists, int n);

#endif
