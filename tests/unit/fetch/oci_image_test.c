/* References to images, digests, and the URLs of repositories. */
#include "support/vectors.h"

#include "core/mem.h"
#include "fetch/oci_image.h"

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

static void test_references(void **state)
{
	static const char *const good[][3] = {
		{ "registry.example/a", "registry.example/a", NULL }, { "localhost/a:1", "localhost/a", "1" },
		{ "r.example:5000/vendor/cuda:13.0-devel", "r.example:5000/vendor/cuda", "13.0-devel" },
		{ "[::1]:5000/a:_x", "[::1]:5000/a", "_x" }, { "h:1/a.b/c_d/e__f/g---h:V.1_2-", "h:1/a.b/c_d/e__f/g---h", "V.1_2-" },
		{ "Registry.Example/a", "Registry.Example/a", NULL }, { "h.example/0", "h.example/0", NULL },
	};
	static const char *const bad[] = {
		"", "a", "a/b", "vendor/cuda:1", "/a", ".", "./a", "-h.example/a", "h.example", "h.example/", "h.example//a", "h.example/a/",
		"h.example/A", "h.example/a b", "h.example/..", "h.example/a/../b", "h.example/.a", "h.example/a.", "h.example/a..b",
		"h.example/a___b", "h.example/a-", "h.example/a:", "h.example/a:.x", "h.example/a:-x", "h.example/a:b:c", "h.example/a:b/c",
		"h.example/a@sha256:" ZEROS, "h.example:x/a", "h.example:/a", "h.example:123456/a", "h_.example/a", "u@h.example/a",
		"https://h.example/a", "h.example/a?b", "h.example/a#b", "h.example/a%2f", "[::1/a", "[]:1/a", "[h.e]x/a", "h.example/a\n",
	};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		_cleanup_oci_image_ struct oci_image image = { 0 };
		_cleanup_err_ struct err err = { 0 };
		if (oci_image_parse(good[i][0], &image, &err) < 0)
			fail_msg("%s", err.msg);
		assert_string_equal(image.name, good[i][1]);
		assert_true(str_eq(image.tag, good[i][2]));
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		_cleanup_oci_image_ struct oci_image image = { 0 };
		_cleanup_err_ struct err err = { 0 };
		if (oci_image_parse(bad[i], &image, &err) == 0)
			fail_msg("\"%s\" was taken", bad[i]);
		assert_int_equal(err.code, ERR_INPUT);
	}
}

static void test_long_ones(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_oci_image_ struct oci_image image = { 0 };
	char text[700] = "h.example/";
	memset(text + 10, 'a', 255);
	memset(text + 265, ':', 1);
	memset(text + 266, 'b', 128);
	assert_int_equal(oci_image_parse(text, &image, &err), 0);
	oci_image_free(&image);
	text[266 + 128] = 'b';
	assert_int_equal(oci_image_parse(text, &image, &err), -1);
	memset(text + 10, 'a', 256);
	text[266] = '\0';
	assert_int_equal(oci_image_parse(text, &image, &err), -1);
	memset(text + 10, 'a', 600);
	assert_int_equal(oci_image_parse(text, &image, &err), -1);
}

static void test_digests(void **state)
{
	static const char *const bad[] = {
		"", "sha256", "sha256:", ZEROS, "sha512:" ZEROS, "SHA256:" ZEROS, "sha256:" ZEROS "0", "sha256: " ZEROS,
		"sha256:000000000000000000000000000000000000000000000000000000000000000A",
		"sha256:0000000000000000000000000000000000000000000000000000", /* Nix's 52 digits */
		"sha256:000000000000000000000000000000000000000000000000000000000000/../",
	};
	_cleanup_err_ struct err err = { 0 };
	struct hash hash;
	assert_int_equal(oci_digest_parse("sha256:" ZEROS, &hash, &err), 0);
	_cleanup_free_ char *back = oci_digest(&hash);
	assert_string_equal(back, "sha256:" ZEROS);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(oci_digest_parse(bad[i], &hash, &err), -1);
}

static void leads(const char *mirrors, const char *name, const char *want)
{
	_cleanup_mirror_map_ struct mirror_map map = MIRROR_MAP_INIT(MIRROR_OCI);
	_cleanup_err_ struct err err = { 0 };
	assert_int_equal(mirror_map_words(&map, slice_of(mirrors), &err), 0);
	_cleanup_free_ char *got = oci_repository(&map, name, &err);
	if (!str_eq(got, want))
		fail_msg("%s: %s, not %s", name, got ? got : err.msg, want ? want : "an error");
	assert_true(got || !strstr(err.msg, "secret"));
}

/* http only where the packets don't leave the machine, or where a person wrote it. */
static void test_repositories(void **state)
{
	leads("", "h.example/a/b", "https://h.example/v2/a/b");
	leads("", "h.example:80/a", "https://h.example:80/v2/a");
	leads("", "localhost/a", "http://localhost/v2/a");
	leads("", "localhost:5000/a", "http://localhost:5000/v2/a");
	leads("", "127.0.0.1:5000/a", "http://127.0.0.1:5000/v2/a");
	leads("", "127.9.9.9/a", "http://127.9.9.9/v2/a");
	leads("", "[::1]:5000/a", "http://[::1]:5000/v2/a");
	leads("", "[::2]:5000/a", "https://[::2]:5000/v2/a");
	leads("", "127.0.0.1.example/a", "https://127.0.0.1.example/v2/a");
	leads("", "localhost.example/a", "https://localhost.example/v2/a");
	leads("", "128.0.0.1/a", "https://128.0.0.1/v2/a");
	leads("", "h.example/a:1", NULL);
	leads("", "a", NULL);
	leads("h.example/=http://m.example:8080/proxy/", "h.example/a/b", "http://m.example:8080/v2/proxy/a/b");
	leads("h.example=https://u:secret@m.example", "h.example/a", "https://u:secret@m.example/v2/a");
	leads("h.example/a=https://m.example/a", "h.example/ab", "https://h.example/v2/ab");
	leads("127.0.0.1:5000=https://127.0.0.1:5000", "127.0.0.1:5000/a", "https://127.0.0.1:5000/v2/a");
	leads("h.example=file://", "h.example/a", NULL);
	leads("h.example=ftp://u:secret@m.example", "h.example/a", NULL);
	leads("h.example=m.example", "h.example/a", NULL);
	leads("h.example=https://m.example/?x=", "h.example/a", NULL);
	leads("h.example=https://m.example/..", "h.example/a", NULL);
	leads("h.example=https://", "h.example/a", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_references), cmocka_unit_test(test_long_ones), cmocka_unit_test(test_digests),
		cmocka_unit_test(test_repositories),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
