/* nearest.h: the word someone may have meant. */
#ifndef XB_BASE_NEAREST_H
#define XB_BASE_NEAREST_H

/* Of `count` names the one nearest to `word` by edit distance with swaps of neighbours;
 * -1: none is within 2 (and within the word's own length). */
int xb_nearest(const char *word, const char *const *names, int count);

#endif
