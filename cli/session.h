/* session.h: the state of a running command: its arguments, the library's context, and
 * the functions that end it. */
#ifndef XB_CLI_SESSION_H
#define XB_CLI_SESSION_H

#include "crossbayes/crossbayes.h"
#include "options.h"
#include "progress.h"

enum { CLI_NOTICES = 8 };

struct cli_session {
    cli_args args;
    xb_ctx *ctx;
    cli_progress progress;
    char noticed[CLI_NOTICES][256]; /* the last notices, not to be repeated */
    int notices;
    const char **words; /* [n_words] the command line for provenance, without --share */
    int n_words;
    xb_status status; /* status of the last failure */
    bool ranked;      /* other ranks share the work */
    char *share;      /* the file of --share; NULL: this process does all the work */
    const xb_shares *shares; /* where results are taken from; NULL: they are computed */
};

/* Parses and runs one command and reports its errors. */
cli_exit cli_session_run(const cli_command *command, int argc, char **argv);
/* The same with the results that the shares hold. `added` words before argv[0] are
 * options of `merge` that the command line of the shares did not have. */
cli_exit cli_session_replay(const cli_command *command, int argc, char **argv, int added,
                            const xb_shares *shares);
/* Call this before the program ends at once, so that no unfinished results are left. */
void cli_session_abandon(void);
/* Returns `code`, unless writing to standard output failed, which is reported as a
 * failure.
 */
cli_exit cli_check_stdout(cli_exit code);

uint64_t cli_seed(const cli_session *s);
bool cli_quiet(const cli_session *s);
bool cli_json(const cli_session *s);
/* The option's number with its unit, which must be more than 0; *out is unchanged if the
 * option is not given. */
cli_exit cli_quantity(cli_session *s, double *out, const char *option, const char *unit);

/* XB_OK is CLI_DONE; anything else prints the context's message and returns the
 * exit code it stands for. */
cli_exit cli_status(cli_session *s, xb_status status);

/* A word for a shell, quoted if necessary. */
void cli_quote(FILE *out, const char *word);

/* "crossbayes NAME: message" on stderr, below a cleared progress bar. */
cli_exit cli_fail(cli_session *s, cli_exit code, const char *format, ...) XB_PRINTF(3, 4);

#endif
