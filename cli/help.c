/* help.c: prints the help from the command table. */
#include <string.h>

#include "options.h"
#include "topics.h"

enum { HELP_COLUMN = 26 };

void cli_help_words(FILE *out, const char *text, int column)
{
    const int room = 80 - column;
    int used = 0;
    for (const char *p = text; *p;) {
        int length = (int)strcspn(p, " ");
        if (used > 0 && used + 1 + length > room) {
            fprintf(out, "\n%*s", column, "");
            used = 0;
        }
        used += fprintf(out, "%s%.*s", used ? " " : "", length, p);
        p += length;
        p += strspn(p, " ");
    }
    fputc('\n', out);
}

static void print_option(FILE *out, const cli_option *option)
{
    char left[96], letter[] = "    ";
    if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, option->name,
             option->value ? " " : "", option->value ? option->value : "");
    if (strlen(left) < HELP_COLUMN)
        fprintf(out, "  %-*s", HELP_COLUMN, left);
    else
        fprintf(out, "  %s\n  %*s", left, HELP_COLUMN, "");
    cli_help_words(out, option->about, HELP_COLUMN + 2);
}

void cli_help_example(FILE *out, const char *example)
{
    fprintf(out, "\nExample:\n");
    for (const char *p = example; *p;) {
        size_t length = strcspn(p, "\n");
        fprintf(out, "  %.*s\n", (int)length, p);
        p += length + (p[length] == '\n');
    }
}

/* Prints the title before the option of this name, if there is one. */
static void print_title(FILE *out, const cli_title *title, const char *option)
{
    for (; title && title->before; title++)
        if (strcmp(title->before, option) == 0) fprintf(out, "\n%s:\n", title->text);
}

void cli_help_command(FILE *out, const cli_command *command)
{
    fprintf(out, "crossbayes %s: %s\n\nUsage: crossbayes %s %s\n", command->name,
            command->about, command->name, command->usage);
    if (command->n_options && !command->titles) fprintf(out, "\nOptions:\n");
    for (int i = 0; i < command->n_options; i++) {
        print_title(out, command->titles, command->options[i].name);
        print_option(out, &command->options[i]);
    }
    fprintf(out, "\nOptions of every command:\n");
    for (int i = 0; i < cli_common_count; i++) print_option(out, &cli_common[i]);
    if (command->more) command->more(out);
    cli_help_example(out, command->example);
}

void cli_help_all(FILE *out, const cli_command *const *commands, int count)
{
    fprintf(out, "crossbayes: Bayesian neural networks on noisy analog memory\n\n"
                 "Usage: crossbayes COMMAND [arguments] [options]\n");
    const char *group = "";
    for (int i = 0; i < count; i++) {
        if (strcmp(group, commands[i]->group) != 0)
            fprintf(out, "\n%s\n", commands[i]->group);
        group = commands[i]->group;
        fprintf(out, "  %-12s%s\n", commands[i]->name, commands[i]->about);
    }
    fprintf(out,
            "\nFirst steps\n"
            "  crossbayes sample mtj -n 1e5 -o noise.csv   (or your own measurements)\n"
            "  crossbayes fit noise.csv -o law.json\n"
            "  crossbayes plan law.json --net 'dense 16, elu, dense 1'\n"
            "\ncrossbayes COMMAND --help has all options and an example that runs as"
            " printed.\ncrossbayes help TOPIC explains what options take: ");
    for (int i = 0; i < cli_topic_count; i++)
        fprintf(out, "%s%s", i ? ", " : "", cli_topic_at(i)->name);
    fprintf(out, ".\n\nExit status: ");
    cli_help_words(out, CLI_EXIT_STATUS, 13);
}
