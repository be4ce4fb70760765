/* study.c: the table of studies, and the container each one fills: tables, facts
 * and provenance, to JSON and CSV. Start reading here; each experiment is one file beside
 * this one. */
#include "study/study.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crossbayes/extend.h"
#include "crossbayes/outfile.h"
#include "crossbayes/json.h"
#include "crossbayes/files.h"

static const xb_study_kind *const kinds[] = {
    &xb_study_laws,   &xb_study_quadrature, &xb_study_quantile,
    &xb_study_energy, &xb_study_scalar,     &xb_study_utkface,
    &xb_study_narrow, &xb_study_array,      &xb_study_retention,
};

static const char *const STANDARD_DEVICE = "mtj:B=0.15,w=0.5";

enum {
    NAME_MAX_LENGTH = 64,
    TEXT_MAX_LENGTH = 256,
    FILE_MAX_LENGTH = 160,
    WORD_MAX_LENGTH = 24,
    SENTENCE_MAX_LENGTH = 512
};

typedef struct study_fact {
    char name[NAME_MAX_LENGTH];
    char text[TEXT_MAX_LENGTH];
    double value;
    double std_error;
} study_fact;

typedef struct study_finding {
    xb_finding_kind kind;
    char word[WORD_MAX_LENGTH];
    char text[SENTENCE_MAX_LENGTH];
} study_finding;

struct xb_study {
    char name[NAME_MAX_LENGTH];
    xb_table **tables;
    int64_t n_tables, table_capacity;
    study_fact *facts;
    int64_t n_facts, fact_capacity;
    study_finding *findings;
    int64_t n_findings, finding_capacity;
    char *device;
    char *command;
    char unit[sizeof((xb_law_place *)NULL)->unit]; /* unit of the samples; "": unknown */
    uint64_t seed;
};

void xb_study_options_init(xb_study_options *opt, size_t size)
{
    const xb_study_options standard = {.seed = 1};
    xb_options_fill(opt, size, &standard, sizeof standard);
}

int64_t xb_study_count(void) { return XB_COUNT(kinds); }
const char *xb_study_name_at(int64_t i) { return kinds[i]->name; }
const char *xb_study_about_at(int64_t i) { return kinds[i]->about; }

/* ---- making and filling */

xb_status xb_study_new(xb_ctx *ctx, xb_study **out, const char *name, const char *device,
                       uint64_t seed)
{
    xb_study *study = xb_new(ctx, 1, sizeof *study);
    if (!study) return XB_E_MEMORY;
    snprintf(study->name, sizeof study->name, "%s", name);
    study->seed = seed;
    study->device = xb_strdup(ctx, device);
    study->command = xb_strdup(ctx, xb_ctx_origin(ctx));
    if (!study->device || !study->command) {
        xb_study_destroy(study);
        return XB_E_MEMORY;
    }
    *out = study;
    return XB_OK;
}

void xb_study_destroy(xb_study *study)
{
    if (!study) return;
    for (int64_t i = 0; i < study->n_tables; i++) xb_table_destroy(study->tables[i]);
    xb_free(study->tables);
    xb_free(study->facts);
    xb_free(study->findings);
    xb_free(study->device);
    xb_free(study->command);
    xb_free(study);
}

xb_status xb_study_new_table(xb_ctx *ctx, xb_study *study, xb_table **out,
                             const char *name, int64_t rows, int columns,
                             const char *const *column_names)
{
    xb_table *table = NULL;
    XB_TRY(xb_table_create(ctx, &table, name, rows, columns, column_names));
    XB_TRY(xb_study_give_table(ctx, study, table));
    *out = table;
    return XB_OK;
}

xb_status xb_study_give_table(xb_ctx *ctx, xb_study *study, xb_table *table)
{
    void *block = study->tables;
    xb_status status = xb_grow(ctx, &block, &study->table_capacity, study->n_tables + 1,
                               sizeof(xb_table *));
    if (status != XB_OK) {
        xb_table_destroy(table);
        return status;
    }
    study->tables = block;
    study->tables[study->n_tables++] = table;
    return XB_OK;
}

xb_status xb_study_set_command(xb_ctx *ctx, xb_study *study, const char *command)
{
    char *copy = xb_strdup(ctx, command);
    if (!copy) return XB_E_MEMORY;
    xb_free(study->command);
    study->command = copy;
    return XB_OK;
}

xb_status xb_study_add_fact(xb_ctx *ctx, xb_study *study, const char *name, double value,
                            double std_error, const char *format, ...)
{
    void *block = study->facts;
    XB_TRY(xb_grow(ctx, &block, &study->fact_capacity, study->n_facts + 1,
                   sizeof *study->facts));
    study->facts = block;
    study_fact *fact = &study->facts[study->n_facts++];
    snprintf(fact->name, sizeof fact->name, "%s", name);
    fact->value = value;
    fact->std_error = std_error;
    va_list args;
    va_start(args, format);
    vsnprintf(fact->text, sizeof fact->text, format, args);
    va_end(args);
    return XB_OK;
}

xb_status xb_study_add_finding(xb_ctx *ctx, xb_study *study, xb_finding_kind kind,
                               const char *word, const char *format, ...)
{
    void *block = study->findings;
    XB_TRY(xb_grow(ctx, &block, &study->finding_capacity, study->n_findings + 1,
                   sizeof *study->findings));
    study->findings = block;
    study_finding *finding = &study->findings[study->n_findings++];
    finding->kind = kind;
    snprintf(finding->word, sizeof finding->word, "%s", word);
    va_list args;
    va_start(args, format);
    vsnprintf(finding->text, sizeof finding->text, format, args);
    va_end(args);
    return XB_OK;
}

/* ---- running */

static const xb_study_kind *kind_find(const char *name)
{
    for (int i = 0; i < XB_COUNT(kinds); i++)
        if (strcmp(kinds[i]->name, name) == 0) return kinds[i];
    return NULL;
}

xb_status xb_study_run(xb_ctx *ctx, xb_study **out, const char *name,
                       const xb_study_options *opt)
{
    xb_study_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, study, &chosen, opt, chips));
    opt = &chosen;
    const xb_study_kind *kind = kind_find(name);
    if (!kind) return xb_fail(ctx, XB_E_ARGUMENT, "unknown study '%s'", name);
    if (opt->device && !kind->device_file)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "the study %s is about a law, but a device file was given", name);
    xb_law *device = NULL;
    const char *file = opt->device;
    XB_TRY(
        xb_law_parse(ctx, &device, opt->device_law ? opt->device_law : STANDARD_DEVICE));
    xb_study *study = NULL;
    xb_status status =
        xb_study_new(ctx, &study, name, file ? file : xb_law_text(device), opt->seed);
    if (status == XB_OK) status = kind->run(ctx, study, device, opt);
    if (status == XB_OK) status = kind->find(ctx, study);
    xb_law_destroy(device);
    if (status != XB_OK) {
        xb_study_destroy(study);
        return status;
    }
    *out = study;
    return XB_OK;
}

/* ---- reading */

const char *xb_study_name(const xb_study *study) { return study->name; }
const char *xb_study_unit(const xb_study *study) { return study->unit; }
void xb_study_set_unit(xb_study *study, const char *unit)
{
    snprintf(study->unit, sizeof study->unit, "%s", unit);
}
int64_t xb_study_table_count(const xb_study *study) { return study->n_tables; }
const xb_table *xb_study_table_at(const xb_study *study, int64_t i)
{
    return study->tables[i];
}

const xb_table *xb_study_table(const xb_study *study, const char *name)
{
    for (int64_t i = 0; i < study->n_tables; i++)
        if (strcmp(xb_table_name(study->tables[i]), name) == 0) return study->tables[i];
    return NULL;
}

int64_t xb_study_fact_count(const xb_study *study) { return study->n_facts; }
xb_fact xb_study_fact_at(const xb_study *study, int64_t i)
{
    const study_fact *fact = &study->facts[i];
    return (xb_fact){fact->name, fact->value, fact->std_error, fact->text};
}

xb_fact xb_study_fact(const xb_study *study, const char *name)
{
    for (int i = 0; i < xb_study_fact_count(study); i++)
        if (strcmp(study->facts[i].name, name) == 0) return xb_study_fact_at(study, i);
    return (xb_fact){name, NAN, NAN, ""};
}

int64_t xb_study_finding_count(const xb_study *study) { return study->n_findings; }
xb_finding xb_study_finding_at(const xb_study *study, int64_t i)
{
    const study_finding *finding = &study->findings[i];
    return (xb_finding){finding->kind, finding->word, finding->text};
}

/* ---- writing */

static void csv_name(char *out, size_t size, const xb_study *study, const xb_table *table)
{
    snprintf(out, size, "%s_%s.csv", study->name, xb_table_name(table));
}

static json_t *facts_json(const xb_study *study)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < study->n_facts; i++) {
        const study_fact *fact = &study->facts[i];
        xb_json_add(&list, json_pack("{s:s, s:o, s:o, s:s}", "name", fact->name, "value",
                                     xb_json_real(fact->value), "std_error",
                                     xb_json_real(fact->std_error), "text", fact->text));
    }
    return list;
}

const char *xb_finding_name(xb_finding_kind kind)
{
    static const char *const words[] = {
        [XB_FINDING_NONE] = "none",
        [XB_FINDING_AGREES] = "agrees",
        [XB_FINDING_DIFFERS] = "differs",
        [XB_FINDING_UNCLEAR] = "unclear",
    };
    return words[kind];
}

static json_t *findings_json(const xb_study *study)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < study->n_findings; i++) {
        const study_finding *finding = &study->findings[i];
        xb_json_add(&list, json_pack("{s:s, s:s, s:s}", "verdict",
                                     xb_finding_name(finding->kind), "word",
                                     finding->word, "text", finding->text));
    }
    return list;
}

static json_t *table_json(const xb_study *study, const xb_table *table)
{
    char file[FILE_MAX_LENGTH];
    csv_name(file, sizeof file, study, table);
    json_t *columns = json_array();
    for (int c = 0; c < xb_table_column_count(table); c++)
        xb_json_add(&columns, xb_json_string(xb_table_column_name(table, c)));
    return json_pack("{s:s, s:o, s:I, s:s}", "name", xb_table_name(table), "columns",
                     columns, "rows", (json_int_t)xb_table_row_count(table), "file",
                     file);
}

static json_t *tables_json(const xb_study *study)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < study->n_tables; i++)
        xb_json_add(&list, table_json(study, study->tables[i]));
    return list;
}

/* As text if the number exceeds JSON's integers, which end at 2^63. */
static json_t *seed_json(uint64_t seed)
{
    char text[24];
    if (seed <= INT64_MAX) return json_integer((json_int_t)seed);
    snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
    return xb_json_string(text);
}

static json_t *study_json(const xb_study *study)
{
    json_t *provenance = json_pack("{s:s, s:o, s:o, s:s}", "version", xb_version(),
                                   "command", xb_json_string(study->command), "seed",
                                   seed_json(study->seed), "device", study->device);
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "crossbayes", "study", "study",
                     study->name, "findings", findings_json(study), "facts",
                     facts_json(study), "tables", tables_json(study), "provenance",
                     provenance);
}

xb_status xb_study_json(xb_ctx *ctx, char **out, const xb_study *study)
{
    json_t *root = study_json(study);
    xb_status status = xb_json_text(ctx, out, root);
    json_decref(root);
    return status;
}

static xb_status path_join(xb_ctx *ctx, char *out, size_t size, const char *dir,
                           const char *file)
{
    int length = snprintf(out, size, "%s/%s", dir, file);
    if (length >= 0 && (size_t)length < size) return XB_OK;
    return xb_fail(ctx, XB_E_IO, "%s: the path is too long", dir);
}

xb_status xb_study_plan(xb_ctx *ctx, const char *name, const xb_study_options *opt,
                        const char *dir, const char *label)
{
    char file[FILE_MAX_LENGTH];
    xb_study_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, study, &chosen, opt, chips));
    snprintf(file, sizeof file, "%s.json", name);
    XB_TRY(xb_files_plan_in(ctx, dir, file, label));
    snprintf(file, sizeof file, "%s_*.csv", name);
    XB_TRY(xb_files_plan_in(ctx, dir, file, label));
    if (chosen.cells)
        XB_TRY(xb_files_plan_in(ctx, chosen.cells, "width*_depth*_seed*.safetensors",
                                label));
    if (!chosen.work) return XB_OK;
    snprintf(file, sizeof file, "%s_*.checkpoint", name);
    return xb_files_plan_in(ctx, chosen.work, file, label);
}

/* The JSON is written last, so that everything it lists exists. */
xb_status xb_study_write(xb_ctx *ctx, const xb_study *study, const char *dir)
{
    char file[FILE_MAX_LENGTH], path[4096];
    XB_TRY(xb_dir_make(ctx, dir));
    for (int64_t i = 0; i < study->n_tables; i++) {
        csv_name(file, sizeof file, study, study->tables[i]);
        XB_TRY(path_join(ctx, path, sizeof path, dir, file));
        XB_TRY(xb_table_write_csv(ctx, study->tables[i], path));
    }
    snprintf(file, sizeof file, "%s.json", study->name);
    XB_TRY(path_join(ctx, path, sizeof path, dir, file));
    json_t *root = study_json(study);
    xb_status status = xb_json_save(ctx, root, path);
    json_decref(root);
    return status;
}
