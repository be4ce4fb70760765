/* cmd_manual.c: `crossbayes manual`: the manual page of the program or of one command, as
 * troff, from the same table as --help. `make install` puts them where man looks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "session.h"

/* Text as it is: backslashes and hyphens keep their meaning, a line that starts with a
 * dot or a quote is no request. */
static void print_text(const char *text)
{
    bool start = true;
    for (const char *p = text; *p; p++) {
        if (start && (*p == '.' || *p == '\'')) printf("\\&");
        if (*p == '\\')
            printf("\\e");
        else if (*p == '-')
            printf("\\-");
        else
            putchar(*p);
        start = *p == '\n';
    }
}

static void print_title(const char *command)
{
    printf(".TH CROSSBAYES%s", command ? "\\-" : "");
    for (const char *p = command ? command : ""; *p; p++)
        putchar(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
    printf(" 1 \"\" \"crossbayes %s\" \"crossbayes\"\n.SH NAME\n", xb_version());
}

static void print_option(const cli_option *o)
{
    printf(".TP\n");
    if (o->letter) printf("\\fB\\-%c\\fR, ", o->letter);
    printf("\\fB\\-\\-");
    print_text(o->name);
    printf("\\fR");
    if (o->value) {
        printf(" \\fI");
        print_text(o->value);
        printf("\\fR");
    }
    printf("\n");
    print_text(o->about);
    printf("\n");
}

static void print_block(const char *title, const char *text)
{
    printf(".SH %s\n.nf\n", title);
    print_text(text);
    printf("%s.fi\n", text[0] && text[strlen(text) - 1] == '\n' ? "" : "\n");
}

/* What the help says besides, kept in its lines. */
static cli_exit print_more(cli_session *s, const cli_command *c)
{
    if (!c->more) return CLI_DONE;
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory) return cli_fail(s, CLI_FAILED, "not enough memory");
    c->more(memory);
    bool good = fclose(memory) == 0 && text;
    if (good) print_block("NOTES", text[0] == '\n' ? text + 1 : text);
    free(text);
    return good ? CLI_DONE : cli_fail(s, CLI_FAILED, "not enough memory");
}

static cli_exit print_command(cli_session *s, const cli_command *c)
{
    const cli_option *o;
    print_title(c->name);
    printf("crossbayes\\-%s \\- ", c->name);
    print_text(c->about);
    printf("\n.SH SYNOPSIS\n\\fBcrossbayes %s\\fR ", c->name);
    print_text(c->usage);
    printf("\n.SH OPTIONS\n");
    for (int i = 0; (o = cli_option_at(c, i)); i++) print_option(o);
    cli_exit code = print_more(s, c);
    print_block("EXAMPLE", c->example);
    printf(".SH SEE ALSO\n\\fBcrossbayes\\fR(1)\n");
    return code;
}

static void print_program(void)
{
    print_title(NULL);
    printf("crossbayes \\- Bayesian neural networks on noisy analog memory\n"
           ".SH SYNOPSIS\n\\fBcrossbayes\\fR \\fICOMMAND\\fR [arguments] [options]\n"
           ".SH COMMANDS\n");
    for (int i = 0; i < cli_commands_count; i++) {
        printf(".TP\n\\fBcrossbayes\\-%s\\fR(1)\n", cli_commands[i]->name);
        print_text(cli_commands[i]->about);
        printf("\n");
    }
    printf(".SH OPTIONS OF EVERY COMMAND\n");
    for (int i = 0; i < cli_common_count; i++) print_option(&cli_common[i]);
    printf(".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage or bad input.\n");
}

static cli_exit run(cli_session *s)
{
    if (s->args.n_args == 0) {
        print_program();
        return CLI_DONE;
    }
    for (int i = 0; i < cli_commands_count; i++)
        if (strcmp(cli_commands[i]->name, s->args.arg[0]) == 0)
            return print_command(s, cli_commands[i]);
    return cli_fail(s, CLI_USAGE, "no command '%s'", s->args.arg[0]);
}

const cli_command cli_command_manual = {
    .name = "manual",
    .group = "Help",
    .about = "the manual page of the program or of a command, for man",
    .usage = "[COMMAND]",
    .example = "crossbayes manual fit",
    .min_args = 0,
    .max_args = 1,
    .run = run,
};
