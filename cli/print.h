/* print.h: numbers for people and numbers for programs. */
#ifndef XB_CLI_PRINT_H
#define XB_CLI_PRINT_H

#include <jansson.h>

#include "session.h"

/* "0.5012 ± 0.0047", both to the place of the error's second digit; without an
 * error (NAN, or not positive) the value alone with six digits. */
void cli_format_error(char *out, size_t size, double value, double error);

/* The value with `digits` significant ones; "none" for NAN. */
void cli_format_value(char *out, size_t size, double value, int digits);

/* A p-value: "0.43", "0.0021", "< 0.001"; "-" for NAN. */
void cli_format_p(char *out, size_t size, double p);

/* "  name            value unit". */
void cli_print_fact(const char *name, double value, int digits, const char *unit);

/* Words broken into lines of at most 78 columns, all indented but the first when
 * the cursor is there already. */
void cli_print_words(const char *text, int indent, bool there);

/* A name that came out of a file, for a line that people read: cut where it is long,
 * blanks for what would move a terminal's cursor. Returns out. */
enum { CLI_SHOWN = 200 };
const char *cli_shown(char out[CLI_SHOWN], const char *name);

/* A text; a file's name that is not UTF-8 has '?' for each byte beyond ASCII. */
json_t *cli_json_text(const char *text);

/* A number, or null for NAN and infinities. */
json_t *cli_json_real(double value);

/* Prints the object on stdout and gives it up. */
cli_exit cli_json_print(cli_session *s, json_t *root);

#endif
