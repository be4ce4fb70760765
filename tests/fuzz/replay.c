/* replay.c: runs a fuzz target over the files of a folder: its seeds, and inputs that
 * once broke something. Fails where there is none: a test of nothing is no test. */
#include <dirent.h>

#include "fuzz.h"

static void run_file(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) abort();
    static uint8_t data[1 << 20];
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    uint8_t *exact = malloc(size ? size : 1); /* so that reading past the end is seen */
    if (!exact) abort();
    memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    /* every beginning of it, too: files are cut off */
    for (size_t k = 1; k <= 16 && size; k++) LLVMFuzzerTestOneInput(exact, size * k / 17);
    free(exact);
}

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    if (!folder) return fprintf(stderr, "replay: no folder of seeds\n"), 1;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (entry->d_name[0] != '.') {
            run_file(argv[1], entry->d_name);
            count++;
        }
    closedir(folder);
    printf("%d inputs\n", count);
    return count > 0 ? 0 : 1;
}
