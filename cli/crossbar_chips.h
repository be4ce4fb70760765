/* crossbar_chips.h: prints the results of `crossbar` over several chips as text and as
 * JSON. */
#ifndef XB_CLI_CROSSBAR_CHIPS_H
#define XB_CLI_CROSSBAR_CHIPS_H

#include "crossbar_show.h"

/* Shows the last case in full, then the effects that were read on several chips; shows
 * nothing if the last case has only one chip. `first` is the number of the first chip. */
void cli_show_chips(const cli_case *cases, int count, const xb_assay_result *digital,
                    uint64_t first);
/* Shows the cases of a sweep that were read on several chips; shows nothing if there are
 * none. */
void cli_show_sweep_chips(const cli_case *cases, int count, const char *key);
/* {"count", SCORE: {"mean", ...}, ..., "same", "different", "cannot_tell"} */
json_t *cli_chips_json(const cli_case *c, const xb_assay_result *digital);

#endif
