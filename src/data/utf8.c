/* utf8.c: see utf8.h. The ranges are those of the Unicode standard, table 3-7. */
#include "crossbayes/extend.h"

#include <stddef.h>

/* Lead bytes, the number of bytes that follow, and the range of the first of those. */
static const struct {
    unsigned char first, last;
    int more;
    unsigned char low, high;
} forms[] = {
    {0x01, 0x7F, 0, 0, 0},       {0xC2, 0xDF, 1, 0x80, 0xBF}, {0xE0, 0xE0, 2, 0xA0, 0xBF},
    {0xE1, 0xEC, 2, 0x80, 0xBF}, {0xED, 0xED, 2, 0x80, 0x9F}, {0xEE, 0xEF, 2, 0x80, 0xBF},
    {0xF0, 0xF0, 3, 0x90, 0xBF}, {0xF1, 0xF3, 3, 0x80, 0xBF}, {0xF4, 0xF4, 3, 0x80, 0x8F},
};

/* A NUL ends every form. */
int64_t xb_utf8_size(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (*p < forms[i].first || *p > forms[i].last) continue;
        if (forms[i].more == 0) return 1;
        if (p[1] < forms[i].low || p[1] > forms[i].high) return 0;
        for (int k = 2; k <= forms[i].more; k++)
            if ((p[k] & 0xC0) != 0x80) return 0;
        return 1 + forms[i].more;
    }
    return 0;
}

bool xb_utf8_valid(const char *text)
{
    while (*text) {
        int64_t size = xb_utf8_size(text);
        if (size == 0) return false;
        text += size;
    }
    return true;
}
