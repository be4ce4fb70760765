/* fuzz_cell.c: finished cells of an energy study. First byte 0: the rest is the file of
 * its numbers; 1: a whole file of numbers with bytes changed; 2: the rest is its model.
 */
#include "fuzz.h"
#include "study/energy_cells.h"

enum { DIR_BYTES = 64, PATH_BYTES = 160 };

static const xb_cell cell = {1, 1, 1};

static void read_cell(xb_ctx *ctx, const xb_cell_plan *plan, const char *dir)
{
    double *values = calloc((size_t)xb_cell_length(plan), sizeof *values);
    xb_model *model = NULL;
    bool taken = false;
    if (!values) abort();
    if (xb_cell_load_values(ctx, &taken, values, plan, &cell, dir) == XB_OK && taken)
        (void)xb_cell_curve(plan, values, 1);
    if (xb_cell_load_model(ctx, &model, plan, &cell, dir) == XB_OK)
        xb_model_destroy(model);
    free(values);
}

static void damage_numbers(xb_ctx *ctx, const xb_cell_plan *plan, const char *dir,
                           const char *path, const uint8_t *data, size_t size)
{
    double *values = calloc((size_t)xb_cell_length(plan), sizeof *values);
    size_t bytes = 0;
    if (!values || xb_cell_save_values(ctx, values, plan, &cell, dir) != XB_OK) abort();
    uint8_t *whole = fuzz_slurp(path, &bytes);
    fuzz_put(path, whole, fuzz_damage(whole, bytes, data, size));
    free(whole);
    free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    char dir[DIR_BYTES], numbers[PATH_BYTES], model[PATH_BYTES];
    snprintf(dir, sizeof dir, "%s/fuzz-cell-XXXXXX", fuzz_folder());
    if (!mkdtemp(dir)) abort();
    snprintf(numbers, sizeof numbers, "%s/width1_depth1_seed1_numbers.safetensors", dir);
    snprintf(model, sizeof model, "%s/width1_depth1_seed1.safetensors", dir);
    xb_ctx *ctx = fuzz_ctx();
    xb_law *law = NULL, *device = NULL;
    if (xb_law_parse(ctx, &law, "gaussian") != XB_OK) abort();
    if (xb_law_parse(ctx, &device, "mtj:B=0.15,w=0.5") != XB_OK) abort();
    const xb_cell_plan plan = {
        .law = {law, device}, .laws = 2, .steps = 1, .share_draws = 1};
    const int kind = data[0] % 3;
    if (kind == 1)
        damage_numbers(ctx, &plan, dir, numbers, data + 1, size - 1);
    else
        fuzz_put(kind == 0 ? numbers : model, data + 1, size - 1);
    read_cell(ctx, &plan, dir);
    unlink(numbers);
    unlink(model);
    rmdir(dir);
    xb_law_destroy(device);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
    return 0;
}
