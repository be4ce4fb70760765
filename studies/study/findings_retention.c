/* findings_retention.c: findings on whether an array keeps its predictions as long as its
 * device was measured, and how often it must be refreshed. There is one claim for each
 * way to use its states, each judged at two standard errors. */
#include <math.h>
#include <stdio.h>

#include "study/findings.h"

static const double ERRORS = 2;

static const struct way {
    const char *name, *text;
} ways[] = {
    {"all", "With one device of each pair in its lowest state,"},
    {"range", "With quiet states only,"},
    {"pairs", "With each weight in its quietest pair of states,"},
};

typedef struct time_text {
    char text[32];
} time_text;

/* A time to two digits: "12 ms", "35 s", "42000 s". */
static time_text time_of(double seconds)
{
    time_text t;
    char number[24];
    const double rounded = xb_two_digits(seconds);
    if (seconds < 1) {
        xb_quantity_text(t.text, sizeof t.text, rounded, NAN, "s");
    } else {
        xb_number_with_error(number, sizeof number, rounded, NAN);
        snprintf(t.text, sizeof t.text, "%s s", number);
    }
    return t;
}

/* Writes "refresh it every 35 s (20 s to 60 s)", or a bound of that time. */
static void refresh_text(char *out, size_t size, const xb_study *study, int way)
{
    const xb_table *t = xb_study_table(study, "refresh");
    const double seconds = xb_table_at(t, way, "seconds");
    const double low = xb_table_at(t, way, "low"), high = xb_table_at(t, way, "high");
    const xb_table *scores = xb_study_table(study, "scores");
    const double first = xb_table_at(scores, 0, "age_s");
    const double last = xb_table_at(scores, xb_table_length(scores) - 1, "age_s");
    char column[32];
    snprintf(column, sizeof column, "loss_%s", ways[way].name);
    const bool late =
        xb_table_at(scores, 0, column) <= xb_study_fact(study, "loss").value;
    if (isfinite(seconds) && isfinite(low))
        snprintf(out, size, "must be refreshed every %s (%s to %s)",
                 time_of(seconds).text, time_of(low).text, time_of(high).text);
    else if (isfinite(seconds))
        snprintf(out, size, "must be refreshed every %s", time_of(seconds).text);
    else if (late)
        snprintf(out, size, "need not be refreshed within %s", time_of(last).text);
    else
        snprintf(out, size, "would have to be refreshed before %s", time_of(first).text);
}

/* A few chips dominate the mean, so this reports the others. */
static void half_text(char *out, size_t size, double seconds)
{
    *out = '\0';
    if (isfinite(seconds))
        snprintf(out, size, "; half of the chips stay below it for %s",
                 time_of(seconds).text);
}

static xb_status find_way(xb_ctx *ctx, xb_study *study, int way)
{
    char name[64], refresh[128], half[64];
    snprintf(name, sizeof name, "loss_%s", ways[way].name);
    const xb_fact loss = xb_study_fact(study, name);
    const double limit = xb_study_fact(study, "loss").value;
    const double gained = loss.value < 0 ? 0 : loss.value; /* a NAN stays NAN */
    const xb_finding_kind kind = xb_judge(gained, loss.std_error, limit, ERRORS);
    refresh_text(refresh, sizeof refresh, study, way);
    snprintf(name, sizeof name, "half_%s", ways[way].name);
    half_text(half, sizeof half, xb_study_fact(study, name).value);
    return xb_study_add_finding(
        ctx, study, kind, xb_finding_word(kind, (xb_finding_words){"keeps", "forgets"}),
        "%s the NLL has grown by %s nats after %s s, %s %s. To stay below that on "
        "average, "
        "the array %s%s.",
        ways[way].text, xb_show(loss.value, loss.std_error).text,
        xb_show_fact(study, "measured_s").text, xb_finding_side(kind),
        xb_show(limit, 0).text, refresh, half);
}

xb_status xb_find_retention(xb_ctx *ctx, xb_study *study)
{
    for (int way = 0; way < XB_COUNT(ways); way++) XB_TRY(find_way(ctx, study, way));
    return XB_OK;
}
