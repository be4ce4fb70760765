/* files.c: the record of files; see files.h. It has two parts: the files that exist, by
 * device and inode, with their role (read, about to be replaced, our own); and the names
 * that are planned or written. No file may be both read and replaced: whichever comes
 * second is refused. */
#include "base/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_set.h"
#include "base/memory.h"

enum { READ = 1, REPLACED = 2, OWN = 4, GONE = 8 }; /* roles of a file */

typedef xb_known_file known;

typedef struct planned {
    char *folder, *name;
    char *label; /* NULL: none */
    bool pattern;
} planned;

typedef struct written {
    char *path;
    bool staged, done;
} written;

struct xb_files {
    xb_os_lock lock;
    int users;
    bool plan_only;
    xb_file_set known;
    planned *plan;
    int64_t plans, plan_capacity;
    written *out;
    int64_t outs, out_capacity;
    const char *stage, *stage_of;
};

/* ---- the record itself */

xb_files *xb_files_create(void)
{
    xb_files *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->users = 1;
    xb_os_lock_init(&f->lock);
    return f;
}

static void plan_free(planned *p)
{
    free(p->folder);
    free(p->name);
    free(p->label);
}

static void files_free(xb_files *f)
{
    xb_file_set_free(&f->known);
    for (int64_t i = 0; i < f->plans; i++) plan_free(&f->plan[i]);
    for (int64_t i = 0; i < f->outs; i++) free(f->out[i].path);
    free(f->plan);
    free(f->out);
    xb_os_lock_destroy(&f->lock);
    free(f);
}

void xb_files_release(xb_files *f)
{
    xb_os_lock_take(&f->lock);
    bool last = --f->users == 0;
    xb_os_lock_give(&f->lock);
    if (last) files_free(f);
}

void xb_files_share(xb_ctx *to, const xb_ctx *from)
{
    xb_os_lock_take(&from->files->lock);
    from->files->users++;
    xb_os_lock_give(&from->files->lock);
    xb_files_release(to->files);
    to->files = from->files;
}

/* Reserves memory for one more file, and for each output when it is finished, because
 * that step must not fail. */
static xb_status make_room(xb_ctx *ctx, xb_files *f)
{
    return xb_file_set_room(ctx, &f->known, f->outs + 1);
}

/* ---- refusing */

/* The path without "./", which comes from a folder's name. */
static const char *bare(const char *path)
{
    while (strncmp(path, "./", 2) == 0 && path[2]) path += 2;
    return path;
}

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* "--figure noise would overwrite noise.dat, which is an input" */
static xb_status refuse(xb_ctx *ctx, const char *label, const char *path,
                        const char *input)
{
    bool same = strcmp(bare(path), bare(input)) == 0;
    if (!label)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%s: would overwrite the input %s; choose another name", path,
                       input);
    if (ends_in(label, path))
        return xb_fail(ctx, XB_E_ARGUMENT, "%s would overwrite %s%s; choose another name",
                       label, same ? "an input" : "the input ", same ? "" : input);
    return xb_fail(ctx, XB_E_ARGUMENT,
                   "%s would overwrite %s, which is %s%s; choose another name", label,
                   bare(path), same ? "an input" : "the input ", same ? "" : input);
}

/* ---- files that are read */

static xb_status note(xb_ctx *ctx, xb_files *f, const xb_os_info *info, const char *name)
{
    const known *before = xb_file_set_find(&f->known, info);
    if (before->is & (READ | OWN)) return XB_OK;
    if (before->is & REPLACED) return refuse(ctx, before->label, before->name, name);
    XB_TRY(make_room(ctx, f));
    char *copy = xb_strdup(ctx, name);
    if (!copy) return XB_E_MEMORY;
    known *k = xb_file_set_add(&f->known, info);
    free(k->name);
    k->is = READ;
    k->name = copy;
    return XB_OK;
}

xb_status xb_files_note(xb_ctx *ctx, const xb_os_info *info, const char *name)
{
    if (!ctx || info->kind != XB_OS_FILE) return XB_OK;
    xb_os_lock_take(&ctx->files->lock);
    xb_status status = note(ctx, ctx->files, info, name);
    xb_os_lock_give(&ctx->files->lock);
    return status;
}

xb_status xb_files_input(xb_ctx *ctx, const char *path)
{
    xb_os_info info;
    return xb_os_look(&info, path) ? xb_files_note(ctx, &info, path) : XB_OK;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int64_t copy_read(xb_ctx *ctx, char **to, const xb_files *f)
{
    int64_t n = 0;
    for (int64_t i = 0; i < f->known.slots; i++) {
        const known *k = &f->known.slot[i];
        if (!(k->is & READ) || !k->name) continue;
        to[n] = xb_strdup(ctx, k->name);
        if (!to[n++]) return -n;
    }
    return n;
}

/* Removes duplicates from a sorted list: a file that was replaced and read again is
 * recorded twice. */
static int64_t keep_unique(char **list, int64_t n)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        if (kept > 0 && strcmp(list[kept - 1], list[i]) == 0)
            free(list[i]);
        else
            list[kept++] = list[i];
    }
    return kept;
}

int64_t xb_files_read_list(xb_ctx *ctx, char ***names)
{
    xb_files *f = ctx->files;
    xb_os_lock_take(&f->lock);
    char **list = xb_new(ctx, f->known.files + 1, sizeof *list);
    int64_t n = list ? copy_read(ctx, list, f) : -1;
    xb_os_lock_give(&f->lock);
    if (n < 0) {
        if (list) xb_os_list_free(list, -n);
        return -1;
    }
    qsort(list, (size_t)n, sizeof *list, by_bytes);
    *names = list;
    return keep_unique(list, n);
}

static xb_status own(xb_ctx *ctx, xb_files *f, const xb_os_info *info, const char *path)
{
    const known *before = xb_file_set_find(&f->known, info);
    if (before->is & READ) return refuse(ctx, NULL, path, before->name);
    XB_TRY(make_room(ctx, f));
    xb_file_set_add(&f->known, info)->is |= OWN;
    return XB_OK;
}

xb_status xb_files_own(xb_ctx *ctx, const char *path)
{
    xb_os_info info;
    if (!ctx || !xb_os_look(&info, path) || info.kind != XB_OS_FILE) return XB_OK;
    xb_os_lock_take(&ctx->files->lock);
    xb_status status = own(ctx, ctx->files, &info, path);
    xb_os_lock_give(&ctx->files->lock);
    return status;
}

/* ---- names */

/* The folder of a path, and the name in it. */
typedef struct parts {
    char folder[XB_OS_PATH_MAX];
    const char *name;
} parts;

static xb_status split(xb_ctx *ctx, parts *out, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (length >= sizeof out->folder)
        return xb_fail(ctx, XB_E_ARGUMENT, "%s: the path is too long", path);
    snprintf(out->folder, sizeof out->folder, "%.*s", (int)length, path);
    if (length == 0) snprintf(out->folder, sizeof out->folder, "%s", slash ? "/" : ".");
    out->name = slash ? slash + 1 : path;
    return XB_OK;
}

static bool same_folder(const char *a, const char *b)
{
    xb_os_info x, y;
    if (strcmp(a, b) == 0) return true;
    return xb_os_look(&x, a) && xb_os_look(&y, b) && xb_os_same(&x, &y);
}

/* Whether `path` lies in the stage; then `out` is the path it will have. */
static bool is_staged(const xb_files *f, char out[XB_OS_PATH_MAX], const char *path)
{
    size_t length = f->stage ? strlen(f->stage) : 0;
    bool staged = length && strncmp(path, f->stage, length) == 0 && path[length] == '/';
    if (staged)
        snprintf(out, XB_OS_PATH_MAX, "%s%s", f->stage_of, path + length);
    else
        snprintf(out, XB_OS_PATH_MAX, "%s", path);
    return staged;
}

static const planned *find_plan(const xb_files *f, const parts *p)
{
    for (int64_t i = 0; i < f->plans; i++) {
        const planned *plan = &f->plan[i];
        bool fits = plan->pattern ? xb_os_name_fits(plan->name, p->name)
                                  : strcmp(plan->name, p->name) == 0;
        if (fits && same_folder(plan->folder, p->folder)) return plan;
    }
    return NULL;
}

static xb_status add_plan(xb_ctx *ctx, xb_files *f, const char *folder, const char *name,
                          const char *label, bool pattern)
{
    void *block = f->plan;
    xb_status status =
        xb_grow(ctx, &block, &f->plan_capacity, f->plans + 1, sizeof *f->plan);
    f->plan = block;
    XB_TRY(status);
    planned p = {xb_strdup(ctx, folder), xb_strdup(ctx, name),
                 label ? xb_strdup(ctx, label) : NULL, pattern};
    if (p.folder && p.name && (p.label || !label)) {
        f->plan[f->plans++] = p;
        return XB_OK;
    }
    plan_free(&p);
    return XB_E_MEMORY;
}

/* An existing file that a plan is going to replace. */
static xb_status replaces(xb_ctx *ctx, xb_files *f, const char *path, const char *label)
{
    xb_os_info info;
    if (!xb_os_look(&info, path) || info.kind != XB_OS_FILE) return XB_OK;
    const known *before = xb_file_set_find(&f->known, &info);
    if (before->is & READ) return refuse(ctx, label, path, before->name);
    if (before->is & REPLACED) return XB_OK;
    XB_TRY(make_room(ctx, f));
    char *copy = xb_strdup(ctx, path);
    if (!copy) return XB_E_MEMORY;
    known *k = xb_file_set_add(&f->known, &info);
    k->is |= REPLACED;
    free(k->name);
    k->name = copy;
    k->label = f->plan[f->plans - 1].label;
    return XB_OK;
}

/* ---- one planned file */

static xb_status check_place(xb_ctx *ctx, const parts *p, const char *path,
                             const char *label)
{
    xb_os_info info;
    const char *what = label ? label : path;
    if (!*p->name)
        return xb_fail(ctx, XB_E_ARGUMENT, "%s: expected the name of a file", what);
    if (!xb_os_look(&info, p->folder) || info.kind != XB_OS_FOLDER)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%s: the folder %s does not exist; create it first", what,
                       p->folder);
    if (xb_os_look(&info, path) && info.kind == XB_OS_FOLDER)
        return xb_fail(ctx, XB_E_ARGUMENT, "%s: is a directory, expected a file name",
                       what);
    if (!xb_os_can_write(p->folder))
        return xb_fail(ctx, XB_E_IO, "%s: cannot write: %s", path, strerror(errno));
    return XB_OK;
}

/* A file without a label may be planned already; a file with one only under the same
 * label. */
static xb_status plan_file(xb_ctx *ctx, xb_files *f, const char *path, const char *label)
{
    parts p;
    XB_TRY(split(ctx, &p, path));
    XB_TRY(check_place(ctx, &p, path, label));
    const planned *other = find_plan(f, &p);
    const char *theirs = other && other->label ? other->label : path;
    if (other && label && strcmp(label, theirs) != 0)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%s and %s would both write %s; choose another name", theirs,
                       label, path);
    if (other) return XB_OK;
    XB_TRY(add_plan(ctx, f, p.folder, p.name, label, false));
    return replaces(ctx, f, path, label);
}

xb_status xb_files_plan(xb_ctx *ctx, const char *path, const char *label)
{
    char final[XB_OS_PATH_MAX];
    if (!ctx) return XB_OK;
    xb_os_lock_take(&ctx->files->lock);
    (void)is_staged(ctx->files, final, path);
    xb_status status = plan_file(ctx, ctx->files, final, label);
    xb_os_lock_give(&ctx->files->lock);
    return status;
}

/* ---- planned files of a folder */

/* Checks that the folder, or the nearest existing one above it, can be written to. */
static xb_status check_folder(xb_ctx *ctx, const char *dir, const char *label)
{
    char path[XB_OS_PATH_MAX];
    parts above;
    xb_os_info info;
    const char *what = label ? label : dir;
    snprintf(path, sizeof path, "%s", dir);
    while (!xb_os_look(&info, path) && (errno == ENOENT || errno == ENOTDIR) &&
           strcmp(path, ".") != 0) {
        XB_TRY(split(ctx, &above, path));
        snprintf(path, sizeof path, "%s", above.folder);
    }
    if (xb_os_look(&info, path) && info.kind != XB_OS_FOLDER)
        return xb_fail(ctx, XB_E_ARGUMENT, "%s: %s is a file, expected a folder", what,
                       path);
    if (!xb_os_can_write(path))
        return xb_fail(ctx, XB_E_IO, "%s: cannot write here: %s", dir, strerror(errno));
    return XB_OK;
}

static xb_status replaces_in(xb_ctx *ctx, xb_files *f, const char *dir,
                             const char *pattern, const char *label)
{
    char path[XB_OS_PATH_MAX];
    xb_os_folder *folder = xb_os_folder_open(dir);
    if (!folder && errno == ENOMEM)
        return xb_fail(ctx, XB_E_MEMORY, "%s: not enough memory to list its files", dir);
    if (!folder) return XB_OK; /* it does not exist yet, or cannot be read */
    xb_status status = XB_OK;
    for (const char *name; status == XB_OK && (name = xb_os_folder_next(folder));)
        if (xb_os_name_fits(pattern, name) &&
            snprintf(path, sizeof path, "%s/%s", dir, name) < (int)sizeof path)
            status = replaces(ctx, f, path, label);
    xb_os_folder_close(folder);
    return status;
}

xb_status xb_files_plan_in(xb_ctx *ctx, const char *dir, const char *pattern,
                           const char *label)
{
    if (!ctx) return XB_OK;
    XB_TRY(check_folder(ctx, dir, label));
    xb_os_lock_take(&ctx->files->lock);
    xb_status status = add_plan(ctx, ctx->files, dir, pattern, label, true);
    if (status == XB_OK) status = replaces_in(ctx, ctx->files, dir, pattern, label);
    xb_os_lock_give(&ctx->files->lock);
    return status;
}

void xb_files_plan_only(xb_ctx *ctx) { ctx->files->plan_only = true; }

/* ---- files that are written */

static written *find_written(const xb_files *f, const char *path)
{
    for (int64_t i = 0; i < f->outs; i++)
        if (strcmp(f->out[i].path, path) == 0) return &f->out[i];
    return NULL;
}

static xb_status add_written(xb_ctx *ctx, xb_files *f, const char *path, bool staged)
{
    written *old = find_written(f, path);
    if (!old) {
        void *block = f->out;
        xb_status status =
            xb_grow(ctx, &block, &f->out_capacity, f->outs + 1, sizeof *f->out);
        f->out = block;
        XB_TRY(status);
        char *copy = xb_strdup(ctx, path);
        if (!copy) return XB_E_MEMORY;
        f->out[f->outs++] = (written){.path = copy, .staged = staged};
    } else {
        old->staged = staged;
    }
    return make_room(ctx, f);
}

static xb_status begin(xb_ctx *ctx, xb_files *f, const char *path)
{
    char final[XB_OS_PATH_MAX];
    parts p;
    xb_os_info info;
    bool staged = is_staged(f, final, path);
    XB_TRY(split(ctx, &p, final));
    const planned *plan = find_plan(f, &p);
    if (f->plan_only && !plan)
        return xb_fail(ctx, XB_E_IO, "internal error: %s was not planned as an output",
                       final);
    if (xb_os_look(&info, final) && xb_file_set_find(&f->known, &info)->is & READ)
        return refuse(ctx, plan ? plan->label : NULL, final,
                      xb_file_set_find(&f->known, &info)->name);
    return add_written(ctx, f, final, staged);
}

xb_status xb_files_begin(xb_ctx *ctx, const char *path)
{
    if (!ctx) return XB_OK;
    xb_os_lock_take(&ctx->files->lock);
    xb_status status = begin(ctx, ctx->files, path);
    xb_os_lock_give(&ctx->files->lock);
    return status;
}

static void done(xb_files *f, const char *path)
{
    char final[XB_OS_PATH_MAX];
    xb_os_info info;
    bool staged = is_staged(f, final, path);
    written *w = find_written(f, final);
    if (w) w->done = !staged;
    if (xb_os_look(&info, path)) xb_file_set_add(&f->known, &info)->is = OWN;
}

/* Forgets the inode, because a new file may get the inode of one that was removed. */
static void forget(xb_files *f, const xb_os_info *info)
{
    if (xb_file_set_find(&f->known, info)->is)
        xb_file_set_add(&f->known, info)->is = GONE;
}

bool xb_files_rename(xb_ctx *ctx, const char *from, const char *to)
{
    xb_os_info old;
    bool last = xb_os_look_link(&old, to) && old.links == 1;
    if (!xb_os_rename(from, to)) return false;
    if (!ctx) return true;
    xb_os_lock_take(&ctx->files->lock);
    if (last) forget(ctx->files, &old);
    done(ctx->files, to);
    xb_os_lock_give(&ctx->files->lock);
    return true;
}

int64_t xb_files_written_count(const xb_ctx *ctx)
{
    int64_t count = 0;
    for (int64_t k = 0; k < ctx->files->outs; k++) count += ctx->files->out[k].done;
    return count;
}

const char *xb_files_written_name(const xb_ctx *ctx, int64_t i)
{
    const xb_files *f = ctx->files;
    for (int64_t k = 0; k < f->outs; k++)
        if (f->out[k].done && i-- == 0) return f->out[k].path;
    return NULL;
}

/* ---- the stage */

void xb_files_stage(xb_ctx *ctx, const char *stage, const char *dir)
{
    xb_files *f = ctx->files;
    f->stage = stage;
    f->stage_of = dir;
    for (int64_t i = 0; i < f->outs; i++) f->out[i].staged = false;
}

const char *xb_files_stage_dir(const xb_ctx *ctx) { return ctx->files->stage; }

const char *xb_files_staged(const xb_ctx *ctx, int64_t i)
{
    const xb_files *f = ctx->files;
    for (int64_t k = 0; k < f->outs; k++)
        if (f->out[k].staged && i-- == 0) return strrchr(f->out[k].path, '/') + 1;
    return NULL;
}
