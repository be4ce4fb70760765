/* export.c: writes what a lab programs: the targets of every tile, rounded to the
 * available states, before any error. There is one NPY file [rows][columns] in uS for G+,
 * G- and the noise width of each tile, and array.json, written last, which says which is
 * which and how uS are converted back to weights. If weights are divided into slices,
 * each slice has such files; with offset columns a tile has its devices and its reference
 * column. */
#include "crossbar/export.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/outfile.h"
#include "crossbar/array_file.h"

xb_status xb_export_path(xb_ctx *ctx, char out[XB_EXPORT_PATH], const char *dir,
                         const char *name)
{
    int length = snprintf(out, XB_EXPORT_PATH, "%s/%s", dir, name);
    if (length >= 0 && length < XB_EXPORT_PATH) return XB_OK;
    return xb_fail(ctx, XB_E_IO, "%.60s...: the path is too long", dir);
}

typedef struct export_job {
    xb_ctx *ctx;
    const xb_analog *analog;
    const char *dir;
    double *tile;  /* memory for one tile */
    int64_t slice; /* slice of the weights */
} export_job;

typedef struct tile_place {
    int64_t row, column, rows, columns;
    int64_t tile, stride; /* number of the tile in a row of tiles; number of columns of
                             the matrix */
} tile_place;

/* Writes part of a matrix [in][out] and adds its file's name to `root`. */
static xb_status write_part(const export_job *job, json_t **root, const char *key,
                            const xb_analog_layer *p, const double *matrix, tile_place t)
{
    char name[96], path[XB_EXPORT_PATH];
    if (!matrix) { /* the layer has no noise */
        xb_json_set(root, key, json_null());
        return XB_OK;
    }
    char slice[24] = "";
    if (job->slice > 0) snprintf(slice, sizeof slice, "_s%lld", (long long)job->slice);
    snprintf(name, sizeof name, "layer%d_r%lld_c%lld%s_%s.npy", p->index,
             (long long)(t.row / p->rows), (long long)(t.tile), slice, key);
    for (int64_t i = 0; i < t.rows; i++)
        for (int64_t j = 0; j < t.columns; j++)
            job->tile[i * t.columns + j] = matrix[(t.row + i) * t.stride + t.column + j];
    xb_json_set(root, key, xb_json_string(name));
    XB_TRY(xb_export_path(job->ctx, path, job->dir, name));
    return xb_npy_write(job->ctx, path, job->tile, XB_F64, (int64_t[]){t.rows, t.columns},
                        2);
}

static xb_status write_tile(const export_job *job, json_t **list,
                            const xb_analog_layer *p, const xb_cells *c, tile_place t)
{
    json_t *root = json_pack("{s:I,s:I,s:I,s:I}", "first_input", (json_int_t)t.row,
                             "first_output", (json_int_t)t.column, "rows",
                             (json_int_t)t.rows, "columns", (json_int_t)t.columns);
    const tile_place column = {t.row, t.tile, t.rows, 1, t.tile, xb_cells_across(c)};
    xb_status status =
        write_part(job, &root, c->offset ? "device" : "plus", p, c->plus, t);
    if (status == XB_OK)
        status = write_part(job, &root, c->offset ? "reference" : "minus", p, c->minus,
                            c->offset ? column : t);
    if (status == XB_OK && job->slice == 0)
        status = write_part(job, &root, "width", p, c->width, t);
    xb_json_add(list, root);
    return status;
}

static xb_status write_tiles(const export_job *job, json_t **list,
                             const xb_analog_layer *p, const xb_cells *c)
{
    for (int64_t i = 0; i < p->in; i += p->rows)
        for (int64_t j = 0; j < p->out; j += p->columns) {
            tile_place t = {i,
                            j,
                            p->in - i < p->rows ? p->in - i : p->rows,
                            p->out - j < p->columns ? p->out - j : p->columns,
                            j / p->columns,
                            p->out};
            XB_TRY(write_tile(job, list, p, c, t));
        }
    return XB_OK;
}

static json_t *converter_json(const xb_converter *c, int64_t bits)
{
    if (!c->on) return json_null();
    return json_pack("{s:I,s:f,s:b}", "bits", (json_int_t)bits, "range", c->range,
                     "signed", (int)c->has_sign);
}

static json_t *layer_json(const xb_analog *a, const xb_analog_layer *p, const xb_cells *c)
{
    const double scale = xb_cells_scale(c, &a->array);
    json_t *root = json_object();
    xb_json_set(&root, "layer", json_integer(p->index));
    xb_json_set(&root, "kind", xb_json_string(p->layer->kind->name));
    xb_json_set(&root, "inputs", json_integer(p->in));
    xb_json_set(&root, "outputs", json_integer(p->out));
    xb_json_set(&root, "operations_per_input", json_integer(p->operations));
    xb_json_set(&root, "us_per_weight", xb_json_real(scale > 0 ? scale : NAN));
    xb_json_set(
        &root, "us_per_sigma",
        xb_json_real(c->width && c->sigma_top > 0 ? c->width_max / c->sigma_top : NAN));
    xb_json_set(&root, "dac", converter_json(&p->dac, a->array.dac_bits));
    xb_json_set(&root, "adc", converter_json(&p->adc, a->array.adc_bits));
    return root;
}

/* (X60) Slices after the first, each with its scale, its converter and its tiles. */
static xb_status write_slices(const export_job *whole, json_t **root,
                              xb_workbench *workbench, const xb_analog_layer *p)
{
    export_job job = *whole;
    json_t *list = json_array();
    xb_status status = XB_OK;
    for (job.slice = 1; job.slice < p->planes && status == XB_OK; job.slice++) {
        const xb_plane *plane = &p->plane[job.slice];
        json_t *tiles = json_array();
        xb_cells c;
        xb_workbench_target(workbench, &c, job.analog, p, job.slice);
        status = write_tiles(&job, &tiles, p, &c);
        xb_json_add(
            &list,
            json_pack("{s:I,s:o,s:o,s:o}", "slice", (json_int_t)job.slice,
                      "us_per_weight",
                      xb_json_real(plane->us_per_weight > 0 ? plane->us_per_weight : NAN),
                      "adc", converter_json(&plane->adc, job.analog->array.adc_bits),
                      "tiles", tiles));
    }
    if (p->planes > 1)
        xb_json_set(root, "slices", list);
    else
        json_decref(list);
    return status;
}

static xb_status write_layer(const export_job *job, json_t **layers,
                             xb_workbench *workbench, const xb_analog_layer *p)
{
    xb_cells c;
    xb_workbench_target(workbench, &c, job->analog, p, 0);
    json_t *root = layer_json(job->analog, p, &c), *tiles = json_array();
    xb_status status = write_tiles(job, &tiles, p, &c);
    if (status == XB_OK)
        status = xb_export_digital(job->ctx, &root, job->analog, p, &c, job->dir);
    xb_json_set(&root, "tiles", tiles);
    if (status == XB_OK) status = write_slices(job, &root, workbench, p);
    xb_json_add(layers, root);
    XB_TRY(status);
    xb_workbench_target(workbench, &c, job->analog, p, 0);
    return xb_export_crosssim(job->ctx, job->analog, p, &c, job->dir);
}

/* Takes ownership of `layers`. */
static json_t *export_json(const xb_ctx *ctx, const xb_analog *a, json_t *layers)
{
    json_t *root = json_object();
    xb_json_set(&root, "crossbayes", xb_json_string("array export"));
    xb_json_set(&root, "name", xb_json_string(a->array.name));
    xb_json_set(&root, "net", xb_json_string(xb_net_text(xb_model_net(a->model))));
    xb_json_set(&root, "law", xb_json_string(xb_law_text(xb_sampler_law(a->sampler))));
    xb_json_set(&root, "unit", xb_json_string("uS"));
    xb_export_origin(&root, a);
    xb_json_set(&root, "array", xb_array_to_json(ctx, &a->array));
    xb_json_set(&root, "layers", layers);
    return root;
}

static xb_status write_all(const export_job *job, xb_workbench *workbench)
{
    char path[XB_EXPORT_PATH];
    json_t *layers = json_array();
    xb_status status = xb_export_path(job->ctx, path, job->dir, "array.json");
    for (int i = 0; status == XB_OK && i < job->analog->n_layer; i++)
        status = write_layer(job, &layers, workbench, &job->analog->layer[i]);
    json_t *root = export_json(job->ctx, job->analog, layers);
    if (status == XB_OK) status = xb_json_save(job->ctx, root, path);
    json_decref(root);
    return status;
}

xb_status xb_analog_export_plan(xb_ctx *ctx, const char *dir, const char *label)
{
    char crosssim[XB_EXPORT_PATH];
    XB_TRY(xb_export_path(ctx, crosssim, dir, "crosssim"));
    XB_TRY(xb_files_plan_in(ctx, dir, "array.json", label));
    XB_TRY(xb_files_plan_in(ctx, dir, "layer*_r*_c*_*.npy", label));
    XB_TRY(xb_files_plan_in(ctx, dir, "layer*_*.npy", label));
    XB_TRY(xb_files_plan_in(ctx, crosssim, "layer*.npy", label));
    return xb_files_plan_in(ctx, crosssim, "layer*.json", label);
}

xb_status xb_analog_export(xb_ctx *ctx, const xb_analog *analog, const char *dir)
{
    char crosssim[XB_EXPORT_PATH];
    if (xb_model_cells(analog->model))
        return xb_fail(
            ctx, XB_E_ARGUMENT,
            "the weights are made of cells, whose states are in the model file:"
            " there is no export of pairs and width devices for them");
    if (analog->other)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "an ensemble of %lld posteriors: programming data are written for"
                       " single posteriors only",
                       (long long)analog->others + 1);
    XB_TRY(xb_export_path(ctx, crosssim, dir, "crosssim"));
    XB_TRY(xb_dir_make(ctx, crosssim));
    xb_workbench workbench;
    XB_TRY(xb_workbench_make(ctx, &workbench, analog));
    export_job job = {ctx, analog, dir, workbench.tile, 0};
    xb_status status = write_all(&job, &workbench);
    xb_workbench_free(&workbench);
    return status;
}
