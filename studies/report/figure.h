/* figure.h: writes one figure to disk.
 *
 *     xb_figure *f = NULL;
 *     XB_TRY(xb_figure_open(ctx, &f, "out/laws", 800, 400));
 *     fprintf(xb_figure_data(f), ...);       // becomes out/laws.dat
 *     fprintf(xb_figure_script(f), ...);     // becomes out/laws.gp
 *     return xb_figure_draw(ctx, f, XB_FIGURE_SVG | XB_FIGURE_PNG);
 *
 * Everything happens in a temporary folder beside the target; the files move to their
 * places only when gnuplot has drawn all of them. */
#ifndef XB_REPORT_FIGURE_H
#define XB_REPORT_FIGURE_H

#include <stdio.h>

#include "crossbayes/extend.h"
#include "crossbayes/report.h"

typedef struct xb_figure xb_figure;

/* `path` has no extension; its folder must exist. The script
 * opens with terminal, output, fonts and line styles; size in pixels. */
xb_status xb_figure_open(xb_ctx *ctx, xb_figure **out, const char *path, int width,
                         int height);
FILE *xb_figure_script(xb_figure *f);
FILE *xb_figure_data(xb_figure *f);
const char *xb_figure_data_name(const xb_figure *f); /* quoted for gnuplot */

/* Draws and puts the files in place. Frees f in any case. */
xb_status xb_figure_draw(xb_ctx *ctx, xb_figure *f, unsigned formats);
void xb_figure_discard(xb_figure *f); /* NULL is fine */

/* gnuplot.c: runs `gnuplot -d -e format='..' script` in `dir`, without a shell. The error
 * message has gnuplot's last line. */
xb_status xb_gnuplot_run(xb_ctx *ctx, const char *dir, const char *script,
                         const char *format);

/* pdf_date.c: sets the creation date of a PDF, if it has one, to 1 January 1970. */
xb_status xb_pdf_undate(xb_ctx *ctx, const char *path);

#endif
