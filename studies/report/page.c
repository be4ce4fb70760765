/* page.c: makes a page, from the first call to the file. Sections collect their HTML in
 * memory; writing puts head, title, headline, the list of sections with their verdicts,
 * the sections and the footer into one file. */
#include <stdlib.h>
#include <string.h>

#include "report/draft.h"
#include "crossbayes/extend.h"
#include "crossbayes/outfile.h"
#include "report/page.h"

typedef struct page_section {
    char *id, *heading;
    xb_draft *body;
    xb_draft *findings; /* lines for the list at the top */
} page_section;

struct xb_page {
    char *title, *intro, *summary;
    xb_draft *headline; /* as HTML; NULL: no finding yet */
    page_section *section;
    int64_t n_sections, capacity;
    xb_draft *provenance;
    int figures;
    xb_ctx *ctx; /* keeps the first failure's message */
    xb_status status;
};

/* ---- creating */

static void section_free(page_section *s)
{
    xb_free(s->id);
    xb_free(s->heading);
    xb_draft_free(s->body);
    xb_draft_free(s->findings);
}

void xb_page_destroy(xb_page *page)
{
    if (!page) return;
    for (int64_t i = 0; i < page->n_sections; i++) section_free(&page->section[i]);
    xb_free(page->section);
    xb_draft_free(page->provenance);
    xb_draft_free(page->headline);
    xb_free(page->title);
    xb_free(page->intro);
    xb_free(page->summary);
    xb_ctx_destroy(page->ctx);
    xb_free(page);
}

static xb_status page_begin(xb_ctx *ctx, xb_page *page, const char *title,
                            const char *intro)
{
    page->title = xb_strdup(ctx, title);
    page->intro = xb_strdup(ctx, intro ? intro : "");
    page->summary = xb_strdup(ctx, "Contents");
    if (!page->title || !page->intro || !page->summary) return XB_E_MEMORY;
    page->provenance = xb_draft_open(ctx);
    if (!page->provenance) return XB_E_MEMORY;
    if (xb_ctx_create(&page->ctx) != XB_OK)
        return xb_fail(ctx, XB_E_MEMORY, "not enough memory for a page");
    return XB_OK;
}

xb_status xb_page_create(xb_ctx *ctx, xb_page **out, const char *title, const char *intro)
{
    xb_page *page = xb_new(ctx, 1, sizeof *page);
    if (!page) return XB_E_MEMORY;
    xb_status status = page_begin(ctx, page, title, intro);
    if (status != XB_OK) {
        xb_page_destroy(page);
        return status;
    }
    xb_page_provenance(page, "made by crossbayes", xb_version());
    if (*xb_ctx_origin(ctx)) xb_page_provenance(page, "command", xb_ctx_origin(ctx));
    *out = page;
    return XB_OK;
}

/* ---- adding */

static bool page_ok(xb_page *page, xb_status status)
{
    if (page->status == XB_OK) page->status = status;
    return page->status == XB_OK;
}

void xb_page_summary(xb_page *page, const char *heading)
{
    char *copy = xb_strdup(page->ctx, heading);
    if (!page_ok(page, copy ? XB_OK : XB_E_MEMORY)) {
        xb_free(copy);
        return;
    }
    xb_free(page->summary);
    page->summary = copy;
}

static xb_status check_id(xb_page *page, const char *id)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    if (!*id || strspn(id, letters) != strlen(id))
        return xb_fail(page->ctx, XB_E_ARGUMENT,
                       "a section's id is '%s', expected letters, digits and '-'", id);
    for (int64_t i = 0; i < page->n_sections; i++)
        if (strcmp(page->section[i].id, id) == 0)
            return xb_fail(page->ctx, XB_E_ARGUMENT, "two sections have the id '%s'", id);
    return XB_OK;
}

static xb_status section_add(xb_page *page, const char *id, const char *heading)
{
    XB_TRY(check_id(page, id));
    void *block = page->section;
    XB_TRY(xb_grow(page->ctx, &block, &page->capacity, page->n_sections + 1,
                   sizeof *page->section));
    page->section = block;
    page_section *s = &page->section[page->n_sections++];
    *s = (page_section){.id = xb_strdup(page->ctx, id),
                        .heading = xb_strdup(page->ctx, heading),
                        .body = xb_draft_open(page->ctx),
                        .findings = xb_draft_open(page->ctx)};
    bool good = s->id && s->heading && s->body && s->findings;
    return good ? XB_OK : XB_E_MEMORY;
}

void xb_page_section(xb_page *page, const char *id, const char *heading)
{
    if (page->status == XB_OK) page->status = section_add(page, id, heading);
}

/* The section that is being filled; NULL after a failure. */
static page_section *current(xb_page *page)
{
    if (page->status == XB_OK && page->n_sections == 0)
        page->status = xb_fail(page->ctx, XB_E_ARGUMENT, "the page has no section");
    return page->status == XB_OK ? &page->section[page->n_sections - 1] : NULL;
}

void xb_page_text(xb_page *page, const char *paragraph)
{
    page_section *s = current(page);
    if (s) xb_html_element(xb_draft_stream(s->body), "p", NULL, paragraph);
}

void xb_page_remark(xb_page *page, const char *text)
{
    page_section *s = current(page);
    if (s) xb_html_element(xb_draft_stream(s->findings), "p", "verdict", text);
}

void xb_page_command(xb_page *page, const char *command)
{
    page_section *s = current(page);
    if (s) xb_html_command(xb_draft_stream(s->body), command);
}

static void headline_write(xb_page *page, const xb_finding *f)
{
    xb_draft *draft = xb_draft_open(page->ctx);
    if (!page_ok(page, draft ? XB_OK : XB_E_MEMORY)) {
        xb_draft_free(draft);
        return;
    }
    xb_html_headline(xb_draft_stream(draft), f);
    xb_draft_free(page->headline);
    page->headline = draft;
}

void xb_page_headline(xb_page *page, const xb_finding *finding)
{
    if (finding->kind != XB_FINDING_NONE) headline_write(page, finding);
}

static void finding_add(xb_page *page, page_section *s, const xb_finding *f)
{
    if (f->kind == XB_FINDING_NONE) return;
    if (!page->headline) headline_write(page, f);
    xb_html_finding(xb_draft_stream(s->body), f);
    xb_html_finding(xb_draft_stream(s->findings), f);
}

void xb_page_finding(xb_page *page, const xb_finding *finding)
{
    page_section *s = current(page);
    if (s) finding_add(page, s, finding);
}

void xb_page_figure(xb_page *page, const xb_page_figure_info *figure)
{
    page_section *s = current(page);
    if (!s) return;
    char prefix[24];
    /* no section can have this id */
    snprintf(prefix, sizeof prefix, "f%d.", ++page->figures);
    FILE *out = xb_draft_stream(s->body);
    fputs("<figure>\n<p class=\"hint\">Scroll sideways to see the whole figure →</p>\n"
          "<div class=\"picture\" tabindex=\"0\">",
          out);
    page->status =
        xb_svg_embed(page->ctx, out, figure->svg, prefix, figure->alt ? figure->alt : "");
    fputs("</div>\n<figcaption>\n", out);
    xb_html_element(out, "p", NULL, figure->caption);
    finding_add(page, s, &figure->finding);
    xb_html_command(out, figure->command);
    fputs("</figcaption>\n</figure>\n", out);
}

void xb_page_rows(xb_page *page, const xb_page_rows_info *rows)
{
    page_section *s = current(page);
    if (s) xb_html_rows(xb_draft_stream(s->body), rows);
}

void xb_page_table(xb_page *page, const xb_table *table, const char *caption, bool folded)
{
    page_section *s = current(page);
    if (s) xb_html_table(xb_draft_stream(s->body), table, caption, folded);
}

void xb_page_provenance(xb_page *page, const char *name, const char *value)
{
    FILE *out = xb_draft_stream(page->provenance);
    xb_html_element(out, "dt", NULL, name);
    xb_html_element(out, "dd", NULL, value);
}

/* ---- checking */

static xb_status check_drafts(xb_ctx *ctx, const xb_page *page)
{
    const char *text;
    XB_TRY(xb_draft_text(ctx, page->provenance, &text));
    if (page->headline) XB_TRY(xb_draft_text(ctx, page->headline, &text));
    for (int64_t i = 0; i < page->n_sections; i++) {
        XB_TRY(xb_draft_text(ctx, page->section[i].body, &text));
        XB_TRY(xb_draft_text(ctx, page->section[i].findings, &text));
    }
    return XB_OK;
}

xb_status xb_page_check(xb_ctx *ctx, const xb_page *page)
{
    if (page->status != XB_OK)
        return xb_fail(ctx, page->status, "%s", xb_ctx_message(page->ctx));
    return check_drafts(ctx, page);
}

/* ---- writing */

/* The policy forbids scripts and loading anything, whatever the text contains. */
static void write_head(FILE *out, const xb_page *page)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; img-src data:\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
          "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
          "<link rel=\"icon\" href=\"data:,\"/>\n",
          out);
    xb_html_element(out, "title", NULL, page->title);
    fprintf(out, "<style>\n%s</style>\n</head>\n<body>\n<header>\n", xb_page_style);
    xb_html_element(out, "h1", NULL, page->title);
}

static xb_status draft_copy(xb_ctx *ctx, FILE *out, xb_draft *draft)
{
    const char *text;
    XB_TRY(xb_draft_text(ctx, draft, &text));
    fputs(text, out);
    return XB_OK;
}

static xb_status write_summary(FILE *out, xb_page *page)
{
    fputs("<nav>\n", out);
    xb_html_element(out, "h2", NULL, page->summary);
    fputs("<ul>\n", out);
    for (int64_t i = 0; i < page->n_sections; i++) {
        page_section *s = &page->section[i];
        fprintf(out, "<li><a href=\"#%s\">", s->id);
        xb_html_text(out, s->heading);
        fputs("</a>\n", out);
        XB_TRY(draft_copy(page->ctx, out, s->findings));
        fputs("</li>\n", out);
    }
    fputs("</ul>\n</nav>\n", out);
    return XB_OK;
}

static xb_status write_sections(FILE *out, xb_page *page)
{
    fputs("<main>\n", out);
    if (*page->intro) xb_html_element(out, "p", "intro", page->intro);
    for (int64_t i = 0; i < page->n_sections; i++) {
        page_section *s = &page->section[i];
        fprintf(out, "<section id=\"%s\">\n", s->id);
        xb_html_element(out, "h2", NULL, s->heading);
        XB_TRY(draft_copy(page->ctx, out, s->body));
        fputs("</section>\n", out);
    }
    fputs("</main>\n<footer>\n<dl>\n", out);
    XB_TRY(draft_copy(page->ctx, out, page->provenance));
    fputs("</dl>\n</footer>\n</body>\n</html>\n", out);
    return XB_OK;
}

static xb_status write_page(FILE *out, xb_page *page)
{
    write_head(out, page);
    if (page->headline) XB_TRY(draft_copy(page->ctx, out, page->headline));
    fputs("</header>\n", out);
    XB_TRY(write_summary(out, page));
    return write_sections(out, page);
}

xb_status xb_page_write(xb_ctx *ctx, xb_page *page, const char *path)
{
    xb_outfile *f = NULL;
    XB_TRY(xb_page_check(ctx, page));
    XB_TRY(xb_outfile_open(ctx, &f, path));
    xb_status status = write_page(xb_outfile_stream(f), page);
    if (status == XB_OK) return xb_outfile_commit(ctx, f);
    xb_outfile_discard(f);
    return xb_fail(ctx, status, "%s", xb_ctx_message(page->ctx));
}
