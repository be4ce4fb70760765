/* outputs.h: the inputs and outputs of a command. They are planned before it starts to
 * work, so that no output replaces an input, and the files written are named at its end.
 */
#ifndef XB_CLI_OUTPUTS_H
#define XB_CLI_OUTPUTS_H

#include "session.h"

/* An option with its value as messages call it, "--figure noise", "-o demo". */
enum { CLI_LABEL = 256 };
void cli_output_label(char out[CLI_LABEL], const cli_session *s, const char *option,
                      const char *value);

/* Records all files that the command line names as inputs. */
cli_exit cli_note_inputs(cli_session *s);

/* Plans the file that an option names, with `ending` appended; plans none if the option
 * is not given or is "-". Prints the reason on failure, as do all functions below. */
cli_exit cli_plan_file(cli_session *s, const char *option, const char *ending);

/* The figure that an option names: its path without ending, and the format that the
 * ending gives. */
typedef struct cli_figure {
    char *stem; /* free() it; NULL: not given */
    unsigned format;
} cli_figure;
cli_exit cli_plan_figure(cli_session *s, cli_figure *out, const char *option);

/* A folder of results that an option names: a page with its figure, PAGE.html and
 * PAGE.svg, and further files. Plans none if the option is not given. */
cli_exit cli_plan_page(cli_session *s, const char *option, const char *page,
                       const char *const *files, int count);
/* The formats of --format, always with svg, because pages show it. */
unsigned cli_page_formats(const cli_session *s);

/* Prints "wrote NAME" on stderr for all files that exist. */
void cli_say_written(const cli_session *s);

#endif
