/* series_words.c: the findings about a trace, one sentence each. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "crossbayes/data.h"
#include "crossbayes/extend.h"
#include "series/series.h"

enum { QUANTITY = 96 };

static void start(xb_series *s, const char *name)
{
    xb_finding_text *f = &s->finding[s->findings++];
    snprintf(f->name, sizeof f->name, "%s", name);
    f->text[0] = '\0';
}

static void say(xb_series *s, const char *format, ...) XB_PRINTF(2, 3);

static void say(xb_series *s, const char *format, ...)
{
    xb_finding_text *f = &s->finding[s->findings - 1];
    size_t used = strlen(f->text);
    va_list args;
    va_start(args, format);
    vsnprintf(f->text + used, sizeof f->text - used, format, args);
    va_end(args);
}

/* Writes "2.5 ms", or "3 samples" if the interval is not known. */
static const char *duration(char out[QUANTITY], const xb_series *s, double value,
                            double error)
{
    if (s->timed)
        xb_quantity_text(out, QUANTITY, value, error, "s");
    else {
        char number[QUANTITY - 16];
        xb_number_with_error(number, sizeof number, value, error);
        snprintf(out, QUANTITY, "%s %s", number,
                 strcmp(number, "1") == 0 ? "sample" : "samples");
    }
    return out;
}

static const char *frequency(char out[QUANTITY], const xb_series *s, double value)
{
    if (s->timed)
        xb_quantity_text(out, QUANTITY, value, NAN, "Hz");
    else {
        char number[QUANTITY - 16];
        xb_number_with_error(number, sizeof number, value, NAN);
        snprintf(out, QUANTITY, "%s cycles per sample", number);
    }
    return out;
}

static const char *amount(char out[QUANTITY], const xb_series *s, double value,
                          double error)
{
    xb_quantity_text(out, QUANTITY, value, error, s->unit);
    return out;
}

static void say_settling(xb_series *s)
{
    char time[QUANTITY];
    start(s, "settling");
    if (!s->searched)
        say(s, s->whole ? "Not searched for: the whole trace was requested."
                        : "There are too few samples for the search.");
    else if (s->settling == 0)
        say(s, "None.");
    else if (s->timed)
        say(s, "The first %lld %s (%s) %s a start-up transient.", (long long)s->settling,
            xb_plural(s->settling, "sample", "samples"),
            duration(time, s, (double)s->settling * s->interval, NAN),
            xb_plural(s->settling, "is", "are"));
    else
        say(s, "The first %lld %s a start-up transient.", (long long)s->settling,
            xb_plural(s->settling, "sample is", "samples are"));
}

static const xb_jump *largest_jump(const xb_series *s)
{
    const xb_jump *most = &s->jump[0];
    for (int64_t i = 1; i < s->jumps; i++)
        if (fabs(s->jump[i].size) > fabs(most->size)) most = &s->jump[i];
    return most;
}

static void say_jumps(xb_series *s)
{
    char size[QUANTITY];
    start(s, "jumps");
    if (!s->searched) {
        say(s, s->whole ? "Not searched for: the whole trace was requested."
                        : "There are too few samples for the search.");
    } else if (s->jumps == 0) {
        say(s, "None beyond what noise of this spectrum shows.");
    } else {
        const xb_jump *most = largest_jump(s);
        say(s, "%lld %s of the mean, %s%s before sample %lld.", (long long)s->jumps,
            xb_plural(s->jumps, "jump", "jumps"),
            s->jumps > 1 ? "the largest by " : "by ", amount(size, s, most->size, NAN),
            (long long)most->sample + 1);
    }
}

static void say_drift(xb_series *s)
{
    char slope[QUANTITY];
    double length = (double)s->segment[s->chosen].count * s->interval;
    start(s, "drift");
    if (isnan(s->trend.p)) {
        say(s, s->whole      ? "Not searched for: the whole trace was requested."
               : s->searched ? "Not searched for."
                             : "There are too few samples for the search.");
        return;
    }
    amount(slope, s, s->trend.slope * length, s->trend.error * length);
    if (s->trend.p > s->level_asked)
        say(s,
            "None beyond what noise of this spectrum shows: %s over the stationary "
            "part.",
            slope);
    else
        say(s, "The mean drifts by %s over the stationary part%s.", slope,
            s->detrend == XB_DETREND_NONE ? "; detrending would remove it" : "");
}

static void say_part(xb_series *s)
{
    const xb_segment *part = &s->segment[s->chosen];
    char mean[QUANTITY], sd[QUANTITY], window[QUANTITY];
    start(s, "stationary part");
    if (part->count == s->total)
        say(s, "All %lld samples%s", (long long)s->total,
            s->total < s->given ? " of the chosen range" : "");
    else
        say(s, "Samples %lld to %lld, segment %lld of %lld", (long long)part->first + 1,
            (long long)part->first + (long long)part->count, (long long)s->chosen + 1,
            (long long)s->segments);
    if (s->detrend == XB_DETREND_LINEAR) say(s, ", linear trend removed");
    if (s->detrend == XB_DETREND_WINDOW)
        say(s, ", moving mean over %s removed",
            duration(window, s, s->detrend_window, NAN));
    if (s->difference) say(s, ", as successive differences");
    say(s, ": mean %s, standard deviation %s.", amount(mean, s, s->mean, NAN),
        amount(sd, s, s->sd, NAN));
}

/* Noise alone shows a line in one trace of a hundred (the level of the search). So a line
 * that is not certain is followed by how often noise shows one as clear. */
static void say_chance(xb_series *s)
{
    const double certain = 1e-4;
    double p = 0;
    for (int64_t i = 0; i < s->lines; i++) p = fmax(p, s->line[i].p);
    if (!(p > certain)) return;
    const double digit = pow(10, floor(log10(1 / p)) - 1); /* two digits are enough */
    say(s, " By chance, one trace in %.0f without any line shows one as clear as %s.",
        digit * round(1 / (p * digit)), s->lines > 1 ? "the weakest of these" : "this");
}

static void say_lines(xb_series *s)
{
    enum { SHOWN = 3 };
    char at[QUANTITY], size[QUANTITY];
    start(s, "lines");
    if (s->lines == 0) say(s, "None.");
    for (int64_t i = 0; i < s->lines && i < SHOWN; i++)
        say(s, "%s%s with an amplitude of %s", i ? ", " : "",
            frequency(at, s, s->line[i].frequency),
            amount(size, s, s->line[i].amplitude, s->line[i].amplitude_error));
    if (s->lines > SHOWN) say(s, " and %lld more", (long long)s->lines - SHOWN);
    if (s->lines > 0) say(s, s->lines_removed ? "; removed." : "; not removed.");
    say_chance(s);
}

static void say_spectrum(xb_series *s)
{
    const xb_power_law *l = &s->law;
    char low[QUANTITY], high[QUANTITY], corner[QUANTITY], exponent[QUANTITY];
    start(s, "spectrum");
    if (isnan(l->exponent)) {
        say(s, "There are too few samples.");
        return;
    }
    xb_number_with_error(exponent, sizeof exponent, l->exponent, l->exponent_error);
    bool white = fabs(l->exponent) < fmax(0.05, 3 * l->exponent_error);
    say(s, white ? "White (1/f^a with a = %s)" : "1/f^a with a = %s", exponent);
    say(s, " from %s to %s", frequency(low, s, l->low), frequency(high, s, l->high));
    if (l->floor > 0 && l->corner < l->high)
        say(s, ", and a white floor above %s", frequency(corner, s, l->corner));
    say(s, ".");
    if (!white && l->exponent - 2 * l->exponent_error > 1)
        say(s, " The variance grows with the length of the trace.");
}

static void say_levels(xb_series *s)
{
    char value[QUANTITY], sd[QUANTITY], dwell[QUANTITY];
    start(s, "levels");
    if (s->levels == 1) say(s, "One: no telegraph noise.");
    for (int64_t i = 0; i < s->levels && s->levels > 1; i++) {
        const xb_trace_level *l = &s->level[i];
        if (i == 0) say(s, "Telegraph noise between %lld levels: ", (long long)s->levels);
        say(s, "%s%s (standard deviation %s) for %.0f %% of the time", i ? "; " : "",
            amount(value, s, l->value, NAN), amount(sd, s, l->sd, NAN),
            100 * l->occupation);
        if (l->visits > 0)
            say(s, ", %s per visit (%lld %s%s)",
                duration(dwell, s, l->dwell, l->dwell_error), (long long)l->visits,
                xb_plural(l->visits, "visit", "visits"),
                isnan(l->exponential_p)   ? ""
                : l->exponential_p > 0.01 ? ", whose lengths are exponential"
                                          : ", whose lengths are not exponential");
    }
    if (s->levels > 1) say(s, ".");
}

/* The number of such cells to read in turn so that half of the reads are independent. */
static int64_t cells_needed(const xb_series *s)
{
    for (int64_t cells = 2; cells < s->reads; cells++)
        if (xb_series_in_turn(s, s->read_interval, s->reads, cells) >=
            0.5 * (double)s->reads)
            return cells;
    return s->reads;
}

/* Writes "one every 2.5 ms", "one every sample" or "one every 5 samples". */
static const char *spacing(char out[QUANTITY], const xb_series *s, double value)
{
    if (!s->timed && value == 1) return "sample";
    return duration(out, s, value, NAN);
}

static void say_draws(xb_series *s)
{
    char at[QUANTITY], number[QUANTITY], from[QUANTITY], every[QUANTITY];
    xb_burst b = xb_series_burst(s, s->read_interval, s->reads);
    start(s, "draws");
    if (b.extrapolated && isnan(s->law.exponent)) {
        say(s, "Measure longer: the trace is too short to say what %lld %s worth.",
            (long long)s->reads, xb_plural(s->reads, "read is", "reads are"));
        return;
    }
    duration(at, s, s->read_interval, NAN);
    xb_number_with_error(number, sizeof number, b.independent, b.error);
    if (s->usable == XB_USABLE_LONGER)
        say(s,
            "Measure longer: at every read interval that the trace is long enough to "
            "judge, fewer than half of %lld %s are independent. ",
            (long long)s->reads, xb_plural(s->reads, "read", "reads"));
    else
        say(s,
            s->usable == XB_USABLE
                ? "Usable as a source of draws at read intervals of %s or more. "
                : "Not usable at a read interval of %s. ",
            at);
    say(s, "%lld %s, one every %s, %s worth %s independent %s%s.", (long long)s->reads,
        xb_plural(s->reads, "read", "reads"), spacing(every, s, s->read_interval),
        xb_plural(s->reads, "is", "are"), number,
        strcmp(number, "1") == 0 ? "draw" : "draws",
        b.extrapolated ? " by the fitted spectrum" : "");
    if (s->usable == XB_USABLE_SLOWER)
        say(s, " Usable at read intervals of %s or more.",
            duration(from, s, s->usable_from, NAN));
    if (s->usable != XB_USABLE)
        say(s,
            " Reading %lld such cells in turn would make half of the reads independent.",
            (long long)cells_needed(s));
}

void xb_series_say(xb_series *s)
{
    s->findings = 0;
    say_settling(s);
    say_jumps(s);
    say_drift(s);
    say_part(s);
    say_lines(s);
    say_spectrum(s);
    say_levels(s);
    say_draws(s);
}
