/* share_option.c: see share_option.h. */
#include "share_option.h"

#include <stdlib.h>
#include <string.h>

#include "outputs.h"

enum { ENDING = 64 };

const char **cli_words_without_share(int *n, const cli_command *command, int argc,
                                     char **argv)
{
    static const char option[] = "--share";
    const char **words = calloc((size_t)argc + 1, sizeof *words);
    bool options = true; /* until "--" */
    if (!words) return NULL;
    *n = 0;
    words[(*n)++] = command->name;
    for (int i = 0; i < argc; i++) {
        const bool joined = strncmp(argv[i], "--share=", sizeof "--share=" - 1) == 0;
        const bool apart = strcmp(argv[i], option) == 0;
        if (options && apart) i++; /* skip its value too */
        if (!options || !(apart || joined)) words[(*n)++] = argv[i];
        if (i < argc && strcmp(argv[i], "--") == 0) options = false;
    }
    return words;
}

/* ---- ranks */

void cli_ranks_quiet(int argc, char **argv)
{
    int64_t rank = 0;
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "--share", sizeof "--share" - 1) == 0) return;
    if (xb_ranks_launched(&rank) == 1 || rank == 0) return;
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
        exit(CLI_FAILED);
}

cli_exit cli_ranks_begin(cli_session *s)
{
    int64_t rank = 0;
    if (s->share || s->shares || xb_ranks_launched(&rank) == 1) return CLI_DONE;
    const bool together = s->args.command->together;
    if (!together && !cli_in_table(&s->args, "share"))
        return cli_fail(
            s, CLI_USAGE,
            "the command cannot run on several ranks: start it once, without mpirun");
    s->ranked = true;
    cli_exit code = cli_status(s, xb_ranks_join(s->ctx, s->words, s->n_words));
    if (code == CLI_DONE && together) code = cli_ranks_together(s, false);
    return code;
}

cli_exit cli_ranks_together(cli_session *s, bool strict)
{
    return cli_status(s, xb_ranks_together(s->ctx, strict));
}

/* ---- shares */

static const char *given(const cli_session *s)
{
    return cli_in_table(&s->args, "share") ? cli_text(&s->args, "share", NULL) : NULL;
}

static bool read_share(int64_t *share, int64_t *of, const char *text)
{
    long long k = 0, n = 0;
    int end = 0;
    if (sscanf(text, "%lld/%lld%n", &k, &n, &end) != 2 || text[end]) return false;
    *share = k, *of = n;
    return strspn(text, "0123456789/") == strlen(text) && k >= 1 && k <= n;
}

/* The file is named after the output, or after the command, e.g.
 * "pred.csv.3-of-16.share". */
static char *share_path(const cli_session *s, int64_t share, int64_t of)
{
    const char *output = cli_text(&s->args, "output", "-");
    const bool named = strcmp(output, "-") != 0;
    const char *name = named                 ? output
                       : s->args.n_args == 1 ? s->args.arg[0] /* a study is named by its
                                                                 argument */
                                             : s->args.command->name;
    size_t length = strlen(name);
    while (length > 1 && name[length - 1] == '/') length--;
    char *path = malloc(length + ENDING);
    if (path)
        snprintf(path, length + ENDING, "%.*s.%lld-of-%lld.share", (int)length, name,
                 (long long)share, (long long)of);
    return path;
}

static cli_exit check_words(cli_session *s)
{
    for (int i = 0; i < s->n_words; i++)
        if (!xb_utf8_valid(s->words[i]))
            return cli_fail(s, CLI_USAGE, "--share: '%s' is not UTF-8", s->words[i]);
    return CLI_DONE;
}

cli_exit cli_share_begin(cli_session *s)
{
    const char *text = given(s);
    int64_t share = 0, of = 0;
    char label[CLI_LABEL];
    if (!text) return CLI_DONE;
    if (!read_share(&share, &of, text))
        return cli_fail(s, CLI_USAGE, "--share %s: expected K/N with K from 1 to N",
                        text);
    cli_exit code = check_words(s);
    if (code == CLI_DONE) code = cli_status(s, xb_share_begin(s->ctx, share, of));
    if (code != CLI_DONE) return code;
    s->share = share_path(s, share, of);
    if (!s->share) return cli_status(s, XB_E_MEMORY);
    snprintf(label, sizeof label, "--share %s", text);
    return cli_status(s, xb_files_plan(s->ctx, s->share, label));
}

cli_exit cli_share_end(cli_session *s)
{
    return cli_status(s, xb_share_write(s->ctx, s->share, s->words, s->n_words));
}
