/* model_frame.c: reads tables for a trained model. */
#include "vi/model.h"

static xb_status choose(xb_ctx *ctx, xb_frame_options *out, const xb_model *m,
                        bool target, const xb_frame_options *opt)
{
    xb_frame_options given;
    XB_TRY(XB_OPTIONS_READ(ctx, frame, &given, opt, whole));
    if (!m->recipe)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "the model was trained on images and takes no table");
    *out = xb_frame_options_default();
    out->recipe = m->recipe;
    out->whole_targets = m->targets;
    out->missing = given.missing;
    out->id = given.id;
    out->block = given.block;
    out->on_block = given.on_block;
    out->on_block_arg = given.on_block_arg;
    if (!target) return XB_OK;
    out->target = m->target_name;
    out->target_kind = m->classes ? XB_TARGET_CLASS : XB_TARGET_NUMBER;
    out->classes = m->classes ? (const char *const *)m->class_name : NULL;
    out->n_classes = m->classes;
    return XB_OK;
}

xb_status xb_model_frame_read(xb_ctx *ctx, xb_frame **out, const xb_model *model,
                              const char *path, bool target, const xb_frame_options *opt)
{
    xb_frame_options chosen;
    XB_TRY(choose(ctx, &chosen, model, target, opt));
    return xb_frame_read(ctx, out, path, &chosen);
}

xb_status xb_model_frame_create(xb_ctx *ctx, xb_frame **out, const xb_model *model,
                                const xb_column *columns, int64_t n_columns,
                                int64_t n_rows, bool target, const xb_frame_options *opt)
{
    xb_frame_options chosen;
    XB_TRY(choose(ctx, &chosen, model, target, opt));
    return xb_frame_create(ctx, out, columns, n_columns, n_rows, &chosen);
}
