/* textfile.c: see textfile.h. */
#include "textfile.h"

#include <string.h>
#include <sys/stat.h>

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

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    if (strcmp(a, b) == 0) return true;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

cli_exit cli_output_check(cli_session *s, const char *path, const char *const *others,
                          int n)
{
    cli_textfile f;
    if (is_stdout(path)) return CLI_DONE;
    for (int i = 0; i < n; i++)
        if (others[i] && same_file(path, others[i]))
            return cli_fail(s, CLI_USAGE, "%s: the same file as %s, which would be lost",
                            path, others[i]);
    cli_exit code = cli_textfile_open(s, &f, path);
    return code == CLI_DONE ? cli_textfile_close(s, &f, false) : code;
}
