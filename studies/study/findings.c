/* findings.c: see findings.h. */
#include "study/findings.h"

#include <math.h>
#include <stdio.h>

xb_finding_kind xb_judge_excess(double excess, double error, double errors)
{
    double wide = errors * error; /* a NAN is on neither side of the limit */
    if (excess + wide <= 0) return XB_FINDING_AGREES;
    return excess - wide > 0 ? XB_FINDING_DIFFERS : XB_FINDING_UNCLEAR;
}

xb_finding_kind xb_judge(double value, double error, double limit, double errors)
{
    return xb_judge_excess(fabs(value) - limit, error, errors);
}

xb_finding_kind xb_judge_kl(double kl, double error, double limit, double errors)
{
    xb_finding_kind kind = xb_judge(kl, error, limit, errors);
    return kl < 0 && kind == XB_FINDING_DIFFERS ? XB_FINDING_UNCLEAR : kind;
}

xb_finding_kind xb_judge_both(xb_finding_kind a, xb_finding_kind b)
{
    if (a == XB_FINDING_DIFFERS || b == XB_FINDING_DIFFERS) return XB_FINDING_DIFFERS;
    return a == XB_FINDING_AGREES ? b : a;
}

const char *xb_finding_word(xb_finding_kind kind, xb_finding_words words)
{
    if (kind == XB_FINDING_AGREES) return words.agrees;
    return kind == XB_FINDING_DIFFERS ? words.differs : "cannot tell";
}

const char *xb_finding_side(xb_finding_kind kind)
{
    if (kind == XB_FINDING_AGREES) return "within";
    return kind == XB_FINDING_DIFFERS ? "beyond"
                                      : "neither clearly within nor clearly beyond";
}

double xb_rounded_off(double value)
{
    const double rounding = 1e-15;
    return fabs(value) < rounding ? 0 : value;
}

double xb_two_digits(double value)
{
    if (!(value > 0 && isfinite(value))) return value;
    const double unit = pow(10, floor(log10(value)) - 1);
    return round(value / unit) * unit;
}

/* Numbers of findings are this small only by rounding. */
static const double NOTHING = 1e-17;

xb_shown xb_show(double value, double error)
{
    xb_shown s;
    if (fabs(value) < NOTHING) value = 0;
    if (isnan(value))
        snprintf(s.text, sizeof s.text, "unknown");
    else if (!isfinite(error))
        snprintf(s.text, sizeof s.text, "%.3g (error unknown)", value);
    else if (error > NOTHING)
        xb_number_with_error(s.text, sizeof s.text, value, error);
    else
        xb_number_with_error(s.text, sizeof s.text, value, NAN);
    return s;
}

xb_shown xb_show_fact(const xb_study *study, const char *name)
{
    xb_fact f = xb_study_fact(study, name);
    return xb_show(f.value, isnan(f.std_error) ? 0 : f.std_error);
}

double xb_table_at(const xb_table *t, int64_t row, const char *column)
{
    int c = t ? xb_table_column_find(t, column) : -1;
    return c < 0 ? NAN : xb_table_get(t, row, c);
}

int64_t xb_table_length(const xb_table *t) { return t ? xb_table_row_count(t) : 0; }
