/* planted.c: does ThreadSanitizer see through our parallel loop? "race": pieces add to
 * one number without a word to each other, and this must be found. "lock", "slots": the
 * two ways the library shares, a lock and a place for each piece; nothing may be said of
 * them, nor of the reading after the loop. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "crossbayes/extend.h"

enum { PIECES = 64, ROUNDS = 5 };

typedef struct job {
    int64_t sum, slot[PIECES];
    pthread_mutex_t lock;
} job;

/* So that no thread has done all pieces before the next one wakes. */
static void linger(void) { nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL); }

static void add_bare(void *arg, int64_t piece)
{
    linger();
    ((job *)arg)->sum += piece;
}

static void add_locked(void *arg, int64_t piece)
{
    job *j = arg;
    linger();
    pthread_mutex_lock(&j->lock);
    j->sum += piece;
    pthread_mutex_unlock(&j->lock);
}

static void add_slot(void *arg, int64_t piece)
{
    linger();
    ((job *)arg)->slot[piece] += piece;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    const bool race = strcmp(way, "race") == 0, lock = strcmp(way, "lock") == 0;
    job j = {0};
    xb_ctx *ctx = NULL;
    if (xb_ctx_create(&ctx) != XB_OK) return 2;
    xb_ctx_set_threads(ctx, 4);
    pthread_mutex_init(&j.lock, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        xb_parallel_for(ctx, PIECES, race ? add_bare : lock ? add_locked : add_slot, &j);
        for (int i = 0; i < PIECES; i++) j.sum += j.slot[i];
    }
    pthread_mutex_destroy(&j.lock);
    xb_ctx_destroy(ctx);
    printf("%s: sum %lld\n", way, (long long)j.sum);
    return 0;
}
