/* share_option.h: commands that do a part of their work: --share K/N, which writes it to
 * a file for `crossbayes merge`, and ranks under mpirun. */
#ifndef XB_CLI_SHARE_OPTION_H
#define XB_CLI_SHARE_OPTION_H

#include "session.h"

/* The words of a command line without --share, which all shares have in common with a
 * single run. Free the list; NULL: memory has run out. */
const char **cli_words_without_share(int *n, const cli_command *command, int argc,
                                     char **argv);

/* Call this before anything is printed: with several ranks only the first prints, unless
 * each has its own share. */
void cli_ranks_quiet(int argc, char **argv);
/* Connects to the other ranks, if there are any. */
cli_exit cli_ranks_begin(cli_session *s);
/* From now on all ranks run through the whole command; `strict`: training that cannot be
 * divided is refused. */
cli_exit cli_ranks_together(cli_session *s, bool strict);

/* Reads the option, if the command has it and it is given, and plans the file. */
cli_exit cli_share_begin(cli_session *s);
/* Writes the file once the command has done its share. */
cli_exit cli_share_end(cli_session *s);

#endif
