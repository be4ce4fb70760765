/* utf8.h: is a text UTF-8? Names of columns and classes end up in model files,
 * which can hold nothing else, and in pages. */
#ifndef XB_DATA_UTF8_H
#define XB_DATA_UTF8_H

#include <stdbool.h>

/* No overlong forms, no surrogates, nothing beyond U+10FFFF. */
bool xb_utf8_valid(const char *text);

/* Bytes of the character that starts the text; 0 if it is none or the text ends. */
int xb_utf8_size(const char *text);

#endif
