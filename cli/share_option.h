/* share_option.h: --share K/N: a command that does a part of its work and leaves it in a
 * file for `crossbayes merge`. */
#ifndef XB_CLI_SHARE_OPTION_H
#define XB_CLI_SHARE_OPTION_H

#include "session.h"

/* The words of a command line without --share, which all shares have in common and one
 * run of everything would have. Free the list; NULL: memory has run out. */
const char **cli_words_without_share(int *n, const cli_command *command, int argc,
                                     char **argv);

/* Reads the option, where the command has it and it is given, and plans the file. */
cli_exit cli_share_begin(cli_session *s);
/* Writes the file once the command has done its share. */
cli_exit cli_share_end(cli_session *s);

#endif
