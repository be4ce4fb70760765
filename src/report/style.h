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

/* Text as a gnuplot string in single quotes. */
void xb_style_quote(FILE *script, const char *text);

#endif
