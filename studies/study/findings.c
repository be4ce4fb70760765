/* findings.c: see findings.h. */
#include "study/findings.h"

#include <math.h>
#include <stdio.h>

xb_finding_kind xb_judge_excess(double excess, double error, double errors)
{
    double wide = isnan(error) ? 0 : errors * error;
    if (excess + wide <= 0) return XB_FINDING_AGREES;
    return excess - wide > 0 ? XB_FINDING_DIFFERS : XB_FINDING_UNCLEAR;
}

xb_finding_kind xb_judge(double value, double error, double limit, double errors)
{
    return xb_judge_excess(fabs(value) - limit, error, errors);
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

xb_shown xb_show(double value, double error)
{
    xb_shown s;
    if (error > 0)
        xb_number_with_error(s.text, sizeof s.text, value, error);
    else
        snprintf(s.text, sizeof s.text, "%.3g", value == 0 ? 0 : value);
    return s;
}

xb_shown xb_show_fact(const xb_study *study, const char *name)
{
    xb_fact f = xb_study_fact(study, name);
    return xb_show(f.value, f.std_error);
}

double xb_table_at(const xb_table *t, int64_t row, const char *column)
{
    int c = t ? xb_table_find(t, column) : -1;
    return c < 0 ? NAN : xb_table_get(t, row, c);
}

int64_t xb_table_length(const xb_table *t) { return t ? xb_table_rows(t) : 0; }
