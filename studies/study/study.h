/* study.h: how a study is made. A study is one file that defines an
 * `xb_study_kind` and one row in the table of study.c; its run function fills
 * the study with tables and facts:
 *
 *     xb_table *table = NULL;
 *     XB_TRY(xb_study_new_table(ctx, study, &table, "device_kl_error", rows, 3, names));
 *     xb_table_set(table, row, column, value);
 *     XB_TRY(xb_study_add_fact(ctx, study, "kl_device", kl, NAN, "KL of %s", text));
 */
#ifndef XB_STUDY_STUDY_H
#define XB_STUDY_STUDY_H

#include "crossbayes/extend.h"
#include "crossbayes/study.h"

/* `opt` is never NULL; opt->device_law is the text that `device` was made from,
 * or NULL. On failure the study is destroyed by the caller. */
typedef xb_status xb_study_fn(xb_ctx *ctx, xb_study *study, const xb_law *device,
                              const xb_study_options *opt);

/* Interprets the study's tables and facts: adds findings and changes nothing else. */
typedef xb_status xb_study_find_fn(xb_ctx *ctx, xb_study *study);

typedef struct xb_study_kind {
    const char *name;
    const char *about;
    xb_study_fn *run;
    xb_study_find_fn *find;
    bool device_file; /* the study is about opt->device, a file, not about a law */
} xb_study_kind;

extern const xb_study_kind xb_study_array;
extern const xb_study_kind xb_study_laws;
extern const xb_study_kind xb_study_quadrature;
extern const xb_study_kind xb_study_quantile;
extern const xb_study_kind xb_study_energy;
extern const xb_study_kind xb_study_scalar;
extern const xb_study_kind xb_study_utkface;
extern const xb_study_kind xb_study_narrow;
extern const xb_study_kind xb_study_retention;

/* An empty study; `device` is kept as provenance. */
xb_status xb_study_new(xb_ctx *ctx, xb_study **out, const char *name, const char *device,
                       uint64_t seed);

/* The table belongs to the study; *out is borrowed. All cells are empty at first. */
xb_status xb_study_new_table(xb_ctx *ctx, xb_study *study, xb_table **out,
                             const char *name, int64_t rows, int columns,
                             const char *const *column_names);

/* Adds a table made elsewhere; the study owns it from now on, and it is destroyed on
 * failure. */
xb_status xb_study_give_table(xb_ctx *ctx, xb_study *study, xb_table *table);

/* The unit of the samples a study is about, for axes; "": not known. */
void xb_study_set_unit(xb_study *study, const char *unit);
const char *xb_study_unit(const xb_study *study);

/* Replaces the command in the study's provenance. */
xb_status xb_study_set_command(xb_ctx *ctx, xb_study *study, const char *command);

/* std_error NAN: exact to the digits shown. */
xb_status xb_study_add_fact(xb_ctx *ctx, xb_study *study, const char *name, double value,
                            double std_error, const char *format, ...) XB_PRINTF(6, 7);

/* The fact of that name; its value is NAN if there is none. */
xb_fact xb_study_fact(const xb_study *study, const char *name);

xb_status xb_study_add_finding(xb_ctx *ctx, xb_study *study, xb_finding_kind kind,
                               const char *word, const char *format, ...) XB_PRINTF(5, 6);

/* "none", "agrees", "differs", "unclear": the names in files. */
const char *xb_finding_name(xb_finding_kind kind);

/* findings_laws.c, findings_nets.c, findings_tasks.c, findings_retention.c */
xb_study_find_fn xb_find_laws, xb_find_quadrature, xb_find_quantile;
xb_study_find_fn xb_find_energy, xb_find_narrow;
xb_study_find_fn xb_find_scalar, xb_find_utkface, xb_find_array;
xb_study_find_fn xb_find_retention;

#endif
