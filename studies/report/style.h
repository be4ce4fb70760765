/* style.h: how every figure looks. One colour per law, the same everywhere. */
#ifndef XB_REPORT_STYLE_H
#define XB_REPORT_STYLE_H

#include <stdio.h>

/* "#0072B2" for "gaussian"; roles: gaussian, device, bimodal, data, and the
 * families and methods that need one of their own. Grey for an unknown role. */
const char *xb_style_colour(const char *role);

/* The part of a script that is the same for all figures. `name` is the figure's
 * file name without extension. */
void xb_style_preamble(FILE *script, const char *name, int width, int height);

/* Numbers of 1e-6 S are drawn in units of 10^-6 S: axes one can read. */
typedef struct xb_axis_unit {
    double factor; /* a power of 1000; 1 for values of ordinary size */
    char text[64]; /* "10^-6 S" with a real superscript; "" for none */
} xb_axis_unit;

xb_axis_unit xb_style_unit(double largest, const char *unit);

/* set AXISlabel 'what (prefix unit)', or 'what' alone without a unit. */
void xb_style_label(FILE *script, const char *axis, const char *what, const char *prefix,
                    const char *unit);

/* Text as a gnuplot string in single quotes. */
void xb_style_quote(FILE *script, const char *text);

#endif
