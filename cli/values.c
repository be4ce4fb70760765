/* values.c: numbers, counts, choices and lists from option texts. */
#include "values.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool cli_read_leading_number(double *out, const char *word)
{
    char *end = NULL;
    *out = strtod(word, &end);
    return end != word && isfinite(*out);
}

/* A whole text that is one finite number. */
static bool read_number(double *out, const char *text, size_t length)
{
    char copy[64], *end = NULL;
    if (length == 0 || length >= sizeof copy) return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    *out = strtod(copy, &end);
    return end == copy + length && isfinite(*out) && copy[0] != ' ';
}

static bool number_value(cli_value *slot, const cli_option *option, char *why,
                         size_t size)
{
    const double boundless = 1e100; /* limits beyond it are not worth telling */
    if (!read_number(&slot->number, slot->text, strlen(slot->text))) {
        char range[64] = "";
        if (option->min > -boundless && option->max < boundless)
            snprintf(range, sizeof range, ", expected %g to %g", option->min,
                     option->max);
        snprintf(why, size, "'%.60s' is not a number%s", slot->text, range);
        return false;
    }
    if (slot->number >= option->min && slot->number <= option->max) return true;
    if (option->max >= 1e300 && option->min > 0)
        snprintf(why, size, "%g is out of range, expected a number above 0",
                 slot->number);
    else
        snprintf(why, size, "%g is out of range, expected %g to %g", slot->number,
                 option->min, option->max);
    return false;
}

/* Digits exactly; 1e6 and 2.5e3 when they are whole and below 2^53. */
static bool read_count(uint64_t *out, const char *text)
{
    if (strspn(text, "0123456789") == strlen(text) && *text) {
        errno = 0;
        *out = strtoull(text, NULL, 10);
        return errno == 0;
    }
    double number;
    if (!read_number(&number, text, strlen(text))) return false;
    if (!(number >= 0 && number < 0x1p53 && number == floor(number))) return false;
    *out = (uint64_t)number;
    return true;
}

/* The largest whole number that an option takes: a limit beyond the whole numbers of a
 * double means the largest signed integer, which every file can hold. */
static uint64_t count_most(const cli_option *option)
{
    return option->max >= 0x1p63 ? INT64_MAX : (uint64_t)option->max;
}

/* Writes "0 to 1e+09", with all digits if the short form would be imprecise. */
static void range_text(char *out, size_t size, const cli_option *option)
{
    char most[32];
    snprintf(most, sizeof most, "%g", option->max);
    if (strtod(most, NULL) != (double)count_most(option) || option->max >= 0x1p63)
        snprintf(most, sizeof most, "%llu", (unsigned long long)count_most(option));
    snprintf(out, size, "%g to %s", option->min, most);
}

/* Whether the text is a whole number at all, of any sign and size. */
static bool is_whole(const char *text)
{
    double number;
    return read_number(&number, text, strlen(text)) && number == floor(number);
}

static bool count_value(cli_value *slot, const cli_option *option, char *why, size_t size)
{
    char range[64];
    const bool read = read_count(&slot->count, slot->text);
    if (read && (double)slot->count >= option->min && slot->count <= count_most(option))
        return true;
    range_text(range, sizeof range, option);
    if (read || is_whole(slot->text))
        snprintf(why, size, "%.60s is out of range, expected %s", slot->text, range);
    else
        snprintf(why, size, "'%.60s' is not a whole number, expected %s", slot->text,
                 range);
    return false;
}

bool cli_has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *p = list;; p++) {
        size_t here = strcspn(p, ",|");
        if (here == length && memcmp(p, word, length) == 0) return true;
        p += here;
        if (!*p) return false;
    }
}

/* "'pgn' is not one of svg,png,pdf, did you mean 'png'?" */
static void say_choices(char *why, size_t size, const char *word, const char *list)
{
    enum { WORDS_MAX = 32 };
    const char *names[WORDS_MAX];
    char suggestion[CLI_SUGGESTION];
    int count = 0;
    char *copy = strdup(list);
    for (char *one = copy; one && count < WORDS_MAX;) {
        char *end = one + strcspn(one, ",|");
        names[count++] = one;
        one = *end ? end + 1 : NULL;
        *end = '\0';
    }
    cli_suggest(suggestion, word, names, count);
    snprintf(why, size, "'%.60s' is not one of %s%s", word, list, suggestion);
    free(copy);
}

/* Each word of the value (separated by commas) must be in the option's list. */
static bool choice_value(cli_value *slot, const cli_option *option, char *why,
                         size_t size)
{
    const char *p = slot->text;
    for (;; p++) {
        size_t length = option->kind == CLI_CHOICES ? strcspn(p, ",") : strlen(p);
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), p);
        if (!*word || !cli_has_word(option->value, word)) {
            say_choices(why, size, word, option->value);
            return false;
        }
        p += length;
        if (!*p) return true;
    }
}

static bool read_item(cli_item *item, const char *text, size_t length, cli_kind kind)
{
    *item = (cli_item){0};
    if (kind == CLI_MASSES && length > 2 && strncmp(text, "1-", 2) == 0) {
        item->from_one = true;
        text += 2, length -= 2;
    }
    if (!read_number(&item->value, text, length)) return false;
    return kind != CLI_MASSES || (item->value >= 0 && item->value <= 1);
}

static bool list_value(cli_value *slot, const cli_option *option, char *why, size_t size)
{
    int count = 1;
    for (const char *p = slot->text; *p; p++) count += *p == ',';
    slot->items = calloc((size_t)count, sizeof *slot->items);
    if (!slot->items) {
        snprintf(why, size, "not enough memory");
        return false;
    }
    const char *p = slot->text;
    for (int i = 0; i < count; i++) {
        size_t length = strcspn(p, ",");
        if (!read_item(&slot->items[i], p, length, option->kind)) {
            snprintf(why, size, "'%.*s' is not a %s", (int)(length < 60 ? length : 60), p,
                     option->kind == CLI_MASSES ? "probability (0 to 1, or 1-1e-20)"
                                                : "number");
            return false;
        }
        p += length + 1;
    }
    slot->n_items = count;
    return true;
}

bool cli_value_read(cli_value *slot, const cli_option *option, char *why, size_t size)
{
    switch (option->kind) {
    case CLI_NUMBER: return number_value(slot, option, why, size);
    case CLI_COUNT: return count_value(slot, option, why, size);
    case CLI_CHOICE:
    case CLI_CHOICES: return choice_value(slot, option, why, size);
    case CLI_NUMBERS:
    case CLI_MASSES: return list_value(slot, option, why, size);
    case CLI_TEXT:
    case CLI_TEXTS:
    case CLI_PATH:
    case CLI_OUTPUT:
        if (option->kind == CLI_TEXTS) slot->texts[slot->n_texts++] = slot->text;
        if (*slot->text) return true;
        snprintf(why, size, "the value is empty");
        return false;
    case CLI_FLAG: break;
    }
    return true;
}
