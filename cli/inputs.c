/* inputs.c: see inputs.h. Files left out of a folder are reported on stderr. */
#include "inputs.h"

#include <stdlib.h>
#include <string.h>

#include "crossbayes/extend.h"
#include "model_data.h"
#include "print.h"
#include "table_options.h"

/* ---- one column */

xb_status cli_column_read(cli_session *s, double **out, int64_t *n, const char *path)
{
    const char *column = cli_text(&s->args, "column", NULL);
    xb_status status = xb_column_read(s->ctx, out, n, path, column);
    const char *message = xb_ctx_message(s->ctx);
    if (status == XB_OK || column || !strstr(message, "; choose one by ")) return status;
    return xb_fail(s->ctx, status, "%s: --column", message);
}

/* ---- images */

static void say_found(const cli_session *s, const xb_images *images)
{
    const xb_image_report *r = xb_images_report(images);
    char name[CLI_SHOWN];
    if (cli_quiet(s)) return;
    if (xb_image_report_corrupt(r) > 0)
        fprintf(stderr, "  %lld broken %s left out, the first: %s\n",
                (long long)xb_image_report_corrupt(r),
                xb_plural(xb_image_report_corrupt(r), "file", "files"),
                cli_shown(name, xb_image_report_corrupt_name(r)));
    if (xb_image_report_unlabelled(r) > 0)
        fprintf(stderr, "  %lld %s without a target left out, the first: %s\n",
                (long long)xb_image_report_unlabelled(r),
                xb_plural(xb_image_report_unlabelled(r), "image", "images"),
                cli_shown(name, xb_image_report_unlabelled_name(r)));
    if (xb_image_report_odd(r) > 0)
        fprintf(stderr, "  %lld %s an age, the first: %s\n",
                (long long)xb_image_report_odd(r),
                xb_plural(xb_image_report_odd(r), "name is odd but has",
                          "names are odd but have"),
                cli_shown(name, xb_image_report_odd_name(r)));
}

static void say_copies(const cli_session *s, const xb_images *images)
{
    const xb_image_report *r = xb_images_report(images);
    if (cli_quiet(s) ||
        xb_image_report_duplicates(r) + xb_image_report_conflicting(r) == 0)
        return;
    fprintf(stderr, "  left out: %lld %s, %lld %s whose copies differ in target\n",
            (long long)xb_image_report_duplicates(r),
            xb_plural(xb_image_report_duplicates(r), "copy", "copies"),
            (long long)xb_image_report_conflicting(r),
            xb_plural(xb_image_report_conflicting(r), "image", "images"));
}

static xb_image_options image_options(const cli_session *s)
{
    const cli_args *a = &s->args;
    xb_image_options o = xb_image_options_default();
    o.target_table = cli_text(a, "target-table", NULL);
    o.file = cli_text(a, "file-column", NULL);
    o.labels = cli_text(a, "labels", NULL);
    o.cache = cli_text(a, "cache", NULL);
    o.no_cache = cli_flag(a, "no-cache");
    o.skip_corrupt = cli_flag(a, "skip-corrupt");
    return o;
}

static cli_exit check_cache(cli_session *s)
{
    if (!cli_flag(&s->args, "cache") || !cli_flag(&s->args, "no-cache")) return CLI_DONE;
    return cli_fail(s, CLI_USAGE, "--cache and --no-cache exclude each other");
}

static xb_status copy_target(cli_inputs *in)
{
    const double *all = xb_images_target(in->images);
    if (!all) return XB_OK;
    in->target = malloc((size_t)in->n * sizeof *in->target);
    if (!in->target) return XB_E_MEMORY;
    for (int64_t i = 0; i < in->n; i++) in->target[i] = all[in->select[i]];
    return XB_OK;
}

static xb_status open_images(cli_session *s, cli_inputs *in, const char *path,
                             const xb_image_options *o, bool distinct)
{
    xb_part part = XB_PART_ALL;
    xb_status status = xb_part_parse(s->ctx, &part, cli_text(&s->args, "part", "all"));
    if (status == XB_OK) status = xb_images_open(s->ctx, &in->images, path, o);
    cli_progress_clear(&s->progress);
    if (status != XB_OK) return status;
    say_found(s, in->images);
    if (distinct) say_copies(s, in->images);
    status = xb_images_select(s->ctx, &in->select, &in->n, in->images, part, distinct);
    return status == XB_OK ? copy_target(in) : status;
}

/* File names give the target if no table is given and the target is `age`. */
static cli_exit folder_target(cli_session *s, xb_image_options *o, const char *target,
                              bool learning)
{
    o->target = target;
    if (o->target_table || o->unlabelled) return CLI_DONE;
    o->ages_in_names = target && strcmp(target, "age") == 0;
    if (o->ages_in_names) return CLI_DONE;
    return cli_fail(s, CLI_USAGE,
                    "missing --target-table TABLE, a table of file names and targets%s",
                    learning ? ", or --target age for file names like UTKFace's" : "");
}

static cli_exit learn_images(cli_session *s, cli_inputs *in, const char *path,
                             xb_image_source source)
{
    xb_image_options o = image_options(s);
    o.size = (int64_t)cli_count(&s->args, "size", 0);
    if (cli_flag(&s->args, "grey")) o.channels = 1;
    if (cli_flag(&s->args, "classes")) o.target_kind = XB_TARGET_CLASS;
    cli_exit code = check_cache(s);
    if (code == CLI_DONE && source == XB_IMAGES_FOLDER)
        code = folder_target(s, &o, cli_text(&s->args, "target", NULL), true);
    if (code != CLI_DONE) return code;
    return cli_status(s, open_images(s, in, path, &o, true));
}

/* ---- tables */

static cli_exit learn_table(cli_session *s, cli_inputs *in, const char *path)
{
    cli_table table;
    cli_exit code = cli_table_read(s, &table);
    table.opt.target = cli_text(&s->args, "target", NULL);
    if (cli_flag(&s->args, "classes")) table.opt.target_kind = XB_TARGET_CLASS;
    if (code == CLI_DONE)
        code = cli_status(s, xb_frame_read(s->ctx, &in->frame, path, &table.opt));
    cli_table_free(&table);
    if (code != CLI_DONE) return code;
    in->n = xb_frame_row_count(in->frame) - xb_frame_test_count(in->frame);
    cli_table_say(s, in->frame, true);
    return CLI_DONE;
}

/* `but`: what there is instead of images. */
static cli_exit no_image_options(cli_session *s, const char *but)
{
    static const char *const for_images[] = {"target-table", "file-column", "labels",
                                             "part",         "size",        "grey"};
    for (int i = 0; i < CLI_COUNT_OF(for_images); i++)
        if (cli_in_table(&s->args, for_images[i]) && cli_flag(&s->args, for_images[i]))
            return cli_fail(s, CLI_USAGE, "--%s is for images, but %s", for_images[i],
                            but);
    return CLI_DONE;
}

cli_exit cli_inputs_learn(cli_session *s, cli_inputs *out, const char *path)
{
    static const char *const for_tables[] = {"drop", "only",    "use-anyway",
                                             "id",   "missing", "test-share"};
    xb_image_source source = xb_images_detect(path);
    for (int i = 0; i < CLI_COUNT_OF(for_tables) && source != XB_IMAGES_NONE; i++)
        if (cli_flag(&s->args, for_tables[i]))
            return cli_fail(s, CLI_USAGE, "--%s is for tables, but %s holds images",
                            for_tables[i], path);
    if (source != XB_IMAGES_NONE) return learn_images(s, out, path, source);
    char but[512];
    snprintf(but, sizeof but, "%s is neither a folder nor an IDX file", path);
    const cli_exit code = no_image_options(s, but);
    if (code != CLI_DONE) return code;
    if (!cli_flag(&s->args, "target"))
        return cli_fail(s, CLI_USAGE, "missing --target COLUMN, the column to predict");
    return learn_table(s, out, path);
}

/* ---- for a model */

static xb_status ask_table(cli_session *s, cli_inputs *in, const xb_model *model,
                           const char *path, bool target)
{
    xb_status status = cli_model_frame(s, &in->frame, model, path, target);
    if (status == XB_OK) in->n = xb_frame_row_count(in->frame);
    return status;
}

static cli_exit ask_images(cli_session *s, cli_inputs *in, const xb_model *model,
                           const char *path, bool target, const char **class_name)
{
    xb_image_options o = image_options(s);
    xb_shape shape = xb_net_input(xb_model_net(model));
    xb_image_source source = xb_images_detect(path);
    bool folder = source == XB_IMAGES_FOLDER;
    o.size = shape.h == shape.w ? shape.h : 0;
    o.channels = shape.c;
    o.unlabelled = !target;
    o.classes = xb_model_class_count(model) ? class_name : NULL;
    o.n_classes = xb_model_class_count(model);
    o.target_kind = o.classes ? XB_TARGET_CLASS : XB_TARGET_NUMBER;
    if (source == XB_IMAGES_NONE)
        return cli_fail(s, CLI_USAGE, "%s: expected images, as the model was trained on",
                        path);
    cli_exit code = check_cache(s);
    if (code == CLI_DONE && folder)
        code = folder_target(s, &o, xb_model_target_name(model), false);
    bool distinct = strcmp(cli_text(&s->args, "part", "all"), "all") != 0;
    if (code == CLI_DONE) code = cli_status(s, open_images(s, in, path, &o, distinct));
    xb_shape mine = shape;
    if (code == CLI_DONE) xb_images_shape(in->images, &mine.h, &mine.w, &mine.c);
    if (mine.h == shape.h && mine.w == shape.w && mine.c == shape.c) return code;
    return cli_fail(s, CLI_USAGE,
                    "%s: the images are %lld x %lld x %lld, but the model was trained on "
                    "%lld x %lld x %lld",
                    path, (long long)mine.h, (long long)mine.w, (long long)mine.c,
                    (long long)shape.h, (long long)shape.w, (long long)shape.c);
}

cli_exit cli_inputs_check(cli_session *s, const xb_model *model)
{
    if (xb_model_of_images(model)) return CLI_DONE;
    return no_image_options(s, "the model was trained on a table");
}

cli_exit cli_inputs_ask(cli_session *s, cli_inputs *out, const xb_model *model,
                        const char *path, bool target)
{
    const cli_exit fit = cli_inputs_check(s, model);
    if (fit != CLI_DONE) return fit;
    if (!xb_model_of_images(model))
        return cli_status(s, ask_table(s, out, model, path, target));
    int64_t classes = xb_model_class_count(model);
    const char **name = calloc((size_t)(classes + 1), sizeof *name);
    if (!name) return cli_status(s, XB_E_MEMORY);
    for (int64_t k = 0; k < classes; k++) name[k] = xb_model_class_name(model, k);
    cli_exit code = ask_images(s, out, model, path, target, name);
    free(name);
    return code;
}

/* ---- tables and images alike */

void cli_inputs_free(cli_inputs *in)
{
    xb_frame_destroy(in->frame);
    xb_images_destroy(in->images);
    xb_free(in->select);
    free(in->target);
    *in = (cli_inputs){0};
}

xb_train_data cli_inputs_train(const cli_inputs *in)
{
    if (in->frame) return xb_train_data_of(in->frame);
    return xb_train_data_of_images(in->images, in->select, in->n);
}

xb_status cli_inputs_test(cli_session *s, xb_evaluation **out, const cli_inputs *in,
                          const xb_model *model)
{
    const int64_t n = in->frame ? xb_frame_test_count(in->frame) : 0;
    if (n == 0) return XB_OK;
    const int64_t first = xb_frame_row_count(in->frame) - n,
                  width = xb_frame_feature_count(in->frame);
    const xb_rows rows = {.x = xb_frame_values(in->frame) + first * width,
                          .n = n,
                          .features = width,
                          .first = first};
    xb_evaluate_options opt = xb_evaluate_options_default();
    opt.seed = cli_seed(s);
    return xb_evaluate(s->ctx, out, model, &rows,
                       xb_frame_target(in->frame) +
                           first * xb_frame_target_count(in->frame),
                       NULL, 0, &opt);
}

xb_rows cli_inputs_rows(const cli_inputs *in)
{
    if (in->images) return xb_images_rows(in->images, in->select, in->n);
    return (xb_rows){.x = xb_frame_values(in->frame),
                     .n = in->n,
                     .features = xb_frame_feature_count(in->frame)};
}

const double *cli_inputs_target(const cli_inputs *in)
{
    return in->frame ? xb_frame_target(in->frame) : in->target;
}

const char *cli_inputs_name(const cli_inputs *in, int64_t i)
{
    return in->images  ? xb_images_name(in->images, in->select[i])
           : in->frame ? xb_frame_row_name(in->frame, i)
                       : NULL;
}
