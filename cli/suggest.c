/* suggest.c: the name someone may have meant, by edit distance (insert, delete,
 * replace, swap neighbours: Damerau's, the restricted form). */
#include <string.h>

#include "options.h"

enum { WORD_MAX = 32 };

static int least(int a, int b) { return a < b ? a : b; }

static int distance(const char *a, int na, const char *b, int nb)
{
    int d[WORD_MAX + 1][WORD_MAX + 1];
    for (int i = 0; i <= na; i++) d[i][0] = i;
    for (int j = 0; j <= nb; j++) d[0][j] = j;
    for (int i = 1; i <= na; i++)
        for (int j = 1; j <= nb; j++) {
            int replace = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            d[i][j] = least(replace, 1 + least(d[i - 1][j], d[i][j - 1]));
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[na][nb];
}

/* Near: at most a third of the letters wrong, or the name's beginning. */
const char *cli_nearest(const char *word, const char *const *names, int count)
{
    const char *best = NULL;
    int best_distance = WORD_MAX, length = (int)strlen(word);
    if (length == 0 || length > WORD_MAX) return NULL;
    for (int i = 0; i < count; i++) {
        int known = (int)strlen(names[i]);
        if (known > WORD_MAX) continue;
        int d = distance(word, length, names[i], known);
        bool start = length >= 2 && strncmp(word, names[i], (size_t)length) == 0;
        if (start) d = 0;
        bool near = start || 3 * d <= (length > known ? length : known);
        if (near && d < best_distance) {
            best = names[i];
            best_distance = d;
        }
    }
    return best;
}

void cli_suggest(char out[CLI_SUGGESTION], const char *word, const char *const *names,
                 int count)
{
    const char *nearest = cli_nearest(word, names, count);
    out[0] = '\0';
    if (nearest) snprintf(out, CLI_SUGGESTION, ", did you mean '%s'?", nearest);
}
