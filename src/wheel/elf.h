/*
 * What an ELF file says it needs (System V ABI, "Linux Standard Base" for symbol
 * versions).  Files come from builds: everything read is held to the file's
 * bounds, and what the loader would read (program headers) counts, not sections.
 */
#ifndef FORGE_WHEEL_ELF_H
#define FORGE_WHEEL_ELF_H

#include <stdbool.h>
#include <stdint.h>
#include "core/err.h"
#include "core/list.h"
#include "core/str.h"

struct elf_head {
	int bits;             /* 32 or 64 */
	bool little;
	uint16_t type;        /* ET_DYN, … */
	uint16_t machine;     /* EM_X86_64, … */
	uint32_t flags;
	uint64_t phoff;
	uint16_t phentsize, phnum;
};

/* The header; -1 where these are not the first bytes of an ELF file. */
int elf_head_parse(const uint8_t *data, size_t len, struct elf_head *out, struct err *err);
int elf_head_read(int fd, struct elf_head *out, struct err *err);

/* PT_INTERP's text, owned; NULL if there is none that can be read. */
char *elf_interpreter(int fd, const struct elf_head *h);

/* The architecture in the words of platform tags ("x86_64"); NULL: not a host processor that has any. */
const char *elf_arch(const struct elf_head *h);
bool elf_is_host_code(const struct elf_head *h); /* an executable or library, not GPU code or an object file */
bool elf_is_armhf(const struct elf_head *h);

/* A version that is required of a library: "GLIBC_2.14" of "libc.so.6", and one symbol that has it ("" if unknown). */
struct elf_version {
	char *version, *library, *symbol;
};

struct elf_needs {
	struct elf_head head;
	struct str_list libraries;   /* DT_NEEDED */
	struct str_list search;      /* DT_RPATH and DT_RUNPATH, entry by entry */
	struct str_list undefined;   /* the wanted ones among the symbols taken from elsewhere, sorted */
	LIST(struct elf_version) versions;
};

/* fd must not change while it is read.  wanted: which undefined symbols to list (NULL: none). */
int elf_needs_read(int fd, bool (*wanted)(const char *symbol), struct elf_needs *out, struct err *err);
void elf_needs_free(struct elf_needs *n);

#endif
