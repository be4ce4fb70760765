/* page_html.c: the pieces of a page as HTML that is well-formed XML too: text, badges,
 * verdicts, commands and tables. Nothing but writing to the stream can fail. */
#include <math.h>
#include <string.h>

#include "crossbayes/extend.h"
#include "report/page.h"

/* ---- text */

static const char *entity(char c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return NULL;
    }
}

/* A number stays on one line with its error: there is U+00A0 (no-break space) on both
 * sides of the sign, and U+2060 (word joiner) in "(3.1 ± 1.2)e-05". */
void xb_html_text(FILE *out, const char *text)
{
    static const char *const kept[][2] = {{" ± ", "\u00A0±\u00A0"}, {")e-", ")e-\u2060"}};
    while (*text) {
        size_t skipped = 0;
        for (int i = 0; i < XB_COUNT(kept) && skipped == 0; i++)
            if (strncmp(text, kept[i][0], strlen(kept[i][0])) == 0) {
                fputs(kept[i][1], out);
                skipped = strlen(kept[i][0]);
            }
        text += skipped;
        if (skipped) continue;
        int64_t size = xb_utf8_size(text);
        const char *name = entity(*text);
        if (size == 0)
            fputs("\xEF\xBF\xBD", out); /* U+FFFD */
        else if (name)
            fputs(name, out);
        else if ((unsigned char)*text < ' ' || *text == 0x7F)
            fputc(' ', out);
        else
            fwrite(text, 1, (size_t)size, out);
        text += size ? size : 1;
    }
}

void xb_html_element(FILE *out, const char *tag, const char *class, const char *text)
{
    if (!text) return;
    fprintf(out, "<%s", tag);
    if (class) fprintf(out, " class=\"%s\"", class);
    fputc('>', out);
    xb_html_text(out, text);
    fprintf(out, "</%s>\n", tag);
}

void xb_html_command(FILE *out, const char *command)
{
    if (!command) return;
    fputs("<pre class=\"command\" tabindex=\"0\"><code>", out);
    xb_html_text(out, command);
    fputs("</code></pre>\n", out);
}

/* ---- verdicts */

static const struct {
    const char *class, *word;
} verdicts[] = {
    [XB_FINDING_NONE] = {"", ""},
    [XB_FINDING_AGREES] = {"agree", "agrees"},
    [XB_FINDING_DIFFERS] = {"differs", "differs"},
    [XB_FINDING_UNCLEAR] = {"unclear", "cannot tell"},
};

/* If `word` is NULL, the standard word is used. */
static void write_badge(FILE *out, xb_finding_kind kind, const char *word)
{
    fprintf(out, "<span class=\"badge %s\">", verdicts[kind].class);
    xb_html_text(out, word ? word : verdicts[kind].word);
    fputs("</span>", out);
}

void xb_html_finding(FILE *out, const xb_finding *v)
{
    if (v->kind == XB_FINDING_NONE) return;
    fprintf(out, "<p class=\"verdict %s\">", verdicts[v->kind].class);
    write_badge(out, v->kind, v->word);
    fputc(' ', out);
    xb_html_text(out, v->text ? v->text : "");
    fputs("</p>\n", out);
}

/* ---- the headline */

/* Returns the length of a remark in brackets that starts here; 0: there is none. "(3.1 ±
 * 1.2)e-05" is a number with its error, not a remark. */
static size_t remark_size(const char *text)
{
    size_t size = strcspn(text, ")");
    if (strncmp(text, " (", 2) != 0 || !text[size]) return 0;
    return text[size + 1] == 'e' ? 0 : size + 1;
}

static bool ends_clause(const char *text)
{
    return (*text == '.' || *text == ';') && (text[1] == ' ' || text[1] == '\0');
}

void xb_headline_text(char *out, size_t size, const char *text)
{
    size_t used = 0;
    bool number = false;
    for (const char *p = text; *p && used + 2 < size;) {
        size_t remark = remark_size(p);
        p += remark;
        if (remark) continue;
        if (ends_clause(p) && number) break;
        number = number || (*p >= '0' && *p <= '9');
        out[used++] = *p++;
    }
    while (used > 0 && strchr(" .;", out[used - 1])) used--;
    out[used++] = '.';
    out[used] = '\0';
}

void xb_html_headline(FILE *out, const xb_finding *f)
{
    char text[512];
    xb_headline_text(text, sizeof text, f->text ? f->text : "");
    fprintf(out, "<p class=\"headline %s\">", verdicts[f->kind].class);
    write_badge(out, f->kind, f->word);
    fputc(' ', out);
    xb_html_text(out, text);
    fputs("</p>\n", out);
}

/* ---- tables */

/* Long tables are folded; wide ones scroll in their own box. */
static void table_begin(FILE *out, const char *caption, bool folded)
{
    if (folded) {
        fputs("<details>", out);
        xb_html_element(out, "summary", NULL, caption ? caption : "table");
    }
    fputs("<div class=\"wide\" tabindex=\"0\"><table>\n", out);
    if (!folded) xb_html_element(out, "caption", NULL, caption);
    fputs("<thead><tr>", out);
}

static void table_end(FILE *out, bool folded)
{
    fprintf(out, "</tbody></table></div>%s\n", folded ? "</details>" : "");
}

static void heading_end(FILE *out) { fputs("</tr></thead>\n<tbody>\n", out); }

static void heading_cell(FILE *out, const char *text)
{
    fputs("<th scope=\"col\">", out);
    xb_html_text(out, text);
    fputs("</th>", out);
}

static void cell(FILE *out, const char *class, const char *text)
{
    fprintf(out, *class ? "<td class=\"%s\">" : "<td>", class);
    xb_html_text(out, text);
    fputs("</td>", out);
}

/* Numbers are aligned to the right. */
static bool is_number(const char *text)
{
    return *text && strspn(text, "0123456789.+-e ±()") == strlen(text);
}

static void text_row(FILE *out, const xb_page_rows_info *rows, int64_t r)
{
    fputs(rows->finding ? "<tr class=\"judged\">" : "<tr>", out);
    for (int c = 0; c < rows->columns; c++) {
        const char *text = rows->cell[r * rows->columns + c];
        cell(out, text && is_number(text) ? "number" : "", text ? text : "");
    }
    if (rows->finding) {
        fputs("<td>", out);
        if (rows->finding[r] != XB_FINDING_NONE) write_badge(out, rows->finding[r], NULL);
        fputs("</td>", out);
    }
    fputs("</tr>\n", out);
}

void xb_html_rows(FILE *out, const xb_page_rows_info *rows)
{
    table_begin(out, rows->caption, rows->folded);
    for (int c = 0; c < rows->columns; c++) heading_cell(out, rows->heading[c]);
    if (rows->finding) heading_cell(out, "finding");
    heading_end(out);
    for (int64_t r = 0; r < rows->rows; r++) text_row(out, rows, r);
    table_end(out, rows->folded);
}

/* ---- tables of numbers */

/* Whether column c + 1 is the error of column c. */
static bool has_error(const xb_table *t, int c)
{
    static const char tail[] = "_error";
    if (c + 1 >= xb_table_column_count(t)) return false;
    const char *name = xb_table_column_name(t, c), *next = xb_table_column_name(t, c + 1);
    size_t size = strlen(name);
    return strncmp(name, next, size) == 0 && strcmp(next + size, tail) == 0;
}

static void number_text(char *out, size_t size, double value, double error)
{
    if (isnan(value))
        *out = '\0';
    else if (error > 0)
        xb_number_with_error(out, size, value, error);
    else
        snprintf(out, size, "%.4g", value == 0 ? 0 : value);
}

static void number_row(FILE *out, const xb_table *t, int64_t r)
{
    fputs("<tr>", out);
    for (int c = 0; c < xb_table_column_count(t); c++) {
        char text[64];
        bool pair = has_error(t, c);
        double error = pair ? xb_table_get(t, r, c + 1) : 0;
        number_text(text, sizeof text, xb_table_get(t, r, c), error);
        cell(out, "number", text);
        c += pair;
    }
    fputs("</tr>\n", out);
}

void xb_html_table(FILE *out, const xb_table *t, const char *caption, bool folded)
{
    table_begin(out, caption, folded);
    for (int c = 0; c < xb_table_column_count(t); c++) {
        heading_cell(out, xb_table_column_name(t, c));
        c += has_error(t, c);
    }
    heading_end(out);
    for (int64_t r = 0; r < xb_table_row_count(t); r++) number_row(out, t, r);
    table_end(out, folded);
}
