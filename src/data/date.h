/* date.h: dates and times of day in cells of a table. */
#ifndef XB_DATA_DATE_H
#define XB_DATA_DATE_H

#include <stdbool.h>

typedef enum xb_date_form {
    XB_DATE_NONE,   /* not a date */
    XB_DATE_CLEAR,  /* 2020-04-03, 2020/4/3, 3.4.2020, 12:30 */
    XB_DATE_TWOFOLD /* 3/4/2020: the cell does not say whether it is in April or in
                       March */
} xb_date_form;

/* Parses a whole text as a date, a time of day, or both with a blank or 'T' between them,
 * optionally with a time zone. *days counts from 1970-01-01 0:00 UTC; for a time alone it
 * is the fraction of a day; TWOFOLD dates are read with the month first. */
xb_date_form xb_date_parse(double *days, const char *text);

#endif
