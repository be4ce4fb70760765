/* crossbayes/report.h: figures, and pages that show them. It computes no numbers, and
 * draws only what it is given.
 *
 * Figures are drawn by gnuplot. Beside each figure NAME.svg stay NAME.gp, its
 * script, and NAME.dat, its data, so that anyone can restyle it:
 *     gnuplot NAME.gp
 *
 * The small structs that describe the contents of a page are values: they are frozen.
 */
#ifndef CROSSBAYES_REPORT_H
#define CROSSBAYES_REPORT_H

#include "crossbayes/design.h"
#include "crossbayes/device.h"
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

/* Draws the figures of a study into `dir`, which is created if necessary; files are named
 * after the study. `formats` is a bitwise or of xb_figure_format. Fails with XB_E_IO and
 * a clear message if gnuplot is missing; nothing half-written is left. */
XB_API xb_status xb_report_study(xb_ctx *ctx, const xb_study *study, const char *dir,
                                 unsigned formats);

/* Histogram, fitted density and Q-Q plot of a fit. `path` has no extension; its folder
 * must exist. */
XB_API xb_status xb_report_fit(xb_ctx *ctx, const xb_fit *fit, const double *x, int64_t n,
                               const char *path, unsigned formats);

/* The same with the time series: the trace against time with its parts, the spectrum with
 * its fit, and the autocorrelation. x has all n samples of the trace; `fit` is the fit of
 * the stationary part of `series`. */
XB_API xb_status xb_report_trace(xb_ctx *ctx, const xb_fit *fit, const xb_series *series,
                                 const double *x, int64_t n, const char *path,
                                 unsigned formats);

/* A device: spread and shift over time and by state, programming error, shape and width
 * of the read noise, as far as they were measured. */
XB_API xb_status xb_report_device(xb_ctx *ctx, const xb_device *device, const char *path,
                                  unsigned formats);

/* Plans (crossbayes/files.h) the files that a figure will write: NAME.gp, NAME.dat and
 * its formats; `path` has no extension. The other functions plan files in a folder that
 * need not exist yet. */
XB_API xb_status xb_report_plan(xb_ctx *ctx, const char *path, unsigned formats,
                                const char *label);
XB_API xb_status xb_report_plan_in(xb_ctx *ctx, const char *dir, const char *name,
                                   unsigned formats, const char *label);
XB_API xb_status xb_report_plan_study(xb_ctx *ctx, const char *study, const char *dir,
                                      unsigned formats, const char *label);

/* Scores against a number that was swept: column 0 is the number, and each score then has
 * three columns: NAME, NAME_error and NAME_digital (the level without arrays) or
 * NAME_tolerance, and perhaps NAME_q05 and NAME_q95 (a band, over chips). There is one
 * panel for each score, at most ten; other columns are left out. `path` has no
 * extension. */
XB_API xb_status xb_report_sweep(xb_ctx *ctx, const xb_table *table, const char *path,
                                 unsigned formats);

/* Energy of a draw by layer and part on an array (the first twelve layers), and of the
 * whole net beside the other designs of the model, with parts stacked and one bar for
 * each end of the published numbers. `path` has no extension. */
XB_API xb_status xb_report_costs(xb_ctx *ctx, const xb_cost_model *cost, const char *path,
                                 unsigned formats);

/* A search for a design: loss of quality over energy and over time, the fronts with their
 * errors, the limit and the choice. `path` has no extension. */
XB_API xb_status xb_report_design(xb_ctx *ctx, const xb_design *design, const char *path,
                                  unsigned formats);

/* A page is one HTML file with its figures inside. It has no scripts and loads nothing
 * from elsewhere (its own policy forbids both); it suits light and dark screens, phones
 * and paper. All text is plain text and escaped; the same calls give the same bytes.
 *
 *     xb_page *page = NULL;
 *     if (xb_page_create(ctx, &page, "Device 7", "What its noise does.") != XB_OK) ...
 *     xb_page_section(page, "fit", "The noise");
 *     xb_page_figure(page, &(xb_page_figure_info){.svg = "out/fit.svg", ...});
 *     xb_page_provenance(page, "seed", "1");
 *     status = xb_page_write(ctx, page, "out/page.html");
 *     xb_page_destroy(page);
 *
 * Adding is like writing to a stream: the first error is kept, later calls do nothing,
 * and xb_page_write fails with that error and leaves no file. */
typedef struct xb_page xb_page;

typedef struct xb_page_figure_info {
    const char *svg; /* a file that xb_report_* drew; it is copied into the page */
    const char *alt; /* description of the figure for readers who cannot see it */
    const char
        *caption; /* one sentence: what the figure shows, and the number behind it */
    const char *command; /* command that makes the figure; NULL: none is shown */
    xb_finding finding;
} xb_page_figure_info;

typedef struct xb_page_rows_info {
    const char *caption; /* NULL: none */
    int64_t columns;
    const char *const *heading; /* [columns] */
    int64_t rows;
    const char *const *cell;        /* [rows][columns]; NULL: empty */
    const xb_finding_kind *finding; /* [rows]: a badge at the row's end; NULL: none */
    bool folded; /* folded behind its caption until the reader opens it */
} xb_page_rows_info;

/* A page starts with its headline and the list of findings, followed by the intro; NULL:
 * no intro. */
XB_API xb_status xb_page_create(xb_ctx *ctx, xb_page **out, const char *title,
                                const char *intro);
XB_API void xb_page_destroy(xb_page *page); /* NULL is fine */

/* The page's verdict: the finding's word and its first clause with a number, remarks in
 * brackets left out. Without this call it is the first finding of the page. */
XB_API void xb_page_headline(xb_page *page, const xb_finding *finding);

/* At the top the page lists its sections, each with its verdicts, under this heading
 * ("Contents" by default). */
XB_API void xb_page_summary(xb_page *page, const char *heading);

/* Everything added after this call belongs to this section. `id` is its address in the
 * page: letters, digits and '-'; ids must differ. */
XB_API void xb_page_section(xb_page *page, const char *id, const char *heading);
XB_API void xb_page_text(xb_page *page, const char *paragraph);
XB_API void xb_page_command(xb_page *page, const char *command);
XB_API void xb_page_finding(xb_page *page, const xb_finding *finding);
/* An SVG with scripts or with addresses outside itself is refused. */
XB_API void xb_page_figure(xb_page *page, const xb_page_figure_info *figure);
XB_API void xb_page_rows(xb_page *page, const xb_page_rows_info *rows);
/* Numbers have four digits; if a column NAME is followed by NAME_error, both are in one
 * cell, rounded to the error. */
XB_API void xb_page_table(xb_page *page, const xb_table *table, const char *caption,
                          bool folded);

/* A line of the footer: seed, law, checksum of the data. Version and command (the
 * context's origin) are added automatically. */
XB_API void xb_page_provenance(xb_page *page, const char *name, const char *value);

/* The first error, if any, so that a caller can stop before long work for a page that
 * cannot be written. */
XB_API xb_status xb_page_check(xb_ctx *ctx, const xb_page *page);

/* Writes the file atomically; its folder must exist. The page stays valid and can be
 * written again. */
XB_API xb_status xb_page_write(xb_ctx *ctx, xb_page *page, const char *path);

#ifdef __cplusplus
}
#endif
#endif
