/* date.c: see date.h. Days are counted in the Gregorian calendar, by the method of
 * Richards, "Calendars" (Explanatory Supplement to the Astronomical Almanac, 2013): whole
 * years from March, so that a leap day is the last day of one. */
#include "data/date.h"

#include <stdint.h>

/* Reads one to `most` digits; -1: there are none, or more. */
static int take_digits(const char **p, int most)
{
    int value = 0, n = 0;
    for (; **p >= '0' && **p <= '9'; (*p)++, n++) {
        if (n == most) return -1;
        value = 10 * value + (**p - '0');
    }
    return n > 0 ? value : -1;
}

static bool take_char(const char **p, char c)
{
    if (**p != c) return false;
    (*p)++;
    return true;
}

static bool is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static bool is_day(int year, int month, int day)
{
    static const int length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month < 1 || month > 12 || day < 1 || year < 1) return false;
    return day <= length[month - 1] + (month == 2 && is_leap(year));
}

static int64_t days_since_1970(int year, int month, int day)
{
    const int64_t before_1970 = 719468; /* from 0000-03-01 */
    const int64_t y = year - (month <= 2), m = (month + 9) % 12;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 -
           before_1970;
}

/* Reads "12:30" or "12:30:05.25" as a part of a day. */
static bool take_time(double *out, const char **p)
{
    const char *at = *p;
    int hour = take_digits(&at, 2);
    if (hour < 0 || hour > 24 || !take_char(&at, ':')) return false;
    int minute = take_digits(&at, 2), second = 0;
    double part = 0, unit = 0.1;
    if (minute < 0 || minute > 59) return false;
    if (take_char(&at, ':')) {
        second = take_digits(&at, 2);
        if (second < 0 || second > 60) return false; /* a leap second */
        if (take_char(&at, '.'))
            for (; *at >= '0' && *at <= '9'; at++, unit /= 10) part += unit * (*at - '0');
    }
    *out = (hour * 3600.0 + minute * 60.0 + second + part) / 86400;
    *p = at;
    return true;
}

/* Reads "Z", "+02:00" or "-0330": the days to be added to get UTC. */
static bool take_zone(double *out, const char **p)
{
    *out = 0;
    if (take_char(p, 'Z') || (**p != '+' && **p != '-')) return true;
    const double sign = *(*p)++ == '+' ? -1 : 1;
    const char *at = *p;
    int hour = 0, minute = 0;
    for (int i = 0; i < 2; i++, at++) {
        if (*at < '0' || *at > '9') return false;
        hour = 10 * hour + (*at - '0');
    }
    take_char(&at, ':');
    if (*at) minute = take_digits(&at, 2);
    if (minute < 0 || minute > 59 || hour > 14) return false;
    *out = sign * (hour * 60 + minute) / 1440;
    *p = at;
    return true;
}

/* Reads three numbers with the same sign between them, with the year first or last. */
static xb_date_form take_day(double *out, const char **p)
{
    const char *at = *p;
    int a = take_digits(&at, 4);
    const bool year_first = at - *p == 4;
    const char sign = *at;
    if (a < 0 || (sign != '-' && sign != '/' && sign != '.')) return XB_DATE_NONE;
    at++;
    int b = take_digits(&at, 2);
    if (b < 0 || !take_char(&at, sign)) return XB_DATE_NONE;
    const char *last = at;
    int c = take_digits(&at, 4);
    if (c < 0 || year_first == (at - last == 4)) return XB_DATE_NONE;
    int year = year_first ? a : c, day = year_first ? c : a, month = b;
    bool twofold = false;
    if (!year_first && sign != '.') { /* d/m/y or m/d/y */
        twofold = true;
        if (a <= 12) month = a, day = b;
    }
    if (!is_day(year, month, day)) return XB_DATE_NONE;
    *out = (double)days_since_1970(year, month, day);
    *p = at;
    return twofold ? XB_DATE_TWOFOLD : XB_DATE_CLEAR;
}

xb_date_form xb_date_parse(double *days, const char *text)
{
    const char *p = text;
    double day = 0, time = 0, zone = 0;
    xb_date_form form = take_day(&day, &p);
    const bool timed = form == XB_DATE_NONE || *p == 'T' || *p == ' ';
    if (form != XB_DATE_NONE && timed) p++;
    if (timed && (!take_time(&time, &p) || !take_zone(&zone, &p))) return XB_DATE_NONE;
    if (*p) return XB_DATE_NONE;
    *days = day + time + zone;
    return form == XB_DATE_NONE ? XB_DATE_CLEAR : form;
}
