/* suggest.c: "did you mean". */
#include "options.h"

#include "crossbayes/base.h"

const char *cli_nearest(const char *word, const char *const *names, int count)
{
    int nearest = xb_nearest(word, names, count);
    return nearest >= 0 ? names[nearest] : NULL;
}

void cli_suggest(char out[CLI_SUGGESTION], const char *word, const char *const *names,
                 int count)
{
    const char *nearest = cli_nearest(word, names, count);
    out[0] = '\0';
    if (nearest) snprintf(out, CLI_SUGGESTION, ", did you mean '%s'?", nearest);
}
