/* energy_state.c: a finished cell on disk: its model (a model file like any other) and
 * its numbers. Both are safetensors and written atomically. A file is used only if the
 * settings in it, including laws and version, are identical to the current ones; any
 * other file is ignored. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crossbayes/safetensors.h"
#include "crossbayes/json.h"
#include "crossbayes/files.h"
#include "study/energy_cells.h"
#include "energy/energy_train.h"

xb_status xb_cell_path(xb_ctx *ctx, char out[XB_CELL_PATH], const xb_cell *cell,
                       const char *dir, const char *what)
{
    int length =
        snprintf(out, XB_CELL_PATH, "%s/width%lld_depth%lld_seed%llu%s.safetensors", dir,
                 (long long)cell->width, (long long)cell->depth,
                 (unsigned long long)cell->seed, what);
    if (length >= 0 && length < XB_CELL_PATH) return XB_OK;
    return xb_fail(ctx, XB_E_IO, "%s: the path is too long", dir);
}

/* ---- models */

xb_status xb_cell_save_model(xb_ctx *ctx, const xb_cell *cell, const xb_model *model,
                             const char *dir)
{
    char path[XB_CELL_PATH];
    XB_TRY(xb_cell_path(ctx, path, cell, dir, ""));
    return xb_model_save(ctx, model, path);
}

/* Missing or unsuitable files are made again, except when memory runs out, which is a
 * failure.
 */
static xb_status unless_memory(xb_status status)
{
    return status == XB_E_MEMORY ? status : XB_OK;
}

/* Whether it is exactly the net that training would give, made with the same settings. */
static xb_status compare(xb_ctx *ctx, bool *same, const xb_model *model,
                         const xb_energy_options *o)
{
    char *net = NULL, *settings = NULL;
    const xb_net *found = xb_model_net(model);
    int64_t fixed = xb_net_param_count(found) - xb_net_stochastic_count(found);
    int64_t biases = o->width * o->depth + 1;
    xb_status status = xb_energy_net_text(ctx, &net, o);
    if (status == XB_OK) status = xb_energy_settings(ctx, &settings, o);
    *same = status == XB_OK && strcmp(net, xb_net_text(found)) == 0 &&
            strcmp(settings, xb_model_settings(model)) == 0 &&
            xb_shape_size(xb_net_input(found)) == 1 &&
            fixed == (o->kernels_only ? biases : 0);
    xb_free(net);
    xb_free(settings);
    return status;
}

xb_status xb_cell_load_model(xb_ctx *ctx, xb_model **out, const xb_cell_plan *plan,
                             const xb_cell *cell, const char *dir)
{
    char path[XB_CELL_PATH];
    xb_energy_options o = xb_cell_training(plan, cell);
    xb_model *model = NULL;
    bool same = false;
    XB_TRY(xb_cell_path(ctx, path, cell, dir, ""));
    XB_TRY(xb_files_own(ctx, path));
    xb_status status = xb_model_load(ctx, &model, path);
    if (status != XB_OK) return unless_memory(status);
    status = compare(ctx, &same, model, &o);
    if (same)
        *out = model;
    else
        xb_model_destroy(model);
    return status;
}

/* ---- numbers */

/* Returns NULL if memory has run out. */
static json_t *laws_json(xb_ctx *ctx, const xb_cell_plan *plan)
{
    json_t *list = json_array();
    for (int l = 0; l < plan->laws; l++) {
        char *text = NULL;
        bool good = xb_law_json(ctx, &text, plan->law[l]) == XB_OK;
        xb_json_add(&list, good ? json_loads(text, 0, NULL) : NULL);
        xb_free(text);
    }
    return list;
}

/* All settings that the numbers depend on. */
static xb_status fingerprint(xb_ctx *ctx, char **out, const xb_cell_plan *plan,
                             const xb_cell *cell)
{
    char *training = NULL;
    xb_energy_options o = xb_cell_training(plan, cell);
    XB_TRY(xb_energy_settings(ctx, &training, &o));
    json_t *root = json_pack(
        "{s:s, s:I, s:I, s:I, s:o}", "training", training, "hidden_draws",
        (json_int_t)plan->hidden_draws, "output_draws", (json_int_t)plan->output_draws,
        "share_draws", (json_int_t)plan->share_draws, "laws", laws_json(ctx, plan));
    xb_status status = xb_json_text(ctx, out, root);
    json_decref(root);
    xb_free(training);
    return status;
}

xb_status xb_cell_save_values(xb_ctx *ctx, const double *values, const xb_cell_plan *plan,
                              const xb_cell *cell, const char *dir)
{
    char path[XB_CELL_PATH], *text = NULL;
    const xb_stored tensor = {"values", XB_STORED_F64, 1, {xb_cell_length(plan)}, values};
    XB_TRY(xb_cell_path(ctx, path, cell, dir, "_numbers"));
    XB_TRY(fingerprint(ctx, &text, plan, cell));
    const xb_stored_text texts[] = {{"crossbayes", "cell"}, {"fingerprint", text}};
    xb_status status =
        xb_safetensors_write(ctx, path, &tensor, 1, texts, XB_COUNT(texts));
    xb_free(text);
    return status;
}

static xb_status take(xb_ctx *ctx, bool *taken, double *values, const xb_cell_plan *plan,
                      const xb_cell *cell, const xb_safetensors *file)
{
    const int64_t length = xb_cell_length(plan);
    const xb_stored *tensor = NULL;
    const char *found = xb_safetensors_text(file, "fingerprint");
    char *text = NULL;
    XB_TRY(fingerprint(ctx, &text, plan, cell));
    bool same = found && strcmp(text, found) == 0;
    xb_free(text);
    if (!same || xb_safetensors_get(ctx, &tensor, file, "values", XB_STORED_F64, &length,
                                    1) != XB_OK)
        return XB_OK;
    memcpy(values, tensor->data, (size_t)length * sizeof *values);
    *taken = true;
    return XB_OK;
}

xb_status xb_cell_load_values(xb_ctx *ctx, bool *taken, double *values,
                              const xb_cell_plan *plan, const xb_cell *cell,
                              const char *dir)
{
    char path[XB_CELL_PATH];
    xb_safetensors *file = NULL;
    *taken = false;
    XB_TRY(xb_cell_path(ctx, path, cell, dir, "_numbers"));
    XB_TRY(xb_files_own(ctx, path));
    xb_status status = xb_safetensors_open(ctx, &file, path);
    if (status != XB_OK) return unless_memory(status);
    status = take(ctx, taken, values, plan, cell, file);
    xb_safetensors_destroy(file);
    return status;
}
