/* number.h: decimal text to double and back, the same in every locale. */
#ifndef XB_DATA_NUMBER_H
#define XB_DATA_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* The number that fills [text, end) from first to last byte: digits with an
 * optional sign, `point` ('.' or ',') and exponent; "5.", ".5" and "+1E-3" are
 * numbers. True with *out the nearest double (ties to even, infinite beyond the range),
 * or false with *out unchanged. Never reads at or past `end`. */
bool xb_number_parse(double *out, const char *text, const char *end, char point);

/* The number at the start of `text`, the same double as above, and where it ends; NULL if
 * there is none or it is unusual (more than 19 digits, a huge exponent): use
 * xb_number_parse for it. Reads up to XB_NUMBER_PAD bytes past the number. */
enum { XB_NUMBER_PAD = 8 };
const char *xb_number_scan(double *out, const char *text, char point);

/* Reads the numbers of n successive fields from `text` on, which end at text + mark[i]
 * with one byte between them, a newline possibly with a '\r' before it. It is quickest if
 * they have one digit before the point. Returns the number of fields before the first one
 * that is not finite, not a number, or unusual. Reads up to XB_NUMBER_BEFORE bytes before
 * `text` and XB_NUMBER_PAD past the last field. */
enum { XB_NUMBER_BEFORE = 24 };
int64_t xb_number_fields(double *out, const char *text, const uint32_t *mark, int64_t n,
                         char point);
/* The same without vector instructions, for machines that lack them. */
int64_t xb_number_fields_plain(double *out, const char *text, const uint32_t *mark,
                               int64_t n, char point);

enum { XB_NUMBER_TEXT_MAX = 32 };

/* The value to 1 <= digits <= 17 significant digits, without trailing zeros; finite.
 * Returns the length. */
int xb_number_digits(char out[XB_NUMBER_TEXT_MAX], double value, int digits);

/* The fewest of 15, 16 or 17 digits that read back as the same double, without
 * trailing zeros; "nan", "inf" and "-inf" for those. Returns the length. */
int xb_number_format(char out[XB_NUMBER_TEXT_MAX], double value);

#endif
