/* session.c: runs a command from its command line to its exit code. */
#include "session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "crossbayes/extend.h"
#include "outputs.h"
#include "share_option.h"

/* The running command, for ending the program in the middle of it. */
static xb_ctx *under_way;

void cli_session_abandon(void)
{
    if (under_way) xb_stage_abandon(under_way);
}

uint64_t cli_seed(const cli_session *s) { return cli_count(&s->args, "seed", 1); }
bool cli_quiet(const cli_session *s) { return cli_flag(&s->args, "quiet"); }
bool cli_json(const cli_session *s) { return cli_flag(&s->args, "json"); }

/* If the program itself ran out of memory, the library's last message is about something
 * else, possibly an attempt that it did without. */
static const char *reason(const cli_session *s, xb_status status)
{
    const char *words = xb_ctx_message(s->ctx);
    bool other = status == XB_E_MEMORY && !strstr(words, "memory");
    return *words && !other ? words : xb_status_text(status);
}

/* A job of ranks that cannot write cannot be cured by submitting it again: it ends as
 * after wrong use, not as after a rank that died. */
static cli_exit exit_of(const cli_session *s, xb_status status)
{
    const bool wrong = status == XB_E_INPUT || status == XB_E_ARGUMENT;
    return wrong || (s->ranked && status == XB_E_IO) ? CLI_USAGE : CLI_FAILED;
}

cli_exit cli_status(cli_session *s, xb_status status)
{
    if (status == XB_OK) return CLI_DONE;
    if (status == XB_E_ELSEWHERE) return CLI_ELSEWHERE;
    s->status = status;
    cli_progress_clear(&s->progress);
    fprintf(stderr, "crossbayes: %s\n", reason(s, status));
    return exit_of(s, status);
}

cli_exit cli_fail(cli_session *s, cli_exit code, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cli_progress_clear(&s->progress);
    cli_misuse(s->args.command, "%s", text);
    if (s->ranked) /* rank 0 reports it for the others */
        s->status =
            xb_fail(s->ctx, code == CLI_USAGE ? XB_E_ARGUMENT : XB_E_IO, "%s", text);
    return code;
}

cli_exit cli_quantity(cli_session *s, double *out, const char *option, const char *unit)
{
    const char *text = cli_text(&s->args, option, NULL);
    if (!text) return CLI_DONE;
    if (xb_quantity_parse(s->ctx, out, text, unit) != XB_OK)
        return cli_fail(s, CLI_USAGE, "--%s: %s", option, xb_ctx_message(s->ctx));
    if (!(*out > 0))
        return cli_fail(s, CLI_USAGE, "--%s: '%s': expected more than 0", option, text);
    return CLI_DONE;
}

void cli_quote(FILE *out, const char *word)
{
    bool bare = *word && !strpbrk(word, " \t\n'\"\\$&|;<>()*?[]#~`!{}");
    if (!bare) fputc('\'', out);
    for (const char *p = word; *p; p++) {
        if (*p == '\'')
            fputs("'\\''", out);
        else
            fputc(*p, out);
    }
    if (!bare) fputc('\'', out);
}

/* The command line as provenance; a long one is shortened. False: memory has run out. */
static bool set_origin(const cli_session *s)
{
    char text[1024] = "";
    FILE *out = xb_os_room_open(text, sizeof text - 1);
    if (!out) return false;
    setvbuf(out, NULL, _IONBF, 0); /* otherwise stdio would allocate a buffer and ignore a
                                      failure to do so */
    fprintf(out, "crossbayes");
    for (int i = 0; i < s->n_words; i++) {
        fputc(' ', out);
        cli_quote(out, s->words[i]);
    }
    (void)xb_os_room_close(out, text, sizeof text - 1);
    xb_ctx_set_origin(s->ctx, text);
    return true;
}

cli_exit cli_check_stdout(cli_exit code)
{
    const char *reason = fflush(stdout) == 0 ? "some of it is lost" : strerror(errno);
    if (!ferror(stdout)) return code;
    fprintf(stderr, "crossbayes: standard output: cannot write: %s\n", reason);
    return CLI_FAILED;
}

/* The exit code for the signal that stopped the work, if one did. */
static cli_exit stopped_code(cli_exit code)
{
    switch (cli_progress_stop()) {
    case XB_OS_STOP_USER: return CLI_INTERRUPTED;
    case XB_OS_STOP_SYSTEM: return CLI_TERMINATED;
    case XB_OS_STOP_QUEUE: return CLI_QUEUED;
    default: return code;
    }
}

/* An xb_notice_fn; arg is the session. A law may be loaded more than once. */
static void say_notice(void *arg, const char *sentence)
{
    cli_session *s = arg;
    const size_t size = sizeof s->noticed[0];
    for (int i = 0; i < CLI_NOTICES; i++)
        if (strncmp(s->noticed[i], sentence, size - 1) == 0) return;
    snprintf(s->noticed[s->notices++ % CLI_NOTICES], size, "%s", sentence);
    cli_progress_clear(&s->progress);
    fprintf(stderr, "  %s\n", sentence);
}

static cli_exit no_memory(void)
{
    fprintf(stderr, "crossbayes: not enough memory\n");
    return CLI_FAILED;
}

static void set_up(cli_session *s)
{
    xb_ctx_set_threads(s->ctx, cli_count(&s->args, "threads", 0));
    if (cli_in_table(&s->args, "backend"))
        xb_ctx_set_backend(s->ctx, cli_text(&s->args, "backend", NULL));
    cli_progress_start(&s->progress, cli_quiet(s));
    xb_ctx_set_progress(s->ctx, cli_progress_event, &s->progress);
    if (!cli_quiet(s)) xb_ctx_set_notice(s->ctx, say_notice, s);
    under_way = s->ctx;
    xb_files_plan_only(s->ctx);
}

static cli_exit run(cli_session *s, const cli_command *command)
{
    if (xb_ctx_create(&s->ctx) != XB_OK || !set_origin(s)) {
        xb_ctx_destroy(s->ctx);
        return no_memory();
    }
    set_up(s);
    cli_exit code = cli_note_inputs(s);
    if (code == CLI_DONE && s->shares)
        code = cli_status(s, xb_shares_use(s->ctx, s->shares));
    if (code == CLI_DONE) code = cli_share_begin(s);
    if (code == CLI_DONE) code = cli_ranks_begin(s);
    if (code == CLI_DONE) code = command->run(s);
    if (code == CLI_ELSEWHERE) code = s->share ? cli_share_end(s) : CLI_DONE;
    cli_progress_clear(&s->progress);
    cli_say_written(s);
    under_way = NULL;
    if (code != CLI_DONE) code = stopped_code(code);
    if (s->ranked) code = (cli_exit)xb_ranks_leave(s->ctx, s->status, code);
    xb_ctx_destroy(s->ctx);
    return code;
}

/* `added` words before argv[0] are no part of the provenance. */
static cli_exit parse_and_run(cli_session *s, const cli_command *command, int argc,
                              char **argv, int added)
{
    cli_exit code = cli_parse(&s->args, command, argc + added, argv - added);
    if (code == CLI_DONE && cli_flag(&s->args, "help")) {
        cli_help_command(stdout, command);
    } else if (code == CLI_DONE) {
        s->words = cli_words_without_share(&s->n_words, command, argc, argv);
        code = s->words ? run(s, command) : no_memory();
    }
    free(s->words);
    free(s->share);
    cli_args_free(&s->args);
    return code;
}

cli_exit cli_session_replay(const cli_command *command, int argc, char **argv, int added,
                            const xb_shares *shares)
{
    cli_session *s = calloc(1, sizeof *s); /* too big for the stack */
    if (!s) return no_memory();
    s->shares = shares;
    const cli_exit code = parse_and_run(s, command, argc, argv, added);
    free(s);
    return code;
}

cli_exit cli_session_run(const cli_command *command, int argc, char **argv)
{
    cli_session s = {0};
    return cli_check_stdout(parse_and_run(&s, command, argc, argv, 0));
}
