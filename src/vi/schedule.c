/* schedule.c: a factor that changes with the step, for the temperature of the
 * likelihood and for learning rates; maths V9. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "crossbayes/vi.h"
#include "data/number.h"
#include "data/settings.h"

#define VALUE_MIN 1e-12 /* temperatures and rates must be above zero */
#define VALUE_MAX 1e12

static const char *const kinds[] = {
    [XB_SCHEDULE_CONSTANT] = "constant",
    [XB_SCHEDULE_EXP] = "exp",
    [XB_SCHEDULE_COSINE] = "cosine",
    [XB_SCHEDULE_STEP] = "step",
    NULL,
};

xb_status xb_schedule_parse(xb_ctx *ctx, xb_schedule *out, const char *text)
{
    xb_schedule s = {.value = 1, .factor = 0.1, .floor = 0};
    const xb_setting value = {"", &s.value, VALUE_MIN, VALUE_MAX};
    const xb_setting floor = {"floor", &s.floor, 0, 1};
    const xb_setting factor = {"factor", &s.factor, VALUE_MIN, 1};
    const xb_setting settings[][3] = {
        [XB_SCHEDULE_CONSTANT] = {value},
        [XB_SCHEDULE_EXP] = {value, floor},
        [XB_SCHEDULE_COSINE] = {floor},
        [XB_SCHEDULE_STEP] = {value, floor, factor},
    };
    static const int counts[] = {[XB_SCHEDULE_CONSTANT] = 1,
                                 [XB_SCHEDULE_EXP] = 2,
                                 [XB_SCHEDULE_COSINE] = 1,
                                 [XB_SCHEDULE_STEP] = 3};
    const char *rest = NULL;
    int kind = 0;
    bool number = strpbrk(text, "0123456789") && !text[strspn(text, "+-.0123456789eE")];
    if (number)
        return xb_fail(ctx, XB_E_INPUT, "schedule '%s': expected its kind first: %s:%s",
                       text, kinds[XB_SCHEDULE_CONSTANT], text);
    XB_TRY(xb_settings_kind(ctx, &kind, &rest, "schedule", text, kinds));
    s.kind = (xb_schedule_kind)kind;
    bool counted = s.kind == XB_SCHEDULE_EXP || s.kind == XB_SCHEDULE_STEP;
    if (counted && (*rest < '0' || *rest > '9'))
        return xb_fail(ctx, XB_E_INPUT,
                       "schedule '%s': expected the number of steps first: %s:1000", text,
                       kinds[kind]);
    XB_TRY(xb_settings_read(ctx, "schedule", text, rest, settings[kind], counts[kind]));
    *out = s;
    return XB_OK;
}

void xb_schedule_text(char out[XB_SCHEDULE_TEXT], const xb_schedule *s)
{
    char value[XB_NUMBER_TEXT_MAX], factor[XB_NUMBER_TEXT_MAX], low[XB_NUMBER_TEXT_MAX];
    xb_number_format(value, s->value);
    xb_number_format(factor, s->factor);
    xb_number_format(low, s->floor);
    switch (s->kind) {
    case XB_SCHEDULE_CONSTANT:
        snprintf(out, XB_SCHEDULE_TEXT, "constant:%s", value);
        break;
    case XB_SCHEDULE_EXP:
        snprintf(out, XB_SCHEDULE_TEXT, "exp:%s,floor=%s", value, low);
        break;
    case XB_SCHEDULE_COSINE:
        snprintf(out, XB_SCHEDULE_TEXT, "cosine:floor=%s", low);
        break;
    case XB_SCHEDULE_STEP:
        snprintf(out, XB_SCHEDULE_TEXT, "step:%s,factor=%s,floor=%s", value, factor, low);
        break;
    }
}

/* From 1 at the first step to 0 at the last; past it, 0. */
static double cosine(int64_t step, int64_t total)
{
    if (total <= 1 || step >= total - 1) return total <= 1 ? 1 : 0;
    return 0.5 * (1 + cos(M_PI * (double)step / (double)(total - 1)));
}

static double unbounded(const xb_schedule *s, int64_t step, int64_t total)
{
    double i = (double)step;
    switch (s->kind) {
    case XB_SCHEDULE_CONSTANT: return s->value;
    case XB_SCHEDULE_EXP: return fmax(s->floor, exp(-i / s->value));
    case XB_SCHEDULE_COSINE: return s->floor + (1 - s->floor) * cosine(step, total);
    case XB_SCHEDULE_STEP: break;
    }
    return fmax(s->floor, pow(s->factor, floor(i / s->value)));
}

/* (V9) */
double xb_schedule_at(const xb_schedule *schedule, int64_t step, int64_t total)
{
    return fmax(VALUE_MIN, unbounded(schedule, step, total));
}
