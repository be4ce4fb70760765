/* outputs.c: see outputs.h. The library records files (crossbayes/files.h); this file
 * knows which arguments are files. */
#include "outputs.h"

#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "crossbayes/studies.h"
#include "show.h"

void cli_output_label(char out[CLI_LABEL], const cli_session *s, const char *option,
                      const char *value)
{
    char letter = 0;
    const cli_option *o;
    for (int i = 0; (o = cli_option_at(s->args.command, i)); i++)
        if (strcmp(o->name, option) == 0) letter = o->letter;
    if (letter)
        snprintf(out, CLI_LABEL, "-%c %s", letter, value);
    else
        snprintf(out, CLI_LABEL, "--%s %s", option, value);
}

/* ---- inputs */

/* Options whose text may be a file's name: a law, an array, data. */
static bool may_be_file(const cli_option *option)
{
    static const char *const names[] = {"law",  "device-law", "device",
                                        "data", "array",      "for-array"};
    for (int i = 0; i < CLI_COUNT_OF(names); i++)
        if (strcmp(option->name, names[i]) == 0) return true;
    return option->kind == CLI_PATH;
}

static xb_status note_option(const cli_session *s, const cli_value *v)
{
    xb_status status = v->n_texts == 0 ? xb_files_input(s->ctx, v->text) : XB_OK;
    for (int i = 0; i < v->n_texts && status == XB_OK; i++)
        status = xb_files_input(s->ctx, v->texts[i]);
    return status;
}

cli_exit cli_note_inputs(cli_session *s)
{
    xb_status status = XB_OK;
    const cli_option *o;
    for (int i = 0; i < s->args.n_args && status == XB_OK; i++)
        status = xb_files_input(s->ctx, s->args.arg[i]);
    for (int i = 0; status == XB_OK && (o = cli_option_at(s->args.command, i)); i++)
        if (s->args.value[i].given && may_be_file(o))
            status = note_option(s, &s->args.value[i]);
    return cli_status(s, status);
}

/* ---- outputs */

cli_exit cli_plan_file(cli_session *s, const char *option, const char *ending)
{
    const char *value = cli_text(&s->args, option, "-");
    char label[CLI_LABEL];
    if (strcmp(value, "-") == 0) return CLI_DONE;
    char *path = malloc(strlen(value) + strlen(ending) + 1);
    if (!path) return cli_status(s, XB_E_MEMORY);
    sprintf(path, "%s%s", value, ending);
    cli_output_label(label, s, option, value);
    cli_exit code = cli_status(s, xb_files_plan(s->ctx, path, label));
    free(path);
    return code;
}

/* NAME.png asks for PNG, a name without an ending for SVG. */
cli_exit cli_plan_figure(cli_session *s, cli_figure *out, const char *option)
{
    const char *name = cli_text(&s->args, option, NULL);
    char label[CLI_LABEL];
    *out = (cli_figure){.format = XB_FIGURE_SVG};
    if (!name) return CLI_DONE;
    const char *slash = strrchr(name, '/'), *dot = strrchr(slash ? slash : name, '.');
    if (dot && (out->format = cli_formats(dot + 1)) == 0)
        return cli_fail(s, CLI_USAGE,
                        "--%s %s: expected a name that ends in .svg, .png or .pdf, or "
                        "has no ending for .svg",
                        option, name);
    out->stem = strdup(name);
    if (!out->stem) return cli_status(s, XB_E_MEMORY);
    if (dot) out->stem[dot - name] = '\0';
    cli_output_label(label, s, option, name);
    return cli_status(s, xb_report_plan(s->ctx, out->stem, out->format, label));
}

unsigned cli_page_formats(const cli_session *s)
{
    return cli_formats(cli_text(&s->args, "format", "svg,png")) | XB_FIGURE_SVG;
}

cli_exit cli_plan_page(cli_session *s, const char *option, const char *page,
                       const char *const *files, int count)
{
    const char *dir = cli_text(&s->args, option, NULL);
    char label[CLI_LABEL], name[64];
    if (!dir) return CLI_DONE;
    cli_output_label(label, s, option, dir);
    snprintf(name, sizeof name, "%s.html", page);
    xb_status status = xb_report_plan_in(s->ctx, dir, page, cli_page_formats(s), label);
    if (status == XB_OK) status = xb_files_plan_in(s->ctx, dir, name, label);
    for (int i = 0; i < count && status == XB_OK; i++)
        status = xb_files_plan_in(s->ctx, dir, files[i], label);
    return cli_status(s, status);
}

/* ---- at the end */

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash + 1 - path) : 0;
}

static bool same_folder(const char *a, const char *b)
{
    return folder_length(a) == folder_length(b) && strncmp(a, b, folder_length(a)) == 0;
}

/* Prints one name, on a new line if the current one is full. Returns its last column. */
static int say_name(const char *name, int column)
{
    enum { WIDTH = 78, INDENT = 6 };
    char text[XB_OS_PATH_MAX];
    snprintf(text, sizeof text, "%s", name);
    cli_blank_controls(text);
    int length = (int)strlen(text) + 1;
    bool full = column > INDENT && column + length > WIDTH;
    if (full) fprintf(stderr, "\n%*s", INDENT - 1, "");
    fprintf(stderr, " %s", text);
    return (full ? INDENT - 1 : column) + length;
}

/* Prints the files of one folder together: "wrote DIR/: a, b, c". */
void cli_say_written(const cli_session *s)
{
    const char *path, *before = NULL;
    int column = 0;
    if (cli_quiet(s)) return;
    fflush(stdout); /* keeps the order of stdout and stderr, also in a pipe */
    for (int64_t i = 0; i < xb_files_written_count(s->ctx); i++) {
        path = xb_files_written_name(s->ctx, i);
        if (!xb_os_exists(path)) continue; /* a checkpoint that was removed */
        if (strncmp(path, "./", 2) == 0) path += 2;
        if (before && same_folder(before, path)) {
            fputc(',', stderr);
        } else {
            if (before) fputc('\n', stderr);
            column = fprintf(stderr, "wrote");
            if (folder_length(path) > 0) {
                char folder[XB_OS_PATH_MAX];
                snprintf(folder, sizeof folder, "%.*s:", (int)folder_length(path), path);
                column = say_name(folder, column);
            }
        }
        column = say_name(path + folder_length(path), column + 1);
        before = path;
    }
    if (before) fputc('\n', stderr);
}
