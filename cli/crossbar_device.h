/* crossbar_device.h: reads `--device FILE --age TIME` into an array, and prints what they
 * changed. */
#ifndef XB_CLI_CROSSBAR_DEVICE_H
#define XB_CLI_CROSSBAR_DEVICE_H

#include "session.h"

/* Copies the two options into the array. */
cli_exit cli_array_device(cli_session *s, xb_array *array);

/* Prints the age of the array, its device file, and whether the age lies within the
 * measured times; prints nothing for an array without a device file. Weights made of
 * cells have no mean devices. */
cli_exit cli_show_device(cli_session *s, const xb_array *array, const xb_model *model);

/* Writes "10 ms" or "10000 s"; long times are in seconds, because kiloseconds are
 * unusual. */
void cli_time_text(char *out, size_t size, double seconds);

#endif
