/* marks.h: where the fields of a text table end; see marks.c. */
#ifndef XB_DATA_MARKS_H
#define XB_DATA_MARKS_H

#include <stdint.h>

enum { XB_MARKS_BLOCK = 64 }; /* bytes looked at together */

/* Writes the positions of all separators and newlines among the n bytes of text, in
 * order, and returns their number. Reads up to XB_MARKS_BLOCK bytes beyond the text, and
 * writes up to that many surplus positions. */
int64_t xb_marks_find(uint32_t *mark, const char *text, int64_t n, char separator);

#endif
