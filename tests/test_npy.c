/* test_npy.c: NPY files in and out, against bytes that numpy wrote, and every
 * way in which such a file can lie about itself. */
#include "scratch.h"

#include "base/ctx.h"
#include "failalloc.h"
#include "unixtest.h"

/* Written by numpy 2.4.6, numpy.lib.format.write_array of
 *   f8: array([1.5, -2.25, 1e-300])
 *   f4: array([[1, 2, 3], [4, 5, 6.5]], 'f4')
 *   i2: array([-3, 32767], 'i2'), version=(2, 0) */
/* clang-format off */
static const unsigned char numpy_f8[] = {
    0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 0x01, 0x00, 0x76, 0x00, 0x7b, 0x27, 0x64,
    0x65, 0x73, 0x63, 0x72, 0x27, 0x3a, 0x20, 0x27, 0x3c, 0x66, 0x38, 0x27, 0x2c,
    0x20, 0x27, 0x66, 0x6f, 0x72, 0x74, 0x72, 0x61, 0x6e, 0x5f, 0x6f, 0x72, 0x64,
    0x65, 0x72, 0x27, 0x3a, 0x20, 0x46, 0x61, 0x6c, 0x73, 0x65, 0x2c, 0x20, 0x27,
    0x73, 0x68, 0x61, 0x70, 0x65, 0x27, 0x3a, 0x20, 0x28, 0x33, 0x2c, 0x29, 0x2c,
    0x20, 0x7d, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
    0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
    0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
    0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
    0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x0a, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0xf8, 0x3f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
    0xc0, 0x59, 0xf3, 0xf8, 0xc2, 0x1f, 0x6e, 0xa5, 0x01};
static const unsigned char numpy_f4[] = {
    0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 0x01, 0x00, 0x76, 0x00, 0x7b, 0x27, 0x64,
    0x65, 0x73, 0x63, 0x72, 0x27, 0x3a, 0x20, 0x27, 0x3c, 0x66, 0x34, 0x27, 0x2c,
    0x20, 0x27, 0x66, 0x6f, 0x72, 0x74, 0x72, 0x61, 0x6e, 0x5f, 0x6f, 0x72, 0x64,
    0x65, 0x72, 0x27, 0x3a, 0x20, 0x46, 0x61, 0x6c, 0x73, 0x65, 0x2c, 0x20, 0x27,
    0x73, 0x68, 0x61, 0x70, 0x65, 0x27, 0x3a, 0x20, 0x28, 0x32, 0x2c, 0x20, 0x33,
    0x29, 0x2c, 0x20, 0x7d, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
    0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
    0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
    0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
    0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x0a, 0x00, 0x00,
    0x80, 0x3f, 0x00, 0x00, 0x00, 0x40, 0x00, 0x00, 0x40, 0x40, 0x00, 0x00, 0x80,
    0x40, 0x00, 0x00, 0xa0, 0x40, 0x00, 0x00, 0xd0, 0x40};
static const unsigned char numpy_i2[] = {
    0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 0x02, 0x00, 0x74, 0x00, 0x00, 0x00, 0x7b,
    0x27, 0x64, 0x65, 0x73, 0x63, 0x72, 0x27, 0x3a, 0x20, 0x27, 0x3c, 0x69, 0x32,
    0x27, 0x2c, 0x20, 0x27, 0x66, 0x6f, 0x72, 0x74, 0x72, 0x61, 0x6e, 0x5f, 0x6f,
    0x72, 0x64, 0x65, 0x72, 0x27, 0x3a, 0x20, 0x46, 0x61, 0x6c, 0x73, 0x65, 0x2c,
    0x20, 0x27, 0x73, 0x68, 0x61, 0x70, 0x65, 0x27, 0x3a, 0x20, 0x28, 0x32, 0x2c,
    0x29, 0x2c, 0x20, 0x7d, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
    0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
    0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
    0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
    0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x0a, 0xfd, 0xff,
    0xff, 0x7f};
/* clang-format on */

static double untouched;

typedef struct array {
    xb_status status;
    double *x;
    int64_t shape[8];
    int64_t ndim;
} array;

/* Reads, and checks that a failure leaves the outputs alone. */
static array read_array(xb_ctx *ctx, const char *path)
{
    array a = {XB_OK, &untouched, {-7}, -7};
    a.status = xb_npy_read(ctx, &a.x, a.shape, &a.ndim, path);
    if (a.status != XB_OK) {
        assert_ptr_equal(a.x, &untouched);
        assert_true(a.shape[0] == -7 && a.ndim == -7);
    }
    return a;
}

static void numpy_files_are_read(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    array a = read_array(ctx, scratch_write(&s, "a", numpy_f8, sizeof numpy_f8));
    assert_ok(ctx, a.status);
    assert_true(a.ndim == 1 && a.shape[0] == 3);
    assert_true(a.x[0] == 1.5 && a.x[1] == -2.25 && a.x[2] == 1e-300);
    free(a.x);
    a = read_array(ctx, scratch_write(&s, "a", numpy_f4, sizeof numpy_f4));
    assert_ok(ctx, a.status);
    assert_true(a.ndim == 2 && a.shape[0] == 2 && a.shape[1] == 3);
    assert_true(a.x[0] == 1 && a.x[2] == 3 && a.x[5] == 6.5);
    free(a.x);
    a = read_array(ctx, scratch_write(&s, "a", numpy_i2, sizeof numpy_i2));
    assert_ok(ctx, a.status);
    assert_true(a.ndim == 1 && a.shape[0] == 2 && a.x[0] == -3 && a.x[1] == 32767);
    free(a.x);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void numpy_bytes_are_written(void **state)
{
    (void)state;
    static const double f8[] = {1.5, -2.25, 1e-300};
    static const float f4[] = {1, 2, 3, 4, 5, 6.5f};
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    unsigned char bytes[1024];
    scratch_path(&s, "w.npy");
    assert_ok(ctx, xb_npy_write(ctx, s.path, f8, XB_F64, (int64_t[]){3}, 1));
    assert_int_equal(scratch_read(s.path, bytes, sizeof bytes), sizeof numpy_f8);
    assert_memory_equal(bytes, numpy_f8, sizeof numpy_f8);
    assert_ok(ctx, xb_npy_write(ctx, s.path, f4, XB_F32, (int64_t[]){2, 3}, 2));
    assert_int_equal(scratch_read(s.path, bytes, sizeof bytes), sizeof numpy_f4);
    assert_memory_equal(bytes, numpy_f4, sizeof numpy_f4);
    assert_int_equal(scratch_remove(&s), 1);
    xb_ctx_destroy(ctx);
}

/* Any shape there and back; the data start at a multiple of 64 bytes. */
static void shapes_come_back(void **state)
{
    (void)state;
    static const struct {
        int ndim;
        int64_t shape[8];
    } cases[] = {{0, {0}},
                 {1, {0}},
                 {1, {1}},
                 {1, {17}},
                 {2, {3, 0}},
                 {2, {17, 1}},
                 {3, {2, 3, 4}},
                 {8, {1, 2, 1, 2, 1, 2, 1, 2}},
                 {2, {0, INT64_C(1000000000000000)}}};
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    double x[64];
    for (int i = 0; i < 64; i++) x[i] = i / 8.0 - 1;
    x[3] = NAN;
    for (int c = 0; c < XB_COUNT(cases); c++) {
        int64_t n = 1;
        for (int i = 0; i < cases[c].ndim; i++) n *= cases[c].shape[i];
        scratch_path(&s, "s.npy");
        assert_ok(ctx,
                  xb_npy_write(ctx, s.path, x, XB_F64, cases[c].shape, cases[c].ndim));
        xb_os_info info;
        assert_true(xb_os_look(&info, s.path));
        assert_int_equal((info.size - n * 8) % 64, 0);
        array a = read_array(ctx, s.path);
        assert_ok(ctx, a.status);
        assert_int_equal(a.ndim, cases[c].ndim);
        for (int i = 0; i < a.ndim; i++) assert_int_equal(a.shape[i], cases[c].shape[i]);
        if (n > 0) assert_memory_equal(a.x, x, (size_t)n * sizeof *x);
        free(a.x);
    }
    int64_t negative[] = {-1}, huge[] = {INT64_MAX, 2};
    assert_int_equal(xb_npy_write(ctx, s.path, x, XB_F64, negative, 1), XB_E_ARGUMENT);
    assert_int_equal(xb_npy_write(ctx, s.path, x, XB_F64, huge, 2), XB_E_ARGUMENT);
    assert_int_equal(xb_npy_write(ctx, s.path, x, XB_F64, huge, 9), XB_E_ARGUMENT);
    assert_int_equal(scratch_remove(&s), 1);
    xb_ctx_destroy(ctx);
}

/* A file with the given dictionary, version and data. */
static const char *make_npy(scratch *s, int version, const char *dictionary,
                            const void *data, size_t size)
{
    unsigned char bytes[2048] = "\x93NUMPY";
    size_t length = strlen(dictionary), at = version == 1 ? 10 : 12;
    bytes[6] = (unsigned char)version;
    bytes[8] = (unsigned char)length;
    bytes[9] = (unsigned char)(length >> 8);
    memcpy(bytes + at, dictionary, length);
    memcpy(bytes + at + length, data, size);
    return scratch_write(s, "made.npy", bytes, at + length + size);
}

static void every_type_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        unsigned char data[16]; /* two elements */
        size_t size;
        double x[2];
    } cases[] = {
        {"<f4", {0, 0, 0xC0, 0x3F, 0, 0, 0, 0xC0}, 8, {1.5, -2}},
        {"<f8", {0, 0, 0, 0, 0, 0, 0xF8, 0x3F, 0, 0, 0, 0, 0, 0, 0, 0xC0}, 16, {1.5, -2}},
        {"|i1", {0x7F, 0xFF}, 2, {127, -1}},
        {"<i2", {0, 1, 0xFE, 0xFF}, 4, {256, -2}},
        {"<i4", {0, 0, 1, 0, 0xFE, 0xFF, 0xFF, 0xFF}, 8, {65536, -2}},
        {"<i8",
         {0, 0, 0, 0, 1, 0, 0, 0, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF},
         16,
         {4294967296.0, -2}},
        {"|u1", {0x7F, 0xFF}, 2, {127, 255}},
        {"<u2", {0, 1, 0xFE, 0xFF}, 4, {256, 65534}},
        {"<u4", {0, 0, 1, 0, 0xFE, 0xFF, 0xFF, 0xFF}, 8, {65536, 4294967294.0}},
        {"<u8",
         {0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80},
         16,
         {4294967296.0, 0x1p63}},
        {"|b1", {1, 0}, 2, {1, 0}},
        {"<i1", {1, 2}, 2, {1, 2}},
        {">i1", {1, 2}, 2, {1, 2}}, /* one byte has no order */
        {">u2", {1, 0, 0xFF, 0xFE}, 4, {256, 65534}},
        {">f4", {0x3F, 0x80, 0, 0, 0xC0, 0x20, 0, 0}, 8, {1, -2.5}},
        {">f8",
         {0x3F, 0xF0, 0, 0, 0, 0, 0, 0, 0xC0, 0x04, 0, 0, 0, 0, 0, 0},
         16,
         {1, -2.5}},
    };
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    for (int c = 0; c < XB_COUNT(cases); c++)
        for (int version = 1; version <= 3; version++) {
            char head[128];
            snprintf(head, sizeof head,
                     "{'shape': (2,), \"fortran_order\":False , 'descr': '%s'}\n",
                     cases[c].type);
            make_npy(&s, version, head, cases[c].data, cases[c].size);
            array a = read_array(ctx, s.path);
            assert_ok(ctx, a.status);
            assert_true(a.ndim == 1 && a.shape[0] == 2);
            assert_true(a.x[0] == cases[c].x[0] && a.x[1] == cases[c].x[1]);
            free(a.x);
        }
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* Element (i, j, k) of a 2 x 3 x 4 array is 100 i + 10 j + k, first index fastest in the
 * file; what is read is in C order. */
static void fortran_order_is_turned(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    unsigned char data[24];
    int n = 0;
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 2; i++) data[n++] = (unsigned char)(100 * i + 10 * j + k);
    static const char head[] =
        "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4), }\n";
    make_npy(&s, 1, head, data, sizeof data);
    array a = read_array(ctx, s.path);
    assert_ok(ctx, a.status);
    assert_true(a.ndim == 3 && a.shape[0] == 2 && a.shape[1] == 3 && a.shape[2] == 4);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 4; k++)
                assert_true(a.x[12 * i + 4 * j + k] == 100 * i + 10 * j + k);
    free(a.x);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void assert_says(xb_ctx *ctx, const char *path, const char *says)
{
    array a = read_array(ctx, path);
    assert_int_equal(a.status, XB_E_INPUT);
    if (strncmp(xb_ctx_message(ctx), path, strlen(path)) != 0 ||
        !strstr(xb_ctx_message(ctx), says))
        fail_msg("'%s' does not say '%s'", xb_ctx_message(ctx), says);
    double *x = &untouched;
    int64_t n = -7;
    if (strstr(says, "not an NPY") || strstr(says, "(.npy) was expected"))
        return; /* it is read as text */
    assert_int_equal(xb_column_read(ctx, &x, &n, path, NULL), XB_E_INPUT);
    assert_true(x == &untouched && n == -7);
    assert_non_null(strstr(xb_ctx_message(ctx), says));
}

static void lies_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *head, *says;
    } cases[] = {
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", "type '|O'"},
        {"{'descr': '<c16', 'fortran_order': False, 'shape': (2,), }", "type '<c16'"},
        {"{'descr': '<U8', 'fortran_order': False, 'shape': (2,), }", "type '<U8'"},
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }", "type '<f2'"},
        {"{'descr': 'xf8', 'fortran_order': False, 'shape': (2,), }",
         "unknown type 'xf8'"},
        {"{'descr': '', 'fortran_order': False, 'shape': (2,), }", "type ''"},
        {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }",
         "its element type"},
        {"{'descr': '<f8', 'fortran_order': 0, 'shape': (2,), }", "its order"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (-2,), }", "its shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': 2, }", "its shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2 2), }", "its shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,2), }",
         "its shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,), }",
         "its shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 2), }",
         "impossible"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1152921504606846976,), }",
         "impossible"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }",
         "truncated NPY file: 16 bytes of data, its shape needs 8000000000000"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }",
         "truncated NPY file: 16 bytes of data, its shape needs 24"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }",
         "data after the NPY array"},
        {"{'descr': '<f8', 'fortran_order': False, }", "its header"},
        {"{'descr': '<f8', 'descr': '<f8', 'shape': (2,)}", "its header's keys"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'more': 1}",
         "its header's keys"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,)} x", "its header"},
        {"{'descr': '<f8' 'fortran_order': False, 'shape': (2,)}", "its header"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,", "its shape"},
        {"", "its header"},
    };
    static const double data[] = {1, 2};
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    for (int i = 0; i < XB_COUNT(cases); i++)
        assert_says(ctx, make_npy(&s, 1, cases[i].head, data, sizeof data),
                    cases[i].says);
    assert_says(ctx, make_npy(&s, 4, cases[0].head, data, sizeof data), "NPY version 4");
    assert_says(ctx, s.dir, "this is a folder");
    assert_says(ctx, scratch_path(&s, "none"), "cannot read");
    assert_says(ctx, scratch_write(&s, "t", "1\n2\n", 4),
                "this is a table of numbers; a NumPy array (.npy) was expected");
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* Cut anywhere, or with a header that claims to be longer than the file. */
static void truncation_is_seen(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    for (size_t size = 0; size < sizeof numpy_f8; size++)
        assert_says(ctx, scratch_write(&s, "cut.npy", numpy_f8, size),
                    size < 6    ? "not an NPY file"
                    : size < 10 ? "truncated"
                                : "NPY");
    unsigned char bytes[sizeof numpy_i2];
    memcpy(bytes, numpy_i2, sizeof bytes);
    memset(bytes + 8, 0xFF, 4);
    assert_says(ctx, scratch_write(&s, "cut.npy", bytes, sizeof bytes),
                "NPY header of 4294967295 bytes");
    bytes[10] = bytes[11] = 0;
    assert_says(ctx, scratch_write(&s, "cut.npy", bytes, sizeof bytes),
                "NPY header of 65535 bytes");
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* Every byte of the file changed in turn: an answer or a message, no crash. */
static void any_bytes_are_survived(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    static const unsigned char values[] = {0, 1, ' ', '(', '9', 0xFF};
    for (size_t at = 0; at < sizeof numpy_f4; at++)
        for (int v = 0; v < XB_COUNT(values); v++) {
            unsigned char bytes[sizeof numpy_f4];
            memcpy(bytes, numpy_f4, sizeof bytes);
            bytes[at] = values[v];
            array a = read_array(ctx, scratch_write(&s, "f.npy", bytes, sizeof bytes));
            if (a.status == XB_OK) free(a.x);
            assert_true(a.status == XB_OK || a.status == XB_E_INPUT);
        }
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void columns_come_from_arrays(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    double *x = NULL;
    int64_t n = 0;
    scratch_write(&s, "a.csv", numpy_f8, sizeof numpy_f8); /* content, not name */
    assert_ok(ctx, xb_column_read(ctx, &x, &n, s.path, NULL));
    assert_true(n == 3 && x[0] == 1.5 && x[2] == 1e-300);
    free(x);
    scratch_write(&s, "a.npy", numpy_f4, sizeof numpy_f4);
    assert_ok(ctx, xb_column_read(ctx, &x, &n, s.path, "3"));
    assert_true(n == 2 && x[0] == 3 && x[1] == 6.5);
    free(x);
    x = &untouched;
    static const char *const wanted[] = {NULL, "4", "0", "name"};
    static const char *const says[] = {
        "3 columns; choose one by number", "no column '4'", "no column '0'",
        "no column 'name'; an NPY file has numbers only, here 3"};
    for (int i = 0; i < XB_COUNT(wanted); i++) {
        assert_int_equal(xb_column_read(ctx, &x, &n, s.path, wanted[i]), XB_E_INPUT);
        assert_non_null(strstr(xb_ctx_message(ctx), says[i]));
    }
    const double bad[] = {1, NAN, INFINITY, 4};
    const struct {
        int ndim;
        int64_t shape[3];
        const char *column, *says;
    } cases[] = {{1, {4}, NULL, "value 2 is not a finite number: 'nan'"},
                 {2, {2, 2}, "1", "value 2 is not a finite number: 'inf'"},
                 {1, {0}, NULL, "an empty array"},
                 {2, {0, INT64_C(1) << 40}, "1", "an empty array"},
                 {2, {3, 0}, "1", "an empty array"},
                 {3, {1, 1, 1}, NULL, "an array of 3 dimensions, expected 1 or 2"}};
    xb_ctx_destroy(ctx); /* which does not write what it has read */
    ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(cases); i++) {
        assert_ok(ctx,
                  xb_npy_write(ctx, s.path, bad, XB_F64, cases[i].shape, cases[i].ndim));
        assert_int_equal(xb_column_read(ctx, &x, &n, s.path, cases[i].column),
                         XB_E_INPUT);
        assert_non_null(strstr(xb_ctx_message(ctx), cases[i].says));
    }
    assert_true(x == &untouched && n == 2);
    assert_ok(ctx, xb_npy_write(ctx, s.path, bad, XB_F64, (int64_t[]){1, 1}, 2));
    assert_ok(ctx, xb_column_read(ctx, &x, &n, s.path, NULL));
    assert_true(n == 1 && x[0] == 1);
    free(x);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* Where the text starts in bytes that hold NULs. */
static char *text_in(unsigned char *bytes, size_t size, const char *text)
{
    const size_t n = strlen(text);
    for (size_t i = 0; i + n <= size; i++)
        if (memcmp(bytes + i, text, n) == 0) return (char *)bytes + i;
    return NULL;
}

/* Through a pipe the size is unknown: an absurd shape must not ask for memory
 * that the data do not fill. */
static void pipes_are_not_trusted(void **state)
{
    (void)state;
    UNIX_ONLY("it reads from a pipe");
    xb_ctx *ctx = test_ctx();
    for (int lie = 0; lie < 3; lie++) {
        unsigned char bytes[sizeof numpy_f8];
        memcpy(bytes, numpy_f8, sizeof bytes);
        char *shape = text_in(bytes, sizeof bytes, "(3,), }        ");
        assert_non_null(shape);
        if (lie == 1) memcpy(shape, "(100000000000,)}", 16);
        if (lie == 2) memcpy(shape, "(2,)", 4);
        int ends[2], kept = dup(0);
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], bytes, sizeof bytes), sizeof bytes);
        close(ends[1]);
        assert_int_equal(dup2(ends[0], 0), 0);
        close(ends[0]);
        array a = read_array(ctx, "-");
        clearerr(stdin);
        if (kept >= 0) {
            dup2(kept, 0);
            close(kept);
        }
        static const char *const says[] = {
            "", "stdin: truncated NPY file: it ends within its data",
            "stdin: data after the NPY array, expected none"};
        if (lie == 0) {
            assert_ok(ctx, a.status);
            assert_true(a.shape[0] == 3 && a.x[1] == -2.25);
            free(a.x);
        } else {
            assert_int_equal(a.status, XB_E_INPUT);
            assert_string_equal(xb_ctx_message(ctx), says[lie]);
        }
    }
    xb_ctx_destroy(ctx);
}

static bool stop(void *arg, const xb_progress *event)
{
    (void)arg;
    return event->done < 3 << 20;
}

static void a_stopped_write_leaves_the_old_file(void **state)
{
    (void)state;
    enum { COUNT = 1 << 20 };
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    float *x = calloc(COUNT, sizeof *x);
    assert_non_null(x);
    x[COUNT - 1] = 7;
    char text[16];
    scratch_write(&s, "old.npy", "old", 3);
    xb_ctx_set_progress(ctx, stop, NULL);
    int64_t shape[] = {COUNT};
    assert_int_equal(xb_npy_write(ctx, s.path, x, XB_F32, shape, 1), XB_E_CANCELLED);
    scratch_read(s.path, text, sizeof text);
    assert_string_equal(text, "old");
    assert_int_equal(xb_npy_write(ctx, s.dir, x, XB_F32, shape, 1), XB_E_IO);
    xb_ctx_set_progress(ctx, NULL, NULL);
    assert_ok(ctx, xb_npy_write(ctx, s.path, x, XB_F32, shape, 1));
    array a = read_array(ctx, s.path); /* several blocks */
    assert_ok(ctx, a.status);
    assert_true(a.shape[0] == COUNT && a.x[COUNT - 1] == 7 && a.x[COUNT - 2] == 0);
    free(a.x);
    free(x);
    assert_int_equal(scratch_remove(&s), 1);
    xb_ctx_destroy(ctx);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    scratch_write(&s, "m.npy", numpy_f8, sizeof numpy_f8);
    int k = 0;
    for (; fail_alloc_after(k); k++) {
        array a = read_array(ctx, s.path);
        if (!fail_alloc_happened()) {
            assert_ok(ctx, a.status);
            free(a.x);
            break;
        }
        assert_int_equal(a.status, XB_E_MEMORY);
    }
    /* header, block, values; the stream's, where the C library is linked in */
    assert_true(k >= 3);
    const double x = 1;
    for (k = 0; fail_alloc_after(k); k++) {
        xb_status status = xb_npy_write(ctx, s.path, &x, XB_F64, (int64_t[]){1}, 1);
        if (!fail_alloc_happened()) break;
        assert_int_equal(status, XB_E_MEMORY);
    }
    assert_int_equal(scratch_remove(&s), 1);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numpy_files_are_read),
        cmocka_unit_test(numpy_bytes_are_written),
        cmocka_unit_test(shapes_come_back),
        cmocka_unit_test(every_type_is_read),
        cmocka_unit_test(fortran_order_is_turned),
        cmocka_unit_test(lies_are_refused),
        cmocka_unit_test(truncation_is_seen),
        cmocka_unit_test(any_bytes_are_survived),
        cmocka_unit_test(columns_come_from_arrays),
        cmocka_unit_test(pipes_are_not_trusted),
        cmocka_unit_test(a_stopped_write_leaves_the_old_file),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
