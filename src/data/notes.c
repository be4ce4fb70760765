/* notes.c: see notes.h. */
#include "data/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { NAME_BYTES = 60 };

/* The number of bytes of a name that are shown; never a part of a character. */
static int shown(const char *name)
{
    int size = (int)strnlen(name, NAME_BYTES + 1);
    if (size <= NAME_BYTES) return size;
    for (size = NAME_BYTES; size > 0 && ((unsigned char)name[size] & 0xC0) == 0x80;)
        size--;
    return size;
}

/* A column without a name has its number. */
static bool is_number(const char *name)
{
    return *name && name[strspn(name, "0123456789")] == '\0';
}

void xb_note_list_add(xb_note_list *list, const char *name, const char *more)
{
    char item[NAME_BYTES + 168];
    snprintf(item, sizeof item, "%s%s%.*s%s%s%s", list->count ? ", " : "",
             is_number(name) ? "column " : "", shown(name), name, more ? " (" : "",
             more ? more : "", more ? ")" : "");
    const int size = (int)strlen(item), room = (int)sizeof list->text - list->used;
    list->count++;
    if (size + (int)sizeof ", ..." <= room) {
        memcpy(list->text + list->used, item, (size_t)size + 1);
        list->used += size;
    } else if (!strstr(list->text, ", ...")) {
        snprintf(list->text + list->used, (size_t)room, ", ...");
        list->used = (int)sizeof list->text - 1; /* nothing can be appended after it */
    }
}

xb_status xb_notes_add(xb_notes *n, const char *format, ...)
{
    va_list args;
    XB_TRY(xb_grow(n->ctx, (void **)&n->text, &n->room, n->count + 1, sizeof *n->text));
    va_start(args, format);
    vsnprintf(n->text[n->count], sizeof *n->text, format, args);
    va_end(args);
    for (char *p = n->text[n->count]; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 127) *p = ' ';
    n->count++;
    return XB_OK;
}

void xb_notes_free(xb_notes *n)
{
    free(n->text);
    *n = (xb_notes){.ctx = n->ctx};
}
