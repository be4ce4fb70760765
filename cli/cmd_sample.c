/* cmd_sample.c: `crossbayes sample`: writes draws of a law to a file.
 *
 * Draw i depends only on (seed, i), so the bytes do not depend on the
 * number of threads or on N. NPY files are made in memory, text is streamed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "commands.h"
#include "outputs.h"
#include "print.h"
#include "textfile.h"

enum { CHUNK = 1 << 20 }; /* draws between two progress events */

/* Sums about a fixed centre, so that laws far from 0 lose no digits. */
typedef struct totals {
    int64_t n;
    double centre, sum, sum_squares;
} totals;

typedef struct sampling {
    cli_session *s;
    const xb_law *law;
    const xb_sampler *sampler;
    xb_stream where;
    bool standardise, wide; /* `wide`: float64 */
    bool physical;          /* scale to the units of the law file */
    xb_law_place place;
    int64_t n;
    totals totals;
} sampling;

/* Converts draws from the law's own support to the user's units. */
static void place_draws(const sampling *job, void *out, int64_t count)
{
    float *f = out;
    double *d = out;
    for (int64_t i = 0; i < count; i++)
        if (job->wide)
            d[i] = job->place.offset + job->place.scale * d[i];
        else
            f[i] = (float)(job->place.offset + job->place.scale * (double)f[i]);
}

/* Writes draws first to first + count - 1 to `out`, as float or double, and adds them to
 * the sums. */
static cli_exit fill(sampling *job, void *out, int64_t count, int64_t first)
{
    cli_exit code = CLI_DONE;
    if (job->wide)
        xb_sampler_fill_double(job->sampler, out, count, &job->where, first);
    else
        code = cli_status(job->s, xb_sampler_fill_on(job->s->ctx, NULL, job->sampler, out,
                                                     count, &job->where, first));
    if (code != CLI_DONE) return code;
    if (job->physical) place_draws(job, out, count);
    const float *f = out;
    const double *d = out;
    for (int64_t i = 0; i < count; i++) {
        double z = (job->wide ? d[i] : (double)f[i]) - job->totals.centre;
        job->totals.sum += z;
        job->totals.sum_squares += z * z;
    }
    job->totals.n += count;
    return CLI_DONE;
}

/* Returns false if a signal asked the program to stop. */
static bool tell(sampling *job, int64_t done)
{
    xb_progress event = {"drawing", done, job->n};
    return cli_progress_event(&job->s->progress, &event);
}

static int64_t item_size(const sampling *job)
{
    return job->wide ? (int64_t)sizeof(double) : (int64_t)sizeof(float);
}

static cli_exit stopped(sampling *job)
{
    return cli_fail(job->s, CLI_FAILED, "stopped on request, nothing was written");
}

static cli_exit check_memory(sampling *job)
{
    double have = xb_os_memory();
    double need = (double)job->n * (double)item_size(job);
    if (need < 0.9 * have) return CLI_DONE;
    return cli_fail(job->s, CLI_FAILED,
                    "%lld draws take %.3g GB of memory, this machine has %.3g",
                    (long long)job->n, need / 1e9, have / 1e9);
}

static cli_exit write_npy(sampling *job, const char *path)
{
    cli_exit code = check_memory(job);
    if (code != CLI_DONE) return code;
    char *z = malloc((size_t)(job->n * item_size(job)));
    if (!z) return cli_fail(job->s, CLI_FAILED, "not enough memory for the draws");
    for (int64_t first = 0; first < job->n && code == CLI_DONE; first += CHUNK) {
        int64_t count = job->n - first < CHUNK ? job->n - first : CHUNK;
        code = fill(job, z + first * item_size(job), count, first);
        if (code == CLI_DONE && !tell(job, first + count)) code = stopped(job);
    }
    if (code == CLI_DONE)
        code = cli_status(job->s, xb_npy_write(job->s->ctx, path, z,
                                               job->wide ? XB_F64 : XB_F32, &job->n, 1));
    free(z);
    return code;
}

/* Prints enough digits to read the same number back. */
static void print_draws(FILE *out, const sampling *job, const void *z, int64_t count)
{
    const float *f = z;
    const double *d = z;
    for (int64_t i = 0; i < count; i++)
        if (job->wide)
            fprintf(out, "%.17g\n", d[i]);
        else
            fprintf(out, "%.9g\n", (double)f[i]);
}

static cli_exit write_text(sampling *job, const char *path)
{
    cli_textfile f;
    void *z = malloc((size_t)(CHUNK * item_size(job)));
    if (!z) return cli_fail(job->s, CLI_FAILED, "not enough memory for the draws");
    cli_exit code = cli_textfile_open(job->s, &f, path);
    if (code != CLI_DONE) {
        free(z);
        return code;
    }
    for (int64_t first = 0; first < job->n && code == CLI_DONE; first += CHUNK) {
        int64_t count = job->n - first < CHUNK ? job->n - first : CHUNK;
        code = fill(job, z, count, first);
        if (code != CLI_DONE) break;
        if (first == 0) fputs("z\n", f.stream); /* not before a backend that fails */
        print_draws(f.stream, job, z, count);
        if (!tell(job, first + count)) code = stopped(job);
    }
    free(z);
    cli_exit closed = cli_textfile_close(job->s, &f, code == CLI_DONE);
    return code == CLI_DONE ? closed : code;
}

/* The moments of the draws beside those of the law. */
typedef struct summary {
    double mean, sd, law_mean, law_sd;
    double mean_error, sd_error; /* standard errors at this n */
} summary;

static double expected_mean(const sampling *job)
{
    if (job->standardise) return 0;
    return job->place.offset + job->place.scale * xb_law_mean(job->law);
}

static summary summarise(const sampling *job)
{
    const totals *t = &job->totals;
    double n = (double)t->n, shift = t->sum / n;
    double variance = n > 1 ? (t->sum_squares - n * shift * shift) / (n - 1) : NAN;
    summary r = {.mean = t->centre + shift, .sd = sqrt(variance)};
    r.law_mean = expected_mean(job);
    r.law_sd = job->standardise ? 1 : job->place.scale * xb_law_sd(job->law);
    double kurtosis = xb_law_moments(job->law).excess_kurtosis;
    r.mean_error = r.law_sd / sqrt(n);
    r.sd_error = r.law_sd * sqrt((kurtosis + 2) / (4 * n)); /* by the delta method */
    return r;
}

/* `draws` are the numbers themselves, or NULL if they were written to a file. */
static cli_exit print_json(const sampling *job, const char *path, json_t *draws)
{
    summary r = summarise(job);
    json_t *root = json_object();
    if (draws)
        json_object_set_new(root, "z", draws);
    else
        json_object_set_new(root, "file", cli_json_text(path));
    json_object_set_new(root, "law", json_string(xb_law_text(job->law)));
    json_object_set_new(root, "n", json_integer(job->n));
    json_object_set_new(root, "dtype", json_string(job->wide ? "f8" : "f4"));
    json_object_set_new(root, "standardised", json_boolean(job->standardise));
    json_object_set_new(root, "physical", json_boolean(job->physical));
    json_object_set_new(root, "unit", cli_json_text(job->place.unit));
    json_object_set_new(root, "seed", json_integer((json_int_t)cli_seed(job->s)));
    json_object_set_new(root, "mean", cli_json_real(r.mean));
    json_object_set_new(root, "sd", cli_json_real(r.sd));
    json_object_set_new(root, "law_mean", cli_json_real(r.law_mean));
    json_object_set_new(root, "law_sd", cli_json_real(r.law_sd));
    return cli_json_print(job->s, root);
}

/* Handles `-o - --json`: prints all draws as one JSON object. */
static cli_exit print_draws_json(sampling *job)
{
    enum { MOST = 1000000 };
    if (job->n > MOST)
        return cli_fail(
            job->s, CLI_USAGE,
            "-o - --json prints at most %d draws; write more with -o FILE.npy", MOST);
    void *z = malloc((size_t)(job->n * item_size(job)));
    if (!z) return cli_fail(job->s, CLI_FAILED, "not enough memory for the draws");
    cli_exit code = fill(job, z, job->n, 0);
    if (code != CLI_DONE) {
        free(z);
        return code;
    }
    json_t *list = json_array();
    for (int64_t i = 0; i < job->n; i++)
        json_array_append_new(
            list, cli_json_real(job->wide ? ((double *)z)[i] : (double)((float *)z)[i]));
    free(z);
    return print_json(job, NULL, list);
}

/* The sample's value with its expected error, and the law's value beside it. */
static void print_moment(const char *name, double value, double error, double of_law,
                         const char *unit)
{
    char text[96];
    xb_si_unit u = xb_si_unit_for(fabs(of_law), unit);
    xb_quantity_text(text, sizeof text, value, error, unit);
    printf("  %-6s%s (law: %.6g%s%s)\n", name, text, of_law / u.factor,
           *u.text ? " " : "", u.text);
}

static void print_summary(const sampling *job, const char *path)
{
    summary r = summarise(job);
    const bool placed =
        *job->place.unit || job->place.offset != 0 || job->place.scale != 1;
    const char *how = job->standardise ? ", standardised"
                      : !job->physical ? ""
                      : placed         ? ", in physical units"
                                       : ", on its native support (it has no units)";
    printf("%s: %lld %s of %s%s, seed %llu\n", path, (long long)job->n,
           xb_plural(job->n, "draw", "draws"), job->s->args.arg[0], how,
           (unsigned long long)cli_seed(job->s));
    const char *unit = job->physical && !job->standardise ? job->place.unit : "";
    print_moment("mean", r.mean, r.mean_error, r.law_mean, unit);
    print_moment("sd", r.sd, r.sd_error, r.law_sd, unit);
}

static cli_exit draw(sampling *job, const char *path)
{
    const char *dot = strrchr(path, '.');
    bool to_stdout = strcmp(path, "-") == 0;
    if (to_stdout && cli_json(job->s)) return print_draws_json(job);
    if (dot && strcmp(dot, ".npy") == 0) {
        cli_exit code = write_npy(job, path);
        if (code != CLI_DONE) return code;
    } else if (to_stdout || (dot && strcmp(dot, ".csv") == 0)) {
        cli_exit code = write_text(job, path);
        if (code != CLI_DONE) return code;
    } else {
        return cli_fail(job->s, CLI_USAGE,
                        "%s: expected a name that ends in .npy or .csv, or -", path);
    }
    cli_progress_clear(&job->s->progress);
    if (to_stdout) return CLI_DONE; /* the draws are the output */
    if (cli_json(job->s)) return print_json(job, path, NULL);
    if (!cli_quiet(job->s)) print_summary(job, path);
    return CLI_DONE;
}

static cli_exit run(cli_session *s)
{
    const char *path = cli_text(&s->args, "output", NULL);
    if (!path) return cli_fail(s, CLI_USAGE, "missing -o FILE (-o - prints to stdout)");
    if (!cli_flag(&s->args, "count"))
        return cli_fail(s, CLI_USAGE, "missing -n N, the number of draws");
    sampling job = {.s = s};
    job.n = (int64_t)cli_count(&s->args, "count", 0);
    job.standardise = cli_flag(&s->args, "standardise");
    job.physical = cli_flag(&s->args, "physical");
    if (job.physical && job.standardise)
        return cli_fail(s, CLI_USAGE, "--physical and --standardise exclude each other");
    job.wide = strcmp(cli_text(&s->args, "dtype", "f4"), "f8") == 0;
    if (job.wide && strcmp(cli_text(&s->args, "backend", "cpu"), "cuda") == 0)
        return cli_fail(
            s, CLI_USAGE,
            "--backend cuda draws in float32; --dtype f8 needs --backend cpu");
    if (job.wide && job.n > XB_STREAM_MAX / 2)
        return cli_fail(s, CLI_USAGE, "-n: at most %lld with --dtype f8",
                        (long long)(XB_STREAM_MAX / 2));
    job.where.key = xb_key_make(cli_seed(s), XB_PURPOSE_SAMPLE);
    xb_law *law = NULL;
    xb_sampler *sampler = NULL;
    xb_sampler_options options = xb_sampler_options_default();
    options.standardise = job.standardise;
    cli_exit code = cli_plan_file(s, "output", "");
    if (code == CLI_DONE)
        code = cli_status(s, xb_law_parse(s->ctx, &law, s->args.arg[0]));
    if (code == CLI_DONE)
        code = cli_status(s, xb_sampler_create(s->ctx, &sampler, law, &options));
    if (code == CLI_DONE) {
        job.law = law;
        job.sampler = sampler;
        job.place = job.physical ? xb_law_placement(law) : (xb_law_place){.scale = 1};
        job.totals.centre = expected_mean(&job);
        code = draw(&job, path);
    }
    xb_sampler_destroy(sampler);
    xb_law_destroy(law);
    return code;
}

static const cli_option options[] = {
    {"count", 'n', CLI_COUNT, "N", "number of draws, e.g. 1e6", 1, 0x1p34},
    {"output", 'o', CLI_OUTPUT, "FILE",
     "file to write, .npy or .csv; -: stdout, with --json as JSON", 0, 0},
    {"standardise", 0, CLI_FLAG, NULL,
     "scale to mean 0 and variance 1 instead of the law's native support", 0, 0},
    {"physical", 0, CLI_FLAG, NULL,
     "scale to the units of the samples that the law file was fitted to", 0, 0},
    {"dtype", 0, CLI_CHOICE, "f4|f8", "float32 or float64 [f4]", 0, 0},
    {"backend", 0, CLI_CHOICE, "cpu|cuda|auto",
     "processor that makes the draws, the same bytes on each; auto: the CPU, since "
     "copying from a GPU takes longer than drawing [cpu]",
     0, 0},
};

const cli_command cli_command_sample = {
    .name = "sample",
    .group = "What is my device's noise?",
    .about = "random draws from a law, written to a file",
    .usage = "LAW -n N -o FILE [options]",
    .example = "crossbayes sample mtj:B=0.15,w=0.5 -n 1e6 -o z.npy",
    .options = options,
    .n_options = CLI_COUNT_OF(options),
    .min_args = 1,
    .max_args = 1,
    .more = cli_help_families,
    .run = run,
};
