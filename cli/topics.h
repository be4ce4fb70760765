/* topics.h: the pages of `crossbayes help` about the values of options. */
#ifndef XB_CLI_TOPICS_H
#define XB_CLI_TOPICS_H

#include "options.h"

typedef struct cli_topic {
    const char *name;
    const char *about;
    void (*print)(FILE *out);
    const char *example; /* lines that run as printed */
} cli_topic;

extern const int cli_topic_count;
const cli_topic *cli_topic_at(int i);
const cli_topic *cli_topic_find(const char *name); /* NULL: none */
const char *cli_topic_nearest(const char *word);   /* NULL: none */
/* The presets and keys of arrays, for `crossbar --help`. */
void cli_help_arrays(FILE *out);
/* `is_command`: a command has the same name, so the page says how to get its help. */
void cli_topic_print(FILE *out, const cli_topic *topic, bool is_command);

#endif
