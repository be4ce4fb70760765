/* law_samples.h: `law LAW --samples FILE`: tests whether the law fits measured samples.
 */
#ifndef XB_CLI_LAW_SAMPLES_H
#define XB_CLI_LAW_SAMPLES_H

#include "print.h"
#include "session.h"

/* *out is NULL if no samples were given. */
cli_exit cli_law_samples(cli_session *s, xb_goodness_result **out, const xb_law *law);
void cli_show_goodness(const cli_session *s, const xb_goodness_result *r,
                       const xb_law *law);
json_t *cli_goodness_json(const cli_session *s, const xb_goodness_result *r);

#endif
