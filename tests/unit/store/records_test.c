/* Realisations, build records and roots. */
#include "unit/store/fixture.h"

static const char missing[] = STORE_DIR "/dc04vv14dak1c1r48qa0m23vr9jy8sm0-missing";

static void test_realisations(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *a = add_tree(f, "a", "a", NULL), *b = add_tree(f, "b", "b", NULL), *found = NULL;
	assert_int_equal(store_realisation(f->s, "sha256:01!out", &found, NULL), 0);
	assert_ok(store_realisation_add(f->s, "sha256:01!out", a, err));
	assert_ok(store_realisation_add(f->s, "sha256:01!dev", b, err));
	fixture_reopen(f, STORE_READ);
	assert_int_equal(store_realisation(f->s, "sha256:01!out", &found, NULL), 1);
	assert_string_equal(found, a);
	free(steal_ptr(found));

	fixture_reopen(f, STORE_WRITE);
	assert_ok(store_realisation_add(f->s, "sha256:01!out", b, err)); /* the newest stands */
	assert_int_equal(store_realisation(f->s, "sha256:01!out", &found, NULL), 1);
	assert_string_equal(found, b);
	free(steal_ptr(found));
	assert_refused(store_realisation_add(f->s, "sha256:02!out", missing, err), "is not in the store");

	/* It goes with its object. */
	const char *gone[] = { b };
	assert_ok(store_delete(f->s, gone, 1, err));
	assert_int_equal(store_realisation(f->s, "sha256:01!out", &found, NULL), 0);
}

struct seen {
	char text[512];
	int stop_after;
};

static int see_build(void *ctx, const struct store_build *b)
{
	struct seen *seen = ctx;
	size_t n = strlen(seen->text);
	snprintf(seen->text + n, sizeof seen->text - n, "%s:%s:%d:%llu:%s ", b->name, b->what, b->status,
		(unsigned long long)b->peak_memory, b->path ? b->path : "-");
	return --seen->stop_after == 0 ? 7 : 0;
}

static void test_builds(void **state)
{
	struct fixture *f = *state;
	struct store_build one = { .drv_path = STORE_DIR "/x-one.drv", .name = "one", .what = "build", .log = "log/1",
		.start_ms = 1, .end_ms = 2, .cpu_ms = 3, .peak_memory = 1ULL << 40, .status = 0, .path = missing };
	struct store_build two = { .drv_path = STORE_DIR "/x-two.drv", .name = "two%", .what = "fetch", .log = NULL,
		.start_ms = 1, .end_ms = 2, .cpu_ms = 3, .peak_memory = 5, .status = 102, .path = NULL };
	assert_ok(store_build_add(f->s, &one, err));
	assert_ok(store_build_add(f->s, &two, err));
	assert_ok(store_build_add(f->s, &one, err));
	struct { const char *match; size_t limit; int stop, rc; const char *wanted; } rows[] = {
		{ NULL, 10, 0, 0, "one:build:0:1099511627776:/forge/store/dc04vv14dak1c1r48qa0m23vr9jy8sm0-missing "
			"two%:fetch:102:5:- one:build:0:1099511627776:/forge/store/dc04vv14dak1c1r48qa0m23vr9jy8sm0-missing " },
		{ "two", 10, 0, 0, "two%:fetch:102:5:- " },
		{ "x-two.drv", 10, 0, 0, "two%:fetch:102:5:- " },
		{ "%", 10, 0, 0, "two%:fetch:102:5:- " }, /* text, not a pattern */
		{ "nothing", 10, 0, 0, "" },
		{ "o", 0, 0, 0, "" },
		{ "tw", SIZE_MAX, 1, 7, "two%:fetch:102:5:- " },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct seen seen = { .stop_after = rows[i].stop };
		assert_int_equal(store_builds(f->s, rows[i].match, rows[i].limit, see_build, &seen, NULL), rows[i].rc);
		assert_string_equal(seen.text, rows[i].wanted);
	}
}

static int see_note(void *ctx, const struct store_build *b)
{
	struct seen *seen = ctx;
	size_t n = strlen(seen->text);
	snprintf(seen->text + n, sizeof seen->text - n, "%s:%s ", b->name, b->note ? b->note : "-");
	return 0;
}

static void test_compiles(void **state)
{
	struct fixture *f = *state;
	struct store_build b = { .drv_path = STORE_DIR "/x-one.drv", .name = "a.c", .what = "compile", .start_ms = 10,
		.end_ms = 30, .peak_memory = 7, .note = "miss" };
	struct store_build hit = b, failed = b, build = b;
	hit.end_ms = 11, hit.note = "hit";
	failed.end_ms = 99, failed.status = 100;
	build.what = "build", build.note = NULL;
	const struct store_build *all[] = { &b, &hit, &failed, &build };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		assert_ok(store_build_add(f->s, all[i], err));
	struct seen seen = { .stop_after = 0 };
	assert_int_equal(store_compiles(f->s, "a.c", 10, see_note, &seen, NULL), 0);
	assert_string_equal(seen.text, "a.c:miss a.c:hit a.c:miss ");
	seen.text[0] = '\0';
	assert_int_equal(store_builds(f->s, NULL, 10, see_note, &seen, NULL), 0);
	assert_string_equal(seen.text, "a.c:- ");
	int64_t ms = 0;
	uint64_t memory = 0;
	assert_int_equal(store_compile_last(f->s, "a.c", &ms, &memory, NULL), 1);
	assert_int_equal(ms, 20);
	assert_int_equal(memory, 7);
	assert_int_equal(store_compile_last(f->s, "a", &ms, &memory, NULL), 0);
}

static int see_root(void *ctx, const char *name, const char *path, const char *data)
{
	struct seen *seen = ctx;
	size_t n = strlen(seen->text);
	snprintf(seen->text + n, sizeof seen->text - n, "%s=%s(%s) ", name, store_path_base(path) + 33, data ? data : "-");
	return 0;
}

static void test_roots(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *a = add_tree(f, "a", "a", NULL), *b = add_tree(f, "b", "b", NULL);
	assert_ok(store_root_set(f->s, "z-cp313", b, NULL, err));
	assert_ok(store_root_set(f->s, "m-cp313", b, "{}", err));
	assert_ok(store_root_set(f->s, "m-cp313", a, "{\"x\":1}", err));
	struct seen seen = { .text = "" };
	assert_ok(store_roots(f->s, see_root, &seen, err));
	assert_string_equal(seen.text, "m-cp313=a({\"x\":1}) z-cp313=b(-) ");
	char target[PATH_MAX];
	ssize_t n = readlinkat(f->s->root_fd, "roots/m-cp313", target, sizeof target - 1);
	target[n > 0 ? n : 0] = '\0';
	assert_true(str_starts(target, "../objects/"));
	assert_string_equal(target + 11, store_path_base(a));
	assert_int_equal(faccessat(f->s->root_fd, "roots/m-cp313/data", F_OK, 0), 0);

	static const char *const bad[] = { "", ".", "..", ".x", "a/b", "a b", "a\nb", "\x7f" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_refused(store_root_set(f->s, bad[i], a, NULL, err), "can't be the name of a root");
	assert_refused(store_root_set(f->s, "x", missing, NULL, err), "is not in the store");
	assert_int_equal(faccessat(f->s->root_fd, "roots/x", F_OK, AT_SYMLINK_NOFOLLOW), -1);
	assert_int_equal(count_tmp(f->s), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(test_realisations),
		store_test(test_builds),
		store_test(test_compiles),
		store_test(test_roots),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
