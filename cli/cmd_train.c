/* cmd_train.c: `crossbayes train`: trains a model on a table or images and writes a model
 * file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "commands.h"
#include "crossbayes/filekind.h"
#include "doubts.h"
#include "cells_input.h"
#include "inputs.h"
#include "outputs.h"
#include "share_option.h"
#include "print.h"
#include "table_options.h"
#include "train_show.h"

static void read_numbers(const cli_args *a, xb_train_options *o)
{
    if (cli_flag(a, "epochs")) o->epochs = (int64_t)cli_count(a, "epochs", 0);
    if (cli_flag(a, "mle-epochs")) o->mle_epochs = (int64_t)cli_count(a, "mle-epochs", 0);
    o->batch = (int64_t)cli_count(a, "batch", (uint64_t)o->batch);
    o->draws = (int64_t)cli_count(a, "draws", (uint64_t)o->draws);
    o->group = (int64_t)cli_count(a, "group", (uint64_t)o->group);
    o->patience = (int64_t)cli_count(a, "patience", 0);
    o->members = (int64_t)cli_count(a, "members", (uint64_t)o->members);
    o->adam.rate = cli_number(a, "rate", o->adam.rate);
    o->sigma_rate = cli_number(a, "sigma-rate", o->sigma_rate);
    o->sigma = cli_number(a, "sigma", o->sigma);
    o->validation = cli_number(a, "validation", o->validation);
    o->noise_prior = cli_number(a, "noise-prior", o->noise_prior);
    o->n_eff_penalty = cli_number(a, "n-eff-penalty", o->n_eff_penalty);
    o->checkpoint_seconds = cli_number(a, "checkpoint-seconds", o->checkpoint_seconds);
    o->antithetic = cli_flag(a, "antithetic");
    o->mirror = cli_flag(a, "mirror");
    o->freeze = o->freeze || cli_flag(a, "freeze");
    o->resume = cli_flag(a, "resume");
    o->keep_copies = cli_flag(a, "keep-copies");
    o->prior_by_fan = o->prior_by_fan && !cli_flag(a, "prior-as-is");
}

/* A prior, or how its scale is found. */
static xb_status read_prior(xb_ctx *ctx, xb_train_options *o, const char *text)
{
    for (int i = XB_PRIOR_SCALE_AUTO; i <= XB_PRIOR_SCALE_FITTED; i++)
        if (strcmp(text, xb_prior_scale_name((xb_prior_scale)i)) == 0) {
            o->prior_scale = (xb_prior_scale)i;
            return XB_OK;
        }
    const xb_status status = xb_prior_parse(ctx, &o->prior, text);
    if (status != XB_E_INPUT || strchr(text, ':')) return status;
    return xb_fail(ctx, XB_E_INPUT,
                   "prior '%s': expected normal, laplace or mixture, or how the scale is"
                   " found: auto, standard or fitted",
                   text);
}

static xb_status read_texts(cli_session *s, xb_train_options *o)
{
    const cli_args *a = &s->args;
    xb_estimator estimator = XB_ESTIMATOR_SHARED;
    xb_status status =
        xb_likelihood_parse(s->ctx, &o->likelihood, cli_text(a, "likelihood", "auto"));
    o->choose_likelihood = cli_flag(a, "likelihood");
    if (status == XB_OK)
        status =
            xb_train_effort_parse(s->ctx, &o->effort, cli_text(a, "effort", "standard"));
    if (status == XB_OK)
        status = xb_skewed_parse(s->ctx, &o->skewed, cli_text(a, "skewed", "auto"));
    o->net = cli_text(a, "net", NULL);
    o->noise_net = cli_text(a, "noise-net", NULL);
    if (strcmp(cli_text(a, "random", ""), "all") == 0) o->stochastic = XB_STOCHASTIC_ALL;
    const char *wanted = cli_text(a, "estimator", "auto");
    if (status == XB_OK && strcmp(wanted, "auto") != 0) {
        status = xb_estimator_parse(s->ctx, &estimator, wanted);
        o->estimator = (int)estimator;
    }
    if (status == XB_OK) status = read_prior(s->ctx, o, cli_text(a, "prior", "auto"));
    if (status == XB_OK && cli_flag(a, "sigma-transform"))
        status = xb_sigma_transform_parse(s->ctx, &o->sigma_transform,
                                          cli_text(a, "sigma-transform", NULL));
    if (status == XB_OK && cli_flag(a, "temperature"))
        status =
            xb_schedule_parse(s->ctx, &o->temperature, cli_text(a, "temperature", NULL));
    if (status == XB_OK && cli_flag(a, "rate-schedule"))
        status = xb_schedule_parse(s->ctx, &o->rate, cli_text(a, "rate-schedule", NULL));
    return status;
}

/* Writes the model first, because it took the time. Training left a checkpoint of its
 * end, which stays until both files are written. */
static cli_exit deliver(cli_session *s, const cli_trained *o, const char *checkpoint)
{
    const char *file = cli_text(&s->args, "history", NULL);
    xb_status status = xb_model_save(s->ctx, o->model, o->path);
    if (status == XB_OK && file)
        status = xb_table_write_csv(s->ctx, xb_train_report_history(o->report), file);
    if (status != XB_OK)
        return cli_fail(s, CLI_FAILED, "%s; --resume takes the finished training from %s",
                        xb_ctx_message(s->ctx), checkpoint);
    (void)xb_os_unlink(checkpoint);
    cli_progress_clear(&s->progress);
    if (cli_json(s)) return cli_trained_json(s, o);
    if (!cli_quiet(s)) cli_trained_print(o);
    return CLI_DONE;
}

static cli_exit train(cli_session *s, const cli_inputs *in, xb_train_options *o,
                      const char *path)
{
    xb_train_data data = cli_inputs_train(in);
    cli_trained result = {.path = path};
    /* Number of pairs of gradients, enough to know their variances to a few percent. */
    enum { PAIRS = 200 };
    if (cli_flag(&s->args, "gp") && (data.classes > 0 || !data.x))
        return cli_fail(s, CLI_USAGE, "--gp is for a table and one target of numbers");
    cli_doubt_train_options(s, in);
    cli_doubt_training(s, in, data.classes);
    xb_status status = xb_train(s->ctx, &result.model, &result.report, &data, o);
    if (status == XB_OK && cli_flag(&s->args, "gp")) {
        const xb_rows rows = {.x = data.x, .n = data.n, .features = data.features};
        status = xb_model_add_process(s->ctx, result.model, &rows,
                                      cli_number(&s->args, "gp", 0));
    }
    if (status == XB_OK && cli_flag(&s->args, "gradient-noise"))
        status =
            xb_train_gradient_noise(s->ctx, &result.noise, result.model, &data, o, PAIRS);
    if (status == XB_OK) status = cli_inputs_test(s, &result.test, in, result.model);
    if (status == XB_OK) status = xb_ranks_deliver(s->ctx);
    cli_exit code =
        status == XB_OK ? deliver(s, &result, o->checkpoint) : cli_status(s, status);
    xb_evaluation_destroy(result.test);
    xb_gradient_noise_destroy(result.noise);
    xb_train_report_destroy(result.report);
    xb_model_destroy(result.model);
    return code;
}

/* --target-range LOW,HIGH: what the net learns is 0 at LOW and 1 at HIGH. */
static cli_exit read_range(cli_session *s, xb_train_options *o)
{
    const cli_value *range = cli_get(&s->args, "target-range");
    if (!range->given) return CLI_DONE;
    if (range->n_items != 2 || !(range->items[0].value < range->items[1].value))
        return cli_fail(s, CLI_USAGE,
                        "--target-range: expected LOW,HIGH with LOW below HIGH");
    o->target_mean = range->items[0].value;
    o->target_sd = range->items[1].value - range->items[0].value;
    return CLI_DONE;
}

/* --cells CELLS, and --device FILE for the range and the widths that were measured. */
static cli_exit read_cells(cli_session *s, xb_weight_cells **out)
{
    static const char *const free_only[] = {"sigma", "sigma-rate", "sigma-transform"};
    const cli_args *a = &s->args;
    const char *device = cli_text(a, "device", NULL);
    if (!cli_flag(a, "cells") && device)
        return cli_fail(s, CLI_USAGE, "--device needs --cells, e.g. --cells pair");
    if (!cli_flag(a, "cells")) return CLI_DONE;
    for (int i = 0; i < CLI_COUNT_OF(free_only); i++)
        if (cli_flag(a, free_only[i]))
            return cli_fail(s, CLI_USAGE,
                            "--%s and --cells exclude each other: widths follow from the "
                            "cells' states",
                            free_only[i]);
    return cli_cells_read(s, out, cli_text(a, "cells", NULL), device);
}

/* --for-array ARRAY: the net as that array would run it. */
static cli_exit read_array(cli_session *s, xb_train_options *o, xb_train_array *room)
{
    const char *text = cli_text(&s->args, "for-array", NULL);
    xb_array *array = NULL;
    if (!text) return CLI_DONE;
    if (cli_flag(&s->args, "cells"))
        return cli_fail(s, CLI_USAGE,
                        "--for-array is for arrays of pairs, --cells for weights made of"
                        " cells: give one of them");
    xb_status status = xb_array_parse(s->ctx, &array, text);
    if (status == XB_OK) status = xb_array_check(s->ctx, array);
    if (status == XB_OK) {
        xb_array_training(array, room);
        o->array = room;
    }
    xb_array_destroy(array);
    return cli_status(s, status);
}

static const char checkpoint_ending[] = ".checkpoint";

static char *checkpoint_name(const char *model)
{
    char *name = malloc(strlen(model) + sizeof checkpoint_ending);
    if (name) sprintf(name, "%s%s", model, checkpoint_ending);
    return name;
}

/* A file of that name that is not a checkpoint belongs to the user; a checkpoint of a
 * stopped run may be hours of work. */
static cli_exit check_checkpoint(cli_session *s, const char *model)
{
    char *name = checkpoint_name(model);
    cli_exit code = name ? CLI_DONE : cli_status(s, XB_E_MEMORY);
    if (name && xb_os_exists(name)) {
        xb_filekind kind = xb_filekind_detect(name);
        if (kind != XB_KIND_CHECKPOINT && kind != XB_KIND_UNKNOWN)
            code = cli_fail(s, CLI_USAGE,
                            "-o %s would overwrite %s, which is %s and not a checkpoint; "
                            "choose another name",
                            model, name, xb_filekind_words(kind));
        else if (kind == XB_KIND_CHECKPOINT && !cli_flag(&s->args, "resume") &&
                 !cli_quiet(s))
            fprintf(stderr,
                    "  %s is left from a run that was stopped; it is ignored and will be "
                    "replaced (--resume would continue it)\n",
                    name);
    }
    free(name);
    return code;
}

/* Checks before training for everything that would otherwise fail only after it. */
static cli_exit check_request(cli_session *s, const char *path)
{
    const cli_args *a = &s->args;
    const char *history = cli_text(a, "history", NULL);
    if (cli_count(a, "epochs", 1) == 0 && cli_count(a, "mle-epochs", 1) == 0)
        return cli_fail(s, CLI_USAGE,
                        "--epochs 0 --mle-epochs 0: nothing would be learnt; expected 1"
                        " or more of one of them");
    if (strcmp(path, "-") == 0 || (history && strcmp(history, "-") == 0))
        return cli_fail(
            s, CLI_USAGE,
            "'-' is not a file name: models and training histories cannot go to stdout");
    cli_exit code = cli_plan_file(s, "output", "");
    if (code == CLI_DONE) code = cli_plan_file(s, "output", checkpoint_ending);
    if (code == CLI_DONE) code = check_checkpoint(s, path);
    if (code == CLI_DONE) code = cli_plan_file(s, "history", "");
    return code == CLI_DONE ? cli_plan_file(s, "cache", "") : code;
}

static cli_exit run(cli_session *s)
{
    const char *path = cli_text(&s->args, "output", NULL);
    if (!path) return cli_fail(s, CLI_USAGE, "missing -o MODEL.safetensors");
    cli_exit code = check_request(s, path);
    if (code == CLI_DONE) code = cli_ranks_together(s, true);
    if (code != CLI_DONE) return code;
    xb_train_options o = xb_train_options_default();
    const char *preset = cli_text(&s->args, "preset", NULL);
    if (preset) code = cli_status(s, xb_train_preset(s->ctx, &o, preset));
    if (code != CLI_DONE) return code;
    read_numbers(&s->args, &o);
    o.seed = cli_seed(s);
    char *checkpoint = checkpoint_name(path);
    o.checkpoint = checkpoint;
    xb_law *law = NULL;
    cli_inputs in = {0};
    xb_status status = checkpoint ? read_texts(s, &o) : XB_E_MEMORY;
    if (status == XB_OK)
        status = xb_law_parse(s->ctx, &law, cli_text(&s->args, "law", "gaussian"));
    o.law = law;
    xb_weight_cells *cells = NULL;
    code = cli_status(s, status);
    if (code == CLI_DONE) code = read_range(s, &o);
    if (code == CLI_DONE) code = read_cells(s, &cells);
    o.cells = cells;
    xb_train_array array;
    if (code == CLI_DONE) code = read_array(s, &o, &array);
    if (code == CLI_DONE) code = cli_inputs_learn(s, &in, s->args.arg[0]);
    if (code == CLI_DONE) code = train(s, &in, &o, path);
    cli_inputs_free(&in);
    xb_weight_cells_destroy(cells);
    xb_law_destroy(law);
    free(checkpoint);
    return code;
}

static const cli_option options[] = {
    {"target", 't', CLI_TEXT, "COLUMN[,COLUMN...]",
     "columns to predict, by name or number from 1; several columns of numbers share one"
     " net",
     0, 0},
    {"classes", 0, CLI_FLAG, NULL, "treat the target's numbers as classes", 0, 0},
    {"target-range", 0, CLI_NUMBERS, "LOW,HIGH",
     "targets that the net's outputs 0 and 1 stand for, for nets that end in sigmoid"
     " [standardised by mean and sd]",
     0, 0},
    {"validation", 0, CLI_NUMBER, "SHARE",
     "share of rows held out to choose the best epoch [0]", 0, 0.9},
    CLI_TABLE_OPTIONS,

    {"keep-copies", 0, CLI_FLAG, NULL,
     "table: learn from every copy of a row; without this option, where more than a tenth"
     " of the rows repeat another row in every column and (nearly) in a measured target, "
     "each row"
     " counts once",
     0, 0},
    {"skewed", 0, CLI_CHOICE, "auto|keep|log",
     "table: treatment of columns whose values are skewed: kept as they are, or their "
     "logarithms; auto: chosen by the ELBO or by --validation [auto without --net where "
     "targets are numbers, else keep]",
     0, 0},
    {"net", 0, CLI_TEXT, "NET",
     "layers, e.g. 'dense 50, relu, dense 1' (crossbayes help net) [tables: one or two"
     " layers of 50 units, chosen by the ELBO or by --validation; images: a small "
     "convolutional"
     " net]",
     0, 0},
    {"law", 0, CLI_TEXT, "LAW",
     "distribution of the weights' noise (crossbayes help law) [gaussian]", 0, 0},
    {"random", 0, CLI_CHOICE, "kernels|all",
     "which weights are random: kernels alone, or biases too [kernels]", 0, 0},
    {"likelihood", 0, CLI_CHOICE,
     "auto|gaussian|heteroscedastic|student|poisson|negative-binomial|softmax",
     "likelihood of the target; auto: chosen by the ELBO or by --validation [auto "
     "without --net,"
     " else gaussian; softmax for classes]",
     0, 0},
    {"noise-net", 0, CLI_TEXT, "NET",
     "heteroscedastic: layers of the net that predicts the noise [one layer of 3 to 50 "
     "tanh"
     " units, more with more rows; as --net for images and with --noise-prior 0]",
     0, 0},
    {"noise-prior", 0, CLI_NUMBER, "SD",
     "heteroscedastic: sd of the prior of the noise net's kernels; 0: no prior [0.3; "
     "images: 0]",
     0, 1e6},
    {"gp", 0, CLI_NUMBER, "LENGTH",
     "add a Gaussian process over the inputs, which widens intervals far from the data;"
     " LENGTH, e.g. 0.25: its length scale, in sds of a column times the square root of"
     " the number of columns [none]",
     1e-6, 1e6},
    {"cells", 0, CLI_TEXT, "CELLS",
     "memory cells that make up a weight and whose read noise is its width: three, pair, "
     "... (below) [widths are free]",
     0, 0},
    {"device", 0, CLI_TEXT, "FILE",
     "device file with the range and read noise of the cells [those of Lin et al. 2023]",
     0, 0},

    {"for-array", 0, CLI_TEXT, "ARRAY",
     "array to train the net for, with its converters, levels and errors in the forward"
     " pass: a preset or a JSON file (crossbayes help array) [none]",
     0, 0},
    {"n-eff-penalty", 0, CLI_NUMBER, "X",
     "weight of a penalty that lets many weights share the output's variance, e.g. 0.01"
     " [0]",
     0, 1e6},

    {"prior", 0, CLI_TEXT, "PRIOR",
     "prior of a random weight (crossbayes help prior), or how the scale of a normal one"
     " is found: fitted, by cross-validation; standard, sd=1, for classes sd=5; auto,"
     " fitted if the net is chosen for a table of at most 10,000 rows [auto]",
     0, 0},
    {"prior-as-is", 0, CLI_FLAG, NULL,
     "use the prior's scale unchanged instead of adapting it to a unit's number of"
     " inputs",
     0, 0},
    {"members", 0, CLI_COUNT, "M",
     "posteriors trained separately and predicted as one mixture [1; 3 if the "
     "program chooses the net and the target is numeric; 5 with --effort full]",
     1, XB_MEMBERS_MAX},
    {"draws", 0, CLI_COUNT, "N", "number of weight draws per step [1]", 1, 1e6},
    {"estimator", 0, CLI_CHOICE, "shared|example|flipout|local",
     "weight noise of the rows of a step: one draw for all (shared) or for each row "
     "(example), one draw with random signs for each row (flipout), or noise on the "
     "outputs of each layer (local) [chosen by law and net]",
     0, 0},
    {"group", 0, CLI_COUNT, "N",
     "estimator example: rows that share a draw [1; 10 without --estimator]", 1, 1e9},
    {"antithetic", 0, CLI_FLAG, NULL, "draw the noise in pairs of z and -z", 0, 0},
    {"sigma", 0, CLI_NUMBER, "X",
     "standard deviation of every weight at the start [0.01]", 1e-12, 1e6},
    {"sigma-transform", 0, CLI_TEXT, "exp|softplus",
     "function that turns the learnt parameter into sigma > 0 [exp]", 0, 0},
    {"temperature", 0, CLI_TEXT, "SCHEDULE",
     "temperature of the likelihood by step (crossbayes help schedule) [constant:1]", 0,
     0},
    {"freeze", 0, CLI_FLAG, NULL,
     "keep weights without noise fixed after ordinary training", 0, 0},
    {"preset", 0, CLI_TEXT, "PRESET",
     "named set of settings (below); options given beside it take precedence", 0, 0},

    {"effort", 0, CLI_CHOICE, "quick|standard|full",
     "length of training: a third of the steps, the usual number, or three times as many"
     " and 5 members [standard]",
     0, 0},
    {"epochs", 0, CLI_COUNT, "N", "epochs of variational inference; 0: none [auto]", 0,
     1e9},
    {"mle-epochs", 0, CLI_COUNT, "N",
     "epochs of ordinary training before variational inference [auto]", 0, 1e9},
    {"batch", 0, CLI_COUNT, "N", "rows per step [100]", 1, 1e9},
    {"rate", 0, CLI_NUMBER, "RATE", "learning rate of Adam [3e-3]", 1e-12, 10},
    {"rate-schedule", 0, CLI_TEXT, "SCHEDULE",
     "factor on the learning rate by step (crossbayes help schedule) [cosine]", 0, 0},
    {"sigma-rate", 0, CLI_NUMBER, "X",
     "learning rate of sigma, as a multiple of --rate [1]", 0, 1e6},
    {"patience", 0, CLI_COUNT, "N",
     "stop after N epochs without a better validation score; 0: never [0]", 0, 1e9},
    {"resume", 0, CLI_FLAG, NULL, "continue from MODEL.checkpoint if it exists", 0, 0},
    {"checkpoint-seconds", 0, CLI_NUMBER, "S",
     "seconds from one MODEL.checkpoint file to the next [60]", 0, 1e9},
    CLI_BACKEND_OPTION,

    {"size", 0, CLI_COUNT, "N", "images: scale to N x N pixels [their own size]", 1,
     16384},
    {"mirror", 0, CLI_FLAG, NULL,
     "images: flip left-right with probability 1/2 in each epoch", 0, 0},
    {"grey", 0, CLI_FLAG, NULL, "images: convert to grey", 0, 0},
    CLI_IMAGE_OPTIONS,

    {"output", 'o', CLI_OUTPUT, "MODEL", "model file to write, .safetensors", 0, 0},
    {"history", 0, CLI_OUTPUT, "FILE",
     "table of the ELBO and its parts in each epoch, .csv", 0, 0},
    {"gradient-noise", 0, CLI_FLAG, NULL,
     "also print the gradient's variance under each --estimator", 0, 0},
};

static const cli_title titles[] = {
    {"target", "Data"},     {"net", "Network"},
    {"prior", "Inference"}, {"effort", "Optimiser"},
    {"size", "Images"},     {"output", "Output"},
    {NULL, NULL},
};

static void list_presets(FILE *out)
{
    fprintf(out, "\nPresets, for --preset:\n");
    for (int64_t i = 0; i < xb_train_preset_count(); i++) {
        char text[512];
        snprintf(text, sizeof text, "%s: %s", xb_train_preset_source(i),
                 xb_train_preset_sets(i));
        fprintf(out, "  %-10s", xb_train_preset_name(i));
        cli_help_words(out, text, 12);
    }
}

static void more_help(FILE *out)
{
    fprintf(out,
            "\nDATA is a table (.csv, .npy), or images:\n"
            "  a folder of JPEG files, with --target-table TABLE --target COLUMN\n"
            "  a folder whose file names follow UTKFace, with --target age\n"
            "  an IDX file, e.g. train-images-idx3-ubyte.gz, with its labels beside it\n"
            "crossbayes train faces/ --target-table ages.csv --target age --size 64 \\\n"
            "    --part train -o faces.safetensors\n");
    list_presets(out);
    cli_cells_help(out);
    cli_help_families(out);
}

const cli_command cli_command_train = {
    .name = "train",
    .group = "A Bayesian network",
    .about = "Bayesian network learnt from a table or from images",
    .usage = "DATA --target COLUMN -o MODEL [options]",
    .example = "printf 'x,y\\n0,0\\n1,1\\n2,4\\n3,9\\n4,16\\n5,25\\n' > square.csv\n"
               "crossbayes train square.csv --target y -o square.safetensors",
    .options = options,
    .n_options = CLI_COUNT_OF(options),
    .titles = titles,
    .min_args = 1,
    .max_args = 1,
    .more = more_help,
    .run = run,
    .together = true,
};
