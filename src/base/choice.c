/* choice.c: see choice.h. */
#include "base/choice.h"

#include <stdio.h>
#include <string.h>

/* "a, b or c" */
static void list_names(char *out, size_t size, const char *const *names, int count)
{
    size_t used = 0;
    for (int i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s",
                                 i == 0           ? ""
                                 : i + 1 == count ? " or "
                                                  : ", ",
                                 names[i]);
}

xb_status xb_choice_parse(xb_ctx *ctx, int *out, const char *what, const char *text,
                          const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], text) == 0) {
            *out = i;
            return XB_OK;
        }
    char list[256] = "";
    list_names(list, sizeof list, names, count);
    int64_t near = xb_nearest(text, names, count);
    if (near < 0)
        return xb_fail(ctx, XB_E_INPUT, "unknown %s '%.60s': expected %s", what, text,
                       list);
    return xb_fail(ctx, XB_E_INPUT, "unknown %s '%.60s': expected %s; did you mean '%s'?",
                   what, text, list, names[near]);
}
