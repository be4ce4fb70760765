/* cmd_completion.c: `crossbayes completion`: a script that teaches bash, zsh or fish the
 * commands, their options and the values that have names, all from the same table as
 * --help and the library's own lists. */
#include <stdio.h>
#include <string.h>

#include "crossbayes/studies.h"
#include "commands.h"
#include "print.h"
#include "topics.h"

/* Prints the words of "a|b|c" or "a,b,c" with blanks between them. */
static void print_words(FILE *out, const char *list)
{
    for (const char *p = list; *p; p++) fputc(*p == '|' || *p == ',' ? ' ' : *p, out);
}

/* ---- values that have names, looked up by what the help calls the value. A suffix is
 * appended to each name if the value continues after it */

static void print_families(FILE *out, const char *suffix)
{
    for (int64_t i = 0; i < xb_law_family_count(); i++)
        fprintf(out, "%s%s%s", i ? " " : "", xb_law_family_name(i), suffix);
}

static void print_arrays(FILE *out, const char *suffix)
{
    for (int64_t i = 0; i < xb_array_preset_count(); i++)
        fprintf(out, "%s%s%s", i ? " " : "", xb_array_preset_name(i), suffix);
}

static void print_keys(FILE *out, const char *suffix)
{
    for (int64_t i = 0; i < xb_array_field_count(); i++)
        fprintf(out, "%s%s%s", i ? " " : "", xb_array_field_at(i).key, suffix);
}

static void print_priors(FILE *out, const char *suffix)
{
    fprintf(out, "normal%s laplace%s mixture%s", suffix, suffix, suffix);
    for (int i = XB_PRIOR_SCALE_AUTO; i <= XB_PRIOR_SCALE_FITTED; i++)
        fprintf(out, " %s", xb_prior_scale_name((xb_prior_scale)i));
}

static void print_schedules(FILE *out, const char *suffix)
{
    fprintf(out, "constant%s exp%s cosine step%s", suffix, suffix, suffix);
}

static void print_train_presets(FILE *out, const char *suffix)
{
    for (int64_t i = 0; i < xb_train_preset_count(); i++)
        fprintf(out, "%s%s%s", i ? " " : "", xb_train_preset_name(i), suffix);
}

static void print_cells(FILE *out, const char *suffix)
{
    fprintf(out, "three%s pair%s", suffix, suffix);
}

static void print_searched(FILE *out, const char *suffix)
{
    fprintf(out, "draws%s tile%s width%s n_eff_penalty%s for_array%s ", suffix, suffix,
            suffix, suffix, suffix);
    print_keys(out, suffix);
}

typedef struct named_values {
    const char *value; /* the same text as the option's `value` */
    void (*print)(FILE *out, const char *suffix);
    const char *suffix;
    bool or_file;
} named_values;

static const named_values named[] = {
    {"LAW", print_families, "", true},         {"FAMILY", print_families, "", false},
    {"ARRAY", print_arrays, "", true},         {"KEY=X", print_keys, "=", false},
    {"KEY=FROM:TO", print_keys, "=", false},   {"PRIOR", print_priors, ":", false},
    {"SCHEDULE", print_schedules, ":", false}, {"PRESET", print_train_presets, "", false},
    {"CELLS", print_cells, "", false},         {"KEY=VALUES", print_searched, "=", false},
};

static const named_values *named_of(const cli_option *o)
{
    for (int i = 0; o->value && i < CLI_COUNT_OF(named); i++)
        if (strcmp(named[i].value, o->value) == 0) return &named[i];
    return NULL;
}

/* Prints those of the alternatives "N|auto|adaptive" that are names, in small letters, up
 * to a colon with it; returns how many there are. A colon gets a `before`. */
static int print_names(FILE *out, const char *value, const char *before)
{
    int names = 0;
    for (const char *p = value; p && *p; p += strcspn(p, "|"), p += *p == '|') {
        const size_t size = strspn(p, "abcdefghijklmnopqrstuvwxyz");
        if (size == 0 || !strchr("|:", p[size])) continue;
        if (out && names) fputc(' ', out);
        if (out) fprintf(out, "%.*s", (int)size, p);
        if (out && p[size] == ':') fprintf(out, "%s:", before);
        names++;
    }
    return names;
}

static bool is_choice(const cli_option *o)
{
    return o->kind == CLI_CHOICE || o->kind == CLI_CHOICES;
}

/* Whether the option's values have names; print_values() prints them, separated by
 * blanks. */
static bool has_values(const cli_option *o)
{
    return is_choice(o) || named_of(o) || print_names(NULL, o->value, "") > 0;
}

static void print_values(FILE *out, const cli_option *o)
{
    if (named_of(o))
        named_of(o)->print(out, named_of(o)->suffix);
    else if (is_choice(o))
        print_words(out, o->value);
    else
        print_names(out, o->value, "");
}

static bool takes_file(const cli_option *o)
{
    return o->kind == CLI_PATH || o->kind == CLI_OUTPUT ||
           (named_of(o) && named_of(o)->or_file) ||
           (o->value && strstr(o->value, "|FILE"));
}

/* Whether the first argument is a law: a family or a file. */
static bool takes_law(const cli_command *c) { return strncmp(c->usage, "LAW ", 4) == 0; }

static void print_topics(FILE *out)
{
    for (int i = 0; i < cli_topic_count; i++)
        fprintf(out, "%s%s", i ? " " : "", cli_topic_at(i)->name);
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
        if (!has_values(o)) continue;
        fprintf(out, "    %s:--%s", c->name, o->name);
        if (o->letter) fprintf(out, " | %s:-%c", c->name, o->letter);
        fprintf(out, ") words='");
        print_values(out, o);
        fprintf(out, "' ;;\n");
    }
}

/* Files are offered where no family begins like the word. */
static void bash_law(FILE *out, const cli_command *c)
{
    fprintf(out, "    2:%s:*) words='", c->name);
    print_families(out, "");
    fprintf(out, "' ;;\n");
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
    fputc(' ', out);
    print_topics(out);
    fprintf(out, "' ;;\n    2:study:*) words='");
    print_studies(out);
    fprintf(
        out,
        "' ;;\n    2:completion:*) words='bash zsh fish' ;;\n    2:manual:*) words='");
    bash_commands(out);
    fprintf(out, "' ;;\n");
    for (int i = 0; i < cli_commands_count; i++)
        if (takes_law(cli_commands[i])) bash_law(out, cli_commands[i]);
    fprintf(out, "    esac\n    case $current in -*) words= ;; esac\n"
                 "    case $command:$before in\n");
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
        "    case ${COMPREPLY[0]} in *[=:]) compopt -o nospace ;; esac\n"
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

/* Prints names as `(a b c)`, or adds them one by one if the value may also be a file or
 * if a suffix follows.
 */
static void zsh_value(FILE *out, const cli_option *o)
{
    if (o->kind == CLI_FLAG) return;
    const named_values *list = named_of(o);
    fprintf(out, ":value:");
    if (list) {
        fprintf(out, "{ compadd -S \"\" -- ");
        list->print(out, *list->suffix == ':' ? "\\:" : list->suffix);
        fprintf(out, "%s }", list->or_file ? "; _files" : "");
    } else if (is_choice(o)) {
        fputc('(', out);
        print_values(out, o);
        fputc(')', out);
    } else if (has_values(o)) {
        fprintf(out, "{ compadd -- ");
        print_names(out, o->value, "\\");
        fprintf(out, "%s }", takes_file(o) ? "; _files" : "");
    } else if (takes_file(o)) {
        fprintf(out, "_files");
    }
}

static void zsh_option(FILE *out, const cli_option *o)
{
    const bool again = o->kind == CLI_TEXTS;
    fprintf(out, " \\\n            '");
    if (o->letter && again)
        fprintf(out, "*'{-%c,--%s}'[", o->letter, o->name);
    else if (o->letter)
        fprintf(out, "(-%c --%s)'{-%c,--%s}'[", o->letter, o->name, o->letter, o->name);
    else
        fprintf(out, "%s--%s[", again ? "*" : "", o->name);
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
    } else if (strcmp(c->name, "completion") == 0) {
        fprintf(out, " \\\n            '1:shell:(bash zsh fish)' ;;\n");
    } else if (strcmp(c->name, "manual") == 0) {
        fprintf(out, " \\\n            '1:command:(");
        bash_commands(out);
        fprintf(out, ")' ;;\n");
    } else if (takes_law(c)) {
        fprintf(out, " \\\n            '1:law:{ compadd -- ");
        print_families(out, "");
        fprintf(out, "; _files }' ;;\n");
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
                 "    if [[ $command == help ]]; then\n"
                 "        _describe command commands\n"
                 "        compadd -- ");
    print_topics(out);
    fprintf(out, "\n"
                 "        return\n"
                 "    fi\n"
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

/* ---- fish */

/* Text inside '...'. */
static void fish_text(FILE *out, const char *text)
{
    for (const char *p = text; *p; p++)
        fprintf(out, strchr("'\\", *p) ? "\\%c" : "%c", *p);
}

static void fish_option(FILE *out, const cli_command *c, const cli_option *o)
{
    fprintf(out, "complete -c crossbayes -n '__fish_seen_subcommand_from %s' -l %s",
            c->name, o->name);
    if (o->letter) fprintf(out, " -s %c", o->letter);
    if (o->kind != CLI_FLAG) fprintf(out, takes_file(o) ? " -r -F" : " -x");
    if (has_values(o)) {
        fprintf(out, " -a '");
        print_values(out, o);
        fputc('\'', out);
    }
    fprintf(out, " -d '");
    fish_text(out, o->about);
    fprintf(out, "'\n");
}

static void fish_command(FILE *out, const cli_command *c)
{
    const cli_option *o;
    fprintf(out, "complete -c crossbayes -n __fish_use_subcommand -f -a %s -d '",
            c->name);
    fish_text(out, c->about);
    fprintf(out,
            "'\ncomplete -c crossbayes -n '__fish_seen_subcommand_from help' -f -a %s\n",
            c->name);
    for (int i = 0; (o = cli_option_at(c, i)); i++) fish_option(out, c, o);
    if (!takes_law(c)) return;
    fprintf(out, "complete -c crossbayes -n '__fish_seen_subcommand_from %s' -a '",
            c->name);
    print_families(out, "");
    fprintf(out, "'\n");
}

static void print_fish(FILE *out)
{
    fprintf(out, "# crossbayes: completion for fish\n"
                 "complete -c crossbayes -n __fish_use_subcommand -f -a help\n"
                 "complete -c crossbayes -n '__fish_seen_subcommand_from help' -f -a '");
    print_topics(out);
    fprintf(out, "'\ncomplete -c crossbayes -n '__fish_seen_subcommand_from study' -a '");
    print_studies(out);
    fprintf(out,
            "'\ncomplete -c crossbayes -n '__fish_seen_subcommand_from completion' -f -a"
            " 'bash zsh fish'\n"
            "complete -c crossbayes -n '__fish_seen_subcommand_from manual' -f -a '");
    bash_commands(out);
    fprintf(out, "'\n");
    for (int i = 0; i < cli_commands_count; i++) fish_command(out, cli_commands[i]);
}

static void how_to_use(FILE *out)
{
    fprintf(out, "\nFor this shell only:\n"
                 "  bash   . <(crossbayes completion bash)\n"
                 "  zsh    . <(crossbayes completion zsh)\n"
                 "  fish   crossbayes completion fish | source\n"
                 "make install puts all three where the shells look for them.\n");
}

static cli_exit write_script(cli_session *s, FILE *out, const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        print_bash(out);
    else if (strcmp(shell, "zsh") == 0)
        print_zsh(out);
    else if (strcmp(shell, "fish") == 0)
        print_fish(out);
    else
        return cli_fail(s, CLI_USAGE, "unknown shell '%s', expected bash, zsh or fish",
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
    .about = "completion of commands, options and values in bash, zsh or fish",
    .usage = "bash|zsh|fish",
    .example = "crossbayes completion bash",
    .more = how_to_use,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
