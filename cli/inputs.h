/* inputs.h: the inputs of a network, with one interface: a table, a folder of images or
 * IDX files, recognised by the contents of the path. */
#ifndef XB_CLI_INPUTS_H
#define XB_CLI_INPUTS_H

#include "session.h"

typedef struct cli_inputs {
    xb_frame *frame; /* a table, or images: */
    xb_images *images;
    int64_t *select; /* [n] indices of images */
    double *target;  /* [n] targets of the images; NULL: none */
    int64_t n;
} cli_inputs;

/* Where decoded images are kept between runs. */
#define CLI_CACHE_OPTIONS(WHERE)                                                         \
    {"cache",                                                                            \
     0,                                                                                  \
     CLI_OUTPUT,                                                                         \
     "FILE",                                                                             \
     WHERE                                                                               \
     "file of decoded images, kept for the next run [in $XDG_CACHE_HOME/crossbayes"      \
     " or ~/.cache/crossbayes, together at most $CROSSBAYES_CACHE_LIMIT, 2G]",           \
     0,                                                                                  \
     0},                                                                                 \
    {                                                                                    \
        "no-cache", 0, CLI_FLAG, NULL, WHERE "keep no decoded images", 0, 0              \
    }

/* Options of commands that read images. */
#define CLI_IMAGE_OPTIONS                                                                \
    {"target-table",                                                                     \
     0,                                                                                  \
     CLI_PATH,                                                                           \
     "TABLE",                                                                            \
     "images: table of file names and targets, .csv",                                    \
     0,                                                                                  \
     0},                                                                                 \
        {"file-column",                                                                  \
         0,                                                                              \
         CLI_TEXT,                                                                       \
         "COLUMN",                                                                       \
         "images: column of the file names in TABLE [found by name]",                    \
         0,                                                                              \
         0},                                                                             \
        {"labels",                                                                       \
         0,                                                                              \
         CLI_PATH,                                                                       \
         "FILE",                                                                         \
         "images: IDX file of labels [named after the images]",                          \
         0,                                                                              \
         0},                                                                             \
        {"part",                                                                         \
         0,                                                                              \
         CLI_CHOICE,                                                                     \
         "all|train|validation|test",                                                    \
         "images: the part of them to use, split 8:1:1 by content [all]",                \
         0,                                                                              \
         0},                                                                             \
        {"skip-corrupt", 0, CLI_FLAG, NULL, "images: leave broken files out", 0, 0},     \
        CLI_CACHE_OPTIONS("images: ")

/* Reads the column of numbers that --column names, or the only one; *out as in
 * xb_column_read. */
xb_status cli_column_read(cli_session *s, double **out, int64_t *n, const char *path);

/* Reads training data. The target comes from --target. */
cli_exit cli_inputs_learn(cli_session *s, cli_inputs *out, const char *path);

/* Refuses options of images for a model of tables. */
cli_exit cli_inputs_check(cli_session *s, const xb_model *model);
/* Reads inputs for a model, with its columns and classes; `target`: also the target. */
cli_exit cli_inputs_ask(cli_session *s, cli_inputs *out, const xb_model *model,
                        const char *path, bool target);

void cli_inputs_free(cli_inputs *in);

/* Scores the rows held out of training; without any, *out stays unchanged. */
xb_status cli_inputs_test(cli_session *s, xb_evaluation **out, const cli_inputs *in,
                          const xb_model *model);

xb_train_data cli_inputs_train(const cli_inputs *in);
xb_rows cli_inputs_rows(const cli_inputs *in);
const double *cli_inputs_target(const cli_inputs *in);

/* Name of input i; NULL: it has none. */
const char *cli_inputs_name(const cli_inputs *in, int64_t i);

#endif
