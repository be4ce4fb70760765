/* stamp.c: see stamp.h. Hashes protect against accidents (a file edited, truncated or
 * left over from another run), not against malice. */
#include "reproduce/stamp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "crossbayes/extend.h"
#include "crossbayes/outfile.h"
#include "crossbayes/json.h"
#include "crossbayes/files.h"

enum { STAMP_PATH = 4096, HEX_TEXT = 20 };

static const char STAMP_FILE[] = "stamp.json";
static const char WORK_FILE[] = "made-for.txt";

static bool join(char out[STAMP_PATH], const char *dir, const char *name)
{
    return snprintf(out, STAMP_PATH, "%s/%s", dir, name) < STAMP_PATH;
}

static xb_status join_or_fail(xb_ctx *ctx, char out[STAMP_PATH], const char *dir,
                              const char *name)
{
    if (join(out, dir, name)) return XB_OK;
    return xb_fail(ctx, XB_E_IO, "%s: the path is too long", dir);
}

const char *xb_stamp_name(void) { return STAMP_FILE; }

xb_status xb_stamp_plan(xb_ctx *ctx, const char *dir, const char *label)
{
    return xb_files_plan_in(ctx, dir, STAMP_FILE, label);
}

xb_status xb_stamp_work_plan(xb_ctx *ctx, const char *dir, const char *label)
{
    return xb_files_plan_in(ctx, dir, WORK_FILE, label);
}

/* Hashes a file that this program wrote: it is not an input and may be written again. */
static xb_status hash_own(xb_ctx *ctx, uint64_t *hash, int64_t *bytes, const char *path)
{
    XB_TRY(xb_files_own(ctx, path));
    return xb_file_hash(ctx, hash, bytes, path);
}

/* ---- the files of a study */

static bool starts_with(const char *name, const char *start)
{
    return strncmp(name, start, strlen(start)) == 0;
}

/* Whether the name is one that a killed run leaves, NAME.tmp-XXXXXX or .figure-XXXXXX:
 * see base/outfile.c, base/stage.c and report/figure.c. Any other name is the user's. */
static bool half_written(const char *name)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const char *dash = strrchr(name, '-');
    if (!dash || strlen(dash + 1) != 6 || strspn(dash + 1, letters) != 6) return false;
    size_t length = (size_t)(dash - name);
    bool temporary = length >= 4 && strncmp(dash - 4, ".tmp", 4) == 0;
    return temporary || (length == 7 && starts_with(name, ".figure"));
}

static bool is_named_for(const char *name, const char *study)
{
    size_t length = strlen(study);
    return starts_with(name, study) && (name[length] == '.' || name[length] == '_') &&
           !half_written(name);
}

/* Studies make no folders, so a folder of such a name is the user's. */
static bool belongs(const char *name, const xb_stamp *stamp)
{
    char path[STAMP_PATH];
    xb_os_info info;
    return is_named_for(name, stamp->study) && join(path, stamp->dir, name) &&
           xb_os_look_link(&info, path) && info.kind != XB_OS_FOLDER;
}

static xb_status cannot_list(xb_ctx *ctx, const char *dir)
{
    if (errno == ENOMEM)
        return xb_fail(ctx, XB_E_MEMORY, "%s: not enough memory to list it", dir);
    return xb_fail(ctx, XB_E_IO, "%s: cannot list this folder: %s", dir, strerror(errno));
}

typedef bool chosen_fn(const char *name);

/* Removes what `chosen` selects, folders with all their contents. Returns false, with
 * errno set, if something is left. */
static bool remove_chosen(const char *dir, chosen_fn *chosen);

static bool any(const char *name)
{
    (void)name;
    return true;
}

static bool remove_one(const char *path)
{
    xb_os_info info;
    if (!xb_os_look_link(&info, path)) return false;
    if (info.kind != XB_OS_FOLDER) return xb_os_unlink(path);
    return remove_chosen(path, any) && xb_os_remove_folder(path);
}

static bool remove_chosen(const char *dir, chosen_fn *chosen)
{
    char **entry = NULL;
    char path[STAMP_PATH];
    const int64_t n = xb_os_list(&entry, dir);
    bool good = n >= 0;
    for (int64_t i = 0; i < n && good; i++)
        if (chosen(entry[i])) good = join(path, dir, entry[i]) && remove_one(path);
    int reason = errno;
    xb_os_list_free(entry, n);
    errno = reason;
    return good;
}

void xb_sweep(const char *dir) { (void)remove_chosen(dir, half_written); }

/* ---- files of an earlier run */

/* Identifies a file that was written again: it has another inode or another time. */
struct xb_older_file {
    char *name;
    xb_os_info info;
};

void xb_older_free(xb_older *older)
{
    for (int i = 0; i < older->n; i++) xb_free(older->file[i].name);
    xb_free(older->file);
    *older = (xb_older){0};
}

static xb_status older_add(xb_ctx *ctx, xb_older *older, const char *dir,
                           const char *name)
{
    char path[STAMP_PATH];
    xb_os_info info;
    if (!join(path, dir, name) || !xb_os_look_link(&info, path)) return XB_OK;
    char *copy = xb_strdup(ctx, name);
    if (!copy) return XB_E_MEMORY;
    older->file[older->n++] = (struct xb_older_file){copy, info};
    return XB_OK;
}

xb_status xb_older_note(xb_ctx *ctx, xb_older *out, const xb_stamp *stamp)
{
    char **entry = NULL;
    xb_older older = {0};
    xb_sweep(stamp->dir);
    const int64_t n = xb_os_list(&entry, stamp->dir);
    if (n < 0 && errno == ENOMEM) return cannot_list(ctx, stamp->dir);
    older.file = xb_new(ctx, n > 0 ? n : 1, sizeof *older.file);
    xb_status status = older.file ? XB_OK : XB_E_MEMORY;
    for (int64_t i = 0; i < n && status == XB_OK; i++)
        if (belongs(entry[i], stamp))
            status = older_add(ctx, &older, stamp->dir, entry[i]);
    xb_os_list_free(entry, n);
    if (status == XB_OK)
        *out = older;
    else
        xb_older_free(&older);
    return status;
}

void xb_older_remove(const xb_older *older, const xb_stamp *stamp)
{
    for (int i = 0; i < older->n; i++) {
        const struct xb_older_file *f = &older->file[i];
        char path[STAMP_PATH];
        xb_os_info now;
        if (join(path, stamp->dir, f->name) && xb_os_look_link(&now, path) &&
            xb_os_same(&now, &f->info) && now.changed_ns == f->info.changed_ns)
            (void)xb_os_unlink(path);
    }
}

/* ---- writing */

static xb_status file_json(xb_ctx *ctx, json_t **out, const char *dir, const char *name)
{
    char path[STAMP_PATH], hex[HEX_TEXT];
    uint64_t hash = 0;
    int64_t bytes = 0;
    XB_TRY(join_or_fail(ctx, path, dir, name));
    XB_TRY(hash_own(ctx, &hash, &bytes, path));
    snprintf(hex, sizeof hex, "%016llx", (unsigned long long)hash);
    *out = json_pack("{s:s, s:I, s:s}", "name", name, "bytes", (json_int_t)bytes, "hash",
                     hex);
    return *out ? XB_OK : xb_fail(ctx, XB_E_MEMORY, "%s: not enough memory", path);
}

static xb_status add_file(xb_ctx *ctx, json_t *files, const char *dir, const char *name)
{
    json_t *file = NULL;
    XB_TRY(file_json(ctx, &file, dir, name));
    if (json_array_append_new(files, file) == 0) return XB_OK;
    return xb_fail(ctx, XB_E_MEMORY, "%s/%s: not enough memory", dir, name);
}

static xb_status files_json(xb_ctx *ctx, json_t *files, const xb_stamp *stamp)
{
    char **entry = NULL;
    const int64_t n = xb_os_list(&entry, stamp->dir);
    xb_status status = n >= 0 ? XB_OK : cannot_list(ctx, stamp->dir);
    for (int64_t i = 0; i < n && status == XB_OK; i++)
        if (belongs(entry[i], stamp)) status = add_file(ctx, files, stamp->dir, entry[i]);
    xb_os_list_free(entry, n);
    return status;
}

xb_status xb_stamp_write(xb_ctx *ctx, const xb_stamp *stamp, unsigned formats)
{
    char path[STAMP_PATH];
    XB_TRY(join_or_fail(ctx, path, stamp->dir, STAMP_FILE));
    json_t *files = json_array();
    xb_status status = files_json(ctx, files, stamp);
    if (status != XB_OK) {
        json_decref(files);
        return status;
    }
    json_t *root =
        json_pack("{s:s, s:s, s:I, s:o}", "crossbayes", "stamp", "fingerprint",
                  stamp->fingerprint, "formats", (json_int_t)formats, "files", files);
    status = xb_json_save(ctx, root, path);
    json_decref(root);
    return status;
}

/* ---- checking. A file that cannot be read is not valid; but running out of memory says
 * nothing about a file, and is a failure. */

static xb_status file_stands(xb_ctx *ctx, bool *stands, const json_t *file,
                             const xb_stamp *stamp)
{
    const char *name = json_string_value(json_object_get(file, "name"));
    json_t *now = NULL;
    *stands = false;
    if (!name || strchr(name, '/') || !is_named_for(name, stamp->study)) return XB_OK;
    xb_status status = file_json(ctx, &now, stamp->dir, name);
    *stands = status == XB_OK && json_equal(now, file);
    json_decref(now);
    return status == XB_E_MEMORY ? status : XB_OK;
}

static xb_status files_stand(xb_ctx *ctx, bool *stands, const json_t *files,
                             const xb_stamp *stamp)
{
    *stands = json_is_array(files) && json_array_size(files) > 0;
    for (size_t i = 0; *stands && i < json_array_size(files); i++)
        XB_TRY(file_stands(ctx, stands, json_array_get(files, i), stamp));
    return XB_OK;
}

xb_status xb_stamp_check(xb_ctx *ctx, unsigned *there, const xb_stamp *stamp)
{
    char path[STAMP_PATH];
    json_t *root = NULL;
    bool stands = false;
    *there = 0;
    if (!join(path, stamp->dir, STAMP_FILE)) return XB_OK;
    XB_TRY(xb_files_own(ctx, path));
    xb_status status = xb_json_load(ctx, &root, path);
    if (status != XB_OK) return status == XB_E_MEMORY ? status : XB_OK;
    const char *found = json_string_value(json_object_get(root, "fingerprint"));
    if (found && strcmp(found, stamp->fingerprint) == 0)
        status = files_stand(ctx, &stands, json_object_get(root, "files"), stamp);
    if (stands) *there = (unsigned)json_integer_value(json_object_get(root, "formats"));
    json_decref(root);
    return status;
}

/* ---- unfinished work */

/* Whether the work in `path`'s folder was made for this text, whose length and hash are
 * in the file. Fails if that cannot be decided, so that useful work is not deleted. */
static xb_status made_for(xb_ctx *ctx, bool *same, const char *path,
                          const char *fingerprint)
{
    const size_t length = strlen(fingerprint);
    uint64_t hash = 0;
    int64_t bytes = 0;
    *same = false;
    if (!xb_os_exists(path)) return XB_OK;
    XB_TRY(hash_own(ctx, &hash, &bytes, path));
    *same = bytes == (int64_t)length && hash == xb_hash_bytes(0, fingerprint, length);
    return XB_OK;
}

/* A folder without a file that says what it was made for must be empty. */
static xb_status check_empty(xb_ctx *ctx, const char *dir)
{
    char **entry = NULL;
    const int64_t n = xb_os_list(&entry, dir);
    xb_os_list_free(entry, n);
    if (n == 0) return XB_OK;
    if (n < 0) return cannot_list(ctx, dir);
    return xb_fail(ctx, XB_E_INPUT,
                   "%s: the folder holds other files, which would be lost; expected an "
                   "empty or new folder",
                   dir);
}

static bool is_work(const char *name) { return strcmp(name, WORK_FILE) != 0; }

/* The file that says what the work is for is written last, so that an interrupted run
 * still names the older purpose. */
xb_status xb_stamp_work_open(xb_ctx *ctx, const char *dir, const char *fingerprint)
{
    char path[STAMP_PATH];
    bool same = false;
    XB_TRY(join_or_fail(ctx, path, dir, WORK_FILE));
    XB_TRY(xb_dir_make(ctx, dir));
    xb_sweep(dir);
    XB_TRY(made_for(ctx, &same, path, fingerprint));
    if (same) return XB_OK;
    if (!xb_os_exists(path)) XB_TRY(check_empty(ctx, dir));
    if (!remove_chosen(dir, is_work))
        return xb_fail(ctx, errno == ENOMEM ? XB_E_MEMORY : XB_E_IO,
                       "%s: cannot remove results made with other options: %s", dir,
                       strerror(errno));
    return xb_outfile_text(ctx, path, fingerprint);
}
