/* crossbayes/study.h: the paper's experiments, each one call.
 *
 * A study computes numbers and returns them as tables and named facts; it draws
 * nothing (crossbayes/report.h does). What it returns carries its provenance.
 *
 * The small structs that accessors return are values: they are frozen.
 */
#ifndef CROSSBAYES_STUDY_H
#define CROSSBAYES_STUDY_H

#include "crossbayes/data.h"
#include "crossbayes/images.h"
#include "crossbayes/law.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xb_study xb_study;

/* scalar: the noise's standard deviation, 0.1 |min(1, x)| or 0.1 max(1, x) (S1). */
typedef enum xb_noise_scale { XB_NOISE_SCALE_MIN = 0, XB_NOISE_SCALE_MAX } xb_noise_scale;

typedef struct xb_study_options {
    size_t struct_size;
    const char *device_law; /* LAW text of the device's noise; NULL: mtj:B=0.15,w=0.5 */
    const double *noise;    /* laws: measured samples; NULL: the built-in sample */
    int64_t noise_n;
    const char *data;           /* array, retention: a table to learn, NULL: a built-in;
                                   utkface: the folder, or "synthetic" */
    const char *target;         /* target column of the table, name or number; NULL: the
                                   last */
    xb_noise_scale noise_scale; /* scalar */
    int64_t size;               /* utkface: side of an image; 0: the study's own */
    const char *cache;          /* utkface: file of decoded images; NULL: as for
                                   xb_image_options */
    bool no_cache;              /* utkface: keep no decoded images */
    const char *work;           /* utkface: folder for checkpoints; NULL: none are kept */
    bool resume;                /* utkface: continue from the checkpoints */
    bool quick;                 /* fewer draws and orders: seconds, not minutes */
    uint64_t seed;
    /* energy and narrow only: */
    const char *const *law; /* [laws] LAW texts beside device and bimodal, at most 5 */
    int64_t laws;
    const int64_t *width; /* [widths] of the nets; NULL: the study's own */
    int64_t widths;
    const int64_t *depth; /* [depths] hidden layers; NULL: the study's own */
    int64_t depths;
    int64_t seeds;        /* nets of each size; 0: the study's own */
    bool full;            /* three seeds, more draws; energy: depth 4 as well */
    bool kernels_only;    /* biases fixed, not random */
    double n_eff_penalty; /* 0: weight of the penalty that keeps n_eff large (maths G5) */
    const char *cells;    /* folder that keeps finished nets, so that a study that was
                             stopped continues where it stopped. NULL: none */
    /* retention only: */
    double loss;        /* loss in nats at which a refresh is due; 0: 0.1 */
    const char *device; /* the device file, which it needs */
    int64_t chips;      /* number of chips; 0: the study's own */
} xb_study_options;

XB_OPTIONS(study);

/* The studies by name: "laws" (Fig. 1 and 7), "quadrature" (Fig. 2),
 * "quantile" (Fig. 3), "energy" (Fig. 4 and 8), "scalar" (Fig. 5), "utkface" (Fig.
 * 6), "narrow" (its open question), "array" (docs/arrays.md), "retention"
 * (docs/devices.md). 0 <= i < xb_study_count(). */
XB_API int64_t xb_study_count(void);
XB_API const char *xb_study_name_at(int64_t i);
XB_API const char *xb_study_about_at(int64_t i);

XB_API xb_status xb_study_run(xb_ctx *ctx, xb_study **out, const char *name,
                              const xb_study_options *opt);
XB_API void xb_study_destroy(xb_study *study);

XB_API const char *xb_study_name(const xb_study *study);
XB_API int64_t xb_study_table_count(const xb_study *study);
XB_API const xb_table *xb_study_table_at(const xb_study *study, int64_t i);
XB_API const xb_table *xb_study_table(const xb_study *study, const char *name);

/* A fact: a number with its meaning in words, e.g. ("kl_device", 0.0481, NAN,
 * "KL of the device law from the Gaussian of the same variance"). */
typedef struct xb_fact {
    const char *name;
    double value;
    double std_error; /* NAN: exact to the digits shown */
    const char *text;
} xb_fact;

XB_API int64_t xb_study_fact_count(const xb_study *study);
XB_API xb_fact xb_study_fact_at(const xb_study *study, int64_t i);

/* A finding: a verdict in words, from the facts and tables and their errors. */
typedef enum xb_finding_kind {
    XB_FINDING_NONE = 0, /* no verdict */
    XB_FINDING_AGREES,
    XB_FINDING_DIFFERS,
    XB_FINDING_UNCLEAR /* the errors are too large to decide */
} xb_finding_kind;

typedef struct xb_finding {
    xb_finding_kind kind;
    const char *word; /* the verdict in short, e.g. "same"; NULL: "agrees", "differs",
                         "cannot tell" */
    const char *text; /* a sentence with the number and its error */
} xb_finding;

XB_API int64_t xb_study_finding_count(const xb_study *study);
XB_API xb_finding xb_study_finding_at(const xb_study *study, int64_t i); /* borrowed */

/* Plans the files (crossbayes/files.h) that xb_study_run writes with these options
 * (checkpoints and finished nets) and that xb_study_write writes to `dir`. */
XB_API xb_status xb_study_plan(xb_ctx *ctx, const char *name, const xb_study_options *opt,
                               const char *dir, const char *label);
/* Writes NAME.json (facts, findings, provenance, list of tables) and one CSV file per
 * table. */
XB_API xb_status xb_study_write(xb_ctx *ctx, const xb_study *study, const char *dir);
/* Reads a study back from the files of xb_study_write, with the same tables and facts.
 * Nothing in the files is trusted. */
XB_API xb_status xb_study_read(xb_ctx *ctx, xb_study **out, const char *dir,
                               const char *name);
/* The JSON text alone; xb_free() it. */
XB_API xb_status xb_study_json(xb_ctx *ctx, char **out, const xb_study *study);

/* Synthetic faces: n drawings of size x size pixels that show no real person; each shows
 * its age to within a few years (maths S3). */
XB_API xb_status xb_builtin_faces(xb_ctx *ctx, xb_images **out, int64_t n, int64_t size,
                                  uint64_t seed);

#ifdef __cplusplus
}
#endif
#endif
