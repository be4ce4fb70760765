/* sweep.h: `KEY=4:10`, `KEY=4:10:2`, `KEY=1,2,5,10` on the command line. */
#ifndef XB_CLI_SWEEP_H
#define XB_CLI_SWEEP_H

#include "session.h"

enum { CLI_SWEEP_MAX = 64 };

typedef struct cli_sweep {
    char key[32];
    double value[CLI_SWEEP_MAX];
    int count;
} cli_sweep;

/* On an error writes the reason to `why` and returns false. */
bool cli_sweep_read(cli_sweep *out, const char *text, char *why, size_t size);

#endif
