/* model_data.c: see model_data.h. */
#include "model_data.h"

#include <stdlib.h>
#include <string.h>

#include "table_options.h"

static const char *given(const cli_session *s, const char *option)
{
    return cli_in_table(&s->args, option) ? cli_text(&s->args, option, NULL) : NULL;
}

xb_status cli_model_frame(cli_session *s, xb_frame **out, const xb_model *model,
                          const char *path, bool target)
{
    const xb_frame_options standard = xb_frame_options_default();
    return cli_model_rows(s, out, model, path, target, &standard);
}

xb_status cli_model_rows(cli_session *s, xb_frame **out, const xb_model *model,
                         const char *path, bool target, const xb_frame_options *blocks)
{
    xb_frame_options opt = *blocks;
    const char *missing = given(s, "missing");
    opt.id = given(s, "id");
    xb_status status = missing ? xb_missing_parse(s->ctx, &opt.missing, missing) : XB_OK;
    if (status == XB_OK)
        status = xb_model_frame_read(s->ctx, out, model, path, target, &opt);
    if (status == XB_OK) cli_table_say(s, *out, false);
    return status;
}

bool cli_draws_adaptive(const cli_session *s)
{
    return strcmp(cli_text(&s->args, "draws", ""), "adaptive") == 0;
}

bool cli_draws_option(const cli_session *s, int64_t *out)
{
    const char *text = cli_text(&s->args, "draws", "1000");
    *out = 0;
    if (strcmp(text, "auto") == 0) return true;
    char *end = NULL;
    double number = strtod(text, &end);
    if (*end || !(number >= 1 && number <= 1e9)) return false;
    *out = (int64_t)number;
    return (double)*out == number;
}
