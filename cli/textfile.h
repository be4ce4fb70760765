/* textfile.h: text that goes to a file, whole or not at all, or to stdout. */
#ifndef XB_CLI_TEXTFILE_H
#define XB_CLI_TEXTFILE_H

#include "session.h"

typedef struct cli_textfile {
    FILE *stream;
    xb_outfile *file; /* NULL: stdout */
    bool kept;        /* for stdout, when it is closed */
} cli_textfile;

/* `path` "-" is stdout. Prints the reason on failure. */
cli_exit cli_textfile_open(cli_session *s, cli_textfile *f, const char *path);
/* The same, but what goes to stdout is kept in a file without a name until it is closed:
 * for texts that are long and may yet fail. */
cli_exit cli_textfile_open_whole(cli_session *s, cli_textfile *f, const char *path);
/* Puts the file in its place, or (keep = false) takes it away. */
cli_exit cli_textfile_close(cli_session *s, cli_textfile *f, bool keep);

#endif
