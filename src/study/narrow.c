#include "study/energy_setup.h"
static xb_status run(xb_ctx *ctx, xb_study *study, const xb_law *device,
                     const xb_study_options *opt)
{
    (void)ctx;
    (void)study;
    (void)device;
    (void)opt;
    return XB_OK;
}
const xb_study_kind xb_study_narrow = {.name = "narrow", .about = "x", .run = run};
