/* progress.c: see progress.h. The bar is redrawn at most ten times a second and removed
 * at the end; nothing is drawn if stderr is not a terminal. */
#include "progress.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"

/* The signal that asked to stop; 0: none. A signal may interrupt any thread.
 */
static atomic_int stop_asked;
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a signal handler may not wait");

static void ask_to_stop(int number) { stop_asked = number; }

xb_os_stop cli_progress_stop(void) { return xb_os_stop_of(stop_asked); }

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

void cli_progress_start(cli_progress *p, bool quiet)
{
    const char *term = getenv("TERM");
    bool dumb = !term || !*term || strcmp(term, "dumb") == 0;
    *p = (cli_progress){0};
    p->visible = !quiet && !dumb && xb_os_is_terminal(stderr);
    p->colour = !is_set("NO_COLOR");
    xb_os_on_stop(ask_to_stop);
}

static int line_width(void)
{
    const int width = xb_os_terminal_width(stderr);
    return width > 0 ? width : 80;
}

static void format_time(char *out, size_t size, double seconds)
{
    long s = (long)(seconds + 0.5);
    if (s < 3600)
        snprintf(out, size, "%ld:%02ld left", s / 60, s % 60);
    else
        snprintf(out, size, "%ld:%02ld:%02ld left", s / 3600, s / 60 % 60, s % 60);
}

static void draw_bar(const cli_progress *p, double share, double elapsed, int room)
{
    char left[32] = "";
    const double trust = 0.5; /* seconds before an estimate is reliable enough to show */
    if (share > 0.01 && elapsed > trust)
        format_time(left, sizeof left, elapsed * (1 - share) / share);
    if (room > 30) room = 30;
    int full = (int)(share * room);
    fprintf(stderr, " %s", p->colour ? "\033[34m" : "");
    for (int i = 0; i < room; i++) fputc(i < full ? '#' : '-', stderr);
    fprintf(stderr, "%s %3d%% %s", p->colour ? "\033[0m" : "", (int)(100 * share), left);
}

/* Without colours no escape codes are used at all; blanks clear the line. */
static void clear_line(const cli_progress *p)
{
    if (p->colour)
        fputs("\r\033[K", stderr);
    else
        fprintf(stderr, "\r%*s\r", line_width() - 1, "");
}

static void draw(cli_progress *p, const xb_progress *event, double time)
{
    enum { BESIDE_BAR = 24 }; /* percent, time left, blanks */
    int width = line_width(), task = (int)strlen(p->task);
    if (task > width / 2) task = width / 2;
    int room = width - task - BESIDE_BAR;
    clear_line(p);
    fprintf(stderr, "%.*s", task, p->task);
    if (event->total > 0 && room >= 5) {
        double share = (double)event->done / (double)event->total;
        draw_bar(p, share < 0 ? 0 : share > 1 ? 1 : share, time - p->started, room);
    } else if (event->total <= 0 && event->done > 0) {
        fprintf(stderr, " %lld", (long long)event->done);
    }
    fflush(stderr);
    p->drawn = true;
    p->last = time;
}

bool cli_progress_event(void *arg, const xb_progress *event)
{
    const double interval = 0.1;
    cli_progress *p = arg;
    if (stop_asked) return false;
    if (!p->visible) return true;
    double time = xb_os_seconds();
    if (strncmp(p->task, event->task, sizeof p->task - 1) != 0) {
        snprintf(p->task, sizeof p->task, "%s", event->task);
        if (!p->whole || p->started == 0) p->started = time;
    }
    if (time - p->last >= interval) draw(p, event, time);
    return true;
}

void cli_progress_clear(cli_progress *p)
{
    if (!p->drawn) return;
    clear_line(p);
    fflush(stderr);
    p->drawn = false;
}
