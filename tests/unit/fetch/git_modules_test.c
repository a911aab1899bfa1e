/* .gitmodules as git-config(1) reads it; what it says is compared with git's own answer where git is there. */
#include "support/tempdir.h"
#include "support/vectors.h"

#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "core/proc.h"
#include "fetch/git_modules.h"

static const char tricky[] =
	"\xef\xbb\xbf# comment [submodule \"no\"]\n"
	"[core]\n\tpath = not/ours\n"
	"[submodule \"a \\\"b\\\\c\"] path = one ; end\n"
	"\turl = \"https://h/a#b;c\" # end\n"
	"[Submodule \"two\"]\r\n\tPath=t\\\n  wo  words  \n\tURL\t= x\\ty\\\"z\n\tfetchRecurseSubmodules\n"
	"[submodule \"two\"]\n\turl = last\n"
	"[submodule.three]\n\tpath = t3\n"
	"[submodule \"four\"]\n\tpath =\n\tbranch = . ; x\n\tshallow \n\turl = \"  kept  \"  \n";

static void reads(void **state)
{
	_cleanup_git_modules_ struct git_modules m = GIT_MODULES_INIT;
	_cleanup_err_ struct err err = { 0 };
	if (git_modules_parse(slice_of(tricky), &m, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(m.list.count, 3);
	assert_string_equal(m.list.items[0].name, "a \"b\\c");
	assert_string_equal(m.list.items[0].path, "one");
	assert_string_equal(m.list.items[0].url, "https://h/a#b;c");
	assert_string_equal(m.list.items[1].name, "two");
	assert_string_equal(m.list.items[1].path, "t  wo  words");
	assert_string_equal(m.list.items[1].url, "last");
	assert_string_equal(m.list.items[2].path, "");
	assert_string_equal(m.list.items[2].url, "  kept  ");
	assert_ptr_equal(git_modules_at(&m, "one"), &m.list.items[0]);
	assert_null(git_modules_at(&m, "not/ours"));
	assert_null(git_modules_at(&m, "t3"));
}

static void git_says(const char *folder, const char *key, const char *want)
{
	_cleanup_free_ char *file = fs_join(folder, "m");
	const char *argv[] = { "git", "config", "-f", file, "--get", key, NULL };
	struct proc_spec spec = PROC_SPEC_INIT;
	struct proc_result result;
	_cleanup_buf_ struct buf out = BUF_INIT;
	spec.argv = argv;
	assert_int_equal(proc_run(&spec, &out, NULL, 1 << 16, &result, NULL), 0);
	assert_int_equal(result.status, 0);
	_cleanup_free_ char *line = mem_printf("%s\n", want);
	assert_string_equal(out.data, line);
}

static void as_git_does(void **state)
{
	if (access("/usr/bin/git", X_OK) < 0) {
		print_message("skipped: as_git_does: no git\n");
		skip();
	}
	struct tempdir dir = tempdir_make();
	assert_int_equal(fs_write_file(dir.fd, "m", tricky, strlen(tricky), 0644, NULL), 0);
	git_says(dir.path, "submodule.a \"b\\c.path", "one");
	git_says(dir.path, "submodule.a \"b\\c.url", "https://h/a#b;c");
	git_says(dir.path, "submodule.two.path", "t  wo  words");
	git_says(dir.path, "submodule.two.url", "last");
	git_says(dir.path, "submodule.four.path", "");
	git_says(dir.path, "submodule.four.url", "  kept  ");
	tempdir_remove(&dir);
}

static void malformed(void **state)
{
	static const char *const cases[][2] = {
		{ "[submodule", ":1: " }, { "[submodule \"a\n\"]", ": a section's name has no end" },
		{ "[submodule \"a\"", ":1: a section's head ends in ]" }, { "\n[submodule \"\"]", ":2: a section without a name" },
		{ "[]", ":1: " }, { "[submodule \"a\"]\n\npath = \\x", ":3: a backslash" },
		{ "[submodule \"a\"]\npath = \"x\ny", ": a quote has no end" }, { "= x", ":1: it is not" },
		{ "[submodule \"a\"]\npath x", ":2: it is not" }, { "[submodule \"a\"]\npath # x", ":2: it is not" }, { "<<<<<<< HEAD", ":1: it is not" },
	};
	_cleanup_err_ struct err err = { 0 };
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		_cleanup_git_modules_ struct git_modules m = GIT_MODULES_INIT;
		assert_int_equal(git_modules_parse(slice_of(cases[i][0]), &m, &err), -1);
		if (!strstr(err.msg, cases[i][1]))
			fail_msg("%s: %s", cases[i][0], err.msg);
	}
	_cleanup_git_modules_ struct git_modules m = GIT_MODULES_INIT;
	assert_int_equal(git_modules_parse((struct slice){ "#\0", 2 }, &m, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads), cmocka_unit_test(as_git_does), cmocka_unit_test(malformed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
