/* keep.c: conditions on a design's quality as text: "nll<=+2%, coverage95>=0.9". */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/choice.h"
#include "design/quality.h"

enum { NAME_MOST = 32 };

static xb_status refuse(xb_ctx *ctx, const char *text)
{
    return xb_fail(ctx, XB_E_INPUT,
                   "'%.80s': expected SCORE<=LIMIT or SCORE>=LIMIT, such as nll<=+2%%,"
                   " nll<=+0.05, rmse<=4.5 or coverage95>=0.93",
                   text);
}

static const char *skip(const char *p)
{
    while (isspace((unsigned char)*p)) p++;
    return p;
}

static xb_status read_name(xb_ctx *ctx, xb_condition *out, const char **at,
                           const char *text, const xb_judge *judge)
{
    char name[NAME_MOST] = "";
    const char *p = skip(*at);
    const size_t size = strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (size == 0 || size >= sizeof name) return refuse(ctx, text);
    memcpy(name, p, size);
    out->quality = xb_quality_find(judge, name);
    *at = p + size;
    if (out->quality >= 0) return XB_OK;
    if (judge->classes == 0 && judge->outputs > 1)
        return xb_fail(ctx, XB_E_INPUT,
                       "unknown score '%s': of several targets there is nll", name);
    return xb_fail(ctx, XB_E_INPUT, "unknown score '%s': expected %s, %s or %s", name,
                   xb_quality_name(judge, 0), xb_quality_name(judge, 1),
                   xb_quality_name(judge, 2));
}

/* A limit with a sign is relative to the digital model's score, in per cent if '%'
 * follows. */
static xb_status read_limit(xb_ctx *ctx, xb_condition *out, const char **at,
                            const char *text)
{
    const char *p = skip(*at);
    char *end = NULL;
    const bool more = *p == '+' || *p == '-';
    out->number = strtod(p, &end);
    if (end == p || !isfinite(out->number)) return refuse(ctx, text);
    p = skip(end);
    out->kind = more ? XB_LIMIT_MORE : XB_LIMIT_VALUE;
    if (*p == '%') {
        p++;
        out->number /= 100;
        if (more) out->kind = XB_LIMIT_SHARE;
    }
    *at = skip(p);
    return XB_OK;
}

static xb_status read_one(xb_ctx *ctx, xb_condition *out, const char **at,
                          const char *text, const xb_judge *judge)
{
    XB_TRY(read_name(ctx, out, at, text, judge));
    const char *p = skip(*at);
    if ((p[0] != '<' && p[0] != '>') || p[1] != '=') return refuse(ctx, text);
    out->sign = p[0] == '<' ? 1 : -1;
    *at = p + 2;
    return read_limit(ctx, out, at, text);
}

xb_status xb_conditions_parse(xb_ctx *ctx, xb_condition out[XB_CONDITIONS_MOST],
                              int *count, const char *text, const xb_judge *judge)
{
    const char *p = text;
    for (*count = 0;; p++) {
        if (*count == XB_CONDITIONS_MOST)
            return xb_fail(ctx, XB_E_INPUT, "'%.80s': more than %d conditions", text,
                           XB_CONDITIONS_MOST);
        XB_TRY(read_one(ctx, &out[(*count)++], &p, text, judge));
        if (*p == '\0') return XB_OK;
        if (*p != ',') return refuse(ctx, text);
    }
}

void xb_condition_settle(xb_condition *c, double digital)
{
    c->limit = c->kind == XB_LIMIT_VALUE  ? c->number
               : c->kind == XB_LIMIT_MORE ? digital + c->number
                                          : digital + c->number * fabs(digital);
}
