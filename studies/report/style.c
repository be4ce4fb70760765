/* style.c: see style.h. The palette is Okabe & Ito's (2008), told apart with
 * every common form of colour blindness. */
#include "report/style.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"

static const struct {
    const char *role, *colour;
} palette[] = {
    {"gaussian", "#0072B2"},  /* blue */
    {"device", "#D55E00"},    /* vermillion */
    {"mtj", "#D55E00"},       /* the same thing */
    {"bimodal", "#009E73"},   /* bluish green */
    {"ecram", "#E69F00"},     /* orange */
    {"empirical", "#CC79A7"}, /* reddish purple */
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
        if (*p == '\'') fputc('\'', script); /* doubled */
        fputc((unsigned char)*p < ' ' ? ' ' : *p, script);
    }
    fputc('\'', script);
}

void xb_style_preamble(FILE *script, const char *name, int width, int height)
{
    const double points_per_pixel = 0.75;
    fprintf(script, "# gnuplot NAME.gp draws NAME.svg again, in this folder;\n"
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

xb_axis_unit xb_style_unit(double largest, const char *unit)
{
    static const char *const digit[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    xb_axis_unit u = {.factor = 1};
    char power_text[32] = "";
    if (largest > 0 && (largest < 0.01 || largest >= 1e4)) {
        int power = 3 * (int)floor(log10(largest) / 3), size = abs(power);
        u.factor = pow(10, power);
        snprintf(power_text, sizeof power_text, "10%s%s%s%s%s", power < 0 ? "⁻" : "",
                 size >= 100 ? digit[size / 100] : "",
                 size >= 10 ? digit[size / 10 % 10] : "", digit[size % 10],
                 *unit ? " " : "");
    }
    snprintf(u.text, sizeof u.text, "%s%s", power_text, unit);
    return u;
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
