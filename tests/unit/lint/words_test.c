/* Looking for the names of variables in texts and trees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "lint/words.h"
#include "support/tempdir.h"

static void put(struct tempdir *d, const char *name, const char *data, size_t len)
{
	assert_int_equal(fs_write_file(d->fd, name, data, len, 0644, NULL), 0);
}

static void test_texts(void **state)
{
	struct words *w = words_new(0);
	words_want(w, "MAX_JOBS");
	words_want(w, "JOBS");
	words_want(w, "X1");
	words_text(w, SLICE("os.environ.get(\"MAX_JOBS\", MAX_JOBS_) ${X1}9FIRST"));
	assert_true(words_seen(w, "MAX_JOBS"));
	assert_false(words_seen(w, "JOBS")); /* a part of a word is none */
	assert_true(words_seen(w, "X1"));
	assert_false(words_seen(w, "9FIRST"));
	assert_false(words_seen(w, "environ"));
	assert_string_equal(words_nearest(w, "MAX_JOB"), "MAX_JOBS");
	assert_null(words_nearest(w, "NOTHING_LIKE_IT"));
	words_text(w, SLICE("JO"));
	words_text(w, SLICE("BS")); /* two texts are two words */
	assert_false(words_seen(w, "JOBS"));
	words_free(w);
}

static void test_small_letters(void **state)
{
	struct words *w = words_new(0);
	words_want(w, "npm_config");
	words_text(w, SLICE("npm_config other"));
	assert_true(words_seen(w, "npm_config"));
	assert_false(words_seen(w, "other"));
	words_free(w);
}

static void test_words_that_are_too_long(void **state)
{
	char text[400];
	memset(text, 'A', sizeof text);
	struct words *w = words_new(0);
	text[128] = ' ';
	text[399] = '\0';
	words_text(w, slice_of(text)); /* 128 of them, then 270 */
	text[128] = '\0';
	assert_true(words_seen(w, text));
	text[127] = '\0';
	assert_false(words_seen(w, text));
	words_free(w);
}

/* Blocks are 64 KiB: a word that lies across two is one. */
static void test_trees(void **state)
{
	struct tempdir d = tempdir_make();
	size_t n = 65536 + 100;
	_cleanup_free_ char *large = mem_alloc(n);
	memset(large, '\n', n);
	memcpy(large + 65536 - 4, "ACROSS_IT", 9);
	assert_int_equal(mkdirat(d.fd, "deep", 0755), 0);
	put(&d, "deep/large.py", large, n);
	put(&d, "binary", "IN_BINARY\0", 10);
	put(&d, "text", "IN_TEXT", 7);
	assert_int_equal(symlinkat("/etc/passwd", d.fd, "link"), 0);
	assert_int_equal(symlinkat(".", d.fd, "circle"), 0);
	assert_int_equal(mkfifoat(d.fd, "fifo", 0644), 0);
	struct words *w = words_new(0);
	assert_int_equal(words_tree(w, d.fd, ".", NULL), 0);
	assert_true(words_seen(w, "ACROSS_IT"));
	assert_true(words_seen(w, "IN_TEXT"));
	assert_false(words_seen(w, "IN_BINARY"));
	words_free(w);
	w = words_new(0);
	assert_int_equal(words_tree(w, d.fd, "text", NULL), 0); /* one file */
	assert_true(words_seen(w, "IN_TEXT"));
	words_free(w);
	tempdir_remove(&d);
}

static void refused(struct tempdir *d, uint64_t bytes_max, const char *says)
{
	_cleanup_err_ struct err err = { 0 };
	struct words *w = words_new(bytes_max);
	assert_int_equal(words_tree(w, d->fd, ".", &err), -1);
	assert_int_equal(err.code, ERR_INPUT);
	assert_non_null(strstr(err.msg, says));
	words_free(w);
}

static void test_limits(void **state)
{
	struct tempdir d = tempdir_make();
	_cleanup_free_ char *text = mem_alloc(2000000);
	memset(text, ' ', 2000000);
	put(&d, "a", text, 1000001);
	refused(&d, 1000000, "more than 1 MB of text");
	put(&d, "a", text, 1000000);
	struct words *w = words_new(1000000);
	assert_int_equal(words_tree(w, d.fd, ".", NULL), 0);
	words_free(w);

	_cleanup_buf_ struct buf path = BUF_INIT;
	for (int i = 0; i < 256; i++)
		buf_str(&path, "d/");
	assert_int_equal(fs_mkdirs_beneath(d.fd, path.data, 0755, NULL), 0);
	refused(&d, 0, "nested deeper than 256");
	tempdir_remove(&d);
}

static void test_what_is_not_there(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	struct tempdir d = tempdir_make();
	struct words *w = words_new(0);
	assert_int_equal(words_tree(w, d.fd, "absent", &err), -1);
	assert_int_equal(err.code, ERR_SYS);
	assert_non_null(strstr(err.msg, "absent"));
	words_free(w);
	tempdir_remove(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts), cmocka_unit_test(test_small_letters), cmocka_unit_test(test_words_that_are_too_long),
		cmocka_unit_test(test_trees), cmocka_unit_test(test_limits), cmocka_unit_test(test_what_is_not_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
