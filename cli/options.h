/* options.h: commands as table rows, and the parser of command lines. One row describes a
 * command completely: `--help`, the list that `crossbayes` alone prints and the checks of
 * every argument come from it. A command's run function gets values by name, which then
 * have the right kind and range. */
#ifndef XB_CLI_OPTIONS_H
#define XB_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "crossbayes/extend.h"

#define CLI_COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* As in shells, a command stopped by a signal ends with 128 plus the signal's number. */
typedef enum cli_exit {
    CLI_DONE = 0,
    CLI_FAILED = 1,
    CLI_USAGE = 2,
    CLI_INTERRUPTED = 130, /* SIGINT, Ctrl-C */
    CLI_QUEUED = 138,      /* SIGUSR1, as queues send it before a job's time is over */
    CLI_TERMINATED = 143,  /* SIGTERM */
    CLI_ELSEWHERE =
        255 /* used inside the program: another process continues with the results */
} cli_exit;

#define CLI_EXIT_STATUS                                                                  \
    "0 done, 1 failed, 2 wrong usage or bad input, 130 stopped by Ctrl-C, 138 by"        \
    " SIGUSR1, 143 by SIGTERM"

typedef enum cli_kind {
    CLI_FLAG,    /* takes no value */
    CLI_TEXT,    /* any text */
    CLI_TEXTS,   /* any text; may be given several times */
    CLI_PATH,    /* a file or directory to read */
    CLI_OUTPUT,  /* one to write */
    CLI_NUMBER,  /* a finite number within [min, max] */
    CLI_COUNT,   /* a whole number within [min, max]; 1e6 is one */
    CLI_CHOICE,  /* one of "a|b|c", which is the option's `value` */
    CLI_CHOICES, /* some of "a,b,c" */
    CLI_NUMBERS, /* numbers separated by commas */
    CLI_MASSES,  /* probabilities separated by commas; 1-1e-20 is one */
} cli_kind;

typedef struct cli_option {
    const char *name; /* without the dashes */
    char letter;      /* its short form; 0: none */
    cli_kind kind;
    const char *value; /* what the help calls the value */
    const char *about;
    double min, max; /* of NUMBER and COUNT */
} cli_option;

/* One number of a list. */
typedef struct cli_item {
    double value;
    bool from_one; /* MASSES: written as 1-value */
} cli_item;

enum { CLI_REPEAT_MAX = 16 };

typedef struct cli_value {
    bool given;
    const char *text;                  /* borrowed from argv */
    const char *texts[CLI_REPEAT_MAX]; /* TEXTS: all of them, in order */
    int n_texts;
    double number;
    uint64_t count;
    cli_item *items;
    int n_items;
} cli_value;

typedef struct cli_session cli_session;

/* A title in the help, before the option of this name. */
typedef struct cli_title {
    const char *before;
    const char *text;
} cli_title;

typedef struct cli_command {
    const char *name;
    const char *group; /* the task it belongs to, for the list of commands */
    const char *about;
    const char *usage;   /* the arguments, e.g. "LAW [options]" */
    const char *example; /* lines that run as they are printed */
    const cli_option *options;
    int n_options;
    const cli_title *titles; /* optional, where there are many options; NULL ends them */
    int min_args, max_args;
    void (*more)(FILE *out); /* optional: prints additional help */
    cli_exit (*run)(cli_session *s);
    bool together; /* under mpirun all ranks go through the whole of it */
} cli_command;

enum { CLI_OPTIONS_MAX = 64, CLI_ARGS_MAX = 4096 };

typedef struct cli_args {
    const cli_command *command;
    const char *arg[CLI_ARGS_MAX]; /* positional */
    int n_args;
    cli_value value[CLI_OPTIONS_MAX]; /* the command's options, then the common ones */
} cli_args;

/* For commands that run nets; the session reads it, so commands need not. */
#define CLI_BACKEND_OPTION                                                               \
    {                                                                                    \
        "backend", 0, CLI_CHOICE, "cpu|cuda|auto",                                       \
            "processor that runs the nets; auto: a GPU where it is faster [cpu]", 0, 0   \
    }

/* For commands whose work can be divided into shares; the session reads it
 * (share_option.h).
 */
#define CLI_SHARE_OPTION                                                                 \
    {                                                                                    \
        "share", 0, CLI_TEXT, "K/N",                                                     \
            "do share K of N of the work and write OUTPUT.K-of-N.share for `crossbayes " \
            "merge` [all of it]",                                                        \
            0, 0                                                                         \
    }

/* Options every command has. */
extern const cli_option cli_common[];
extern const int cli_common_count;

/* Option i of a command, the common ones after its own; NULL past the end. */
const cli_option *cli_option_at(const cli_command *command, int i);

/* argv[0] is the first argument after the command's name. On an error prints one line on
 * stderr and returns CLI_USAGE. Free `out` in any case. */
cli_exit cli_parse(cli_args *out, const cli_command *command, int argc, char **argv);
void cli_args_free(cli_args *args);

/* Values by name. The name must be in the command's table (asserted). */
const cli_value *cli_get(const cli_args *args, const char *name);
bool cli_flag(const cli_args *args, const char *name);
bool cli_in_table(const cli_args *args, const char *name);
const char *cli_text(const cli_args *args, const char *name, const char *standard);
double cli_number(const cli_args *args, const char *name, double standard);
uint64_t cli_count(const cli_args *args, const char *name, uint64_t standard);

/* Whether `word` is among the words of a "a,b,c" or "a|b|c" list. */
bool cli_has_word(const char *list, const char *word);

/* As xb_nearest(); NULL if none is near. */
const char *cli_nearest(const char *word, const char *const *names, int count);

/* ", did you mean 'NAME'?", or nothing where none is near. */
enum { CLI_SUGGESTION = 64 };
void cli_suggest(char out[CLI_SUGGESTION], const char *word, const char *const *names,
                 int count);

/* Replaces control characters, which would end the line or move a terminal's cursor, by
 * blanks. */
void cli_blank_controls(char *text);

/* "crossbayes NAME: message" on stderr, one line; returns CLI_USAGE. */
cli_exit cli_misuse(const cli_command *command, const char *format, ...) XB_PRINTF(2, 3);

/* help.c */
/* Prints the words of `text` in lines that start at this column and end by column 80. */
void cli_help_words(FILE *out, const char *text, int column);
/* Prints the lines of an example, indented, below their title. */
void cli_help_example(FILE *out, const char *example);
void cli_help_command(FILE *out, const cli_command *command);
void cli_help_all(FILE *out, const cli_command *const *commands, int count);

#endif
