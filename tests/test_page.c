/* test_page.c: pages are one well-formed file, whatever the text in them says; figures
 * on one page share no names and bring nothing from outside; a page that cannot be made
 * leaves no file. */
#include "scratch.h"
#include "failalloc.h"
#include "xmltest.h"

#include <sys/stat.h>

#include "base/ctx.h"
#include "report/draft.h"
#include "report/page.h"
#include "crossbayes/studies.h"

enum { PAGE_ROOM = 1 << 18 };

/* As gnuplot writes them, with every way to refer to an id. */
static const char picture[] =
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!-- a > comment -->\n"
    "<svg \n width=\"600\" height=\"300\"\n viewBox=\"0 0 600 300\"\n"
    " xmlns=\"http://www.w3.org/2000/svg\"\n"
    " xmlns:xlink=\"http://www.w3.org/1999/xlink\"\n>\n"
    "<title>Gnuplot</title>\n<desc>Produced by GNUPLOT</desc>\n"
    "<g id=\"gnuplot_canvas\">\n"
    "<rect x=\"0\" y=\"0\" width=\"600\" height=\"300\" fill=\"#ffffff\"/>\n"
    "<defs><circle id='gpDot' r='0.5'/><use xlink:href='#gpDot' id='gpPt6'/>"
    "<filter id='textbox'><feFlood result='b'/></filter></defs>\n"
    "<g id=\"gnuplot_plot_1\" ><title>a &amp; b</title>"
    "<use xlink:href='#gpPt6' transform='scale(2)'/>"
    "<text filter=\"url(#textbox)\">x &lt; 1</text></g>\n</g>\n</svg>\n";

static xb_page *new_page(xb_ctx *ctx, const char *title)
{
    xb_page *page = NULL;
    assert_ok(ctx, xb_page_create(ctx, &page, title, "An intro."));
    return page;
}

/* Writes the page and reads it back, checked. free() it. */
static char *written(xb_ctx *ctx, scratch *s, xb_page *page)
{
    char *text = malloc(PAGE_ROOM);
    char path[128];
    snprintf(path, sizeof path, "%s", scratch_path(s, "page.html"));
    assert_ok(ctx, xb_page_write(ctx, page, path));
    assert_true(scratch_read(path, text, PAGE_ROOM) < PAGE_ROOM - 1);
    assert_well_formed(path, text);
    xb_page_destroy(page);
    return text;
}

static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (const char *p = text; (p = strstr(p, part)); p++) count++;
    return count;
}

static void text_is_only_text(void **state)
{
    (void)state;
    static const char nasty[] = "</title><script>alert('1')</script> & \"q\" \x01 \xff "
                                "\xc3\xa9 \xed\xa0\x80 --> ]]> <img src=x onerror=y>";
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    xb_ctx_set_origin(ctx, nasty);
    xb_page *page = new_page(ctx, nasty);
    char svg[128];
    snprintf(svg, sizeof svg, "%s", scratch_write(&s, "a.svg", picture, strlen(picture)));
    xb_page_summary(page, nasty);
    xb_page_section(page, "one", nasty);
    xb_page_text(page, nasty);
    xb_page_command(page, nasty);
    xb_finding finding = {XB_FINDING_DIFFERS, nasty, nasty};
    xb_page_finding(page, &finding);
    xb_page_figure(page, &(xb_page_figure_info){svg, nasty, nasty, nasty, finding});
    const char *const cell[] = {nasty, NULL};
    const char *const heading[] = {nasty, "b"};
    const xb_finding_kind kind[] = {XB_FINDING_UNCLEAR};
    for (int folded = 0; folded < 2; folded++)
        xb_page_rows(page,
                     &(xb_page_rows_info){nasty, 2, heading, 1, cell, kind, folded});
    xb_table *table = NULL;
    assert_ok(ctx, xb_table_create(ctx, &table, nasty, 1, 2, heading));
    xb_page_table(page, table, nasty, true);
    xb_table_destroy(table);
    xb_page_provenance(page, nasty, nasty);
    char *text = written(ctx, &s, page);
    assert_null(strstr(text, "<script"));
    assert_null(strstr(text, "<img"));
    assert_non_null(strstr(text, "&lt;script&gt;alert(&#39;1&#39;)"));
    assert_non_null(strstr(text, "&quot;q&quot;   \xef\xbf\xbd \xc3\xa9 \xef\xbf\xbd"));
    free(text);
    xb_ctx_destroy(ctx);
    scratch_remove(&s);
}

/* Nothing is fetched: the only addresses are names of namespaces, and the policy is there
 * before anything that could break it. */
static void nothing_comes_from_outside(void **state)
{
    (void)state;
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    xb_page *page = new_page(ctx, "A page");
    xb_page_section(page, "one", "One");
    char svg[128];
    snprintf(svg, sizeof svg, "%s", scratch_write(&s, "a.svg", picture, strlen(picture)));
    xb_page_figure(page, &(xb_page_figure_info){.svg = svg});
    char *text = written(ctx, &s, page);
    const char *policy = strstr(text, "default-src 'none'");
    assert_non_null(policy);
    assert_true(policy < strstr(text, "<title"));
    assert_int_equal(count_of(text, "://"), 2);
    assert_int_equal(count_of(text, "xmlns=\"http://www.w3.org/2000/svg\""), 1);
    assert_int_equal(count_of(text, "xmlns:xlink=\"http://www.w3.org/1999/xlink\""), 1);
    assert_null(strstr(text, "src="));
    assert_null(strstr(text, "url(http"));
    assert_null(strstr(text, "@import"));
    free(text);
    xb_ctx_destroy(ctx);
    scratch_remove(&s);
}

static int id_count(const char *text, const char *id)
{
    char one[96], two[96];
    snprintf(one, sizeof one, " id=\"%s\"", id);
    snprintf(two, sizeof two, " id='%s'", id);
    return count_of(text, one) + count_of(text, two);
}

/* Every name that follows `before` is the id of exactly one element. */
static void assert_resolved(const char *text, const char *before, int expected)
{
    int count = 0;
    for (const char *p = text; (p = strstr(p, before)); count++) {
        p += strlen(before);
        char id[64];
        snprintf(id, sizeof id, "%.*s", (int)strcspn(p, "\"')"), p);
        if (id_count(text, id) != 1) fail_msg("%d elements '%s'", id_count(text, id), id);
    }
    assert_int_equal(count, expected);
}

static void figures_share_no_names(void **state)
{
    (void)state;
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    xb_page *page = new_page(ctx, "Two figures");
    char svg[128];
    snprintf(svg, sizeof svg, "%s", scratch_write(&s, "a.svg", picture, strlen(picture)));
    xb_page_section(page, "one", "One");
    xb_page_figure(page, &(xb_page_figure_info){.svg = svg, .alt = "a curve"});
    xb_page_section(page, "two", "Two");
    xb_page_figure(page, &(xb_page_figure_info){.svg = svg});
    char *text = written(ctx, &s, page);
    assert_resolved(text, " id=\"", 2 * 5 + 2);
    assert_resolved(text, "xlink:href=\"#", 2 * 2);
    assert_resolved(text, "url(#", 2);
    assert_resolved(text, "<a href=\"#", 2);
    assert_int_equal(count_of(text, "aria-label=\"a curve\""), 1);
    /* the file's own title, canvas and head are gone, titles of curves stay */
    assert_null(strstr(text, "Gnuplot"));
    assert_null(strstr(text, "GNUPLOT"));
    assert_null(strstr(text, "<rect"));
    assert_null(strstr(text, "<?xml"));
    assert_int_equal(count_of(text, "<title>a &amp; b</title>"), 2);
    assert_int_equal(count_of(text, "x &lt; 1"), 2);
    free(text);
    xb_ctx_destroy(ctx);
    scratch_remove(&s);
}

/* The page with this picture is refused with the file's name and leaves no file. */
static void assert_refused(const char *svg_text, size_t size)
{
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    xb_page *page = new_page(ctx, "Refused");
    char svg[128];
    snprintf(svg, sizeof svg, "%s", scratch_write(&s, "bad.svg", svg_text, size));
    xb_page_section(page, "one", "One");
    xb_page_figure(page, &(xb_page_figure_info){.svg = svg});
    xb_page_text(page, "later calls do nothing");
    const char *path = scratch_path(&s, "page.html");
    if (xb_page_write(ctx, page, path) != XB_E_INPUT)
        fail_msg("accepted: %.60s", svg_text);
    assert_non_null(strstr(xb_ctx_message(ctx), "bad.svg: "));
    xb_page_destroy(page);
    xb_ctx_destroy(ctx);
    assert_int_equal(scratch_remove(&s), 1); /* bad.svg alone */
}

static void only_pictures_are_figures(void **state)
{
    (void)state;
#define INSIDE(text) "<svg viewBox='0 0 9 9'>" text "</svg>"
    static const char *const bad[] = {
        "",
        "no picture",
        "<svg></svg>",
        "<svg viewBox='0 0 0 9'></svg>",
        "<svg viewBox='0 0 nan 9'></svg>",
        "<svg viewBox='0 0 9 9'>",
        "<svg viewBox='0 0 9 9'></svg><svg viewBox='0 0 9 9'></svg>",
        "<html><svg viewBox='0 0 9 9'></svg></html>",
        INSIDE("</g>"),
        INSIDE("<g>"),
        INSIDE("<g><text></g></text>"),
        INSIDE("<g id='a></g>"),
        INSIDE("<g id=a></g>"),
        INSIDE("<g id></g>"),
        INSIDE("<g id='a'"),
        INSIDE("<g id='<'></g>"),
        INSIDE("<!-- "),
        INSIDE("<script>1</script>"),
        INSIDE("<SCRIPT>1</SCRIPT>"),
        INSIDE("<style>g { }</style>"),
        INSIDE("<foreignObject><p>a</p></foreignObject>"),
        INSIDE("<a href='#b'>c</a>"),
        INSIDE("<g onclick='a()'></g>"),
        INSIDE("<g ONLOAD='a()'></g>"),
        INSIDE("<g style='fill:url(a)'></g>"),
        INSIDE("<use href='http://a.b/c#d'/>"),
        INSIDE("<image xlink:href='c.png'/>"),
        INSIDE("<image xlink:href='data:text/html,a'/>"),
        INSIDE("<image xlink:href='data:image/svg+xml,a'/>"),
        INSIDE("<g fill='url(http://a.b)'></g>"),
        INSIDE("<g fill=' url( http://a.b )'></g>"),
        INSIDE("<g fill='u\\72l(a)'></g>"),
    };
    for (int i = 0; i < XB_COUNT(bad); i++) assert_refused(bad[i], strlen(bad[i]));
    assert_refused("<svg viewBox='0 0 9 9'>\0</svg>", 30);
    for (size_t size = 0; size < strlen(picture) - strlen("</svg>\n"); size += 7)
        assert_refused(picture, size);
#undef INSIDE
}

static void failures_are_kept(void **state)
{
    (void)state;
    static const char *const ids[] = {"", "a b", "a\"b", "a.b", "one"};
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    char path[128];
    snprintf(path, sizeof path, "%s", scratch_write(&s, "page.html", "old", 3));
    for (int i = 0; i < XB_COUNT(ids); i++) {
        xb_page *page = new_page(ctx, "A page");
        xb_page_section(page, "one", "One");
        assert_int_equal(xb_page_check(ctx, page), XB_OK);
        xb_page_section(page, ids[i], "Two");
        assert_int_equal(xb_page_check(ctx, page), XB_E_ARGUMENT);
        xb_page_section(page, "three", "Three");
        assert_int_equal(xb_page_write(ctx, page, path), XB_E_ARGUMENT);
        assert_non_null(strstr(xb_ctx_message(ctx), ids[i]));
        xb_page_destroy(page);
    }
    xb_page *page = new_page(ctx, "A page");
    xb_page_text(page, "text before the first section");
    assert_int_equal(xb_page_write(ctx, page, path), XB_E_ARGUMENT);
    xb_page_destroy(page);
    page = new_page(ctx, "A page");
    xb_page_section(page, "one", "One");
    xb_page_figure(page, &(xb_page_figure_info){.svg = "/nowhere/a.svg"});
    assert_int_equal(xb_page_write(ctx, page, path), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "/nowhere/a.svg"));
    xb_page_destroy(page);
    char old[8];
    scratch_read(path, old, sizeof old);
    assert_string_equal(old, "old");
    xb_ctx_destroy(ctx);
    assert_int_equal(scratch_remove(&s), 1);
}

/* Sections keep what was written to them while others are added. */
static void sections_are_many(void **state)
{
    (void)state;
    enum { MANY = 200 };
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    xb_page *page = new_page(ctx, "A page");
    for (int i = 0; i < MANY; i++) {
        char id[16], words[32];
        snprintf(id, sizeof id, "s%d", i);
        snprintf(words, sizeof words, "words of section %d.", i);
        xb_page_section(page, id, id);
        xb_page_text(page, words);
        xb_page_finding(page, &(xb_finding){XB_FINDING_AGREES, NULL, words});
    }
    char *text = written(ctx, &s, page);
    assert_int_equal(count_of(text, "words of section "), 3 * MANY + 1); /* headline */
    assert_int_equal(count_of(text, "words of section 1."), 3);
    free(text);
    xb_ctx_destroy(ctx);
    scratch_remove(&s);
}

/* A verdict stands with its figure and in the list at the top; the same page twice is
 * the same bytes. */
static void the_top_says_what_was_found(void **state)
{
    (void)state;
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    char *text[2];
    for (int round = 0; round < 2; round++) {
        xb_page *page = new_page(ctx, "A page");
        xb_page_summary(page, "In one screen");
        xb_page_section(page, "one", "First");
        xb_page_finding(page, &(xb_finding){XB_FINDING_AGREES, NULL, "it is 3 ± 1"});
        xb_page_finding(page, &(xb_finding){XB_FINDING_UNCLEAR, "no word", "it may be"});
        xb_page_finding(page, &(xb_finding){0});
        xb_page_section(page, "two", "Second");
        text[round] = written(ctx, &s, page);
    }
    assert_string_equal(text[0], text[1]);
    const char *top = strstr(text[0], "<nav>"), *end = strstr(text[0], "</nav>");
    assert_true(top && end);
    const char *headline = strstr(text[0], "<p class=\"headline agree\">");
    assert_true(headline && headline < top);
    assert_true(strstr(headline, "it is 3\u00A0±\u00A01.</p>") < top);
    const char *first = strstr(top, "it is 3\u00A0±\u00A01");
    assert_true(first > strstr(top, "#one") && first < strstr(top, "#two"));
    assert_non_null(strstr(top, "In one screen"));
    assert_int_equal(count_of(text[0], "it is 3\u00A0±\u00A01"), 3);
    assert_int_equal(count_of(text[0], "<span class=\"badge agree\">agrees</span>"), 3);
    assert_int_equal(count_of(text[0], "<span class=\"badge unclear\">no word</span>"),
                     2);
    assert_int_equal(count_of(text[0], "class=\"verdict"), 4);
    free(text[0]);
    free(text[1]);
    xb_ctx_destroy(ctx);
    scratch_remove(&s);
}

/* One clause with a number, remarks left out. */
static void headlines_are_one_sentence(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"Shape matters up to width 16: KL still 0.01 ± 0.001 nats (depth 3; 0.001 would"
         " count). Bimodal noise needs 16.",
         "Shape matters up to width 16: KL still 0.01 ± 0.001 nats."},
        {"KL at most (3.69 ± 0.40)e-04 nats (depth 2). More.",
         "KL at most (3.69 ± 0.40)e-04 nats."},
        {"No family fits; it is 0.34 off; it has 2 levels.",
         "No family fits; it is 0.34 off."},
        {"20 of 39 claims agree; 6 differ.", "20 of 39 claims agree."},
        {"no number at all", "no number at all."},
        {"1.5 of 2", "1.5 of 2."},
    };
    for (int i = 0; i < XB_COUNT(cases); i++) {
        char text[128], little[8];
        xb_headline_text(text, sizeof text, cases[i][0]);
        assert_string_equal(text, cases[i][1]);
        xb_headline_text(little, sizeof little, cases[i][0]);
        assert_true(strlen(little) < sizeof little);
    }
}

/* What the caller says, or the first finding; the kind is the finding's. */
static void the_headline_is_a_finding(void **state)
{
    (void)state;
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    const xb_finding found[] = {{XB_FINDING_AGREES, NULL, "It is 3 (of 4). More."},
                                {XB_FINDING_DIFFERS, "no", "It is 5."}};
    for (int told = -1; told < 2; told++) {
        xb_page *page = new_page(ctx, "A page");
        xb_page_section(page, "one", "One");
        xb_page_finding(page, &found[0]);
        if (told >= 0) xb_page_headline(page, &found[told]);
        xb_page_headline(page, &(xb_finding){0});
        xb_page_finding(page, &found[1]);
        char *text = written(ctx, &s, page);
        assert_int_equal(count_of(text, "class=\"headline"), 1);
        assert_non_null(strstr(text, told == 1 ? "<p class=\"headline differs\"><span"
                                                 " class=\"badge differs\">no</span> It"
                                                 " is 5.</p>"
                                               : "<p class=\"headline agree\"><span"
                                                 " class=\"badge agree\">agrees</span> It"
                                                 " is 3.</p>"));
        free(text);
    }
    xb_ctx_destroy(ctx);
    scratch_remove(&s);
}

static void numbers_stand_with_their_errors(void **state)
{
    (void)state;
    static const char *const names[] = {"n", "kl", "kl_error", "other_error"};
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    xb_table *table = NULL;
    assert_ok(ctx, xb_table_create(ctx, &table, "t", 2, 4, names));
    const double value[2][4] = {{7, 0.123456, 0.00456, 1.0 / 3}, {8, 3.14e-5, NAN, -0.0}};
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 4; c++) xb_table_set(table, r, c, value[r][c]);
    xb_page *page = new_page(ctx, "A page");
    xb_page_section(page, "one", "One");
    xb_page_table(page, table, "numbers", false);
    char *text = written(ctx, &s, page);
    assert_int_equal(count_of(text, "<th scope"), 3);
    assert_non_null(strstr(text, "<td class=\"number\">0.1235\u00A0±\u00A00.0046</td>"
                                 "<td class=\"number\">0.3333</td>"));
    assert_non_null(strstr(text, "<td class=\"number\">3.14e-05</td>"
                                 "<td class=\"number\">0</td>"));
    free(text);
    xb_table_destroy(table);
    xb_ctx_destroy(ctx);
    scratch_remove(&s);
}

static void errors_round_their_numbers(void **state)
{
    (void)state;
    static const struct {
        double value, error;
        const char *text;
    } cases[] = {
        {0.50123, 0.0047, "0.5012 ± 0.0047"},
        {3.14e-5, 1.2e-5, "(3.1 ± 1.2)e-05"},
        {-12.345, 1.5, "-12.3 ± 1.5"},
        {1e-9, 0.5, "0.00 ± 0.50"},
        {-1e-9, 0.5, "0.00 ± 0.50"},
        {-0.0049, 0.5, "0.00 ± 0.50"},
        {-0.0051, 0.5, "-0.01 ± 0.50"},
        {-3e-5, 0.012, "0.000 ± 0.012"},
        {1.5, NAN, "1.5"},
        {1.5, 0, "1.5"},
        {1.5, INFINITY, "1.5"},
        {-0.0, NAN, "0"},
        {NAN, 1, "none"},
        {INFINITY, 1, "inf"},
        {1234567, 8901, "(1.2346 ± 0.0089)e+06"},
    };
    for (int i = 0; i < XB_COUNT(cases); i++) {
        char text[64];
        xb_number_with_error(text, sizeof text, cases[i].value, cases[i].error);
        assert_string_equal(text, cases[i].text);
    }
}

static xb_status make_page(xb_ctx *ctx, const char *svg, const char *path)
{
    xb_page *page = NULL;
    xb_status status = xb_page_create(ctx, &page, "A page", NULL);
    if (status != XB_OK) return status;
    xb_page_summary(page, "Found");
    xb_page_section(page, "one", "One");
    xb_page_figure(page, &(xb_page_figure_info){.svg = svg});
    for (int i = 0; i < 200; i++)
        xb_page_text(page, "Words, for which room is made anew.");
    xb_page_section(page, "two", "Two");
    status = xb_page_write(ctx, page, path);
    xb_page_destroy(page);
    return status;
}

static void no_memory_no_page(void **state)
{
    (void)state;
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    char svg[128];
    snprintf(svg, sizeof svg, "%s", scratch_write(&s, "a.svg", picture, strlen(picture)));
    const char *path = scratch_path(&s, "page.html");
    int k = 0;
    for (; fail_alloc_after(k); k++) {
        xb_status status = make_page(ctx, svg, path);
        if (!fail_alloc_happened()) break;
        assert_int_equal(status, XB_E_MEMORY);
        assert_int_not_equal(access(path, F_OK), 0);
    }
    assert_true(k > 10);
    assert_int_equal(access(path, F_OK), 0);
    xb_ctx_destroy(ctx);
    scratch_remove(&s);
}

/* A text that has lost a part is never taken for the whole, however often it is asked for
 * and whatever is written later. */
static void lost_text_stays_lost(void **state)
{
    (void)state;
    static const char words[] = "Words, for which room is made anew.";
    enum { TIMES = 1000 };
    xb_ctx *ctx = test_ctx();
    int k = 0;
    for (bool failed = true; failed; k++) {
        const char *text = NULL;
        xb_draft *draft = xb_draft_open(ctx);
        assert_non_null(draft);
        fail_alloc_after(k);
        for (int i = 0; i < TIMES; i++) fputs(words, xb_draft_stream(draft));
        const xb_status first = xb_draft_text(ctx, draft, &text);
        failed = fail_alloc_happened();
        assert_int_equal(first, failed ? XB_E_MEMORY : XB_OK);
        assert_int_equal(xb_draft_text(ctx, draft, &text), first);
        fputs(words, xb_draft_stream(draft));
        assert_int_equal(xb_draft_text(ctx, draft, &text), first);
        if (!failed) assert_int_equal(strlen(text), (TIMES + 1) * strlen(words));
        xb_draft_free(draft);
    }
    assert_true(k > 3);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_only_text),
        cmocka_unit_test(nothing_comes_from_outside),
        cmocka_unit_test(figures_share_no_names),
        cmocka_unit_test(only_pictures_are_figures),
        cmocka_unit_test(failures_are_kept),
        cmocka_unit_test(sections_are_many),
        cmocka_unit_test(the_top_says_what_was_found),
        cmocka_unit_test(headlines_are_one_sentence),
        cmocka_unit_test(the_headline_is_a_finding),
        cmocka_unit_test(numbers_stand_with_their_errors),
        cmocka_unit_test(errors_round_their_numbers),
        cmocka_unit_test(no_memory_no_page),
        cmocka_unit_test(lost_text_stays_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
