/* page_svg.c: copies a picture from a file into a page. It copies an SVG tag by tag:
 * every id and every reference to one gets the figure's prefix, so that pictures on one
 * page do not share names; the page decides the size, so only the view box of the root is
 * kept; gnuplot's white canvas and its own title are removed, so that the page's
 * background shows. It is not a general SVG reader: everything else (scripts, handlers,
 * styles, addresses outside the file) is refused with the file's name.
 *
 * An <img> with the file in base64 would need a tenth of this code. But the page of
 * `study scalar` would have 619 kB instead of 471 kB, the words in a figure could not be
 * searched or selected, and tests/page_browser.py could not detect a label that is cut
 * off.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "crossbayes/extend.h"
#include "report/page.h"

enum {
    FILE_MOST = 64 << 20,
    NAME_MOST = 32,
    VALUE_MOST = 256,
    DEPTH_MOST = 32,
    SMALL_MOST = 400
};

typedef struct svg_copy {
    xb_ctx *ctx;
    FILE *out;
    const char *path, *prefix, *alt;
    char open[DEPTH_MOST][NAME_MOST]; /* stack of open elements */
    int depth;
    bool rooted;  /* whether the root was seen */
    bool dropped; /* whether the position is inside gnuplot's own title or description */
} svg_copy;

typedef struct attribute {
    char name[NAME_MOST];
    const char *value; /* borrowed from the text */
    size_t size;
} attribute;

static xb_status refuse(const svg_copy *s, const char *why)
{
    return xb_fail(s->ctx, XB_E_INPUT, "%s: the figure cannot be put into a page: %s",
                   s->path, why);
}

static xb_status read_stream(xb_ctx *ctx, char **out, FILE *f, const char *path)
{
    char *text = NULL;
    int64_t used = 0, room = 0;
    for (;;) {
        void *block = text;
        xb_status status = xb_grow(ctx, &block, &room, used + BUFSIZ + 1, 1);
        text = block;
        if (status == XB_OK && used > FILE_MOST)
            status =
                xb_fail(ctx, XB_E_INPUT, "%s: the figure has more than 64 MiB", path);
        if (status != XB_OK) {
            xb_free(text);
            return status;
        }
        size_t got = fread(text + used, 1, (size_t)(room - used - 1), f);
        if (got == 0) break;
        used += (int64_t)got;
    }
    text[used] = '\0';
    *out = text;
    if (!ferror(f) && strlen(text) == (size_t)used) return XB_OK;
    xb_free(text);
    *out = NULL;
    return xb_fail(ctx, XB_E_INPUT, "%s: the file is not readable text", path);
}

static xb_status read_text(xb_ctx *ctx, char **out, const char *path)
{
    FILE *f = xb_os_open(path, "rb");
    if (!f)
        return xb_fail(ctx, errno == ENOMEM ? XB_E_MEMORY : XB_E_INPUT, "%s: %s", path,
                       strerror(errno));
    xb_status status = read_stream(ctx, out, f, path);
    fclose(f);
    return status;
}

/* ---- attributes */

/* Reads the next NAME="VALUE" of a tag; *p moves behind it, and after the last one to the
 * tag's '>' or '/'. */
static xb_status next_attribute(const svg_copy *s, attribute *a, const char **p)
{
    *p += strspn(*p, " \t\r\n");
    size_t size = strcspn(*p, " \t\r\n=/>");
    if (size >= NAME_MOST) return refuse(s, "an attribute's name is too long");
    memcpy(a->name, *p, size);
    a->name[size] = '\0';
    if (size == 0) return XB_OK;
    *p += size;
    *p += strspn(*p, " \t\r\n");
    if (**p != '=') return refuse(s, "an attribute has no value");
    *p += 1 + strspn(*p + 1, " \t\r\n");
    char quote = **p;
    if (quote != '"' && quote != '\'') return refuse(s, "a value without quotes");
    a->value = *p + 1;
    const char *end = strchr(a->value, quote);
    if (!end) return refuse(s, "a value does not end");
    a->size = (size_t)(end - a->value);
    if (memchr(a->value, '<', a->size)) return refuse(s, "'<' in a value");
    *p = end + 1;
    return XB_OK;
}

static bool value_starts(const attribute *a, const char *text)
{
    size_t size = strlen(text);
    return a->size >= size && strncasecmp(a->value, text, size) == 0;
}

static bool is_reference(const attribute *a)
{
    return strcmp(a->name, "href") == 0 || strcmp(a->name, "xlink:href") == 0;
}

static xb_status check_attribute(const svg_copy *s, const attribute *a)
{
    if (strncasecmp(a->name, "on", 2) == 0) return refuse(s, "it has a script");
    if (xb_os_same_text(a->name, "style", sizeof "style"))
        return refuse(s, "it has styles");
    if (is_reference(a) && !value_starts(a, "#") &&
        !value_starts(a, "data:image/png;base64,"))
        return refuse(s, "it refers to something outside itself");
    for (size_t i = 0; i < a->size; i++) {
        bool whole = i == 0 && value_starts(a, "url(#");
        if (a->value[i] == '\\' || (strncasecmp(a->value + i, "url(", 4) == 0 && !whole))
            return refuse(s, "it refers to something outside itself");
    }
    return XB_OK;
}

static void put(const svg_copy *s, const char *text, size_t size)
{
    fwrite(text, 1, size, s->out);
}

static void put_attribute(const svg_copy *s, const attribute *a)
{
    size_t before = 0; /* characters of the value before the name that gets the prefix */
    bool named = true;
    if (is_reference(a) && value_starts(a, "#"))
        before = 1;
    else if (value_starts(a, "url(#"))
        before = strlen("url(#");
    else
        named = strcmp(a->name, "id") == 0;
    char quote = memchr(a->value, '"', a->size) ? '\'' : '"';
    fprintf(s->out, " %s=%c", a->name, quote);
    put(s, a->value, before);
    if (named) fputs(s->prefix, s->out);
    put(s, a->value + before, a->size - before);
    fputc(quote, s->out);
}

/* ---- tags */

static xb_status copy_attributes(const svg_copy *s, const char **p)
{
    for (;;) {
        attribute a = {0};
        XB_TRY(next_attribute(s, &a, p));
        if (!*a.name) return XB_OK;
        XB_TRY(check_attribute(s, &a));
        put_attribute(s, &a);
    }
}

/* Not sscanf: that of MinGW crashes when memory runs out. */
static bool take_number(double *out, const char **text)
{
    char *end;
    *out = strtod(*text, &end);
    const bool found = end > *text;
    *text = end;
    return found;
}

/* The root keeps its view box. The style sheet sets its size, except for the width at
 * which its text has the nominal size. */
static xb_status copy_root(svg_copy *s, const char **p)
{
    char box[VALUE_MOST] = "";
    for (;;) {
        attribute a = {0};
        XB_TRY(next_attribute(s, &a, p));
        if (!*a.name) break;
        if (strcmp(a.name, "viewBox") == 0 && a.size < sizeof box)
            snprintf(box, sizeof box, "%.*s", (int)a.size, a.value);
    }
    double corner[2], width, height;
    const char *rest = box;
    if (!take_number(&corner[0], &rest) || !take_number(&corner[1], &rest) ||
        !take_number(&width, &rest) || !take_number(&height, &rest) ||
        !(width > 0 && width < 1e5 && height > 0 && height < 1e5))
        return refuse(s, "it has no view box");
    s->rooted = true;
    fprintf(s->out, "<svg viewBox=\"%g %g %g %g\" width=\"%g\" height=\"%g\"", corner[0],
            corner[1], width, height, width, height);
    if (width <= SMALL_MOST) fputs(" class=\"small\"", s->out); /* readable on a phone */
    fprintf(s->out, " role=\"img\" xmlns=\"http://www.w3.org/2000/svg\""
                    " xmlns:xlink=\"http://www.w3.org/1999/xlink\" aria-label=\"");
    xb_html_text(s->out, s->alt);
    fputc('"', s->out);
    return XB_OK;
}

static bool allowed(const char *name)
{
    static const char *const known[] = {
        "svg",     "g",        "defs",   "path",  "rect",           "circle",
        "ellipse", "line",     "text",   "tspan", "polygon",        "polyline",
        "use",     "clipPath", "filter", "title", "feFlood",        "feComposite",
        "pattern", "image",    "desc",   "mask",  "linearGradient", "stop"};
    for (int i = 0; i < XB_COUNT(known); i++)
        if (strcmp(known[i], name) == 0) return true;
    return false;
}

/* Whether the tag is gnuplot's canvas: a white rectangle, the first element of the
 * picture. */
static bool is_canvas(const char *tag)
{
    static const char start[] = "<rect x=\"0\" y=\"0\" width=\"",
                      end[] = "fill=\"#ffffff\"/>";
    size_t size = strcspn(tag, ">") + 1;
    return strncmp(tag, start, strlen(start)) == 0 && size > strlen(end) &&
           strncmp(tag + size - strlen(end), end, strlen(end)) == 0;
}

static xb_status copy_end_tag(svg_copy *s, const char **p, const char *name)
{
    *p += strspn(*p, " \t\r\n");
    if (**p != '>' || s->depth == 0 || strcmp(s->open[s->depth - 1], name) != 0)
        return refuse(s, "tags do not match");
    ++*p;
    s->depth--;
    if (!s->dropped) fprintf(s->out, "</%s>", name);
    if (s->depth == 1) s->dropped = false;
    return XB_OK;
}

static xb_status copy_start_tag(svg_copy *s, const char **p, const char *name)
{
    bool own_words = strcmp(name, "title") == 0 || strcmp(name, "desc") == 0;
    if (s->rooted && s->depth == 0) return refuse(s, "it has more than one picture");
    if (s->depth == 1 && own_words) s->dropped = true;
    if (!s->rooted) {
        if (strcmp(name, "svg") != 0) return refuse(s, "it does not start with <svg");
        XB_TRY(copy_root(s, p));
    } else if (s->dropped) {
        *p += strcspn(*p, "/>");
    } else {
        fprintf(s->out, "<%s", name);
        XB_TRY(copy_attributes(s, p));
    }
    bool empty = **p == '/';
    *p += empty;
    if (**p != '>') return refuse(s, "a tag does not end");
    ++*p;
    if (!s->dropped) fputs(empty ? "/>" : ">", s->out);
    if (empty) {
        if (s->depth == 1) s->dropped = false;
        return XB_OK;
    }
    if (s->depth == DEPTH_MOST) return refuse(s, "elements are nested too deeply");
    memcpy(s->open[s->depth++], name, NAME_MOST);
    return XB_OK;
}

static xb_status copy_tag(svg_copy *s, const char **p)
{
    if (is_canvas(*p)) {
        *p += strcspn(*p, ">") + 1;
        return XB_OK;
    }
    bool closing = (*p)[1] == '/';
    *p += 1 + closing;
    char name[NAME_MOST] = "";
    size_t size = strcspn(*p, " \t\r\n/>");
    if (size == 0 || size >= NAME_MOST) return refuse(s, "a tag has no name");
    memcpy(name, *p, size);
    *p += size;
    if (!allowed(name)) return refuse(s, "it has elements other than shapes and text");
    return closing ? copy_end_tag(s, p, name) : copy_start_tag(s, p, name);
}

/* "<?xml ...?>", "<!DOCTYPE ...>" and comments do not belong inside a page. */
static xb_status skip_markup(const svg_copy *s, const char **p)
{
    const char *mark = strncmp(*p, "<!--", 4) == 0 ? "-->" : ">";
    const char *end = strstr(*p, mark);
    if (!end) return refuse(s, "a comment does not end");
    *p = end + strlen(mark);
    return XB_OK;
}

static xb_status copy_picture(svg_copy *s, const char *text)
{
    for (const char *p = text; *p;) {
        size_t plain = strcspn(p, "<");
        if (s->depth > 0 && !s->dropped) put(s, p, plain);
        p += plain;
        if (!*p) break;
        if (p[1] == '?' || p[1] == '!')
            XB_TRY(skip_markup(s, &p));
        else
            XB_TRY(copy_tag(s, &p));
    }
    return s->rooted && s->depth == 0 ? XB_OK : refuse(s, "it ends too early");
}

xb_status xb_svg_embed(xb_ctx *ctx, FILE *out, const char *path, const char *prefix,
                       const char *alt)
{
    char *text = NULL;
    XB_TRY(read_text(ctx, &text, path));
    svg_copy s = {.ctx = ctx, .out = out, .path = path, .prefix = prefix, .alt = alt};
    xb_status status = copy_picture(&s, text);
    xb_free(text);
    return status;
}
