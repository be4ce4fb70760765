/* cmd_merge.c: `crossbayes merge`: runs the command that the shares belong to, with the
 * results that they hold. So it prints and writes what a single run would have. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "session.h"

static const cli_command *find_command(const char *name)
{
    for (int i = 0; i < cli_commands_count; i++)
        if (strcmp(cli_commands[i]->name, name) == 0 &&
            cli_commands[i] != &cli_command_merge)
            return cli_commands[i];
    return NULL;
}

/* Options of `merge` that are passed on to the command, unless the command had them
 * itself. */
enum { ADDED = 4 };
static int add_options(const cli_session *s, const xb_shares *shares,
                       const char *added[ADDED])
{
    static const char *const flags[] = {"json", "quiet"};
    static const char *const words[] = {"--json", "--quiet"};
    int n = 0;
    for (int i = 0; i < CLI_COUNT_OF(flags); i++) {
        bool there = false;
        for (int64_t k = 0; k < xb_shares_word_count(shares); k++)
            there = there || strcmp(xb_shares_word(shares, k), words[i]) == 0 ||
                    (i == 1 && strcmp(xb_shares_word(shares, k), "-q") == 0);
        if (cli_flag(&s->args, flags[i]) && !there) added[n++] = words[i];
    }
    return n;
}

static cli_exit replay(cli_session *s, const xb_shares *shares)
{
    const char *added[ADDED];
    const int words = (int)xb_shares_word_count(shares) - 1;
    const int more = add_options(s, shares, added);
    const cli_command *command = find_command(xb_shares_word(shares, 0));
    if (!command)
        return cli_fail(s, CLI_USAGE, "%s: unknown command '%.40s'", s->args.arg[0],
                        xb_shares_word(shares, 0));
    char **argv = calloc((size_t)(words + more) + 1, sizeof *argv);
    if (!argv) return cli_status(s, XB_E_MEMORY);
    /* Options come before a "--" that would end them. */
    for (int i = 0; i < words + more; i++)
        argv[i] = (char *)(uintptr_t)(i < more ? added[i]
                                               : xb_shares_word(shares, i - more + 1));
    const cli_exit code = cli_session_replay(command, words, argv + more, more, shares);
    free(argv);
    return code;
}

static cli_exit run(cli_session *s)
{
    xb_shares *shares = NULL;
    if (cli_flag(&s->args, "seed"))
        return cli_fail(s, CLI_USAGE,
                        "--seed was set by the command that made the shares");
    cli_exit code =
        cli_status(s, xb_shares_open(s->ctx, &shares, s->args.arg, s->args.n_args));
    if (code == CLI_DONE) code = replay(s, shares);
    xb_shares_destroy(shares);
    return code;
}

static void more_help(FILE *out)
{
    fprintf(
        out,
        "\nmerge prints and writes what the command of the shares would have printed\n"
        "and written without --share, to the same files. Run it in the folder in which\n"
        "the shares were made, where the inputs are.\n");
}

const cli_command cli_command_merge = {
    .name = "merge",
    .group = "More than one machine",
    .about = "whole result from the shares of a prediction, sweep or study",
    .usage = "SHARE... [options]",
    .example = "printf 'x,y\\n0,0\\n1,1\\n2,4\\n3,9\\n4,16\\n5,25\\n' > square.csv\n"
               "crossbayes train square.csv --target y -o square.safetensors\n"
               "crossbayes predict square.safetensors square.csv -o p.csv --share 1/2\n"
               "crossbayes predict square.safetensors square.csv -o p.csv --share 2/2\n"
               "crossbayes merge p.csv.1-of-2.share p.csv.2-of-2.share",
    .min_args = 1,
    .max_args = CLI_ARGS_MAX,
    .more = more_help,
    .run = run,
};
