/* number_error.c: a number and its error as people write them. */
#include <math.h>
#include <stdio.h>

#include "crossbayes/data.h"

/* Decimal exponent of the leading digit. */
static int exponent_of(double value) { return (int)floor(log10(fabs(value))); }

void xb_number_with_error(char *out, size_t size, double value, double error)
{
    if (isnan(value)) {
        snprintf(out, size, "none");
        return;
    }
    const double rounding = 1e-12; /* of the value: below it an error is none */
    if (!(error > rounding * fabs(value)) || !isfinite(error) || !isfinite(value)) {
        snprintf(out, size, "%.6g", value == 0 ? 0 : value); /* no "-0" */
        return;
    }
    int place = exponent_of(error) - 1; /* of the error's second digit */
    int lead = exponent_of(fmax(fabs(value), error));
    if (lead >= -3 && lead <= 5 && place <= 0) {
        snprintf(out, size, "%.*f ± %.*f", -place, value, -place, error);
        return;
    }
    double unit = pow(10, lead);
    int decimals = lead > place ? lead - place : 0;
    snprintf(out, size, "(%.*f ± %.*f)e%+03d", decimals, value / unit, decimals,
             error / unit, lead);
}
