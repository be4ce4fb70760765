/* options.c: a command line read by the command's table. Every mistake is one
 * line on stderr that names the option, what was given and what was expected. */
#include "options.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"

const cli_option cli_common[] = {
    {"seed", 0, CLI_COUNT, "N", "seed of every random number, 0 to 2^63 - 1 [1]", 0,
     0x1p63},
    {"threads", 0, CLI_COUNT, "N", "number of threads; 0: one per core [0]", 0, 1024},
    {"json", 0, CLI_FLAG, NULL, "print JSON instead of text", 0, 0},
    {"quiet", 'q', CLI_FLAG, NULL,
     "print no progress, no notes and no summary of a file that was written", 0, 0},
    {"help", 'h', CLI_FLAG, NULL, "this text", 0, 0},
};
const int cli_common_count = CLI_COUNT_OF(cli_common);

const cli_option *cli_option_at(const cli_command *command, int i)
{
    if (i < command->n_options) return &command->options[i];
    i -= command->n_options;
    return i < cli_common_count ? &cli_common[i] : NULL;
}

void cli_blank_controls(char *text)
{
    for (unsigned char *p = (unsigned char *)text; *p; p++) {
        if (*p < ' ' || *p == 127) *p = ' ';
        /* Control characters from U+0080. */
        if (*p == 0xC2 && p[1] >= 0x80 && p[1] < 0xA0) p[0] = p[1] = ' ';
    }
}

cli_exit cli_misuse(const cli_command *command, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cli_blank_controls(text);
    if (command)
        fprintf(stderr, "crossbayes %s: %s\n", command->name, text);
    else
        fprintf(stderr, "crossbayes: %s\n", text);
    return CLI_USAGE;
}

/* The position of the reader. */
typedef struct reader {
    cli_args *out;
    int argc;
    char **argv;
    int next;
} reader;

static int find_long(const cli_command *command, const char *name, size_t length)
{
    for (int i = 0; cli_option_at(command, i); i++) {
        const char *known = cli_option_at(command, i)->name;
        if (strlen(known) == length && memcmp(known, name, length) == 0) return i;
    }
    return -1;
}

/* Older, shorter names of options. They are accepted but not listed, because other
 * commands use the same names for something else.
 */
static const struct {
    const char *command, *also, *name;
} synonyms[] = {
    {"fit", "interval", "sample-interval"},
    {"fit", "rate", "sample-rate"},
    {"fit", "rows", "sample-range"},
    {"fit", "optimizer", "optimiser"},
    {"device", "interval", "sample-interval"},
    {"device", "rate", "sample-rate"},
    {"demo", "interval", "sample-interval"},
    {"demo", "rate", "sample-rate"},
    {"study", "interval", "sample-interval"},
    {"study", "rate", "sample-rate"},
    {"study", "rows", "sample-range"},
    {"study", "keep-n-eff", "n-eff-penalty"},
    {"train", "samples", "draws"},
    {"train", "spread", "sigma-transform"},
    {"train", "trace", "history"},
    {"train", "keep", "use-anyway"},
    {"train", "targets", "target-table"},
    {"predict", "samples", "draws"},
    {"predict", "targets", "target-table"},
    {"eval", "samples", "draws"},
    {"eval", "targets", "target-table"},
    {"eval", "calibrate", "save-calibrated"},
    {"crossbar", "samples", "reads"},
    {"crossbar", "inputs", "rows"},
    {"crossbar", "targets", "target-table"},
};

/* The index of an option, by its name or by an older name. */
static int find_named(const cli_command *command, const char *name, size_t length)
{
    int found = find_long(command, name, length);
    for (int i = 0; found < 0 && i < CLI_COUNT_OF(synonyms); i++)
        if (strcmp(synonyms[i].command, command->name) == 0 &&
            strlen(synonyms[i].also) == length &&
            memcmp(synonyms[i].also, name, length) == 0)
            found = find_long(command, synonyms[i].name, strlen(synonyms[i].name));
    return found;
}

static int find_short(const cli_command *command, char letter)
{
    for (int i = 0; cli_option_at(command, i); i++)
        if (cli_option_at(command, i)->letter == letter) return i;
    return -1;
}

static cli_exit unknown_option(const cli_command *command, const char *name)
{
    const char *names[CLI_OPTIONS_MAX];
    int count = 0;
    for (; cli_option_at(command, count); count++)
        names[count] = cli_option_at(command, count)->name;
    const char *nearest = cli_nearest(name, names, count);
    if (nearest)
        return cli_misuse(command, "unknown option '--%s', did you mean '--%s'?", name,
                          nearest);
    return cli_misuse(command, "unknown option '--%s' (crossbayes %s --help lists them)",
                      name, command->name);
}

/* The word after the option, or NULL where it looks like the next option.
 * A lone "-" and a negative number are values. */
static const char *next_value(reader *r)
{
    if (r->next >= r->argc) return NULL;
    const char *word = r->argv[r->next];
    double ignored;
    bool dash = word[0] == '-' && word[1] != '\0';
    if (dash && !cli_read_leading_number(&ignored, word)) return NULL;
    r->next++;
    return word;
}

static cli_exit take_option(reader *r, int index, const char *shown, const char *value)
{
    const cli_command *command = r->out->command;
    const cli_option *option = cli_option_at(command, index);
    cli_value *slot = &r->out->value[index];
    bool repeats = option->kind == CLI_TEXTS && slot->n_texts < CLI_REPEAT_MAX;
    if (slot->given && !repeats)
        return cli_misuse(command, "%s is given %s", shown,
                          slot->n_texts ? "too many times" : "twice");
    slot->given = true;
    if (option->kind == CLI_FLAG)
        return value ? cli_misuse(command, "%s takes no value", shown) : CLI_DONE;
    if (!value) value = next_value(r);
    if (!value)
        return cli_misuse(command, "%s needs a value: --%s %s", shown, option->name,
                          option->value);
    slot->text = value;
    char why[256];
    if (cli_value_read(slot, option, why, sizeof why)) return CLI_DONE;
    return cli_misuse(command, "%s: %s", shown, why);
}

static cli_exit take_long(reader *r, const char *word)
{
    const char *name = word + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    char shown[80];
    snprintf(shown, sizeof shown, "%.*s", (int)(length + 2), word);
    int index = find_named(r->out->command, name, length);
    if (index < 0) return unknown_option(r->out->command, shown + 2);
    return take_option(r, index, shown, equals ? equals + 1 : NULL);
}

/* -q, -oFILE, -o FILE; flags may share a dash: -qh. */
static cli_exit take_short(reader *r, const char *word)
{
    const cli_command *command = r->out->command;
    for (const char *p = word + 1; *p; p++) {
        char shown[] = {'-', *p, '\0'};
        int index = find_short(command, *p);
        if (index < 0)
            return cli_misuse(command,
                              "unknown option '%s' (crossbayes %s --help lists them)",
                              shown, command->name);
        bool flag = cli_option_at(command, index)->kind == CLI_FLAG;
        const char *rest = !flag && p[1] ? p + 1 : NULL;
        cli_exit code = take_option(r, index, shown, rest);
        if (code != CLI_DONE || !flag) return code;
    }
    return CLI_DONE;
}

static cli_exit take_positional(reader *r, const char *word)
{
    cli_args *out = r->out;
    if (out->n_args >= out->command->max_args)
        return cli_misuse(out->command,
                          "unexpected argument '%s' (usage: crossbayes %s %s)", word,
                          out->command->name, out->command->usage);
    out->arg[out->n_args++] = word;
    return CLI_DONE;
}

/* The word of the usage that names argument `index`, counted from 0; words in brackets
 * name none that a command needs. */
static const char *usage_word(int *length, const char *usage, int index)
{
    const char *word = usage;
    for (;; word += strcspn(word, " "), word += strspn(word, " "))
        if (*word != '[' && index-- == 0) break;
    *length = (int)strcspn(word, " ");
    while (*length > 0 && word[*length - 1] == '.') --*length; /* "SHARE..." */
    return word;
}

cli_exit cli_parse(cli_args *out, const cli_command *command, int argc, char **argv)
{
    *out = (cli_args){.command = command};
    assert(command->n_options + cli_common_count <= CLI_OPTIONS_MAX);
    reader r = {.out = out, .argc = argc, .argv = argv};
    bool options = true; /* until "--" */
    while (r.next < argc) {
        const char *word = argv[r.next++];
        cli_exit code = CLI_DONE;
        if (options && strcmp(word, "--") == 0)
            options = false;
        else if (options && strncmp(word, "--", 2) == 0)
            code = take_long(&r, word);
        else if (options && word[0] == '-' && word[1])
            code = take_short(&r, word);
        else
            code = take_positional(&r, word);
        if (code != CLI_DONE) return code;
        /* --help takes precedence over everything else. */
        if (cli_flag(out, "help")) return CLI_DONE;
    }
    if (out->n_args < command->min_args) {
        int length = 0;
        const char *name = usage_word(&length, command->usage, out->n_args);
        return cli_misuse(command, "missing argument %.*s (usage: crossbayes %s %s)",
                          length, name, command->name, command->usage);
    }
    return CLI_DONE;
}

void cli_args_free(cli_args *args)
{
    for (int i = 0; i < CLI_OPTIONS_MAX; i++) free(args->value[i].items);
}

const cli_value *cli_get(const cli_args *args, const char *name)
{
    int index = find_long(args->command, name, strlen(name));
    assert(index >= 0);
    return &args->value[index];
}

bool cli_in_table(const cli_args *args, const char *name)
{
    return find_long(args->command, name, strlen(name)) >= 0;
}

bool cli_flag(const cli_args *args, const char *name)
{
    return cli_get(args, name)->given;
}

const char *cli_text(const cli_args *args, const char *name, const char *standard)
{
    const cli_value *v = cli_get(args, name);
    return v->given ? v->text : standard;
}

double cli_number(const cli_args *args, const char *name, double standard)
{
    const cli_value *v = cli_get(args, name);
    return v->given ? v->number : standard;
}

uint64_t cli_count(const cli_args *args, const char *name, uint64_t standard)
{
    const cli_value *v = cli_get(args, name);
    return v->given ? v->count : standard;
}
