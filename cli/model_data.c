/* model_data.c: see model_data.h. */
#include "model_data.h"

#include <stdlib.h>
#include <string.h>

xb_status cli_model_frame(xb_ctx *ctx, xb_frame **out, const xb_model *model,
                          const char *path, bool target)
{
    int64_t features = xb_model_feature_count(model),
            classes = xb_model_class_count(model);
    const char **name = calloc((size_t)(features + classes), sizeof *name);
    if (!name) return XB_E_MEMORY;
    for (int64_t i = 0; i < features; i++) name[i] = xb_model_feature_name(model, i);
    for (int64_t k = 0; k < classes; k++)
        name[features + k] = xb_model_class_name(model, k);
    xb_frame_options opt = xb_frame_options_default();
    opt.columns = name;
    opt.n_columns = features;
    opt.whole = true;
    opt.whole_targets = xb_model_target_count(model);
    if (target) {
        opt.target = xb_model_target_name(model);
        opt.target_kind = classes ? XB_TARGET_CLASS : XB_TARGET_NUMBER;
        opt.classes = classes ? name + features : NULL;
        opt.n_classes = classes;
    }
    xb_status status = xb_frame_read(ctx, out, path, &opt);
    free(name);
    return status;
}

bool cli_samples(const cli_session *s, int64_t *out)
{
    const char *text = cli_text(&s->args, "samples", "1000");
    *out = 0;
    if (strcmp(text, "auto") == 0) return true;
    char *end = NULL;
    double number = strtod(text, &end);
    if (*end || !(number >= 1 && number <= 1e9)) return false;
    *out = (int64_t)number;
    return (double)*out == number;
}
