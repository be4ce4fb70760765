/* stamp.h: records what is done, and checks whether it is still valid. A stamp,
 * stamp.json, lies beside the files of one figure: what made them (build, study, options,
 * law, checksum of the data: the fingerprint, compared letter for letter) and the size
 * and hash of every file. A stamp that does not match, or cannot be read, counts as
 * missing. */
#ifndef XB_REPRODUCE_STAMP_H
#define XB_REPRODUCE_STAMP_H

#include "crossbayes/extend.h"

typedef struct xb_stamp {
    const char *dir;
    const char *study;       /* its files are STUDY.* and STUDY_* */
    const char *fingerprint; /* settings of the current run */
} xb_stamp;

/* The figure formats that exist, complete and made with the same settings; 0: none. Fails
 * only if memory has run out. */
xb_status xb_stamp_check(xb_ctx *ctx, unsigned *there, const xb_stamp *stamp);
/* Call this after all files are in place. */
xb_status xb_stamp_write(xb_ctx *ctx, const xb_stamp *stamp, unsigned formats);

/* The study's files of an earlier run. They stay until the new ones are in place; then
 * those that were not replaced are removed, because the new run does not make them. Other
 * files in the folder are left alone. */
typedef struct xb_older {
    struct xb_older_file *file; /* [n] */
    int n;
} xb_older;

/* Call this before anything is written. Half-written files of a killed run are removed at
 * once. */
xb_status xb_older_note(xb_ctx *ctx, xb_older *out, const xb_stamp *stamp);
/* Call this after everything but the stamp is written. */
void xb_older_remove(const xb_older *older, const xb_stamp *stamp);
void xb_older_free(xb_older *older);

/* Makes a folder for unfinished work. It is emptied unless its contents were made for the
 * same fingerprint; half-written files are removed in any case. Fails rather than
 * emptying a folder that it did not make. */
xb_status xb_stamp_work_open(xb_ctx *ctx, const char *dir, const char *fingerprint);

/* Removes half-written files and folders (NAME.tmp-XXXXXX, .figure-XXXXXX) from a
 * folder. */
void xb_sweep(const char *dir);

/* Plans the stamp of a figure, and the file that says what unfinished work is for. */
xb_status xb_stamp_plan(xb_ctx *ctx, const char *dir, const char *label);
xb_status xb_stamp_work_plan(xb_ctx *ctx, const char *dir, const char *label);

/* The name of a stamp's file. */
const char *xb_stamp_name(void);

#endif
