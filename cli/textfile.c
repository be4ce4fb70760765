/* textfile.c: see textfile.h. */
#include "textfile.h"

#include <errno.h>
#include <string.h>

#include "base/os.h"

static bool is_stdout(const char *path) { return strcmp(path, "-") == 0; }

cli_exit cli_textfile_open(cli_session *s, cli_textfile *f, const char *path)
{
    *f = (cli_textfile){.stream = stdout};
    if (is_stdout(path)) return CLI_DONE;
    cli_exit code = cli_status(s, xb_outfile_open(s->ctx, &f->file, path));
    if (code == CLI_DONE) f->stream = xb_outfile_stream(f->file);
    return code;
}

cli_exit cli_textfile_open_whole(cli_session *s, cli_textfile *f, const char *path)
{
    char name[256];
    if (!is_stdout(path)) return cli_textfile_open(s, f, path);
    *f = (cli_textfile){.stream = xb_os_nameless(name, sizeof name), .kept = true};
    if (f->stream) return CLI_DONE;
    return cli_fail(s, CLI_FAILED, "%s: cannot write: %s", name, strerror(errno));
}

/* Copies the kept text to stdout; errors are detected at the end of the program. */
static cli_exit give_out(cli_session *s, FILE *from)
{
    char piece[1 << 16];
    size_t n = 0;
    bool good = fflush(from) == 0 && fseek(from, 0, SEEK_SET) == 0;
    while (good && (n = fread(piece, 1, sizeof piece, from)) > 0)
        good = fwrite(piece, 1, n, stdout) == n;
    good = good && !ferror(from);
    fclose(from);
    if (good || ferror(stdout)) return CLI_DONE;
    return cli_fail(s, CLI_FAILED,
                    "cannot read back the temporary file of the output: %s",
                    strerror(errno));
}

cli_exit cli_textfile_close(cli_session *s, cli_textfile *f, bool keep)
{
    if (f->kept && keep) return give_out(s, f->stream);
    if (f->kept) fclose(f->stream);
    if (!f->file) return CLI_DONE; /* stdout: checked at the end of the program */
    if (keep) return cli_status(s, xb_outfile_commit(s->ctx, f->file));
    xb_outfile_discard(f->file);
    return CLI_DONE;
}
