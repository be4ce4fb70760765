/* build.c: the build id of the program or shared library that holds this very function,
 * from its PT_NOTE segments in memory (ELF: NT_GNU_BUILD_ID). */
#define _GNU_SOURCE
#include "base/build.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "crossbayes/base.h"

typedef struct build_search {
    uintptr_t inside; /* an address of ours */
    char *out;
    size_t size;
} build_search;

static bool holds(const struct dl_phdr_info *object, uintptr_t address)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && address >= start &&
            address - start < part->p_memsz)
            return true;
    }
    return false;
}

static void write_hex(build_search *s, const unsigned char *byte, size_t n)
{
    for (size_t i = 0; i < n && 2 * i + 3 < s->size; i++)
        snprintf(s->out + 2 * i, 3, "%02x", byte[i]);
}

/* A note is three words (length of name, of content, type), both padded to words. */
static void read_notes(build_search *s, const unsigned char *at, size_t size)
{
    enum { WORD = 4, NAME = 4 };
    ElfW(Nhdr) head;
    while (size >= sizeof head) {
        memcpy(&head, at, sizeof head);
        size_t name = ((size_t)head.n_namesz + WORD - 1) / WORD * WORD;
        size_t content = ((size_t)head.n_descsz + WORD - 1) / WORD * WORD;
        size_t whole = sizeof head + name + content;
        if (whole > size) return;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == NAME &&
            memcmp(at + sizeof head, "GNU", NAME) == 0)
            write_hex(s, at + sizeof head + name, head.n_descsz);
        at += whole;
        size -= whole;
    }
}

static int look_at(struct dl_phdr_info *object, size_t size, void *arg)
{
    build_search *s = arg;
    (void)size;
    if (!holds(object, s->inside)) return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_NOTE)
            read_notes(s, (const unsigned char *)(object->dlpi_addr + part->p_vaddr),
                       part->p_memsz);
    }
    return 1; /* found: no further */
}

void xb_build_text(char out[XB_BUILD_TEXT])
{
    int used = snprintf(out, XB_BUILD_TEXT, "%s ", xb_version());
    build_search s = {(uintptr_t)xb_build_text, out + used, XB_BUILD_TEXT - (size_t)used};
    (void)dl_iterate_phdr(look_at, &s);
    size_t length = strlen(out);
    if (out[length - 1] == ' ') out[length - 1] = '\0';
}
