/* presets.c: named sets of training settings, in one table. */
#include <string.h>

#include "base/choice.h"
#include "crossbayes/train.h"

typedef struct preset {
    const char *name, *sets, *source;
    void (*apply)(xb_train_options *o);
} preset;

/* The paper's settings, including their weakness: sigma hardly moves (see the study). */
static void use_paper(xb_train_options *o)
{
    o->freeze = true;
    o->prior_by_fan = false;
    o->epochs = 10;
    o->estimator = XB_ESTIMATOR_SHARED;
    o->rate = (xb_schedule){.kind = XB_SCHEDULE_CONSTANT, .value = 1};
    o->adam = xb_adam_options_default();
    o->sigma_rate = 1;
    o->temperature = (xb_schedule){.kind = XB_SCHEDULE_EXP, .value = 1000};
    o->sigma_transform = XB_SIGMA_TRANSFORM_SOFTPLUS;
    o->sigma = 0.05;
    o->noise_prior = 0;
}

static const preset presets[] = {
    {"paper",
     "10 epochs with one draw shared by a batch, Adam at a constant 1e-3, temperature "
     "exp:1000, initial sigma 0.05 through softplus; weights without noise stay fixed "
     "after ordinary training, and the prior's scale is the same for every layer",
     "the training of the paper's networks", use_paper},
};

int64_t xb_train_preset_count(void) { return XB_COUNT(presets); }

static const preset *preset_at(int64_t i)
{
    return i >= 0 && i < XB_COUNT(presets) ? &presets[i] : NULL;
}

const char *xb_train_preset_name(int64_t i)
{
    return preset_at(i) ? presets[i].name : NULL;
}
const char *xb_train_preset_sets(int64_t i)
{
    return preset_at(i) ? presets[i].sets : NULL;
}
const char *xb_train_preset_source(int64_t i)
{
    return preset_at(i) ? presets[i].source : NULL;
}

int64_t xb_train_preset_find(const char *name)
{
    for (int64_t i = 0; i < XB_COUNT(presets); i++)
        if (strcmp(presets[i].name, name) == 0) return i;
    return -1;
}

static const char *const efforts[] = {"standard", "quick", "full"};

const char *xb_train_effort_name(xb_train_effort e)
{
    return (int)e >= 0 && (int)e < XB_COUNT(efforts) ? efforts[e] : "?";
}

xb_status xb_train_effort_parse(xb_ctx *ctx, xb_train_effort *out, const char *text)
{
    int found = 0;
    XB_TRY(xb_choice_parse(ctx, &found, "effort", text, efforts, XB_COUNT(efforts)));
    *out = (xb_train_effort)found;
    return XB_OK;
}

static const char *const skews[] = {"auto", "keep", "log"};

const char *xb_skewed_name(xb_skewed s)
{
    return (int)s >= 0 && (int)s < XB_COUNT(skews) ? skews[s] : "?";
}

xb_status xb_skewed_parse(xb_ctx *ctx, xb_skewed *out, const char *text)
{
    int found = 0;
    XB_TRY(xb_choice_parse(ctx, &found, "skewed", text, skews, XB_COUNT(skews)));
    *out = (xb_skewed)found;
    return XB_OK;
}

static const char *const prior_scales[] = {"auto", "standard", "fitted"};

const char *xb_prior_scale_name(xb_prior_scale s)
{
    return (int)s >= 0 && (int)s < XB_COUNT(prior_scales) ? prior_scales[s] : "?";
}

xb_status xb_prior_scale_parse(xb_ctx *ctx, xb_prior_scale *out, const char *text)
{
    int found = 0;
    XB_TRY(xb_choice_parse(ctx, &found, "scale of the prior", text, prior_scales,
                           XB_COUNT(prior_scales)));
    *out = (xb_prior_scale)found;
    return XB_OK;
}

xb_status xb_train_preset(xb_ctx *ctx, xb_train_options *opt, const char *name)
{
    const char *names[XB_COUNT(presets)];
    int i = 0;
    for (int k = 0; k < XB_COUNT(presets); k++) names[k] = presets[k].name;
    XB_TRY(xb_choice_parse(ctx, &i, "preset", name, names, XB_COUNT(presets)));
    xb_train_options whole;
    XB_TRY(XB_OPTIONS_READ(ctx, train, &whole, opt, task));
    presets[i].apply(&whole);
    xb_options_fill(opt, opt->struct_size, &whole, sizeof whole);
    return XB_OK;
}
