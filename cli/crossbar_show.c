/* crossbar_show.c: see crossbar_show.h. Each array has one line: a few scores with their
 * Monte Carlo errors, how far the predictives moved, and the verdict. */
#include "crossbar_show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

enum { SHOWN = 4 };

/* The keys of the scores in a line; several targets together have fewer scores. */
static const char *const shown_numbers[SHOWN] = {"rmse", "nll", "coverage95",
                                                 "epistemic"};
static const char *const shown_targets[] = {"nll", "coverage95"};
static const char *const shown_classes[SHOWN] = {"accuracy", "nll", "ece", "information"};

cli_score cli_shown_at(const xb_assay_result *r, int k)
{
    const xb_scores *s = xb_assay_result_scores(r);
    const bool several = xb_scores_target_count(s) > 1;
    /* k is below cli_shown_count(): NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
    return cli_score_get(s, several                    ? shown_targets[k]
                            : xb_scores_classes(s) > 0 ? shown_classes[k]
                                                       : shown_numbers[k]);
}

int cli_shown_count(const xb_assay_result *r)
{
    const bool several = xb_scores_target_count(xb_assay_result_scores(r)) > 1;
    return several ? CLI_COUNT_OF(shown_targets) : SHOWN;
}

/* The contents of a table: its header, the digital model, the cases. */
typedef struct case_grid {
    const cli_case *cases;
    const xb_assay_result *digital;
    const char *head;
} case_grid;

/* The columns after the scores. */
enum { MEAN_OFF, SD_OFF, SHAPE_OFF, VERDICT, BESIDE };

static void header_cell(const case_grid *g, int column, char *out, size_t size)
{
    static const char *const off[] = {"mean off", "sd off", "shape off", "predictives"};
    const int scores = cli_shown_count(g->digital);
    const char *text = column == 0        ? g->head
                       : column <= scores ? cli_shown_at(g->digital, column - 1).name
                                          : off[column - 1 - scores];
    snprintf(out, size, "%s", text);
}

static void gap_cell(const xb_assay_result *r, int column, char *out, size_t size)
{
    const xb_distances *d = xb_assay_result_distance(r);
    if (column == VERDICT)
        snprintf(out, size, "%s", xb_verdict_name(xb_distances_verdict(d)));
    else
        snprintf(out, size, "%.2g", xb_distances_gap_at(d, column).rms);
}

static void case_cell(const void *arg, int row, int column, char *out, size_t size)
{
    const case_grid *g = arg;
    const cli_case *c = row > 1 ? &g->cases[row - 2] : NULL;
    const xb_assay_result *r = c ? c->result : g->digital;
    if (row == 0) {
        header_cell(g, column, out, size);
    } else if (column == 0 && c && !c->name) {
        snprintf(out, size, "%g", c->value);
    } else if (column == 0) {
        snprintf(out, size, "%s", c ? c->name : "digital");
    } else if (column <= cli_shown_count(r)) {
        xb_score s = cli_shown_at(r, column - 1).score;
        cli_format_error(out, size, s.value, s.mc_error);
    } else if (c) {
        gap_cell(r, column - 1 - cli_shown_count(r), out, size);
    }
}

/* Rounds a number of reads up to two digits, since it is an estimate. */
static double two_digits(double reads)
{
    const double unit = fmax(1, pow(10, floor(log10(reads)) - 1));
    return unit * ceil(reads / unit);
}

/* If verdicts are "cannot tell": the largest number of reads that one of them needs. */
static void show_needed(const cli_case *cases, int count)
{
    double needed = 0;
    for (int i = 0; i < count; i++) {
        const xb_distances *d = xb_assay_result_distance(cases[i].result);
        if (xb_distances_verdict(d) == XB_VERDICT_UNRESOLVED)
            needed = fmax(needed, xb_distances_draws_needed(d));
    }
    if (needed > XB_DRAWS_MAX)
        printf("\n  cannot tell: more than %.0e reads would be needed\n", XB_DRAWS_MAX);
    else if (needed > 0)
        printf("\n  cannot tell: too few reads; about %.0f would decide (--reads)\n",
               two_digits(needed));
}

void cli_show_cases(const cli_case *cases, int count, const xb_assay_result *digital,
                    const char *head)
{
    const case_grid g = {cases, digital, head};
    putchar('\n');
    cli_print_grid(count + 2, 1 + cli_shown_count(digital) + BESIDE, case_cell, &g);
    show_needed(cases, count);
}

json_t *cli_case_json(const char *name, double value, const xb_assay_result *r)
{
    const xb_scores *scores = xb_assay_result_scores(r);
    const xb_distances *d = xb_assay_result_distance(r);
    json_t *root = json_object();
    if (name)
        json_object_set_new(root, "array", json_string(name));
    else
        json_object_set_new(root, "value", cli_json_real(value));
    cli_scores_json(root, scores);
    if (!d) return root;
    if (xb_scores_classes(scores) == 0) {
        const xb_score difference = xb_assay_result_nll_difference(r);
        json_object_set_new(root, "nll_difference", cli_json_real(difference.value));
        json_object_set_new(root, "nll_difference_error",
                            cli_json_real(difference.std_error));
    }
    json_object_set_new(root, "kl_at_least",
                        cli_json_real(xb_assay_result_kl_at_least(r)));
    cli_gaps_json(root, d);
    return root;
}

/* ---- a sweep as a table */

/* The columns of each number: its mean over chips, the error of the mean, a level to
 * compare with, and the quantiles over chips. */
enum {
    OF_EACH = 5,
    OFF_COUNT = 3,
    SHARES = 3,
    TABLE_MOST = 1 + OF_EACH * (SHOWN + OFF_COUNT + 1) + SHARES
};

static const char *const off_items[OFF_COUNT] = {"mean", "sd", "whole"};
static const char *const off_keys[OFF_COUNT] = {"mean_off", "sd_off", "shape_off"};

typedef struct table_pen {
    xb_table *table; /* NULL: only the names are wanted */
    int64_t row;
    int column;
    char text[TABLE_MOST][64];
    const char *names[TABLE_MOST];
} table_pen;

static void put(table_pen *pen, const char *name, const char *suffix, double value)
{
    const int c = pen->column++;
    snprintf(pen->text[c], sizeof pen->text[c], "%s%s", name, suffix);
    pen->names[c] = pen->text[c];
    if (pen->table) xb_table_set(pen->table, pen->row, c, value);
}

/* Adds the spread of a number over chips; `error` is the error of one chip's reads. */
static void put_spread(table_pen *pen, const char *name, const xb_chips *chips,
                       xb_chip_spread s, double error, const char *level, double at)
{
    const double n = (double)xb_chips_count(chips);
    put(pen, name, "", s.mean);
    put(pen, name, "_error", n > 1 ? hypot(error, s.sd / sqrt(n)) : error);
    put(pen, name, level, at);
    put(pen, name, "_q05", s.low);
    put(pen, name, "_q95", s.high);
}

static void put_row(table_pen *pen, const char *key, const cli_case *c,
                    const xb_assay_result *digital, double tolerance)
{
    const xb_distances *d = xb_assay_result_distance(c->result);
    put(pen, key, "", c->value);
    for (int k = 0; k < cli_shown_count(digital); k++) {
        const cli_score s = cli_shown_at(digital, k);
        put_spread(pen, s.key, c->chips, xb_chips_score_get(c->chips, s.item),
                   cli_shown_at(c->result, k).score.mc_error, "_digital", s.score.value);
    }
    for (int k = 0; k < OFF_COUNT; k++)
        put_spread(pen, off_keys[k], c->chips, xb_chips_gap_get(c->chips, off_items[k]),
                   xb_distances_gap_get(d, off_items[k]).noise, "_tolerance", tolerance);
    const double same = xb_chips_verdict_share(c->chips, XB_VERDICT_SAME);
    const xb_chip_spread share = {same, 0, same, same, same};
    put_spread(pen, "same", c->chips, share, 0, "_digital", 1);
    put(pen, "different", "", xb_chips_verdict_share(c->chips, XB_VERDICT_DIFFERENT));
    put(pen, "cannot_tell", "", xb_chips_verdict_share(c->chips, XB_VERDICT_UNRESOLVED));
    put(pen, "chips", "", (double)xb_chips_count(c->chips));
}

xb_status cli_cases_table(xb_ctx *ctx, xb_table **out, const char *key,
                          const cli_case *cases, int count,
                          const xb_assay_result *digital, double tolerance)
{
    table_pen pen = {0};
    xb_table *table = NULL;
    put_row(&pen, key, &cases[0], digital, tolerance);
    xb_status status = xb_table_create(ctx, &table, key, count, pen.column, pen.names);
    if (status != XB_OK) return status;
    for (int i = 0; i < count; i++) {
        pen.table = table, pen.row = i, pen.column = 0;
        put_row(&pen, key, &cases[i], digital, tolerance);
    }
    *out = table;
    return XB_OK;
}

/* ---- limits */

static double number_of(xb_ctx *ctx, const xb_analog *analog, const char *key)
{
    double value = 0;
    (void)xb_array_get(ctx, &value, xb_analog_array(analog), key);
    return value;
}

/* Warns about wires (X9); docs/arrays.md has the errors behind this threshold. */
static void show_wires(double loss)
{
    const double much = 0.5;
    if (loss > much)
        printf(
            "  warning: wires take up to %.2g times the voltage that is left, and the"
            " first-order\n  model of wires is off by 2 %% of a column at 0.5, 6 %% at 1,"
            " 32 %% at 5; use smaller\n  tiles or a smaller line_ohm\n",
            loss);
}

void cli_show_limits(xb_ctx *ctx, const xb_analog *analog)
{
    const xb_analog_limits l = xb_analog_limits_get(analog);
    const double volt = number_of(ctx, analog, "read_v"),
                 limit = number_of(ctx, analog, "current_limit_ua");
    char current[64];
    xb_quantity_text(current, sizeof current, 1e-6 * l.column_ua, NAN, "A");
    if (!(l.column_ua > 0)) return; /* no layer is on the array */
    printf("  A column carries at most %s at %g V.", current, volt);
    if (isfinite(l.swing_low_us))
        printf(
            " The widest noise devices (standard\n  deviation %g µS) swing from %.3g to"
            " %.3g µS.",
            number_of(ctx, analog, "sigma_max_us"), l.swing_low_us, l.swing_high_us);
    putchar('\n');
    if (limit > 0 && l.column_ua > limit)
        printf("  warning: the current of a column exceeds current_limit_ua, %g µA: use"
               " fewer rows\n  in a tile, a smaller read_v or smaller conductances\n",
               limit);
    if (l.swing_low_us < 0)
        printf("  warning: a noise device would swing below 0 µS: reduce sigma_max_us or"
               " raise\n  noise_g_us\n");
    show_wires(l.wire_loss);
}

json_t *cli_limits_json(const xb_analog *analog)
{
    const xb_analog_limits l = xb_analog_limits_get(analog);
    return json_pack(
        "{s:o,s:o,s:o,s:o,s:o}", "column_ua", cli_json_real(l.column_ua), "row_ua",
        cli_json_real(l.row_ua), "wire_loss", cli_json_real(l.wire_loss), "swing_low_us",
        cli_json_real(l.swing_low_us), "swing_high_us", cli_json_real(l.swing_high_us));
}

/* ---- costs */

static void show_cost(const char *name, double value, const char *unit, double count,
                      const char *of)
{
    char text[96];
    xb_quantity_text(text, sizeof text, value, NAN, unit);
    printf("  %-20s%s", name, text);
    if (of) printf("%*s%.4g %s", 14 - cli_text_columns(text), "", count, of);
    putchar('\n');
}

void cli_show_costs(const xb_analog *analog, int64_t reads, const xb_costs *costs)
{
    xb_analog_counts n = xb_analog_count(analog, reads);
    xb_cost_estimate e = xb_analog_cost(analog, costs, reads);
    printf("\n  One prediction of %lld reads", (long long)reads);
    if (costs->note[0]) printf(" (costs: %s)", costs->note);
    printf("\n");
    show_cost("device reads", e.read_pj, "pJ", n.device_reads, "of them");
    show_cost("DAC conversions", e.dac_pj, "pJ", n.dac_conversions, "of them");
    show_cost("ADC conversions", e.adc_pj, "pJ", n.adc_conversions, "of them");
    show_cost("together", e.total_pj, "pJ", 0, NULL);
    show_cost("time", e.time_ns, "ns", n.tile_operations, "tile operations");
    show_cost("programming, once", e.write_pj, "pJ", n.devices, "of them");
}

json_t *cli_costs_json(const xb_analog *analog, int64_t reads, const xb_costs *costs)
{
    xb_analog_counts n = xb_analog_count(analog, reads);
    xb_cost_estimate e = xb_analog_cost(analog, costs, reads);
    return json_pack("{s:o,s:I,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f}", "note",
                     cli_json_text(costs->note), "reads", (json_int_t)reads, "devices",
                     n.devices, "tile_operations", n.tile_operations, "device_reads",
                     n.device_reads, "dac_conversions", n.dac_conversions,
                     "adc_conversions", n.adc_conversions, "read_pj", e.read_pj, "dac_pj",
                     e.dac_pj, "adc_pj", e.adc_pj, "total_pj", e.total_pj, "write_pj",
                     e.write_pj, "time_ns", e.time_ns);
}
