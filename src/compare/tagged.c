/* tagged.c: bottom-up merge sort over runs sorted by insertion. 2000 items take
 * about 0.1 ms. */
#include "compare/tagged.h"

#include <string.h>

enum { RUN = 16 };

static void insert_sort(xb_tagged *item, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        xb_tagged t = item[i];
        int64_t j = i;
        for (; j > 0 && item[j - 1].x > t.x; j--) item[j] = item[j - 1];
        item[j] = t;
    }
}

static void merge(xb_tagged *restrict to, const xb_tagged *from, int64_t middle,
                  int64_t n)
{
    int64_t i = 0, j = middle;
    for (int64_t k = 0; k < n; k++) {
        bool left = i < middle && (j >= n || from[i].x <= from[j].x);
        to[k] = from[left ? i++ : j++];
    }
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

void xb_tagged_sort(xb_tagged *item, xb_tagged *spare, int64_t n)
{
    for (int64_t i = 0; i < n; i += RUN) insert_sort(item + i, least(RUN, n - i));
    xb_tagged *from = item, *to = spare;
    for (int64_t run = RUN; run < n; run *= 2) {
        for (int64_t i = 0; i < n; i += 2 * run)
            merge(to + i, from + i, least(run, n - i), least(2 * run, n - i));
        xb_tagged *swap = from;
        from = to, to = swap;
    }
    if (from != item) memcpy(item, from, (size_t)n * sizeof *item);
}
