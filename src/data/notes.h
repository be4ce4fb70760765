/* notes.h: sentences that tell the user about a table: which columns were left out and
 * why, and what was filled. There is one sentence for each reason, however many columns
 * it concerns. */
#ifndef XB_DATA_NOTES_H
#define XB_DATA_NOTES_H

#include "base/ctx.h"

enum { XB_NOTE_BYTES = 512 };

typedef struct xb_notes {
    xb_ctx *ctx;
    char (*text)[XB_NOTE_BYTES]; /* [count] */
    int64_t count, room;
    int64_t left_out; /* number of columns that could be kept on request */
} xb_notes;

/* A list of columns that is being written: "age (3 of 9), town (1 of 9), ..." */
typedef struct xb_note_list {
    char text[XB_NOTE_BYTES - 160];
    int used;
    int64_t count; /* number of all columns, including those that did not fit into the
                      text */
} xb_note_list;

/* `more` in parentheses behind the name; NULL: nothing. */
void xb_note_list_add(xb_note_list *list, const char *name, const char *more);

xb_status xb_notes_add(xb_notes *notes, const char *format, ...) XB_PRINTF(2, 3);
void xb_notes_free(xb_notes *notes);

#endif
