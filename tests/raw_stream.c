/* raw_stream.c: random words on stdout, without end, for batteries that read them
 * (dieharder -g 200, PractRand). Which part of an address counts fastest is the
 * argument: elements, tensors, samples, steps, seeds; "broken" reuses counters. */
#include <stdio.h>
#include <string.h>

#include "base/ctx.h"
#include "draw/kernel.h"

enum { BLOCKS = 64, WORDS = BLOCKS * XB_BLOCK };

/* Words of run k, of one kind. */
static void words_of(uint32_t out[WORDS], const char *kind, uint64_t k)
{
    const xb_key key = xb_key_make(1, (xb_purpose)6);
    const xb_kernel *kernel = xb_kernel_best();
    if (strcmp(kind, "elements") == 0 || strcmp(kind, "broken") == 0) {
        const int64_t most = XB_STREAM_MAX / WORDS; /* runs a stream has */
        uint64_t at = strcmp(kind, "broken") == 0 ? k % 32 : k;
        xb_stream where = {key, 0, 0, (uint32_t)(at / (uint64_t)most)};
        kernel->words(out, BLOCKS, &where, (int64_t)(at % (uint64_t)most) * BLOCKS);
        return;
    }
    for (uint64_t i = 0; i < WORDS; i++) { /* element 0 of one stream after the other */
        uint32_t n = (uint32_t)(k * WORDS + i);
        xb_stream where = {key, 0, 0, 0};
        if (strcmp(kind, "tensors") == 0) where.tensor = n;
        if (strcmp(kind, "samples") == 0) where.sample = n;
        if (strcmp(kind, "steps") == 0) where.step = n;
        if (strcmp(kind, "seeds") == 0) where.key = xb_key_make(n, XB_PURPOSE_SAMPLE);
        out[i] = xb_stream_word(&where, 0);
    }
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"elements", "tensors", "samples",
                                        "steps",    "seeds",   "broken"};
    const char *kind = argc == 2 ? argv[1] : "";
    bool known = false;
    for (int i = 0; i < XB_COUNT(kinds); i++) known |= strcmp(kinds[i], kind) == 0;
    if (!known) {
        fprintf(stderr,
                "usage: raw_stream elements|tensors|samples|steps|seeds|broken\n");
        return 2;
    }
    static uint32_t out[WORDS];
    for (uint64_t k = 0;; k++) {
        words_of(out, kind, k);
        if (fwrite(out, sizeof *out, WORDS, stdout) != WORDS) return 0; /* reader left */
    }
}
