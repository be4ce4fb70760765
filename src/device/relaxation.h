/* relaxation.h: the contents of a device, and the functions that its file and the
 * campaign share. */
#ifndef XB_DEVICE_RELAXATION_H
#define XB_DEVICE_RELAXATION_H

#include "crossbayes/device.h"
#include "crossbayes/extend.h"
#include "crossbayes/json.h"

/* Ranks at which quantiles are kept; they are denser towards the ends, where a few cells
 * move far. */
enum { XB_DEVICE_RANKS = 27, XB_DEVICE_TEXT = 256 };
extern const double xb_device_rank[XB_DEVICE_RANKS];

/* The movement of one state at one time. */
typedef struct xb_device_node {
    xb_device_move move;
    double shape[XB_DEVICE_RANKS]; /* quantiles of (g - programmed - shift) / spread */
} xb_device_node;

enum { XB_DEVICE_LAGS = 31 };

/* One state's trace, and how its samples depend on each other. */
typedef struct xb_state_record {
    xb_device_trace trace;
    double interval_s;                  /* 0: unknown */
    double correlation[XB_DEVICE_LAGS]; /* at lags of 1, 2, 4, ... samples */
    int lags;
    char law[XB_DEVICE_TEXT]; /* law of this state; "": not known */
    char fits[32];            /* whether the law fits: "yes", "no", "cannot be tested" */
} xb_state_record;

struct xb_device {
    char unit[XB_DEVICE_TEXT], source[XB_DEVICE_TEXT];
    int64_t states, times, cells, cells_left_out, states_left_out;
    xb_device_state *state; /* [states] */
    double *time;           /* [times] */
    xb_device_node *node;   /* [states][times] */
    int64_t traces;
    xb_state_record *record; /* [traces] */
    char shapes[32]; /* whether the states' shapes "agree", "differ", ...; "": fewer than
                        two */
    double shapes_p; /* NAN: not tested */
    json_t *law;     /* a law file; NULL: there is no law for all states */
};

/* Makes a device whose numbers are not set yet. */
xb_status xb_device_new(xb_ctx *ctx, xb_device **out, int64_t states, int64_t times,
                        int64_t traces);

/* (K4) Scales a shape so that the curve through its quantiles has mean 0 and variance 1.
 * False: the quantiles do not ascend, or all are the same. */
bool xb_device_shape_scale(double *shape);

static inline xb_device_node *xb_device_node_at(const xb_device *d, int64_t state,
                                                int64_t time)
{
    return &d->node[state * d->times + time];
}

#endif
