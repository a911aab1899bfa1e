/* The fixed part of an ELF file. */
#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "wheel/elf.h"

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

#define HEAD_32 46 /* up to e_phnum, the last field that is wanted */
#define HEAD_64 58
#define INTERPRETER_LIMIT 4096

/* size bytes in the file's byte order. */
static uint64_t number(const uint8_t *p, int size, bool little)
{
	uint64_t n = 0;
	for (int i = 0; i < size; i++)
		n = n << 8 | p[little ? size - 1 - i : i];
	return n;
}

int elf_head_parse(const uint8_t *data, size_t len, struct elf_head *out, struct err *err)
{
	if (len < EI_NIDENT || memcmp(data, ELFMAG, SELFMAG) != 0)
		return err_set(err, ERR_INPUT, "not an ELF file");
	uint8_t class = data[EI_CLASS], order = data[EI_DATA];
	if ((class != ELFCLASS32 && class != ELFCLASS64) || (order != ELFDATA2LSB && order != ELFDATA2MSB))
		return err_set(err, ERR_INPUT, "an ELF file of unknown class %u or byte order %u", class, order);
	bool wide = class == ELFCLASS64, little = order == ELFDATA2LSB;
	if (len < (wide ? HEAD_64 : HEAD_32))
		return err_set(err, ERR_INPUT, "an ELF header that is cut off");
	int word = wide ? 8 : 4;
	const uint8_t *after = data + 24 + 3 * word; /* entry, phoff and shoff are words of the class */
	*out = (struct elf_head){
		.bits = wide ? 64 : 32,
		.little = little,
		.type = (uint16_t)number(data + 16, 2, little),
		.machine = (uint16_t)number(data + 18, 2, little),
		.phoff = number(data + 24 + word, word, little),
		.flags = (uint32_t)number(after, 4, little),
		.phentsize = (uint16_t)number(after + 6, 2, little),
		.phnum = (uint16_t)number(after + 8, 2, little),
	};
	return 0;
}

int elf_head_read(int fd, struct elf_head *out, struct err *err)
{
	uint8_t data[HEAD_64];
	ssize_t n = pread(fd, data, sizeof data, 0);
	if (n < 0)
		return err_sys(err, "can't read the ELF header");
	return elf_head_parse(data, (size_t)n, out, err);
}

char *elf_interpreter(int fd, const struct elf_head *h)
{
	bool wide = h->bits == 64;
	uint8_t ph[56];
	size_t want = wide ? 56 : 32;
	for (unsigned i = 0; i < h->phnum; i++) {
		uint64_t at = h->phoff + (uint64_t)i * h->phentsize;
		if (at > INT64_MAX || pread(fd, ph, want, (off_t)at) != (ssize_t)want)
			return NULL;
		if (number(ph, 4, h->little) != PT_INTERP)
			continue;
		uint64_t offset = number(ph + (wide ? 8 : 4), wide ? 8 : 4, h->little);
		uint64_t size = number(ph + (wide ? 32 : 16), wide ? 8 : 4, h->little);
		char text[INTERPRETER_LIMIT];
		if (!size || size > sizeof text || offset > INT64_MAX ||
		    pread(fd, text, size, (off_t)offset) != (ssize_t)size)
			return NULL;
		return mem_dup_n(text, strnlen(text, size));
	}
	return NULL;
}

const char *elf_arch(const struct elf_head *h)
{
	static const struct { uint16_t machine; int bits; int little; const char *name; } known[] = {
		{ EM_X86_64, 64, 1, "x86_64" }, { EM_386, 32, 1, "i686" }, { EM_AARCH64, 64, 1, "aarch64" },
		{ EM_ARM, 32, 1, "armv7l" }, { EM_PPC64, 64, 1, "ppc64le" }, { EM_PPC64, 64, 0, "ppc64" },
		{ EM_S390, 64, 0, "s390x" }, { EM_RISCV, 64, 1, "riscv64" }, { EM_LOONGARCH, 64, 1, "loongarch64" },
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].machine == h->machine && known[i].bits == h->bits && known[i].little == h->little)
			return known[i].name;
	return NULL;
}

bool elf_is_host_code(const struct elf_head *h)
{
	/* Cubins, AMD's code objects and BPF programs are ELF files too, and run on no host processor. */
	bool device = h->machine == EM_CUDA || h->machine == EM_AMDGPU || h->machine == EM_BPF;
	return !device && (h->type == ET_DYN || h->type == ET_EXEC);
}

bool elf_is_armhf(const struct elf_head *h)
{
	/* EABI version 5 with the hard-float flag (ELF for the Arm Architecture, e_flags). */
	return h->machine == EM_ARM && h->bits == 32 && h->little &&
		(h->flags & EF_ARM_EABIMASK) == EF_ARM_EABI_VER5 && (h->flags & EF_ARM_ABI_FLOAT_HARD);
}
