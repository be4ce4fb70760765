/* mpi_module.c: the transport of ranks_module.h by MPI. A lock protects every call of
 * MPI, and no call waits: a rank that waits asks again and sleeps in between, so that
 * ranks without work leave the cores to the others. */
#define _GNU_SOURCE /* nanosleep, dladdr */
#include "work/ranks_module.h"

#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>

enum { TALK = 1, NUMBERS = 2 }; /* tags of messages */
/* number of yields; microseconds of the first and of the longest rest */
enum { YIELDS = 50, FIRST_REST = 20, LAST_REST = 500 };
#define LOOK 0.02  /* seconds between two checks whether to give up */
#define POLL 0.002 /* seconds; ranks that work together usually wait for less */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static MPI_Comm comm; /* a duplicate, so that it carries no other messages */

static void rest(int microseconds)
{
    const struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000L};
    (void)nanosleep(&time, NULL);
}

/* Rests longer and longer: an answer that comes soon is noticed at once, and waiting for
 * a late one costs little. */
static void wait_a_little(int *turn)
{
    const int longer = FIRST_REST * (*turn - YIELDS + 1);
    if (++*turn <= YIELDS)
        (void)sched_yield();
    else
        rest(longer < LAST_REST ? longer : LAST_REST);
}

static void wait_for(MPI_Request *request)
{
    int done = 0;
    for (int turn = 0; !done;) {
        pthread_mutex_lock(&lock);
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        pthread_mutex_unlock(&lock);
        if (!done) wait_a_little(&turn);
    }
}

static void send(int to, const void *bytes, int size)
{
    MPI_Request request;
    pthread_mutex_lock(&lock);
    MPI_Isend(bytes, size, MPI_BYTE, to, TALK, comm, &request);
    pthread_mutex_unlock(&lock);
    wait_for(&request);
}

static void receive(int from, void *bytes, int size)
{
    MPI_Request request;
    pthread_mutex_lock(&lock);
    MPI_Irecv(bytes, size, MPI_BYTE, from, TALK, comm, &request);
    pthread_mutex_unlock(&lock);
    wait_for(&request);
}

/* ---- numbers */

static double seconds(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Each request may be MPI_REQUEST_NULL, which counts as done. */
static void start_swap(const xb_swap *s, MPI_Request request[2])
{
    request[0] = request[1] = MPI_REQUEST_NULL;
    pthread_mutex_lock(&lock);
    if (s->from >= 0)
        MPI_Irecv(s->in, s->in_size, MPI_BYTE, s->from, NUMBERS, comm, &request[0]);
    if (s->to >= 0)
        MPI_Isend(s->out, s->out_size, MPI_BYTE, s->to, NUMBERS, comm, &request[1]);
    pthread_mutex_unlock(&lock);
}

static bool is_done(MPI_Request request[2])
{
    MPI_Status ignored[2];
    int done = 0;
    pthread_mutex_lock(&lock);
    MPI_Testall(2, request, &done, ignored);
    pthread_mutex_unlock(&lock);
    return done != 0;
}

/* Cancels the requests, because the job is about to end and nothing waits for them. */
static void forget(MPI_Request request[2])
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 2; i++)
        if (request[i] != MPI_REQUEST_NULL) {
            MPI_Cancel(&request[i]);
            MPI_Request_free(&request[i]);
        }
    pthread_mutex_unlock(&lock);
}

/* Waking from a rest takes longer than sending a few numbers, so the first POLL seconds
 * are spent yielding to ranks on the same cores. After that a rest is an eighth of the
 * time waited so far, so the numbers are noticed late by at most that share. */
static bool swap(const xb_swap *s, bool (*give_up)(void *arg), void *arg)
{
    MPI_Request request[2];
    start_swap(s, request);
    const double begin = seconds();
    double looked = begin;
    while (!is_done(request)) {
        const double now = seconds(), waited = now - begin, pause = 1e6 * waited / 8;
        if (waited < POLL) {
            (void)sched_yield();
            continue;
        }
        rest(pause < LAST_REST ? (int)pause : LAST_REST);
        if (now - looked < LOOK) continue;
        looked = now;
        if (!give_up(arg)) continue;
        forget(request);
        return false;
    }
    return true;
}

static bool waiting(int *from)
{
    MPI_Status status;
    int there = 0;
    pthread_mutex_lock(&lock);
    MPI_Iprobe(MPI_ANY_SOURCE, TALK, comm, &there, &status);
    pthread_mutex_unlock(&lock);
    if (there) *from = status.MPI_SOURCE;
    return there != 0;
}

static void finish(void)
{
    MPI_Comm_free(&comm);
    MPI_Finalize();
}

static void end_all(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

static xb_transport transport = {.struct_size = sizeof transport,
                                 .version = XB_RANKS_VERSION,
                                 .send = send,
                                 .waiting = waiting,
                                 .receive = receive,
                                 .swap = swap,
                                 .rest = rest,
                                 .finish = finish,
                                 .abort = end_all};

/* MPI's own plugins look for its symbols among the global ones. */
static void show_symbols(void)
{
    Dl_info library;
    int (*init)(int *, char ***) = MPI_Init;
    union {
        int (*function)(int *, char ***);
        const void *address;
    } at = {.function = init};
    if (dladdr(at.address, &library) != 0 && library.dli_fname)
        (void)dlopen(library.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

__attribute__((visibility("default"))) const xb_transport *xb_ranks_module(int version,
                                                                           char *why,
                                                                           size_t size);

const xb_transport *xb_ranks_module(int version, char *why, size_t size)
{
    int given = 0, begun = 0;
    if (version != XB_RANKS_VERSION) {
        snprintf(why, size, "it is of another version than this library");
        return NULL;
    }
    show_symbols();
    /* In nanoseconds; without this, short rests would be longer. */
    (void)prctl(PR_SET_TIMERSLACK, 1000UL);
    MPI_Initialized(&begun);
    if (begun) {
        snprintf(why, size, "MPI was started before");
        return NULL;
    }
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &given);
    if (given < MPI_THREAD_SERIALIZED) {
        snprintf(why, size, "this MPI cannot be used by several threads");
        return NULL;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &transport.rank);
    MPI_Comm_size(comm, &transport.size);
    return &transport;
}
