/* energy_cells.h: runs all cells of an energy study in parallel and keeps each when it is
 * done. */
#ifndef XB_STUDY_ENERGY_CELLS_H
#define XB_STUDY_ENERGY_CELLS_H

#include "study/energy_cell.h"

typedef struct xb_net_cells {
    xb_cell_plan plan;
    int64_t count;
    xb_cell *cell;  /* [count]: seeds outermost, then depths, then widths */
    double *values; /* [count][xb_cell_length] */
} xb_net_cells;

/* Every combination of widths, depths and seeds first, first + 1, ... */
xb_status xb_net_cells_lay_out(xb_ctx *ctx, xb_net_cells *out, const xb_cell_plan *plan,
                               const int64_t *width, int widths, const int64_t *depth,
                               int depths, uint64_t first, int seeds);
void xb_net_cells_free(xb_net_cells *cells);

/* Trains and measures, one cell per thread; the same bytes for any number of threads and
 * of processes: a cell is an item of the work (crossbayes/work.h). With `dir`, a cell's
 * model and numbers are written there when it is done, and cells found there that were
 * made with exactly the same settings are reused, so that a study that was stopped
 * continues where it stopped. Others are made again. NULL: no files. */
xb_status xb_net_cells_run(xb_ctx *ctx, xb_net_cells *cells, const char *dir);

static inline const double *xb_net_cells_values(const xb_net_cells *cells, int64_t i)
{
    return cells->values + i * xb_cell_length(&cells->plan);
}

/* energy_state.c: files of one cell; `what` is "" for the model's name and "_numbers" for
 * that of its numbers. If there is no usable file, loading leaves *out unchanged and
 * *taken false. */
enum { XB_CELL_PATH = 4096 };
xb_status xb_cell_path(xb_ctx *ctx, char out[XB_CELL_PATH], const xb_cell *cell,
                       const char *dir, const char *what);
xb_status xb_cell_save_model(xb_ctx *ctx, const xb_cell *cell, const xb_model *model,
                             const char *dir);
xb_status xb_cell_load_model(xb_ctx *ctx, xb_model **out, const xb_cell_plan *plan,
                             const xb_cell *cell, const char *dir);
xb_status xb_cell_save_values(xb_ctx *ctx, const double *values, const xb_cell_plan *plan,
                              const xb_cell *cell, const char *dir);
xb_status xb_cell_load_values(xb_ctx *ctx, bool *taken, double *values,
                              const xb_cell_plan *plan, const xb_cell *cell,
                              const char *dir);

/* energy_packed.c: a cell as bytes; with `dir`, its files there too, which unpacking
 * leaves in its own `dir`. Free *out with xb_free(). */
xb_status xb_cell_pack(xb_ctx *ctx, unsigned char **out, int64_t *size,
                       const double *values, const xb_cell_plan *plan,
                       const xb_cell *cell, const char *dir);
xb_status xb_cell_unpack(xb_ctx *ctx, double *values, const unsigned char *from,
                         int64_t size, const xb_cell_plan *plan, const xb_cell *cell,
                         const char *dir);

#endif
