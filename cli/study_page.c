/* study_page.c: the page of one study, see study_words.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"
#include "show.h"
#include "study_words.h"

enum { FACT_TEXT = 64, COLUMNS = 2 };

static xb_status add_figure(xb_page *page, const cli_study_figure *f,
                            const xb_study *study, const char *dir)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", f->study, f->part);
    char *svg = cli_join(dir, name, ".svg");
    char *caption = cli_study_caption(f->caption, study);
    xb_status status = svg && caption ? XB_OK : XB_E_MEMORY;
    if (status == XB_OK)
        xb_page_figure(
            page, &(xb_page_figure_info){.svg = svg, .alt = f->alt, .caption = caption});
    free(svg);
    free(caption);
    return status;
}

static xb_status add_figures(xb_page *page, const xb_study *study, const char *dir)
{
    xb_page_section(page, "figures", "Figures");
    for (int i = 0; i < cli_study_figure_count(); i++) {
        const cli_study_figure *f = cli_study_figure_at(i);
        if (strcmp(f->study, xb_study_name(study)) != 0) continue;
        xb_status status = add_figure(page, f, study, dir);
        if (status != XB_OK) return status;
    }
    return XB_OK;
}

static xb_status add_facts(xb_page *page, const xb_study *study)
{
    static const char *const heading[COLUMNS] = {"number", "meaning"};
    int n = xb_study_fact_count(study);
    char(*number)[FACT_TEXT] = calloc((size_t)n + 1, sizeof *number);
    const char **cell = calloc((size_t)n * COLUMNS + 1, sizeof *cell);
    xb_status status = number && cell ? XB_OK : XB_E_MEMORY;
    for (int i = 0; i < n && status == XB_OK; i++) {
        xb_fact fact = xb_study_fact_at(study, i);
        cli_format_error(number[i], FACT_TEXT, fact.value, fact.std_error);
        cell[i * COLUMNS] = number[i];
        cell[i * COLUMNS + 1] = fact.text;
    }
    if (status == XB_OK) {
        xb_page_section(page, "numbers", "All numbers");
        xb_page_rows(page, &(xb_page_rows_info){.caption = "Facts of the study",
                                                .columns = COLUMNS,
                                                .heading = heading,
                                                .rows = n,
                                                .cell = cell,
                                                .folded = true});
    }
    free(number);
    free(cell);
    return status;
}

static const char *about(const char *name)
{
    for (int i = 0; i < xb_study_count(); i++)
        if (strcmp(xb_study_name_at(i), name) == 0) return xb_study_about_at(i);
    return "";
}

static xb_status fill(xb_page *page, const xb_study *study, const char *dir)
{
    xb_page_summary(page, "What was found");
    xb_page_section(page, "findings", "Findings");
    for (int i = 0; i < xb_study_finding_count(study); i++) {
        xb_finding f = xb_study_finding_at(study, i);
        xb_page_finding(page, &f);
    }
    xb_status status = add_figures(page, study, dir);
    return status == XB_OK ? add_facts(page, study) : status;
}

xb_status cli_study_page(xb_ctx *ctx, const xb_study *study, const char *dir)
{
    const char *name = xb_study_name(study);
    char title[256];
    snprintf(title, sizeof title, "%s: %s", name, about(name));
    xb_page *page = NULL;
    xb_status status =
        xb_page_create(ctx, &page, title,
                       "A number after ± is one standard error; the verdict is computed"
                       " from the numbers and their errors.");
    if (status != XB_OK) return status;
    char *path = cli_join(dir, name, ".html");
    status = path ? fill(page, study, dir) : XB_E_MEMORY;
    if (status == XB_OK) status = xb_page_write(ctx, page, path);
    xb_page_destroy(page);
    free(path);
    return status;
}
