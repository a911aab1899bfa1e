/* What ELF files say. */
#include "support/vectors.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "core/buf.h"
#include "core/fs.h"
#include "core/hash.h"
#include "core/json.h"
#include "core/mem.h"
#include "wheel/elf.h"

static int file_with(const void *data, size_t len)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), (ssize_t)len);
	return fd;
}

struct image {
	unsigned char *bytes;
	size_t size;
	bool little;
};

static void put(struct image *m, uint64_t at, int size, uint64_t value)
{
	for (int i = 0; i < size; i++) {
		uint64_t to = at + (uint64_t)(m->little ? i : size - 1 - i);
		if (to < m->size)
			m->bytes[to] = (unsigned char)(value >> 8 * i);
	}
}

static uint64_t field(const struct json *j, const char *name)
{
	return (uint64_t)json_get_int(j, name, 0);
}

static void put_program_header(struct image *m, const struct json *fixture, const struct json *ph, size_t i, bool wide)
{
	int word = wide ? 8 : 4;
	uint64_t at = field(fixture, "e_phoff") + i * field(fixture, "e_phentsize");
	put(m, at, 4, field(ph, "p_type"));
	put(m, at + (wide ? 8 : 4), word, field(ph, "p_offset"));
	put(m, at + (wide ? 32 : 16), word, field(ph, "p_filesz"));
}

/* The text of the segment that PT_INTERP names. */
static void put_interpreter(struct image *m, const struct json *fixture, const char *text)
{
	const struct json *headers = json_get(fixture, "program_headers");
	for (size_t i = 0; i < json_count(headers); i++) {
		const struct json *ph = json_at(headers, i);
		if (field(ph, "p_type") == PT_INTERP)
			memcpy(m->bytes + field(ph, "p_offset"), text, strlen(text));
	}
}

static struct image build(const struct json *f)
{
	bool wide = field(f, "ei_class") == ELFCLASS64;
	int word = wide ? 8 : 4;
	struct image m = { NULL, field(f, "file_size"), field(f, "ei_data") != ELFDATA2MSB };
	m.bytes = mem_alloc(m.size + 1);
	_cleanup_buf_ struct buf magic = BUF_INIT;
	assert_int_equal(dec_base16(slice_of(json_get_str(f, "magic_hex")), &magic, NULL), 0);
	memcpy(m.bytes, magic.data, magic.len);
	static const char *const ident[] = { "ei_class", "ei_data", "ei_version", "ei_osabi", "ei_abiversion" };
	for (size_t i = 0; i < 5; i++)
		m.bytes[4 + i] = (unsigned char)field(f, ident[i]);
	struct { const char *name; int size; } rest[] = {
		{ "e_type", 2 }, { "e_machine", 2 }, { "e_version", 4 }, { "e_entry", word }, { "e_phoff", word },
		{ "e_shoff", word }, { "e_flags", 4 }, { "e_ehsize", 2 }, { "e_phentsize", 2 }, { "e_phnum", 2 },
		{ "e_shentsize", 2 }, { "e_shnum", 2 }, { "e_shstrndx", 2 },
	};
	uint64_t at = 16;
	for (size_t i = 0; i < sizeof rest / sizeof *rest; at += (uint64_t)rest[i].size, i++)
		put(&m, at, rest[i].size, field(f, rest[i].name));
	const struct json *headers = json_get(f, "program_headers");
	for (size_t i = 0; i < json_count(headers); i++)
		put_program_header(&m, f, json_at(headers, i), i, wide);
	return m;
}

static void check_fixture(const struct json *f)
{
	struct image m = build(f);
	const char *interpreter = json_get_str(f, "interpreter");
	struct elf_head h;
	_cleanup_free_ unsigned char *owned = m.bytes;
	if (interpreter)
		put_interpreter(&m, f, interpreter);
	_cleanup_close_ int fd = file_with(m.bytes, m.size);
	bool accept = str_starts(json_get_str(f, "expected"), "accept");
	assert_int_equal(elf_head_read(fd, &h, NULL) == 0, accept);
	if (!accept)
		return;
	assert_int_equal(h.machine, field(f, "e_machine"));
	assert_int_equal(h.flags, field(f, "e_flags"));
	assert_int_equal(h.phnum, field(f, "e_phnum"));
	if (json_get(f, "is_armhf"))
		assert_int_equal(elf_is_armhf(&h), json_get_bool(f, "is_armhf", false));
	if (json_get(f, "is_i686"))
		assert_int_equal(str_eq(elf_arch(&h), "i686"), json_get_bool(f, "is_i686", false));
	_cleanup_free_ char *text = elf_interpreter(fd, &h);
	assert_true(str_eq(text, interpreter));
}

static void headers(void **state)
{
	vectors_or_skip("elf/elf-headers.json");
	size_t len, done = 0;
	_cleanup_free_ char *text = vectors_slurp(vectors_path("elf/elf-headers.json"), &len);
	_cleanup_json_ struct json *all = json_parse((struct slice){ text, len }, len, NULL);
	const struct json *fixtures = json_get(all, "fixtures");
	for (size_t i = 0; i < json_count(fixtures); i++, done++)
		check_fixture(json_at(fixtures, i));
	assert_true(done > 5);
}

/* This very program: real, dynamic, and built by a compiler we did not write. */
static void own_needs(void **state)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	_cleanup_err_ struct err err = { 0 };
	struct elf_needs n;
	if (elf_needs_read(fd, NULL, &n, &err))
		fail_msg("%s", err.msg);
	assert_true(str_list_has(&n.libraries, "libc.so.6"));
	assert_true(elf_is_host_code(&n.head));
	assert_non_null(elf_arch(&n.head));
	size_t glibc = 0, named = 0;
	for (size_t i = 0; i < n.versions.count; i++) {
		glibc += str_starts(n.versions.items[i].version, "GLIBC_");
		named += *n.versions.items[i].symbol != '\0';
	}
	assert_true(glibc > 0);
	assert_true(named > 0);
	assert_int_equal(n.undefined.count, 0);
	elf_needs_free(&n);
	_cleanup_free_ char *interpreter = NULL;
	struct elf_head h;
	assert_int_equal(elf_head_read(fd, &h, NULL), 0);
	interpreter = elf_interpreter(fd, &h);
	assert_non_null(strstr(interpreter, "ld-linux"));
}

static bool is_write(const char *symbol)
{
	return strcmp(symbol, "write") == 0;
}

static void wanted_symbols(void **state)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elf_needs n;
	assert_int_equal(elf_needs_read(fd, is_write, &n, NULL), 0);
	assert_int_equal(n.undefined.count, 1);
	elf_needs_free(&n);
}

/* Our own bytes, cut and bent: any answer but a crash, and no memory kept (the sanitizer watches). */
static void bent(void **state)
{
	_cleanup_buf_ struct buf whole = BUF_INIT;
	_cleanup_close_ int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_int_equal(fs_slurp(self, 1u << 28, &whole, NULL), 0);
	uint64_t seed = 7;
	size_t refused = 0;
	for (int i = 0; i < 400; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		size_t len = i < 100 ? (size_t)(seed >> 33) % whole.len : whole.len;
		/* Only what lies in the first 16 KiB decides: headers, dynamic symbols' start, version needs. */
		size_t at = (size_t)(seed >> 20) % 16384;
		_cleanup_close_ int fd = file_with(whole.data, len);
		if (i >= 100) {
			char byte = (char)(seed >> 40);
			assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
		}
		struct elf_needs n;
		if (elf_needs_read(fd, is_write, &n, NULL))
			refused++;
		else
			elf_needs_free(&n);
	}
	assert_true(refused > 0);
}

static void architectures(void **state)
{
	struct elf_head h = { .bits = 64, .little = true, .type = ET_DYN, .machine = EM_X86_64 };
	assert_string_equal(elf_arch(&h), "x86_64");
	h.bits = 32; /* x32 */
	assert_null(elf_arch(&h));
	h = (struct elf_head){ .bits = 64, .little = false, .type = ET_DYN, .machine = EM_PPC64 };
	assert_string_equal(elf_arch(&h), "ppc64");
	h.machine = EM_CUDA;
	assert_false(elf_is_host_code(&h));
	h = (struct elf_head){ .bits = 64, .little = true, .type = ET_REL, .machine = EM_X86_64 };
	assert_false(elf_is_host_code(&h));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers), cmocka_unit_test(own_needs), cmocka_unit_test(wanted_symbols),
		cmocka_unit_test(bent), cmocka_unit_test(architectures),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
