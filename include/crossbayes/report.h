/* crossbayes/report.h: figures. Computes no numbers, draws what it is given.
 *
 * Figures are drawn by gnuplot. Beside each figure NAME.svg stay NAME.gp, its
 * script, and NAME.dat, its data, so that anyone can restyle it:
 *     gnuplot NAME.gp
 */
#ifndef CROSSBAYES_REPORT_H
#define CROSSBAYES_REPORT_H

#include "crossbayes/fit.h"
#include "crossbayes/study.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum xb_figure_format {
    XB_FIGURE_SVG = 1,
    XB_FIGURE_PNG = 2,
    XB_FIGURE_PDF = 4
} xb_figure_format;

/* Draws the figures of a study into `dir`, file names after the study.
 * `formats` is an or of xb_figure_format. Fails with XB_E_IO and a clear
 * message where there is no gnuplot; nothing half-written is left. */
XB_API xb_status xb_report_study(xb_ctx *ctx, const xb_study *study, const char *dir,
                                 unsigned formats);

/* Histogram, fitted density and Q-Q plot of a fit. `path` without extension. */
XB_API xb_status xb_report_fit(xb_ctx *ctx, const xb_fit *fit, const double *x, int64_t n,
                               const char *path, unsigned formats);

/* Scores over a number that was swept: column 0 the number, then for each score three
 * columns: NAME, NAME_error and NAME_digital (the level without arrays). A panel for each
 * score, at most six. `path` without extension. */
XB_API xb_status xb_report_sweep(xb_ctx *ctx, const xb_table *table, const char *path,
                                 unsigned formats);

#ifdef __cplusplus
}
#endif
#endif
