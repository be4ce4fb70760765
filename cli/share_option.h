/* share_option.h: a command that does a part of its work: --share K/N, which leaves it in
 * a file for `crossbayes merge`, and ranks under mpirun. */
#ifndef XB_CLI_SHARE_OPTION_H
#define XB_CLI_SHARE_OPTION_H

#include "session.h"

/* The words of a command line without --share, which all shares have in common and one
 * run of everything would have. Free the list; NULL: memory has run out. */
const char **cli_words_without_share(int *n, const cli_command *command, int argc,
                                     char **argv);

/* Before anything is printed: of several ranks the first alone speaks, unless each was
 * given a share of its own. */
void cli_ranks_quiet(int argc, char **argv);
/* Meets the other ranks, where there are some. */
cli_exit cli_ranks_begin(cli_session *s);
/* All go through the whole command from now on; `strict`: training that cannot be cut is
 * refused. */
cli_exit cli_ranks_together(cli_session *s, bool strict);

/* Reads the option, where the command has it and it is given, and plans the file. */
cli_exit cli_share_begin(cli_session *s);
/* Writes the file once the command has done its share. */
cli_exit cli_share_end(cli_session *s);

#endif
