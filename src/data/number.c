/* number.c: decimal text to the nearest double, and back.
 *
 * Reading tries three ways, each exact for what it takes:
 *   a mantissa up to 2^53 and a power up to 10^22: both are doubles, so one
 *     multiplication or division rounds once (Clinger 1990);
 *   up to 19 digits and a power up to 10^27: 64 by 64 bit integers, since
 *     10^k = 2^k 5^k and 5^27 < 2^64; what a 128 bit product or a remainder
 *     leaves over goes into a sticky bit, and the conversion rounds once;
 *   anything else: strtod on a text rewritten without a decimal point, which
 *     is the only part of a number that a locale can change.
 * Error: none, every result is the correctly rounded one (the tests compare
 * 1e5 random texts with strtod bit by bit). Cost: 5 to 25 ns, 200 ns the last. */
#include "data/number.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(FLT_EVAL_METHOD == 0, "one rounding per operation");

enum {
    DIGITS_64_BITS = 19, /* any 19 digits fit in 64 bits */
    CLINGER_POWER = 22,  /* 10^22 = 2^22 5^22, 5^22 < 2^53 */
    FIVE_POWER = 27,
    DIGITS_DECIDE = 780,     /* 767 digits and a sticky one fix the rounding */
    EXPONENT_LIMIT = 100000, /* beyond it all is 0 or infinite, given those */
};

static const double power_of_ten[CLINGER_POWER + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* clang-format off */
static const uint64_t power_of_five[FIVE_POWER + 1] = {
    1, 5, 25, 125, 625, 3125, 15625, 78125, 390625, 1953125, 9765625, 48828125,
    244140625, 1220703125, 6103515625, 30517578125, 152587890625, 762939453125,
    3814697265625, 19073486328125, 95367431640625, 476837158203125, 2384185791015625,
    11920928955078125, 59604644775390625, 298023223876953125, 1490116119384765625,
    7450580596923828125};
/* clang-format on */

/* A number as it stands: digits[.digits], exponent apart. */
typedef struct decimal {
    const char *first, *last; /* the digits, with the point among them */
    uint64_t mantissa;        /* of all digits, modulo 2^64 */
    int64_t digits;
    int64_t exponent; /* value = digits x 10^exponent */
    bool negative;
} decimal;

static bool is_digit(char c) { return (unsigned char)(c - '0') < 10; }

static const char *read_digits(uint64_t *mantissa, const char *p, const char *end)
{
    uint64_t m = *mantissa;
    for (; p < end && is_digit(*p); p++) m = 10 * m + (uint64_t)(*p - '0');
    *mantissa = m;
    return p;
}

/* After the 'e'. NULL if there is no digit. */
static const char *read_exponent(int64_t *exponent, const char *p, const char *end)
{
    const int64_t plenty = INT64_C(1) << 40; /* more than any line has digits */
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (p == end || !is_digit(*p)) return NULL;
    int64_t e = 0;
    for (; p < end && is_digit(*p); p++)
        if (e < plenty) e = 10 * e + (*p - '0');
    *exponent = negative ? -e : e;
    return p;
}

static bool read_decimal(decimal *d, const char *p, const char *end, char point)
{
    d->negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    d->first = p;
    d->mantissa = 0;
    p = read_digits(&d->mantissa, p, end);
    d->digits = p - d->first;
    int64_t fraction = 0;
    if (p < end && *p == point) {
        const char *from = ++p;
        p = read_digits(&d->mantissa, p, end);
        fraction = p - from;
    }
    d->last = p;
    d->digits += fraction;
    if (d->digits == 0) return false;
    int64_t exponent = 0;
    if (p < end && (*p == 'e' || *p == 'E')) p = read_exponent(&exponent, p + 1, end);
    d->exponent = exponent - fraction;
    return p == end;
}

/* Digits from the first that is not 0. */
static int64_t significant_digits(const decimal *d)
{
    int64_t n = d->digits;
    for (const char *p = d->first; p < d->last && !(*p >= '1' && *p <= '9'); p++)
        n -= *p == '0';
    return n;
}

static double power_of_two(int e) /* -1022 <= e <= 1023 */
{
    uint64_t bits = (uint64_t)(e + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* m x 10^e, 0 < m, |e| <= FIVE_POWER: no overflow, no subnormals. */
static double from_integers(uint64_t m, int e)
{
    int shift = __builtin_clzll(m), exponent = e - shift;
    m <<= shift;
    uint64_t top; /* its 64 leading bits, of which 62 or more are used */
    bool rest;    /* something left below them */
    if (e >= 0) {
        unsigned __int128 product = (unsigned __int128)m * power_of_five[e];
        uint64_t high = (uint64_t)(product >> 64);
        int left = high ? __builtin_clzll(high) : 64;
        product <<= left;
        top = (uint64_t)(product >> 64);
        rest = (uint64_t)product != 0;
        exponent += 64 - left;
    } else {
        uint64_t divisor = power_of_five[-e];
        int left = __builtin_clzll(divisor);
        divisor <<= left;
        unsigned __int128 dividend = (unsigned __int128)m << 63; /* top fits 64 bits */
        top = (uint64_t)(dividend / divisor);
        rest = (unsigned __int128)top * divisor != dividend;
        exponent += left - 63;
    }
    int64_t sticky = (int64_t)(top >> 1 | (top & 1) | rest);
    return (double)sticky * power_of_two(exponent + 1);
}

/* The leading digits of any number of them, and a 1 for whatever follows that is
 * not 0. Returns how many; *exponent becomes that of the last. */
static int leading_digits(char *out, int64_t *exponent, const decimal *d)
{
    int used = 0;
    bool rest = false;
    for (const char *p = d->first; p < d->last; p++) {
        if (!is_digit(*p) || (used == 0 && *p == '0')) continue;
        if (used < DIGITS_DECIDE) {
            out[used++] = *p;
        } else {
            rest |= *p != '0';
            ++*exponent;
        }
    }
    if (!rest) return used;
    --*exponent;
    out[used] = '1';
    return used + 1;
}

static double from_text(const decimal *d)
{
    char text[DIGITS_DECIDE + 16];
    int64_t exponent = d->exponent;
    int used = leading_digits(text, &exponent, d);
    if (used == 0) return 0;
    if (exponent > EXPONENT_LIMIT) exponent = EXPONENT_LIMIT;
    if (exponent < -EXPONENT_LIMIT) exponent = -EXPONENT_LIMIT;
    snprintf(text + used, sizeof text - (size_t)used, "e%d", (int)exponent);
    return strtod(text, NULL);
}

static double nearest(const decimal *d)
{
    bool fits = d->digits <= DIGITS_64_BITS || significant_digits(d) <= DIGITS_64_BITS;
    int64_t power = d->exponent < 0 ? -d->exponent : d->exponent;
    if (!fits || power > FIVE_POWER) return from_text(d);
    if (d->mantissa == 0) return 0;
    if (d->mantissa > UINT64_C(1) << DBL_MANT_DIG || power > CLINGER_POWER)
        return from_integers(d->mantissa, (int)d->exponent);
    double m = (double)d->mantissa;
    return d->exponent < 0 ? m / power_of_ten[power] : m * power_of_ten[power];
}

bool xb_number_parse(double *out, const char *text, const char *end, char point)
{
    decimal d;
    if (!read_decimal(&d, text, end, point)) return false;
    double value = nearest(&d);
    *out = d.negative ? -value : value;
    return true;
}

/* A finite value with `digits` digits as "%.*g" would lay it out, but with a
 * point whatever the locale says. */
static int format_digits(char *out, double value, int digits)
{
    char text[XB_NUMBER_TEXT_MAX], digit[XB_NUMBER_TEXT_MAX];
    snprintf(text, sizeof text, "%.*e", digits - 1, fabs(value));
    const char *e = strchr(text, 'e');
    int n = 0, exponent = atoi(e + 1), length = 0;
    for (const char *p = text; p < e; p++)
        if (is_digit(*p)) digit[n++] = *p;
    while (n > 1 && digit[n - 1] == '0') n--;
    bool fixed = exponent >= -4 && exponent < DBL_DECIMAL_DIG;
    int whole = fixed ? exponent + 1 : 1; /* digits before the point */
    if (signbit(value)) out[length++] = '-';
    if (whole <= 0) {
        memcpy(out + length, "0.000", 5);
        length += 2 - whole;
    }
    for (int i = 0; i < n || i < whole; i++) {
        if (i == whole && i > 0) out[length++] = '.';
        out[length++] = i < n ? digit[i] : '0';
    }
    if (!fixed) length += sprintf(out + length, "e%+03d", exponent);
    out[length] = '\0';
    return length;
}

int xb_number_format(char out[XB_NUMBER_TEXT_MAX], double value)
{
    if (isnan(value)) return sprintf(out, "nan");
    if (isinf(value)) return sprintf(out, value < 0 ? "-inf" : "inf");
    for (int digits = DBL_DIG; digits < DBL_DECIMAL_DIG; digits++) {
        int length = format_digits(out, value, digits);
        double back = NAN;
        if (xb_number_parse(&back, out, out + length, '.') && back == value)
            return length;
    }
    return format_digits(out, value, DBL_DECIMAL_DIG);
}
