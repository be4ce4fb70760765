/* values.h: parses the text after an option according to the option's kind. */
#ifndef XB_CLI_VALUES_H
#define XB_CLI_VALUES_H

#include "options.h"

/* Reads slot->text as the option's kind. On failure writes the reason to `why` and
 * returns false. */
bool cli_value_read(cli_value *slot, const cli_option *option, char *why, size_t size);

/* Whether the word starts with a number, as "-0.5,0" does. */
bool cli_read_leading_number(double *out, const char *word);

#endif
