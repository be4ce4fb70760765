/* cmd_manual.c: `crossbayes manual`: the manual page of the program or of one command, as
 * troff, from the same table as --help. `make install` puts them where man looks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "print.h"

/* Escapes text: backslashes and hyphens keep their meaning, and a line that starts with a
 * dot or a quote is not a request. */
static void print_text(FILE *out, const char *text)
{
    bool start = true;
    for (const char *p = text; *p; p++) {
        if (start && (*p == '.' || *p == '\'')) fprintf(out, "\\&");
        if (*p == '\\')
            fprintf(out, "\\e");
        else if (*p == '-')
            fprintf(out, "\\-");
        else
            fputc(*p, out);
        start = *p == '\n';
    }
}

static void print_title(FILE *out, const char *command)
{
    fprintf(out, ".TH CROSSBAYES%s", command ? "\\-" : "");
    for (const char *p = command ? command : ""; *p; p++)
        fputc(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p, out);
    fprintf(out, " 1 \"\" \"crossbayes %s\" \"crossbayes\"\n.SH NAME\n", xb_version());
}

static void print_option(FILE *out, const cli_option *o)
{
    fprintf(out, ".TP\n");
    if (o->letter) fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
    fprintf(out, "\\fB\\-\\-");
    print_text(out, o->name);
    fprintf(out, "\\fR");
    if (o->value) {
        fprintf(out, " \\fI");
        print_text(out, o->value);
        fprintf(out, "\\fR");
    }
    fprintf(out, "\n");
    print_text(out, o->about);
    fprintf(out, "\n");
}

static void print_block(FILE *out, const char *title, const char *text)
{
    fprintf(out, ".SH %s\n.nf\n", title);
    print_text(out, text);
    fprintf(out, "%s.fi\n", text[0] && text[strlen(text) - 1] == '\n' ? "" : "\n");
}

/* The additional text of the help, with its line breaks. */
static cli_exit print_more(FILE *out, cli_session *s, const cli_command *c)
{
    if (!c->more) return CLI_DONE;
    char *text = NULL;
    FILE *memory = cli_memory_open(&text);
    if (!memory) return cli_fail(s, CLI_FAILED, "not enough memory");
    c->more(memory);
    text = cli_memory_close(memory, text);
    if (!text) return cli_fail(s, CLI_FAILED, "not enough memory");
    print_block(out, "NOTES", text[0] == '\n' ? text + 1 : text);
    free(text);
    return CLI_DONE;
}

static cli_exit print_command(FILE *out, cli_session *s, const cli_command *c)
{
    const cli_option *o;
    print_title(out, c->name);
    fprintf(out, "crossbayes\\-%s \\- ", c->name);
    print_text(out, c->about);
    fprintf(out, "\n.SH SYNOPSIS\n\\fBcrossbayes %s\\fR ", c->name);
    print_text(out, c->usage);
    fprintf(out, "\n.SH OPTIONS\n");
    for (int i = 0; (o = cli_option_at(c, i)); i++) print_option(out, o);
    cli_exit code = print_more(out, s, c);
    print_block(out, "EXAMPLE", c->example);
    fprintf(out, ".SH SEE ALSO\n\\fBcrossbayes\\fR(1)\n");
    return code;
}

static void print_environment(FILE *out)
{
    static const char *const variables[][2] = {
        {"CROSSBAYES_CUDA", "file of the module for GPUs, which --backend loads"},
        {"CROSSBAYES_MPI",
         "file of the module for ranks; none: each process of a launcher"
         " runs independently"},
        {"CROSSBAYES_OVERSUBSCRIBE",
         "1: ranks that outnumber the cores of their machine take part as well"},
        {"CROSSBAYES_CACHE_LIMIT",
         "size of all files of decoded images together, e.g. 500M; 0 keeps none [2G]"},
        {"XDG_CACHE_HOME",
         "folder of caches; decoded images are in its folder crossbayes [~/.cache]"},
        {"TMPDIR", "folder of temporary files [/tmp]"},
        {"NO_COLOR", "if set: progress is shown without colours"}};
    fprintf(out, ".SH ENVIRONMENT\n");
    for (int i = 0; i < XB_COUNT(variables); i++) {
        fprintf(out, ".TP\n\\fB%s\\fR\n", variables[i][0]);
        print_text(out, variables[i][1]);
        fprintf(out, "\n");
    }
}

static void print_program(FILE *out)
{
    print_title(out, NULL);
    fprintf(out,
            "crossbayes \\- Bayesian neural networks on noisy analog memory\n"
            ".SH SYNOPSIS\n\\fBcrossbayes\\fR \\fICOMMAND\\fR [arguments] [options]\n"
            ".SH COMMANDS\n");
    for (int i = 0; i < cli_commands_count; i++) {
        fprintf(out, ".TP\n\\fBcrossbayes\\-%s\\fR(1)\n", cli_commands[i]->name);
        print_text(out, cli_commands[i]->about);
        fprintf(out, "\n");
    }
    fprintf(out, ".SH OPTIONS OF EVERY COMMAND\n");
    for (int i = 0; i < cli_common_count; i++) print_option(out, &cli_common[i]);
    print_environment(out);
    fprintf(out, ".SH EXIT STATUS\n");
    print_text(out, CLI_EXIT_STATUS ".\n");
}

static cli_exit write_page(cli_session *s, FILE *out, const char *name)
{
    const char *names[CLI_OPTIONS_MAX];
    if (!*name) {
        print_program(out);
        return CLI_DONE;
    }
    for (int i = 0; i < cli_commands_count; i++) {
        names[i] = cli_commands[i]->name;
        if (strcmp(names[i], name) == 0) return print_command(out, s, cli_commands[i]);
    }
    char suggestion[CLI_SUGGESTION];
    cli_suggest(suggestion, name, names, cli_commands_count);
    return cli_fail(s, CLI_USAGE, "unknown command '%s'%s", name, suggestion);
}

static cli_exit run(cli_session *s)
{
    const char *name = s->args.n_args > 0 ? s->args.arg[0] : "";
    return cli_print_page(s, "command", name, "page", write_page);
}

const cli_command cli_command_manual = {
    .name = "manual",
    .group = "This program",
    .about = "manual page of the program or of one command, for man",
    .usage = "[COMMAND]",
    .example = "crossbayes manual fit",
    .min_args = 0,
    .max_args = 1,
    .run = run,
};
