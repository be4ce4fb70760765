/* sketch.h: a study's figure while it is written: the parts that all figures share. */
#ifndef XB_REPORT_SKETCH_H
#define XB_REPORT_SKETCH_H

#include <stdio.h>

#include "crossbayes/study.h"

typedef struct xb_sketch {
    const xb_study *study;
    FILE *script;
    const char *data; /* quoted name of the data file */
} xb_sketch;

/* Column of a table, counted from 1 as gnuplot does; 0: there is none. */
int xb_sketch_column(const xb_sketch *k, const char *table, const char *column);
void xb_sketch_next(const xb_sketch *k); /* starts another line of the same plot */
void xb_sketch_end(const xb_sketch *k);  /* ends a plot */

/* A fact's value; NAN: there is none. */
double xb_sketch_fact(const xb_sketch *k, const char *name);

/* array_figure.c */
void xb_draw_array(const xb_sketch *k);
/* energy_figures.c */
int xb_energy_panel_rows(const xb_study *study); /* with one panel for each law, two to a
                                                    row */
void xb_draw_energy(const xb_sketch *k);
void xb_draw_energy_densities(const xb_sketch *k);
void xb_draw_energy_n_eff(const xb_sketch *k);
void xb_draw_narrow(const xb_sketch *k);

/* scalar_figures.c */
void xb_draw_scalar(const xb_sketch *k);
void xb_draw_scalar_gaps(const xb_sketch *k);

/* retention_figure.c */
void xb_draw_retention(const xb_sketch *k);

/* utkface_figure.c */
void xb_draw_utkface(const xb_sketch *k);

#endif
