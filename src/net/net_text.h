/* net_text.h: reads a net's text word by word, with errors that name the layer. */
#ifndef XB_NET_NET_TEXT_H
#define XB_NET_NET_TEXT_H

#include "base/ctx.h"

/* Where a reader is: one word of one layer of the text. */
typedef struct xb_reading {
    xb_ctx *ctx;
    const char *text;        /* the whole */
    int layer;               /* counted from 1 */
    const char *begin, *end; /* this layer's text */
    const char *next;        /* after the word */
    char word[32];           /* "" at the layer's end */
} xb_reading;

/* The next layer's text, up to a comma; false: there is none. */
bool xb_reading_layer(xb_reading *r);
/* The next word of the layer into r->word; false: there is none. */
bool xb_reading_word(xb_reading *r);

/* Fails with "net 'TEXT': layer N: ..." */
xb_status xb_reading_fail(const xb_reading *r, const char *format, ...) XB_PRINTF(2, 3);
/* Fails because r->word is none of `known` (count of them), and suggests the likeliest.
 */
xb_status xb_reading_unknown(const xb_reading *r, const char *what,
                             const char *const *known, int count);

/* The next word as a whole number from 1; `what` it is for in messages. */
xb_status xb_reading_count(xb_reading *r, int64_t *out, const char *what);
/* The next word as a number in (low, high), or [low, high) if `from_low`. */
xb_status xb_reading_number(xb_reading *r, double *out, const char *what, bool from_low,
                            double low, double high);
/* r->word as KxK. */
xb_status xb_reading_pair(const xb_reading *r, int64_t *a, int64_t *b);

#endif
