/* device_traces.c: see device_traces.h. A state's number is the last one in the name of
 * its file. */
#include "device_traces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"
#include "trace_input.h"

typedef struct recordings {
    cli_trace *trace;   /* [n] */
    xb_recording *each; /* [n] */
    int64_t n;
} recordings;

/* The label of "data/rram_level08.csv" is 8; `other` is returned for a name without a
 * number. */
static double label_of(const char *path, double other)
{
    const char *name = strrchr(path, '/'), *digits = NULL;
    name = name ? name + 1 : path;
    const size_t stem = strcspn(name, ".");
    for (size_t i = 0; i < stem; i++) {
        const bool digit = name[i] >= '0' && name[i] <= '9';
        const bool before = i > 0 && name[i - 1] >= '0' && name[i - 1] <= '9';
        if (digit && !before) digits = name + i;
    }
    return digits ? strtod(digits, NULL) : other;
}

static cli_exit read_one(cli_session *s, recordings *r, const char *path)
{
    cli_trace *t = &r->trace[r->n];
    cli_exit code = cli_trace_read(s, t, path);
    if (code != CLI_DONE) return code;
    r->each[r->n] = (xb_recording){.label = label_of(path, (double)r->n),
                                   .x = t->x,
                                   .n = t->n,
                                   .sample_interval = t->interval,
                                   .source = path};
    r->n++;
    return CLI_DONE;
}

static cli_exit read_all(cli_session *s, recordings *r, int campaign)
{
    cli_exit code = CLI_DONE;
    for (int i = 0; i < s->args.n_args && code == CLI_DONE; i++)
        if (i != campaign) code = read_one(s, r, s->args.arg[i]);
    for (int64_t i = 0; i < r->n && code == CLI_DONE; i++)
        for (int64_t k = 0; k < i; k++)
            if (r->each[i].label == r->each[k].label)
                return cli_fail(
                    s, CLI_USAGE,
                    "%s and %s are both state %g: a trace's state is the last "
                    "number in its file's name, or without one its place "
                    "in the command, from 0; rename one of them",
                    r->each[k].source, r->each[i].source, r->each[i].label);
    return code;
}

cli_exit cli_device_traces(cli_session *s, xb_device **out, int campaign,
                           const xb_device *base)
{
    const size_t most = (size_t)s->args.n_args;
    recordings r = {calloc(most, sizeof *r.trace), calloc(most, sizeof *r.each), 0};
    xb_device_options opt = xb_device_options_default();
    opt.unit = cli_text(&s->args, "unit", opt.unit);
    opt.source = s->args.arg[0];
    cli_exit code = r.trace && r.each
                        ? read_all(s, &r, campaign)
                        : cli_fail(s, CLI_FAILED, "not enough memory for the traces");
    if (code == CLI_DONE)
        code = cli_status(s, xb_device_record(s->ctx, out, r.each, r.n, base, &opt));
    for (int64_t i = 0; r.trace && i < r.n; i++) cli_trace_free(&r.trace[i]);
    free(r.trace);
    free(r.each);
    return code;
}

/* ---- shown */

/* Copies the text of a law with its numbers, which follow '=' or '/', rounded to three
 * digits. */
static void round_numbers(char *out, size_t size, const char *text)
{
    for (size_t used = 0; *text && used < size;) {
        const size_t name = strcspn(text, "=/"), copied = name + (text[name] != '\0');
        used += (size_t)snprintf(out + used, size - used, "%.*s", (int)copied, text);
        text += copied;
        char *end = NULL;
        const double value = strtod(text, &end);
        if (end == text || used >= size) continue;
        used += (size_t)snprintf(out + used, size - used, "%.3g", value);
        text = end;
    }
}

static void grid_cell(const void *arg, int row, int column, char *out, size_t size)
{
    static const char *const head[] = {
        "state", "conductance", "width, sd", "independent samples", "law fits", "law"};
    const xb_device *d = arg;
    if (row == 0) {
        snprintf(out, size, "%s", head[column]);
        return;
    }
    const xb_device_trace t = xb_device_trace_at(d, row - 1);
    switch (column) {
    case 0: snprintf(out, size, "%g", t.label); break;
    case 1: xb_quantity_text(out, size, t.conductance, NAN, xb_device_unit(d)); break;
    case 2: xb_quantity_text(out, size, t.width, t.width_error, xb_device_unit(d)); break;
    case 3: snprintf(out, size, "%.3g", t.independent); break;
    case 4: snprintf(out, size, "%s", xb_device_trace_fits(d, row - 1)); break;
    default: round_numbers(out, size, xb_device_trace_law(d, row - 1));
    }
}

static void show_shapes(const xb_device *d)
{
    const char *shapes = xb_device_shapes(d);
    char text[256] = "";
    if (strcmp(shapes, "agree") == 0)
        snprintf(text, sizeof text,
                 "The shapes of the states do not differ significantly (p = %.3g,"
                 " threshold 0.01): the device has one law, that of the trace with the"
                 " most independent samples.",
                 xb_device_shapes_p(d));
    else if (strcmp(shapes, "differ") == 0)
        snprintf(text, sizeof text,
                 "The shapes of the states differ (p = %.3g, threshold 0.01): each state "
                 "has its own law.",
                 xb_device_shapes_p(d));
    else if (*shapes)
        snprintf(text, sizeof text,
                 "Whether the states have one shape cannot be tested: too few independent"
                 " samples. The law is that of the trace with the most of them.");
    if (!*text) return;
    putchar('\n');
    cli_print_words(text, 2, false);
}

void cli_show_traces(const xb_device *device)
{
    const int64_t n = xb_device_trace_count(device);
    printf("%s  read noise of %lld %s\n", xb_device_state_count(device) > 0 ? "\n" : "",
           (long long)n,
           xb_plural(n, "trace, in its stationary part",
                     "traces, in the stationary part of each"));
    cli_print_grid((int)n + 1, 6, grid_cell, device);
    show_shapes(device);
}
