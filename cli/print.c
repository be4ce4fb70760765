/* print.c: see print.h. */
#include "print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void cli_format_value(char *out, size_t size, double value, int digits)
{
    if (isnan(value))
        snprintf(out, size, "none");
    else
        snprintf(out, size, "%.*g", digits, value == 0 ? 0 : value); /* no "-0" */
}

/* Decimal exponent of the leading digit. */
static int exponent_of(double value) { return (int)floor(log10(fabs(value))); }

void cli_format_error(char *out, size_t size, double value, double error)
{
    const double rounding = 1e-12; /* of the value: below it an error is none */
    if (!(error > rounding * fabs(value)) || !isfinite(error) || !isfinite(value)) {
        cli_format_value(out, size, value, 6);
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

void cli_format_p(char *out, size_t size, double p)
{
    if (isnan(p))
        snprintf(out, size, "-");
    else if (p < 1e-3)
        snprintf(out, size, "< 0.001");
    else
        snprintf(out, size, "%.2g", p);
}

void cli_print_fact(const char *name, double value, int digits, const char *unit)
{
    char text[32];
    cli_format_value(text, sizeof text, value, digits);
    printf("  %-20s%s%s%s\n", name, text, *unit ? " " : "", unit);
}

void cli_print_words(const char *text, int indent, bool there)
{
    const int width = 78;
    int column = there ? indent : 0;
    bool first = true; /* on its line */
    for (const char *p = text; *p;) {
        int length = (int)strcspn(p, " ");
        if (!first && column + 1 + length > width) {
            putchar('\n');
            column = 0;
            first = true;
        }
        if (column == 0) column += printf("%*s", indent, "");
        column += printf("%s%.*s", first ? "" : " ", length, p);
        first = false;
        p += length;
        p += strspn(p, " ");
    }
    putchar('\n');
}

json_t *cli_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

cli_exit cli_json_print(cli_session *s, json_t *root)
{
    char *text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(root);
    if (!text) return cli_fail(s, CLI_FAILED, "not enough memory for the JSON text");
    puts(text);
    free(text);
    return CLI_DONE;
}
