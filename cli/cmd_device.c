/* cmd_device.c: `crossbayes device`: makes a device file from the readings of a campaign,
 * or from one trace for each state. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "crossbar_device.h"
#include "device_page.h"
#include "device_traces.h"
#include "doubts.h"
#include "show.h"
#include "outputs.h"
#include "print.h"
#include "trace_input.h"

/* The columns of a campaign: the option that names each, and the names searched for
 * without it. */
typedef enum campaign_column {
    CELL,
    STATE,
    TIME,
    VALUE,
    PROGRAMMED,
    COLUMNS
} campaign_column;

static const struct {
    const char *option, *what;
    const char *names[4];
} known[COLUMNS] = {
    [CELL] = {"cell", "the cell", {"cell", "device", "cell_id", NULL}},
    [STATE] = {"state", "the programmed state", {"level", "state", NULL}},
    [TIME] = {"time",
              "the time since programming",
              {"nominal_time_s", "time_s", "time", NULL}},
    [VALUE] = {"value", "the conductance", {"conductance_S", "conductance", "g", NULL}},
    [PROGRAMMED] = {"programmed",
                    "the programmed conductance",
                    {"programmed_S", "programmed", NULL}},
};

static int64_t column_of(const xb_frame *frame, const char *name)
{
    for (int64_t i = 0; i < xb_frame_feature_count(frame); i++)
        if (strcmp(xb_frame_feature_name(frame, i), name) == 0) return i;
    return -1;
}

/* Returns the number of the column that the option names, or else of the first usual name
 * that exists; -1: there is none. */
static int64_t find_column(const cli_session *s, const xb_frame *frame, campaign_column c)
{
    const char *given = cli_text(&s->args, known[c].option, NULL);
    if (given) return column_of(frame, given);
    int64_t found = -1;
    for (int k = 0; found < 0 && known[c].names[k]; k++)
        found = column_of(frame, known[c].names[k]);
    return found;
}

/* Names the columns that there are instead. */
static cli_exit no_column(cli_session *s, const xb_frame *frame, const char *path,
                          campaign_column c)
{
    char names[512] = "", shown[CLI_SHOWN];
    const char *given = cli_text(&s->args, known[c].option, NULL);
    size_t used = 0;
    for (int64_t i = 0; i < xb_frame_feature_count(frame) && used < sizeof names; i++)
        used +=
            (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                             cli_shown(shown, xb_frame_feature_name(frame, i)));
    if (given)
        return cli_fail(s, CLI_USAGE,
                        "%s: there is no column '%s' for --%s; the columns are %s", path,
                        given, known[c].option, names);
    return cli_fail(
        s, CLI_USAGE,
        "%s: found no column with %s: name it with --%s COLUMN%s; the columns are %s",
        path, known[c].what, known[c].option,
        c == CELL ? ", or the samples of a trace with --column" : "", names);
}

static cli_exit find_columns(cli_session *s, int64_t at[COLUMNS], const xb_frame *frame,
                             const char *path)
{
    for (int c = 0; c < COLUMNS; c++) {
        at[c] = find_column(s, frame, (campaign_column)c);
        if (at[c] < 0 && (c != PROGRAMMED || cli_flag(&s->args, known[c].option)))
            return no_column(s, frame, path, (campaign_column)c);
    }
    return CLI_DONE;
}

/* Copies the columns of the table's rows; the caller frees the returned block. */
static double *take_columns(xb_campaign *out, const xb_frame *frame,
                            const int64_t at[COLUMNS])
{
    const int64_t n = xb_frame_row_count(frame), width = xb_frame_feature_count(frame);
    const double *values = xb_frame_values(frame);
    double *block = malloc((size_t)(n * COLUMNS) * sizeof *block);
    if (!block) return NULL;
    for (int c = 0; c < COLUMNS; c++)
        for (int64_t i = 0; i < n && at[c] >= 0; i++)
            block[c * n + i] = values[i * width + at[c]];
    const double unit = cli_time_unit(xb_frame_feature_name(frame, at[TIME]));
    for (int64_t i = 0; i < n; i++) block[TIME * n + i] *= unit;
    *out =
        (xb_campaign){.n = n,
                      .cell = block + CELL * n,
                      .state = block + STATE * n,
                      .time = block + TIME * n,
                      .value = block + VALUE * n,
                      .programmed = at[PROGRAMMED] < 0 ? NULL : block + PROGRAMMED * n};
    return block;
}

static cli_exit measure(cli_session *s, xb_device **out, const xb_frame *frame,
                        const char *path)
{
    int64_t at[COLUMNS] = {0};
    xb_campaign campaign;
    cli_exit code = find_columns(s, at, frame, path);
    if (code != CLI_DONE) return code;
    double *block = take_columns(&campaign, frame, at);
    if (!block) return cli_fail(s, CLI_FAILED, "not enough memory for the campaign");
    xb_device_options opt = xb_device_options_default();
    opt.min_cells = (int64_t)cli_count(&s->args, "min-cells", (uint64_t)opt.min_cells);
    opt.unit = cli_text(&s->args, "unit", opt.unit);
    opt.source = path;
    code = cli_status(s, xb_device_measure(s->ctx, out, &campaign, &opt));
    free(block);
    return code;
}

/* ---- output */

/* One line per state: the programmed value and its error, the spread at three times, and
 * the shift at the last.
 */
enum { SHOWN_TIMES = 3, SHOWN_STATES = 12, FIRST_SPREAD = 4 };

typedef struct shown {
    const xb_device *device;
    int64_t time[SHOWN_TIMES];
    int times;
    int64_t state[SHOWN_STATES];
    int states;
    xb_si_unit unit;
} shown;

/* Chooses `count` of n indices, evenly spread, including the first and the last. */
static int choose_evenly(int64_t *out, int count, int64_t n)
{
    const int used = n < count ? (int)n : count;
    for (int i = 0; i < used; i++) out[i] = used == 1 ? 0 : i * (n - 1) / (used - 1);
    return used;
}

static void header_cell(const shown *v, int column, char *out, size_t size)
{
    static const char *const first[] = {"state", "cells", "programmed", "program error"};
    if (column < FIRST_SPREAD) {
        snprintf(out, size, "%s", first[column]);
        return;
    }
    const bool spread = column < FIRST_SPREAD + v->times;
    const int64_t time = v->time[spread ? column - FIRST_SPREAD : v->times - 1];
    char when[64];
    cli_time_text(when, sizeof when, xb_device_time_at(v->device, time));
    snprintf(out, size, "%s, %s", spread ? "spread" : "shift", when);
}

static void body_cell(const shown *v, int row, int column, char *out, size_t size)
{
    const xb_device_state state = xb_device_state_at(v->device, v->state[row]);
    const double unit = v->unit.factor;
    const bool spread = column < FIRST_SPREAD + v->times;
    if (column == 0) snprintf(out, size, "%g", state.label);
    if (column == 1) snprintf(out, size, "%lld", (long long)state.cells);
    if (column == 2) snprintf(out, size, "%.3g", state.conductance / unit);
    if (column == 3) snprintf(out, size, "%.2g", state.error / unit);
    if (column < FIRST_SPREAD) return;
    const int64_t time = v->time[spread ? column - FIRST_SPREAD : v->times - 1];
    const xb_device_move m = xb_device_move_at(v->device, v->state[row], time);
    if (spread)
        cli_format_error(out, size, m.spread / unit, m.spread_error / unit);
    else
        cli_format_error(out, size, m.shift / unit, m.shift_error / unit);
}

static void grid_cell(const void *arg, int row, int column, char *out, size_t size)
{
    if (row == 0)
        header_cell(arg, column, out, size);
    else
        body_cell(arg, row - 1, column, out, size);
}

/* Writes "122 µS", the state, and its spread at the last time. */
static void extreme_text(const xb_device *d, int sign, char state[64], char spread[64])
{
    const int64_t i = cli_device_extreme(d, sign);
    const xb_device_move m = xb_device_move_at(d, i, xb_device_time_count(d) - 1);
    xb_quantity_text(state, 64, xb_device_state_at(d, i).conductance, NAN,
                     xb_device_unit(d));
    xb_quantity_text(spread, 64, m.spread, m.spread_error, xb_device_unit(d));
}

static void show_extremes(const xb_device *d)
{
    char quiet[64], loud[64], quiet_spread[64], loud_spread[64], when[64], text[512];
    extreme_text(d, -1, quiet, quiet_spread);
    extreme_text(d, 1, loud, loud_spread);
    cli_time_text(when, sizeof when, xb_device_time_at(d, xb_device_time_count(d) - 1));
    snprintf(text, sizeof text,
             "After %s, allowing for two standard errors, cells programmed to %s are the"
             " quietest (spread %s) and cells programmed to %s are the loudest (spread"
             " %s).",
             when, quiet, quiet_spread, loud, loud_spread);
    cli_print_words(text, 2, false);
}

static void show_relaxation(const xb_device *d, const char *source)
{
    const int64_t last = xb_device_state_count(d) - 1;
    shown v = {.device = d,
               .unit = xb_si_unit_for(xb_device_state_at(d, last).conductance,
                                      xb_device_unit(d))};
    v.times = choose_evenly(v.time, SHOWN_TIMES, xb_device_time_count(d));
    v.states = choose_evenly(v.state, SHOWN_STATES, xb_device_state_count(d));
    char name[CLI_SHOWN];
    printf("%s: %lld cells in %lld %s, read at %lld %s after programming\n",
           cli_shown(name, source), (long long)xb_device_cells(d), (long long)last + 1,
           xb_plural(last + 1, "state", "states"), (long long)xb_device_time_count(d),
           xb_plural(xb_device_time_count(d), "time", "times"));
    if (xb_device_states_left_out(d) > 0)
        printf("  left out: %lld %s with too few readings (%lld cells)\n",
               (long long)xb_device_states_left_out(d),
               xb_plural(xb_device_states_left_out(d), "state", "states"),
               (long long)xb_device_cells_left_out(d));
    printf("\n  conductances, and how far cells have moved after programming, %s\n",
           v.unit.text);
    cli_print_grid(v.states + 1, FIRST_SPREAD + v.times + 1, grid_cell, &v);
    if (v.states < last + 1)
        printf("  %d of %lld states are shown; the file has all\n", v.states,
               (long long)last + 1);
    printf("\n");
    cli_print_words(
        "program error: standard deviation of the programmed conductances; spread and "
        "shift: standard deviation and mean of how far cells have moved; ±: "
        "one standard error",
        2, false);
    /* All states are alike. */
    if (cli_device_extreme(d, -1) == cli_device_extreme(d, 1)) return;
    printf("\n");
    show_extremes(d);
}

static void show(const xb_device *d, const char *source)
{
    if (xb_device_state_count(d) > 0) show_relaxation(d, source);
    if (xb_device_trace_count(d) > 0) cli_show_traces(d);
}

static cli_exit print_json(cli_session *s, const xb_device *device)
{
    char *text = NULL;
    xb_status status = xb_device_json(s->ctx, &text, device);
    if (status != XB_OK) return cli_status(s, status);
    puts(text);
    xb_free(text);
    return CLI_DONE;
}

static cli_exit deliver(cli_session *s, const xb_device *device, const char *source)
{
    const char *file = cli_text(&s->args, "output", NULL);
    const bool to_stdout = file && strcmp(file, "-") == 0;
    if (file && !to_stdout) {
        const cli_exit saved = cli_status(s, xb_device_save(s->ctx, device, file));
        if (saved != CLI_DONE) return saved;
    }
    const cli_exit code = cli_device_report(s, device, source);
    if (code != CLI_DONE) return code;
    cli_progress_clear(&s->progress);
    if (cli_json(s) || to_stdout) return print_json(s, device);
    show(device, source);
    return CLI_DONE;
}

/* ---- telling campaigns from traces */

enum { NO_CAMPAIGN = -1 };

/* A table with a column for the cell is a campaign; so is a single file, unless it can
 * only be a trace. */
static bool is_campaign(const cli_session *s, const xb_frame *frame)
{
    enum { TRACE_COLUMNS = 2 }; /* the samples and their time */
    return find_column(s, frame, CELL) >= 0 ||
           (s->args.n_args == 1 && xb_frame_feature_count(frame) > TRACE_COLUMNS);
}

/* Finds the campaign among the files, if there is one: its number and its table. Files
 * that cannot be read as a table are left to the reader of traces. */
static cli_exit find_campaign(cli_session *s, int *out, xb_frame **table)
{
    *out = NO_CAMPAIGN;
    for (int i = 0; i < s->args.n_args; i++) {
        xb_frame *frame = NULL;
        const xb_status status = xb_frame_read(s->ctx, &frame, s->args.arg[i], NULL);
        if (status != XB_OK && s->args.n_args == 1) return cli_status(s, status);
        if (status != XB_OK && status != XB_E_INPUT) return cli_status(s, status);
        const bool found = status == XB_OK && is_campaign(s, frame);
        if (found && *out >= 0) {
            xb_frame_destroy(frame);
            return cli_fail(s, CLI_USAGE,
                            "%s and %s are both campaigns: expected at most one",
                            s->args.arg[*out], s->args.arg[i]);
        }
        if (found)
            *out = i, *table = frame;
        else
            xb_frame_destroy(frame);
    }
    return CLI_DONE;
}

/* `source` becomes the name of the campaign's file, or of the first trace's. */
static cli_exit read_files(cli_session *s, xb_device **out, const char **source)
{
    int campaign = NO_CAMPAIGN;
    xb_frame *table = NULL;
    xb_device *moves = NULL;
    cli_exit code = find_campaign(s, &campaign, &table);
    *source = s->args.arg[campaign >= 0 ? campaign : 0];
    if (code == CLI_DONE)
        cli_doubt_device_options(s, table != NULL, s->args.n_args > (campaign >= 0));
    if (code == CLI_DONE && table) code = measure(s, &moves, table, *source);
    xb_frame_destroy(table);
    if (code == CLI_DONE && s->args.n_args > (campaign >= 0)) {
        code = cli_device_traces(s, out, campaign, moves);
        xb_device_destroy(moves);
    } else {
        *out = moves;
    }
    return code;
}

static cli_exit run(cli_session *s)
{
    xb_device *device = NULL;
    const char *source = NULL;
    cli_exit code = cli_plan_file(s, "output", "");
    if (code == CLI_DONE) code = cli_device_plan(s);
    if (code == CLI_DONE) code = read_files(s, &device, &source);
    if (code == CLI_DONE) code = deliver(s, device, source);
    xb_device_destroy(device);
    return code;
}

static const cli_option options[] = {
    {"cell", 0, CLI_TEXT, "COLUMN",
     "column that identifies the cell [cell, device or cell_id]", 0, 0},
    {"state", 0, CLI_TEXT, "COLUMN", "column of the programmed state [level or state]", 0,
     0},
    {"time", 0, CLI_TEXT, "COLUMN",
     "column of the time since programming, in s or as in time_ms [nominal_time_s, "
     "time_s or"
     " time]",
     0, 0},
    {"value", 0, CLI_TEXT, "COLUMN",
     "column of the conductance [conductance_S, conductance or g]", 0, 0},
    {"programmed", 0, CLI_TEXT, "COLUMN",
     "column of the conductance right after programming [programmed_S or programmed; else"
     " the reading at time 0]",
     0, 0},
    {"min-cells", 0, CLI_COUNT, "N",
     "smallest number of cells for a state to be kept [20]", 8, 1e9},
    {"column", 'c', CLI_TEXT, "COLUMN",
     "traces: column of the samples, by name or number from 1", 0, 0},
    {"sample-interval", 0, CLI_TEXT, "TIME",
     "traces: time between samples, in s or e.g. 2.5ms", 0, 0},
    {"sample-rate", 0, CLI_TEXT, "RATE", "traces: samples per second, e.g. 400Hz", 0, 0},
    {"unit", 0, CLI_TEXT, "UNIT", "unit of the conductances in the file, e.g. uS [S]", 0,
     0},
    {"output", 'o', CLI_OUTPUT, "FILE", "device file to write (JSON); -: stdout", 0, 0},
    {"report", 0, CLI_OUTPUT, "DIR",
     "folder for a page with figures and tables; created if missing", 0, 0},
    {"format", 0, CLI_CHOICES, CLI_FORMATS, "formats of the figures [svg,png]", 0, 0},
};

static const cli_title titles[] = {
    {"cell", "Campaign"},
    {"column", "Traces"},
    {"unit", "Output"},
    {NULL, NULL},
};

const cli_command cli_command_device = {
    .name = "device",
    .group = "What is my device's noise?",
    .about = "device file from readings of many cells, or from one trace per state",
    .usage = "CAMPAIGN.csv|TRACE.csv... [-o device.json] [options]",
    .example =
        "printf 'cell,level,time_s,conductance_S\\n' > campaign.csv\n"
        "printf '%s,1,0,5e-5\\n%s,1,100,4.%se-5\\n' $(seq 10 49 | sed 'p;p')"
        " >> campaign.csv\n"
        "crossbayes device campaign.csv -o device.json --report device\n"
        "printf '5.0%se-5\\n' $(seq 300 | awk '{ print 10 + $1 * $1 * 7 % 89 }') >"
        " level1.csv\n"
        "printf '9.0%se-5\\n' $(seq 300 | awk '{ print 10 + $1 * $1 * 5 % 83 }') >"
        " level2.csv\n"
        "crossbayes device level1.csv level2.csv --sample-rate 400Hz -o noise.json",
    .options = options,
    .n_options = CLI_COUNT_OF(options),
    .titles = titles,
    .min_args = 1,
    .max_args = CLI_ARGS_MAX,
    .run = run,
};
