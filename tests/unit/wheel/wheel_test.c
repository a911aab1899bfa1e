/* A wheel held to its own word: the shared cases, whole small wheels. */
#include "fixture.h"

#include "core/json.h"
#include "wheel/inspect.h"
#include "wheel/wheel.h"

static struct buf zip_of(const struct json *files)
{
	struct zip_make z = { 0 };
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	json_keys(files, &names);
	for (size_t i = 0; i < names.count; i++) {
		const char *text = json_get_str(files, names.items[i]);
		fixture_add(&z, names.items[i], text, strlen(text), 0);
	}
	return zip_make_end(&z);
}

/* Open it, hold it to its file name, and every file to RECORD. */
static int check(int fd, const char *file, struct err *err)
{
	_cleanup_wheel_ struct wheel w = { 0 };
	_cleanup_wheel_name_ struct wheel_name n = { 0 };
	if (wheel_name_parse(file, &n, err) || wheel_open(fd, &w, err) || wheel_check_name(&w, &n, err))
		return -1;
	for (size_t i = 0; i < zip_count(w.zip); i++) {
		const struct zip_entry *e = zip_at(w.zip, i);
		const struct record_row *row = wheel_row(&w, e->name);
		_cleanup_buf_ struct buf data = BUF_INIT;
		struct record_check c;
		if (!row)
			continue;
		if (zip_read(w.zip, e, 1 << 20, &data, err) || record_check_begin(&c, row, err))
			return -1;
		record_check_update(&c, data.data, data.len);
		if (record_check_end(&c, err))
			return -1;
	}
	return 0;
}

static void shared_cases(void **state)
{
	vectors_or_skip("dist/wheel-record-cases.json");
	size_t len;
	_cleanup_free_ char *text = vectors_slurp(vectors_path("dist/wheel-record-cases.json"), &len);
	_cleanup_json_ struct json *cases = json_parse((struct slice){ text, len }, len, NULL);
	assert_true(json_count(cases) > 20);
	for (size_t i = 0; i < json_count(cases); i++) {
		const struct json *c = json_at(cases, i);
		_cleanup_buf_ struct buf zip = zip_of(json_get(c, "files"));
		_cleanup_close_ int fd = file_of(zip.data, zip.len);
		_cleanup_err_ struct err err = { 0 };
		const char *want = json_get_str(c, "expected");
		int rc = check(fd, json_get_str(c, "wheel"), &err);
		if (str_eq(want, "accept") ? rc != 0 : str_eq(want, "refuse") && rc == 0)
			fail_msg("%s: must be %s: %s", json_get_str(c, "case"), want, err.msg ? err.msg : "taken");
		assert_int_equal(rc != 0, err.msg != NULL);
	}
}

static int open_files(const struct file *files, size_t n, struct err *err)
{
	_cleanup_buf_ struct buf zip = fixture_wheel(files, n);
	_cleanup_close_ int fd = file_of(zip.data, zip.len);
	return check(fd, "fancy-1.0-py3-none-any.whl", err);
}

static void refused(const struct file *files, size_t n, const char *because)
{
	_cleanup_err_ struct err err = { 0 };
	assert_int_equal(open_files(files, n, &err), -1);
	if (!strstr(err.msg, because))
		fail_msg("\"%s\" does not say \"%s\"", err.msg, because);
}

/* The same bytes pass as a file and are refused as a symbolic link. */
static void links(void **state)
{
	const struct file link[] = { PURE_FILES, { .name = "fancy.py", .text = "/etc/passwd" } };
	assert_int_equal(open_files(link, COUNT(link), NULL), 0);
	struct zip_make z = { 0 };
	_cleanup_buf_ struct buf record = BUF_INIT;
	fixture_record(link, COUNT(link), &record);
	for (size_t i = 0; i < 2; i++)
		fixture_add(&z, link[i].name, link[i].text, strlen(link[i].text), 0);
	zip_make_add(&z, &(struct zip_member){ .name = "fancy.py", .data = link[2].text, .csize = 11, .size = 11,
		.crc = libdeflate_crc32(0, link[2].text, 11), .mode = S_IFLNK | 0777 });
	fixture_add(&z, INFO "RECORD", record.data, record.len, 0);
	_cleanup_buf_ struct buf zip = zip_make_end(&z);
	_cleanup_close_ int fd = file_of(zip.data, zip.len);
	_cleanup_err_ struct err err = { 0 };
	assert_int_equal(check(fd, "fancy-1.0-py3-none-any.whl", &err), -1);
	assert_non_null(strstr(err.msg, "symbolic link"));
}

static void bad_metadata(void **state)
{
	const struct file wheel = WHEEL_FILE("Tag: py3-none-any\n");
	const struct file two_names[] = { wheel, { .name = INFO "METADATA", .text = "Name: fancy\nName: b\nVersion: 1.0\n" } };
	const struct file no_version[] = { wheel, { .name = INFO "METADATA", .text = "Name: fancy\n\nVersion: 1.0\n" } };
	const struct file bad_version[] = { wheel, { .name = INFO "METADATA", .text = "Name: fancy\nVersion: one\n" } };
	const struct file bad_name[] = { wheel, { .name = INFO "METADATA", .text = "Name: ../fancy\nVersion: 1.0\n" } };
	const struct file binary[] = { wheel, { .name = INFO "METADATA", .text = "Name: fancy\0x\nVersion: 1.0\n", .len = 27 } };
	refused(two_names, 2, "Name twice");
	refused(no_version, 2, "no Version");
	refused(bad_version, 2, "not a version");
	refused(bad_name, 2, "not a project's name");
	refused(binary, 2, "NUL");
}

static void bad_wheel_file(void **state)
{
	const struct file none[] = { METADATA_FILE, { .name = INFO "WHEEL", .text = "Generator: hand\n" } };
	const struct file no_tag[] = { METADATA_FILE, WHEEL_FILE("") };
	const struct file bad_tag[] = { METADATA_FILE, WHEEL_FILE("Tag: py3-none\n") };
	const struct file other_build[] = { METADATA_FILE, WHEEL_FILE("Tag: py3-none-any\nBuild: 1\n") };
	refused(none, 2, "no Wheel-Version");
	refused(no_tag, 2, "tags");
	refused(bad_tag, 2, "not a tag");
	refused(other_build, 2, "build tag");
}

static void two_data_folders(void **state)
{
	const struct file files[] = {
		PURE_FILES, { .name = "fancy-1.0.data/purelib/a.py", .text = "a" },
		{ .name = "Fancy-1.data/purelib/b.py", .text = "b" },
	};
	refused(files, COUNT(files), "two .data folders");
	/* Another project's folder of that form is a folder like any other. */
	const struct file other[] = { PURE_FILES, { .name = "plain-1.0.data/a.py", .text = "a" } };
	assert_int_equal(open_files(other, COUNT(other), NULL), 0);
}

static void inspects(void **state)
{
	const struct file files[] = {
		WHEEL_FILE("Tag: py3-none-any\n"),
		{ .name = INFO "METADATA",
		  .text = "Metadata-Version: 2.1\nName: Fancy\nVersion: 1.0\nRequires-Python: >=3.9\n\nbody\n" },
	};
	_cleanup_buf_ struct buf zip = fixture_wheel(files, COUNT(files));
	_cleanup_close_ int fd = file_of(zip.data, zip.len);
	struct wheel_inspected seen;
	assert_int_equal(wheel_inspect(fd, "fancy-1.0-py3-none-any.whl", &seen, NULL), 0);
	assert_string_equal(seen.name, "Fancy");
	assert_string_equal(seen.version, "1.0");
	assert_string_equal(seen.requires_python, ">=3.9");
	assert_string_equal(seen.metadata.data, files[1].text);
	wheel_inspected_free(&seen);
	assert_int_equal(wheel_inspect(fd, "fancy-1.1-py3-none-any.whl", &seen, NULL), -1);
	assert_int_equal(wheel_inspect(fd, "fancy.zip", &seen, NULL), -1);
}

static void not_a_zip(void **state)
{
	_cleanup_close_ int fd = file_of("#!/bin/sh\necho no wheel\n", 24);
	struct wheel w;
	_cleanup_err_ struct err err = { 0 };
	assert_int_equal(wheel_open(fd, &w, &err), -1);
	assert_int_equal(err.code, ERR_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared_cases), cmocka_unit_test(links), cmocka_unit_test(bad_metadata),
		cmocka_unit_test(bad_wheel_file), cmocka_unit_test(two_data_folders), cmocka_unit_test(inspects),
		cmocka_unit_test(not_a_zip),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
