/* design.c: the search for a design from end to end. It makes arrays from the axes,
 * computes their costs and the digital model's quality, reads fewer and fewer arrays on
 * more and more chips, and chooses. The second part of the file returns what was found.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/choice.h"
#include "base/memory.h"
#include "crossbar/analog.h"
#include "design/search.h"
#include "predict/predict.h"

enum { CHIPS_LEAST = 4, CHIPS_FIRST = 4, ARRAYS_FEW = 4, ROWS_MOST = 512 };

void xb_design_options_init(xb_design_options *opt, size_t size)
{
    const xb_design_options standard = {.chips = 16, .yield = 0.9};
    xb_options_fill(opt, size, &standard, sizeof standard);
}

/* ---- what is scored */

static xb_status check(xb_ctx *ctx, const xb_model *model, int64_t n,
                       const xb_design_options *opt)
{
    if (n < 1)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "no rows to score designs on: expected 1 or"
                       " more, with targets");
    if (opt->chips < CHIPS_LEAST || opt->chips > XB_CHIPS_MOST / 2)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld chips: expected %d to %d",
                       (long long)opt->chips, CHIPS_LEAST, XB_CHIPS_MOST / 2);
    if (opt->deadline_ns < 0 || isnan(opt->deadline_ns))
        return xb_fail(ctx, XB_E_ARGUMENT, "a deadline of %g ns: expected more than 0",
                       opt->deadline_ns);
    if (!(opt->yield > 0 && opt->yield <= 1))
        return xb_fail(ctx, XB_E_ARGUMENT, "a yield of %g: expected above 0, at most 1",
                       opt->yield);
    if (xb_model_of_counts(model))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "no designs for a target of counts: designs are scored on"
                       " numbers and classes only");
    if (xb_model_cells(model))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "no designs for weights that are made of cells: nothing is known"
                       " of their costs");
    return XB_OK;
}

/* Takes rows that are evenly spread over the data. */
static xb_status take_rows(xb_ctx *ctx, xb_design *d, const double *x, const double *y,
                           int64_t n)
{
    const int64_t features = d->model->features, used = n < ROWS_MOST ? n : ROWS_MOST;
    const int64_t targets = d->model->targets;
    d->x = xb_new(ctx, used * features, sizeof *d->x);
    d->y = xb_new(ctx, used * targets, sizeof *d->y);
    if (!d->x || !d->y) return XB_E_MEMORY;
    for (int64_t i = 0; i < used; i++) {
        const int64_t row = i * n / used;
        memcpy(d->x + i * features, x + row * features, (size_t)features * sizeof *d->x);
        memcpy(d->y + i * targets, y + row * targets, (size_t)targets * sizeof *d->y);
    }
    d->judge = (xb_judge){.n = used,
                          .outputs = xb_model_outputs(d->model),
                          .classes = d->model->classes,
                          .y = d->y};
    return XB_OK;
}

static xb_status take_draws(xb_ctx *ctx, xb_design *d)
{
    const xb_axis *axis = xb_space_draws(&d->space);
    const int64_t members = xb_model_member_count(d->model);
    if (!axis)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "nothing says how many draws a prediction has: expected an axis"
                       " of 'draws'");
    d->n_draws = axis->n;
    d->draws = axis->value;
    for (int64_t k = 0; k < axis->n; k++) {
        XB_TRY(xb_predict_check_draws(ctx, d->model, (int64_t)axis->value[k]));
        if ((int64_t)axis->value[k] > d->reads) d->reads = (int64_t)axis->value[k];
    }
    /* Each member is read equally often. */
    d->reads += (members - d->reads % members) % members;
    return XB_OK;
}

static xb_status check_size(xb_ctx *ctx, const xb_design *d)
{
    const double most = 1e8;
    const double size = (double)d->reads * (double)d->judge.n * (double)d->judge.outputs;
    if (size <= most) return XB_OK;
    return xb_fail(ctx, XB_E_ARGUMENT,
                   "%lld draws of %lld rows are too many at once: expected at most %.0f",
                   (long long)d->reads, (long long)d->judge.n,
                   floor(most / (double)(d->judge.n * d->judge.outputs)));
}

/* ---- arrays */

static xb_status make_candidates(xb_ctx *ctx, xb_design *d)
{
    xb_combination *list = NULL;
    XB_TRY(xb_space_combine(ctx, &list, &d->candidates, &d->left_out, &d->space));
    d->candidate = xb_new(ctx, d->candidates, sizeof *d->candidate);
    for (int64_t i = 0; d->candidate && i < d->candidates; i++)
        d->candidate[i] =
            (xb_candidate){.index = list[i].index, .array = list[i].array, .alive = true};
    free(list);
    return d->candidate ? XB_OK : XB_E_MEMORY;
}

static xb_status take_memory(xb_ctx *ctx, xb_design *d)
{
    const int64_t scores = d->chips_room * d->n_draws * XB_QUALITIES;
    d->point = xb_new(ctx, d->candidates * d->n_draws, sizeof *d->point);
    if (!d->point) return XB_E_MEMORY;
    for (int64_t i = 0; i < d->candidates; i++) {
        d->candidate[i].score = xb_new(ctx, scores, sizeof(double));
        d->candidate[i].row = xb_new(ctx, d->n_draws * d->judge.n, sizeof(double));
        if (!d->candidate[i].score || !d->candidate[i].row) return XB_E_MEMORY;
    }
    return XB_OK;
}

static double fewest(const xb_design *d)
{
    double least = d->draws[0];
    for (int64_t k = 1; k < d->n_draws; k++) least = fmin(least, d->draws[k]);
    return least;
}

/* Arrays that are too slow even with the fewest draws are not read at all. */
static xb_status meet_deadline(xb_ctx *ctx, xb_design *d)
{
    const double deadline = d->opt.deadline_ns, draws = fewest(d);
    double fastest = INFINITY;
    bool any = false;
    for (int64_t i = 0; i < d->candidates && deadline > 0; i++) {
        const double ns = draws * d->candidate[i].draw_ns;
        fastest = fmin(fastest, ns);
        d->candidate[i].alive = ns <= deadline;
        any = any || ns <= deadline;
    }
    if (any || !(deadline > 0)) return XB_OK;
    char wanted[64], least[64];
    xb_quantity_text(wanted, sizeof wanted, 1e-9 * deadline, NAN, "s");
    xb_quantity_text(least, sizeof least, 1e-9 * fastest, NAN, "s");
    return xb_fail(ctx, XB_E_INPUT,
                   "no design predicts within %s: the fastest takes %s (%.0f %s)", wanted,
                   least, draws, xb_plural((int64_t)draws, "draw", "draws"));
}

static int64_t alive_count(const xb_design *d)
{
    int64_t n = 0;
    for (int64_t i = 0; i < d->candidates; i++) n += d->candidate[i].alive;
    return n;
}

/* (X73) Each round reads twice the chips for half of the arrays, until all chips are
 * read. */
static xb_status run_rounds(xb_ctx *ctx, xb_design *d)
{
    int64_t chips = d->opt.exhaustive ? d->opt.chips : CHIPS_FIRST;
    for (; chips < d->opt.chips && alive_count(d) > ARRAYS_FEW; chips *= 2) {
        XB_TRY(xb_trial_read(ctx, d, chips));
        XB_TRY(xb_front_cull(ctx, d));
    }
    return xb_trial_read(ctx, d, d->opt.chips);
}

static void settle_conditions(xb_design *d)
{
    for (int c = 0; c < d->conditions; c++)
        xb_condition_settle(&d->condition[c],
                            d->variant[0].digital[d->condition[c].quality]);
}

static xb_status search(xb_ctx *ctx, xb_design *d, const double *x, const double *y,
                        int64_t n, const char *keep)
{
    XB_TRY(take_rows(ctx, d, x, y, n));
    XB_TRY(xb_conditions_parse(ctx, d->condition, &d->conditions, keep, &d->judge));
    snprintf(d->score_name, sizeof d->score_name, "%s",
             xb_quality_name(&d->judge, d->condition[0].quality));
    XB_TRY(take_draws(ctx, d));
    XB_TRY(check_size(ctx, d));
    XB_TRY(make_candidates(ctx, d));
    XB_TRY(xb_variants_make(ctx, d));
    XB_TRY(xb_trial_costs(ctx, d));
    XB_TRY(meet_deadline(ctx, d));
    XB_TRY(take_memory(ctx, d));
    XB_TRY(xb_trial_digital(ctx, d));
    settle_conditions(d);
    XB_TRY(run_rounds(ctx, d));
    XB_TRY(xb_front_choose(ctx, d));
    return xb_front_mark(ctx, d);
}

xb_status xb_design_find(xb_ctx *ctx, xb_design **out, const xb_model *model,
                         const double *x, const double *y, int64_t n,
                         const xb_design_space *space, const char *keep,
                         const xb_design_options *opt)
{
    xb_design_options chosen;
    xb_analog_options analog;
    XB_TRY(XB_OPTIONS_READ(ctx, design, &chosen, opt, analog));
    XB_TRY(XB_OPTIONS_READ(ctx, analog, &analog, chosen.analog, backend));
    XB_TRY(check(ctx, model, n, &chosen));
    xb_design *d = xb_new(ctx, 1, sizeof *d);
    if (!d) return XB_E_MEMORY;
    d->space = *space;
    d->opt = chosen;
    d->analog = analog;
    d->model = model;
    d->calibration = chosen.calibration;
    d->calibration_n = chosen.calibration_n;
    d->chips_room = 2 * chosen.chips;
    xb_status status = search(ctx, d, x, y, n, keep);
    d->model = NULL; /* the caller may free them after the search */
    d->calibration = NULL;
    d->opt.calibration = NULL;
    d->opt.analog = NULL;
    d->opt.retrain = NULL;
    d->opt.train = NULL;
    if (status == XB_OK)
        *out = d;
    else
        xb_design_destroy(d);
    return status;
}

void xb_design_destroy(xb_design *d)
{
    if (!d) return;
    for (int64_t i = 0; d->candidate && i < d->candidates; i++) {
        free(d->candidate[i].score);
        free(d->candidate[i].row);
    }
    free(d->candidate);
    xb_variants_free(d);
    free(d->luck);
    free(d->point);
    free(d->x);
    free(d->y);
    free(d);
}

/* ---- what was found */

static const char *const kept_names[] = {"keeps", "fails", "cannot tell"};

const char *xb_kept_name(xb_kept kept) { return kept_names[kept]; }

xb_status xb_kept_parse(xb_ctx *ctx, xb_kept *out, const char *text)
{
    int found;
    XB_TRY(
        xb_choice_parse(ctx, &found, "verdict", text, kept_names, XB_COUNT(kept_names)));
    *out = (xb_kept)found;
    return XB_OK;
}

int64_t xb_design_count(const xb_design *d) { return d->candidates * d->n_draws; }

xb_design_point xb_design_at(const xb_design *d, int64_t i) { return d->point[i]; }

double xb_design_value(const xb_design *d, int64_t i, int64_t axis)
{
    const xb_candidate *c = &d->candidate[i / d->n_draws];
    if (axis < 0 || axis >= d->space.n) return NAN;
    if (d->space.axis[axis].kind == XB_AXIS_DRAWS) return d->draws[i % d->n_draws];
    if (strcmp(d->space.axis[axis].key, "read_interval_ns") == 0)
        /* It may be longer than the axis says, because reading all layers takes at least
         * that long. */
        return c->array.read_interval_ns;
    return xb_space_value(&d->space, c->index, axis);
}

const xb_design_space *xb_design_axes(const xb_design *d) { return &d->space; }

xb_status xb_design_array(xb_ctx *ctx, xb_array **out, const xb_design *d, int64_t i)
{
    const xb_candidate *c = &d->candidate[i / d->n_draws];
    xb_array *array = NULL;
    XB_TRY(xb_array_copy(ctx, &array, &d->space.base));
    xb_status status = XB_OK;
    for (int64_t k = 0; k < d->space.n && status == XB_OK; k++)
        status = xb_space_put(ctx, array, &d->space.axis[k], xb_design_value(d, i, k));
    array->read_interval_ns = c->array.read_interval_ns;
    if (status == XB_OK) status = xb_array_check(ctx, array);
    if (status == XB_OK)
        *out = array;
    else
        xb_array_destroy(array);
    return status;
}

const xb_model *xb_design_model(const xb_design *d, int64_t i)
{
    return d->variant[d->candidate[i / d->n_draws].variant].own;
}

int64_t xb_design_model_count(const xb_design *d) { return d->variants - 1; }

int64_t xb_design_chosen(const xb_design *d) { return d->chosen; }
int64_t xb_design_chosen_low(const xb_design *d) { return d->chosen_low; }
int64_t xb_design_chosen_high(const xb_design *d) { return d->chosen_high; }
int64_t xb_design_best(const xb_design *d) { return d->best; }
int64_t xb_design_undecided(const xb_design *d) { return d->undecided; }
const char *xb_design_score_name(const xb_design *d) { return d->score_name; }
double xb_design_digital(const xb_design *d)
{
    return d->variant[0].digital[d->condition[0].quality];
}
double xb_design_limit(const xb_design *d) { return d->condition[0].limit; }
int64_t xb_design_rows(const xb_design *d) { return d->judge.n; }
int64_t xb_design_chips(const xb_design *d) { return d->opt.chips; }
int64_t xb_design_reads(const xb_design *d) { return d->reads; }
int64_t xb_design_array_count(const xb_design *d) { return d->candidates; }
int64_t xb_design_finalist_count(const xb_design *d) { return d->finalists; }
int64_t xb_design_left_out(const xb_design *d) { return d->left_out; }
