/* study_read.c: reads a study back from NAME.json and its tables, which reproduce judges,
 * so that old and new studies are treated identically. Numbers come back to the last bit
 * (except infinite facts, which JSON cannot express). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crossbayes/filekind.h"
#include "crossbayes/json.h"
#include "crossbayes/files.h"
#include "study/study.h"

enum { READ_PATH = 4096 };

static xb_status not_a_study(xb_ctx *ctx, const char *path, const char *what)
{
    return xb_fail(ctx, XB_E_INPUT, "%s: not a study file of crossbayes: %s", path, what);
}

static double number_or_nan(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static xb_status read_facts(xb_ctx *ctx, xb_study *study, const json_t *root,
                            const char *path)
{
    const json_t *list = json_object_get(root, "facts");
    if (!json_is_array(list)) return not_a_study(ctx, path, "it has no list of facts");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *fact = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(fact, "name"));
        const char *text = json_string_value(json_object_get(fact, "text"));
        if (!name || !text)
            return not_a_study(ctx, path, "a fact has no name or no text");
        XB_TRY(xb_study_add_fact(
            ctx, study, name, number_or_nan(json_object_get(fact, "value")),
            number_or_nan(json_object_get(fact, "std_error")), "%s", text));
    }
    return XB_OK;
}

static bool read_kind(xb_finding_kind *out, const char *word)
{
    static const xb_finding_kind kinds[] = {XB_FINDING_NONE, XB_FINDING_AGREES,
                                            XB_FINDING_DIFFERS, XB_FINDING_UNCLEAR};
    for (int i = 0; word && i < XB_COUNT(kinds); i++)
        if (strcmp(word, xb_finding_name(kinds[i])) == 0) {
            *out = kinds[i];
            return true;
        }
    return false;
}

static xb_status read_findings(xb_ctx *ctx, xb_study *study, const json_t *root,
                               const char *path)
{
    const json_t *list = json_object_get(root, "findings");
    if (!json_is_array(list)) return not_a_study(ctx, path, "it has no list of findings");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *finding = json_array_get(list, i);
        const char *word = json_string_value(json_object_get(finding, "word"));
        const char *text = json_string_value(json_object_get(finding, "text"));
        xb_finding_kind kind;
        if (!word || !text ||
            !read_kind(&kind, json_string_value(json_object_get(finding, "verdict"))))
            return not_a_study(ctx, path, "a finding lacks its verdict, word or text");
        XB_TRY(xb_study_add_finding(ctx, study, kind, word, "%s", text));
    }
    return XB_OK;
}

/* A table's file must lie beside the JSON, so its name must not contain a path. */
static xb_status read_table(xb_ctx *ctx, xb_study *study, const json_t *entry,
                            const char *dir, const char *path)
{
    char file[READ_PATH];
    const char *name = json_string_value(json_object_get(entry, "name"));
    const char *from = json_string_value(json_object_get(entry, "file"));
    if (!name || !from || strchr(from, '/'))
        return not_a_study(ctx, path, "a table has no name or no file");
    if (snprintf(file, sizeof file, "%s/%s", dir, from) >= (int)sizeof file)
        return not_a_study(ctx, path, "its path is too long");
    xb_table *table = NULL;
    XB_TRY(xb_files_own(ctx, file));
    XB_TRY(xb_table_read_csv(ctx, &table, name, file));
    json_int_t rows = json_integer_value(json_object_get(entry, "rows"));
    if (rows != (json_int_t)xb_table_row_count(table)) {
        xb_table_destroy(table);
        return not_a_study(ctx, path,
                           "a table does not have the number of rows that it states");
    }
    return xb_study_give_table(ctx, study, table);
}

static xb_status fill(xb_ctx *ctx, xb_study *study, const json_t *root, const char *dir,
                      const char *path)
{
    const json_t *list = json_object_get(root, "tables");
    if (!json_is_array(list)) return not_a_study(ctx, path, "it has no list of tables");
    for (size_t i = 0; i < json_array_size(list); i++)
        XB_TRY(read_table(ctx, study, json_array_get(list, i), dir, path));
    XB_TRY(read_findings(ctx, study, root, path));
    return read_facts(ctx, study, root, path);
}

/* The seed is text if it is beyond JSON's integers. */
static uint64_t read_seed(const json_t *seed)
{
    const char *text = json_string_value(seed);
    return text ? strtoull(text, NULL, 10) : (uint64_t)json_integer_value(seed);
}

static xb_status read_root(xb_ctx *ctx, xb_study **out, const json_t *root,
                           const char *dir, const char *name, const char *path)
{
    const json_t *from = json_object_get(root, "provenance");
    const char *found = json_string_value(json_object_get(root, "study"));
    const char *device = json_string_value(json_object_get(from, "device"));
    const char *command = json_string_value(json_object_get(from, "command"));
    if (!found || strcmp(found, name) != 0 || !device || !command)
        return not_a_study(ctx, path, "it is of another study, or of none");
    xb_study *study = NULL;
    XB_TRY(xb_study_new(ctx, &study, name, device,
                        read_seed(json_object_get(from, "seed"))));
    xb_status status = xb_study_set_command(ctx, study, command);
    if (status == XB_OK) status = fill(ctx, study, root, dir, path);
    if (status == XB_OK)
        *out = study;
    else
        xb_study_destroy(study);
    return status;
}

xb_status xb_study_read(xb_ctx *ctx, xb_study **out, const char *dir, const char *name)
{
    char path[READ_PATH];
    json_t *root = NULL;
    if (snprintf(path, sizeof path, "%s/%s.json", dir, name) >= (int)sizeof path)
        return xb_fail(ctx, XB_E_INPUT, "%s: the path is too long", dir);
    XB_TRY(xb_files_own(ctx, path));
    xb_status status = xb_json_load(ctx, &root, path);
    if (status == XB_OK) status = read_root(ctx, out, root, dir, name, path);
    json_decref(root);
    return xb_filekind_explain(ctx, status, path, XB_KIND_STUDY);
}
