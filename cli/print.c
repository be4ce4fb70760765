/* print.c: see print.h. */
#include "print.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"

void cli_format_value(char *out, size_t size, double value, int digits)
{
    if (isnan(value))
        snprintf(out, size, "none");
    else
        snprintf(out, size, "%.*g", digits, value == 0 ? 0 : value); /* no "-0" */
}

void cli_format_plain(char *out, size_t size, double value)
{
    xb_number_with_error(out, size, value, NAN);
}

void cli_format_rounded(char *out, size_t size, double value)
{
    enum { DIGITS = 3 };
    const double place = pow(10, floor(log10(fabs(value))) - (DIGITS - 1));
    cli_format_plain(out, size, place >= 1 ? round(value / place) * place : value);
}

void cli_format_error(char *out, size_t size, double value, double error)
{
    xb_number_with_error(out, size, value, error);
}

void cli_format_range(char *out, size_t size, double low, double high, const char *unit)
{
    xb_si_unit u = xb_si_unit_for(fmax(fabs(low), fabs(high)), unit);
    snprintf(out, size, "%.6g to %.6g%s%s", low / u.factor, high / u.factor,
             *u.text ? " " : "", u.text);
}

void cli_format_p(char *out, size_t size, double p)
{
    if (isnan(p))
        snprintf(out, size, "-");
    else if (p < 1e-3)
        snprintf(out, size, "< 0.001");
    else
        snprintf(out, size, "%.2g", p);
}

void cli_print_fact(const char *name, double value, int digits, const char *unit)
{
    char text[32];
    cli_format_value(text, sizeof text, value, digits);
    printf("  %-20s%s%s%s\n", name, text, *unit ? " " : "", unit);
}

void cli_print_estimate(const char *name, double value, double error, const char *unit)
{
    char text[96];
    xb_quantity_text(text, sizeof text, value, error, unit);
    printf("  %-20s%s\n", name, text);
}

static int columns_of(const char *text, int length)
{
    int columns = 0;
    for (int i = 0; i < length; i++) columns += ((unsigned char)text[i] & 0xC0) != 0x80;
    return columns;
}

int cli_text_columns(const char *text) { return columns_of(text, (int)strlen(text)); }

static void print_grid_row(int row, const int *width, int columns, cli_cell_fn *cell,
                           const void *arg)
{
    int owed = 2; /* blanks still to print, so that none end a line */
    for (int c = 0; c < columns; c++) {
        char text[CLI_GRID_CELL] = "";
        cell(arg, row, c, text, sizeof text);
        if (*text) {
            printf("%*s%s", owed, "", text);
            owed = 0;
        }
        owed += width[c] - cli_text_columns(text) + 2;
    }
    putchar('\n');
}

void cli_print_grid(int rows, int columns, cli_cell_fn *cell, const void *arg)
{
    int width[CLI_GRID_COLUMNS] = {0};
    assert(columns <= CLI_GRID_COLUMNS);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++) {
            char text[CLI_GRID_CELL] = "";
            cell(arg, r, c, text, sizeof text);
            int wide = cli_text_columns(text);
            if (wide > width[c]) width[c] = wide;
        }
    for (int r = 0; r < rows; r++) print_grid_row(r, width, columns, cell, arg);
}

/* Whether the word begins with one of the signs that belong to the words beside them. */
static bool is_sign(const char *word)
{
    static const char *const signs[] = {"±", "=", "<", "%"};
    for (int i = 0; i < CLI_COUNT_OF(signs); i++)
        if (strncmp(word, signs[i], strlen(signs[i])) == 0) return true;
    return false;
}

/* Whether the word is a unit, which stays with its number: "µS.", "ms", "nats)". */
static bool is_unit(const char *word)
{
    char unit[16];
    snprintf(unit, sizeof unit, "%.*s", (int)strcspn(word, " .,;:()"), word);
    return strcmp(unit, "nats") == 0 || (*unit && xb_si_takes_prefix(unit));
}

/* Bytes of the words that stay together in a line: "-0.6 ± 2.0 µS", "p = 0.3", "95 %". */
static int length_together(const char *p)
{
    int length = (int)strcspn(p, " ");
    for (const char *word = p;;) {
        const char *next = p + length + strspn(p + length, " ");
        const bool number = length > 0 && strchr("0123456789", p[length - 1]);
        if (!*next || !(is_sign(word) || is_sign(next) || (number && is_unit(next))))
            return length;
        word = next;
        length = (int)(next - p) + (int)strcspn(next, " ");
    }
}

void cli_print_words(const char *text, int indent, bool there)
{
    const int width = 78;
    int column = there ? indent : 0;
    bool first = true; /* the first word of its line */
    for (const char *p = text; *p;) {
        const int length = length_together(p), columns = columns_of(p, length);
        if (!first && column + 1 + columns > width) {
            putchar('\n');
            column = 0;
            first = true;
        }
        if (column == 0) column += printf("%*s", indent, "");
        printf("%s%.*s", first ? "" : " ", length, p);
        column += columns + !first;
        first = false;
        p += length;
        p += strspn(p, " ");
    }
    putchar('\n');
}

const char *cli_shown(char out[CLI_SHOWN], const char *name)
{
    snprintf(out, CLI_SHOWN, "%s", name);
    cli_blank_controls(out);
    return out;
}

void cli_print_address(const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-._~/";
    char whole[XB_OS_PATH_MAX]; /* allocates nothing, so that it is printed even if memory
                                   has run out */
    fputs("file://", stdout);
    for (const char *p = xb_os_full_path(whole, path) ? whole : path; *p; p++)
        printf(strchr(plain, *p) ? "%c" : "%%%02X", (unsigned char)*p);
    putchar('\n');
}

json_t *cli_json_text(const char *text)
{
    json_t *whole = json_string(text);
    char *plain = whole ? NULL : strdup(text);
    if (!plain) return whole;
    for (char *p = plain; *p; p++)
        if ((unsigned char)*p >= 0x80) *p = '?';
    json_t *out = json_string(plain);
    free(plain);
    return out;
}

json_t *cli_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

cli_exit cli_json_print(cli_session *s, json_t *root)
{
    char *text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(root);
    if (!text) return cli_fail(s, CLI_FAILED, "not enough memory for the JSON text");
    puts(text);
    free(text);
    return CLI_DONE;
}

enum { MEMORY_TEXT = 1 << 18 }; /* the longest, for zsh, has 16 kB */

/* Not open_memstream(), which silently loses text if memory runs out. */
FILE *cli_memory_open(char **text)
{
    *text = malloc(MEMORY_TEXT);
    FILE *memory = *text ? xb_os_room_open(*text, MEMORY_TEXT) : NULL;
    if (memory) return memory;
    free(*text);
    *text = NULL;
    return NULL;
}

char *cli_memory_close(FILE *memory, char *text)
{
    if (xb_os_room_close(memory, text, MEMORY_TEXT)) return text;
    free(text);
    return NULL;
}

cli_exit cli_print_page(cli_session *s, const char *name_key, const char *name,
                        const char *text_key, cli_page_fn *write)
{
    if (!cli_json(s)) return write(s, stdout, name);
    char *text = NULL;
    FILE *memory = cli_memory_open(&text);
    if (!memory) return cli_fail(s, CLI_FAILED, "not enough memory");
    cli_exit code = write(s, memory, name);
    text = cli_memory_close(memory, text);
    if (code == CLI_DONE && !text) code = cli_fail(s, CLI_FAILED, "not enough memory");
    if (code == CLI_DONE)
        code = cli_json_print(s, json_pack("{s:s, s:s}", name_key, name, text_key, text));
    free(text);
    return code;
}

json_t *cli_usable_json(const xb_draws_verdict *v)
{
    return json_pack("{s:s,s:o,s:I,s:o,s:o,s:s}", "verdict", xb_usable_name(v->usable),
                     "read_interval_s", cli_json_real(v->read_interval), "reads",
                     (json_int_t)v->reads, "independent", cli_json_real(v->independent),
                     "usable_from_s", cli_json_real(v->usable_from), "text", v->text);
}
