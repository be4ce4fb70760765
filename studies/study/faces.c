/* faces.c: synthetic faces: made-up drawings, not pictures of anyone.
 *
 * Three signs tell the age (S3): children have large eyes, hair turns grey from middle
 * age on, lines appear on the forehead. Skin, hair, background, position and size vary
 * without relation to the age. A face looks a few years older or younger than it is, and
 * more so at higher ages: this noise differs from face to face, and no net can remove it.
 * Everything is a function of (seed, number of the face). */
#include "study/faces.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "crossbayes/extend.h"
#include "crossbayes/random.h"

enum { FACES_STREAM = 2000, PIECES = 64 };

/* The uniform numbers of one face, named by their use. */
enum {
    U_AGE,
    U_LOOKS,
    U_SKIN = U_LOOKS + 4,
    U_HAIR,
    U_BACK,
    U_X = U_BACK + 3,
    U_Y,
    U_SIZE,
    U_COUNT
};

static const double AGE_LEAST = 1, AGE_MOST = 100;

typedef struct colour {
    double r, g, b;
} colour;

typedef struct face {
    colour skin, hair, back;
    double x, y, size; /* position and size of the head, in units of half the picture */
    xb_face_signs signs;
} face;

typedef struct face_job {
    uint8_t *bytes;
    double *age;
    int64_t n, size;
    xb_stream where;
} face_job;

static double clamp(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

/* (S3) */
xb_face_signs xb_face_signs_at(double age)
{
    return (xb_face_signs){.eyes = clamp(1 - age / 25),
                           .grey = clamp((age - 35) / 35),
                           .wrinkles = clamp((age - 15) / 85)};
}

static colour mix(colour a, colour b, double t)
{
    return (colour){a.r + (b.r - a.r) * t, a.g + (b.g - a.g) * t, a.b + (b.b - a.b) * t};
}

static colour dim(colour a, double t) { return mix(a, (colour){0, 0, 0}, t); }

/* The age that a face seems to have: off by a noise of four uniforms, with an sd of 2 +
 * age / 20 years. */
static double looks(double age, const double *u)
{
    double z = (u[0] + u[1] + u[2] + u[3] - 2) * sqrt(3);
    return age + z * (2 + age / 20);
}

static face face_of(const double u[U_COUNT], double age)
{
    static const colour light = {0.95, 0.80, 0.69}, dark = {0.42, 0.27, 0.18};
    static const colour black = {0.08, 0.07, 0.06}, blond = {0.75, 0.58, 0.30};
    static const colour grey = {0.86, 0.86, 0.86};
    face f = {.skin = mix(light, dark, u[U_SKIN]),
              .back = {u[U_BACK], u[U_BACK + 1], u[U_BACK + 2]},
              .x = 0.16 * (u[U_X] - 0.5),
              .y = 0.16 * (u[U_Y] - 0.5),
              .size = 0.72 + 0.12 * u[U_SIZE],
              .signs = xb_face_signs_at(looks(age, u + U_LOOKS))};
    f.hair = mix(mix(black, blond, u[U_HAIR]), grey, f.signs.grey);
    return f;
}

/* How much of the ellipse covers the point, 1 inside, soft at the edge. */
static double inside(double x, double y, double a, double b)
{
    const double edge = 12;
    return clamp((1 - hypot(x / a, y / b)) * edge + 0.5);
}

/* The lines of the forehead, of depth `wrinkles`. */
static colour wrinkle(colour skin, double y, double depth)
{
    const double top = -0.62, bottom = -0.28, lines = 3;
    if (y < top || y > bottom) return skin;
    double wave = sin(M_PI * lines * (y - top) / (bottom - top));
    return dim(skin, 0.55 * depth * wave * wave);
}

/* The colour at (x, y), where the head has its centre at 0 and the height 1. */
static colour paint(const face *f, double x, double y)
{
    static const colour ink = {0.06, 0.05, 0.07}, lip = {0.60, 0.22, 0.22};
    double eye = 0.07 + 0.09 * f->signs.eyes;
    colour c = mix(f->back, f->hair, inside(x, y + 0.18, 0.86, 0.92));
    c = mix(c, wrinkle(f->skin, y, f->signs.wrinkles), inside(x, y - 0.1, 0.68, 0.85));
    c = mix(c, ink, inside(fabs(x) - 0.29, y + 0.08, eye, eye));
    return mix(c, lip, inside(x, y - 0.52, 0.26, 0.07));
}

static void draw(uint8_t *out, int64_t size, const face *f)
{
    for (int64_t i = 0; i < size; i++)
        for (int64_t j = 0; j < size; j++) {
            double y = 2 * ((double)i + 0.5) / (double)size - 1;
            double x = 2 * ((double)j + 0.5) / (double)size - 1;
            colour c = paint(f, (x - f->x) / f->size, (y - f->y) / f->size);
            *out++ = (uint8_t)(255 * clamp(c.r) + 0.5);
            *out++ = (uint8_t)(255 * clamp(c.g) + 0.5);
            *out++ = (uint8_t)(255 * clamp(c.b) + 0.5);
        }
}

static void draw_piece(void *arg, int64_t piece)
{
    face_job *job = arg;
    const int64_t image = job->size * job->size * 3;
    int64_t begin = piece * job->n / PIECES, end = (piece + 1) * job->n / PIECES;
    for (int64_t i = begin; i < end; i++) {
        double u[U_COUNT];
        for (int k = 0; k < U_COUNT; k++)
            u[k] = xb_stream_uniform(&job->where, i * U_COUNT + k);
        double age = floor(AGE_LEAST + (AGE_MOST - AGE_LEAST + 1) * u[U_AGE]);
        face f = face_of(u, age);
        draw(job->bytes + i * image, job->size, &f);
        job->age[i] = age;
    }
}

xb_status xb_builtin_faces(xb_ctx *ctx, xb_images **out, int64_t n, int64_t size,
                           uint64_t seed)
{
    enum { FACES_MAX = 1000000, SIDE_LEAST = 8, SIDE_MOST = 512 };
    if (n < 1 || n > FACES_MAX || size < SIDE_LEAST || size > SIDE_MOST)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%lld %s of side %lld: expected 1 to %d of side %d to %d",
                       (long long)n, xb_plural(n, "face", "faces"), (long long)size,
                       FACES_MAX, SIDE_LEAST, SIDE_MOST);
    face_job job = {
        .bytes = xb_new(ctx, n * size * size * 3, 1),
        .age = xb_new(ctx, n, sizeof *job.age),
        .n = n,
        .size = size,
        .where = {.key = xb_key_make(seed, XB_PURPOSE_DATA), .tensor = FACES_STREAM}};
    xb_status status = job.bytes && job.age ? XB_OK : XB_E_MEMORY;
    if (status == XB_OK) {
        xb_parallel_for(ctx, PIECES, draw_piece, &job);
        status = xb_images_create(ctx, out, job.bytes, n, size, size, 3, job.age, "age");
    }
    xb_free(job.bytes);
    xb_free(job.age);
    return status;
}
