/* textfile.h: writes text to a file, completely or not at all, or to stdout. */
#ifndef XB_CLI_TEXTFILE_H
#define XB_CLI_TEXTFILE_H

#include "session.h"

typedef struct cli_textfile {
    FILE *stream;
    xb_outfile *file; /* NULL: stdout */
    bool kept;        /* whether text for stdout is kept until the file is closed */
} cli_textfile;

/* `path` "-" is stdout. Prints the reason on failure. */
cli_exit cli_textfile_open(cli_session *s, cli_textfile *f, const char *path);
/* The same, but text for stdout is kept in a nameless file until it is closed, for long
 * texts that may still fail. */
cli_exit cli_textfile_open_whole(cli_session *s, cli_textfile *f, const char *path);
/* Puts the file in its place, or (keep = false) discards it. */
cli_exit cli_textfile_close(cli_session *s, cli_textfile *f, bool keep);

#endif
