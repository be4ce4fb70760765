/* crossbar_chips.c: see crossbar_chips.h. */
#include "crossbar_chips.h"

#include <math.h>
#include <stdio.h>

#include "print.h"

#define KEPT_SHARE 0.9

static const struct chip_gap {
    const char *item, *name, *key;
} gaps[] = {
    {"mean", "mean off", "mean_off"},
    {"sd", "sd off", "sd_off"},
    {"whole", "shape off", "shape_off"},
};

static const struct chip_verdict {
    xb_verdict verdict;
    const char *key;
} verdicts[] = {
    {XB_VERDICT_SAME, "same"},
    {XB_VERDICT_DIFFERENT, "different"},
    {XB_VERDICT_UNRESOLVED, "cannot_tell"},
};

/* (X24) The standard error of the mean over chips. */
static double mean_error(const xb_chips *chips, xb_chip_spread s)
{
    return s.sd / sqrt((double)xb_chips_count(chips));
}

/* ---- all together: a line for each number */

typedef struct chip_grid {
    const cli_case *cases;
    const xb_assay_result *digital;
} chip_grid;

enum { NAME, DIGITAL, MEAN, SD, LOW, MEDIAN, HIGH, COLUMNS };

static void spread_cell(const xb_chips *chips, xb_chip_spread s, int column, char *out,
                        size_t size)
{
    const double value[COLUMNS] = {
        [SD] = s.sd, [LOW] = s.low, [MEDIAN] = s.median, [HIGH] = s.high};
    if (column == MEAN)
        cli_format_error(out, size, s.mean, mean_error(chips, s));
    else
        cli_format_value(out, size, value[column], column == SD ? 2 : 3);
}

static void number_cell(const void *arg, int row, int column, char *out, size_t size)
{
    static const char *const head[COLUMNS] = {"all together", "digital", "mean", "sd",
                                              "5 %",          "median",  "95 %"};
    const chip_grid *g = arg;
    const xb_chips *chips = g->cases->chips;
    const int gap = row - 1 - cli_shown_count(g->digital);
    if (row == 0) {
        snprintf(out, size, "%s", head[column]);
    } else if (gap >= 0) {
        if (column == NAME) snprintf(out, size, "%s", gaps[gap].name);
        if (column > DIGITAL)
            spread_cell(chips, xb_chips_gap_get(chips, gaps[gap].item), column, out,
                        size);
    } else {
        const cli_score s = cli_shown_at(g->digital, row - 1);
        if (column == NAME) snprintf(out, size, "%s", s.name);
        if (column == DIGITAL) cli_format_error(out, size, s.score.value, NAN);
        if (column > DIGITAL)
            spread_cell(chips, xb_chips_score_get(chips, s.item), column, out, size);
    }
}

/* Prints the loss that at least 90 % of the chips do not exceed, and the number of these
 * chips. */
static void show_kept(const xb_chips *chips)
{
    const double loss = xb_chips_loss(chips, "nll", KEPT_SHARE);
    const double n = (double)xb_chips_count(chips);
    char text[64];
    if (isnan(loss)) return;
    cli_format_value(text, sizeof text, fabs(loss), fabs(loss) < 99.5 ? 2 : 4);
    printf("  NLL: at a yield of 90 %%, %s %s nats (%.0f of %.0f chips)\n",
           loss < 0 ? "chips are better than digital by at least" : "chips lose at most",
           text, n * xb_chips_yield(chips, "nll", loss), n);
}

static void show_all_together(const cli_case *all, const xb_assay_result *digital,
                              uint64_t first)
{
    const chip_grid g = {all, digital};
    const double n = (double)xb_chips_count(all->chips);
    printf("\n  Over %.0f chips, %llu to %llu\n", n, (unsigned long long)first,
           (unsigned long long)(first + (uint64_t)n - 1));
    cli_print_grid(1 + cli_shown_count(digital) + CLI_COUNT_OF(gaps), COLUMNS,
                   number_cell, &g);
    printf("\n  predictives: same on %.0f, different on %.0f, cannot tell on %.0f of %.0f"
           " chips\n",
           n * xb_chips_verdict_share(all->chips, XB_VERDICT_SAME),
           n * xb_chips_verdict_share(all->chips, XB_VERDICT_DIFFERENT),
           n * xb_chips_verdict_share(all->chips, XB_VERDICT_UNRESOLVED), n);
    show_kept(all->chips);
}

/* ---- a line for each array that was read on several chips */

enum { EFFECT, NLL, NLL_LOW, NLL_HIGH, OFF, OFF_LOW, OFF_HIGH, SHARES };

typedef struct effect_grid {
    const char *head;
    const cli_case *several[CLI_CASES_MOST];
    int n;
} effect_grid;

static void effect_cell(const void *arg, int row, int column, char *out, size_t size)
{
    static const char *const head[] = {"",    "NLL",  "5 %",  "95 %",      "shape off",
                                       "5 %", "95 %", "same", "different", "cannot tell"};
    static const int of[SHARES] = {NAME, MEAN, LOW, HIGH, MEAN, LOW, HIGH};
    const effect_grid *g = arg;
    if (row == 0) {
        snprintf(out, size, "%s", column == EFFECT ? g->head : head[column]);
        return;
    }
    const cli_case *c = g->several[row - 1];
    if (column == EFFECT && c->name)
        snprintf(out, size, "%s", c->name);
    else if (column == EFFECT)
        snprintf(out, size, "%g", c->value);
    else if (column >= SHARES)
        snprintf(out, size, "%.0f",
                 (double)xb_chips_count(c->chips) *
                     xb_chips_verdict_share(c->chips, verdicts[column - SHARES].verdict));
    else
        spread_cell(c->chips,
                    column < OFF ? xb_chips_score_get(c->chips, "nll")
                                 : xb_chips_gap_get(c->chips, "whole"),
                    of[column], out, size);
}

/* Shows the cases that were read on several chips; returns false if there are none. */
static bool show_several(const cli_case *cases, int count, const char *head)
{
    effect_grid g = {.head = head};
    for (int i = 0; i < count && g.n < CLI_CASES_MOST; i++)
        if (xb_chips_count(cases[i].chips) > 1) g.several[g.n++] = &cases[i];
    if (g.n == 0) return false;
    putchar('\n');
    cli_print_grid(g.n + 1, SHARES + CLI_COUNT_OF(verdicts), effect_cell, &g);
    return true;
}

static void show_effects(const cli_case *cases, int count)
{
    if (show_several(cases, count, "effect alone"))
        printf("\n  effects not listed here are the same on all chips\n");
    else
        printf(
            "  each effect alone is scored on the first chip; --chips N scores it on N "
            "chips\n");
}

void cli_show_sweep_chips(const cli_case *cases, int count, const char *key)
{
    if (count < 1 || !show_several(cases, count, key)) return;
    printf("\n  first table of the sweep: the first chip; second table: mean ± standard\n"
           "  error and quantiles over %lld chips\n",
           (long long)xb_chips_count(cases[count - 1].chips));
}

void cli_show_chips(const cli_case *cases, int count, const xb_assay_result *digital,
                    uint64_t first)
{
    const cli_case *all = &cases[count - 1];
    if (xb_chips_count(all->chips) < 2) return;
    show_all_together(all, digital, first);
    show_effects(cases, count - 1);
    printf("  ±: standard error over chips; all chips have the same read noise\n");
}

/* ---- JSON */

static json_t *spread_json(const xb_chips *chips, xb_chip_spread s)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "mean", cli_json_real(s.mean),
                     "mean_error", cli_json_real(mean_error(chips, s)), "sd",
                     cli_json_real(s.sd), "q05", cli_json_real(s.low), "median",
                     cli_json_real(s.median), "q95", cli_json_real(s.high));
}

json_t *cli_chips_json(const cli_case *c, const xb_assay_result *digital)
{
    const xb_chips *chips = c->chips;
    json_t *root = json_pack("{s:I}", "count", (json_int_t)xb_chips_count(chips));
    for (int k = 0; k < cli_shown_count(digital); k++) {
        const cli_score s = cli_shown_at(digital, k);
        const xb_chip_spread over = xb_chips_score_get(chips, s.item);
        json_t *one = spread_json(chips, over);
        json_object_set_new(one, "less_digital",
                            cli_json_real(over.mean - s.score.value));
        json_object_set_new(one, "kept90",
                            cli_json_real(xb_chips_loss(chips, s.item, KEPT_SHARE)));
        json_object_set_new(root, s.key, one);
    }
    for (int k = 0; k < CLI_COUNT_OF(gaps); k++)
        json_object_set_new(root, gaps[k].key,
                            spread_json(chips, xb_chips_gap_get(chips, gaps[k].item)));
    for (int k = 0; k < CLI_COUNT_OF(verdicts); k++)
        json_object_set_new(
            root, verdicts[k].key,
            cli_json_real(xb_chips_verdict_share(chips, verdicts[k].verdict)));
    return root;
}
