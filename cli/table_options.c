/* table_options.c: see table_options.h. */
#include "table_options.h"

#include <stdlib.h>
#include <string.h>

static const char *const lists[] = {"drop", "only", "use-anyway"};

static size_t bytes_of(const cli_value *v)
{
    size_t bytes = 0;
    for (int i = 0; i < v->n_texts; i++) bytes += strlen(v->texts[i]) + 1;
    return bytes;
}

/* Collects the names in "a,b" of every use of an option. Returns their number, or -1 if
 * one is empty. */
static int64_t split(const cli_value *v, char **text, const char **name)
{
    int64_t n = 0;
    for (int i = 0; i < v->n_texts; i++) {
        memcpy(*text, v->texts[i], strlen(v->texts[i]) + 1);
        for (char *p = *text; p;) {
            char *next = strchr(p, ',');
            if (next) *next++ = '\0';
            if (!*p) return -1;
            name[n++] = p;
            p = next;
        }
        *text += strlen(v->texts[i]) + 1;
    }
    return n;
}

static cli_exit read_lists(cli_session *s, cli_table *t)
{
    const char *const **names[] = {&t->opt.drop, &t->opt.columns, &t->opt.use_anyway};
    int64_t *count[] = {&t->opt.n_drop, &t->opt.n_columns, &t->opt.n_use_anyway};
    char *text = t->text;
    const char **name = t->name;
    for (int i = 0; i < CLI_COUNT_OF(lists); i++) {
        const cli_value *v = cli_get(&s->args, lists[i]);
        if (!v->given) continue;
        *count[i] = split(v, &text, name);
        if (*count[i] < 0)
            return cli_fail(s, CLI_USAGE,
                            "--%s: expected column names separated by commas", lists[i]);
        *names[i] = name;
        name += *count[i];
    }
    return CLI_DONE;
}

cli_exit cli_table_read(cli_session *s, cli_table *t)
{
    size_t bytes = 1;
    *t = (cli_table){.opt = xb_frame_options_default()};
    for (int i = 0; i < CLI_COUNT_OF(lists); i++)
        bytes += bytes_of(cli_get(&s->args, lists[i]));
    t->text = malloc(bytes);
    t->name = calloc(bytes, sizeof *t->name);
    if (!t->text || !t->name) return cli_status(s, XB_E_MEMORY);
    t->opt.prepare = true;
    t->opt.id = cli_text(&s->args, "id", NULL);
    t->opt.test_share = cli_number(&s->args, "test-share", 0);
    t->opt.test_seed = cli_seed(s);
    if (cli_flag(&s->args, "only") && cli_flag(&s->args, "drop"))
        return cli_fail(s, CLI_USAGE, "--only and --drop exclude each other");
    cli_exit code =
        cli_status(s, xb_missing_parse(s->ctx, &t->opt.missing,
                                       cli_text(&s->args, "missing", "impute")));
    return code == CLI_DONE ? read_lists(s, t) : code;
}

void cli_table_free(cli_table *t)
{
    free(t->text);
    free(t->name);
    *t = (cli_table){0};
}

void cli_table_say(cli_session *s, const xb_frame *frame, bool learnt)
{
    const int64_t n = xb_frame_note_count(frame);
    if (cli_quiet(s) || n == 0) return;
    cli_progress_clear(&s->progress);
    for (int64_t i = 0; i < n; i++) {
        const char *note = xb_frame_note_at(frame, i);
        const bool missing = learnt && strncmp(note, "missing ", 8) == 0;
        fprintf(stderr, "  %s%s\n", note,
                missing ? " (--missing refuse makes this an error)" : "");
    }
    if (learnt && xb_frame_left_out(frame) > 0)
        fprintf(stderr,
                "  to learn from a column that was left out, use --use-anyway COLUMN\n");
}
