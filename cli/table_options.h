/* table_options.h: options for the columns and missing values of a table, and the lines
 * that report what was done. */
#ifndef XB_CLI_TABLE_OPTIONS_H
#define XB_CLI_TABLE_OPTIONS_H

#include "session.h"

/* For commands that read a table for a model. */
#define CLI_MISSING_OPTION                                                               \
    {                                                                                    \
        "missing", 0, CLI_CHOICE, "impute|refuse",                                       \
            "table: what to do with missing values [impute]", 0, 0                       \
    }

/* Additional options of training. */
#define CLI_TABLE_OPTIONS                                                                 \
    {"drop",                                                                              \
     0,                                                                                   \
     CLI_TEXTS,                                                                           \
     "COLUMNS",                                                                           \
     "table: columns to leave out, by name or number, separated by commas; may be "       \
     "repeated",                                                                          \
     0,                                                                                   \
     0},                                                                                  \
        {"only", 0, CLI_TEXTS, "COLUMNS", "table: the only columns to learn from", 0, 0}, \
        {"use-anyway",                                                                    \
         0,                                                                               \
         CLI_TEXTS,                                                                       \
         "COLUMNS",                                                                       \
         "table: columns to use although they look like ids or dates, or never change",   \
         0,                                                                               \
         0},                                                                              \
        {"id",                                                                            \
         0,                                                                               \
         CLI_TEXT,                                                                        \
         "COLUMN",                                                                        \
         "table: column that names the rows, copied into predictions and not learnt "     \
         "from",                                                                          \
         0,                                                                               \
         0},                                                                              \
        {"test-share",                                                                    \
         0,                                                                               \
         CLI_NUMBER,                                                                      \
         "SHARE",                                                                         \
         "table: share of rows held out of training for the test scores printed at the "  \
         "end [0]",                                                                       \
         0,                                                                               \
         0.9},                                                                            \
        CLI_MISSING_OPTION

/* The options of a table to train on; the names are kept in it. */
typedef struct cli_table {
    xb_frame_options opt;
    char *text;        /* all names */
    const char **name; /* drop, only and use-anyway */
} cli_table;

cli_exit cli_table_read(cli_session *s, cli_table *out);
void cli_table_free(cli_table *table);

/* Prints the notes of the frame on stderr; `learnt`: also the options that would change
 * it. */
void cli_table_say(cli_session *s, const xb_frame *frame, bool learnt);

#endif
