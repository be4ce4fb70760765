/* page.h: the parts a page is written with; the page itself is in crossbayes/report.h. */
#ifndef XB_REPORT_PAGE_H
#define XB_REPORT_PAGE_H

#include <stdio.h>

#include "crossbayes/extend.h"
#include "crossbayes/report.h"

/* page_html.c: writes text for element contents and quoted attributes alike: the five
 * special characters become entities, control characters become blanks, and bytes that
 * are not UTF-8 become U+FFFD. */
void xb_html_text(FILE *out, const char *text);
void xb_html_element(FILE *out, const char *tag, const char *class, const char *text);
void xb_html_finding(FILE *out, const xb_finding *finding);
/* The first clause of a text that has a number, without remarks in brackets: up to the
 * first ". " or "; " after a digit, or all of it. Ends with a full stop. */
void xb_headline_text(char *out, size_t size, const char *text);
void xb_html_headline(FILE *out, const xb_finding *finding);
void xb_html_command(FILE *out, const char *command);
void xb_html_rows(FILE *out, const xb_page_rows_info *rows);
void xb_html_table(FILE *out, const xb_table *table, const char *caption, bool folded);

/* page.c: adds a line that is not a verdict for this section to the list at the top. */
void xb_page_remark(xb_page *page, const char *text);

/* page_svg.c: copies the picture of an SVG file into a page as an element. Every id in
 * it, and every reference to one, gets `prefix`. */
xb_status xb_svg_embed(xb_ctx *ctx, FILE *out, const char *path, const char *prefix,
                       const char *alt);

/* page_style.c: the style sheet. */
extern const char xb_page_style[];

#endif
