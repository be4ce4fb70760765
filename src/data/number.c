/* number.c: decimal text to the nearest double, and back.
 *
 * Reading tries three ways, each exact for what it takes:
 *   a mantissa up to 2^53 and a power up to 10^22: both are doubles, so one
 *     multiplication or division rounds once (Clinger 1990);
 *   up to 19 digits and a power up to 10^27: 64 by 64 bit integers, since
 *     10^k = 2^k 5^k and 5^27 < 2^64; what a 128 bit product or a remainder
 *     leaves over goes into a sticky bit, and the conversion rounds once
 *     (division by 5^k through its reciprocal: Moeller & Granlund 2011);
 *   anything else: strtod on a text rewritten without a decimal point, which
 *     is the only part of a number that a locale can change.
 * Error: none, every result is the correctly rounded one (the tests compare
 * 1e5 random texts with strtod bit by bit). Digits are taken eight at a time where the
 * text allows it. Cost: 5 to 15 ns, and 200 ns for the last method. A field whose end is
 * known (xb_number_fields) is read from both ends without a loop; there one product of 64
 * by 64 bits, cut off, decides all but one in 500 of the numbers that have 16 digits or
 * more (the idea of Eisel and Lemire 2021). With SSE such a field of 15 digits takes 7.5
 * ns instead of 9.8 (strtod: 84), fields of up to 8 digits the same as without. */
#include "data/number.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"

/* The code here accepts any decimal point, and asking for the locale would cost too much
 * time. */
#undef snprintf
#undef strtod

_Static_assert(FLT_EVAL_METHOD == 0, "one rounding per operation");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first byte is the lowest");

enum {
    DIGITS_64_BITS = 19, /* any 19 digits fit in 64 bits */
    FRACTION_MOST = 20,  /* digits after the point that usual_field takes */
    CLINGER_POWER = 22,  /* 10^22 = 2^22 5^22, 5^22 < 2^53 */
    FIVE_POWER = 27,
    DIGITS_DECIDE = 780,     /* 767 digits and a sticky one decide the rounding */
    EXPONENT_LIMIT = 100000, /* beyond it every such number is 0 or infinite */
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

/* Of 5^k shifted up to d >= 2^63: floor((2^128 - 1) / d) - 2^64. */
static const uint64_t reciprocal_of_five[FIVE_POWER + 1] = {
    UINT64_C(0xFFFFFFFFFFFFFFFF), UINT64_C(0x9999999999999999),
    UINT64_C(0x47AE147AE147AE14), UINT64_C(0x0624DD2F1A9FBE76),
    UINT64_C(0xA36E2EB1C432CA57), UINT64_C(0x4F8B588E368F0846),
    UINT64_C(0x0C6F7A0B5ED8D36B), UINT64_C(0xAD7F29ABCAF48578),
    UINT64_C(0x5798EE2308C39DF9), UINT64_C(0x12E0BE826D694B2E),
    UINT64_C(0xB7CDFD9D7BDBAB7D), UINT64_C(0x5FD7FE17964955FD),
    UINT64_C(0x19799812DEA11197), UINT64_C(0xC25C268497681C26),
    UINT64_C(0x6849B86A12B9B01E), UINT64_C(0x203AF9EE756159B2),
    UINT64_C(0xCD2B297D889BC2B6), UINT64_C(0x70EF54646D496892),
    UINT64_C(0x2725DD1D243ABA0E), UINT64_C(0xD83C94FB6D2AC34A),
    UINT64_C(0x79CA10C9242235D5), UINT64_C(0x2E3B40A0E9B4F7DD),
    UINT64_C(0xE392010175EE5962), UINT64_C(0x82DB34012B25144E),
    UINT64_C(0x357C299A88EA76A5), UINT64_C(0xEF2D0F5DA7DD8AA2),
    UINT64_C(0x8C240C4AECB13BB5), UINT64_C(0x3CE9A36F23C0FC90)};
/* clang-format on */

/* A parsed number: digits[.digits] and a separate exponent. */
typedef struct decimal {
    const char *first, *last; /* the digits, with the point among them */
    uint64_t mantissa;        /* value of all digits, modulo 2^64 */
    int64_t digits;
    int64_t exponent; /* value = digits x 10^exponent */
    bool negative;
} decimal;

#define NUMBER_INLINE static inline __attribute__((always_inline))

static bool is_digit(char c) { return (unsigned char)(c - '0') < 10; }

static const char *read_digits(uint64_t *mantissa, const char *p, const char *end)
{
    uint64_t m = *mantissa;
    for (; p < end && is_digit(*p); p++) m = 10 * m + (uint64_t)(*p - '0');
    *mantissa = m;
    return p;
}

/* Reads what follows the 'e'. Returns NULL if there is no digit. */
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

/* The number of digits from the first that is not 0. */
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

/* Returns floor(2^63 m / d), and in *rest whether there is a remainder; d >= 2^63 is
 * given with its reciprocal. */
static uint64_t divide(bool *rest, uint64_t m, uint64_t d, uint64_t reciprocal)
{
    const uint64_t high = m >> 1, low = m << 63; /* of 2^63 m; high < d */
    unsigned __int128 guess =
        (unsigned __int128)reciprocal * high + ((unsigned __int128)high << 64 | low);
    uint64_t quotient = (uint64_t)(guess >> 64) + 1; /* at most 2 too large */
    uint64_t left = low - quotient * d;
    if (left > (uint64_t)guess) {
        quotient--;
        left += d;
    }
    if (left >= d) {
        quotient++;
        left -= d;
    }
    *rest = left != 0;
    return quotient;
}

/* m x 10^e, 0 < m, |e| <= FIVE_POWER: no overflow, no subnormals. */
static double from_integers(uint64_t m, int e)
{
    int shift = __builtin_clzll(m), exponent = e - shift;
    m <<= shift;
    uint64_t top; /* its 64 leading bits, of which 62 or more are used */
    bool rest;    /* whether something is left below them */
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
        top = divide(&rest, m, divisor << left, reciprocal_of_five[-e]);
        exponent += left - 63;
    }
    int64_t sticky = (int64_t)(top >> 1 | (top & 1) | rest);
    return (double)sticky * power_of_two(exponent + 1);
}

/* The leading digits of a number of any length, and a 1 if any digit that follows is not
 * 0. Returns their number; *exponent becomes that of the last. */
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

/* Needs one rounding, because both are exact doubles. */
static inline double exact_parts(const decimal *d)
{
    double m = (double)d->mantissa;
    return d->exponent < 0 ? m / power_of_ten[-d->exponent]
                           : m * power_of_ten[d->exponent];
}

static double nearest(const decimal *d)
{
    bool fits = d->digits <= DIGITS_64_BITS || significant_digits(d) <= DIGITS_64_BITS;
    int64_t power = d->exponent < 0 ? -d->exponent : d->exponent;
    if (!fits || power > FIVE_POWER) return from_text(d);
    if (d->mantissa == 0) return 0;
    if (d->mantissa > UINT64_C(1) << DBL_MANT_DIG || power > CLINGER_POWER)
        return from_integers(d->mantissa, (int)d->exponent);
    return exact_parts(d);
}

bool xb_number_parse(double *out, const char *text, const char *end, char point)
{
    decimal d;
    if (!read_decimal(&d, text, end, point)) return false;
    double value = nearest(&d);
    *out = d.negative ? -value : value;
    return true;
}

/* The eight bytes at p, minus '0', so that digits become 0 to 9. */
static inline uint64_t load_eight(const char *p)
{
    uint64_t bytes;
    memcpy(&bytes, p, sizeof bytes);
    return bytes ^ UINT64_C(0x3030303030303030);
}

/* Sets the top bit of every byte that is more than 9: adding 0x76 carries into it. */
static inline uint64_t not_digits(uint64_t bytes)
{
    const uint64_t past_nine = UINT64_C(0x7676767676767676);
    return ((bytes + past_nine) | bytes) & UINT64_C(0x8080808080808080);
}

/* The value of eight digits 0..9 in the bytes of a word, with the first in the lowest
 * byte. */
static inline uint64_t value_of_eight(uint64_t bytes)
{
    bytes = 10 * bytes + (bytes >> 8); /* pairs in bytes 0, 2, 4, 6 */
    const uint64_t pairs = UINT64_C(0x000000FF000000FF);
    const uint64_t first = 100 + (UINT64_C(1000000) << 32); /* pairs 1 and 3 */
    const uint64_t second = 1 + (UINT64_C(10000) << 32);    /* pairs 2 and 4 */
    return (uint32_t)(((bytes & pairs) * first + ((bytes >> 16) & pairs) * second) >> 32);
}

/* The number of digits among the 8 bytes at p, before the first byte that is not one;
 * their value is appended to the mantissa's digits. */
static inline int read_eight(uint64_t *mantissa, const char *p)
{
    static const uint64_t power[] = {1,      10,      100,      1000,     10000,
                                     100000, 1000000, 10000000, 100000000};
    uint64_t bytes = load_eight(p), other = not_digits(bytes);
    int n = other ? __builtin_ctzll(other) / 8 : 8;
    if (n == 0) return 0;
    bytes <<= 8 * (8 - n); /* the first digit is the lowest byte: zeros before it */
    *mantissa = *mantissa * power[n] + value_of_eight(bytes);
    return n;
}

static inline const char *scan_digits(uint64_t *mantissa, const char *p)
{
    int n;
    do p += n = read_eight(mantissa, p);
    while (n == 8);
    return p;
}

const char *xb_number_scan(double *out, const char *text, char point)
{
    const char *p = text;
    decimal d = {.negative = *p == '-'};
    p += (*p == '-') | (*p == '+');
    d.first = p;
    if (is_digit(p[0]) && p[1] == point) /* as most numbers start */
        d.mantissa = (uint64_t)(*p++ - '0');
    else
        p = scan_digits(&d.mantissa, p);
    d.digits = p - d.first;
    if (*p == point) {
        const char *from = ++p;
        p = scan_digits(&d.mantissa, p);
        d.exponent = from - p;
        d.digits += p - from;
    }
    d.last = p;
    bool many = d.digits > DIGITS_64_BITS; /* leading zeros may be among them */
    if (d.digits == 0 || (many && significant_digits(&d) > DIGITS_64_BITS)) return NULL;
    if (*p == 'e' || *p == 'E') {
        bool negative = *++p == '-';
        p += *p == '-' || *p == '+';
        uint64_t power = 0;
        int n = read_eight(&power, p);
        if (n == 0 || n == 8) return NULL;
        d.exponent += negative ? -(int64_t)power : (int64_t)power;
        p += n;
    }
    const bool parts = d.mantissa <= UINT64_C(1) << DBL_MANT_DIG &&
                       d.exponent >= -CLINGER_POWER && d.exponent <= CLINGER_POWER;
    static const double sign[] = {1, -1}; /* no branch, because signs are hard to
                                             predict */
    *out = sign[d.negative] * (parts ? exact_parts(&d) : nearest(&d));
    return p;
}

/* Computes m x 10^-k by one product, 0 < m, 0 < k <= FIVE_POWER; returns false if that
 * does not decide the rounding.
 *
 * 10^-k = 2^(left - k - 127) G, G = 2^127 / d, d = 5^k shifted up by `left`. The table
 * knows g <= G < g + 1 + 2^-64, so the 128 bits of m g, m shifted up, lack less than 2 in
 * their high half: what lies below the 53 bits that stay is then surely less, or surely
 * more than a half, unless it is a half or the number before it. */
static inline bool from_product(double *out, uint64_t m, int k)
{
    int shift = __builtin_clzll(m), left = __builtin_clzll(power_of_five[k]);
    uint64_t g = UINT64_C(1) << 63 | reciprocal_of_five[k] >> 1;
    unsigned __int128 product = (unsigned __int128)(m << shift) * g;
    uint64_t high = (uint64_t)(product >> 64);
    uint64_t half = UINT64_C(1) << (9 + (high >> 63)); /* half of the bits that are
                                                          dropped, for a product of 64
                                                          bits or of 63 */
    uint64_t below = high & (2 * half - 1);
    if (below - (half - 1) <= 1) return false;
    *out = (double)(int64_t)(high >> 1 | 1) * power_of_two(left - shift - k - 62);
    return true;
}

/* For n from -16 to 20: masks that keep the last n bytes of a word, none, or all. */
/* clang-format off */
static const uint64_t keep_last[16 + FRACTION_MOST + 1] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    UINT64_C(0xFF00000000000000), UINT64_C(0xFFFF000000000000),
    UINT64_C(0xFFFFFF0000000000), UINT64_C(0xFFFFFFFF00000000),
    UINT64_C(0xFFFFFFFFFF000000), UINT64_C(0xFFFFFFFFFFFF0000),
    UINT64_C(0xFFFFFFFFFFFFFF00), UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
    UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
    UINT64_MAX, UINT64_MAX};
/* clang-format on */

/* Four digits in the highest bytes of a word, the first in the lowest of them. */
static inline uint64_t value_of_last_four(uint64_t bytes)
{
    uint64_t pairs = 10 * (bytes >> 32) + (bytes >> 40);
    return 100 * (pairs & 0xFF) + (pairs >> 16 & 0xFF);
}

/* Reads n <= 8 digits that end before `end`. */
static inline bool few_digits(uint64_t *value, const char *end, int64_t n)
{
    uint64_t digits = load_eight(end - 8) & keep_last[16 + n];
    *value = value_of_eight(digits);
    return not_digits(digits) == 0;
}

/* Reads n <= FRACTION_MOST digits that end before `end`, which has XB_NUMBER_BEFORE bytes
 * before it; more than 19 digits must start with zeros. Whether there are few or many is
 * the same throughout a file and may be a branch; the exact number is not, so no branch
 * depends on it. */
static inline bool digits_plain(uint64_t *value, const char *end, int64_t n)
{
    if (n <= 8) return few_digits(value, end, n);
    uint64_t low = load_eight(end - 8);
    uint64_t mid = load_eight(end - 16) & keep_last[8 + n];
    uint64_t high = load_eight(end - 24) & keep_last[n], top = value_of_last_four(high);
    *value = top * UINT64_C(10000000000000000) +
             value_of_eight(mid) * UINT64_C(100000000) + value_of_eight(low);
    return (not_digits(low) | not_digits(mid) | not_digits(high)) == 0 && top < 1000;
}

typedef bool (*digits_fn)(uint64_t *value, const char *end, int64_t n);

#if defined(__x86_64__)
#include <immintrin.h>

#define V2 __attribute__((target("sse4.1")))

/* The same with sixteen digits in a register, which are combined to pairs, fours and
 * eights. */
V2 static inline bool digits_v2(uint64_t *value, const char *end, int64_t n)
{
    static const unsigned char all_or_none[32] = {
        0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,
        0,    0,    0,    0,    0,    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    const __m128i nine = _mm_set1_epi8(9), ten = _mm_set1_epi16(10 + 256);
    const __m128i hundred = _mm_set1_epi32(100 + 65536);
    const __m128i myriad = _mm_set1_epi32(10000 + 65536);
    const int64_t some = n < 16 ? n : 16;
    if (n <= 8) return few_digits(value, end, n);
    __m128i d = _mm_loadu_si128((const __m128i *)(const void *)(end - 16));
    d = _mm_sub_epi8(d, _mm_set1_epi8('0'));
    d = _mm_and_si128(
        d, _mm_loadu_si128((const __m128i *)(const void *)(all_or_none + some)));
    int good = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(d, nine), nine));
    d = _mm_madd_epi16(_mm_maddubs_epi16(d, ten), hundred);
    d = _mm_madd_epi16(_mm_packus_epi32(d, d), myriad);
    uint64_t eights = (uint64_t)_mm_cvtsi128_si64(d); /* the first eight digits are in the
                                                         low half */
    uint64_t high = load_eight(end - 24) & keep_last[n], top = value_of_last_four(high);
    *value = top * UINT64_C(10000000000000000) + (uint32_t)eights * UINT64_C(100000000) +
             (eights >> 32);
    return good == 0xFFFF && not_digits(high) == 0 && top < 1000;
}
#endif

/* Reads "e-05" at p: sign and two digits after the letter, which the caller has
 * checked. */
static inline bool usual_exponent(int64_t *exponent, const char *p)
{
    int sign = ',' - p[1]; /* '+' is the byte before ',', '-' the one after */
    unsigned tens = (unsigned)(p[2] - '0'), ones = (unsigned)(p[3] - '0');
    *exponent = sign * (int64_t)(10 * tens + ones);
    return sign * sign == 1 && tens < 10 && ones < 10;
}

/* 10^n; 0 if it and 19 digits after it do not fit into 64 bits. */
/* clang-format off */
static const uint64_t integer_power[FRACTION_MOST + 1] = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
    10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000,
    1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000};
/* clang-format on */

/* Computes m x 10^exponent if that is quick; if `few`, m has at most 15 digits. */
static inline bool quick_value(double *out, uint64_t m, int64_t exponent, bool few)
{
    if (few && exponent >= -CLINGER_POWER && exponent <= 0) {
        *out = (double)(int64_t)m / power_of_ten[-exponent];
        return true;
    }
    bool product = m > 0 && exponent < 0 && exponent >= -FIVE_POWER;
    return product && from_product(out, m, (int)-exponent);
}

/* Reads the usual form of a table's numbers: [sign] digit point digits [e sign digit
 * digit]. */
NUMBER_INLINE bool usual_field(double *out, const char *text, const char *end, char point,
                               digits_fn digits_before)
{
    static const double sign[] = {1, -1}; /* no branch, because signs are hard to
                                             predict */
    const bool negative = *text == '-';
    const char *p = text + (negative | (*text == '+'));
    int64_t exponent = 0;
    if (end - p > 5 && (end[-4] | 0x20) == 'e') {
        end -= 4;
        if (!usual_exponent(&exponent, end)) return false;
    }
    const int64_t fraction = end - p - 2;
    uint64_t m, whole = (uint64_t)(unsigned char)(p[0] - '0');
    if ((uint64_t)fraction > FRACTION_MOST || whole > 9 || p[1] != point ||
        !digits_before(&m, end, fraction))
        return false;
    double value;
    if (whole > 0 && integer_power[fraction] == 0) return false;
    m += whole * integer_power[fraction];
    if (!quick_value(&value, m, exponent - fraction, fraction < DBL_DIG)) return false;
    *out = sign[negative] * value;
    return true;
}

NUMBER_INLINE int64_t fields(double *out, const char *text, const uint32_t *mark,
                             int64_t n, char point, digits_fn digits)
{
    const char *p = text;
    for (int64_t i = 0; i < n; i++) {
        const char *end = text + mark[i], *next = end + 1;
        end -= *end == '\n' && end > p && end[-1] == '\r';
        if (!usual_field(&out[i], p, end, point, digits) &&
            (xb_number_scan(&out[i], p, point) != end || !isfinite(out[i])))
            return i;
        p = next;
    }
    return n;
}

#if defined(__x86_64__)
V2 static int64_t fields_v2(double *out, const char *text, const uint32_t *mark,
                            int64_t n, char point)
{
    return fields(out, text, mark, n, point, digits_v2);
}
#endif

int64_t xb_number_fields_plain(double *out, const char *text, const uint32_t *mark,
                               int64_t n, char point)
{
    return fields(out, text, mark, n, point, digits_plain);
}

int64_t xb_number_fields(double *out, const char *text, const uint32_t *mark, int64_t n,
                         char point)
{
#if defined(__x86_64__)
    if (xb_machine_level() >= 2) return fields_v2(out, text, mark, n, point);
#endif
    return xb_number_fields_plain(out, text, mark, n, point);
}

/* Writes a finite value with `digits` digits as "%.*g" would, but with a point in every
 * locale. */
int xb_number_digits(char out[XB_NUMBER_TEXT_MAX], double value, int digits)
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
        int length = xb_number_digits(out, value, digits);
        double back = NAN;
        if (xb_number_parse(&back, out, out + length, '.') && back == value)
            return length;
    }
    return xb_number_digits(out, value, DBL_DECIMAL_DIG);
}
