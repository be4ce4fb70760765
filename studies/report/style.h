/* style.h: the style of all figures: each law has the same colour everywhere. */
#ifndef XB_REPORT_STYLE_H
#define XB_REPORT_STYLE_H

#include <stdint.h>
#include <stdio.h>

#include "crossbayes/data.h"

/* The first line of every script, by which figure.c recognises its own files. */
#define XB_SCRIPT_START "# gnuplot NAME.gp draws NAME.svg again, in this folder;"

/* "#0072B2" for "gaussian"; roles: gaussian, device, bimodal, data, and the
 * families and methods that need one of their own. Grey for an unknown role. */
const char *xb_style_colour(const char *role);

/* The part of a script that is the same for all figures. `name` is the figure's
 * file name without extension. */
void xb_style_preamble(FILE *script, const char *name, int width, int height);

/* The unit of an axis whose numbers go up to `largest`: with an SI prefix ("µS"), or with
 * a power of ten ("10⁻⁶") where there is no unit that takes one; "" for neither. */
xb_si_unit xb_style_unit(double largest, const char *unit);

/* Distance of ticks at whole numbers: 1, 2 or 5 times a power of ten, so that an axis
 * from low to high has at most ten steps. */
double xb_style_whole_step(double low, double high);

/* Is the peak of a density drawn over [x[0], x[n-1]] so narrow that a linear axis shows
 * nothing else? x ascends. */
bool xb_style_narrow_peak(const double *x, const double *density, int64_t n);

/* set AXISlabel 'what (prefix unit)', or 'what' alone without a unit. */
void xb_style_label(FILE *script, const char *axis, const char *what, const char *prefix,
                    const char *unit);

/* Text as a gnuplot string in single quotes. */
void xb_style_quote(FILE *script, const char *text);

#endif
