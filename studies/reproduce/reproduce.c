/* reproduce.c: runs the studies that are not done yet in the paper's order, judges all
 * claims, and writes the page. A figure's study is always read back from its files before
 * it is drawn and judged, so that old and new results are treated identically.
 *
 * Studies run one after the other: the long ones keep all threads busy by themselves. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "crossbayes/extend.h"
#include "crossbayes/work.h"
#include "crossbayes/outfile.h"
#include "crossbayes/files.h"
#include "reproduce/reproduction.h"
#include "reproduce/stamp.h"
#include "xb_studies_build.h"

enum { FINGERPRINT_TEXT = 2048, TASK_TEXT = 128, BUILD_TEXT = 128, THOUSAND = 1000 };

typedef struct job {
    xb_ctx *ctx;
    const char *dir;
    xb_reproduction *r;
    unsigned wanted; /* figures as bits */
    unsigned formats;
    char build[BUILD_TEXT]; /* build ids of both libraries */
    /* progress of the whole run */
    xb_progress_fn listener;
    void *listener_arg;
    double cost_all, cost_done; /* total cost of the figures to be made, and of those
                                   done */
    double spent;               /* seconds spent on those done */
    double started;             /* start time of the current figure */
    double share;               /* share of it that is done, as far as reported */
    int figure;                 /* its number; 0: none */
} job;

/* ---- progress */

static double cost_of(const job *j, int figure)
{
    return xb_exhibit_at(figure)->cost[j->r->opt.effort];
}

/* The progress of the current figure: what its study reports, if that covers the whole
 * study, else an estimate by the clock at the pace of the figures before. */
static double share_done(const job *j, const xb_progress *event)
{
    const double never_quite = 0.95;
    if (xb_exhibit_at(j->figure)->steady && event->total > 0)
        return (double)event->done / (double)event->total;
    double pace = j->cost_done > 0 ? j->spent / j->cost_done : 1;
    return fmin((xb_os_seconds() - j->started) / (pace * cost_of(j, j->figure)),
                never_quite);
}

/* An xb_progress_fn that converts a study's event into one of the whole run. */
static bool tell_whole(void *arg, const xb_progress *event)
{
    job *j = arg;
    if (!j->listener) return true;
    char task[TASK_TEXT];
    if (j->figure == 0) return j->listener(j->listener_arg, event);
    j->share = fmax(j->share, share_done(j, event));
    double done = j->cost_done + j->share * cost_of(j, j->figure);
    snprintf(task, sizeof task, "Fig. %d: %s", j->figure, event->task);
    const xb_progress whole = {task, (int64_t)(THOUSAND * done / j->cost_all), THOUSAND};
    return j->listener(j->listener_arg, &whole);
}

static void figure_begins(job *j, int figure)
{
    j->figure = figure;
    j->share = 0;
    j->started = xb_os_seconds();
}

static void figure_ends(job *j)
{
    j->spent += xb_os_seconds() - j->started;
    j->cost_done += cost_of(j, j->figure);
    j->figure = 0;
}

/* ---- the settings behind a figure */

static bool needs_faces(int figure)
{
    return strcmp(xb_exhibit_at(figure)->study, "utkface") == 0;
}

/* All settings that its files depend on. */
static void fingerprint_of(const job *j, char out[FINGERPRINT_TEXT], int figure)
{
    char command[XB_COMMAND_TEXT];
    xb_exhibit_command(command, figure, &j->r->opt);
    snprintf(out, FINGERPRINT_TEXT, "%s | %s | data %s", j->build, command,
             needs_faces(figure) ? j->r->data : "none");
}

/* All settings that unfinished work depends on; two figures may share such work. */
static void work_fingerprint(const job *j, char out[FINGERPRINT_TEXT], int figure)
{
    const xb_reproduce_options *o = &j->r->opt;
    snprintf(out, FINGERPRINT_TEXT, "%s | %s | %s | seed %llu | data %s\n", j->build,
             xb_exhibit_at(figure)->study, xb_effort_name(o->effort),
             (unsigned long long)o->seed, needs_faces(figure) ? j->r->data : "none");
}

typedef struct place {
    char dir[XB_REPRODUCE_PATH];
    char fingerprint[FINGERPRINT_TEXT];
    xb_stamp stamp;
} place;

static xb_status place_find(const job *j, place *out, int figure)
{
    char name[16];
    snprintf(name, sizeof name, "fig%d", figure);
    XB_TRY(xb_reproduction_path(j->ctx, out->dir, j->dir, name));
    fingerprint_of(j, out->fingerprint, figure);
    out->stamp = (xb_stamp){out->dir, xb_exhibit_at(figure)->study, out->fingerprint};
    return XB_OK;
}

/* ---- making */

/* Runs the study; the unfinished work of a stopped one stays in a separate folder. */
static xb_status run_study(const job *j, xb_study **out, int figure)
{
    const xb_exhibit *x = xb_exhibit_at(figure);
    char work[XB_REPRODUCE_PATH], fingerprint[FINGERPRINT_TEXT];
    if (x->work) {
        XB_TRY(xb_reproduction_path(j->ctx, work, j->dir, x->work));
        work_fingerprint(j, fingerprint, figure);
        if (xb_ranks_first(j->ctx)) XB_TRY(xb_stamp_work_open(j->ctx, work, fingerprint));
        /* The study is already open. */
        XB_TRY(xb_ranks_share(j->ctx, fingerprint, sizeof fingerprint));
    }
    xb_study_options o = xb_exhibit_options(figure, &j->r->opt, x->work ? work : NULL);
    return xb_study_run(j->ctx, out, x->study, &o);
}

/* Reads the study back from its files in `dir`, and draws its figures there. */
static xb_status draw(const job *j, const char *dir, const place *p, unsigned formats)
{
    xb_study *study = NULL;
    XB_TRY(xb_study_read(j->ctx, &study, dir, p->stamp.study));
    xb_status status = xb_report_study(j->ctx, study, dir, formats);
    xb_study_destroy(study);
    return status;
}

/* Removes the page and the list of claims, because they describe figures that are about
 * to be replaced. */
static xb_status remove_story(const job *j)
{
    static const char *const name[] = {"index.html", "claims.json"};
    char path[XB_REPRODUCE_PATH];
    for (int i = 0; i < XB_COUNT(name); i++) {
        XB_TRY(xb_reproduction_path(j->ctx, path, j->dir, name[i]));
        if (!xb_os_unlink(path) && errno != ENOENT)
            return xb_fail(j->ctx, XB_E_IO, "%s: cannot replace it: %s", path,
                           strerror(errno));
    }
    return XB_OK;
}

/* Writes all files of the figure to a stage, then puts them in place, the stamp last. */
static xb_status write_figure(const job *j, const place *p, const xb_study *study)
{
    xb_stage *stage = NULL;
    XB_TRY(xb_stage_open(j->ctx, &stage, p->dir));
    const char *dir = xb_stage_dir(stage);
    xb_status status = xb_study_write(j->ctx, study, dir);
    if (status == XB_OK) status = draw(j, dir, p, j->formats);
    if (status == XB_OK) status = remove_story(j);
    if (status == XB_OK)
        return xb_stage_publish(j->ctx, stage,
                                (const char *const[]){xb_stamp_name(), NULL});
    xb_stage_discard(j->ctx, stage);
    return status;
}

/* Makes study and figures. Files of an earlier run stay until all of them are replaced.
 */
static xb_status make_anew(const job *j, const place *p, int figure)
{
    xb_older older = {0};
    xb_study *study = NULL;
    XB_TRY(run_study(j, &study, figure));
    if (!xb_ranks_first(j->ctx)) {
        xb_study_destroy(study);
        return XB_OK;
    }
    xb_status status = xb_older_note(j->ctx, &older, &p->stamp);
    if (status == XB_OK) status = write_figure(j, p, study);
    xb_study_destroy(study);
    if (status == XB_OK) xb_older_remove(&older, &p->stamp);
    xb_older_free(&older);
    return status;
}

/* Makes the study, its figures and its stamp; only the figures if nothing but a format is
 * missing. */
static xb_status make_figure(job *j, int figure, unsigned there)
{
    place p;
    XB_TRY(place_find(j, &p, figure));
    if (there && !xb_ranks_first(j->ctx)) return XB_OK;
    XB_TRY(there ? draw(j, p.dir, &p, there | j->formats) : make_anew(j, &p, figure));
    if (!xb_ranks_first(j->ctx)) return XB_OK;
    return xb_stamp_write(j->ctx, &p.stamp, there | j->formats);
}

/* The study's provenance says how it can be made alone. */
static xb_status make_with_origin(job *j, int figure, unsigned there)
{
    char before[XB_ORIGIN_MAX], command[XB_COMMAND_TEXT];
    snprintf(before, sizeof before, "%s", xb_ctx_origin(j->ctx));
    xb_exhibit_command(command, figure, &j->r->opt);
    xb_ctx_set_origin(j->ctx, command);
    figure_begins(j, figure);
    xb_status status = make_figure(j, figure, there);
    figure_ends(j);
    xb_ctx_set_origin(j->ctx, before);
    return status;
}

static bool is_wanted(const job *j, int figure) { return j->wanted >> figure & 1u; }

/* Finds which formats of each figure are left from an earlier run, as seen by the first
 * rank. */
static xb_status find_figures(const job *j, unsigned there[XB_PAPER_FIGURES + 1])
{
    for (int f = 1; f <= XB_PAPER_FIGURES && xb_ranks_first(j->ctx); f++) {
        place p;
        XB_TRY(place_find(j, &p, f));
        XB_TRY(xb_stamp_check(j->ctx, &there[f], &p.stamp));
    }
    return xb_ranks_share(j->ctx, there, (XB_PAPER_FIGURES + 1) * sizeof *there);
}

static xb_status make_figures(job *j)
{
    unsigned there[XB_PAPER_FIGURES + 1] = {0};
    XB_TRY(find_figures(j, there));
    for (int f = 1; f <= XB_PAPER_FIGURES; f++) {
        bool whole = (there[f] & j->formats) == j->formats;
        if (there[f] && (whole || !is_wanted(j, f))) j->r->state[f] = XB_FIGURE_KEPT;
        if (is_wanted(j, f) && !whole) j->cost_all += cost_of(j, f);
    }
    for (int f = 1; f <= XB_PAPER_FIGURES; f++) {
        if (!is_wanted(j, f) || j->r->state[f] == XB_FIGURE_KEPT) continue;
        XB_TRY(make_with_origin(j, f, there[f]));
        j->r->state[f] = XB_FIGURE_MADE;
    }
    return XB_OK;
}

/* ---- judging */

static void judge_claims(xb_reproduction *r, int figure, const xb_evidence *e)
{
    for (int i = 0; i < xb_claim_count(); i++) {
        const xb_claim_kind *kind = xb_claim_at(i);
        if (kind->figure != figure) continue;
        xb_found *found = &r->found[r->count++];
        found->kind = kind;
        xb_claim_judge(&found->judgement, kind, e);
    }
}

static xb_status judge_figure(job *j, int figure)
{
    place p;
    XB_TRY(place_find(j, &p, figure));
    xb_evidence e = {.made_up = xb_exhibit_made_up(figure, &j->r->opt)};
    xb_law *device = NULL, *mtj = NULL;
    xb_study *study = NULL;
    xb_status status = xb_law_parse(j->ctx, &device, xb_exhibit_at(figure)->device);
    if (status == XB_OK) status = xb_law_parse(j->ctx, &mtj, xb_exhibit_at(1)->device);
    if (status == XB_OK) status = xb_study_read(j->ctx, &study, p.dir, p.stamp.study);
    if (status == XB_OK) {
        e.study = study;
        e.device = device;
        e.mtj = mtj;
        judge_claims(j->r, figure, &e);
    }
    xb_study_destroy(study);
    xb_law_destroy(device);
    xb_law_destroy(mtj);
    return status;
}

static xb_status judge_all(job *j)
{
    j->r->found = xb_new(j->ctx, xb_claim_count(), sizeof *j->r->found);
    if (!j->r->found) return XB_E_MEMORY;
    for (int f = 1; f <= XB_PAPER_FIGURES; f++)
        if (j->r->state[f] != XB_FIGURE_ABSENT) XB_TRY(judge_figure(j, f));
    return XB_OK;
}

/* ---- the whole run */

static xb_status write_claims(const job *j)
{
    char path[XB_REPRODUCE_PATH], *text = NULL;
    XB_TRY(xb_reproduction_path(j->ctx, path, j->dir, "claims.json"));
    XB_TRY(xb_reproduction_json(j->ctx, &text, j->r));
    xb_status status = xb_outfile_text(j->ctx, path, text);
    xb_free(text);
    return status;
}

static xb_status write_page(const job *j)
{
    char path[XB_REPRODUCE_PATH], before[XB_ORIGIN_MAX];
    XB_TRY(xb_reproduction_path(j->ctx, path, j->dir, "index.html"));
    snprintf(before, sizeof before, "%s", xb_ctx_origin(j->ctx));
    xb_ctx_set_origin(j->ctx, j->r->command);
    xb_status status = xb_reproduction_page(j->ctx, j->r, j->dir, path);
    xb_ctx_set_origin(j->ctx, before);
    return status;
}

static xb_status find_data(const job *j)
{
    xb_reproduction *r = j->r;
    uint64_t hash = 0;
    snprintf(r->data, sizeof r->data, "synthetic");
    if (!r->opt.faces) return XB_OK;
    XB_TRY(xb_images_checksum(j->ctx, &hash, r->opt.faces));
    snprintf(r->data, sizeof r->data, "%016llx", (unsigned long long)hash);
    return XB_OK;
}

/* The text is the same for any folder, formats and number of threads. */
static void say_command(xb_reproduction *r)
{
    static const char *const flag[XB_EFFORTS] = {"", " --quick", " --full"};
    char faces[XB_COMMAND_TEXT / 2] = "";
    if (r->opt.faces) snprintf(faces, sizeof faces, " --data '%s'", r->opt.faces);
    snprintf(r->command, sizeof r->command, "crossbayes reproduce%s%s --seed %llu",
             flag[r->opt.effort], faces, (unsigned long long)r->opt.seed);
}

static xb_status run_job(job *j)
{
    say_command(j->r);
    snprintf(j->build, sizeof j->build, "%s %s", xb_build_id(), XB_STUDIES_HASH);
    if (xb_ranks_first(j->ctx)) {
        XB_TRY(find_data(j));
        XB_TRY(xb_dir_make(j->ctx, j->dir));
        xb_sweep(j->dir);
    }
    XB_TRY(make_figures(j));
    XB_TRY(xb_ranks_deliver(j->ctx));
    XB_TRY(judge_all(j));
    XB_TRY(write_claims(j));
    return write_page(j);
}

static xb_status plan_figure(xb_ctx *ctx, const char *dir, int figure, const char *label)
{
    const unsigned all = XB_FIGURE_SVG | XB_FIGURE_PNG | XB_FIGURE_PDF;
    const xb_exhibit *x = xb_exhibit_at(figure);
    char name[16], path[XB_REPRODUCE_PATH], work[XB_REPRODUCE_PATH];
    snprintf(name, sizeof name, "fig%d", figure);
    XB_TRY(xb_reproduction_path(ctx, path, dir, name));
    XB_TRY(xb_reproduction_path(ctx, work, dir, x->work ? x->work : ""));
    const xb_reproduce_options standard = xb_reproduce_options_default();
    xb_study_options o = xb_exhibit_options(figure, &standard, x->work ? work : NULL);
    if (x->work) XB_TRY(xb_stamp_work_plan(ctx, work, label));
    XB_TRY(xb_study_plan(ctx, x->study, &o, path, label));
    XB_TRY(xb_report_plan_study(ctx, x->study, path, all, label));
    return xb_stamp_plan(ctx, path, label);
}

xb_status xb_reproduce_plan(xb_ctx *ctx, const char *dir, const char *label)
{
    for (int f = 1; f <= XB_PAPER_FIGURES; f++) XB_TRY(plan_figure(ctx, dir, f, label));
    XB_TRY(xb_files_plan_in(ctx, dir, "claims.json", label));
    return xb_files_plan_in(ctx, dir, "index.html", label);
}

static xb_status check(xb_ctx *ctx, const xb_reproduce_options *o)
{
    const unsigned all = (2u << XB_PAPER_FIGURES) - 2u; /* bits 1 to 8 */
    const unsigned known = XB_FIGURE_SVG | XB_FIGURE_PNG | XB_FIGURE_PDF;
    if (o->figures & ~all)
        return xb_fail(ctx, XB_E_ARGUMENT, "unknown figure: expected 1 to %d",
                       XB_PAPER_FIGURES);
    if (o->faces && (strchr(o->faces, '\'') || !xb_utf8_valid(o->faces)))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%s: expected a folder of faces whose name is UTF-8 and has no '",
                       o->faces);
    if (o->formats & ~known)
        return xb_fail(ctx, XB_E_ARGUMENT, "unknown format of figures");
    if (o->effort < XB_EFFORT_NORMAL || o->effort > XB_EFFORT_FULL)
        return xb_fail(ctx, XB_E_ARGUMENT, "unknown effort");
    return XB_OK;
}

xb_status xb_reproduce(xb_ctx *ctx, xb_reproduction **out, const char *dir,
                       const xb_reproduce_options *opt)
{
    xb_reproduce_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, reproduce, &chosen, opt, seed));
    opt = &chosen;
    XB_TRY(check(ctx, opt));
    xb_reproduction *r = xb_new(ctx, 1, sizeof *r);
    if (!r) return XB_E_MEMORY;
    r->opt = *opt;
    job j = {.ctx = ctx,
             .dir = dir,
             .r = r,
             .wanted = opt->figures ? opt->figures : ~0u,
             .formats = opt->formats | XB_FIGURE_SVG};
    j.listener = xb_ctx_progress(ctx, &j.listener_arg);
    xb_ctx_set_progress(ctx, tell_whole, &j);
    xb_status status = run_job(&j);
    xb_ctx_set_progress(ctx, j.listener, j.listener_arg);
    if (status == XB_OK)
        *out = r;
    else
        xb_reproduction_destroy(r);
    return status;
}
