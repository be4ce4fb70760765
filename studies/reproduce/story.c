/* story.c: the page: for each figure of the paper what it is about, our figure with the
 * command that makes it, and a table of claims: what the paper says, what we find,
 * whether that agrees, and why. This file has only words and order; every number comes
 * from the judgements. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/draft.h"
#include "report/page.h"
#include "reproduce/reproduction.h"

enum { COLUMNS = 3, CELL_TEXT = 512, CLAIMS_MOST = 16 };

/* "3 of 5 claims of the paper agree; ..." */
static void tally_text(char *out, size_t size, const xb_reproduction *r)
{
    int agree = xb_reproduction_tally(r, 0, XB_FINDING_AGREES);
    int differ = xb_reproduction_tally(r, 0, XB_FINDING_DIFFERS);
    int unclear = xb_reproduction_tally(r, 0, XB_FINDING_UNCLEAR);
    const int claims = agree + differ + unclear;
    snprintf(
        out, size,
        "%d of %d %s of the paper %s with our numbers; %d %s, and %d cannot be decided.",
        agree, claims, xb_plural(claims, "claim", "claims"),
        xb_plural(agree, "agrees", "agree"), differ,
        xb_plural(differ, "differs", "differ"), unclear);
}

/* " These differ: “A claim.” “Another.”" */
static void add_claims_of(FILE *out, const xb_reproduction *r, int figure,
                          xb_finding_kind finding, const char *one, const char *more)
{
    int count = xb_reproduction_tally(r, figure, finding);
    if (count == 0) return;
    fputs(count == 1 ? one : more, out);
    for (int i = 0; i < r->count; i++) {
        const xb_found *f = &r->found[i];
        if (f->kind->figure != figure || f->judgement.finding != finding) continue;
        fprintf(out, " “%s”", f->kind->claim);
    }
}

/* A summary of a figure's claims in one line. */
static void write_tally(FILE *out, const xb_reproduction *r, int figure)
{
    int agree = xb_reproduction_tally(r, figure, XB_FINDING_AGREES);
    int differ = xb_reproduction_tally(r, figure, XB_FINDING_DIFFERS);
    int unclear = xb_reproduction_tally(r, figure, XB_FINDING_UNCLEAR);
    const int claims = agree + differ + unclear;
    fprintf(out, "%d of %d %s %s.", agree, claims, xb_plural(claims, "claim", "claims"),
            xb_plural(agree, "agrees", "agree"));
    add_claims_of(out, r, figure, XB_FINDING_DIFFERS,
                  " This one differs:", " These differ:");
    add_claims_of(out, r, figure, XB_FINDING_UNCLEAR,
                  " This one cannot be decided:", " These cannot be decided:");
}

/* A figure differs if one of its claims does; it agrees if at least as many claims agree
 * as cannot be decided. */
static xb_finding overall(const xb_reproduction *r, int figure, const char *text)
{
    int agree = xb_reproduction_tally(r, figure, XB_FINDING_AGREES);
    int unclear = xb_reproduction_tally(r, figure, XB_FINDING_UNCLEAR);
    xb_finding_kind kind = unclear > agree ? XB_FINDING_UNCLEAR : XB_FINDING_AGREES;
    if (xb_reproduction_tally(r, figure, XB_FINDING_DIFFERS) > 0)
        kind = XB_FINDING_DIFFERS;
    bool part = agree > 0 && kind != XB_FINDING_AGREES;
    return (xb_finding){kind, part ? "agrees in part" : NULL, text};
}

static const char *number_of(const xb_reproduction *r, const char *id)
{
    for (int i = 0; i < r->count; i++)
        if (strcmp(r->found[i].kind->id, id) == 0) return r->found[i].judgement.number;
    return "";
}

/* ---- a figure */

static void add_picture(xb_page *page, const xb_reproduction *r, const char *dir,
                        int figure, const xb_picture *picture, const char *text)
{
    char svg[XB_REPRODUCE_PATH], caption[CELL_TEXT], command[XB_COMMAND_TEXT];
    snprintf(svg, sizeof svg, "%s/fig%d/%s%s.svg", dir, figure,
             xb_exhibit_at(figure)->study, picture->part);
    snprintf(caption, sizeof caption, "%s: %s.", picture->says,
             number_of(r, picture->by));
    xb_exhibit_command(command, figure, &r->opt);
    xb_page_figure_info info = {.svg = svg, .alt = picture->alt, .caption = caption};
    if (text) {
        info.command = command;
        info.finding = overall(r, figure, text);
    }
    xb_page_figure(page, &info);
}

/* The last picture has the figure's command and finding below it. */
static void add_pictures(xb_page *page, const xb_reproduction *r, const char *dir,
                         int figure, const char *text)
{
    const xb_exhibit *x = xb_exhibit_at(figure);
    for (int i = 0; i < XB_PICTURES_MAX && x->picture[i].part; i++) {
        bool last = i + 1 == XB_PICTURES_MAX || !x->picture[i + 1].part;
        add_picture(page, r, dir, figure, &x->picture[i], last ? text : NULL);
    }
}

static void add_claims(xb_page *page, const xb_reproduction *r, int figure)
{
    static const char *const heading[COLUMNS] = {"the paper", "our number", "why"};
    static const size_t SIZE = CELL_TEXT;
    char said[CLAIMS_MOST][CELL_TEXT];
    const char *cell[CLAIMS_MOST * COLUMNS];
    xb_finding_kind finding[CLAIMS_MOST];
    int rows = 0;
    for (int i = 0; i < r->count && rows < CLAIMS_MOST; i++) {
        const xb_found *f = &r->found[i];
        if (f->kind->figure != figure) continue;
        snprintf(said[rows], SIZE, "%s (%s)", f->kind->claim, f->kind->paper);
        cell[rows * COLUMNS] = said[rows];
        cell[rows * COLUMNS + 1] = f->judgement.number;
        cell[rows * COLUMNS + 2] = f->judgement.why;
        finding[rows++] = f->judgement.finding;
    }
    const xb_page_rows_info table = {.caption = "What the paper says, and what we find",
                                     .columns = COLUMNS,
                                     .heading = heading,
                                     .rows = rows,
                                     .cell = cell,
                                     .finding = finding};
    xb_page_rows(page, &table);
}

static xb_status add_made(xb_ctx *ctx, xb_page *page, const xb_reproduction *r,
                          const char *dir, int figure)
{
    const char *text;
    xb_draft *draft = xb_draft_open(ctx);
    if (!draft) return XB_E_MEMORY;
    write_tally(xb_draft_stream(draft), r, figure);
    xb_status status = xb_draft_text(ctx, draft, &text);
    if (status == XB_OK) {
        add_pictures(page, r, dir, figure, text);
        add_claims(page, r, figure);
    }
    xb_draft_free(draft);
    return status;
}

static xb_status add_figure(xb_ctx *ctx, xb_page *page, const xb_reproduction *r,
                            const char *dir, int figure)
{
    const xb_exhibit *x = xb_exhibit_at(figure);
    char id[16], command[XB_COMMAND_TEXT + 32];
    snprintf(id, sizeof id, "fig%d", figure);
    xb_page_section(page, id, x->heading);
    xb_page_text(page, x->about);
    if (r->state[figure] != XB_FIGURE_ABSENT) return add_made(ctx, page, r, dir, figure);
    xb_page_remark(page, "Not made yet.");
    xb_page_text(page, "Not made yet with these options.");
    snprintf(command, sizeof command, "%s --only %d", r->command, figure);
    xb_page_command(page, command);
    return XB_OK;
}

/* ---- the page */

static void add_reading(xb_page *page)
{
    xb_page_section(page, "reading", "How to read this");
    xb_page_text(
        page, "Each claim is the paper's, in our words, with the number that the paper "
              "reports or the place where it says so. \"Agrees\" means that our number "
              "lies on the claim's side by two standard errors or more, \"differs\" that "
              "it lies on the other side by as much, \"cannot tell\" that it lies in "
              "between or that the necessary data are not public. Where the paper has "
              "words and no number, the reason says how we read them.");
}

static void add_provenance(xb_page *page, const xb_reproduction *r)
{
    char seed[24], laws[CELL_TEXT];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)r->opt.seed);
    xb_page_provenance(page, "effort", xb_effort_name(r->opt.effort));
    xb_page_provenance(page, "seed", seed);
    snprintf(laws, sizeof laws, "%s; %s; gaussian; bimodal", xb_exhibit_at(1)->device,
             xb_exhibit_at(7)->device);
    xb_page_provenance(page, "laws", laws);
    xb_page_provenance(page, "faces",
                       r->opt.faces ? r->data
                                    : "synthetic (no folder of faces was given)");
}

static xb_status fill(xb_ctx *ctx, xb_page *page, const xb_reproduction *r,
                      const char *dir)
{
    char tally[CELL_TEXT];
    tally_text(tally, sizeof tally, r);
    const xb_finding whole = overall(r, 0, tally);
    xb_page_headline(page, &whole);
    xb_page_summary(page, "Figure by figure");
    for (int f = 1; f <= XB_PAPER_FIGURES; f++) XB_TRY(add_figure(ctx, page, r, dir, f));
    add_reading(page);
    add_provenance(page, r);
    return XB_OK;
}

xb_status xb_reproduction_page(xb_ctx *ctx, const xb_reproduction *r, const char *dir,
                               const char *path)
{
    char tally[CELL_TEXT], intro[2 * CELL_TEXT];
    tally_text(tally, sizeof tally, r);
    snprintf(intro, sizeof intro,
             "Patel, Xiao, Agarwal and Bennett, \"Analog Bayesian neural networks are "
             "insensitive to the shape of the weight distribution\" (2024), reproduced "
             "figure by figure. %s%s",
             tally,
             r->opt.effort == XB_EFFORT_QUICK
                 ? " This is the quick form, with few draws, few nets and one seed; some "
                   "claims need more to be decided."
                 : "");
    xb_page *page = NULL;
    XB_TRY(xb_page_create(ctx, &page, "The paper, reproduced", intro));
    xb_status status = fill(ctx, page, r, dir);
    if (status == XB_OK) status = xb_page_write(ctx, page, path);
    xb_page_destroy(page);
    return status;
}
