/* crossbayes/reproduce.h: reproduces the paper's figures in order, each beside what the
 * paper says about it.
 *
 *     xb_reproduce_options opt = xb_reproduce_options_default();
 *     opt.effort = XB_EFFORT_QUICK;
 *     xb_reproduction *r = NULL;
 *     if (xb_reproduce(ctx, &r, "results", &opt) != XB_OK) ...
 *     for (int i = 0; i < xb_reproduction_count(r); i++)
 *         puts(xb_reproduction_claim(r, i).number);
 *     xb_reproduction_destroy(r);
 *
 * The folder `dir` gets fig1 to fig8, each with a study's tables, facts and figures and a
 * record of how they were made; claims.json; and index.html, the page. Results that were
 * made by the same build with the same options and are unchanged to the last byte are not
 * made again; an interrupted run continues where it stopped. In both cases the files have
 * the same bytes as those of an uninterrupted run.
 *
 * The small structs that accessors return are values: they are frozen.
 */
#ifndef CROSSBAYES_REPRODUCE_H
#define CROSSBAYES_REPRODUCE_H

#include "crossbayes/report.h"

#ifdef __cplusplus
extern "C" {
#endif

#define XB_PAPER_FIGURES 8 /* numbered from 1 */

typedef enum xb_effort {
    XB_EFFORT_NORMAL = 0, /* minutes */
    XB_EFFORT_QUICK,      /* half a minute on two cores: fewer draws, sizes and seeds */
    XB_EFFORT_FULL        /* Fig. 4 and 8 with three seeds, four depths, more draws */
} xb_effort;

typedef struct xb_reproduce_options {
    size_t struct_size;
    xb_effort effort;
    unsigned figures;  /* bit n: Fig. n is wanted; 0: all of them */
    const char *faces; /* the folder of UTKFace; NULL: synthetic faces, which say nothing
                          about the claims */
    unsigned formats;  /* formats of the figures; SVG is always made */
    uint64_t seed;
} xb_reproduce_options;

XB_OPTIONS(reproduce);

/* The study that makes Fig. n, 1 <= n <= XB_PAPER_FIGURES. */
XB_API const char *xb_paper_figure_study(int64_t figure);

/* One statement of the paper, in our words. All texts are borrowed. */
typedef struct xb_claim {
    int64_t figure;
    const char *id;          /* "two-points": for scripts */
    const char *claim;       /* what the paper says */
    const char *paper;       /* the number it reports, or where it says so */
    double value, std_error; /* ours; NAN: none */
    const char *number;      /* the same in words */
    xb_finding_kind finding; /* computed from the study, never set beforehand */
    const char *why;
} xb_claim;

typedef struct xb_reproduction xb_reproduction;

/* Plans the files (crossbayes/files.h) that xb_reproduce may write. */
XB_API xb_status xb_reproduce_plan(xb_ctx *ctx, const char *dir, const char *label);

/* Progress is reported for the whole run, in thousandths. opt NULL: the defaults. */
XB_API xb_status xb_reproduce(xb_ctx *ctx, xb_reproduction **out, const char *dir,
                              const xb_reproduce_options *opt);
XB_API void xb_reproduction_destroy(xb_reproduction *r); /* NULL is fine */

/* The claims of all figures that exist, made now or before, in the order of the figures.
 */
XB_API int64_t xb_reproduction_count(const xb_reproduction *r);
XB_API xb_claim xb_reproduction_claim(const xb_reproduction *r, int64_t i);

/* The state of Fig. n. */
typedef enum xb_figure_state {
    XB_FIGURE_ABSENT = 0, /* not requested, and not present with these options */
    XB_FIGURE_KEPT,       /* made by an earlier run and kept */
    XB_FIGURE_MADE
} xb_figure_state;

XB_API xb_figure_state xb_reproduction_figure(const xb_reproduction *r, int64_t figure);

/* The claims as JSON text, which is the contents of claims.json. Free it with xb_free().
 */
XB_API xb_status xb_reproduction_json(xb_ctx *ctx, char **out, const xb_reproduction *r);

#ifdef __cplusplus
}
#endif
#endif
