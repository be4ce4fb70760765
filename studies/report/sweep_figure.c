/* sweep_figure.c: a model's scores against one number of its arrays that is swept. There
 * is one panel for each score, with its error as bars, the quantiles over chips as a band
 * if there are several chips, and the digital model's level or the tolerance as a line.
 * One legend is above all panels. Margins have room for the longest tick label. */
#include <math.h>
#include <string.h>

#include "crossbayes/crossbar.h"
#include "report/figure.h"
#include "report/style.h"

enum {
    SCORES_MOST = 10,
    FIRST = 1,
    TICKS_MOST = 8,
    PANEL_WIDTH = 460,
    PANEL_HEIGHT = 330,
    LEGEND_HEIGHT = 40, /* height of one row of the legend */
    LEGEND_ROW = 22,
    DIGIT_WIDTH = 9, /* width of one character of a tick label */
    TICK_GAP = 10,   /* distance from an axis to its tick labels */
    TITLE_WIDTH = 28 /* an axis title with the space around it */
};

/* The axis of the number that is swept. */
typedef struct sweep_axis {
    const char *label;
    bool whole; /* ticks at whole numbers */
    bool log;
    double low, high;
    xb_si_unit unit;
} sweep_axis;

static void write_rows(FILE *data, const xb_table *t, double factor)
{
    for (int c = 0; c < xb_table_column_count(t); c++)
        fprintf(data, "%s%s", c ? " " : "# ", xb_table_column_name(t, c));
    fputc('\n', data);
    for (int64_t r = 0; r < xb_table_row_count(t); r++) {
        for (int c = 0; c < xb_table_column_count(t); c++) {
            double value = xb_table_get(t, r, c) / (c == 0 ? factor : 1);
            if (isfinite(value))
                fprintf(data, "%.17g ", value);
            else
                fprintf(data, "NaN ");
        }
        fputc('\n', data);
    }
}

/* The label and the unit of a swept number. Numbers that are all above 0 and span one and
 * a half decades or more are drawn on a log axis. */
static sweep_axis find_axis(const xb_table *t)
{
    sweep_axis a = {.label = xb_table_column_name(t, 0), .low = INFINITY};
    const char *unit = "";
    int64_t number = xb_array_field_find(a.label);
    if (number >= 0) {
        const xb_array_field field = xb_array_field_at(number);
        a.label = field.label, a.whole = field.whole, unit = field.unit;
    }
    for (int64_t r = 0; r < xb_table_row_count(t); r++) {
        a.low = fmin(a.low, xb_table_get(t, r, 0));
        a.high = fmax(a.high, xb_table_get(t, r, 0));
    }
    const double wide = 30;
    a.log = a.low > 0 && a.high / a.low >= wide;
    double typical = a.log ? sqrt(a.low * a.high) : a.high;
    a.unit = *unit ? xb_si_unit_for(typical, unit) : (xb_si_unit){.factor = 1};
    return a;
}

/* The usual names of scores; any other column keeps its own name. An axis spans `least`
 * or more, and its ticks end at the limits of the score. */
typedef struct score_kind {
    const char *key, *label;
    double least, lowest, highest;
} score_kind;

static score_kind find_score(const char *key)
{
    static const score_kind kinds[] = {
        {"rmse", "RMSE (target's unit)", 0, 0, INFINITY},
        {"nll", "NLL (nats per row)", 0.02, -INFINITY, INFINITY},
        {"coverage95", "coverage of 95 % intervals", 0.02, 0, 1},
        {"epistemic", "epistemic sd (target's unit)", 0, 0, INFINITY},
        {"accuracy", "accuracy", 0.02, 0, 1},
        {"ece", "expected calibration error", 0.02, 0, 1},
        {"information", "mutual information (nats)", 0, 0, INFINITY},
        {"mean_off", "change of the means (epistemic sds)", 0.1, 0, INFINITY},
        {"sd_off", "change of the standard deviations (sds)", 0.1, 0, INFINITY},
        {"shape_off", "change of the distributions (epistemic sds)", 0.1, 0, INFINITY},
        {"same", "chips with the same predictive", 0.02, 0, 1},
    };
    for (int i = 0; i < XB_COUNT(kinds); i++)
        if (strcmp(kinds[i].key, key) == 0) return kinds[i];
    return (score_kind){key, key, 0, -INFINITY, INFINITY};
}

/* The axis of a score: its range, its ticks, and their format. */
typedef struct score_axis {
    const char *label;
    double low, high;         /* range of the frame */
    double first, step, last; /* positions of the ticks */
    int decimals;
    bool plain; /* 0.01, not 1e-02 */
    int width;  /* characters of the longest tick label */
} score_axis;

static void widen(score_axis *a, double value, double error)
{
    if (!isfinite(value)) return;
    if (!isfinite(error)) error = 0;
    a->low = fmin(a->low, value - error);
    a->high = fmax(a->high, value + error);
}

/* Leaves room above and below, and a span in which relevant changes look large and noise
 * looks small. */
static void pad(score_axis *a, const score_kind *kind)
{
    const double share = 0.02, room = 0.08;
    if (!(a->low <= a->high)) a->low = a->high = 0; /* no finite value */
    double least = fmax(kind->least, share * fmax(fabs(a->low), fabs(a->high)));
    if (!(least > 0)) least = 1;
    double middle = a->low / 2 + a->high / 2;
    double half = fmax(a->high - a->low, least) * (0.5 + room);
    double edge = half * room / (0.5 + room); /* beyond the limits of the score */
    middle = fmin(middle, fmax(a->high, kind->highest) + edge - half);
    middle = fmax(middle, fmin(a->low, kind->lowest) - edge + half);
    a->low = middle - half;
    a->high = middle + half;
}

/* Steps of 1, 2 or 5 times a power of ten, with only the digits they need. */
static void place_ticks(score_axis *a, const score_kind *kind)
{
    enum { STEPS = 7, PLAIN_MOST = 5 };
    double power = pow(10, floor(log10((a->high - a->low) / STEPS)));
    double steps = (a->high - a->low) / STEPS / power;
    a->step = power * (steps <= 1 ? 1 : steps <= 2 ? 2 : steps <= 5 ? 5 : 10);
    const double slack = 1e-6; /* relative to a step */
    double low = fmax(a->low, kind->lowest), high = fmin(a->high, kind->highest);
    if (high - low < a->step) low = a->low, high = a->high; /* there is no such score */
    a->first = ceil(low / a->step - slack) * a->step;
    a->last = floor(high / a->step + slack) * a->step;
    int digits = (int)floor(log10(a->step) + slack);
    double largest = fmax(a->step, fmax(fabs(a->first), fabs(a->last)));
    int most = (int)floor(log10(largest) + slack);
    a->plain = digits >= -PLAIN_MOST && most <= PLAIN_MOST;
    int decimals = (a->plain ? 0 : most) - digits;
    a->decimals = decimals > 0 ? decimals : 0;
}

static int label_width(const score_axis *a, double value)
{
    return a->plain ? snprintf(NULL, 0, "%.*f", a->decimals, value)
                    : snprintf(NULL, 0, "%.*e", a->decimals, value);
}

/* A column and the ones that belong to it: NAME, NAME_error, a level, and perhaps
 * NAME_q05 and NAME_q95. */
typedef struct score_column {
    int at;
    bool band;
} score_column;

static bool has_suffix(const xb_table *t, int column, int next, const char *suffix)
{
    char name[96];
    if (next >= xb_table_column_count(t)) return false;
    snprintf(name, sizeof name, "%s%s", xb_table_column_name(t, column), suffix);
    return strcmp(name, xb_table_column_name(t, next)) == 0;
}

static int find_scores(score_column *out, const xb_table *t)
{
    int n = 0;
    for (int c = FIRST; c + 2 < xb_table_column_count(t) && n < SCORES_MOST; c++) {
        if (!has_suffix(t, c, c + 1, "_error")) continue;
        out[n++] = (score_column){c, has_suffix(t, c, c + 3, "_q05") &&
                                         has_suffix(t, c, c + 4, "_q95")};
    }
    return n;
}

static score_axis find_score_axis(const xb_table *t, score_column score)
{
    const int column = score.at;
    const score_kind kind = find_score(xb_table_column_name(t, column));
    score_axis a = {.label = kind.label, .low = INFINITY, .high = -INFINITY};
    for (int64_t r = 0; r < xb_table_row_count(t); r++) {
        widen(&a, xb_table_get(t, r, column), xb_table_get(t, r, column + 1));
        widen(&a, xb_table_get(t, r, column + 2), 0);
        for (int k = 3; k < 5 && score.band; k++)
            widen(&a, xb_table_get(t, r, column + k), 0);
    }
    pad(&a, &kind);
    place_ticks(&a, &kind);
    int first = label_width(&a, a.first), last = label_width(&a, a.last);
    a.width = first > last ? first : last;
    return a;
}

/* A few whole numbers over several decades get one tick each. */
static void write_ticks(FILE *script, const xb_table *t, const sweep_axis *a)
{
    if (a->log) fprintf(script, "set logscale x\n");
    if (!a->whole) return;
    if (!a->log) {
        fprintf(script, "set xtics %g\nset mxtics 1\n",
                xb_style_whole_step(a->low, a->high));
        return;
    }
    if (xb_table_row_count(t) > TICKS_MOST) return;
    fprintf(script, "set xtics (");
    for (int64_t r = 0; r < xb_table_row_count(t); r++)
        fprintf(script, "%s%.0f", r ? "," : "", xb_table_get(t, r, 0));
    fprintf(script, ")\n");
}

/* Pixels from an axis of scores to the middle of its title. */
static double title_distance(int digits)
{
    return TICK_GAP + DIGIT_WIDTH * digits + TITLE_WIDTH / 2.0;
}

/* Whether the chips differ at all. */
static bool is_wide(const xb_table *t, score_column score)
{
    for (int64_t r = 0; score.band && r < xb_table_row_count(t); r++)
        if (xb_table_get(t, r, score.at + 4) > xb_table_get(t, r, score.at + 3))
            return true;
    return false;
}

/* In a narrow figure the entries are one below the other; with a band there are four of
 * them, which do not fit side by side. */
static int legend_rows(int across, bool band)
{
    return across == 1 ? 3 + band : 1 + band;
}

static int legend_height(int rows)
{
    return rows == 1 ? LEGEND_HEIGHT
                     : LEGEND_HEIGHT + LEGEND_ROW * (rows > 2 ? rows - 2 : 1);
}

/* Lays out panels of the same size with a legend above, with room between the data and
 * the frame, and with room on the left of each panel for a title and for tick labels of
 * `digits` characters. */
static void write_layout(FILE *script, int across, int down, int digits, int rows)
{
    const int legend = legend_height(rows);
    double high = down * PANEL_HEIGHT + legend, wide = across * PANEL_WIDTH;
    double left = title_distance(digits) + TITLE_WIDTH / 2.0;
    fprintf(script,
            "set multiplot layout %d,%d margins screen %.4f,%.4f,%.4f,%.4f spacing screen"
            " %.4f,%.4f\n"
            "set key at screen 0.5, screen %.4f center top vertical maxrows %d\n"
            "set autoscale xfix\n"
            "set offsets graph 0.05, graph 0.05, 0, 0\n",
            down, across, left / wide, 1 - 20 / wide, 60 / high, 1 - (legend + 8) / high,
            (left + 10) / wide, 70 / high, 1 - 6 / high, rows);
}

/* The title is a label, because gnuplot places its own titles by guessing the width of
 * the tick labels. */
static void write_score_axis(FILE *script, const score_axis *a, int across, int digits)
{
    fprintf(script, "set yrange [%.10g:%.10g]\nset ytics %.10g,%.10g,%.10g\n", a->low,
            a->high, a->first, a->step, a->last + a->step / 4);
    fprintf(script, "set format y '%%.%d%c'\nset label 1 ", a->decimals,
            a->plain ? 'f' : 'e');
    xb_style_quote(script, a->label);
    fprintf(script,
            " at graph 0, graph 0.5 center rotate noenhanced offset screen %.4f, 0\n",
            -title_distance(digits) / (across * PANEL_WIDTH));
}

static const char tolerance_colour[] = "#888888";

static bool has_tolerance(const xb_table *t)
{
    for (int c = FIRST; c < xb_table_column_count(t); c++)
        if (strstr(xb_table_column_name(t, c), "_tolerance")) return true;
    return false;
}

/* The level is dashed and drawn above the array's line, so that both are visible where
 * they agree. */
static void draw_panel(FILE *script, const char *data, const xb_table *t,
                       score_column score, bool titled)
{
    const int from = score.at + 1; /* gnuplot counts from 1 */
    const char *level = xb_table_column_name(t, score.at + 2);
    const bool digital = !strstr(level, "_tolerance");
    fprintf(script, "plot ");
    if (is_wide(t, score))
        fprintf(script,
                "%s using 1:%d:%d with filledcurves fillcolor '%s' fillstyle transparent"
                " solid 0.18 noborder title '%s', \\\n     ",
                data, from + 3, from + 4, xb_style_colour("device"),
                titled ? "5 to 95 % of chips" : "");
    fprintf(script,
            "%s using 1:%d:%d with yerrorlines pointtype 7 pointsize 0.5"
            " linewidth 2.2 linecolor '%s' title '%s', \\\n     '' using 1:%d with lines"
            " dashtype (10,8) linewidth 1.4 linecolor '%s' title '%s'",
            data, from, from + 1, xb_style_colour("device"),
            titled ? "array, ± one standard error" : "", from + 2,
            digital ? xb_style_colour("gaussian") : tolerance_colour,
            titled ? "digital model" : "");
    if (titled && has_tolerance(t))
        fprintf(script,
                ", \\\n     NaN with lines dashtype (10,8) linewidth 1.4 linecolor '%s'"
                " title 'tolerance'",
                tolerance_colour);
    fputc('\n', script);
}

xb_status xb_report_sweep(xb_ctx *ctx, const xb_table *table, const char *path,
                          unsigned formats)
{
    score_column column[SCORES_MOST];
    const int scores = find_scores(column, table);
    if (scores < 1)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "a sweep of %lld columns: expected NAME, NAME_error and a level"
                       " of each score after the first",
                       (long long)xb_table_column_count(table));
    int across = scores < 2 ? 1 : 2, down = (scores + across - 1) / across;
    const int rows = legend_rows(across, is_wide(table, column[0]));
    xb_figure *f = NULL;
    XB_TRY(xb_figure_open(ctx, &f, path, across * PANEL_WIDTH,
                          down * PANEL_HEIGHT + legend_height(rows)));
    FILE *script = xb_figure_script(f);
    const sweep_axis axis = find_axis(table);
    write_rows(xb_figure_data(f), table, axis.unit.factor);
    score_axis score[SCORES_MOST];
    int digits = 0;
    for (int k = 0; k < scores; k++) {
        score[k] = find_score_axis(table, column[k]);
        if (score[k].width > digits) digits = score[k].width;
    }
    write_layout(script, across, down, digits, rows);
    write_ticks(script, table, &axis);
    xb_style_label(script, "x", axis.label, "", axis.unit.text);
    for (int k = 0; k < scores; k++) {
        write_score_axis(script, &score[k], across, digits);
        draw_panel(script, xb_figure_data_name(f), table, column[k], k == 0);
    }
    fprintf(script, "unset multiplot\n");
    return xb_figure_draw(ctx, f, formats);
}
