/* What a worker learned of files in layers reaches its parent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "build/compile_known.h"
#include "core/mem.h"

static struct hash hash_for(const char *text)
{
	struct hash h;
	hash_of(text, strlen(text), &h);
	return h;
}

static void assert_known(const struct compile_known *k, const char *key, const char *text)
{
	struct hash found, wanted = hash_for(text);
	assert_true(compile_known_find(k, key, &found));
	assert_true(hash_eq(&found, &wanted));
}

static void test_news_are_what_was_kept_since(void **state)
{
	(void)state;
	struct compile_known *worker = compile_known_new(), *parent = compile_known_new();
	struct hash a = hash_for("a"), b = hash_for("b");
	compile_known_keep(worker, "layer\n/env/a.h", &a);
	compile_known_watch(worker);
	assert_int_equal(compile_known_news(worker).n, 0);
	compile_known_keep(worker, "layer\n/env/b.h", &b);
	compile_known_learn(parent, compile_known_news(worker));
	assert_known(parent, "layer\n/env/b.h", "b");
	assert_false(compile_known_find(parent, "layer\n/env/a.h", &a));
	compile_known_learn(parent, compile_known_news(worker)); /* another worker learned the same */
	assert_known(parent, "layer\n/env/b.h", "b");
	compile_known_free(worker);
	compile_known_free(parent);
}

static void test_news_that_are_cut_off_are_left_out(void **state)
{
	(void)state;
	struct compile_known *worker = compile_known_new();
	struct hash a = hash_for("a"), b = hash_for("b"), found;
	compile_known_watch(worker);
	compile_known_keep(worker, "a", &a);
	compile_known_keep(worker, "b", &b);
	struct slice all = compile_known_news(worker);
	for (size_t n = 0; n < all.n; n++) {
		struct compile_known *parent = compile_known_new();
		_cleanup_free_ char *part = mem_dup_n(all.p, n);
		compile_known_learn(parent, (struct slice){ part, n });
		assert_int_equal(compile_known_find(parent, "a", &found), n >= all.n / 2);
		assert_false(compile_known_find(parent, "b", &found));
		compile_known_free(parent);
	}
	compile_known_free(worker);
}

static void test_none_is_none(void **state)
{
	(void)state;
	struct hash a = hash_for("a");
	compile_known_keep(NULL, "a", &a);
	compile_known_watch(NULL);
	compile_known_learn(NULL, compile_known_news(NULL));
	assert_false(compile_known_find(NULL, "a", &a));
	compile_known_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_news_are_what_was_kept_since),
		cmocka_unit_test(test_news_that_are_cut_off_are_left_out),
		cmocka_unit_test(test_none_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
