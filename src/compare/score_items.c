/* score_items.c: the names of scores and of the arrays behind them, and access to them.
 * To add a score, add an entry to score_items.h and a row here. */
#include "compare/score_items.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { FEW_ROWS = 10 };

typedef struct item {
    const char *name, *unit;
    int better;
    const char *about;
} item;

static const item of_numbers[XB_NUMBER_SCORES] = {
    [XB_NUMBER_RMSE] = {"rmse", "target", -1, "root mean square error of the mean"},
    [XB_NUMBER_MAE] = {"mae", "target", -1, "mean absolute error of the mean"},
    [XB_NUMBER_NLL] = {"nll", "nats", -1, "negative log density of the target"},
    [XB_NUMBER_CRPS] = {"crps", "target", -1, "continuous ranked probability score"},
    [XB_NUMBER_COVERAGE] = {"coverage", "", 0,
                            "share of the targets inside the central interval"},
    [XB_NUMBER_COVERAGE_UNCERTAIN] = {"coverage_uncertain", "", 0,
                                      "coverage among the quarter of the points with the"
                                      " largest epistemic sd"},
    [XB_NUMBER_WIDTH] = {"width", "target", -1, "mean width of the central interval"},
    [XB_NUMBER_PINBALL] = {"pinball", "target", -1, "mean quantile loss"},
    [XB_NUMBER_AREA] = {"miscalibration_area", "", -1,
                        "area between the calibration curve and the diagonal"},
    [XB_NUMBER_AREA_FLOOR] = {"miscalibration_floor", "", 0,
                              "mean miscalibration area of a perfectly calibrated"
                              " predictive"},
    [XB_NUMBER_SHARPNESS] = {"sharpness", "target", -1, "root mean predictive variance"},
    [XB_NUMBER_EPISTEMIC] = {"epistemic", "target", 0,
                             "root mean variance due to the weights"},
    [XB_NUMBER_ALEATORIC] = {"aleatoric", "target", 0,
                             "root mean variance due to the data's noise"},
    [XB_NUMBER_DISAGREEMENT] = {"disagreement_share", "", 0,
                                "share of the epistemic variance that lies between the"
                                " members of an ensemble"},
};

static const item of_classes[XB_CLASS_SCORES] = {
    [XB_CLASS_ACCURACY] = {"accuracy", "", 1, "share of the points classified correctly"},
    [XB_CLASS_NLL] = {"nll", "nats", -1, "negative log probability of the label"},
    [XB_CLASS_BRIER] = {"brier", "", -1, "squared error of the probabilities"},
    [XB_CLASS_ECE] = {"ece", "", -1, "expected calibration error"},
    [XB_CLASS_ECE_FLOOR] = {"ece_floor", "", 0,
                            "mean expected calibration error of a perfectly calibrated"
                            " classifier"},
    [XB_CLASS_ENTROPY] = {"entropy", "nats", 0, "entropy of the predictive"},
    [XB_CLASS_INFORMATION] = {"information", "nats", 0,
                              "mutual information of class and weights"},
    [XB_CLASS_DISAGREEMENT] =
        {"disagreement_share", "", 0,
         "share of the mutual information that lies between the members of an ensemble"},
};

static const char *const arrays_of_numbers[] = {
    "level", "share", "share_error", "square_error", "absolute_error",
    "nll",   "crps",  "pit",         "epistemic"};
static const char *const arrays_of_classes[] = {
    "bin_share", "bin_confidence", "bin_accuracy", "hit",       "nll",
    "brier",     "entropy",        "information",  "confidence"};

_Static_assert(XB_COUNT(arrays_of_numbers) <= XB_SCORE_ARRAYS_MAX, "room for arrays");
_Static_assert(XB_COUNT(arrays_of_classes) <= XB_SCORE_ARRAYS_MAX, "room for arrays");
_Static_assert((int)XB_CLASS_SCORES <= (int)XB_NUMBER_SCORES, "room for scores");

void xb_scores_destroy(xb_scores *s)
{
    if (!s) return;
    for (int64_t k = 0; s->target && k < s->targets; k++) xb_scores_destroy(s->target[k]);
    for (int64_t k = 0; s->target_name && k < s->targets; k++) free(s->target_name[k]);
    free(s->target);
    free(s->target_name);
    free(s->numbers);
    free(s);
}

static int64_t array_size(const xb_scores *s, int64_t i)
{
    return i < XB_ARRAY_POINTS ? s->curve : s->n;
}

xb_status xb_scores_create(xb_ctx *ctx, xb_scores **out, int64_t n, int64_t draws,
                           int64_t classes, int64_t curve)
{
    xb_scores *s = xb_new(ctx, 1, sizeof *s);
    if (!s) return XB_E_MEMORY;
    *s = (xb_scores){
        .n = n, .draws = draws, .classes = classes, .curve = curve, .targets = 1};
    const int64_t arrays = xb_scores_array_count(s), points = arrays - XB_ARRAY_POINTS;
    s->numbers = xb_new(ctx, XB_ARRAY_POINTS * curve + points * n, sizeof *s->numbers);
    if (!s->numbers) {
        xb_scores_destroy(s);
        return XB_E_MEMORY;
    }
    double *room = s->numbers;
    for (int64_t i = 0; i < arrays; i++) s->array[i] = room, room += array_size(s, i);
    for (int i = 0; i < XB_COUNT(s->score); i++) s->score[i] = (xb_score){NAN, NAN, NAN};
    if (n < FEW_ROWS)
        snprintf(s->doubt, sizeof s->doubt, "%lld %s: too few to judge a model",
                 (long long)n, xb_plural(n, "row", "rows"));
    *out = s;
    return XB_OK;
}

int64_t xb_scores_points(const xb_scores *s) { return s->n; }
int64_t xb_scores_draws(const xb_scores *s) { return s->draws; }
int64_t xb_scores_classes(const xb_scores *s) { return s->classes; }
int64_t xb_scores_target_count(const xb_scores *s) { return s->targets; }

const char *xb_scores_target_name(const xb_scores *s, int64_t k)
{
    return s->target_name && k >= 0 && k < s->targets ? s->target_name[k] : NULL;
}

xb_status xb_scores_name_targets(xb_ctx *ctx, xb_scores *s, char *const *name)
{
    if (s->targets == 1) return XB_OK;
    s->target_name = xb_new(ctx, s->targets, sizeof *s->target_name);
    if (!s->target_name) return XB_E_MEMORY;
    for (int64_t k = 0; k < s->targets; k++) {
        s->target_name[k] = xb_strdup(ctx, name[k]);
        if (!s->target_name[k]) return XB_E_MEMORY;
    }
    return XB_OK;
}

const xb_scores *xb_scores_target_at(const xb_scores *s, int64_t k)
{
    if (k < 0 || k >= s->targets) return NULL;
    return s->target ? s->target[k] : s;
}

/* ---- scores */

static const item *item_at(const xb_scores *s, int64_t i)
{
    static const item none = {0};
    if (i < 0 || i >= xb_scores_count(s)) return &none;
    return s->classes > 0 ? &of_classes[i] : &of_numbers[i];
}

int64_t xb_scores_count(const xb_scores *s)
{
    return s->classes > 0 ? XB_CLASS_SCORES : XB_NUMBER_SCORES;
}

const char *xb_scores_name(const xb_scores *s, int64_t i) { return item_at(s, i)->name; }
const char *xb_scores_about(const xb_scores *s, int64_t i)
{
    return item_at(s, i)->about;
}
const char *xb_scores_unit(const xb_scores *s, int64_t i) { return item_at(s, i)->unit; }
int64_t xb_scores_better(const xb_scores *s, int64_t i) { return item_at(s, i)->better; }

int64_t xb_scores_find(const xb_scores *s, const char *name)
{
    for (int64_t i = 0; name && i < xb_scores_count(s); i++)
        if (strcmp(xb_scores_name(s, i), name) == 0) return i;
    return -1;
}

xb_score xb_scores_at(const xb_scores *s, int64_t i)
{
    const xb_score none = {NAN, NAN, NAN};
    return i >= 0 && i < xb_scores_count(s) ? s->score[i] : none;
}

xb_score xb_scores_get(const xb_scores *s, const char *name)
{
    return xb_scores_at(s, xb_scores_find(s, name));
}

/* ---- arrays */

int64_t xb_scores_array_count(const xb_scores *s)
{
    return s->classes > 0 ? XB_COUNT(arrays_of_classes) : XB_COUNT(arrays_of_numbers);
}

const char *xb_scores_array_name(const xb_scores *s, int64_t i)
{
    if (i < 0 || i >= xb_scores_array_count(s)) return NULL;
    return s->classes > 0 ? arrays_of_classes[i] : arrays_of_numbers[i];
}

int64_t xb_scores_array_find(const xb_scores *s, const char *name)
{
    for (int64_t i = 0; name && i < xb_scores_array_count(s); i++)
        if (strcmp(xb_scores_array_name(s, i), name) == 0) return i;
    return -1;
}

const double *xb_scores_array_at(const xb_scores *s, int64_t i, int64_t *size)
{
    const bool there = i >= 0 && i < xb_scores_array_count(s);
    if (size) *size = there ? array_size(s, i) : 0;
    return there ? s->array[i] : NULL;
}

const double *xb_scores_array_get(const xb_scores *s, const char *name, int64_t *size)
{
    return xb_scores_array_at(s, xb_scores_array_find(s, name), size);
}

/* ---- doubts */

int64_t xb_scores_doubt_count(const xb_scores *s) { return s->doubt[0] != '\0'; }

const char *xb_scores_doubt_at(const xb_scores *s, int64_t i)
{
    return i == 0 && s->doubt[0] ? s->doubt : NULL;
}
