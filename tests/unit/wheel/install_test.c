/* Wheels installed into a folder. */
#include "fixture.h"

#include "wheel/install.h"

static int install(const struct file *files, size_t n, int dirfd, struct err *err)
{
	_cleanup_buf_ struct buf zip = fixture_wheel(files, n);
	_cleanup_close_ int fd = file_of(zip.data, zip.len);
	return wheel_install(fd, dirfd, err);
}

static unsigned mode_of(int dirfd, const char *path)
{
	struct stat st;
	assert_int_equal(fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW), 0);
	return st.st_mode & 07777;
}

static void check_text(int dirfd, const char *path, const char *want)
{
	_cleanup_free_ char *have = fixture_read(dirfd, path);
	if (!have)
		fail_msg("no %s", path);
	assert_string_equal(have, want);
}

static const struct file spread[] = {
	PURE_FILES,
	{ .name = "fancy/__init__.py", .text = "" },
	{ .name = "fancy/run.sh", .text = "#!/bin/sh\n", .mode = 0755 },
	{ .name = "fancy-1.0.data/purelib/pure.py", .text = "pure" },
	{ .name = "fancy-1.0.data/platlib/plat.py", .text = "plat" },
	{ .name = "fancy-1.0.data/scripts/hello", .text = "#!pythonw -E\nprint('hello')\n" },
	{ .name = "fancy-1.0.data/scripts/shell", .text = "#!/bin/sh\necho hello\n" },
	{ .name = "fancy-1.0.data/scripts/bare", .text = "#!python" },
	{ .name = "fancy-1.0.data/data/share/man/fancy.1", .text = "man" },
	{ .name = "fancy-1.0.data/headers/fancy.h", .text = "#pragma once\n" },
	{ .name = INFO "entry_points.txt", .text = "[console_scripts]\nfancy-cli = fancy.cli:main\n" },
	{ .name = INFO "INSTALLER", .text = "somebody else\n" },
};

static void spreads(void **state)
{
	struct tempdir t = tempdir_make();
	_cleanup_err_ struct err err = { 0 };
	mode_t mask = umask(0077); /* modes must not follow it */
	if (install(spread, COUNT(spread), t.fd, &err))
		fail_msg("%s", err.msg);
	umask(mask);
	check_text(t.fd, "site-packages/fancy/__init__.py", "");
	check_text(t.fd, "site-packages/pure.py", "pure");
	check_text(t.fd, "site-packages/plat.py", "plat");
	check_text(t.fd, "bin/hello", "#!/env/bin/python\nprint('hello')\n");
	check_text(t.fd, "bin/shell", "#!/bin/sh\necho hello\n");
	check_text(t.fd, "bin/bare", "#!/env/bin/python\n");
	check_text(t.fd, "bin/fancy-cli", "#!/env/bin/python\nimport sys\nfrom fancy.cli import main\n"
		"if __name__ == \"__main__\":\n\tsys.exit(main())\n");
	check_text(t.fd, "data/share/man/fancy.1", "man");
	check_text(t.fd, "include/fancy/fancy.h", "#pragma once\n");
	check_text(t.fd, "site-packages/" INFO "INSTALLER", "forge\n");
	assert_int_equal(mode_of(t.fd, "site-packages/fancy/__init__.py"), 0644);
	assert_int_equal(mode_of(t.fd, "site-packages/fancy/run.sh"), 0755);
	assert_int_equal(mode_of(t.fd, "bin/shell"), 0755);
	assert_int_equal(mode_of(t.fd, "bin/fancy-cli"), 0755);
	tempdir_remove(&t);
}

/* PEP 627: every file that was installed, by its path from site-packages, with what it holds now. */
static void records(void **state)
{
	struct tempdir t = tempdir_make();
	struct record r;
	assert_int_equal(install(spread, COUNT(spread), t.fd, NULL), 0);
	_cleanup_free_ char *text = fixture_read(t.fd, "site-packages/" INFO "RECORD");
	assert_int_equal(record_parse(slice_of(text), &r, NULL), 0);
	/* Every file of the wheel, the entry point's script and RECORD; INSTALLER took the place of another. */
	assert_int_equal(r.rows.count, COUNT(spread) + 2);
	for (size_t i = 0; i < r.rows.count; i++) {
		const struct record_row *row = &r.rows.items[i];
		_cleanup_free_ char *path = str_starts(row->path, "../") ? mem_dup(row->path + 3)
			: mem_printf("site-packages/%s", row->path);
		_cleanup_free_ char *data = fixture_read(t.fd, path);
		struct record_check c;
		assert_non_null(data);
		if (str_ends(row->path, "/RECORD")) {
			assert_string_equal(row->hash, "");
			continue;
		}
		assert_true(*row->hash);
		assert_int_equal(record_check_begin(&c, row, NULL), 0);
		record_check_update(&c, data, strlen(data));
		assert_int_equal(record_check_end(&c, NULL), 0);
	}
	record_free(&r);
	tempdir_remove(&t);
}

static void refused(const struct file *files, size_t n, enum err_code code, const char *because)
{
	struct tempdir t = tempdir_make();
	_cleanup_err_ struct err err = { 0 };
	assert_int_equal(install(files, n, t.fd, &err), -1);
	assert_int_equal(err.code, code);
	if (!strstr(err.msg, because))
		fail_msg("\"%s\" does not say \"%s\"", err.msg, because);
	tempdir_remove(&t);
}

static void refuses(void **state)
{
	const struct file no_place[] = { PURE_FILES, { .name = "fancy-1.0.data/etc/passwd", .text = "x" } };
	const struct file nested[] = { PURE_FILES, { .name = "fancy-1.0.data/scripts/a/b", .text = "x" } };
	const struct file twice[] = {
		PURE_FILES, { .name = "a.py", .text = "x" }, { .name = "fancy-1.0.data/purelib/a.py", .text = "y" },
	};
	const struct file below[] = {
		PURE_FILES, { .name = "a", .text = "x" }, { .name = "fancy-1.0.data/purelib/a/b", .text = "y" },
	};
	const struct file script[] = {
		PURE_FILES, { .name = INFO "entry_points.txt", .text = "[console_scripts]\nrun = a:b\n" },
		{ .name = "fancy-1.0.data/scripts/run", .text = "y" },
	};
	refused(no_place, COUNT(no_place), ERR_INPUT, "no place");
	refused(nested, COUNT(nested), ERR_INPUT, "script in a folder");
	refused(twice, COUNT(twice), ERR_SYS, "a.py");
	refused(below, COUNT(below), ERR_SYS, "purelib/a/b");
	refused(script, COUNT(script), ERR_SYS, "entry point run");
}

/* Bytes that are not what RECORD says end the installation, and say where. */
static void wrong_bytes(void **state)
{
	const struct file files[] = { PURE_FILES, { .name = "fancy.py", .text = "VALUE = 1\n" },
		{ .name = "fancy-1.0.data/scripts/s", .text = "#!python\n" } };
	for (size_t which = 2; which < COUNT(files); which++) {
		struct zip_make z = { 0 };
		struct tempdir t = tempdir_make();
		_cleanup_err_ struct err err = { 0 };
		_cleanup_buf_ struct buf record = BUF_INIT;
		_cleanup_free_ char *other = mem_dup(files[which].text);
		other[3] ^= 1;
		fixture_record(files, COUNT(files), &record);
		for (size_t i = 0; i < COUNT(files); i++)
			fixture_add(&z, files[i].name, i == which ? other : files[i].text, strlen(files[i].text), 0);
		fixture_add(&z, INFO "RECORD", record.data, record.len, 0);
		_cleanup_buf_ struct buf zip = zip_make_end(&z);
		_cleanup_close_ int fd = file_of(zip.data, zip.len);
		assert_int_equal(wheel_install(fd, t.fd, &err), -1);
		assert_int_equal(err.code, ERR_HASH);
		assert_non_null(strstr(err.msg, files[which].name));
		tempdir_remove(&t);
	}
}

/* A link that stands where a folder is to be is not followed. */
static void no_link_is_followed(void **state)
{
	struct tempdir t = tempdir_make(), outside = tempdir_make();
	const struct file files[] = { PURE_FILES, { .name = "fancy/a.py", .text = "x" } };
	assert_int_equal(mkdirat(t.fd, "site-packages", 0755), 0);
	assert_int_equal(symlinkat(outside.path, t.fd, "site-packages/fancy"), 0);
	assert_int_equal(install(files, COUNT(files), t.fd, NULL), -1);
	assert_int_equal(faccessat(outside.fd, "a.py", F_OK, 0), -1);
	tempdir_remove(&t);
	tempdir_remove(&outside);
}

/* What goes on without a line end is no first line, and stays as it is. */
static void long_script(void **state)
{
	enum { LONG = 300000 };
	struct tempdir t = tempdir_make();
	_cleanup_free_ char *text = mem_alloc(LONG + 1);
	memset(text, 'x', LONG);
	memcpy(text, "#!python", 8);
	const struct file files[] = { PURE_FILES, { .name = "fancy-1.0.data/scripts/s", .text = text } };
	assert_int_equal(install(files, COUNT(files), t.fd, NULL), 0);
	_cleanup_free_ char *have = fixture_read(t.fd, "bin/s");
	assert_string_equal(have, text);
	tempdir_remove(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spreads), cmocka_unit_test(records), cmocka_unit_test(refuses),
		cmocka_unit_test(wrong_bytes), cmocka_unit_test(no_link_is_followed), cmocka_unit_test(long_script),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
