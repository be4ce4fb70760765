/* si_unit.c: quantities with SI prefixes, as people write them: 2.25 µS, not
 * 2.25e-06 S. Figures, tables and pages all take their prefixes from here. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ctx.h"
#include "crossbayes/data.h"
#include "data/number.h"

enum { STEP = 3, POWER_MOST = 24 };

/* The first text of a power is the one that is written; the others are accepted when
 * reading. */
static const struct prefix {
    const char *text;
    int power;
} prefixes[] = {
    {"y", -24}, {"z", -21},     {"a", -18},     {"f", -15}, {"p", -12},
    {"n", -9},  {"\u00B5", -6}, {"\u03BC", -6}, {"u", -6},  {"m", -3},
    {"", 0},    {"k", 3},       {"M", 6},       {"G", 9},   {"T", 12},
    {"P", 15},  {"E", 18},      {"Z", 21},      {"Y", 24},
};

/* Units that take a prefix; another unit may follow after '/', as in A/V. */
static bool is_base(const char *text)
{
    static const char *const bases[] = {"S",      "A", "V",   "W",   "J",  "F", "C",
                                        "H",      "T", "Hz",  "s",   "m",  "K", "\u03A9",
                                        "\u2126", "N", "ohm", "Ohm", "Pa", "eV"};
    size_t size = strcspn(text, "/");
    for (int i = 0; i < XB_COUNT(bases); i++)
        if (strlen(bases[i]) == size && strncmp(bases[i], text, size) == 0) return true;
    return false;
}

/* Splits "nA" into -9 and "A"; false if the unit takes no prefix. */
static bool split(const char *unit, int *power, const char **base)
{
    *power = 0;
    *base = unit;
    if (is_base(unit)) return true; /* "m" and "T" are units before they are prefixes */
    for (int i = 0; i < XB_COUNT(prefixes); i++) {
        size_t size = strlen(prefixes[i].text);
        if (size == 0 || strncmp(unit, prefixes[i].text, size) != 0) continue;
        if (!is_base(unit + size)) continue;
        *power = prefixes[i].power;
        *base = unit + size;
        return true;
    }
    return false;
}

static const char *prefix_of(int power)
{
    for (int i = 0; i < XB_COUNT(prefixes); i++)
        if (prefixes[i].power == power) return prefixes[i].text;
    return "";
}

/* The power of 1000 below a value rounded to three digits: 999.7 is 1.00 of the next one.
 */
static int power_below(double value)
{
    const double rounded = 0.9995;
    int power = STEP * (int)floor(log10(value) / STEP);
    return value >= rounded * pow(10, power + STEP) ? power + STEP : power;
}

bool xb_si_takes_prefix(const char *unit)
{
    int power;
    const char *base;
    return split(unit, &power, &base);
}

xb_si_unit xb_si_unit_for(double largest, const char *unit)
{
    xb_si_unit u = {.factor = 1};
    int given, power;
    const char *base;
    snprintf(u.text, sizeof u.text, "%s", unit);
    if (!(largest > 0) || !isfinite(largest) || !split(unit, &given, &base)) return u;
    power = given + power_below(largest);
    power = power < -POWER_MOST ? -POWER_MOST : power > POWER_MOST ? POWER_MOST : power;
    u.factor = pow(10, power - given);
    snprintf(u.text, sizeof u.text, "%s%s", prefix_of(power), base);
    return u;
}

void xb_quantity_text(char *out, size_t size, double value, double error,
                      const char *unit)
{
    const double too_coarse = 99.5; /* an error of three digits calls for the next larger
                                       prefix */
    double largest = isfinite(error) ? fmax(fabs(value), error) : fabs(value);
    xb_si_unit u = xb_si_unit_for(largest, unit);
    if (isfinite(error) && error >= too_coarse * u.factor)
        u = xb_si_unit_for(1000 * u.factor, unit);
    char number[64];
    xb_number_with_error(number, sizeof number, value / u.factor, error / u.factor);
    snprintf(out, size, "%s%s%s", number, *u.text ? " " : "", u.text);
}

/* The power of ten of a unit that is `unit`, with or without a prefix, or empty. */
static bool power_of(const char *text, const char *unit, int *power)
{
    *power = 0;
    if (*text == '\0' || strcmp(text, unit) == 0) return true;
    for (int i = 0; i < XB_COUNT(prefixes); i++) {
        size_t size = strlen(prefixes[i].text);
        if (size == 0 || strncmp(text, prefixes[i].text, size) != 0) continue;
        *power = prefixes[i].power;
        if (strcmp(text + size, unit) == 0) return true;
    }
    return false;
}

/* The end of the number at the start of a text: "1e-3s" has an exponent, "1Es" does
 * not. */
static const char *number_end(const char *text)
{
    const char *end = text + strspn(text, "+-.0123456789");
    if (*end != 'e' && *end != 'E') return end;
    const char *digits = end + 1 + (end[1] == '-' || end[1] == '+');
    return *digits >= '0' && *digits <= '9' ? digits + strspn(digits, "0123456789") : end;
}

xb_status xb_quantity_parse(xb_ctx *ctx, double *out, const char *text, const char *unit)
{
    const char *end = number_end(text);
    double value = NAN;
    int power = 0;
    bool number = xb_number_parse(&value, text, end, '.') && isfinite(value);
    while (*end == ' ') end++;
    if (!number || !power_of(end, unit, &power))
        return xb_fail(ctx, XB_E_INPUT,
                       "'%s': expected a number with the unit %s, such as %s%s", text,
                       unit, strcmp(unit, "Hz") == 0 ? "400" : "2.5m", unit);
    *out = power < 0 ? value / pow(10, -power) : value * pow(10, power);
    return XB_OK;
}
