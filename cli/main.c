/* main.c: the table of commands, and the lookup of the requested one.
 *
 * The program uses the public API only. Results go to stdout, everything else
 * to stderr; exit codes are those of cli_exit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/os_program.h"
#include "commands.h"
#include "session.h"
#include "share_option.h"
#include "topics.h"

/* Commands of a group stay together, because the help prints them in this order. */
const cli_command *const cli_commands[] = {
    &cli_command_demo,      &cli_command_fit,    &cli_command_device,
    &cli_command_law,       &cli_command_sample, &cli_command_train,
    &cli_command_predict,   &cli_command_eval,   &cli_command_plan,
    &cli_command_crossbar,  &cli_command_design, &cli_command_study,
    &cli_command_reproduce, &cli_command_merge,  &cli_command_completion,
    &cli_command_manual,
};
const int cli_commands_count = CLI_COUNT_OF(cli_commands);

static const cli_command *find_command(const char *name)
{
    for (int i = 0; i < CLI_COUNT_OF(cli_commands); i++)
        if (strcmp(cli_commands[i]->name, name) == 0) return cli_commands[i];
    return NULL;
}

static cli_exit unknown_command(const char *word)
{
    static const char *const options[] = {"--help", "--version"};
    const char *names[CLI_COUNT_OF(cli_commands)];
    for (int i = 0; i < CLI_COUNT_OF(cli_commands); i++) names[i] = cli_commands[i]->name;
    bool option = word[0] == '-';
    const char *nearest = option ? cli_nearest(word, options, CLI_COUNT_OF(options))
                                 : cli_nearest(word, names, CLI_COUNT_OF(cli_commands));
    const char *kind = option ? "option" : "command";
    if (nearest)
        return cli_misuse(NULL, "unknown %s '%s', did you mean '%s'?", kind, word,
                          nearest);
    return cli_misuse(NULL, "unknown %s '%s' (crossbayes --help lists the commands)",
                      kind, word);
}

static cli_exit say(void (*print)(void))
{
    print();
    return cli_check_stdout(CLI_DONE);
}

static void print_commands(void)
{
    cli_help_all(stdout, cli_commands, CLI_COUNT_OF(cli_commands));
}

/* jansson's reader continues when memory has run out, with a digit or a quote missing, so
 * it must never see a failed allocation. Outputs are complete or absent at any moment, so
 * the program may simply end. */
static void *json_memory(size_t size)
{
    void *block = malloc(size);
    if (block) return block;
    fprintf(stderr, "crossbayes: not enough memory for JSON\n");
    cli_session_abandon();
    _Exit(CLI_FAILED); /* other threads may be running */
}

/* Names the topics, since `crossbayes help` takes them as well as commands. */
static cli_exit unknown_topic(const char *word)
{
    const char *names[CLI_COUNT_OF(cli_commands)];
    char topics[256] = "";
    size_t used = 0;
    for (int i = 0; i < CLI_COUNT_OF(cli_commands); i++) names[i] = cli_commands[i]->name;
    const char *nearest = cli_nearest(word, names, CLI_COUNT_OF(cli_commands));
    if (nearest)
        return cli_misuse(NULL, "unknown command '%s', did you mean '%s'?", word,
                          nearest);
    for (int i = 0; i < cli_topic_count && used < sizeof topics; i++)
        used += (size_t)snprintf(topics + used, sizeof topics - used, "%s%s",
                                 i ? ", " : "", cli_topic_at(i)->name);
    return cli_misuse(NULL,
                      "help: '%s' is neither a command nor one of the topics %s "
                      "(crossbayes --help lists the commands)",
                      word, topics);
}

static cli_exit help_on(const char *word)
{
    static char help_option[] = "--help";
    char *only_help[] = {help_option};
    const cli_command *command = find_command(word);
    const cli_topic *topic = cli_topic_find(word);
    if (topic) {
        cli_topic_print(stdout, topic, command != NULL);
        return cli_check_stdout(CLI_DONE);
    }
    if (command) return cli_session_run(command, 1, only_help);
    const char *nearest = cli_topic_nearest(word);
    if (nearest)
        return cli_misuse(NULL, "unknown help topic '%s', did you mean '%s'?", word,
                          nearest);
    return unknown_topic(word);
}

static void print_version(void) { printf("crossbayes %s\n", xb_version()); }

int main(int argc, char **argv)
{
    xb_os_start(&argc, &argv);
    json_set_alloc_funcs(json_memory, free);
    cli_ranks_quiet(argc, argv);
    if (argc < 2) return say(print_commands);
    const char *word = argv[1];
    bool help = strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 ||
                strcmp(word, "-h") == 0;
    bool again =
        argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0);
    if (help && (argc == 2 || again)) return say(print_commands);
    if (strcmp(word, "--version") == 0) return say(print_version);
    if (help) return help_on(argv[2]);
    const cli_command *command = find_command(word);
    if (!command) return unknown_command(word);
    return cli_session_run(command, argc - 2, argv + 2);
}
