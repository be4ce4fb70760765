/* cmd_reproduce.c: `crossbayes reproduce`: makes all figures of the paper, or some, and a
 * page that compares each with what the paper says. The terminal gets a summary. */
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "commands.h"
#include "outputs.h"
#include "print.h"
#include "show.h"

enum { WORD_MAX = 32 };

/* ---- which figures */

/* Returns the bits of the figures that a word names ("4", "fig4" or a study's name); 0:
 * none. */
static unsigned figures_of(const char *word)
{
    unsigned bits = 0;
    const char *digits = strncmp(word, "fig", 3) == 0 ? word + 3 : word;
    for (int f = 1; f <= XB_PAPER_FIGURES; f++) {
        char number[8];
        snprintf(number, sizeof number, "%d", f);
        if (strcmp(digits, number) == 0 || strcmp(word, xb_paper_figure_study(f)) == 0)
            bits |= 1u << f;
    }
    return bits;
}

static cli_exit unknown_figure(cli_session *s, const char *word)
{
    const char *names[XB_PAPER_FIGURES];
    for (int f = 1; f <= XB_PAPER_FIGURES; f++) names[f - 1] = xb_paper_figure_study(f);
    const char *nearest = cli_nearest(word, names, XB_PAPER_FIGURES);
    if (nearest)
        return cli_fail(s, CLI_USAGE, "--only: no figure '%s', did you mean '%s'?", word,
                        nearest);
    return cli_fail(s, CLI_USAGE,
                    "--only: no figure '%s', expected 1 to %d or the name of a study",
                    word, XB_PAPER_FIGURES);
}

static cli_exit read_figures(cli_session *s, unsigned *out)
{
    const char *list = cli_text(&s->args, "only", "");
    *out = 0;
    while (*list) {
        char word[WORD_MAX];
        size_t length = strcspn(list, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, list);
        unsigned bits = length < sizeof word ? figures_of(word) : 0;
        if (bits == 0) return unknown_figure(s, word);
        *out |= bits;
        list += length;
        list += *list == ',';
    }
    if (*out == 0 && cli_flag(&s->args, "only"))
        return cli_fail(s, CLI_USAGE, "--only: expected figures, such as 1,4 or energy");
    return CLI_DONE;
}

static cli_exit read_options(cli_session *s, xb_reproduce_options *o)
{
    *o = xb_reproduce_options_default();
    bool quick = cli_flag(&s->args, "quick"), full = cli_flag(&s->args, "full");
    if (quick && full)
        return cli_fail(s, CLI_USAGE, "--quick and --full exclude each other");
    o->effort = quick ? XB_EFFORT_QUICK : full ? XB_EFFORT_FULL : XB_EFFORT_NORMAL;
    o->faces = cli_text(&s->args, "data", NULL);
    o->formats = cli_formats(cli_text(&s->args, "format", "svg,png"));
    o->seed = cli_seed(s);
    return read_figures(s, &o->figures);
}

/* ---- the summary */

static int tally(const xb_reproduction *r, int figure, xb_finding_kind finding)
{
    int n = 0;
    for (int i = 0; i < xb_reproduction_count(r); i++) {
        xb_claim c = xb_reproduction_claim(r, i);
        n += (figure == 0 || c.figure == figure) && c.finding == finding;
    }
    return n;
}

static void show_figures(const xb_reproduction *r)
{
    static const char *const states[] = {"not made", "kept", "made"};
    printf("%-8s%-12s%8s%9s%13s\n", "", "study", "agree", "differ", "cannot tell");
    for (int f = 1; f <= XB_PAPER_FIGURES; f++) {
        xb_figure_state state = xb_reproduction_figure(r, f);
        printf("Fig. %d  %-12s", f, xb_paper_figure_study(f));
        if (state == XB_FIGURE_ABSENT)
            printf("%30s", "");
        else
            printf("%8d%9d%13d", tally(r, f, XB_FINDING_AGREES),
                   tally(r, f, XB_FINDING_DIFFERS), tally(r, f, XB_FINDING_UNCLEAR));
        printf("   %s\n", states[state]);
    }
}

/* Lists the claims that differ, which interest a reader most. */
static void show_differences(const xb_reproduction *r)
{
    enum { COLUMN = 8 };
    if (tally(r, 0, XB_FINDING_DIFFERS) > 0)
        printf("\nWhere we differ from the paper:\n");
    for (int i = 0; i < xb_reproduction_count(r); i++) {
        xb_claim c = xb_reproduction_claim(r, i);
        char text[1024];
        if (c.finding != XB_FINDING_DIFFERS) continue;
        snprintf(text, sizeof text, "Paper: %s Here: %s.", c.claim, c.number);
        printf("Fig. %lld  ", (long long)c.figure);
        cli_print_words(text, COLUMN, true);
    }
}

static cli_exit show_page(cli_session *s, const char *dir)
{
    char *page = cli_join(dir, "index", ".html");
    if (!page) return cli_fail(s, CLI_FAILED, "not enough memory");
    printf("\nThe page: ");
    cli_print_address(page);
    free(page);
    return CLI_DONE;
}

static cli_exit show(cli_session *s, const xb_reproduction *r, const char *dir)
{
    if (cli_json(s)) {
        char *text = NULL;
        xb_status status = xb_reproduction_json(s->ctx, &text, r);
        if (status != XB_OK) return cli_status(s, status);
        puts(text);
        xb_free(text);
        return CLI_DONE;
    }
    show_figures(r);
    if (cli_quiet(s)) return CLI_DONE;
    show_differences(r);
    return show_page(s, dir);
}

static bool page_is_there(const char *dir)
{
    char *page = cli_join(dir, "index", ".html");
    bool there = page && xb_os_exists(page);
    free(page);
    return there;
}

static cli_exit run(cli_session *s)
{
    const char *dir = cli_text(&s->args, "output", "reproduction");
    xb_reproduce_options options;
    xb_reproduction *r = NULL;
    cli_exit code = read_options(s, &options);
    if (code != CLI_DONE) return code;
    char label[CLI_LABEL];
    cli_output_label(label, s, "output", dir);
    code = cli_status(s, xb_reproduce_plan(s->ctx, dir, label));
    if (code != CLI_DONE) return code;
    s->progress.whole = true;
    const bool had = page_is_there(dir);
    xb_status status = xb_reproduce(s->ctx, &r, dir, &options);
    cli_progress_clear(&s->progress);
    if (status == XB_E_CANCELLED)
        return cli_fail(
            s, CLI_FAILED, "stopped%s; the same command continues where this one stopped",
            had && !page_is_there(dir) ? ", and the older run's page was removed because "
                                         "some of its figures were replaced"
                                       : "");
    code = status == XB_OK ? show(s, r, dir) : cli_status(s, status);
    xb_reproduction_destroy(r);
    return code;
}

static const cli_option options[] = {
    {"output", 'o', CLI_OUTPUT, "DIR",
     "folder for the results; created if missing [reproduction]", 0, 0},
    {"quick", 0, CLI_FLAG, NULL, "fewer draws, nets and seeds; takes half a minute", 0,
     0},
    {"full", 0, CLI_FLAG, NULL,
     "three seeds and four depths for Fig. 4 and 8; takes half an hour", 0, 0},
    {"only", 0, CLI_TEXT, "FIG,..",
     "figures to make, 1 to 8 or names of studies, separated by commas [all]", 0, 0},
    {"data", 0, CLI_PATH, "DIR", "folder of UTKFace images for Fig. 6 [synthetic faces]",
     0, 0},
    {"format", 0, CLI_CHOICES, CLI_FORMATS, "formats of the figures [svg,png]", 0, 0},
    CLI_BACKEND_OPTION,
};

const cli_command cli_command_reproduce = {
    .name = "reproduce",
    .group = "The paper's experiments",
    .about = "all figures of the paper, with a page that says what agrees",
    .usage = "[--quick|--full] [-o DIR] [options]",
    .example = "crossbayes reproduce --quick --only 1,2 -o paper",
    .options = options,
    .n_options = CLI_COUNT_OF(options),
    .run = run,
    .together = true,
};
