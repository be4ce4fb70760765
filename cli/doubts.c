/* doubts.c: see doubts.h. */
#include "doubts.h"

#include <stdarg.h>
#include <string.h>

#include "print.h"

XB_PRINTF(2, 3) static void say(cli_session *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cli_progress_clear(&s->progress);
    fputs("  ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static bool never_changes(const double *x, int64_t n, int64_t stride)
{
    for (int64_t i = 1; i < n; i++)
        if (x[i * stride] != x[0]) return false;
    return true;
}

/* The number of values if they are the whole numbers from *least on and occur three times
 * or more on average, like labels of classes; otherwise 0. */
static int64_t few_whole(const double *y, int64_t n, int64_t *least)
{
    enum { CLASSES_FEW = 20, ROWS_EACH = 3 };
    bool there[CLASSES_FEW] = {false};
    double low = y[0];
    for (int64_t i = 0; i < n; i++) low = y[i] < low ? y[i] : low;
    for (int64_t i = 0; i < n; i++) {
        const double place = y[i] - low;
        if (!(place < CLASSES_FEW) || y[i] != (double)(int64_t)y[i]) return 0;
        there[(int)place] = true;
    }
    int64_t values = 0, last = 0;
    for (int k = 0; k < CLASSES_FEW; k++)
        if (there[k]) values++, last = k;
    *least = (int64_t)low;
    return values == last + 1 && n >= ROWS_EACH * values ? values : 0;
}

static void doubt_target(cli_session *s, const double *y, int64_t n)
{
    int64_t zeros = 0, ones = 0, least = 0;
    for (int64_t i = 0; i < n; i++) zeros += y[i] == 0, ones += y[i] == 1;
    const int64_t few = n > 0 ? few_whole(y, n, &least) : 0;
    if (zeros > 0 && ones > 0 && zeros + ones == n)
        say(s, "the target is 0 or 1 in every row and is learnt as a number; --classes "
               "would learn classes");
    else if (few > 1)
        say(s,
            "the target is a whole number from %lld to %lld in every row and is learnt "
            "as a number; --classes would learn classes",
            (long long)least, (long long)(least + few - 1));
    if (n > 1 && never_changes(y, n, 1))
        say(s,
            "the target is %g in every row: there is nothing to learn, and its noise is "
            "unknown",
            y[0]);
}

static void doubt_columns(cli_session *s, const xb_frame *frame)
{
    int64_t n = xb_frame_row_count(frame), columns = xb_frame_feature_count(frame),
            still = 0;
    int64_t first = 0;
    char name[CLI_SHOWN];
    for (int64_t j = columns - 1; n > 1 && j >= 0; j--)
        if (never_changes(xb_frame_values(frame) + j, n, columns)) still++, first = j;
    if (still > 0 && still == columns)
        say(s, "no column ever changes: every row gets the same prediction");
    else if (still == 1)
        say(s, "column '%s' has the same value in every row and carries no information",
            cli_shown(name, xb_frame_feature_name(frame, first)));
    else if (still > 1)
        say(s,
            "%lld columns have the same value in every row and carry no information, the "
            "first is '%s'",
            (long long)still, cli_shown(name, xb_frame_feature_name(frame, first)));
}

void cli_doubt_training(cli_session *s, const cli_inputs *in, int64_t classes)
{
    const double *y = cli_inputs_target(in);
    if (cli_quiet(s)) return;
    if (cli_count(&s->args, "epochs", 1) == 0)
        say(s,
            "--epochs 0 runs ordinary training alone: the weights' standard deviations "
            "keep their initial values, and epistemic uncertainties are meaningless");
    if (y && classes == 0) doubt_target(s, y, in->n);
    if (classes > in->n / 2)
        say(s, "the target has %lld %s in %lld %s%s", (long long)classes,
            xb_plural(classes, "class", "classes"), (long long)in->n,
            xb_plural(in->n, "row", "rows"),
            cli_flag(&s->args, "classes")
                ? "; without --classes it would be learnt as a number"
                : ", fewer than two rows for each: little can be learnt");
    if (in->frame) doubt_columns(s, in->frame);
}

/* ---- options without effect */

static void no_effect(cli_session *s, const char *option, const char *why)
{
    if (cli_flag(&s->args, option)) say(s, "--%s has no effect %s", option, why);
}

/* Whether an option was given with another value than these two. */
static bool given_but(const cli_session *s, const char *option, const char *a,
                      const char *b)
{
    const char *text = cli_text(&s->args, option, a);
    return strcmp(text, a) != 0 && strcmp(text, b) != 0;
}

void cli_doubt_train_options(cli_session *s, const cli_inputs *in)
{
    if (cli_quiet(s)) return;
    if (given_but(s, "likelihood", "auto", "heteroscedastic")) {
        no_effect(s, "noise-net", "without --likelihood heteroscedastic or auto");
        no_effect(s, "noise-prior", "without --likelihood heteroscedastic or auto");
    }
    if (given_but(s, "estimator", "auto", "example"))
        no_effect(s, "group", "without --estimator example");
    if (in->frame) no_effect(s, "mirror", "on a table");
    if (cli_flag(&s->args, "gp") && cli_flag(&s->args, "for-array"))
        say(s, "--gp adds a part that no array computes: crossbar refuses such a model");
}

void cli_doubt_predict_options(cli_session *s)
{
    if (cli_quiet(s)) return;
    const char *draws = cli_text(&s->args, "draws", "");
    if (strcmp(draws, "auto") == 0) return;
    no_effect(s, "tolerance", "without --draws auto");
    if (strcmp(draws, "adaptive") != 0)
        no_effect(s, "interval-tolerance", "without --draws auto or adaptive");
}

void cli_doubt_design_options(cli_session *s)
{
    if (!cli_quiet(s)) no_effect(s, "effort", "without --retrain");
}

void cli_doubt_device_options(cli_session *s, bool campaign, bool traces)
{
    static const char *const of_campaign[] = {"cell",  "state",      "time",
                                              "value", "programmed", "min-cells"};
    static const char *const of_traces[] = {"column", "sample-interval", "sample-rate"};
    if (cli_quiet(s)) return;
    for (int i = 0; !campaign && i < CLI_COUNT_OF(of_campaign); i++)
        no_effect(s, of_campaign[i], "on traces");
    for (int i = 0; !traces && i < CLI_COUNT_OF(of_traces); i++)
        no_effect(s, of_traces[i], "on a campaign");
}
