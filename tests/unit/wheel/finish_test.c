/* The finish step. */
#include "fixture.h"
#include "elf_make.h"

#include <errno.h>

#include "archive/zip.h"
#include "wheel/finish.h"
#include "wheel/wheel.h"
#include "wheel/zip_write.h"

#define EPOCH 1700000000

struct bench {
	struct tempdir from, to;
};

static struct bench bench_make(void)
{
	return (struct bench){ tempdir_make(), tempdir_make() };
}

static void bench_free(struct bench *b)
{
	tempdir_remove(&b->from);
	tempdir_remove(&b->to);
}

static struct wheel_finish spec_of(const struct bench *b)
{
	return (struct wheel_finish){
		.from = b->from.fd, .to = b->to.fd, .name = "fancy", .version = "1.0", .epoch = EPOCH, .tmp = b->to.path,
	};
}

static void put_wheel(const struct bench *b, const char *name, const struct file *files, size_t n)
{
	_cleanup_buf_ struct buf zip = fixture_wheel(files, n);
	fixture_put(b->from.fd, name, &zip);
}

static const struct file pure[] = {
	PURE_FILES,
	{ .name = "fancy/__init__.py", .text = "VALUE = 1\r\n# text stays as it is  \n" },
	{ .name = "fancy/tool.sh", .text = "#!/bin/sh\nexit 0\n", .mode = 0775 },
	{ .name = "fancy/empty.txt", .text = "" },
	{ .name = "fancy-1.0.data/scripts/fancy", .text = "#!python\n", .mode = 0700 },
	{ .name = INFO "zip-safe", .text = "\n" },
};

static struct wheel_finished finish(const struct wheel_finish *spec)
{
	struct wheel_finished done;
	_cleanup_err_ struct err err = { 0 };
	if (wheel_finish(spec, &done, &err))
		fail_msg("%s", err.msg);
	return done;
}

static void refused(const struct wheel_finish *spec, const char *because)
{
	struct wheel_finished done;
	_cleanup_err_ struct err err = { 0 };
	_cleanup_str_list_ struct str_list left = STR_LIST_INIT;
	assert_int_equal(wheel_finish(spec, &done, &err), -1);
	if (!strstr(err.msg, because))
		fail_msg("\"%s\" does not say \"%s\"", err.msg, because);
	/* Nothing is left behind. */
	assert_int_equal(fs_list(spec->to, &left, NULL), 0);
	assert_int_equal(left.count, 0);
}

/* The entries' names in their order, and each file's modes and times, as the strict reader has them. */
static void check_canonical(int dirfd, const char *file)
{
	static const char *const want[] = {
		"fancy-1.0+cu130torch2.11.data/scripts/fancy", "fancy/__init__.py", "fancy/empty.txt", "fancy/tool.sh",
		"fancy-1.0+cu130torch2.11.dist-info/METADATA", "fancy-1.0+cu130torch2.11.dist-info/WHEEL",
		"fancy-1.0+cu130torch2.11.dist-info/zip-safe", "fancy-1.0+cu130torch2.11.dist-info/RECORD",
	};
	_cleanup_wheel_ struct wheel w = { 0 };
	_cleanup_wheel_name_ struct wheel_name n = { 0 };
	_cleanup_err_ struct err err = { 0 };
	_cleanup_close_ int fd = openat(dirfd, file, O_RDONLY | O_CLOEXEC);
	if (wheel_open(fd, &w, &err) || wheel_name_parse(file, &n, &err) || wheel_check_name(&w, &n, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(zip_count(w.zip), COUNT(want));
	for (size_t i = 0; i < COUNT(want); i++) {
		const struct zip_entry *e = zip_at(w.zip, i);
		bool executable = str_ends(e->name, "tool.sh") || str_ends(e->name, "scripts/fancy");
		assert_string_equal(e->name, want[i]);
		assert_int_equal(e->mode, S_IFREG | (executable ? 0755 : 0644));
	}
	assert_string_equal(w.version, "1.0+cu130torch2.11");
}

/* tests/golden/<name> is what came out; FORGE_GOLDEN_WRITE=1 writes it anew. */
static void golden(const char *name, int dirfd, const char *file)
{
	_cleanup_free_ char *path = mem_printf("tests/golden/%s", name);
	_cleanup_buf_ struct buf have = BUF_INIT, want = BUF_INIT;
	assert_int_equal(fs_read_file(dirfd, file, 1 << 16, &have, NULL), 0);
	if (getenv("FORGE_GOLDEN_WRITE"))
		assert_int_equal(fs_write_file(AT_FDCWD, path, have.data, have.len, 0644, NULL), 0);
	assert_int_equal(fs_read_file(AT_FDCWD, path, 1 << 16, &want, NULL), 0);
	assert_int_equal(have.len, want.len);
	assert_memory_equal(have.data, want.data, want.len);
}

static void local_version(void **state)
{
	struct bench b = bench_make();
	put_wheel(&b, "Fancy-1.0-py3-none-any.whl", pure, COUNT(pure));
	struct wheel_finish spec = spec_of(&b);
	spec.label = WHEEL_LABEL_LOCAL;
	spec.label_text = "cu130torch2.11";
	struct wheel_finished done = finish(&spec);
	assert_string_equal(done.file, "fancy-1.0+cu130torch2.11-py3-none-any.whl");
	assert_string_equal(done.platform, "any");
	check_canonical(b.to.fd, done.file);
	golden("wheel-local.whl", b.to.fd, done.file);
	wheel_finished_free(&done);
	bench_free(&b);
}

static void build_tag(void **state)
{
	struct bench b = bench_make();
	put_wheel(&b, "fancy-1.0-py3-none-any.whl", pure, COUNT(pure));
	struct wheel_finish spec = spec_of(&b);
	spec.label = WHEEL_LABEL_BUILD;
	spec.label_text = "2110.130";
	struct wheel_finished done = finish(&spec);
	struct stat st;
	assert_string_equal(done.file, "fancy-1.0-2110.130-py3-none-any.whl");
	assert_int_equal(fstatat(b.to.fd, done.file, &st, 0), 0);
	assert_int_equal(st.st_size, done.size);
	assert_int_equal(st.st_mode & 07777, 0644);
	golden("wheel-build.whl", b.to.fd, done.file);
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct hash hash;
	assert_int_equal(fs_read_file(b.to.fd, done.file, 1 << 16, &bytes, NULL), 0);
	hash_of(bytes.data, bytes.len, &hash);
	assert_true(hash_eq(&hash, &done.sha256));
	wheel_finished_free(&done);
	/* The finished wheel is its own finished form. */
	fixture_put(b.from.fd, "fancy-1.0-2110.130-py3-none-any.whl", &bytes);
	assert_int_equal(unlinkat(b.from.fd, "fancy-1.0-py3-none-any.whl", 0), 0);
	assert_int_equal(unlinkat(b.to.fd, "fancy-1.0-2110.130-py3-none-any.whl", 0), 0);
	done = finish(&spec);
	assert_true(hash_eq(&hash, &done.sha256));
	wheel_finished_free(&done);
	bench_free(&b);
}

/* The same files in another order, other modes of the same meaning, deflated, with folders: the same bytes. */
static void same_bytes(void **state)
{
	struct file shuffled[COUNT(pure)];
	struct bench a = bench_make(), b = bench_make();
	for (size_t i = 0; i < COUNT(pure); i++) {
		shuffled[i] = pure[COUNT(pure) - 1 - i];
		shuffled[i].mode = shuffled[i].mode ? 0755 : 0600;
	}
	put_wheel(&a, "fancy-1.0-py3-none-any.whl", pure, COUNT(pure));
	struct zip_make z = { 0 };
	_cleanup_buf_ struct buf record = BUF_INIT;
	buf_str(&record, INFO "RECORD,,\r\n");
	fixture_record(shuffled, COUNT(shuffled), &record);
	struct libdeflate_compressor *c = libdeflate_alloc_compressor(1);
	fixture_add(&z, "fancy/", "", 0, 0);
	for (size_t i = 0; i < COUNT(shuffled); i++) {
		char small[1024];
		size_t len = strlen(shuffled[i].text);
		size_t n = libdeflate_deflate_compress(c, shuffled[i].text, len, small, sizeof small);
		assert_true(n > 0);
		zip_make_add(&z, &(struct zip_member){ .name = shuffled[i].name, .method = 8, .data = small, .csize = n,
			.size = len, .crc = libdeflate_crc32(0, shuffled[i].text, len), .mode = S_IFREG | shuffled[i].mode });
	}
	libdeflate_free_compressor(c);
	fixture_add(&z, INFO "RECORD", record.data, record.len, 0);
	_cleanup_buf_ struct buf zip = zip_make_end(&z);
	fixture_put(b.from.fd, "fancy-1.0-py3-none-any.whl", &zip);
	struct wheel_finish sa = spec_of(&a), sb = spec_of(&b);
	struct wheel_finished x = finish(&sa), y = finish(&sb);
	assert_true(hash_eq(&x.sha256, &y.sha256));
	wheel_finished_free(&x);
	wheel_finished_free(&y);
	bench_free(&a);
	bench_free(&b);
}

static void what_is_left(void **state)
{
	struct bench b = bench_make();
	struct wheel_finish spec = spec_of(&b);
	refused(&spec, "no wheel");
	assert_int_equal(mkfifoat(b.from.fd, "fancy-1.0-py3-none-any.whl", 0644), 0);
	refused(&spec, "not a regular file");
	assert_int_equal(unlinkat(b.from.fd, "fancy-1.0-py3-none-any.whl", 0), 0);
	assert_int_equal(symlinkat("/etc/passwd", b.from.fd, "fancy-1.0-py3-none-any.whl"), 0);
	refused(&spec, "a symbolic link where a file is wanted");
	assert_int_equal(unlinkat(b.from.fd, "fancy-1.0-py3-none-any.whl", 0), 0);
	struct buf text = { (char *)"no zip", 6, 0 };
	fixture_put(b.from.fd, "fancy-1.0-py3-none-any.whl", &text);
	refused(&spec, "fancy-1.0-py3-none-any.whl");
	fixture_put(b.from.fd, "other-1.0-py3-none-any.whl", &text);
	refused(&spec, "two wheels");
	bench_free(&b);
}

static void disagreements(void **state)
{
	struct bench b = bench_make();
	put_wheel(&b, "fancy-1.0-py3-none-any.whl", pure, COUNT(pure));
	struct wheel_finish spec = spec_of(&b);
	spec.name = "plain";
	refused(&spec, "the recipe of plain");
	spec = spec_of(&b);
	spec.version = "1.1";
	refused(&spec, "the recipe's 1.1");
	spec = spec_of(&b);
	spec.version = "one";
	refused(&spec, "not a version");
	spec = spec_of(&b);
	spec.epoch = INT64_C(4354819200);
	refused(&spec, "2107");
	spec = spec_of(&b);
	spec.label = WHEEL_LABEL_BUILD;
	spec.label_text = "cu130";
	refused(&spec, "build tag");
	spec.label = WHEEL_LABEL_LOCAL;
	spec.label_text = "cu130/../../x";
	refused(&spec, "not a local version");
	spec.label_text = NULL;
	refused(&spec, "without text");
	spec = spec_of(&b);
	spec.version = NULL;
	refused(&spec, "without name, version");
	bench_free(&b);
}

/* A build that was told its label has it already. */
static void label_already_there(void **state)
{
	const struct file files[] = {
		{ .name = "fancy-1.0+cu130.dist-info/METADATA", .text = "Metadata-Version: 2.1\nName: fancy\nVersion: 1.0+CU130\n" },
		{ .name = "fancy-1.0+cu130.dist-info/WHEEL", .text = "Wheel-Version: 1.0\nTag: py3-none-any\n" },
	};
	struct bench b = bench_make();
	struct zip_make z = { 0 };
	_cleanup_buf_ struct buf record = BUF_INIT;
	fixture_record(files, 2, &record);
	for (size_t i = 0; i < 2; i++)
		fixture_add(&z, files[i].name, files[i].text, strlen(files[i].text), 0);
	fixture_add(&z, "fancy-1.0+cu130.dist-info/RECORD", record.data, record.len, 0);
	_cleanup_buf_ struct buf zip = zip_make_end(&z);
	fixture_put(b.from.fd, "fancy-1.0+cu130-py3-none-any.whl", &zip);
	struct wheel_finish spec = spec_of(&b);
	refused(&spec, "version is 1.0+cu130");
	spec.label = WHEEL_LABEL_LOCAL;
	spec.label_text = "cu129";
	refused(&spec, "local part already");
	spec.label_text = "cu130";
	struct wheel_finished done = finish(&spec);
	assert_string_equal(done.file, "fancy-1.0+cu130-py3-none-any.whl");
	wheel_finished_free(&done);
	bench_free(&b);
}

static void wrong_hash(void **state)
{
	struct bench b = bench_make();
	struct zip_make z = { 0 };
	struct file files[COUNT(pure)];
	_cleanup_buf_ struct buf record = BUF_INIT;
	memcpy(files, pure, sizeof files);
	fixture_record(files, COUNT(files), &record);
	files[2].text = "VALUE = 2\r\n# text stays as it is  \n";
	for (size_t i = 0; i < COUNT(files); i++)
		fixture_add(&z, files[i].name, files[i].text, strlen(files[i].text), 0);
	fixture_add(&z, INFO "RECORD", record.data, record.len, 0);
	_cleanup_buf_ struct buf zip = zip_make_end(&z);
	fixture_put(b.from.fd, "fancy-1.0-py3-none-any.whl", &zip);
	struct wheel_finish spec = spec_of(&b);
	refused(&spec, "fancy/__init__.py");
	bench_free(&b);
}

/* A wheel with this tag and these files beside METADATA and WHEEL; the platform and why, or the error. */
struct outcome {
	char *platform, *why, *error;
};

static void outcome_free(struct outcome *o)
{
	free(o->platform);
	free(o->why);
	free(o->error);
}

static struct outcome finish_tagged(const char *tag, const struct file *files, size_t n)
{
	struct file all[8] = { METADATA_FILE };
	struct outcome out = { 0 };
	struct bench b = bench_make();
	struct wheel_finish spec = spec_of(&b);
	struct wheel_finished done;
	_cleanup_err_ struct err err = { 0 };
	_cleanup_free_ char *wheel = mem_printf("Wheel-Version: 1.0\nTag: %s\n", tag);
	_cleanup_free_ char *name = mem_printf("fancy-1.0-%s.whl", tag);
	all[1] = (struct file){ .name = INFO "WHEEL", .text = wheel };
	memcpy(all + 2, files, n * sizeof *files);
	put_wheel(&b, name, all, n + 2);
	if (wheel_finish(&spec, &done, &err)) {
		out.error = mem_dup(err.msg);
	} else {
		out.platform = mem_dup(done.platform);
		out.why = mem_dup(done.why);
		wheel_finished_free(&done);
	}
	bench_free(&b);
	return out;
}

#define EXT "cp313-cp313-linux_x86_64"

/* One library of this make in a wheel of this tag. */
static struct outcome finish_one(const char *tag, const struct elf_spec *spec, const char *beside)
{
	_cleanup_buf_ struct buf elf = elf_make(spec);
	const struct file files[] = {
		{ .name = "fancy/_c.so", .text = elf.data, .len = elf.len }, { .name = beside, .text = "x" },
	};
	return finish_tagged(tag, files, beside ? 2 : 1);
}

static void check(struct outcome o, const char *platform, const char *says)
{
	if (!str_eq(o.platform, platform))
		fail_msg("%s, not %s (%s)", o.platform, platform, o.error ? o.error : o.why);
	if (!strstr(platform ? o.why : o.error, says))
		fail_msg("\"%s\" does not say \"%s\"", platform ? o.why : o.error, says);
	outcome_free(&o);
}

static void proven_platforms(void **state)
{
	struct elf_spec plain = { .libraries = { "libc.so.6" }, .of = "libc.so.6", .version = "GLIBC_2.17" };
	struct elf_spec cuda = plain, crypt = plain, young = plain, origin = plain;
	cuda.libraries[1] = "libc10.so";
	cuda.libraries[2] = "libcudart.so.13";
	crypt.libraries[1] = "libcrypt.so.1";
	young.version = "GLIBC_2.999";
	origin.runpath = "$ORIGIN/../fancy.libs:/usr/local/lib";
	check(finish_one(EXT, &plain, NULL), "manylinux_2_17_x86_64", "GLIBC_2.17 in fancy/_c.so");
	check(finish_one("cp313-cp313-manylinux_2_5_x86_64", &plain, NULL), "manylinux_2_17_x86_64", "GLIBC_2.17");
	check(finish_one(EXT, &cuda, NULL), "manylinux_2_17_x86_64", "from other wheels: libc10.so libcudart.so.13");
	check(finish_one(EXT, &crypt, NULL), "linux_x86_64", "libcrypt.so.1 in fancy/_c.so");
	check(finish_one(EXT, &crypt, "fancy.libs/libcrypt.so.1"), "manylinux_2_17_x86_64", "GLIBC_2.17");
	check(finish_one(EXT, &young, NULL), "linux_x86_64", "GLIBC_2.999");
	check(finish_one(EXT, &origin, NULL), "manylinux_2_17_x86_64", "GLIBC_2.17");
}

static void contradictions(void **state)
{
	struct elf_spec plain = { .libraries = { "libc.so.6" } }, arm = plain, relative = plain, build = plain;
	arm.machine = EM_AARCH64;
	relative.runpath = "$ORIGIN:lib";
	build.runpath = "/build/torch/lib";
	check(finish_one("py3-none-any", &plain, NULL), NULL, "the tag says any, but fancy/_c.so is for Linux on x86_64");
	check(finish_one("cp313-cp313-win_amd64", &plain, NULL), NULL, "win_amd64");
	check(finish_one(EXT, &arm, NULL), NULL, "aarch64");
	check(finish_one(EXT, &relative, NULL), NULL, "relative");
	check(finish_one(EXT, &build, NULL), NULL, "a place of the build");
	_cleanup_buf_ struct buf a = elf_make(&plain), b = elf_make(&arm);
	const struct file both[] = {
		{ .name = "a.so", .text = a.data, .len = a.len }, { .name = "b.so", .text = b.data, .len = b.len },
	};
	check(finish_tagged(EXT, both, 2), NULL, "a.so is for x86_64, but b.so is for aarch64");
}

/* What only looks like a program of this machine: GPU code and data. */
static void not_programs(void **state)
{
	struct elf_spec cubin = { .machine = EM_CUDA };
	_cleanup_buf_ struct buf elf = elf_make(&cubin);
	const struct file gpu[] = { { .name = "k.cubin", .text = elf.data, .len = elf.len } };
	const struct file data[] = { { .name = "sample.bin", .text = "\177ELF and no more" } };
	const struct file library[] = { { .name = "cut.so.1", .text = "\177ELF and no more" } };
	check(finish_tagged("py3-none-any", gpu, 1), "any", "no binaries");
	check(finish_tagged("py3-none-any", data, 1), "any", "no binaries");
	check(finish_tagged("py3-none-any", library, 1), NULL, "cut.so.1");
}

/* A library too large to be deflated whole is read by its spilled copy all the same. */
static void large_library(void **state)
{
	struct elf_spec plain = { .libraries = { "libc.so.6" }, .of = "libc.so.6", .version = "GLIBC_2.28" };
	struct buf elf = elf_make(&plain);
	memset(buf_grow(&elf, ZIP_WHOLE), 0, ZIP_WHOLE);
	const struct file files[] = { { .name = "fancy/big.so", .text = elf.data, .len = elf.len + ZIP_WHOLE } };
	check(finish_tagged(EXT, files, 1), "manylinux_2_28_x86_64", "GLIBC_2.28 in fancy/big.so");
	buf_free(&elf);
}

static void pythons(void **state)
{
	struct bench b = bench_make();
	struct wheel_finish spec = spec_of(&b);
	const struct file files[] = { METADATA_FILE, WHEEL_FILE("Tag: cp313-cp313-linux_x86_64\n") };
	put_wheel(&b, "fancy-1.0-cp313-cp313-linux_x86_64.whl", files, COUNT(files));
	spec.python = "3.12";
	refused(&spec, "not for Python 3.12");
	spec.python = "3.13";
	struct wheel_finished done = finish(&spec);
	assert_string_equal(done.platform, "linux_x86_64");
	wheel_finished_free(&done);
	bench_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(local_version), cmocka_unit_test(build_tag), cmocka_unit_test(same_bytes),
		cmocka_unit_test(what_is_left), cmocka_unit_test(disagreements), cmocka_unit_test(label_already_there),
		cmocka_unit_test(wrong_hash), cmocka_unit_test(proven_platforms), cmocka_unit_test(contradictions),
		cmocka_unit_test(not_programs), cmocka_unit_test(large_library), cmocka_unit_test(pythons),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
