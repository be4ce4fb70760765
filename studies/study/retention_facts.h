/* retention_facts.h: facts that the study of retention derives from its numbers: which
 * states are quiet, and how long a loss stays below a limit. */
#ifndef XB_STUDY_RETENTION_FACTS_H
#define XB_STUDY_RETENTION_FACTS_H

#include "crossbayes/device.h"

/* Conductances from low to high, in the device's unit. */
typedef struct xb_state_range {
    double low, high;
    double limit; /* largest spread of a state in the range, at the last time */
} xb_state_range;

/* (S5) The widest run of neighbouring states that spread by at most twice as much as the
 * quietest at the last time; four times, eight times, ... if that is only one state. */
xb_state_range xb_quiet_range(const xb_device *device);

/* When a loss that was measured for several chips exceeds a limit. */
typedef struct xb_refresh {
    double seconds;   /* 0: before the first age; INFINITY: later than the last */
    double low, high; /* one standard error to both sides; NAN: unknown */
    double half;      /* time by which half of the chips have exceeded it; 0, INFINITY as
                         above */
} xb_refresh;

/* (S6) loss [chips][ages], age ascending, all above 0. */
xb_refresh xb_refresh_find(const double *loss, const double *age, int64_t chips,
                           int64_t ages, double limit);

#endif
