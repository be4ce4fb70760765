/* device_traces.h: `crossbayes device LEVEL00.csv LEVEL08.csv ...`: makes the read noise
 * of a device from one trace per state. */
#ifndef XB_CLI_DEVICE_TRACES_H
#define XB_CLI_DEVICE_TRACES_H

#include "crossbayes/device.h"
#include "session.h"

/* Makes a device from the files of the command line except number `campaign` (-1: all of
 * them are traces), with the relaxation of `base`, if any. */
cli_exit cli_device_traces(cli_session *s, xb_device **out, int campaign,
                           const xb_device *base);

/* Prints one line for each trace, and whether the states have the same shape. */
void cli_show_traces(const xb_device *device);

#endif
