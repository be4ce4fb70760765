/* stamp.c: see stamp.h. Hashes guard against accident (a file edited, cut off, left over
 * from another run), not against malice. */
#include "reproduce/stamp.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/outfile.h"
#include "data/folder.h"
#include "data/json.h"
#include "data/source.h"

enum { STAMP_PATH = 4096, HEX_TEXT = 20, BLOCK = 1 << 16 };

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

/* ---- hashes */

xb_status xb_file_hash(xb_ctx *ctx, uint64_t *hash, int64_t *bytes, const char *path)
{
    xb_source source;
    XB_TRY(xb_source_open(ctx, &source, path));
    char *block = xb_new(ctx, BLOCK, 1);
    xb_status status = block ? XB_OK : XB_E_MEMORY;
    int64_t got = BLOCK, total = 0;
    uint64_t h = *hash;
    while (status == XB_OK && got == BLOCK) {
        status = xb_source_read(&source, block, BLOCK, &got);
        if (status == XB_OK) h = xb_hash_bytes(h, block, (size_t)got), total += got;
    }
    free(block);
    xb_source_close(&source);
    if (status != XB_OK) return status;
    *hash = h;
    *bytes = total;
    return XB_OK;
}

static xb_status hash_folder(xb_ctx *ctx, uint64_t *hash, const xb_folder *folder)
{
    uint8_t *bytes = NULL;
    int64_t capacity = 0;
    xb_status status = XB_OK;
    for (int64_t i = 0; i < folder->n && status == XB_OK; i++) {
        const xb_folder_file *f = &folder->file[i];
        status = xb_progress_tell(ctx, "checking the images", i, folder->n);
        if (status == XB_OK) status = xb_folder_read(ctx, &bytes, &capacity, folder, i);
        if (status != XB_OK) break;
        *hash = xb_hash_bytes(*hash, f->name, strlen(f->name));
        *hash = xb_hash_bytes(*hash, bytes, (size_t)f->size);
    }
    free(bytes);
    return status;
}

xb_status xb_images_checksum(xb_ctx *ctx, uint64_t *hash, const char *dir)
{
    static const char *const endings[] = {".jpg", ".jpeg", NULL};
    xb_folder folder = {0};
    XB_TRY(xb_folder_list(ctx, &folder, dir, endings));
    xb_status status = hash_folder(ctx, hash, &folder);
    xb_folder_free(&folder);
    return status;
}

/* ---- the files of a study */

static bool starts_with(const char *name, const char *start)
{
    return strncmp(name, start, strlen(start)) == 0;
}

/* What a killed run leaves: see base/outfile.c and report/figure.c. */
static bool half_written(const char *name)
{
    return strstr(name, ".tmp-") != NULL || starts_with(name, ".figure-");
}

static bool belongs(const char *name, const char *study)
{
    size_t length = strlen(study);
    return starts_with(name, study) && (name[length] == '.' || name[length] == '_') &&
           !half_written(name);
}

static int visible(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* Sorted names in a folder; free each and all. -1 where there is no folder. */
static int list(struct dirent ***out, const char *dir)
{
    return scandir(dir, out, visible, alphasort);
}

static void free_list(struct dirent **entry, int n)
{
    for (int i = 0; i < n; i++) free(entry[i]);
    if (n >= 0) free(entry);
}

typedef bool chosen_fn(const char *name, const char *study);

/* Removes what `chosen` says; a folder only if nothing but files is in it. */
static void remove_chosen(const char *dir, const char *study, chosen_fn *chosen);

static bool any(const char *name, const char *study)
{
    (void)name, (void)study;
    return true;
}

static void remove_one(const char *path)
{
    if (unlink(path) == 0) return;
    remove_chosen(path, "", any);
    (void)rmdir(path);
}

static void remove_chosen(const char *dir, const char *study, chosen_fn *chosen)
{
    struct dirent **entry = NULL;
    char path[STAMP_PATH];
    int n = list(&entry, dir);
    for (int i = 0; i < n; i++)
        if (chosen(entry[i]->d_name, study) && join(path, dir, entry[i]->d_name))
            remove_one(path);
    free_list(entry, n);
}

static bool is_half_written(const char *name, const char *study)
{
    (void)study;
    return half_written(name);
}

void xb_sweep(const char *dir) { remove_chosen(dir, "", is_half_written); }

static bool of_stamp(const char *name, const char *study)
{
    return belongs(name, study) || half_written(name) || strcmp(name, STAMP_FILE) == 0;
}

void xb_stamp_clear(const xb_stamp *stamp)
{
    remove_chosen(stamp->dir, stamp->study, of_stamp);
}

/* ---- writing */

static json_t *file_json(xb_ctx *ctx, const char *dir, const char *name)
{
    char path[STAMP_PATH], hex[HEX_TEXT];
    uint64_t hash = 0;
    int64_t bytes = 0;
    if (!join(path, dir, name)) return NULL;
    if (xb_file_hash(ctx, &hash, &bytes, path) != XB_OK) return NULL;
    snprintf(hex, sizeof hex, "%016llx", (unsigned long long)hash);
    return json_pack("{s:s, s:I, s:s}", "name", name, "bytes", (json_int_t)bytes, "hash",
                     hex);
}

/* NULL if one cannot be read. */
static json_t *files_json(xb_ctx *ctx, const xb_stamp *stamp)
{
    struct dirent **entry = NULL;
    int n = list(&entry, stamp->dir);
    json_t *files = json_array();
    for (int i = 0; i < n && files; i++) {
        if (!belongs(entry[i]->d_name, stamp->study)) continue;
        json_t *file = file_json(ctx, stamp->dir, entry[i]->d_name);
        if (json_array_append_new(files, file) != 0) {
            json_decref(files);
            files = NULL;
        }
    }
    free_list(entry, n);
    return files;
}

xb_status xb_stamp_write(xb_ctx *ctx, const xb_stamp *stamp, unsigned formats)
{
    char path[STAMP_PATH];
    XB_TRY(join_or_fail(ctx, path, stamp->dir, STAMP_FILE));
    json_t *files = files_json(ctx, stamp);
    if (!files)
        return xb_fail(ctx, XB_E_IO, "%s: cannot read what was written", stamp->dir);
    json_t *root =
        json_pack("{s:s, s:s, s:I, s:o}", "crossbayes", "stamp", "fingerprint",
                  stamp->fingerprint, "formats", (json_int_t)formats, "files", files);
    xb_status status = xb_json_save(ctx, root, path);
    json_decref(root);
    return status;
}

/* ---- checking */

static bool file_stands(xb_ctx *ctx, const json_t *file, const xb_stamp *stamp)
{
    const char *name = json_string_value(json_object_get(file, "name"));
    if (!name || strchr(name, '/') || !belongs(name, stamp->study)) return false;
    json_t *now = file_json(ctx, stamp->dir, name);
    bool same = now && json_equal(now, file);
    json_decref(now);
    return same;
}

static bool files_stand(xb_ctx *ctx, const json_t *files, const xb_stamp *stamp)
{
    if (!json_is_array(files) || json_array_size(files) == 0) return false;
    for (size_t i = 0; i < json_array_size(files); i++)
        if (!file_stands(ctx, json_array_get(files, i), stamp)) return false;
    return true;
}

unsigned xb_stamp_check(xb_ctx *ctx, const xb_stamp *stamp)
{
    char path[STAMP_PATH];
    json_t *root = NULL;
    if (!join(path, stamp->dir, STAMP_FILE)) return 0;
    if (xb_json_load(ctx, &root, path) != XB_OK) return 0;
    const char *found = json_string_value(json_object_get(root, "fingerprint"));
    const json_t *formats = json_object_get(root, "formats");
    bool stands = found && strcmp(found, stamp->fingerprint) == 0 &&
                  files_stand(ctx, json_object_get(root, "files"), stamp);
    unsigned there = stands ? (unsigned)json_integer_value(formats) : 0;
    json_decref(root);
    return there;
}

/* ---- unfinished work */

static bool made_for(xb_ctx *ctx, const char *path, const char *fingerprint)
{
    xb_source source;
    int64_t want = (int64_t)strlen(fingerprint) + 1, got = 0;
    char *text = xb_new(ctx, want, 1);
    bool same = false;
    if (text && xb_source_open(ctx, &source, path) == XB_OK) {
        same = xb_source_read(&source, text, want, &got) == XB_OK && got == want - 1 &&
               memcmp(text, fingerprint, (size_t)got) == 0;
        xb_source_close(&source);
    }
    free(text);
    return same;
}

static bool is_empty(const char *dir)
{
    struct dirent **entry = NULL;
    int n = list(&entry, dir);
    free_list(entry, n);
    return n <= 0;
}

xb_status xb_work_open(xb_ctx *ctx, const char *dir, const char *fingerprint)
{
    char path[STAMP_PATH];
    XB_TRY(join_or_fail(ctx, path, dir, WORK_FILE));
    XB_TRY(xb_dir_make(ctx, dir));
    xb_sweep(dir);
    if (made_for(ctx, path, fingerprint)) return XB_OK;
    if (access(path, F_OK) != 0 && !is_empty(dir))
        return xb_fail(ctx, XB_E_INPUT,
                       "%s: holds files of something else, which would be lost; expected "
                       "an empty folder, or none",
                       dir);
    remove_chosen(dir, "", any);
    return xb_outfile_text(ctx, path, fingerprint);
}
