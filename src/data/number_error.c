/* number_error.c: writes a number and its error as people write them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crossbayes/data.h"

/* The decimal exponent of the leading digit of a number rounded to `digits` digits. */
static int exponent_of(double value, int digits)
{
    char text[48];
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    return (int)strtol(strchr(text, 'e') + 1, NULL, 10);
}

static void without_error(char *out, size_t size, double value)
{
    const double whole = 1e15, without_point = 1e6;
    bool is_whole = fabs(value) < whole && value == rint(value);
    if (isnan(value))
        snprintf(out, size, "none");
    else if (is_whole || (fabs(value) >= 100 && fabs(value) < without_point))
        snprintf(out, size, "%.0f", value + 0.0); /* adding 0.0 avoids "-0" */
    else
        snprintf(out, size, "%.3g", value);
}

void xb_number_with_error(char *out, size_t size, double value, double error)
{
    const double rounding = 1e-9; /* relative to the value: below it, there is no noise at
                                     all */
    if (!isfinite(value) || !isfinite(error) || !(error > rounding * fabs(value))) {
        without_error(out, size, value);
        return;
    }
    int place = exponent_of(error, 2) - 1; /* position of the error's second digit */
    int lead = exponent_of(fmax(fabs(value), error), 3);
    if (fabs(value) < 0.5 * pow(10, place)) value = 0; /* avoids "-0.00 ± 0.10" */
    if (lead >= -3 && lead <= 5 && place <= 0) {
        snprintf(out, size, "%.*f ± %.*f", -place, value, -place, error);
        return;
    }
    double unit = pow(10, lead);
    int decimals = lead > place ? lead - place : 0;
    snprintf(out, size, "(%.*f ± %.*f)e%+03d", decimals, value / unit, decimals,
             error / unit, lead);
}
