/* delayed_switch.c: a network switch between the namespaces of one machine that delivers
 * every frame DELAY_US microseconds after it was sent, for tests/ranks_hosts.sh.
 *   delayed_switch DELAY_US NAMESPACE...
 * Each namespace has a tap device named xb0. Prints "ready" when all are attached, and
 * runs until it is killed. Frames go to the port where their destination was last seen
 * sending, or to all. Loses frames if too many are on their way, as switches do. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <linux/if.h>
#include <linux/if_tun.h>

enum { PORTS_MAX = 33, FRAME_MAX = 65536, QUEUE = 4096, ADDRESS = 6 };

typedef struct frame {
    int64_t due; /* nanoseconds */
    int from;
    ssize_t size;
    unsigned char *bytes;
} frame;

static struct {
    int fd;
    unsigned char address[ADDRESS]; /* last seen sending */
    bool known;
} port[PORTS_MAX];
static int ports;
static frame
    queue[QUEUE]; /* a ring: the delay is the same for all, so first in, first out */
static int64_t head, tail;

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "delayed_switch: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* A port to the device xb0 of a namespace. */
static int attach(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "/run/netns/%s", name);
    int space = open(path, O_RDONLY | O_CLOEXEC);
    if (space < 0 || setns(space, CLONE_NEWNET) != 0) die(path);
    close(space);
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    strcpy(request.ifr_name, "xb0");
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request) != 0) die("/dev/net/tun");
    return fd;
}

static void receive(int from, int64_t delay)
{
    while (head - tail < QUEUE) {
        frame *f = &queue[head % QUEUE];
        f->size = read(port[from].fd, f->bytes, FRAME_MAX);
        if (f->size < 2 * ADDRESS) return;
        f->from = from, f->due = now() + delay;
        memcpy(port[from].address, f->bytes + ADDRESS, ADDRESS);
        port[from].known = true;
        head++;
    }
}

static void deliver(const frame *f)
{
    int only = -1;
    for (int i = 0; i < ports; i++)
        if (port[i].known && memcmp(port[i].address, f->bytes, ADDRESS) == 0) only = i;
    for (int i = 0; i < ports; i++)
        if (only >= 0 ? i == only : i != f->from)
            if (write(port[i].fd, f->bytes, (size_t)f->size) < 0 && errno != EAGAIN &&
                errno != EIO) /* EIO: the device is still down */
                die("write");
}

/* Until a frame comes or one is due. */
static void wait_for_work(struct pollfd *at)
{
    struct timespec until = {0};
    const bool any = tail < head;
    if (any) {
        int64_t left = queue[tail % QUEUE].due - now();
        if (left < 0) left = 0;
        until = (struct timespec){left / 1000000000, left % 1000000000};
    }
    for (int i = 0; i < ports; i++) at[i].events = head - tail < QUEUE ? POLLIN : 0;
    if (ppoll(at, (nfds_t)ports, any ? &until : NULL, NULL) < 0 && errno != EINTR)
        die("ppoll");
}

int main(int argc, char **argv)
{
    struct pollfd at[PORTS_MAX];
    ports = argc - 2;
    if (ports < 2 || ports > PORTS_MAX) {
        fprintf(stderr, "usage: delayed_switch DELAY_US NAMESPACE NAMESPACE...\n");
        return 2;
    }
    const int64_t delay = strtoll(argv[1], NULL, 10) * 1000;
    for (int i = 0; i < QUEUE; i++)
        if (!(queue[i].bytes = malloc(FRAME_MAX))) die("memory");
    for (int i = 0; i < ports; i++) {
        port[i].fd = attach(argv[i + 2]);
        at[i] = (struct pollfd){.fd = port[i].fd};
    }
    puts("ready");
    fflush(stdout);
    for (;;) {
        wait_for_work(at);
        for (int i = 0; i < ports; i++)
            if (at[i].revents & POLLIN) receive(i, delay);
        for (; tail < head && queue[tail % QUEUE].due <= now(); tail++)
            deliver(&queue[tail % QUEUE]);
    }
}
