/* test_number.c: decimal text to double and back, bit by bit against strtod and
 * printf of the C library, which round correctly. */
#include "localetest.h"

#include "crossbayes/filekind.h"
#include "data/number.h"

enum { TEXT_MAX = 1200 };

/* A small generator; where a number comes from does not matter here. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static int random_below(uint64_t *state, int n)
{
    return (int)((next_random(state) >> 33) % (uint64_t)n);
}

static double random_double(uint64_t *state, bool subnormal)
{
    double value;
    do {
        uint64_t bits = next_random(state);
        if (subnormal) bits &= ~(UINT64_C(0x7FF) << 52);
        memcpy(&value, &bits, sizeof value);
    } while (!isfinite(value));
    return value;
}

static void random_digits(char *out, uint64_t *state)
{
    static const int longest[] = {8, 20, 60, 900};
    int n = 1 + random_below(state, longest[random_below(state, 4)]);
    int point = random_below(state, 3) ? random_below(state, n + 1) : -1, used = 0;
    if (random_below(state, 2)) out[used++] = "+-"[random_below(state, 2)];
    bool zeros = random_below(state, 4) == 0;
    for (int i = 0; i < n; i++) {
        if (i == point) out[used++] = '.';
        zeros = zeros && random_below(state, 12);
        out[used++] = zeros ? '0' : (char)('0' + random_below(state, 10));
    }
    if (point == n) out[used++] = '.';
    int range = random_below(state, 2) ? 30 : 400;
    if (random_below(state, 3))
        used += sprintf(out + used, random_below(state, 2) ? "e%d" : "E%+03d",
                        random_below(state, 2 * range) - range);
    out[used] = '\0';
}

/* Exactly between two doubles, or a little off in the last digit. */
static void random_halfway(char *out, uint64_t *state, bool subnormal)
{
    double a = fabs(random_double(state, subnormal)), b = nextafter(a, INFINITY);
    if (!isfinite(b)) b = a;
    long double middle = ((long double)a + (long double)b) / 2;
    int used = sprintf(out, "%.780Le", middle);
    char *e = strchr(out, 'e'), *digit = e - 1 - random_below(state, 760);
    if (random_below(state, 3) == 0 && *digit >= '0' && *digit < '9') ++*digit;
    assert_true(used < TEXT_MAX);
}

static void random_text(char *out, uint64_t *state)
{
    switch (random_below(state, 8)) {
    case 0: sprintf(out, "%.17g", random_double(state, false)); break;
    case 1:
        sprintf(out, "%.*e", random_below(state, 40), random_double(state, true));
        break;
    case 2:
        sprintf(out, "%.*g", 1 + random_below(state, 25), random_double(state, false));
        break;
    case 3: random_halfway(out, state, false); break;
    case 4: random_halfway(out, state, true); break;
    default: random_digits(out, state); break;
    }
}

/* The text in a block of its exact size, so that reading past it is seen. */
static bool parse_exact(double *out, const char *text, char point)
{
    size_t size = strlen(text);
    char *block = malloc(size ? size : 1);
    assert_non_null(block);
    memcpy(block, text, size);
    bool good = xb_number_parse(out, block, block + size, point);
    free(block);
    return good;
}

static void assert_same_bits(const char *text, double ours, double theirs)
{
    uint64_t a, b;
    memcpy(&a, &ours, sizeof a);
    memcpy(&b, &theirs, sizeof b);
    if (a != b) fail_msg("'%s' read as %.17g, strtod says %.17g", text, ours, theirs);
}

/* Numbers out of the ordinary may be left to the other reader, no more than those. */
static bool scan_agrees(const char *text, double value)
{
    char padded[TEXT_MAX + 1 + XB_NUMBER_PAD];
    int size = sprintf(padded, "%s,12345678", text) - 9;
    double scanned = NAN;
    const char *end = xb_number_scan(&scanned, padded, '.');
    if (!end) return false;
    assert_ptr_equal(end, padded + size);
    assert_same_bits(text, scanned, value);
    return true;
}

static void numbers_are_strtods(void **state)
{
    int scanned = 0, ordinary = 0;
    (void)state;
    uint64_t random = UINT64_C(0x9E3779B97F4A7C15);
    for (int i = 0; i < 100000; i++) {
        char text[TEXT_MAX];
        random_text(text, &random);
        double ours = NAN, comma = NAN;
        if (!parse_exact(&ours, text, '.')) fail_msg("'%s' was refused", text);
        assert_same_bits(text, ours, strtod(text, NULL));
        bool plain = strspn(text, "+-.0123456789eE") == strlen(text) && strlen(text) < 19;
        bool agrees = scan_agrees(text, ours);
        if (plain && !agrees) fail_msg("'%s' is ordinary and was not scanned", text);
        ordinary += plain;
        scanned += agrees;
        char *point = strchr(text, '.');
        if (!point) continue;
        *point = ',';
        assert_false(parse_exact(&comma, text, '.'));
        assert_true(parse_exact(&comma, text, ','));
        assert_same_bits(text, comma, ours);
    }
    assert_true(scanned >= ordinary && ordinary > 10000);
    static const char *const none[] = {"", "-", ".", "e5", "1e", "1e+", "x1", "+-1"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(scan_agrees(none[i], NAN));
}

enum { FIELD_TEXT = 64, FIELDS = 50 };

/* As tables have them, some halfway between two doubles, some of other forms. */
static void random_field(char *out, uint64_t *state)
{
    int64_t whole = INT64_C(4503599627370496) + random_below(state, 1 << 30);
    switch (random_below(state, 6)) {
    case 0: sprintf(out, "%.6e", random_double(state, false)); break;
    case 1:
        sprintf(out, "%.*f", random_below(state, 19),
                (double)random_below(state, 1 << 30) * 0x1p-27 - 4);
        break;
    case 2: /* a half more than a double of 53 bits, and a little beside it */
        sprintf(out, "%lld5e+15", (long long)whole);
        memmove(out + 2, out + 1, strlen(out));
        out[1] = '.';
        out[17] = (char)(out[17] + random_below(state, 3) - 1);
        break;
    case 3: sprintf(out, "%d", random_below(state, 1000)); break;
    case 4: sprintf(out, "%.3f", (double)random_below(state, 1 << 30) * 1e-3); break;
    default:
        sprintf(out, "%.17g", (double)random_below(state, 1 << 30) * 0x1p-28 - 2);
        break;
    }
}

/* Many fields in a row are each what strtod says, and the first that is none ends it. */
static void fields_are_strtods(void **state)
{
    (void)state;
    static const char *const none[] = {"",     "x",   "1.5x", "1e",      "--1", "1.2.3",
                                       "1.5e", "nan", "inf",  "1.5e-0x", ".",   "1.5 "};
    uint64_t random = UINT64_C(0x9E3779B97F4A7C15);
    for (int i = 0; i < 4000; i++) {
        char text[XB_NUMBER_BEFORE + FIELDS * FIELD_TEXT + XB_NUMBER_PAD] = {0};
        char *from = text + XB_NUMBER_BEFORE, *to = from;
        uint32_t mark[FIELDS];
        double want[FIELDS], got[FIELDS];
        int bad = random_below(&random, 2 * FIELDS); /* half of them have none */
        for (int k = 0; k < FIELDS; k++) {
            char *field = to;
            random_field(field, &random);
            if (k == bad)
                strcpy(field,
                       none[random_below(&random, (int)(sizeof none / sizeof *none))]);
            want[k] = strtod(field, NULL);
            to += strlen(to);
            bool line = random_below(&random, 4) == 0;
            if (line && random_below(&random, 2)) *to++ = '\r';
            mark[k] = (uint32_t)(to - from);
            *to++ = line ? '\n' : ',';
        }
        int64_t n = (i % 2 ? xb_number_fields : xb_number_fields_plain)(got, from, mark,
                                                                        FIELDS, '.');
        if (n != (bad < FIELDS ? bad : FIELDS))
            fail_msg("stopped at '%.30s'", from + (n > 0 ? mark[n - 1] + 1 : 0));
        for (int64_t k = 0; k < n; k++) {
            from[mark[k]] = '\0';
            assert_same_bits(from + (k > 0 ? mark[k - 1] + 1 : 0), got[k], want[k]);
        }
    }
}

/* Where the three ways of reading meet, and famous hard cases. */
static const char *const edge_texts[] = {
    "0",
    "-0",
    "0e999",
    "0.000e-99999999999999999999",
    "1e308",
    "1e309",
    "-1e999",
    "1e99999999999999999999",
    "1e-99999999999999999999",
    "9007199254740992",
    "9007199254740993",
    "9007199254740993e22",
    "9007199254740992e23",
    "9007199254740993e-22",
    "9007199254740993e-23",
    "9999999999999999999",
    "9999999999999999999e27",
    "9999999999999999999e28",
    "9999999999999999999e-27",
    "9999999999999999999e-28",
    "18446744073709551615",
    "18446744073709551616",
    "0.00000000000000000000000000012345678901234567",
    "1e22",
    "1e23",
    "1e27",
    "1e-27",
    "1.7976931348623157e308",
    "1.7976931348623158e308",
    "1.7976931348623159e308",
    "2.2250738585072011e-308",
    "2.2250738585072014e-308",
    "4.9406564584124654e-324",
    "2.4703282292062327e-324",
    "2.4703282292062328e-324",
    "6.631236846766476e-316",
    "5.",
    ".5",
    "+.5e+1",
    "00000000000000000000000000000000000001.5",
    "7205759403792793199999e-5",
    "1.00000005960464477539062500000000000000000001",
};

static void edges_are_strtods(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof edge_texts / sizeof *edge_texts; i++) {
        double ours = NAN;
        if (!parse_exact(&ours, edge_texts[i], '.'))
            fail_msg("'%s' was refused", edge_texts[i]);
        assert_same_bits(edge_texts[i], ours, strtod(edge_texts[i], NULL));
    }
    for (int e = -40; e <= 40; e++) { /* every power of ten, and of five by it */
        char text[64];
        for (int m = 0; m < 3; m++) {
            static const char *const mantissa[] = {"1", "9007199254740993",
                                                   "1234567890123456789"};
            double ours = NAN;
            sprintf(text, "%se%d", mantissa[m], e);
            assert_true(parse_exact(&ours, text, '.'));
            assert_same_bits(text, ours, strtod(text, NULL));
        }
    }
}

/* 17 to 19 digits and a power up to 10^28, the way of 64 bit integers: one in
 * 4000 is decided by its sticky bit alone, so there are about 50 of them here. */
static void integers_are_strtods(void **state)
{
    (void)state;
    uint64_t random = 271828;
    for (int i = 0; i < 200000; i++) {
        char text[64];
        int size = 17 + random_below(&random, 3), used = 0;
        for (; used < size; used++)
            text[used] =
                (char)('0' + (used == 0) + random_below(&random, 10 - (used == 0)));
        sprintf(text + used, "e%d", random_below(&random, 57) - 28);
        double ours = NAN;
        assert_true(xb_number_parse(&ours, text, text + strlen(text), '.'));
        assert_same_bits(text, ours, strtod(text, NULL));
    }
}

static void other_texts_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",    " ",   "-",   "+",     ".",     "-.",  "e5",   ".e5", "1e",
        "1e+", "1 ",  " 1",  "1.2.3", "--1",   "+-1", "0x10", "1d5", "nan",
        "inf", "1,5", "1_0", "1e5.",  "1e5e5", "abc", "1.5x", "1f",  "12:30",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double out = 42;
        if (parse_exact(&out, texts[i], '.')) fail_msg("'%s' was taken", texts[i]);
        assert_true(out == 42);
    }
}

static void huge_texts_are_read(void **state)
{
    (void)state;
    enum { ZEROS = 1000000 };
    char *text = malloc(ZEROS + 32);
    assert_non_null(text);
    memset(text, '0', ZEROS);
    text[0] = '1';
    sprintf(text + ZEROS, "e-%d", ZEROS - 3);
    double ours = NAN;
    assert_true(xb_number_parse(&ours, text, text + strlen(text), '.'));
    assert_true(ours == 100);
    memcpy(text, "0.", 2);
    sprintf(text + ZEROS, "25e%d", ZEROS);
    assert_true(xb_number_parse(&ours, text, text + strlen(text), '.'));
    assert_true(ours == 25);
    free(text);
}

/* As "%.*g" with the fewest of 15, 16, 17 digits that reads back. */
static void formats_are_printfs(void **state)
{
    (void)state;
    uint64_t random = 12345;
    for (int i = 0; i < 20000; i++) {
        double value = random_double(&random, i % 10 == 0);
        if (i % 3 == 0) value = (random_below(&random, 2000) - 1000) / 100.0;
        if (i % 7 == 0) value = round(value * 1e6) * 1e-9;
        if (!isfinite(value)) continue;
        char ours[XB_NUMBER_TEXT_MAX], theirs[64];
        int digits = 15;
        do sprintf(theirs, "%.*g", digits, value);
        while (strtod(theirs, NULL) != value && ++digits < 18);
        int length = xb_number_format(ours, value);
        assert_int_equal(length, strlen(ours));
        if (digits == 17 || fabs(value) < 1e15) assert_string_equal(ours, theirs);
        assert_same_bits(ours, strtod(ours, NULL), value);
    }
    static const struct {
        double value;
        const char *text;
    } known[] = {{0, "0"},
                 {-0.0, "-0"},
                 {1, "1"},
                 {0.1, "0.1"},
                 {-1.5e-5, "-1.5e-05"},
                 {0.0001, "0.0001"},
                 {1e16, "10000000000000000"},
                 {1e17, "1e+17"},
                 {NAN, "nan"},
                 {INFINITY, "inf"},
                 {-INFINITY, "-inf"},
                 {1e-300, "1e-300"},
                 {1.0 / 3, "0.3333333333333333"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char ours[XB_NUMBER_TEXT_MAX];
        xb_number_format(ours, known[i].value);
        assert_string_equal(ours, known[i].text);
    }
}

static void the_locale_does_not_matter(void **state)
{
    (void)state;
    UNIX_ONLY("it makes a locale with localedef");
    char ours[XB_NUMBER_TEXT_MAX];
    double slow = NAN, fast = NAN;
    scratch s = comma_locale_set();
    bool slow_good = parse_exact(&slow, "1.234567890123456789012345e-50", '.');
    bool fast_good = parse_exact(&fast, "1.5", '.');
    xb_number_format(ours, -1234.5678e-20);
    comma_locale_drop(&s);
    assert_true(slow_good && slow == 1.234567890123456789012345e-50);
    assert_true(fast_good && fast == 1.5);
    assert_string_equal(ours, "-1.2345678e-17");
}

/* Texts of laws, priors, schedules and nets are written and read as everywhere. */
static void texts_keep_their_points(void **state)
{
    (void)state;
    UNIX_ONLY("it makes a locale with localedef");
    static const char net_text[] =
        "dense 2, batchnorm momentum 0.9 epsilon 1e-05, dense 1";
    char prior_text[XB_PRIOR_TEXT], schedule_text[XB_SCHEDULE_TEXT];
    xb_prior prior = {0};
    xb_schedule schedule = {0};
    xb_law *law = NULL, *again = NULL;
    xb_net *net = NULL;
    static const char table[] = "no name\n1.5\n2.5\n";
    xb_ctx *ctx = test_ctx();
    scratch s = comma_locale_set();
    assert_int_equal(xb_filekind_of(table, strlen(table)), XB_KIND_TABLE);
    assert_ok(ctx, xb_law_parse(ctx, &law, "mtj:B=0.15,w=0.5"));
    assert_string_equal(xb_law_text(law), "mtj:B=0.15,w=0.5");
    assert_ok(ctx, xb_law_save(ctx, law, scratch_path(&s, "law.json")));
    assert_ok(ctx, xb_law_load(ctx, &again, s.path));
    assert_string_equal(xb_law_text(again), "mtj:B=0.15,w=0.5");
    assert_ok(ctx, xb_prior_parse(ctx, &prior, "normal:mean=0,sd=0.25"));
    xb_prior_text(prior_text, &prior);
    assert_string_equal(prior_text, "normal:mean=0,sd=0.25");
    assert_ok(ctx, xb_schedule_parse(ctx, &schedule, "exp:10.5,floor=0.125"));
    xb_schedule_text(schedule_text, &schedule);
    assert_non_null(strstr(schedule_text, "10.5,floor=0.125"));
    assert_ok(ctx, xb_net_parse(ctx, &net, net_text, (xb_shape){1, 1, 3}, NULL));
    assert_string_equal(xb_net_text(net), net_text);
    comma_locale_drop(&s);
    xb_net_destroy(net);
    xb_law_destroy(law);
    xb_law_destroy(again);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_strtods),
        cmocka_unit_test(fields_are_strtods),
        cmocka_unit_test(edges_are_strtods),
        cmocka_unit_test(integers_are_strtods),
        cmocka_unit_test(other_texts_are_refused),
        cmocka_unit_test(huge_texts_are_read),
        cmocka_unit_test(formats_are_printfs),
        cmocka_unit_test(the_locale_does_not_matter),
        cmocka_unit_test(texts_keep_their_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
