/* print.h: numbers for people and numbers for programs. */
#ifndef XB_CLI_PRINT_H
#define XB_CLI_PRINT_H

#include <jansson.h>

#include "crossbayes/crossbayes.h"
#include "session.h"

/* "0.5012 ± 0.0047", both to the place of the error's second digit; without an error
 * (NAN, or no more than rounding) the value alone, as cli_format_plain has it. Every
 * estimate that people read goes through here. */
void cli_format_error(char *out, size_t size, double value, double error);

/* A number without a known error: whole numbers with all digits, others with three;
 * "none" for NAN. */
void cli_format_plain(char *out, size_t size, double value);

/* The same with three digits for whole numbers too: 13100 for 13054. */
void cli_format_rounded(char *out, size_t size, double value);

/* The value with `digits` significant ones; "none" for NAN. */
void cli_format_value(char *out, size_t size, double value, int digits);

/* "116.08 to 139.37 µS", one prefix for both. */
void cli_format_range(char *out, size_t size, double low, double high, const char *unit);

/* A p-value: "0.43", "0.0021", "< 0.001"; "-" for NAN. */
void cli_format_p(char *out, size_t size, double p);

/* "  name            value unit"; estimates get the SI prefix that suits them. */
void cli_print_fact(const char *name, double value, int digits, const char *unit);
void cli_print_estimate(const char *name, double value, double error, const char *unit);

/* Columns on a screen: "±" is two bytes and one column. */
int cli_text_columns(const char *text);

/* Prints a table whose columns are as wide as their contents. `cell` writes one cell,
 * including those of the header; it is called twice for each cell. */
enum { CLI_GRID_COLUMNS = 24, CLI_GRID_CELL = 128 };
typedef void cli_cell_fn(const void *arg, int row, int column, char *out, size_t size);
void cli_print_grid(int rows, int columns, cli_cell_fn *cell, const void *arg);

/* Prints words in lines of at most 78 columns, all indented; a number stays in one line
 * with its error and unit. `there`: the cursor is at the indentation already. */
void cli_print_words(const char *text, int indent, bool there);

/* A name from a file, made safe to print: shortened if it is long, with blanks for
 * control characters. Returns out. */
enum { CLI_SHOWN = 200 };
const char *cli_shown(char out[CLI_SHOWN], const char *name);

/* Prints "file://" and the absolute path on a line, with special characters escaped. */
void cli_print_address(const char *path);

/* A text; a file's name that is not UTF-8 has '?' for each byte beyond ASCII. */
json_t *cli_json_text(const char *text);

/* A number, or null for NAN and infinities. */
json_t *cli_json_real(double value);
/* The verdict on reads as draws. */
json_t *cli_usable_json(const xb_draws_verdict *v);

/* Prints the object on stdout and releases it. */
cli_exit cli_json_print(cli_session *s, json_t *root);

/* A stream into memory, for the program's own texts. Closing it gives the whole text, to
 * be freed with free(); NULL: memory has run out. */
FILE *cli_memory_open(char **text);
char *cli_memory_close(FILE *memory, char *text);

/* Prints what `write` writes, or with --json {name_key: name, text_key: text}. */
typedef cli_exit cli_page_fn(cli_session *s, FILE *out, const char *name);
cli_exit cli_print_page(cli_session *s, const char *name_key, const char *name,
                        const char *text_key, cli_page_fn *write);

#endif
