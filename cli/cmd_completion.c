/* cmd_completion.c: `crossbayes completion`: a script that teaches bash or zsh the
 * commands, their options and the values that are one of a few words, all from the same
 * table as --help. */
#include <stdio.h>
#include <string.h>

#include "crossbayes/studies.h"
#include "commands.h"
#include "print.h"

static bool is_choice(const cli_option *o)
{
    return o->kind == CLI_CHOICE || o->kind == CLI_CHOICES;
}

/* The words of "a|b|c" or "a,b,c", blanks between. */
static void print_words(FILE *out, const char *list)
{
    for (const char *p = list; *p; p++) fputc(*p == '|' || *p == ',' ? ' ' : *p, out);
}

static void print_studies(FILE *out)
{
    for (int i = 0; i < xb_study_count(); i++)
        fprintf(out, "%s%s", i ? " " : "", xb_study_name_at(i));
}

/* ---- bash */

static void bash_commands(FILE *out)
{
    for (int i = 0; i < cli_commands_count; i++)
        fprintf(out, "%s%s", i ? " " : "", cli_commands[i]->name);
}

static void bash_choices(FILE *out, const cli_command *c)
{
    const cli_option *o;
    for (int i = 0; (o = cli_option_at(c, i)); i++) {
        if (!is_choice(o)) continue;
        fprintf(out, "    %s:--%s) words='", c->name, o->name);
        print_words(out, o->value);
        fprintf(out, "' ;;\n");
    }
}

static void bash_options(FILE *out, const cli_command *c)
{
    const cli_option *o;
    fprintf(out, "        %s) words='", c->name);
    for (int i = 0; (o = cli_option_at(c, i)); i++)
        fprintf(out, "%s--%s", i ? " " : "", o->name);
    fprintf(out, "' ;;\n");
}

static void print_bash(FILE *out)
{
    fprintf(out, "# crossbayes: completion for bash\n"
                 "_crossbayes() {\n"
                 "    local current=${COMP_WORDS[COMP_CWORD]} words=\n"
                 "    local command=${COMP_WORDS[1]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "    COMPREPLY=()\n"
                 "    case $COMP_CWORD:$command:$before in\n"
                 "    1:*) words='help ");
    bash_commands(out);
    fprintf(out, "' ;;\n    2:help:*) words='");
    bash_commands(out);
    fprintf(out, "' ;;\n    2:study:*) words='");
    print_studies(out);
    fprintf(out, "' ;;\n    esac\n    case $command:$before in\n");
    for (int i = 0; i < cli_commands_count; i++) bash_choices(out, cli_commands[i]);
    fprintf(
        out,
        "    esac\n    case $words:$current in\n    :-*)\n        case $command in\n");
    for (int i = 0; i < cli_commands_count; i++) bash_options(out, cli_commands[i]);
    fprintf(
        out,
        "        esac ;;\n"
        "    esac\n"
        "    [ -n \"$words\" ] && COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
        "    return 0\n"
        "}\n"
        "complete -o default -F _crossbayes crossbayes\n");
}

/* ---- zsh */

/* Text inside '...[here]...': quotes, brackets and colons keep their meaning. */
static void zsh_text(FILE *out, const char *text)
{
    for (const char *p = text; *p; p++) {
        if (*p == '\'')
            fprintf(out, "'\\''");
        else if (strchr("[]:\\", *p))
            fprintf(out, "\\%c", *p);
        else
            fputc(*p, out);
    }
}

static void zsh_value(FILE *out, const cli_option *o)
{
    if (o->kind == CLI_FLAG) return;
    fprintf(out, ":value:");
    if (is_choice(o)) {
        fputc('(', out);
        print_words(out, o->value);
        fputc(')', out);
    } else if (o->kind == CLI_PATH || o->kind == CLI_OUTPUT) {
        fprintf(out, "_files");
    }
}

static void zsh_option(FILE *out, const cli_option *o)
{
    const char *again = o->kind == CLI_TEXTS ? "*" : "";
    if (o->letter)
        fprintf(out, " \\\n            '(-%c --%s)'{-%c,--%s}'[", o->letter, o->name,
                o->letter, o->name);
    else
        fprintf(out, " \\\n            '%s--%s[", again, o->name);
    zsh_text(out, o->about);
    fputc(']', out);
    zsh_value(out, o);
    fputc('\'', out);
}

static void zsh_arguments(FILE *out, const cli_command *c)
{
    const cli_option *o;
    fprintf(out, "        %s) _arguments", c->name);
    for (int i = 0; (o = cli_option_at(c, i)); i++) zsh_option(out, o);
    if (strcmp(c->name, "study") == 0) {
        fprintf(out, " \\\n            '1:study:(");
        print_studies(out);
        fprintf(out, ")' ;;\n");
    } else {
        fprintf(out, " \\\n            '*:file:_files' ;;\n");
    }
}

static void print_zsh(FILE *out)
{
    fprintf(out, "#compdef crossbayes\n"
                 "_crossbayes() {\n"
                 "    local -a commands\n"
                 "    commands=(\n");
    for (int i = 0; i < cli_commands_count; i++) {
        fprintf(out, "        '%s:", cli_commands[i]->name);
        zsh_text(out, cli_commands[i]->about);
        fprintf(out, "'\n");
    }
    fprintf(out, "    )\n"
                 "    if (( CURRENT == 2 )); then\n"
                 "        _describe command commands\n"
                 "        return\n"
                 "    fi\n"
                 "    local command=$words[2]\n"
                 "    shift words\n"
                 "    (( CURRENT-- ))\n"
                 "    case $command in\n");
    for (int i = 0; i < cli_commands_count; i++) zsh_arguments(out, cli_commands[i]);
    fprintf(out, "    esac\n"
                 "}\n"
                 "if [ \"$funcstack[1]\" = _crossbayes ]; then\n"
                 "    _crossbayes \"$@\"\n"
                 "else\n"
                 "    compdef _crossbayes crossbayes\n"
                 "fi\n");
}

static void how_to_use(FILE *out)
{
    fprintf(out, "\nFor this shell only:\n"
                 "  bash   . <(crossbayes completion bash)\n"
                 "  zsh    . <(crossbayes completion zsh)\n"
                 "make install puts both where the shells look.\n");
}

static cli_exit write_script(cli_session *s, FILE *out, const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        print_bash(out);
    else if (strcmp(shell, "zsh") == 0)
        print_zsh(out);
    else
        return cli_fail(s, CLI_USAGE, "completion for '%s'? there is bash and zsh",
                        shell);
    return CLI_DONE;
}

static cli_exit run(cli_session *s)
{
    return cli_print_page(s, "shell", s->args.arg[0], "script", write_script);
}

const cli_command cli_command_completion = {
    .name = "completion",
    .group = "This program",
    .about = "a script that completes commands and options in your shell",
    .usage = "bash|zsh",
    .example = "crossbayes completion bash",
    .more = how_to_use,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
