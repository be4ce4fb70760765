/* sweep.c: see sweep.h. */
#include "sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool fail(char *why, size_t size, const char *what, const char *text)
{
    snprintf(why, size, "'%.60s': %s", text, what);
    return false;
}

/* Reads numbers separated by `mark`, at most `most` of them; returns 0 if the text is not
 * such a list. */
static int numbers(double *out, int most, const char *text, char mark)
{
    int count = 0;
    for (const char *p = text;; p++) {
        char *end = NULL;
        if (count == most) return 0;
        out[count] = strtod(p, &end);
        if (end == p || !isfinite(out[count])) return 0;
        count++;
        p = end;
        if (*p == '\0') return count;
        if (*p != mark) return 0;
    }
}

static bool read_range(cli_sweep *out, const char *text, char *why, size_t size)
{
    double part[3] = {0, 0, 1};
    int parts = numbers(part, 3, text, ':');
    if (parts < 2 || !(part[2] > 0) || !(part[1] >= part[0]))
        return fail(why, size, "expected FROM:TO or FROM:TO:STEP, from low to high",
                    text);
    const double slack = 1e-9; /* a share of a step: 0:1:0.1 has eleven values in spite of
                                  rounding */
    double steps = floor((part[1] - part[0]) / part[2] + slack);
    if (steps >= CLI_SWEEP_MAX) return fail(why, size, "more than 64 values", text);
    for (out->count = 0; out->count <= (int)steps; out->count++)
        out->value[out->count] = part[0] + part[2] * out->count;
    return true;
}

bool cli_sweep_read(cli_sweep *out, const char *text, char *why, size_t size)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof out->key)
        return fail(why, size, "expected KEY=FROM:TO or KEY=A,B,C", text);
    snprintf(out->key, sizeof out->key, "%.*s", (int)(equals - text), text);
    if (strchr(equals, ':')) return read_range(out, equals + 1, why, size);
    out->count = numbers(out->value, CLI_SWEEP_MAX, equals + 1, ',');
    if (out->count > 0) return true;
    return fail(why, size, "expected numbers, at most 64, as KEY=4:10 or KEY=1,2,5",
                text);
}
