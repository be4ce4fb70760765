/* crossbar_device.h: `--device FILE --age TIME` of an array, and what to say about it. */
#ifndef XB_CLI_CROSSBAR_DEVICE_H
#define XB_CLI_CROSSBAR_DEVICE_H

#include "session.h"

/* The two options into the array. */
cli_exit cli_array_device(cli_session *s, xb_array *array);

/* How old the array is, by which device file, and whether that was measured; nothing for
 * an array without a device file. Weights made of cells have no mean devices. */
cli_exit cli_show_device(cli_session *s, const xb_array *array, const xb_model *model);

/* "10 ms", "10000 s": nobody counts in kiloseconds. */
void cli_time_text(char *out, size_t size, double seconds);

#endif
