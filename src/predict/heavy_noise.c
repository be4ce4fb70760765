/* heavy_noise.c: the noise of models with a Student likelihood: tables of Student's t,
 * one for each member (maths P9, L32). Everything that predicts, scores and compares
 * takes the law of the noise from them. */
#include "base/memory.h"
#include "predict/predict.h"
#include "vi/model.h"

bool xb_noise_is_heavy(const xb_model *m)
{
    return m->likelihood == XB_LIKELIHOOD_STUDENT;
}

xb_status xb_noise_tables(xb_ctx *ctx, xb_student_table **out, const xb_model *m)
{
    const int64_t members = xb_model_member_count(m);
    if (!xb_noise_is_heavy(m)) {
        *out = NULL;
        return XB_OK;
    }
    xb_student_table *tables = xb_new(ctx, members, sizeof *tables);
    if (!tables) return XB_E_MEMORY;
    for (int64_t i = 0; i < members; i++)
        xb_student_fill(&tables[i], xb_model_member_at(m, i)->noise_degrees);
    *out = tables;
    return XB_OK;
}
