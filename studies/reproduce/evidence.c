/* evidence.c: see evidence.h. */
#include "reproduce/evidence.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "study/study.h"

static const double SURE = 2; /* number of standard errors */

xb_estimate xb_evidence_fact(const xb_evidence *e, const char *name)
{
    xb_fact fact = xb_study_fact(e->study, name);
    return (xb_estimate){fact.value, isnan(fact.std_error) ? 0 : fact.std_error};
}

static bool has_columns(const xb_table *table, const char *columns)
{
    while (*columns) {
        char name[64];
        int length = (int)strcspn(columns, ",");
        snprintf(name, sizeof name, "%.*s", length, columns);
        if (xb_table_column_find(table, name) < 0) return false;
        columns += length;
        columns += *columns == ',';
    }
    return true;
}

const xb_table *xb_evidence_table(const xb_evidence *e, const char *name,
                                  const char *columns)
{
    const xb_table *table = xb_study_table(e->study, name);
    bool some = table && xb_table_row_count(table) > 0 && has_columns(table, columns);
    return some ? table : NULL;
}

static void judge(xb_judgement *j, xb_estimate x, double above_limit)
{
    j->value = x.value;
    j->std_error = x.std_error > 0 ? x.std_error : NAN;
    j->finding = xb_judge_excess(above_limit, x.std_error, SURE);
}

void xb_judge_at_most(xb_judgement *j, xb_estimate x, double limit)
{
    judge(j, x, x.value - limit);
}

void xb_judge_at_least(xb_judgement *j, xb_estimate x, double limit)
{
    judge(j, x, limit - x.value);
}

void xb_judge_unclear_if_made_up(xb_judgement *j, const xb_evidence *e)
{
    if (e->made_up) j->finding = XB_FINDING_UNCLEAR;
}

void xb_say(char *out, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(out, size, format, args);
    va_end(args);
}

xb_shown xb_show_estimate(xb_estimate x) { return xb_show(x.value, x.std_error); }
