/* os.c: the parts of the layer that are the same on every system; see os.h. */
#include "base/os.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- all names of a folder */

typedef struct name_list {
    char **name;
    int64_t n, capacity;
} name_list;

static bool add_name(name_list *list, const char *name)
{
    if (list->n == list->capacity) {
        const int64_t larger = list->capacity ? 2 * list->capacity : 64;
        char **grown = realloc(list->name, (size_t)larger * sizeof *grown);
        if (!grown) return false;
        list->name = grown;
        list->capacity = larger;
    }
    const size_t size = strlen(name) + 1;
    char *copy = malloc(size);
    if (!copy) return false;
    memcpy(copy, name, size);
    list->name[list->n++] = copy;
    return true;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int64_t xb_os_list(char ***names, const char *path)
{
    name_list list = {0};
    xb_os_folder *folder = xb_os_folder_open(path);
    if (!folder) return -1;
    bool whole = true;
    errno = 0;
    for (const char *name; whole && (name = xb_os_folder_next(folder)); errno = 0)
        whole = add_name(&list, name);
    const int reason = whole ? errno : ENOMEM;
    xb_os_folder_close(folder);
    if (reason) {
        xb_os_list_free(list.name, list.n);
        errno = reason;
        return -1;
    }
    if (list.n > 1) qsort(list.name, (size_t)list.n, sizeof *list.name, by_bytes);
    *names = list.name;
    return list.n;
}

void xb_os_list_free(char **names, int64_t n)
{
    for (int64_t i = 0; i < n; i++) free(names[i]);
    free(names);
}

/* ---- texts */

bool xb_os_same_text(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (tolower((unsigned char)a[i]) != tolower((unsigned char)b[i])) return false;
        if (!a[i]) return true;
    }
    return true;
}
