/* image_targets.c: the targets of the images of a folder: from a table, whose rows are
 * matched to the files by name, or from the file names as in UTKFace:
 * AGE_SEX_RACE_TIME.jpg, of which only the age is used. Images without a target are left
 * out and counted; a row without its image is an error. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/classes.h"
#include "data/csv.h"
#include "data/images.h"

/* ---- ages in names */

enum { AGE_MAX = 130, STAMP_LEAST = 14 }; /* years; number of digits of a time stamp */

/* Whether the name is like "26_1_2_20170116174525125.jpg" or, as in UTKFace's own files,
 * ends in ".jpg.chip.jpg". */
static bool is_plain(const char *name)
{
    const char *p = name;
    int digits = 0;
    while (isdigit((unsigned char)*p)) p++;
    if (p == name || *p++ != '_') return false;
    if ((*p != '0' && *p != '1') || *++p != '_') return false;
    if (*++p < '0' || *p > '4' || *++p != '_') return false;
    for (p++; isdigit((unsigned char)*p); p++) digits++;
    return digits >= STAMP_LEAST &&
           (strcmp(p, ".jpg") == 0 || strcmp(p, ".jpg.chip.jpg") == 0);
}

static double age_in(const char *name)
{
    char *end = NULL;
    if (!isdigit((unsigned char)*name)) return NAN;
    long age = strtol(name, &end, 10);
    return *end == '_' && age <= AGE_MAX ? (double)age : NAN;
}

static const char *base_name(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

static void note_unlabelled(xb_images *m, int64_t i)
{
    if (m->report.unlabelled++ == 0) m->report.unlabelled_name = m->name[i];
}

static xb_status make_targets(xb_ctx *ctx, xb_images *m, const char *name)
{
    m->target = xb_new(ctx, m->n, sizeof *m->target);
    m->target_name = xb_strdup(ctx, name);
    if (!m->target || !m->target_name) return XB_E_MEMORY;
    for (int64_t i = 0; i < m->n; i++) m->target[i] = NAN;
    return XB_OK;
}

xb_status xb_images_ages(xb_ctx *ctx, xb_images *m)
{
    XB_TRY(make_targets(ctx, m, "age"));
    for (int64_t i = 0; i < m->n; i++) {
        const char *name = base_name(m->name[i]);
        m->target[i] = age_in(name);
        if (isnan(m->target[i]))
            note_unlabelled(m, i);
        else if (!is_plain(name) && m->report.odd++ == 0)
            m->report.odd_name = m->name[i];
    }
    if (m->report.unlabelled < m->n) return XB_OK;
    return xb_fail(
        ctx, XB_E_INPUT,
        "%s: neither this name nor any other starts with an age: expected names like"
        " 26_1_2_20170116174525125.jpg, or a table of targets",
        m->name[0]);
}

/* ---- a table */

typedef struct target_reading {
    xb_ctx *ctx;
    xb_images *images;
    const xb_image_options *opt;
    int64_t file, target; /* columns */
    bool as_classes, started;
    xb_classes classes;
} target_reading;

static xb_status file_column(target_reading *r, const xb_csv_head *head)
{
    static const char *const usual[] = {"file", "filename", "image", "name", "path"};
    if (r->opt->file) return xb_csv_column(&r->file, head, r->opt->file);
    for (int k = 0; head->names && k < XB_COUNT(usual); k++)
        for (int64_t i = 0; i < head->dialect.columns; i++)
            if (strcmp(head->names[i], usual[k]) == 0 && i != r->target) {
                r->file = i;
                return XB_OK;
            }
    r->file = r->target == 0 ? 1 : 0;
    if (r->file < head->dialect.columns) return XB_OK;
    return xb_fail(r->ctx, XB_E_INPUT,
                   "%s: there is no column of file names besides the target", head->file);
}

static xb_status choose_columns(void *arg, const xb_csv_head *head)
{
    target_reading *r = arg;
    if (!r->opt->target)
        return xb_fail(r->ctx, XB_E_ARGUMENT, "%s: the target column is not given",
                       head->file);
    XB_TRY(xb_csv_column(&r->target, head, r->opt->target));
    XB_TRY(file_column(r, head));
    const char *name = head->names ? head->names[r->target] : r->opt->target;
    return make_targets(r->ctx, r->images, name);
}

static int by_text(const void *key, const void *name)
{
    return strcmp(key, *(char *const *)name);
}

/* Finds a name as it is, or after "./". */
static int64_t find_image(const xb_images *m, const char *name)
{
    if (strncmp(name, "./", 2) == 0) name += 2;
    char **found = bsearch(name, m->name, (size_t)m->n, sizeof *m->name, by_text);
    return found ? found - m->name : -1;
}

static xb_status image_of(target_reading *r, int64_t *out, const xb_csv_row *row)
{
    char name[4096];
    xb_slice field = row->field[r->file];
    const char *file = row->head->file;
    if (field.end - field.text >= (ptrdiff_t)sizeof name)
        return xb_fail(r->ctx, XB_E_INPUT, "%s:%lld: the file name is too long", file,
                       (long long)row->line);
    xb_field_copy(name, field);
    *out = find_image(r->images, name);
    if (*out < 0)
        return xb_fail(r->ctx, XB_E_INPUT, "%s:%lld: no image '%.200s' in the folder",
                       file, (long long)row->line, name);
    if (!isnan(r->images->target[*out]))
        return xb_fail(r->ctx, XB_E_INPUT, "%s:%lld: image '%.200s' is listed twice",
                       file, (long long)row->line, name);
    return XB_OK;
}

static xb_status class_of(target_reading *r, double *out, const xb_csv_row *row)
{
    xb_slice field = row->field[r->target];
    int64_t number = -1;
    if (field.text < field.end)
        XB_TRY(xb_classes_number(&r->classes, &number, field, row->head->dialect.point));
    *out = (double)number;
    if (number >= 0) return XB_OK;
    return xb_fail(r->ctx, XB_E_INPUT, "%s:%lld: '%.*s' is not a valid class",
                   row->head->file, (long long)row->line, (int)(field.end - field.text),
                   field.text);
}

static xb_status take_row(void *arg, const xb_csv_row *row)
{
    target_reading *r = arg;
    int64_t image = 0;
    if (!r->started && r->opt->target_kind == XB_TARGET_AUTO)
        r->as_classes |= xb_field_kind_of(row->field[r->target],
                                          row->head->dialect.point) == XB_FIELD_TEXT;
    r->started = true;
    XB_TRY(image_of(r, &image, row));
    double *to = &r->images->target[image];
    return r->as_classes ? class_of(r, to, row) : xb_csv_number(to, row, r->target);
}

static xb_status number_classes(target_reading *r)
{
    xb_images *m = r->images;
    int64_t *rank = NULL, count = r->classes.count;
    XB_TRY(xb_classes_finish(&r->classes, &rank, &m->class_name));
    m->classes = count;
    for (int64_t i = 0; i < m->n; i++)
        if (!isnan(m->target[i])) m->target[i] = (double)rank[(int64_t)m->target[i]];
    free(rank);
    return XB_OK;
}

static xb_status read_table(target_reading *r)
{
    xb_source source;
    xb_csv_visitor visitor = {.arg = r, .head = choose_columns, .row = take_row};
    XB_TRY(xb_source_open(r->ctx, &source, r->opt->target_table));
    xb_status status = xb_csv_read(&source, &visitor);
    xb_source_close(&source);
    return xb_source_explain(&source, status, XB_KIND_TABLE);
}

xb_status xb_images_read_targets(xb_ctx *ctx, xb_images *m, const xb_image_options *opt)
{
    target_reading r = {.ctx = ctx, .images = m, .opt = opt};
    XB_TRY(xb_classes_start(ctx, &r.classes, opt->classes, opt->n_classes));
    r.as_classes = opt->target_kind == XB_TARGET_CLASS || opt->classes;
    xb_status status = read_table(&r);
    if (status == XB_OK && r.as_classes) status = number_classes(&r);
    xb_classes_free(&r.classes);
    for (int64_t i = 0; status == XB_OK && i < m->n; i++)
        if (isnan(m->target[i])) note_unlabelled(m, i);
    return status;
}
