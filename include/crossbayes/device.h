/* crossbayes/device.h: a device as measured: how far a programmed conductance moves with
 * time, and how much its readings scatter, depending on the programmed state.
 *
 *     xb_device *device = NULL;
 *     xb_campaign c = {.n = rows, .cell = cell, .state = level, .time = seconds,
 *                      .value = g, .programmed = g0};
 *     if (xb_device_measure(ctx, &device, &c, NULL) == XB_OK)
 *         printf("%g S\n", xb_device_moved(device, 50e-6, 1e4).spread);
 *     xb_device_destroy(device);
 *
 * States are the levels that cells were programmed to. Times are seconds after
 * programming. At each state and time, the difference between a cell's conductance and
 * its programmed value has a mean (`shift`), a standard deviation (`spread`) and a shape,
 * which is kept as quantiles. Between states everything is linear in the conductance,
 * between times in the logarithm of time (maths K1-K4).
 *
 * A trace of a cell that stays in one state gives the width of its read noise,
 * sigma(g). A device has relaxation, read noise, or both. A device never changes: threads
 * may share it. */
#ifndef CROSSBAYES_DEVICE_H
#define CROSSBAYES_DEVICE_H

#include "crossbayes/law.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of a campaign, borrowed for the call, in any order: one reading each. A value:
 * frozen. */
typedef struct xb_campaign {
    int64_t n;
    const double *cell;       /* number that identifies the cell; any number */
    const double *state;      /* number of the level it was programmed to */
    const double *time;       /* seconds after programming, 0 or more */
    const double *value;      /* conductance, 0 or more */
    const double *programmed; /* conductance right after programming; NULL: the cell's
                                 reading at time 0 */
} xb_campaign;

typedef struct xb_device_options {
    size_t struct_size;
    int64_t min_cells;  /* 20: states with fewer cells are left out */
    const char *unit;   /* "S": unit of the conductances that are given */
    const char *source; /* NULL, or the file's name for messages, which is kept */
} xb_device_options;

XB_OPTIONS(device);

typedef struct xb_device xb_device;

/* Fails with XB_E_INPUT, naming the row, for a time or a conductance that is negative or
 * not finite, for two readings of a cell at the same time, and for a cell that was
 * programmed twice; also if no state has enough cells, or if all times are 0. Readings of
 * different cells are taken together if their times are the same number, so give nominal
 * times; there are at most XB_DEVICE_TIMES of them. A cell may lack some. */
#define XB_DEVICE_TIMES 64
#define XB_DEVICE_STATES 256
XB_API xb_status xb_device_measure(xb_ctx *ctx, xb_device **out,
                                   const xb_campaign *campaign,
                                   const xb_device_options *opt);
XB_API void xb_device_destroy(xb_device *device); /* NULL is fine */

/* A device file is JSON. Loading trusts nothing. Saving is atomic. */
XB_API xb_status xb_device_save(xb_ctx *ctx, const xb_device *device, const char *path);
XB_API xb_status xb_device_load(xb_ctx *ctx, xb_device **out, const char *path);
/* The same as text; xb_free() it. */
XB_API xb_status xb_device_json(xb_ctx *ctx, char **out, const xb_device *device);

XB_API const char *xb_device_unit(const xb_device *device);
/* The number of microsiemens in one unit of the device, e.g. 1e6 for "S". XB_E_INPUT if
 * the unit is not a conductance. */
XB_API xb_status xb_device_microsiemens(xb_ctx *ctx, double *out,
                                        const xb_device *device);
XB_API int64_t xb_device_cells(const xb_device *device); /* number of cells in the states
                                                            that were kept */
/* The number of cells in states with too few of them, and the number of such states. */
XB_API int64_t xb_device_cells_left_out(const xb_device *device);
XB_API int64_t xb_device_states_left_out(const xb_device *device);

/* States whose relaxation was measured, ascending in conductance; there may be none.
 * Frozen. */
typedef struct xb_device_state {
    double label;       /* the number of the state in the campaign */
    double conductance; /* mean of the programmed conductances */
    double error;       /* their standard deviation: the programming error */
    int64_t cells;
} xb_device_state;

XB_API int64_t xb_device_state_count(const xb_device *device);
XB_API xb_device_state xb_device_state_at(const xb_device *device, int64_t i);

/* Seconds, ascending, above 0. */
XB_API int64_t xb_device_time_count(const xb_device *device);
XB_API double xb_device_time_at(const xb_device *device, int64_t i);

/* How far cells have moved from their programmed values. A frozen value. */
typedef struct xb_device_move {
    double shift, shift_error;   /* mean, and its standard error */
    double spread, spread_error; /* standard deviation, and its standard error */
    double skewness;
    int64_t cells;     /* 0: interpolated between measured states or times */
    bool extrapolated; /* later than the last time, or outside the states */
} xb_device_move;

/* As measured at a state and a time, given by their indices. */
XB_API xb_device_move xb_device_move_at(const xb_device *device, int64_t state,
                                        int64_t time);
/* At any conductance and time: (K2, K3). Nothing has moved at time 0. */
XB_API xb_device_move xb_device_moved(const xb_device *device, double conductance,
                                      double seconds);
/* (K7) The programming error at any conductance, as a standard deviation: linear between
 * states, beyond them that of the nearest one; 0 if no states were measured. */
XB_API double xb_device_program_error(const xb_device *device, double conductance);
/* (K4) The conductance, never below 0, of a cell programmed to `conductance` after
 * `seconds`, if the cell has rank u in (0, 1) among all such cells. */
XB_API double xb_device_relaxed(const xb_device *device, double conductance,
                                double seconds, double u);

/* The read noise of a cell in one state, from a trace of it. Ascending in conductance;
 * there may be none. Frozen. */
typedef struct xb_device_trace {
    double label;              /* the number of the state, or of the trace */
    double conductance;        /* mean of the trace */
    double width, width_error; /* standard deviation of a reading, and its error */
    double independent; /* number of independent samples that the trace is worth; 0:
                           unknown */
} xb_device_trace;

XB_API int64_t xb_device_trace_count(const xb_device *device);
XB_API xb_device_trace xb_device_trace_at(const xb_device *device, int64_t i);

/* The trace's law as text and whether it fits ("yes", "no", "cannot tell"); "" if
 * unknown. Borrowed. */
XB_API const char *xb_device_trace_law(const xb_device *device, int64_t i);
XB_API const char *xb_device_trace_fits(const xb_device *device, int64_t i);

/* Traces of cells, each in one state, borrowed for the call. A value: frozen. */
typedef struct xb_recording {
    double label; /* number of the state */
    const double *x;
    int64_t n;
    double sample_interval; /* seconds between samples; 0: unknown */
    const char *source;     /* NULL or the file's name, for messages */
} xb_recording;

/* Makes a device from `count` traces. The longest stationary part of each gives the mean,
 * the width with its error, the correlation and the law; together they show whether the
 * states have the same shape (K6). `campaign`: NULL, or a device whose relaxation is
 * copied. XB_E_INPUT for a trace that is not noise (crossbayes/series.h), for a mean
 * below 0, and for two traces of the same conductance. */
XB_API xb_status xb_device_record(xb_ctx *ctx, xb_device **out,
                                  const xb_recording *recording, int64_t count,
                                  const xb_device *campaign,
                                  const xb_device_options *opt);
/* Whether the states have the same shape: "agree", "differ", "cannot be tested"; "" with
 * fewer than two traces. Borrowed. And the p-value of the test; NAN: not tested. */
XB_API const char *xb_device_shapes(const xb_device *device);
XB_API double xb_device_shapes_p(const xb_device *device);
/* The law of the read noise for all states, which is that of the trace with the most
 * independent samples. XB_E_INPUT if there is none, e.g. because shapes differ. Free it
 * with xb_law_destroy(). A device file also serves as a law file: xb_law_load and
 * everything that takes a LAW read it. */
XB_API xb_status xb_device_law(xb_ctx *ctx, xb_law **out, const xb_device *device);

/* (K5) The width of the read noise at any conductance, sigma(g): linear between traces,
 * outside them that of the nearest one. `slope` is d sigma / d g; at a trace's
 * conductance it is the slope to the right; outside the traces it is 0. All values are
 * NAN if the device has no traces. A frozen value. */
typedef struct xb_device_width {
    double sigma, sigma_error, slope;
    bool extrapolated; /* outside the traces */
} xb_device_width;

XB_API xb_device_width xb_device_width_of(const xb_device *device, double conductance);

#ifdef __cplusplus
}
#endif
#endif
