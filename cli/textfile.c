/* textfile.c: see textfile.h. */
#include "textfile.h"

#include <string.h>

static bool is_stdout(const char *path) { return strcmp(path, "-") == 0; }

cli_exit cli_textfile_open(cli_session *s, cli_textfile *f, const char *path)
{
    *f = (cli_textfile){.stream = stdout};
    if (is_stdout(path)) return CLI_DONE;
    cli_exit code = cli_status(s, xb_outfile_open(s->ctx, &f->file, path));
    if (code == CLI_DONE) f->stream = xb_outfile_stream(f->file);
    return code;
}

cli_exit cli_textfile_close(cli_session *s, cli_textfile *f, bool keep)
{
    if (!f->file) return CLI_DONE; /* stdout: checked at the end of the program */
    if (keep) return cli_status(s, xb_outfile_commit(s->ctx, f->file));
    xb_outfile_discard(f->file);
    return CLI_DONE;
}
