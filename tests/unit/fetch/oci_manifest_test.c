/* Manifests, indexes and configurations: what is taken of them, and what is refused. */
#include "support/vectors.h"

#include "core/mem.h"
#include "fetch/oci_image.h"
#include "fetch/oci_manifest.h"

#define ONE "\"sha256:1111111111111111111111111111111111111111111111111111111111111111\""
#define TWO "\"sha256:2222222222222222222222222222222222222222222222222222222222222222\""
#define OCI "application/vnd.oci.image."
#define BLOB(type, digest, size) "{\"mediaType\":\"" type "\",\"digest\":" digest ",\"size\":" size "}"
#define LAYER BLOB(OCI "layer.v1.tar+gzip", TWO, "5")
#define CONFIG BLOB(OCI "config.v1+json", ONE, "7")
#define IMAGE(config, layers) "{\"schemaVersion\":2,\"config\":" config ",\"layers\":[" layers "]}"
#define INDEX(manifests) "{\"schemaVersion\":2,\"manifests\":[" manifests "]}"
#define FOR(digest, platform) "{\"digest\":" digest ",\"size\":9,\"platform\":{" platform "}}"
#define AMD64 "\"os\":\"linux\",\"architecture\":\"amd64\""

static void test_an_image(void **state)
{
	_cleanup_arena_ struct arena a = ARENA_INIT;
	_cleanup_err_ struct err err = { 0 };
	struct oci_manifest m;
	const char *text = IMAGE(CONFIG, LAYER "," BLOB("application/vnd.docker.image.rootfs.diff.tar", ONE, "0"));
	if (oci_manifest_parse(slice_of(text), &a, &m, &err) < 0)
		fail_msg("%s", err.msg);
	assert_false(m.index);
	assert_int_equal(m.count, 2);
	assert_int_equal(m.config.size, 7);
	assert_int_equal(m.layers[0].size, 5);
	assert_string_equal(m.layers[0].type, OCI "layer.v1.tar+gzip");
	assert_int_equal(m.layers[0].sha256.bytes[31], 0x22);
	assert_memory_equal(m.layers[1].digest, &ONE[1], 71);
}

static void chosen(const char *text, const char *want)
{
	_cleanup_arena_ struct arena a = ARENA_INIT;
	_cleanup_err_ struct err err = { 0 };
	struct oci_manifest m;
	int rc = oci_manifest_parse(slice_of(text), &a, &m, &err);
	if (rc == 0 && m.index && strncmp(m.chosen.digest, want + 1, strlen(m.chosen.digest)) == 0)
		return;
	if (rc == 0 || !strstr(err.msg, want))
		fail_msg("%s: %s", text, rc == 0 ? "another was chosen" : err.msg);
}

static void test_an_index(void **state)
{
	chosen(INDEX(FOR(ONE, AMD64)), ONE);
	chosen(INDEX(FOR(TWO, "\"os\":\"linux\",\"architecture\":\"arm64\"") "," FOR(ONE, AMD64)), ONE);
	chosen(INDEX(FOR(ONE, AMD64) "," FOR(TWO, AMD64)), ONE);
	chosen(INDEX(FOR(TWO, AMD64 ",\"variant\":\"v3\"") "," FOR(ONE, AMD64)), ONE);
	chosen(INDEX(FOR(TWO, AMD64 ",\"variant\":\"v3\"") "," FOR(ONE, AMD64 ",\"variant\":\"v1\"")), ONE);
	chosen(INDEX(FOR(TWO, AMD64 ",\"variant\":\"v3\"")), TWO);
	chosen(INDEX("{\"digest\":" ONE ",\"size\":9}"), "not for linux/amd64 (the index has no platforms)");
	chosen(INDEX(FOR(ONE, "\"os\":\"windows\",\"architecture\":\"amd64\"")), "(the index has windows/amd64)");
	chosen(INDEX("3"), "not for linux/amd64");
	chosen(INDEX("{\"platform\":{" AMD64 "}}"), "for linux/amd64: it has no digest");
	chosen(INDEX("{\"platform\":{" AMD64 "},\"digest\":" ONE ",\"size\":4194305}"), "its size");
	chosen("{\"manifests\":{}}", "not a list");
}

static void test_refused(void **state)
{
	static const char *const rows[][2] = {
		{ "", "not JSON" }, { "[]", "neither" }, { "{}", "neither" }, { IMAGE(CONFIG, LAYER) "x", "not JSON" },
		{ "{\"schemaVersion\":1,\"fsLayers\":[]}", "schema 1" },
		{ "{\"manifests\":[],\"layers\":[]}", "neither" }, { "{\"layers\":[]}", "config: it has no digest" },
		{ IMAGE(CONFIG, ""), "not 1 to 512 layers" }, { "{\"config\":" CONFIG ",\"layers\":3}", "not 1 to 512 layers" },
		{ IMAGE("[]", LAYER), "config: it has no digest" },
		{ IMAGE(BLOB("x", "\"sha256:12\"", "1"), LAYER), "config: \"sha256:12\" is no digest" },
		{ IMAGE(BLOB("x", ONE, "8388609"), LAYER), "config: its size" },
		{ IMAGE(BLOB("x", ONE, "-1"), LAYER), "config: its size" }, { IMAGE(BLOB("x", ONE, "1.5"), LAYER), "config: its size" },
		{ IMAGE(BLOB("a b", ONE, "1"), LAYER), "config: its mediaType" },
		{ IMAGE(CONFIG, LAYER ",{}"), "layer 2: it has no digest" },
		{ IMAGE(CONFIG, BLOB("text/plain", ONE, "1")), "layer 1: \"text/plain\" is no layer" },
		{ IMAGE(CONFIG, "{\"digest\":" ONE ",\"size\":1}"), "layer 1: \"\" is no layer" },
		{ IMAGE(CONFIG, BLOB("application/vnd.docker.image.rootfs.foreign.diff.tar.gzip", ONE, "1")), "the registry does not have it" },
		{ IMAGE(CONFIG, BLOB(OCI "layer.v1.tar", ONE, "68719476737")), "layer 1: its size" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_arena_ struct arena a = ARENA_INIT;
		_cleanup_err_ struct err err = { 0 };
		struct oci_manifest m;
		if (oci_manifest_parse(slice_of(rows[i][0]), &a, &m, &err) == 0)
			fail_msg("%s was taken", rows[i][0]);
		if (err.code != ERR_INPUT || !strstr(err.msg, rows[i][1]))
			fail_msg("%s: %s", rows[i][0], err.msg);
	}
}

static void test_configurations(void **state)
{
	static const char *const rows[][2] = {
		{ "{" AMD64 ",\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[" ONE "," TWO "]},\"config\":{}}", NULL },
		{ "{" AMD64 ",\"rootfs\":{\"diff_ids\":[" ONE "]}}", "does not name 2 layers" },
		{ "{" AMD64 ",\"rootfs\":{\"diff_ids\":[" ONE ",3]}}", "layer 2: \"\" is no digest" },
		{ "{" AMD64 "}", "does not name 2 layers" },
		{ "{\"os\":\"linux\",\"architecture\":\"s390x\"}", "it is for linux/s390x" }, { "{}", "it is for ?/?" },
		{ "{\"os\":\"linux\",\"architecture\":\"a\\nb\"}", "it is for linux/?" }, { "x", "the configuration: not JSON" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_arena_ struct arena a = ARENA_INIT;
		_cleanup_err_ struct err err = { 0 };
		const struct hash *ids = oci_config_parse(slice_of(rows[i][0]), 2, &a, &err);
		if (!ids != (rows[i][1] != NULL) || (!ids && !strstr(err.msg, rows[i][1])))
			fail_msg("%s: %s", rows[i][0], ids ? "taken" : err.msg);
		if (ids)
			assert_int_equal(ids[1].bytes[0], 0x22);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_image), cmocka_unit_test(test_an_index), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_configurations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
