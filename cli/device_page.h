/* device_page.h: the page of a device, `crossbayes device --report DIR`: device.html with
 * its figure, and its curves as CSV. */
#ifndef XB_CLI_DEVICE_PAGE_H
#define XB_CLI_DEVICE_PAGE_H

#include "crossbayes/device.h"
#include "session.h"

/* If --report was given: plans its files, and writes all or none of them. `source` is the
 * file that the title names. */
cli_exit cli_device_plan(cli_session *s);
cli_exit cli_device_report(cli_session *s, const xb_device *device, const char *source);

/* The state with the largest (sign 1) or smallest (-1) spread at the last time, allowing
 * for its error.
 */
int64_t cli_device_extreme(const xb_device *device, int sign);

#endif
