/* test_train_same.c: what `crossbayes train` writes is what xb_train with the same
 * settings gives, to the last byte of the model's file: the program adds no policy of its
 * own. From a file, from columns in memory and from images. */
#include "clitest.h"

#include "traintest.h"

#include "crossbayes/train.h"

enum { MODEL_MOST = 1 << 20 };

/* x, y and a kind, made up. */
static void make_table(void)
{
    const rows r = make_rows(false);
    char path[512];
    in_folder(path, "t.csv");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "a,b,y,kind\n");
    for (int i = 0; i < ROWS; i++)
        fprintf(f, "%.17g,%.17g,%.17g,%s\n", r.x[3 * i], r.x[3 * i + 1], r.y[i],
                r.y[i] > 9 ? "red" : "blue");
    fclose(f);
    run_shell("cut -d, -f1-3 t.csv > y.csv; cut -d, -f1,2,4 t.csv > k.csv");
}

/* The program's model, and where it says that it came from: the one thing that a caller
 * of the library has to say for itself. */
static xb_ctx *ctx_of_program_run(void)
{
    xb_ctx *ctx = test_ctx();
    xb_model *model = NULL;
    char path[512];
    in_folder(path, "m.safetensors");
    assert_ok(ctx, xb_model_load(ctx, &model, path));
    json_t *root = json_loads(xb_model_provenance(model), 0, NULL);
    xb_ctx_set_origin(ctx, json_string_value(json_object_get(root, "command")));
    json_decref(root);
    xb_model_destroy(model);
    return ctx;
}

static void assert_same_model(xb_ctx *ctx, const xb_model *model)
{
    static char mine[MODEL_MOST], its[MODEL_MOST];
    char path[512];
    in_folder(path, "mine.safetensors");
    assert_ok(ctx, xb_model_save(ctx, model, path));
    const size_t n = read_file(mine, sizeof mine, path);
    in_folder(path, "m.safetensors");
    assert_int_equal(read_file(its, sizeof its, path), n);
    assert_memory_equal(mine, its, n);
}

static void check_data(xb_ctx *ctx, const xb_train_data *data,
                       const xb_train_options *opt)
{
    xb_model *model = NULL;
    assert_ok(ctx, xb_train(ctx, &model, NULL, data, opt));
    assert_same_model(ctx, model);
    xb_model_destroy(model);
}

/* The same columns from memory, features as doubles of a row-major matrix. */
static xb_frame *from_memory(xb_ctx *ctx, const xb_frame *frame)
{
    const double *x = xb_frame_values(frame);
    const char *label[ROWS];
    const bool classes = xb_frame_class_count(frame) > 0;
    for (int i = 0; classes && i < ROWS; i++)
        label[i] = xb_frame_class_name(frame, (int64_t)xb_frame_target(frame)[i]);
    const xb_column columns[] = {
        {"a", x, XB_COLUMN_F64, 2 * sizeof *x},
        {"b", x + 1, XB_COLUMN_F64, 2 * sizeof *x},
        {xb_frame_target_name(frame),
         classes ? (const void *)label : (const void *)xb_frame_target(frame),
         classes ? XB_COLUMN_TEXT : XB_COLUMN_F64, 0},
    };
    xb_frame_options opt = xb_frame_options_default();
    opt.target = xb_frame_target_name(frame);
    xb_frame *out = NULL;
    assert_ok(ctx, xb_frame_create(ctx, &out, columns, 3, ROWS, &opt));
    return out;
}

static void check_table(const char *file, const char *target, const char *arguments,
                        const xb_train_options *opt)
{
    char line[512], path[512];
    snprintf(line, sizeof line, "train %s -t %s -o m.safetensors %s", file, target,
             arguments);
    run_well(line);
    xb_ctx *ctx = ctx_of_program_run();
    xb_frame *frame = NULL;
    xb_frame_options read = xb_frame_options_default();
    read.target = target;
    in_folder(path, file);
    assert_ok(ctx, xb_frame_read(ctx, &frame, path, &read));
    xb_frame *memory = from_memory(ctx, frame);
    const xb_train_data data[2] = {xb_train_data_of(frame), xb_train_data_of(memory)};
    for (int k = 0; k < 2; k++) check_data(ctx, &data[k], opt);
    xb_frame_destroy(frame);
    xb_frame_destroy(memory);
    xb_ctx_destroy(ctx);
}

static void tables_give_the_programs_model(void **state)
{
    (void)state;
    folder_empty(folder);
    make_table();
    xb_train_options opt = xb_train_options_default();
    opt.epochs = 20;
    opt.mle_epochs = 10;
    check_table("y.csv", "y", "--epochs 20 --mle-epochs 10",
                &opt); /* two nets are tried */
    check_table("k.csv", "kind", "--epochs 20 --mle-epochs 10", &opt);
    opt.validation = 0.25;
    opt.patience = 3;
    opt.seed = 4;
    check_table("y.csv", "y",
                "--epochs 20 --mle-epochs 10 --validation 0.25 --patience 3 --seed 4",
                &opt);
    opt = xb_train_options_default();
    opt.epochs = opt.mle_epochs = 5;
    opt.noise_net = "dense 3, relu, dense 1";
    check_table("y.csv", "y",
                "--epochs 5 --mle-epochs 5 --noise-net 'dense 3, relu, dense 1'", &opt);
}

static void a_preset_gives_the_programs_model(void **state)
{
    (void)state;
    folder_empty(folder);
    make_table();
    xb_ctx *ctx = test_ctx();
    xb_train_options opt = xb_train_options_default();
    assert_ok(ctx, xb_train_preset(ctx, &opt, "paper"));
    opt.epochs = 3;
    xb_ctx_destroy(ctx);
    check_table("y.csv", "y", "--preset paper --epochs 3", &opt);
    run_badly("train y.csv -t y -o n.safetensors --preset papr", "did you mean 'paper'");
    run_well("train --help");
    assert_non_null(strstr(out_text, "the training of the paper's networks"));
}

/* Images: IDX files of 6 x 6 pixels in two classes. */
static void make_images(void)
{
    enum { N = 40, PIXELS = 36 };
    unsigned char images[16 + N * PIXELS] = {0, 0, 8, 3, 0, 0, 0, N,
                                             0, 0, 0, 6, 0, 0, 0, 6};
    unsigned char labels[8 + N] = {0, 0, 8, 1, 0, 0, 0, N};
    for (int i = 0; i < N * PIXELS; i++)
        images[16 + i] = (unsigned char)(37 * i + i * i / 11);
    for (int i = 0; i < N; i++) labels[8 + i] = images[16 + i * PIXELS] > 127;
    make_file("train-images-idx3-ubyte", images, sizeof images);
    make_file("train-labels-idx1-ubyte", labels, sizeof labels);
}

static void images_give_the_programs_model(void **state)
{
    (void)state;
    folder_empty(folder);
    make_images();
    run_well("train train-images-idx3-ubyte -o m.safetensors --epochs 2 --mle-epochs 2"
             " --no-cache");
    xb_ctx *ctx = ctx_of_program_run();
    char path[512];
    xb_images *images = NULL;
    int64_t *select = NULL, n = 0;
    xb_image_options read = xb_image_options_default();
    read.no_cache = true;
    in_folder(path, "train-images-idx3-ubyte");
    assert_ok(ctx, xb_images_open(ctx, &images, path, &read));
    assert_ok(ctx, xb_images_select(ctx, &select, &n, images, XB_PART_ALL, true));
    const xb_train_data data = xb_train_data_of_images(images, select, n);
    xb_train_options opt = xb_train_options_default();
    opt.epochs = opt.mle_epochs = 2;
    check_data(ctx, &data, &opt);
    xb_free(select);
    xb_images_destroy(images);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_give_the_programs_model),
        cmocka_unit_test(a_preset_gives_the_programs_model),
        cmocka_unit_test(images_give_the_programs_model),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
