/* energy_setup.h: from a study's options to its cells, for `energy` and `narrow`. */
#ifndef XB_STUDY_ENERGY_SETUP_H
#define XB_STUDY_ENERGY_SETUP_H

#include "study/energy_cells.h"
#include "study/study.h"

/* The defaults of a study. */
typedef struct xb_net_cells_standard {
    const int64_t *width, *depth;
    int widths, depths, seeds;
    int64_t steps, hidden_draws, output_draws, share_draws;
} xb_net_cells_standard;

/* Laws made here belong to the setup. */
typedef struct xb_net_cells_setup {
    xb_net_cells cells;
    xb_law *made[XB_CELL_LAWS];
    int widths, depths, seeds;
} xb_net_cells_setup;

typedef enum xb_net_cells_form {
    XB_FORM_NORMAL,
    XB_FORM_QUICK,
    XB_FORM_FULL
} xb_net_cells_form;

/* Checks the options, makes the laws (Gaussian, device, bimodal, then the user's), lays
 * the cells out and runs them. form [3] holds the defaults of each form. Free it in any
 * case. */
xb_status xb_net_cells_make(xb_ctx *ctx, xb_net_cells_setup *out, const xb_law *device,
                            const xb_study_options *opt,
                            const xb_net_cells_standard *form);
void xb_net_cells_setup_free(xb_net_cells_setup *setup);

/* "device", "bimodal", then "law3", ...: names of columns and facts. */
const char *xb_net_cells_law_name(int law);

/* Facts law_device, ...: what each law is, and its own KL from the Gaussian. */
xb_status xb_net_cells_law_facts(xb_ctx *ctx, xb_study *study, const xb_cell_plan *plan);

/* Adds the table "kl" with one row for each law and cell. */
xb_status xb_net_cells_kl_table(xb_ctx *ctx, xb_study *study, const xb_net_cells *cells);

#endif
