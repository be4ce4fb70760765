/* device_traces.h: `crossbayes device LEVEL00.csv LEVEL08.csv ...`: a trace for each
 * state to the read noise of a device. */
#ifndef XB_CLI_DEVICE_TRACES_H
#define XB_CLI_DEVICE_TRACES_H

#include "crossbayes/device.h"
#include "session.h"

/* The files of the command line but `campaign` (-1: all of them are traces) to a device,
 * which has the relaxation of `base`, or none. */
cli_exit cli_device_traces(cli_session *s, xb_device **out, int campaign,
                           const xb_device *base);

/* A line for each trace, and what its states have in common. */
void cli_show_traces(const xb_device *device);

#endif
