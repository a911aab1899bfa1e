#include "wheel/elf.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define ENTRY_LIMIT  10000 /* dynamic entries, version needs; real files have hundreds */
#define STRING_LIMIT 4096  /* of a library, version or search path */
#define SHOWN_LIMIT  200   /* of a symbol's name in an explanation */
#define SYMBOL_LIMIT 4000000

/* What PT_DYNAMIC points to, as addresses. */
struct dynamic {
	uint64_t strings, strings_size, versions, versions_count;
	Elf_Data *data;
	size_t count;
};

struct reader {
	Elf *elf;
	struct dynamic dyn;
	const char *strings; /* the dynamic string table */
	size_t strings_size;
	bool (*wanted)(const char *symbol);
	struct elf_needs *out;
};

/* The file offset of an address, and how many bytes of its segment follow in the file. */
static bool offset_of(Elf *elf, uint64_t address, uint64_t *offset, uint64_t *left)
{
	size_t n;
	GElf_Phdr ph;
	if (elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD || address < ph.p_vaddr ||
		    address - ph.p_vaddr >= ph.p_filesz)
			continue;
		*offset = ph.p_offset + (address - ph.p_vaddr);
		*left = ph.p_filesz - (address - ph.p_vaddr);
		return true;
	}
	return false;
}

/* A string of the table; NULL if it does not end inside, or is longer than any true one. */
static const char *string_at(const struct reader *r, uint64_t at)
{
	if (at >= r->strings_size)
		return NULL;
	size_t left = r->strings_size - at;
	return memchr(r->strings + at, '\0', left < STRING_LIMIT ? left : STRING_LIMIT) ? r->strings + at : NULL;
}

static int find_dynamic(struct reader *r, bool *found, struct err *err)
{
	size_t n;
	GElf_Phdr ph;
	*found = false;
	if (elf_getphdrnum(r->elf, &n))
		return err_set(err, ERR_INPUT, "bad program headers: %s", elf_errmsg(-1));
	for (size_t i = 0; i < n && !*found; i++) {
		if (!gelf_getphdr(r->elf, (int)i, &ph))
			return err_set(err, ERR_INPUT, "a bad program header: %s", elf_errmsg(-1));
		if (ph.p_type != PT_DYNAMIC)
			continue;
		r->dyn.data = elf_getdata_rawchunk(r->elf, (int64_t)ph.p_offset, ph.p_filesz, ELF_T_DYN);
		size_t size = gelf_fsize(r->elf, ELF_T_DYN, 1, EV_CURRENT);
		if (!r->dyn.data || !size)
			return err_set(err, ERR_INPUT, "a dynamic segment outside the file");
		r->dyn.count = r->dyn.data->d_size / size;
		*found = true;
	}
	return 0;
}

/* Call fn for every entry up to DT_NULL. */
static int each_dynamic(struct reader *r, int (*fn)(struct reader *r, const GElf_Dyn *d, struct err *err),
	struct err *err)
{
	GElf_Dyn d;
	if (r->dyn.count > ENTRY_LIMIT)
		return err_set(err, ERR_INPUT, "more than %d dynamic entries", ENTRY_LIMIT);
	for (size_t i = 0; i < r->dyn.count; i++) {
		if (!gelf_getdyn(r->dyn.data, (int)i, &d) || d.d_tag == DT_NULL)
			return 0;
		if (fn(r, &d, err))
			return -1;
	}
	return 0;
}

static int note_address(struct reader *r, const GElf_Dyn *d, struct err *err)
{
	switch (d->d_tag) {
	case DT_STRTAB: r->dyn.strings = d->d_un.d_ptr; break;
	case DT_STRSZ: r->dyn.strings_size = d->d_un.d_val; break;
	case DT_VERNEED: r->dyn.versions = d->d_un.d_ptr; break;
	case DT_VERNEEDNUM: r->dyn.versions_count = d->d_un.d_val; break;
	}
	return 0;
}

static int open_strings(struct reader *r, struct err *err)
{
	uint64_t offset, left;
	Elf_Data *data = NULL;
	if (offset_of(r->elf, r->dyn.strings, &offset, &left) && r->dyn.strings_size <= left)
		data = elf_getdata_rawchunk(r->elf, (int64_t)offset, r->dyn.strings_size, ELF_T_BYTE);
	if (!data || !data->d_buf)
		return err_set(err, ERR_INPUT, "no dynamic string table inside the file");
	r->strings = data->d_buf;
	r->strings_size = data->d_size;
	return 0;
}

static int note_library(struct reader *r, const GElf_Dyn *d, struct err *err)
{
	if (d->d_tag != DT_NEEDED && d->d_tag != DT_RPATH && d->d_tag != DT_RUNPATH)
		return 0;
	const char *text = string_at(r, d->d_un.d_val);
	if (!text)
		return err_set(err, ERR_INPUT, "a dynamic entry's string outside the table");
	if (d->d_tag == DT_NEEDED) {
		str_list_add(&r->out->libraries, text);
		return 0;
	}
	struct slice rest = slice_of(text), one;
	bool more = true;
	while (more) {
		more = slice_cut(rest, ':', &one, &rest);
		str_list_take(&r->out->search, mem_dup_n(one.p, one.n));
	}
	return 0;
}

/* The versions that one needed library is asked for; indexes go to index for the symbols. */
static int note_versions(struct reader *r, Elf_Data *data, size_t at, const GElf_Verneed *need,
	uint16_t *index, struct err *err)
{
	GElf_Vernaux aux;
	const char *library = string_at(r, need->vn_file);
	size_t pos = at + need->vn_aux;
	for (unsigned i = 0; i < need->vn_cnt; i++) {
		const char *version = NULL;
		if (pos < data->d_size && gelf_getvernaux(data, (int)pos, &aux))
			version = string_at(r, aux.vna_name);
		if (!library || !version || r->out->versions.count >= ENTRY_LIMIT)
			return err_set(err, ERR_INPUT, "a bad table of needed versions");
		*list_push(&r->out->versions) = (struct elf_version){ mem_dup(version), mem_dup(library), NULL };
		/* 15 bits are the index; 0 and 1 mean "no version". */
		index[aux.vna_other & 0x7fff] = (uint16_t)(r->out->versions.count < UINT16_MAX ? r->out->versions.count : 0);
		pos += aux.vna_next;
	}
	return 0;
}

static int read_versions(struct reader *r, uint16_t *index, struct err *err)
{
	uint64_t offset, left;
	GElf_Verneed need;
	if (!r->dyn.versions)
		return 0;
	Elf_Data *data = NULL;
	if (offset_of(r->elf, r->dyn.versions, &offset, &left) && left <= INT32_MAX)
		data = elf_getdata_rawchunk(r->elf, (int64_t)offset, left, ELF_T_VNEED);
	if (!data)
		return err_set(err, ERR_INPUT, "a table of needed versions outside the file");
	size_t at = 0;
	for (uint64_t i = 0; i < r->dyn.versions_count; i++) {
		if (at >= data->d_size || !gelf_getverneed(data, (int)at, &need))
			return err_set(err, ERR_INPUT, "a bad table of needed versions");
		if (note_versions(r, data, at, &need, index, err))
			return -1;
		if (!need.vn_next)
			break;
		at += need.vn_next;
	}
	return 0;
}

static Elf_Data *section_data(Elf *elf, uint32_t type, GElf_Shdr *sh)
{
	for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn))
		if (gelf_getshdr(scn, sh) && sh->sh_type == type)
			return elf_getdata(scn, NULL);
	return NULL;
}

/* The loader finds symbols through hash tables and needs no sections; for their names, which only explain and
 * only matter to a policy's few forbidden ones, the section that every linker writes will do. */
static void read_symbols(struct reader *r, const uint16_t *index)
{
	GElf_Shdr sh, version_sh;
	GElf_Sym sym;
	GElf_Versym version;
	Elf_Data *symbols = section_data(r->elf, SHT_DYNSYM, &sh);
	Elf_Data *versions = section_data(r->elf, SHT_GNU_versym, &version_sh);
	size_t size = gelf_fsize(r->elf, ELF_T_SYM, 1, EV_CURRENT);
	size_t n = symbols && size ? symbols->d_size / size : 0;
	for (size_t i = 1; i < n && i < SYMBOL_LIMIT; i++) {
		if (!gelf_getsym(symbols, (int)i, &sym) || sym.st_shndx != SHN_UNDEF)
			continue;
		const char *name = string_at(r, sym.st_name);
		if (!name || !*name)
			continue;
		if (r->wanted && r->wanted(name) && r->out->undefined.count < ENTRY_LIMIT)
			str_list_add(&r->out->undefined, name);
		if (!versions || !gelf_getversym(versions, (int)i, &version))
			continue;
		uint16_t which = index[version & 0x7fff];
		if (which && !r->out->versions.items[which - 1].symbol)
			r->out->versions.items[which - 1].symbol = mem_dup_n(name, strnlen(name, SHOWN_LIMIT));
	}
	str_list_sort(&r->out->undefined);
}

static int read_elf(struct reader *r, struct err *err)
{
	bool dynamic;
	_cleanup_free_ uint16_t *index = mem_alloc(0x8000 * sizeof *index);
	if (elf_kind(r->elf) != ELF_K_ELF)
		return err_set(err, ERR_INPUT, "not an ELF file");
	if (find_dynamic(r, &dynamic, err))
		return -1;
	if (!dynamic)
		return 0; /* static: needs nothing */
	if (each_dynamic(r, note_address, err) || open_strings(r, err) || each_dynamic(r, note_library, err) ||
	    read_versions(r, index, err))
		return -1;
	read_symbols(r, index);
	for (size_t i = 0; i < r->out->versions.count; i++)
		if (!r->out->versions.items[i].symbol)
			r->out->versions.items[i].symbol = mem_dup("");
	return 0;
}

int elf_needs_read(int fd, bool (*wanted)(const char *symbol), struct elf_needs *out, struct err *err)
{
	*out = (struct elf_needs){ 0 };
	if (elf_head_read(fd, &out->head, err))
		return -1;
	if (elf_version(EV_CURRENT) == EV_NONE)
		return err_set(err, ERR_FAIL, "libelf is too old");
	struct reader r = { .wanted = wanted, .out = out };
	r.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!r.elf)
		return err_set(err, ERR_INPUT, "not an ELF file: %s", elf_errmsg(-1));
	int rc = read_elf(&r, err);
	elf_end(r.elf);
	if (rc)
		elf_needs_free(out);
	return rc;
}

void elf_needs_free(struct elf_needs *n)
{
	str_list_free(&n->libraries);
	str_list_free(&n->search);
	str_list_free(&n->undefined);
	for (size_t i = 0; i < n->versions.count; i++) {
		free(n->versions.items[i].version);
		free(n->versions.items[i].library);
		free(n->versions.items[i].symbol);
	}
	list_free(&n->versions);
	*n = (struct elf_needs){ 0 };
}
