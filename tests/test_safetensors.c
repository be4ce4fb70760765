/* test_safetensors.c: safetensors files in and out, against bytes that the
 * Python package wrote, and every way in which such a file can lie. */
#include "scratch.h"

#include "base/ctx.h"
#include "crossbayes/safetensors.h"
#include "failalloc.h"
#include "unixtest.h"

/* safetensors 0.8.0 (PyPI), numpy 2.4.6: safetensors.numpy.save of
 *   w: float32 [[1.5, -2, 3.25], [0.1, 1e-40, inf]]   a: float32 [2.5]
 *   b: float64 [0.1]   step: int64 7   key: uint8 [1, 2, 255]
 *   empty: float32, shape (0, 4)
 * with metadata {"net": 'dense 1, "elu"\nσ\\/'}. */
/* clang-format off */
static const unsigned char python_bytes[] = {
    0x88, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x7b, 0x22, 0x5f, 0x5f, 0x6d,
    0x65, 0x74, 0x61, 0x64, 0x61, 0x74, 0x61, 0x5f, 0x5f, 0x22, 0x3a, 0x7b, 0x22,
    0x6e, 0x65, 0x74, 0x22, 0x3a, 0x22, 0x64, 0x65, 0x6e, 0x73, 0x65, 0x20, 0x31,
    0x2c, 0x20, 0x5c, 0x22, 0x65, 0x6c, 0x75, 0x5c, 0x22, 0x5c, 0x6e, 0xcf, 0x83,
    0x5c, 0x5c, 0x2f, 0x22, 0x7d, 0x2c, 0x22, 0x73, 0x74, 0x65, 0x70, 0x22, 0x3a,
    0x7b, 0x22, 0x64, 0x74, 0x79, 0x70, 0x65, 0x22, 0x3a, 0x22, 0x49, 0x36, 0x34,
    0x22, 0x2c, 0x22, 0x73, 0x68, 0x61, 0x70, 0x65, 0x22, 0x3a, 0x5b, 0x5d, 0x2c,
    0x22, 0x64, 0x61, 0x74, 0x61, 0x5f, 0x6f, 0x66, 0x66, 0x73, 0x65, 0x74, 0x73,
    0x22, 0x3a, 0x5b, 0x30, 0x2c, 0x38, 0x5d, 0x7d, 0x2c, 0x22, 0x62, 0x22, 0x3a,
    0x7b, 0x22, 0x64, 0x74, 0x79, 0x70, 0x65, 0x22, 0x3a, 0x22, 0x46, 0x36, 0x34,
    0x22, 0x2c, 0x22, 0x73, 0x68, 0x61, 0x70, 0x65, 0x22, 0x3a, 0x5b, 0x31, 0x5d,
    0x2c, 0x22, 0x64, 0x61, 0x74, 0x61, 0x5f, 0x6f, 0x66, 0x66, 0x73, 0x65, 0x74,
    0x73, 0x22, 0x3a, 0x5b, 0x38, 0x2c, 0x31, 0x36, 0x5d, 0x7d, 0x2c, 0x22, 0x61,
    0x22, 0x3a, 0x7b, 0x22, 0x64, 0x74, 0x79, 0x70, 0x65, 0x22, 0x3a, 0x22, 0x46,
    0x33, 0x32, 0x22, 0x2c, 0x22, 0x73, 0x68, 0x61, 0x70, 0x65, 0x22, 0x3a, 0x5b,
    0x31, 0x5d, 0x2c, 0x22, 0x64, 0x61, 0x74, 0x61, 0x5f, 0x6f, 0x66, 0x66, 0x73,
    0x65, 0x74, 0x73, 0x22, 0x3a, 0x5b, 0x31, 0x36, 0x2c, 0x32, 0x30, 0x5d, 0x7d,
    0x2c, 0x22, 0x65, 0x6d, 0x70, 0x74, 0x79, 0x22, 0x3a, 0x7b, 0x22, 0x64, 0x74,
    0x79, 0x70, 0x65, 0x22, 0x3a, 0x22, 0x46, 0x33, 0x32, 0x22, 0x2c, 0x22, 0x73,
    0x68, 0x61, 0x70, 0x65, 0x22, 0x3a, 0x5b, 0x30, 0x2c, 0x34, 0x5d, 0x2c, 0x22,
    0x64, 0x61, 0x74, 0x61, 0x5f, 0x6f, 0x66, 0x66, 0x73, 0x65, 0x74, 0x73, 0x22,
    0x3a, 0x5b, 0x32, 0x30, 0x2c, 0x32, 0x30, 0x5d, 0x7d, 0x2c, 0x22, 0x77, 0x22,
    0x3a, 0x7b, 0x22, 0x64, 0x74, 0x79, 0x70, 0x65, 0x22, 0x3a, 0x22, 0x46, 0x33,
    0x32, 0x22, 0x2c, 0x22, 0x73, 0x68, 0x61, 0x70, 0x65, 0x22, 0x3a, 0x5b, 0x32,
    0x2c, 0x33, 0x5d, 0x2c, 0x22, 0x64, 0x61, 0x74, 0x61, 0x5f, 0x6f, 0x66, 0x66,
    0x73, 0x65, 0x74, 0x73, 0x22, 0x3a, 0x5b, 0x32, 0x30, 0x2c, 0x34, 0x34, 0x5d,
    0x7d, 0x2c, 0x22, 0x6b, 0x65, 0x79, 0x22, 0x3a, 0x7b, 0x22, 0x64, 0x74, 0x79,
    0x70, 0x65, 0x22, 0x3a, 0x22, 0x55, 0x38, 0x22, 0x2c, 0x22, 0x73, 0x68, 0x61,
    0x70, 0x65, 0x22, 0x3a, 0x5b, 0x33, 0x5d, 0x2c, 0x22, 0x64, 0x61, 0x74, 0x61,
    0x5f, 0x6f, 0x66, 0x66, 0x73, 0x65, 0x74, 0x73, 0x22, 0x3a, 0x5b, 0x34, 0x34,
    0x2c, 0x34, 0x37, 0x5d, 0x7d, 0x7d, 0x20, 0x20, 0x20, 0x20, 0x07, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f,
    0x00, 0x00, 0x20, 0x40, 0x00, 0x00, 0xc0, 0x3f, 0x00, 0x00, 0x00, 0xc0, 0x00,
    0x00, 0x50, 0x40, 0xcd, 0xcc, 0xcc, 0x3d, 0xc2, 0x16, 0x01, 0x00, 0x00, 0x00,
    0x80, 0x7f, 0x01, 0x02, 0xff};
/* clang-format on */

static const float w_values[] = {1.5F, -2, 3.25F, 0.1F, 1e-40F, INFINITY};
static const float a_values[] = {2.5F};
static const double b_values[] = {0.1};
static const int64_t step_value = 7;
static const unsigned char key_values[] = {1, 2, 255};
static const xb_stored six[] = {
    {"w", XB_STORED_F32, 2, {2, 3}, w_values},
    {"b", XB_STORED_F64, 1, {1}, b_values},
    {"step", XB_STORED_I64, 0, {0}, &step_value},
    {"key", XB_STORED_U8, 1, {3}, key_values},
    {"empty", XB_STORED_F32, 2, {0, 4}, NULL},
    {"a", XB_STORED_F32, 1, {1}, a_values},
};
static const xb_stored_text net_text[] = {{"net", "dense 1, \"elu\"\nσ\\/"}};

enum { FILE_MAX = 4096 };

/* A file of its own around a header, for the ways to be wrong. */
static const char *write_raw(scratch *s, const char *header, uint64_t claimed,
                             const void *data, size_t data_size)
{
    char bytes[FILE_MAX];
    size_t length = strlen(header);
    assert_true(8 + length + data_size <= sizeof bytes);
    memcpy(bytes, &claimed, 8);
    memcpy(bytes + 8, header, length);
    if (data_size) memcpy(bytes + 8 + length, data, data_size);
    return scratch_write(s, "raw.safetensors", bytes, 8 + length + data_size);
}

static void assert_refused(xb_ctx *ctx, const char *path, const char *because)
{
    xb_safetensors *file = NULL;
    xb_status status = xb_safetensors_open(ctx, &file, path);
    if (status != XB_E_INPUT) fail_msg("%s was taken, expected '%s'", path, because);
    assert_null(file);
    const char *message = xb_ctx_message(ctx);
    if (strncmp(message, path, strlen(path)) != 0 || !strstr(message, because))
        fail_msg("'%s', expected '%s: ...%s...'", message, path, because);
}

static void bytes_are_those_of_python(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    char bytes[FILE_MAX];
    assert_ok(ctx, xb_safetensors_write(ctx, scratch_path(&s, "m"), six, XB_COUNT(six),
                                        net_text, 1));
    assert_int_equal(scratch_read(s.path, bytes, sizeof bytes), sizeof python_bytes);
    assert_memory_equal(bytes, python_bytes, sizeof python_bytes);
    assert_int_equal(scratch_remove(&s), 1);
    xb_ctx_destroy(ctx);
}

static void assert_same(const xb_stored *got, const xb_stored *kept)
{
    int64_t bytes = 0;
    assert_non_null(got);
    assert_string_equal(got->name, kept->name);
    assert_int_equal(got->type, kept->type);
    assert_int_equal(got->ndim, kept->ndim);
    assert_memory_equal(got->shape, kept->shape, (size_t)kept->ndim * sizeof(int64_t));
    assert_true(xb_stored_bytes(&bytes, kept));
    assert_int_equal((uintptr_t)got->data % XB_STORED_ALIGNMENT, 0);
    if (bytes) assert_memory_equal(got->data, kept->data, (size_t)bytes);
}

static void python_files_are_read(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_safetensors *f = NULL;
    scratch_write(&s, "p", python_bytes, sizeof python_bytes);
    assert_ok(ctx, xb_safetensors_open(ctx, &f, s.path));
    assert_int_equal(xb_safetensors_count(f), XB_COUNT(six));
    for (int i = 0; i < XB_COUNT(six); i++)
        assert_same(xb_safetensors_at(f, xb_safetensors_find(f, six[i].name)), &six[i]);
    static const char *const order[] = {"step", "b", "a", "empty", "w", "key"};
    for (int i = 0; i < XB_COUNT(six); i++)
        assert_string_equal(xb_safetensors_at(f, i)->name, order[i]);
    assert_int_equal(xb_safetensors_find(f, "x"), -1);
    assert_int_equal(xb_safetensors_find(f, "__metadata__"), -1);
    assert_string_equal(xb_safetensors_text(f, "net"), net_text[0].value);
    assert_null(xb_safetensors_text(f, "law"));
    xb_safetensors_destroy(f);
    xb_safetensors_destroy(NULL);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void what_is_asked_for_is_checked(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_safetensors *f = NULL;
    const xb_stored *t = NULL;
    const char *text = NULL;
    const int64_t shape[] = {2, 3}, turned[] = {3, 2};
    scratch_write(&s, "p", python_bytes, sizeof python_bytes);
    assert_ok(ctx, xb_safetensors_open(ctx, &f, s.path));
    assert_ok(ctx, xb_safetensors_get(ctx, &t, f, "w", XB_STORED_F32, shape, 2));
    assert_same(t, &six[0]);
    t = NULL;
    xb_status status = xb_safetensors_get(ctx, &t, f, "w", XB_STORED_F32, turned, 2);
    assert_int_equal(status, XB_E_INPUT);
    assert_non_null(
        strstr(xb_ctx_message(ctx), "/p: tensor 'w' is F32 [2,3], expected F32 [3,2]"));
    status = xb_safetensors_get(ctx, &t, f, "w", XB_STORED_F64, shape, 2);
    assert_int_equal(status, XB_E_INPUT);
    status = xb_safetensors_get(ctx, &t, f, "w", XB_STORED_F32, shape, 1);
    assert_int_equal(status, XB_E_INPUT);
    status = xb_safetensors_get(ctx, &t, f, "v", XB_STORED_F32, shape, 2);
    assert_int_equal(status, XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "/p: no tensor 'v'"));
    assert_null(t);
    assert_ok(ctx, xb_safetensors_get_text(ctx, &text, f, "net"));
    assert_int_equal(xb_safetensors_get_text(ctx, &text, f, "law"), XB_E_INPUT);
    assert_non_null(
        strstr(xb_ctx_message(ctx), "/p: 'law' is missing from its metadata"));
    xb_safetensors_destroy(f);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* Nothing at all, many texts in their order, a tensor larger than a block. */
static void odd_sizes_come_back(void **state)
{
    (void)state;
    enum { LARGE = 300001, TEXTS = 3 };
    static const xb_stored_text texts[TEXTS] = {{"z", ""}, {"a", "1"}, {"m", "\t\"{}"}};
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_safetensors *f = NULL;
    assert_ok(ctx, xb_safetensors_write(ctx, scratch_path(&s, "0"), NULL, 0, NULL, 0));
    char bytes[64];
    assert_int_equal(scratch_read(s.path, bytes, sizeof bytes), 16);
    assert_memory_equal(bytes, "\x08\0\0\0\0\0\0\0{}      ", 16);
    assert_ok(ctx, xb_safetensors_open(ctx, &f, s.path));
    assert_int_equal(xb_safetensors_count(f), 0);
    assert_null(xb_safetensors_text(f, "a"));
    xb_safetensors_destroy(f);
    double *x = calloc(LARGE, sizeof *x);
    for (int i = 0; i < LARGE; i++) x[i] = sqrt(i);
    xb_stored t = {"x", XB_STORED_F64, 3, {1, LARGE, 1}, x};
    assert_ok(ctx, xb_safetensors_write(ctx, s.path, &t, 1, texts, TEXTS));
    assert_ok(ctx, xb_safetensors_open(ctx, &f, s.path));
    assert_same(xb_safetensors_at(f, 0), &t);
    for (int i = 0; i < TEXTS; i++)
        assert_string_equal(xb_safetensors_text(f, texts[i].key), texts[i].value);
    xb_safetensors_destroy(f);
    free(x);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* Valid, but no tensor begins at a multiple of its size. */
static void unaligned_files_are_read(void **state)
{
    (void)state;
    static const char header[] =
        "{\"u\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
        "\"x\":{\"data_offsets\":[1,9],\"dtype\":\"F64\",\"shape\":[1]}} ";
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_safetensors *f = NULL;
    char data[9] = {3};
    const double value = 1.0 / 3;
    memcpy(data + 1, &value, 8);
    write_raw(&s, header, strlen(header), data, sizeof data);
    assert_ok(ctx, xb_safetensors_open(ctx, &f, s.path));
    assert_true(
        *(const double *)xb_safetensors_at(f, xb_safetensors_find(f, "x"))->data ==
        value);
    assert_int_equal(
        *(const char *)xb_safetensors_at(f, xb_safetensors_find(f, "u"))->data, 3);
    xb_safetensors_destroy(f);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

#define ONE(dtype, shape, offsets)                                                       \
    "{\"x\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}}"

/* Headers over 8 bytes of data. */
static const struct {
    const char *header;
    const char *because;
} lies[] = {
    {ONE("\"F32\"", "[2]", "[0,8]") "x", "safetensors header"},
    {ONE("\"F32\"", "[2]", "[0,8]") "{}", "safetensors header"},
    {" " ONE("\"F32\"", "[2]", "[0,8]"), "not a JSON object"},
    {"[1, 2]", "not a JSON object"},
    {"{\"x\":", "safetensors header"},
    {"{\"x\xff\":{}}", "safetensors header"},
    {"{\"x\\u0000\":{}}", "safetensors header"},
    {"{\"x\":{},\"x\":{}}", "duplicate"},
    {"{\"x\":[]}", "expected {dtype, shape, data_offsets}"},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[2]}}", "expected {dtype"},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"offsets\":[0,8]}}", "data_offsets is no"},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"y\":1}}",
     "expected {dtype"},
    {ONE("\"BF16\"", "[4]", "[0,8]"), "tensor 'x': dtype 'BF16', expected F32"},
    {ONE("\"f32\"", "[2]", "[0,8]"), "dtype 'f32'"},
    {ONE("32", "[2]", "[0,8]"), "no dtype"},
    {ONE("\"F32\"", "2", "[0,8]"), "shape is not a list"},
    {ONE("\"F32\"", "[-2]", "[0,8]"), "shape is not a list"},
    {ONE("\"F32\"", "[2.0]", "[0,8]"), "shape is not a list"},
    {ONE("\"F32\"", "[\"2\"]", "[0,8]"), "shape is not a list"},
    {ONE("\"F32\"", "[1,1,1,1,1,1,1,1,2]", "[0,8]"), "shape is not a list"},
    {ONE("\"F32\"", "[2]", "[0]"), "not a pair"},
    {ONE("\"F32\"", "[2]", "[0,8,8]"), "not a pair"},
    {ONE("\"F32\"", "[2]", "[-8,0]"), "not a pair"},
    {ONE("\"F32\"", "[2]", "[0,8.0]"), "not a pair"},
    {ONE("\"F32\"", "[2]", "[8,0]"), "beyond the end"},
    {ONE("\"F32\"", "[4]", "[0,16]"), "beyond the end"},
    {ONE("\"F32\"", "[2]", "[0,9223372036854775807]"), "beyond the end"},
    {ONE("\"F32\"", "[2]", "[0,9223372036854775808]"), "safetensors header"},
    {ONE("\"F32\"", "[3]", "[0,8]"), "do not match its shape"},
    {ONE("\"F64\"", "[2]", "[0,8]"), "do not match its shape"},
    {ONE("\"F32\"", "[4611686018427387904,4]", "[0,0]"), "do not match its shape"},
    {ONE("\"U8\"", "[4294967296,4294967296]", "[0,0]"), "do not match its shape"},
    {ONE("\"F32\"", "[9223372036854775807]", "[0,8]"), "do not match its shape"},
    {ONE("\"F32\"", "[]", "[4,8]"), "unused bytes before it"},
    {ONE("\"F32\"", "[]", "[0,4]"), "4 bytes after the last tensor"},
    {"{}", "8 bytes after the last tensor"},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
     "\"y\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}",
     "tensor 'y': overlaps"},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
     "\"y\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
     "tensor 'y': overlaps"},
    {"{\"__metadata__\":[]}", "'__metadata__' is not an object"},
    {"{\"__metadata__\":{\"a\":1}}", "'a' in '__metadata__' is not a text"},
    {"{\"__metadata__\":{\"a\":null}}", "is not a text"},
};

static void lies_are_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    const char *good = ONE("\"F32\"", "[2]", "[0,8]");
    for (int i = 0; i < XB_COUNT(lies); i++) {
        write_raw(&s, lies[i].header, strlen(lies[i].header), "12345678", 8);
        assert_refused(ctx, s.path, lies[i].because);
    }
    xb_safetensors *f = NULL;
    write_raw(&s, good, strlen(good), "12345678", 8);
    assert_ok(ctx, xb_safetensors_open(ctx, &f, s.path)); /* it was the lie */
    xb_safetensors_destroy(f);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void false_lengths_are_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    const char *good = ONE("\"F32\"", "[2]", "[0,8]");
    uint64_t length = strlen(good);
    static const uint64_t claims[] = {0,         1,        UINT64_MAX,
                                      1U << 31U, 17 << 20, UINT64_C(1) << 63};
    for (int i = 0; i < XB_COUNT(claims); i++) {
        write_raw(&s, good, claims[i], "12345678", 8);
        assert_refused(ctx, s.path, "not a safetensors file");
    }
    write_raw(&s, good, length + 9, "12345678", 8);
    assert_refused(ctx, s.path, "a header of");
    write_raw(&s, good, length + 8, "12345678", 8); /* data taken for header */
    assert_refused(ctx, s.path, "safetensors header");
    write_raw(&s, good, length - 1, "12345678", 8);
    assert_refused(ctx, s.path, "safetensors header");
    write_raw(&s, good, length, "12345678", 7);
    assert_refused(ctx, s.path, "beyond the end");
    write_raw(&s, good, length, "123456789", 9);
    assert_refused(ctx, s.path, "1 byte after the last tensor");
    scratch_write(&s, "raw.safetensors", "", 0);
    assert_refused(ctx, s.path, "empty file");
    scratch_write(&s, "raw.safetensors", "1234567", 7);
    assert_refused(ctx, s.path, "shorter than 8 bytes");
    assert_refused(ctx, s.dir, "this is a folder");
    assert_refused(ctx, scratch_path(&s, "none"), "cannot read");
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void a_pipe_is_refused(void **state)
{
    (void)state;
    UNIX_ONLY("it makes a pipe with a name");
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    assert_int_equal(mkfifo(scratch_path(&s, "pipe"), 0600), 0);
    FILE *both_ends = fopen(s.path, "r+"); /* so that opening does not wait */
    assert_int_equal(fwrite(python_bytes, 1, sizeof python_bytes, both_ends),
                     sizeof python_bytes);
    fflush(both_ends);
    assert_refused(ctx, s.path, "a pipe or device");
    fclose(both_ends);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* Whatever a broken file says, reading it ends, and what it gives is inside. */
static void use_all(xb_ctx *ctx, const char *path, int *taken)
{
    xb_safetensors *f = NULL;
    xb_status status = xb_safetensors_open(ctx, &f, path);
    assert_true(status == XB_OK || status == XB_E_INPUT);
    if (status != XB_OK) return;
    volatile unsigned char sink = 0;
    for (int64_t i = 0; i < xb_safetensors_count(f); i++) {
        const xb_stored *t = xb_safetensors_at(f, i);
        int64_t bytes = 0;
        assert_true(xb_stored_bytes(&bytes, t));
        for (int64_t k = 0; k < bytes; k++)
            sink = sink ^ ((const unsigned char *)t->data)[k];
    }
    xb_safetensors_destroy(f);
    ++*taken;
}

static void every_flipped_byte_is_survived(void **state)
{
    (void)state;
    static const unsigned char masks[] = {0x01, 0x02, 0x04, 0x10, 0x80, 0xFF};
    enum { DATA = 47 };
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    unsigned char bytes[sizeof python_bytes];
    int taken = 0;
    for (size_t i = 0; i < sizeof bytes; i++)
        for (int k = 0; k < XB_COUNT(masks); k++) {
            memcpy(bytes, python_bytes, sizeof bytes);
            bytes[i] ^= masks[k];
            scratch_write(&s, "f", bytes, sizeof bytes);
            use_all(ctx, s.path, &taken);
        }
    assert_true(taken >= DATA * XB_COUNT(masks)); /* the data may be anything */
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void every_truncation_is_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    for (size_t n = 0; n < sizeof python_bytes; n++) {
        scratch_write(&s, "t", python_bytes, n);
        assert_refused(ctx, s.path, "");
    }
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void wrong_tensors_are_not_written(void **state)
{
    (void)state;
    static const struct {
        xb_stored tensor[2];
        int n;
        const char *because;
    } wrong[] = {
        {{{"x", XB_STORED_F32, 0, {0}, w_values}, {"x", XB_STORED_F32, 0, {0}, w_values}},
         2,
         "two entries named 'x'"},
        {{{"__metadata__", XB_STORED_F32, 0, {0}, w_values}}, 1, "__metadata__"},
        {{{"x", XB_STORED_F32, 1, {-1}, w_values}}, 1, "impossible shape"},
        {{{"x", XB_STORED_F32, 9, {1}, w_values}}, 1, "impossible shape"},
        {{{"x", XB_STORED_F32, 2, {INT64_MAX, 2}, w_values}}, 1, "impossible shape"},
        {{{"\xff", XB_STORED_F32, 0, {0}, w_values}}, 1, "not UTF-8"},
    };
    static const xb_stored_text twice[] = {{"a", "1"}, {"a", "2"}}, bad = {"a", "\xC3"};
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    scratch_write(&s, "old", "old", 3);
    for (int i = 0; i < XB_COUNT(wrong); i++) {
        xb_status status =
            xb_safetensors_write(ctx, s.path, wrong[i].tensor, wrong[i].n, NULL, 0);
        assert_int_equal(status, XB_E_ARGUMENT);
        assert_non_null(strstr(xb_ctx_message(ctx), wrong[i].because));
    }
    assert_int_equal(xb_safetensors_write(ctx, s.path, six, 1, twice, 2), XB_E_ARGUMENT);
    assert_int_equal(xb_safetensors_write(ctx, s.path, six, 1, &bad, 1), XB_E_ARGUMENT);
    assert_int_equal(xb_safetensors_write(ctx, s.dir, six, 1, NULL, 0), XB_E_IO);
    char *huge = calloc(1, XB_SAFETENSORS_HEADER_MAX + 1);
    memset(huge, 'a', XB_SAFETENSORS_HEADER_MAX);
    xb_stored_text long_text = {"a", huge};
    assert_int_equal(xb_safetensors_write(ctx, s.path, six, 1, &long_text, 1),
                     XB_E_ARGUMENT);
    free(huge);
    char text[8];
    scratch_read(s.path, text, sizeof text);
    assert_string_equal(text, "old");
    assert_int_equal(scratch_remove(&s), 1); /* nothing half-written */
    xb_ctx_destroy(ctx);
}

static bool stop(void *arg, const xb_progress *event)
{
    (void)arg;
    (void)event;
    return false;
}

static void stopping_leaves_the_old_file(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    scratch_write(&s, "old", "old", 3);
    xb_ctx_set_progress(ctx, stop, NULL);
    assert_int_equal(xb_safetensors_write(ctx, s.path, six, XB_COUNT(six), NULL, 0),
                     XB_E_CANCELLED);
    char text[8];
    scratch_read(s.path, text, sizeof text);
    assert_string_equal(text, "old");
    assert_int_equal(scratch_remove(&s), 1);
    xb_ctx_destroy(ctx);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    scratch_path(&s, "m");
    fail_alloc_in_json = true;
    for (int k = 0; fail_alloc_after(k); k++) {
        xb_status status =
            xb_safetensors_write(ctx, s.path, six, XB_COUNT(six), net_text, 1);
        if (!fail_alloc_happened()) {
            assert_int_equal(status, XB_OK);
            break;
        }
        assert_int_equal(status, XB_E_MEMORY);
    }
    fail_alloc_in_json = false;
    for (int k = 0; fail_alloc_after(k); k++) {
        xb_safetensors *f = NULL;
        xb_status status = xb_safetensors_open(ctx, &f, s.path);
        bool happened = fail_alloc_happened();
        xb_safetensors_destroy(f);
        if (!happened) {
            assert_int_equal(status, XB_OK);
            break;
        }
        assert_int_equal(status, XB_E_MEMORY);
        assert_null(f);
    }
    assert_int_equal(scratch_remove(&s), 1);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_those_of_python),
        cmocka_unit_test(python_files_are_read),
        cmocka_unit_test(what_is_asked_for_is_checked),
        cmocka_unit_test(odd_sizes_come_back),
        cmocka_unit_test(unaligned_files_are_read),
        cmocka_unit_test(lies_are_refused),
        cmocka_unit_test(false_lengths_are_refused),
        cmocka_unit_test(a_pipe_is_refused),
        cmocka_unit_test(every_flipped_byte_is_survived),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(wrong_tensors_are_not_written),
        cmocka_unit_test(stopping_leaves_the_old_file),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
