/* folder.h: lists and clears the folders that tests write to. */
#ifndef FOLDER_H
#define FOLDER_H

#include <dirent.h>
#include <unistd.h>

#include "xbtest.h"

/* Files in a folder, temporary ones included. */
static inline int folder_count(const char *dir)
{
    DIR *d = opendir(dir);
    assert_non_null(d);
    int count = -2; /* . and .. */
    while (readdir(d)) count++;
    closedir(d);
    return count;
}

static inline void folder_empty(const char *dir)
{
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        char path[1024];
        int size = snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        assert_true(size < (int)sizeof path);
        if (unlink(path) != 0) {
            folder_empty(path);
            rmdir(path);
        }
    }
    closedir(d);
}

#endif
