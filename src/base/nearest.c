/* nearest.c: the name that was probably meant, by edit distance (insert, delete, replace,
 * swap neighbours: Damerau's, the restricted form). */
#include <string.h>

#include "crossbayes/base.h"

enum { WORD_MAX = 32 };

static int least(int a, int b) { return a < b ? a : b; }

static int distance(const char *a, int n, const char *b, int m)
{
    int row[3][WORD_MAX + 1]; /* rows i - 2, i - 1, i in turn */
    for (int j = 0; j <= m; j++) row[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *now = row[i % 3];
        const int *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            now[j] = least(last[j - 1] + (a[i - 1] != b[j - 1]),
                           least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
    }
    return row[n % 3][m];
}

/* The edit distance; more than WORD_MAX means not near. */
static int misses(const char *word, int length, const char *name)
{
    int known = (int)strlen(name), longer = length > known ? length : known;
    if (length >= 2 && strncmp(word, name, (size_t)length) == 0) return 0;
    if (known > WORD_MAX) return WORD_MAX + 1;
    int d = distance(word, length, name, known);
    return 3 * d <= longer ? d : WORD_MAX + 1;
}

int64_t xb_nearest(const char *word, const char *const *names, int64_t count)
{
    int64_t best = -1;
    int fewest = WORD_MAX + 1, length = (int)strlen(word);
    if (length == 0 || length > WORD_MAX) return -1;
    for (int64_t i = 0; i < count; i++) {
        int d = misses(word, length, names[i]);
        /* Of several names that begin with the word, the shortest. */
        const bool shorter =
            best >= 0 && d == 0 && fewest == 0 && strlen(names[i]) < strlen(names[best]);
        if (d < fewest || shorter) best = i, fewest = d;
    }
    return best;
}
