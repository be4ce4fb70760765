/* cmd_completion.c: `crossbayes completion`: a script that teaches bash or zsh the
 * commands, their options and the values that are one of a few words, all from the same
 * table as --help. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "session.h"

static bool is_choice(const cli_option *o)
{
    return o->kind == CLI_CHOICE || o->kind == CLI_CHOICES;
}

/* The words of "a|b|c" or "a,b,c", blanks between. */
static void print_words(const char *list)
{
    for (const char *p = list; *p; p++) putchar(*p == '|' || *p == ',' ? ' ' : *p);
}

static void print_studies(void)
{
    for (int i = 0; i < xb_study_count(); i++)
        printf("%s%s", i ? " " : "", xb_study_name_at(i));
}

/* ---- bash */

static void bash_commands(void)
{
    for (int i = 0; i < cli_commands_count; i++)
        printf("%s%s", i ? " " : "", cli_commands[i]->name);
}

static void bash_choices(const cli_command *c)
{
    const cli_option *o;
    for (int i = 0; (o = cli_option_at(c, i)); i++) {
        if (!is_choice(o)) continue;
        printf("    %s:--%s) words='", c->name, o->name);
        print_words(o->value);
        printf("' ;;\n");
    }
}

static void bash_options(const cli_command *c)
{
    const cli_option *o;
    printf("        %s) words='", c->name);
    for (int i = 0; (o = cli_option_at(c, i)); i++)
        printf("%s--%s", i ? " " : "", o->name);
    printf("' ;;\n");
}

static void print_bash(void)
{
    printf("# crossbayes: completion for bash\n"
           "_crossbayes() {\n"
           "    local current=${COMP_WORDS[COMP_CWORD]} words=\n"
           "    local command=${COMP_WORDS[1]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
           "    COMPREPLY=()\n"
           "    case $COMP_CWORD:$command:$before in\n"
           "    1:*) words='help ");
    bash_commands();
    printf("' ;;\n    2:help:*) words='");
    bash_commands();
    printf("' ;;\n    2:study:*) words='");
    print_studies();
    printf("' ;;\n    esac\n    case $command:$before in\n");
    for (int i = 0; i < cli_commands_count; i++) bash_choices(cli_commands[i]);
    printf("    esac\n    case $words:$current in\n    :-*)\n        case $command in\n");
    for (int i = 0; i < cli_commands_count; i++) bash_options(cli_commands[i]);
    printf(
        "        esac ;;\n"
        "    esac\n"
        "    [ -n \"$words\" ] && COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
        "    return 0\n"
        "}\n"
        "complete -o default -F _crossbayes crossbayes\n");
}

/* ---- zsh */

/* Text inside '...[here]...': quotes, brackets and colons keep their meaning. */
static void zsh_text(const char *text)
{
    for (const char *p = text; *p; p++) {
        if (*p == '\'')
            printf("'\\''");
        else if (strchr("[]:\\", *p))
            printf("\\%c", *p);
        else
            putchar(*p);
    }
}

static void zsh_value(const cli_option *o)
{
    if (o->kind == CLI_FLAG) return;
    printf(":value:");
    if (is_choice(o)) {
        putchar('(');
        print_words(o->value);
        putchar(')');
    } else if (o->kind == CLI_PATH) {
        printf("_files");
    }
}

static void zsh_option(const cli_option *o)
{
    const char *again = o->kind == CLI_TEXTS ? "*" : "";
    if (o->letter)
        printf(" \\\n            '(-%c --%s)'{-%c,--%s}'[", o->letter, o->name, o->letter,
               o->name);
    else
        printf(" \\\n            '%s--%s[", again, o->name);
    zsh_text(o->about);
    putchar(']');
    zsh_value(o);
    putchar('\'');
}

static void zsh_arguments(const cli_command *c)
{
    const cli_option *o;
    printf("        %s) _arguments", c->name);
    for (int i = 0; (o = cli_option_at(c, i)); i++) zsh_option(o);
    if (strcmp(c->name, "study") == 0) {
        printf(" \\\n            '1:study:(");
        print_studies();
        printf(")' ;;\n");
    } else {
        printf(" \\\n            '*:file:_files' ;;\n");
    }
}

static void print_zsh(void)
{
    printf("#compdef crossbayes\n"
           "_crossbayes() {\n"
           "    local -a commands\n"
           "    commands=(\n");
    for (int i = 0; i < cli_commands_count; i++) {
        printf("        '%s:", cli_commands[i]->name);
        zsh_text(cli_commands[i]->about);
        printf("'\n");
    }
    printf("    )\n"
           "    if (( CURRENT == 2 )); then\n"
           "        _describe command commands\n"
           "        return\n"
           "    fi\n"
           "    local command=$words[2]\n"
           "    shift words\n"
           "    (( CURRENT-- ))\n"
           "    case $command in\n");
    for (int i = 0; i < cli_commands_count; i++) zsh_arguments(cli_commands[i]);
    printf("    esac\n"
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

static cli_exit run(cli_session *s)
{
    const char *shell = s->args.arg[0];
    if (strcmp(shell, "bash") == 0)
        print_bash();
    else if (strcmp(shell, "zsh") == 0)
        print_zsh();
    else
        return cli_fail(s, CLI_USAGE, "completion for '%s'? there is bash and zsh",
                        shell);
    return CLI_DONE;
}

const cli_command cli_command_completion = {
    .name = "completion",
    .group = "Help",
    .about = "a script that completes commands and options in your shell",
    .usage = "bash|zsh",
    .example = "crossbayes completion bash",
    .more = how_to_use,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
