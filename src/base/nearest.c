/* nearest.c: see nearest.h. */
#include "base/nearest.h"

#include <string.h>

enum { WORD_MAX = 32, DISTANCE_MAX = 2 };

static int least(int a, int b) { return a < b ? a : b; }

/* Damerau-Levenshtein distance, neighbours swapped once; words up to WORD_MAX. */
static int distance(const char *a, const char *b)
{
    int n = (int)strlen(a), m = (int)strlen(b);
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

int xb_nearest(const char *word, const char *const *names, int count)
{
    int best = -1, best_distance = DISTANCE_MAX + 1, length = (int)strlen(word);
    if (length > WORD_MAX) return -1;
    for (int i = 0; i < count; i++) {
        if (strlen(names[i]) > WORD_MAX) continue;
        int d = distance(word, names[i]);
        if (d < best_distance && d < length) best = i, best_distance = d;
    }
    return best;
}
