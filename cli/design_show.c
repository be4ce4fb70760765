/* design_show.c: see design_show.h. */
#include "design_show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cost_show.h"

static int64_t axes_of(const xb_design *d)
{
    return xb_design_space_axis_count(xb_design_axes(d));
}

void cli_design_text(char *out, size_t size, const xb_design *d, int64_t i)
{
    size_t at = 0;
    for (int64_t k = 0; k < axes_of(d) && at < size; k++)
        at += (size_t)snprintf(out + at, size - at, "%s%s %g", k ? ", " : "",
                               xb_design_space_axis_name(xb_design_axes(d), k),
                               xb_design_value(d, i, k));
}

static void loss_text(char *out, size_t size, const xb_design *d, int64_t i)
{
    const xb_design_point p = xb_design_at(d, i);
    cli_format_error(out, size, p.loss, p.error);
}

void cli_design_why(char *out, size_t size, const xb_design *d, const char *keep)
{
    const int64_t best = xb_design_best(d);
    char what[512], score[64];
    if (best < 0) {
        snprintf(out, size, "no design keeps %s", keep);
        return;
    }
    const xb_design_point p = xb_design_at(d, best);
    const double digital = xb_design_digital(d);
    cli_design_text(what, sizeof what, d, best);
    cli_format_error(score, sizeof score, p.score, p.error);
    snprintf(
        out, size,
        "%s %lld %s keeps %s on %lld chips: the best, with %s, reaches %s %s where the "
        "digital model has %.4g",
        p.kept == XB_KEPT_UNRESOLVED ? "cannot tell whether one of" : "none of",
        (long long)xb_design_count(d), xb_plural(xb_design_count(d), "design", "designs"),
        keep, (long long)xb_design_chips(d), what, xb_design_score_name(d), score,
        digital);
}

/* ---- text */

static void show_choice(const xb_design *d)
{
    const xb_design_point p = xb_design_confirmed(d);
    char text[512], more[64];
    cli_design_text(text, sizeof text, d, xb_design_chosen(d));
    printf("\n  The cheapest design that meets the condition: %s\n", text);
    cli_energy_text(text, sizeof text, p.energy_pj);
    printf("  %-14s%s a prediction\n", "energy", text);
    cli_nanoseconds_text(text, sizeof text, p.time_ns);
    printf("  %-14s%s a prediction\n", "time", text);
    cli_format_error(text, sizeof text, p.score, p.error);
    cli_format_error(more, sizeof more, p.loss, p.error);
    printf("  %-14s%s, worse by %s, confirmed on %lld chips\n", xb_design_score_name(d),
           text, more, (long long)p.chips);
    if (!isnan(p.row_error))
        printf("  %-14son other rows of this kind the difference would vary by ± %.2g\n",
               "", p.row_error);
    printf("  %-14s%.0f of %lld chips meet the condition individually\n", "yield",
           p.yield * (double)p.chips, (long long)p.chips);
}

/* With either end of the energy ranges another design may be the cheapest. */
static void show_ends(const xb_design *d)
{
    const struct {
        const char *name;
        int64_t design;
    } end[] = {{"low", xb_design_chosen_low(d)}, {"high", xb_design_chosen_high(d)}};
    char text[512];
    for (int k = 0; k < CLI_COUNT_OF(end); k++) {
        if (end[k].design == xb_design_chosen(d) || end[k].design < 0) continue;
        cli_design_text(text, sizeof text, d, end[k].design);
        printf("  with the %s ends of the energy ranges, the cheapest is: %s\n",
               end[k].name, text);
    }
    const int64_t n = xb_design_undecided(d);
    if (n > 0)
        printf("  %lld cheaper %s may keep it as well: more --chips would decide\n",
               (long long)n, xb_plural(n, "design", "designs"));
}

/* ---- what training for the array is worth */

static double axis_value(const xb_design *d, int64_t i, const char *key)
{
    return xb_design_value(d, i, xb_design_space_axis_find(xb_design_axes(d), key));
}

/* The fewest bits with which a design with this value of `for_array` meets the
 * condition. */
static double fewest_bits(const xb_design *d, const char *bits, double aware)
{
    double least = INFINITY;
    for (int64_t i = 0; i < xb_design_count(d); i++) {
        const xb_design_point p = xb_design_at(d, i);
        if (p.finalist && p.kept == XB_KEPT_YES && !p.refuted &&
            axis_value(d, i, "for_array") == aware)
            least = fmin(least, axis_value(d, i, bits));
    }
    return least;
}

static void bits_text(char *out, size_t size, double bits)
{
    if (isfinite(bits))
        snprintf(out, size, "%.0f", bits);
    else
        snprintf(out, size, "none of those tried");
}

/* Compares training with and without the array, if both were tried with several
 * converters. */
static void show_saved(const xb_design *d)
{
    static const char *const keys[] = {"adc_bits", "dac_bits"};
    char plain[32], aware[32];
    if (xb_design_model_count(d) > 0)
        printf("  %lld %s trained again\n", (long long)xb_design_model_count(d),
               xb_plural(xb_design_model_count(d), "model was", "models were"));
    if (xb_design_space_axis_find(xb_design_axes(d), "for_array") < 0) return;
    for (int k = 0; k < CLI_COUNT_OF(keys); k++) {
        if (xb_design_space_axis_find(xb_design_axes(d), keys[k]) < 0) continue;
        bits_text(plain, sizeof plain, fewest_bits(d, keys[k], 0));
        bits_text(aware, sizeof aware, fewest_bits(d, keys[k], 1));
        printf("  smallest %s that keeps the condition: %s if trained without the array,"
               " %s if trained for it\n",
               keys[k], plain, aware);
    }
}

/* ---- the front */

typedef struct front_grid {
    const xb_design *d;
    int64_t *design; /* [n], cheapest first */
    int64_t n;
} front_grid;

enum { ENERGY, TIME, LOSS, KEPT, AXES };

static void front_cell(const void *arg, int row, int column, char *out, size_t size)
{
    static const char *const head[] = {"energy", "time", "loss", "verdict"};
    const front_grid *g = arg;
    if (row == 0) {
        snprintf(out, size, "%s",
                 column < AXES
                     ? head[column]
                     : xb_design_space_axis_name(xb_design_axes(g->d), column - AXES));
        return;
    }
    const int64_t i = g->design[row - 1];
    const xb_design_point p = xb_design_at(g->d, i);
    if (column == ENERGY)
        cli_energy_text(out, size, p.energy_pj);
    else if (column == TIME)
        cli_nanoseconds_text(out, size, p.time_ns);
    else if (column == LOSS)
        loss_text(out, size, g->d, i);
    else if (column == KEPT)
        snprintf(out, size, "%s%s%s%s", xb_kept_name(p.kept),
                 p.refuted ? " (more chips)" : "", p.tie ? ", tie" : "",
                 i == xb_design_chosen(g->d) ? ", chosen" : "");
    else
        snprintf(out, size, "%g", xb_design_value(g->d, i, column - AXES));
}

static int by_energy(const void *a, const void *b)
{
    const xb_design_point *x = a, *y = b;
    const double one = x->energy_pj.low * x->energy_pj.high;
    const double other = y->energy_pj.low * y->energy_pj.high;
    return one < other ? -1 : one > other;
}

/* Lists the front, and the choice if it is not on the front. */
static bool list_front(front_grid *g)
{
    const int64_t all = xb_design_count(g->d);
    xb_design_point *p = calloc((size_t)all + 1, sizeof *p);
    g->design = calloc((size_t)all + 1, sizeof *g->design);
    for (int64_t i = 0; p && g->design && i < all; i++) {
        const xb_design_point one = xb_design_at(g->d, i);
        if (!one.energy_front && i != xb_design_chosen(g->d)) continue;
        p[g->n] = one;
        p[g->n++].array = i; /* keeps its number through sorting */
    }
    if (p && g->design) {
        qsort(p, (size_t)g->n, sizeof *p, by_energy);
        for (int64_t k = 0; k < g->n; k++) g->design[k] = p[k].array;
    }
    free(p);
    return g->design != NULL;
}

static void show_front(const xb_design *d)
{
    front_grid g = {.d = d};
    if (!list_front(&g)) return;
    printf("\n  Pareto front of energy against %s, cheapest first\n",
           xb_design_score_name(d));
    cli_print_grid((int)g.n + 1, AXES + (int)axes_of(d), front_cell, &g);
    printf("\n  loss: how much worse than the digital model, ± standard error over chips "
           "and reads\n  tie: not significantly better than a cheaper design of the "
           "front\n");
    free(g.design);
}

void cli_show_design(const xb_design *d, const char *keep, double yield)
{
    printf("  digital %s %.4g; condition %s, that is %.4g; %lld reads on each of %lld "
           "chips\n",
           xb_design_score_name(d), xb_design_digital(d), keep, xb_design_limit(d),
           (long long)xb_design_reads(d), (long long)xb_design_chips(d));
    if (yield < 1)
        printf("  scores are averages over the best %.0f %% of the chips\n", 100 * yield);
    printf("  %lld %s on %lld %s, of which %lld %s read on all chips\n",
           (long long)xb_design_count(d),
           xb_plural(xb_design_count(d), "design", "designs"),
           (long long)xb_design_array_count(d),
           xb_plural(xb_design_array_count(d), "array", "arrays"),
           (long long)xb_design_finalist_count(d),
           xb_plural(xb_design_finalist_count(d), "was", "were"));
    if (xb_design_left_out(d) > 0)
        printf("  %lld %s left out because their values contradict each other\n",
               (long long)xb_design_left_out(d),
               xb_plural(xb_design_left_out(d), "combination was", "combinations were"));
    show_saved(d);
    if (xb_design_chosen(d) >= 0) {
        show_choice(d);
        show_ends(d);
    }
    show_front(d);
}

/* ---- JSON */

static json_t *point_json(const xb_design *d, int64_t i, xb_design_point p)
{
    json_t *root = json_object();
    for (int64_t k = 0; k < axes_of(d); k++)
        json_object_set_new(root, xb_design_space_axis_name(xb_design_axes(d), k),
                            cli_json_real(xb_design_value(d, i, k)));
    const struct {
        const char *key;
        double value;
    } number[] = {{"energy_pj_low", p.energy_pj.low},
                  {"energy_pj_high", p.energy_pj.high},
                  {"time_ns", p.time_ns},
                  {"score", p.score},
                  {"loss", p.loss},
                  {"error", p.error},
                  {"row_error", p.row_error},
                  {"yield", p.yield},
                  {"chips", (double)p.chips}};
    for (int k = 0; k < CLI_COUNT_OF(number); k++)
        json_object_set_new(root, number[k].key, cli_json_real(number[k].value));
    json_object_set_new(root, "verdict", json_string(xb_kept_name(p.kept)));
    json_object_set_new(root, "refuted", json_boolean(p.refuted));
    json_object_set_new(root, "finalist", json_boolean(p.finalist));
    json_object_set_new(root, "energy_front", json_boolean(p.energy_front));
    json_object_set_new(root, "time_front", json_boolean(p.time_front));
    json_object_set_new(root, "tie", json_boolean(p.tie));
    return root;
}

static json_t *index_json(int64_t i) { return i < 0 ? json_null() : json_integer(i); }

json_t *cli_design_json(const xb_design *d, const char *keep)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < xb_design_count(d); i++)
        json_array_append_new(list, point_json(d, i, xb_design_at(d, i)));
    const int64_t chosen = xb_design_chosen(d);
    json_t *confirmed =
        chosen < 0 ? json_null() : point_json(d, chosen, xb_design_confirmed(d));
    return json_pack(
        "{s:o,s:s,s:o,s:o,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:I,s:o}", "keep",
        cli_json_text(keep), "score", xb_design_score_name(d), "digital",
        cli_json_real(xb_design_digital(d)), "limit", cli_json_real(xb_design_limit(d)),
        "rows", (json_int_t)xb_design_rows(d), "chips", (json_int_t)xb_design_chips(d),
        "reads", (json_int_t)xb_design_reads(d), "arrays",
        (json_int_t)xb_design_array_count(d), "finalists",
        (json_int_t)xb_design_finalist_count(d), "models",
        (json_int_t)xb_design_model_count(d), "chosen", index_json(chosen), "confirmed",
        confirmed, "chosen_low", index_json(xb_design_chosen_low(d)), "chosen_high",
        index_json(xb_design_chosen_high(d)), "best", index_json(xb_design_best(d)),
        "undecided", (json_int_t)xb_design_undecided(d), "designs", list);
}
