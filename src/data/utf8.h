/* utf8.h: is a text UTF-8? Names of columns and classes end up in model files,
 * which can hold nothing else. */
#ifndef XB_DATA_UTF8_H
#define XB_DATA_UTF8_H

#include <stdbool.h>

/* No overlong forms, no surrogates, nothing beyond U+10FFFF. */
bool xb_utf8_valid(const char *text);

#endif
