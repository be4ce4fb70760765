/* model_data.h: a table read as a model wants it. */
#ifndef XB_CLI_MODEL_DATA_H
#define XB_CLI_MODEL_DATA_H

#include "session.h"

/* The columns the model was trained on, by name, or by their order where there are no
 * names; with `target` also its target. What was met in it is said on stderr. */
xb_status cli_model_frame(cli_session *s, xb_frame **out, const xb_model *model,
                          const char *path, bool target);

/* The same with blocks of rows as `blocks` asks for them. */
xb_status cli_model_rows(cli_session *s, xb_frame **out, const xb_model *model,
                         const char *path, bool target, const xb_frame_options *blocks);

/* --samples: a number, or `auto`, which is 0. False: neither. */
bool cli_samples(const cli_session *s, int64_t *out);
/* --samples adaptive. */
bool cli_samples_adaptive(const cli_session *s);

#endif
