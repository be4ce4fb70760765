/* model_data.h: reads a table for a model. */
#ifndef XB_CLI_MODEL_DATA_H
#define XB_CLI_MODEL_DATA_H

#include "session.h"

/* Reads the columns that the model was trained on, by name, or by order if there are no
 * names; with `target` also its target. Findings about the table are printed on stderr.
 */
xb_status cli_model_frame(cli_session *s, xb_frame **out, const xb_model *model,
                          const char *path, bool target);

/* Does the same in blocks of rows, as `blocks` specifies. */
xb_status cli_model_rows(cli_session *s, xb_frame **out, const xb_model *model,
                         const char *path, bool target, const xb_frame_options *blocks);

/* Reads --draws: a number, or `auto`, which gives 0. Returns false for anything else. */
bool cli_draws_option(const cli_session *s, int64_t *out);
/* Whether --draws is `adaptive`. */
bool cli_draws_adaptive(const cli_session *s);

#endif
