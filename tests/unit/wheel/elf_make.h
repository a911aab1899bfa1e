/* Small 64-bit little-endian ELF files that need what a test says. */
#ifndef TESTS_UNIT_WHEEL_ELF_MAKE_H
#define TESTS_UNIT_WHEEL_ELF_MAKE_H

#include <elf.h>
#include <string.h>

#include "core/buf.h"

struct elf_spec {
	uint16_t machine;            /* 0: EM_X86_64 */
	const char *libraries[6];
	const char *of, *version;    /* a version that is needed of a library */
	const char *runpath;
};

static inline uint32_t elf_make_string(struct buf *strings, const char *text)
{
	uint32_t at = (uint32_t)strings->len;
	buf_add(strings, text, strlen(text) + 1);
	return at;
}

static inline void elf_make_dyn(struct buf *b, int64_t tag, uint64_t value)
{
	buf_add(b, &(Elf64_Dyn){ .d_tag = tag, .d_un.d_val = value }, sizeof(Elf64_Dyn));
}

static inline struct buf elf_make(const struct elf_spec *s)
{
	enum { HEADS = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr) };
	struct buf strings = BUF_INIT, dyn = BUF_INIT, out = BUF_INIT;
	elf_make_string(&strings, "");
	for (size_t i = 0; i < 6 && s->libraries[i]; i++)
		elf_make_dyn(&dyn, DT_NEEDED, elf_make_string(&strings, s->libraries[i]));
	if (s->runpath)
		elf_make_dyn(&dyn, DT_RUNPATH, elf_make_string(&strings, s->runpath));
	uint32_t of = s->of ? elf_make_string(&strings, s->of) : 0;
	uint32_t version = s->version ? elf_make_string(&strings, s->version) : 0;
	while (strings.len % 8)
		buf_byte(&strings, '\0');
	uint64_t dyn_at = HEADS + strings.len, need_at = dyn_at + dyn.len + 5 * sizeof(Elf64_Dyn);
	elf_make_dyn(&dyn, DT_STRTAB, HEADS);
	elf_make_dyn(&dyn, DT_STRSZ, strings.len);
	elf_make_dyn(&dyn, s->version ? DT_VERNEED : DT_DEBUG, s->version ? need_at : 0);
	elf_make_dyn(&dyn, DT_VERNEEDNUM, s->version ? 1 : 0);
	elf_make_dyn(&dyn, DT_NULL, 0);
	uint64_t size = need_at + sizeof(Elf64_Verneed) + sizeof(Elf64_Vernaux);
	Elf64_Ehdr head = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT }, .e_type = ET_DYN,
		.e_machine = s->machine ? s->machine : EM_X86_64, .e_version = EV_CURRENT, .e_phoff = sizeof head,
		.e_ehsize = sizeof head, .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2,
		.e_shentsize = sizeof(Elf64_Shdr),
	};
	Elf64_Phdr load = { .p_type = PT_LOAD, .p_filesz = size, .p_memsz = size, .p_align = 4096 };
	Elf64_Phdr dynamic = { .p_type = PT_DYNAMIC, .p_offset = dyn_at, .p_vaddr = dyn_at, .p_filesz = dyn.len };
	Elf64_Verneed need = { .vn_version = 1, .vn_cnt = 1, .vn_file = of, .vn_aux = sizeof need };
	Elf64_Vernaux aux = { .vna_other = 2, .vna_name = version };
	buf_add(&out, &head, sizeof head);
	buf_add(&out, &load, sizeof load);
	buf_add(&out, &dynamic, sizeof dynamic);
	buf_add(&out, strings.data, strings.len);
	buf_add(&out, dyn.data, dyn.len);
	buf_add(&out, &need, sizeof need);
	buf_add(&out, &aux, sizeof aux);
	buf_free(&strings);
	buf_free(&dyn);
	return out;
}

#endif
