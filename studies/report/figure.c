/* figure.c: see figure.h. NAME.gp and NAME.dat are written to a new folder
 * beside the target, gnuplot draws there, then all files are renamed into
 * place: a failure anywhere leaves the old files unchanged. */
#include "report/figure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "report/draft.h"
#include "crossbayes/extend.h"
#include "crossbayes/outfile.h"
#include "crossbayes/files.h"
#include "report/style.h"

struct xb_figure {
    char *dir;    /* where the files end up */
    char *name;   /* without extension */
    char *quoted; /* NAME.dat as a gnuplot string */
    char *work;   /* the folder in which it is made */
    char *spare;  /* memory for any path in it, so that it can be removed without
                     allocating */
    FILE *script, *data;
};

static const char *const extensions[] = {"gp", "dat", "svg", "png", "pdf"};
static const struct {
    xb_figure_format format;
    const char *name;
} known[] = {{XB_FIGURE_SVG, "svg"}, {XB_FIGURE_PNG, "png"}, {XB_FIGURE_PDF, "pdf"}};

/* Script and data belong to every format. */
static bool is_made(const char *extension, unsigned formats)
{
    for (int i = 0; i < XB_COUNT(known); i++)
        if (strcmp(known[i].name, extension) == 0)
            return formats & (unsigned)known[i].format;
    return true;
}

/* Whether a file is a script that this library wrote. It is read without a stream, which
 * would need memory. */
static xb_status find_ours(xb_ctx *ctx, bool *ours, const char *path)
{
    char start[sizeof XB_SCRIPT_START] = "";
    xb_os_info info;
    *ours = false;
    if (xb_os_read_head(&info, start, sizeof start - 1, path) < 0)
        return errno == ENOENT
                   ? XB_OK
                   : xb_fail(ctx, XB_E_IO, "%s: cannot read: %s", path, strerror(errno));
    *ours = strcmp(start, XB_SCRIPT_START) == 0;
    return XB_OK;
}

/* Users do not name the script and data of a figure, so an existing file of that name is
 * replaced only if an earlier figure left it, which its script shows. */
static xb_status check_companions(xb_ctx *ctx, const char *path, const char *label)
{
    size_t size = strlen(path) + sizeof ".dat";
    char *script = xb_new(ctx, (int64_t)size, 1), *data = xb_new(ctx, (int64_t)size, 1);
    xb_status status = script && data ? XB_OK : XB_E_MEMORY;
    if (status == XB_OK) {
        snprintf(script, size, "%s.gp", path);
        snprintf(data, size, "%s.dat", path);
        bool there = xb_os_exists(script), ours = false;
        status = find_ours(ctx, &ours, script);
        if (status == XB_OK && !ours && (there || xb_os_exists(data)))
            status = xb_fail(ctx, XB_E_ARGUMENT,
                             "%s would overwrite %s, which crossbayes did not write; "
                             "choose another name",
                             label ? label : path, there ? script : data);
    }
    xb_free(script);
    xb_free(data);
    return status;
}

xb_status xb_report_plan(xb_ctx *ctx, const char *path, unsigned formats,
                         const char *label)
{
    size_t size = strlen(path) + sizeof ".extension";
    char *file = xb_new(ctx, (int64_t)size, 1);
    xb_status status = file ? XB_OK : XB_E_MEMORY;
    for (int i = 0; i < XB_COUNT(extensions) && status == XB_OK; i++) {
        if (!is_made(extensions[i], formats)) continue;
        snprintf(file, size, "%s.%s", path, extensions[i]);
        status = xb_files_plan(ctx, file, label);
    }
    xb_free(file);
    return status == XB_OK ? check_companions(ctx, path, label) : status;
}

xb_status xb_report_plan_in(xb_ctx *ctx, const char *dir, const char *name,
                            unsigned formats, const char *label)
{
    char file[256];
    for (int i = 0; i < XB_COUNT(extensions); i++) {
        if (!is_made(extensions[i], formats)) continue;
        snprintf(file, sizeof file, "%s.%s", name, extensions[i]);
        XB_TRY(xb_files_plan_in(ctx, dir, file, label));
    }
    return XB_OK;
}

/* Returns DIR/NAME.EXT; NULL if memory has run out. */
static char *join(xb_ctx *ctx, const char *dir, const char *name, const char *extension)
{
    size_t size = strlen(dir) + strlen(name) + strlen(extension) + 3;
    char *path = xb_new(ctx, (int64_t)size, 1);
    if (path) snprintf(path, size, "%s/%s.%s", dir, name, extension);
    return path;
}

/* Removes the working folder with everything left in it. */
static void remove_work(xb_figure *f)
{
    for (int i = 0; i < XB_COUNT(extensions); i++) {
        sprintf(f->spare, "%s/%s.%s", f->work, f->name, extensions[i]);
        (void)xb_os_unlink(f->spare);
    }
    (void)xb_os_remove_folder(f->work);
}

static void figure_free(xb_figure *f)
{
    if (f->script) fclose(f->script);
    if (f->data) fclose(f->data);
    xb_free(f->dir);
    xb_free(f->name);
    xb_free(f->quoted);
    xb_free(f->work);
    xb_free(f->spare);
    xb_free(f);
}

void xb_figure_discard(xb_figure *f)
{
    if (!f) return;
    if (f->work) remove_work(f);
    figure_free(f);
}

static xb_status split_path(xb_ctx *ctx, xb_figure *f, const char *path)
{
    const char *slash = strrchr(path, '/');
    f->name = xb_strdup(ctx, slash ? slash + 1 : path);
    f->dir = xb_strdup(ctx, slash ? path : ".");
    if (!f->name || !f->dir) return XB_E_MEMORY;
    if (slash) f->dir[slash == path ? 1 : slash - path] = '\0';
    if (!*f->name)
        return xb_fail(ctx, XB_E_ARGUMENT, "%s: expected a name for the figure", path);
    return XB_OK;
}

static xb_status make_work(xb_ctx *ctx, xb_figure *f)
{
    char *work = join(ctx, f->dir, "", "figure-XXXXXX");
    f->spare = work ? join(ctx, work, f->name, "extension") : NULL;
    if (!f->spare) {
        xb_free(work);
        return XB_E_MEMORY;
    }
    if (!xb_os_make_new_folder(work)) {
        xb_free(work);
        return xb_fail(ctx, XB_E_IO, "%s: cannot write here: %s", f->dir,
                       strerror(errno));
    }
    f->work = work;
    return XB_OK;
}

static xb_status open_part(xb_ctx *ctx, FILE **out, const xb_figure *f,
                           const char *extension)
{
    char *path = join(ctx, f->work, f->name, extension);
    if (!path) return XB_E_MEMORY;
    *out = xb_os_open(path, "w");
    xb_status status = XB_OK;
    if (!*out)
        status = xb_fail(ctx, XB_E_IO, "%s: cannot write: %s", path, strerror(errno));
    xb_free(path);
    return status;
}

/* './NAME.dat' in single quotes, quotes inside doubled. The dot keeps gnuplot
 * from taking a name that starts with '<' for a command. */
static xb_status quote_data_name(xb_ctx *ctx, xb_figure *f)
{
    const char *text = NULL;
    char *name = join(ctx, ".", f->name, "dat");
    xb_draft *draft = xb_draft_open(ctx);
    xb_status status = name && draft ? XB_OK : XB_E_MEMORY;
    if (status == XB_OK) {
        xb_style_quote(xb_draft_stream(draft), name);
        status = xb_draft_text(ctx, draft, &text);
    }
    if (text) f->quoted = xb_strdup(ctx, text);
    if (text && !f->quoted) status = XB_E_MEMORY;
    xb_draft_free(draft);
    xb_free(name);
    return status;
}

static xb_status figure_begin(xb_ctx *ctx, xb_figure *f, const char *path)
{
    XB_TRY(split_path(ctx, f, path));
    XB_TRY(quote_data_name(ctx, f));
    XB_TRY(make_work(ctx, f));
    XB_TRY(open_part(ctx, &f->script, f, "gp"));
    return open_part(ctx, &f->data, f, "dat");
}

xb_status xb_figure_open(xb_ctx *ctx, xb_figure **out, const char *path, int width,
                         int height)
{
    xb_figure *f = xb_new(ctx, 1, sizeof *f);
    if (!f) return XB_E_MEMORY;
    xb_status status = figure_begin(ctx, f, path);
    if (status != XB_OK) {
        xb_figure_discard(f);
        return status;
    }
    xb_style_preamble(f->script, f->name, width, height);
    *out = f;
    return XB_OK;
}

FILE *xb_figure_script(xb_figure *f) { return f->script; }
FILE *xb_figure_data(xb_figure *f) { return f->data; }
const char *xb_figure_data_name(const xb_figure *f) { return f->quoted; }

static xb_status close_part(xb_ctx *ctx, FILE **part, const xb_figure *f)
{
    bool ok = fflush(*part) == 0 && !ferror(*part);
    ok = fclose(*part) == 0 && ok;
    *part = NULL;
    if (ok) return XB_OK;
    return xb_fail(ctx, XB_E_IO, "%s/%s: cannot write: %s", f->dir, f->name,
                   strerror(errno));
}

/* Moves NAME.EXT to its place, if it was made. */
static xb_status place(xb_ctx *ctx, const xb_figure *f, const char *extension)
{
    char *from = join(ctx, f->work, f->name, extension);
    char *to = join(ctx, f->dir, f->name, extension);
    xb_status status = from && to ? XB_OK : XB_E_MEMORY;
    if (status == XB_OK && xb_os_exists(from)) status = xb_outfile_place(ctx, from, to);
    xb_free(from);
    xb_free(to);
    return status;
}

/* The same figure must have the same bytes, so it must not contain the time of drawing.
 */
static xb_status undate(xb_ctx *ctx, const xb_figure *f)
{
    char *path = join(ctx, f->work, f->name, "pdf");
    xb_status status = path ? xb_pdf_undate(ctx, path) : XB_E_MEMORY;
    xb_free(path);
    return status;
}

static xb_status draw_formats(xb_ctx *ctx, xb_figure *f, unsigned formats)
{
    char *script = join(ctx, ".", f->name, "gp");
    if (!script) return XB_E_MEMORY;
    xb_status status = XB_OK;
    for (int i = 0; i < XB_COUNT(known) && status == XB_OK; i++)
        if (formats & (unsigned)known[i].format)
            status = xb_gnuplot_run(ctx, f->work, script, known[i].name);
    xb_free(script);
    if (status == XB_OK && formats & XB_FIGURE_PDF) status = undate(ctx, f);
    return status;
}

/* If one of the files must not be placed, none is. */
static xb_status check_places(xb_ctx *ctx, const xb_figure *f, unsigned formats)
{
    char *path = join(ctx, f->dir, f->name, "");
    if (!path) return XB_E_MEMORY;
    path[strlen(path) - 1] = '\0'; /* remove the dot */
    xb_status status = xb_report_plan(ctx, path, formats, NULL);
    xb_free(path);
    return status;
}

xb_status xb_figure_draw(xb_ctx *ctx, xb_figure *f, unsigned formats)
{
    xb_status status = close_part(ctx, &f->script, f);
    if (status == XB_OK) status = close_part(ctx, &f->data, f);
    if (status == XB_OK) status = draw_formats(ctx, f, formats);
    if (status == XB_OK) status = check_places(ctx, f, formats);
    for (int i = 0; i < XB_COUNT(extensions) && status == XB_OK; i++)
        status = place(ctx, f, extensions[i]);
    xb_figure_discard(f);
    return status;
}
