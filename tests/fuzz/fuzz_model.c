/* fuzz_model.c: model files (safetensors). A model that was taken must predict. */
#include "fuzz.h"

enum { FEATURES_MOST = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    xb_ctx *ctx = fuzz_ctx();
    fuzz_file file = fuzz_file_make(data, size);
    xb_model *model = NULL;
    xb_status status = xb_model_load(ctx, &model, file.path);
    fuzz_check(ctx, status);
    if (status == XB_OK && xb_model_feature_count(model) <= FEATURES_MOST) {
        const double x[FEATURES_MOST] = {0};
        xb_predict_options opt = xb_predict_options_default();
        xb_prediction *p = NULL;
        opt.draws = 2;
        fuzz_check(ctx, xb_predict(ctx, &p, model, x, 1, &opt));
        xb_prediction_destroy(p);
    }
    xb_model_destroy(model);
    fuzz_file_close(&file);
    xb_ctx_destroy(ctx);
    return 0;
}
