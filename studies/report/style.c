/* style.c: see style.h. The palette is Okabe & Ito's (2008), whose colours can be
 * distinguished with every common form of colour blindness. */
#include "report/style.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "crossbayes/extend.h"

static const struct {
    const char *role, *colour;
} palette[] = {
    {"gaussian", "#0072B2"},     /* blue */
    {"device", "#D55E00"},       /* vermillion */
    {"mtj", "#D55E00"},          /* the same thing */
    {"bimodal", "#009E73"},      /* bluish green */
    {"ecram", "#E69F00"},        /* orange */
    {"empirical", "#CC79A7"},    /* reddish purple */
    {"laplace", "#56B4E9"},      /* sky blue */
    {"student", "#8C564B"},      /* brown */
    {"sinh-arcsinh", "#6A3D9A"}, /* violet */
    {"levels", "#1B5E20"},       /* dark green */
    {"data", "#C4C4C4"},
    {"exact", "#000000"},
    {"direct", "#0072B2"},
    {"corrected", "#E69F00"},
    {"spectral", "#009E73"},
    /* rules */
    {"legendre", "#0072B2"},
    {"hermite", "#0072B2"},
    {"paper_split", "#D55E00"},
    {"paper_laguerre", "#D55E00"},
    {"gauss", "#000000"},
    {"gauss_wheeler", "#CC79A7"},
    {"modes", "#E69F00"},
    {"trapezoid", "#56B4E9"},
    {"smooth", "#009E73"},
};

const char *xb_style_colour(const char *role)
{
    for (int i = 0; i < XB_COUNT(palette); i++)
        if (strcmp(palette[i].role, role) == 0) return palette[i].colour;
    return "#777777";
}

void xb_style_quote(FILE *script, const char *text)
{
    fputc('\'', script);
    for (const char *p = text; *p; p++) {
        if (*p == '\'') fputc('\'', script); /* quotes are doubled */
        fputc((unsigned char)*p < ' ' ? ' ' : *p, script);
    }
    fputc('\'', script);
}

void xb_style_preamble(FILE *script, const char *name, int width, int height)
{
    const double points_per_pixel = 0.75;
    fprintf(script, XB_SCRIPT_START
            "\n"
            "# gnuplot -e \"format='pdf'\" NAME.gp another format (png, pdf).\n"
            "if (!exists('format')) format = 'svg'\n"
            "set encoding utf8\n");
    fprintf(script,
            "if (format eq 'svg') set terminal svg size %d,%d enhanced"
            " font 'DejaVu Sans,13' background '#ffffff' linewidth 1.2\n",
            width, height);
    fprintf(script,
            "if (format eq 'png') set terminal pngcairo size %d,%d enhanced"
            " font 'DejaVu Sans,20' background '#ffffff' linewidth 2.4\n",
            2 * width, 2 * height);
    fprintf(script,
            "if (format eq 'pdf') set terminal pdfcairo size %.3fin,%.3fin enhanced"
            " font 'DejaVu Sans,9.5' background '#ffffff' linewidth 1.2\n",
            width * points_per_pixel / 72, height * points_per_pixel / 72);
    fprintf(script, "set output './'."); /* a name may start with '|', a pipe */
    xb_style_quote(script, name);
    fprintf(script,
            ".'.'.format\n"
            "set datafile missing 'NaN'\n"
            "set border 3 linecolor '#444444'\n"
            "set tics nomirror textcolor '#222222'\n"
            "set grid linecolor '#e4e4e4' linetype 1 linewidth 0.6\n"
            "set key samplen 2 spacing 1.15 Left reverse textcolor '#222222'\n\n");
}

/* "10⁻⁶" */
static void write_power(char *out, size_t size, int power)
{
    static const char *const digit[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    int most = abs(power);
    snprintf(out, size, "10%s%s%s%s", power < 0 ? "⁻" : "",
             most >= 100 ? digit[most / 100] : "",
             most >= 10 ? digit[most / 10 % 10] : "", digit[most % 10]);
}

xb_si_unit xb_style_unit(double largest, const char *unit)
{
    if (xb_si_takes_prefix(unit)) return xb_si_unit_for(largest, unit);
    xb_si_unit u = {.factor = 1};
    char power_text[32] = "";
    if (largest > 0 && (largest < 0.01 || largest >= 1e4)) {
        int power = 3 * (int)floor(log10(largest) / 3);
        u.factor = pow(10, power);
        write_power(power_text, sizeof power_text, power);
    }
    snprintf(u.text, sizeof u.text, "%s%s%.31s", power_text,
             *power_text && *unit ? " " : "", unit);
    return u;
}

double xb_style_whole_step(double low, double high)
{
    enum { STEPS_MOST = 10 };
    static const double factor[] = {1, 2, 5};
    for (double power = 1;; power *= 10)
        for (int i = 0; i < XB_COUNT(factor); i++)
            if (!((high - low) / (factor[i] * power) > STEPS_MOST))
                return factor[i] * power;
}

bool xb_style_narrow_peak(const double *x, const double *density, int64_t n)
{
    const double share = 0.02; /* share of the axis above half of the peak */
    double most = 0, above = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, density[i]);
    for (int64_t i = 1; i < n; i++)
        if (fmax(density[i - 1], density[i]) > most / 2) above += x[i] - x[i - 1];
    return n > 1 && above < share * (x[n - 1] - x[0]);
}

void xb_style_label(FILE *script, const char *axis, const char *what, const char *prefix,
                    const char *unit)
{
    char text[128];
    snprintf(text, sizeof text, "%s%s%s%s%s", what, *unit ? " (" : "",
             *unit ? prefix : "", unit, *unit ? ")" : "");
    fprintf(script, "set %slabel ", axis);
    xb_style_quote(script, text);
    fprintf(script, " noenhanced\n");
}
