/* stage.c: a folder of results that is replaced as a whole; see crossbayes/outfile.h.
 *
 * The record of files knows what is in the stage, so the stage can be removed even if
 * memory has run out. Its files are flushed already; here the names must reach the disk
 * in the right order: first the removal of the list, then the files, then the new list.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/os.h"
#include "base/outfile.h"

enum { NAME_ROOM = 512 }; /* largest size of a file name in the stage */

struct xb_stage {
    char *dir;
    bool new_dir;     /* whether `dir` was made for this stage */
    char *path;       /* path of the stage; NULL: not made */
    char *from, *to;  /* memory for a path in the stage and in dir */
    size_t path_room; /* size of each */
};

static void stage_free(xb_stage *s)
{
    free(s->dir);
    free(s->path);
    free(s->from);
    free(s->to);
    free(s);
}

static xb_status make_rooms(xb_ctx *ctx, xb_stage *s, const char *dir)
{
    static const char hidden[] = "/.new.tmp-XXXXXX";
    s->path_room = strlen(dir) + sizeof hidden + NAME_ROOM;
    s->dir = xb_strdup(ctx, dir);
    s->from = xb_new(ctx, (int64_t)s->path_room, 1);
    s->to = xb_new(ctx, (int64_t)s->path_room, 1);
    char *path = xb_new(ctx, (int64_t)s->path_room, 1);
    if (!s->dir || !s->from || !s->to || !path) {
        free(path);
        return XB_E_MEMORY;
    }
    snprintf(path, s->path_room, "%s%s", dir, hidden);
    s->path = path;
    return XB_OK;
}

static xb_status make_folder(xb_ctx *ctx, xb_stage *s)
{
    xb_os_info info;
    s->new_dir = !xb_os_look(&info, s->dir);
    XB_TRY(xb_dir_make(ctx, s->dir));
    if (xb_os_make_new_folder(s->path)) return XB_OK;
    int reason = errno;
    if (s->new_dir) (void)xb_os_remove_folder(s->dir);
    return xb_fail(ctx, XB_E_IO, "%s: cannot write here: %s", s->dir, strerror(reason));
}

xb_status xb_stage_open(xb_ctx *ctx, xb_stage **out, const char *dir)
{
    xb_stage *s = xb_new(ctx, 1, sizeof *s);
    if (!s) return XB_E_MEMORY;
    xb_status status = make_rooms(ctx, s, dir);
    if (status == XB_OK) status = make_folder(ctx, s);
    if (status != XB_OK) {
        stage_free(s);
        return status;
    }
    xb_files_stage(ctx, s->path, s->dir);
    *out = s;
    return XB_OK;
}

const char *xb_stage_dir(const xb_stage *stage) { return stage->path; }

/* Writes the paths of a file in both folders. */
static bool name_both(xb_stage *s, const char *name)
{
    snprintf(s->to, s->path_room, "%s/%s", s->dir, name);
    return (size_t)snprintf(s->from, s->path_room, "%s/%s", s->path, name) < s->path_room;
}

void xb_stage_abandon(xb_ctx *ctx)
{
    const char *stage = xb_files_stage_dir(ctx), *name;
    char path[XB_OS_PATH_MAX];
    for (int64_t i = 0; stage && (name = xb_files_staged(ctx, i)); i++)
        if (snprintf(path, sizeof path, "%s/%s", stage, name) < (int)sizeof path)
            (void)xb_os_unlink(path);
    if (stage) (void)xb_os_remove_folder(stage);
}

/* Removes the stage with everything left in it. */
static void close_stage(xb_ctx *ctx, xb_stage *s, bool in_place)
{
    xb_stage_abandon(ctx);
    xb_files_stage(ctx, NULL, NULL);
    if (s->new_dir && !in_place) (void)xb_os_remove_folder(s->dir);
    stage_free(s);
}

void xb_stage_discard(xb_ctx *ctx, xb_stage *stage)
{
    if (stage) close_stage(ctx, stage, false);
}

/* ---- publishing */

/* Checks beforehand for everything that could stop the work half-way. */
static xb_status check_places(xb_ctx *ctx, xb_stage *s)
{
    const char *name;
    xb_os_info info;
    for (int64_t i = 0; (name = xb_files_staged(ctx, i)); i++) {
        if (!name_both(s, name))
            return xb_fail(ctx, XB_E_IO, "%s: the path is too long", s->dir);
        if (xb_os_look(&info, s->to) && info.kind == XB_OS_FOLDER)
            return xb_fail(ctx, XB_E_IO, "%s: is a directory, expected a file name",
                           s->to);
    }
    return XB_OK;
}

static xb_status remove_old(xb_ctx *ctx, xb_stage *s, const char *name)
{
    (void)name_both(s, name);
    if (xb_os_unlink(s->to)) return xb_folder_flush(ctx, s->to);
    if (errno == ENOENT) return XB_OK;
    return xb_fail(ctx, XB_E_IO, "%s: cannot replace it: %s", s->to, strerror(errno));
}

static xb_status place(xb_ctx *ctx, xb_stage *s, const char *name)
{
    (void)name_both(s, name);
    if (xb_files_rename(ctx, s->from, s->to)) return XB_OK;
    if (errno == ENOENT && !xb_os_exists(s->from)) return XB_OK; /* it was not made */
    return xb_fail(ctx, XB_E_IO, "%s: cannot write: %s", s->to, strerror(errno));
}

static int count_of(const char *const *names)
{
    int n = 0;
    while (names && names[n]) n++;
    return n;
}

static bool is_among(const char *name, const char *const *names, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

static xb_status place_all(xb_ctx *ctx, xb_stage *s, const char *const *last, int n)
{
    const char *name;
    for (int64_t i = 0; (name = xb_files_staged(ctx, i)); i++)
        if (!is_among(name, last, n)) XB_TRY(place(ctx, s, name));
    (void)name_both(s, "");
    XB_TRY(xb_folder_flush(ctx, s->to));
    for (int i = 0; i < n; i++) {
        XB_TRY(place(ctx, s, last[i]));
        XB_TRY(xb_folder_flush(ctx, s->to));
    }
    return XB_OK;
}

xb_status xb_stage_publish(xb_ctx *ctx, xb_stage *stage, const char *const *last)
{
    const int n = count_of(last);
    xb_status status = check_places(ctx, stage);
    for (int i = n - 1; i >= 0 && status == XB_OK; i--)
        status = remove_old(ctx, stage, last[i]);
    if (status == XB_OK) status = place_all(ctx, stage, last, n);
    close_stage(ctx, stage, status == XB_OK);
    return status;
}
